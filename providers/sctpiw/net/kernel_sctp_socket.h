/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One-to-one sockets of the kernel's SCTP (RFC 6458 section 4): their options, and what the kernel
 * tells of their associations. No state of its own. Errors are -errno, ports in host order.
 */
#ifndef SCTPIW_NET_KERNEL_SOCKET_H
#define SCTPIW_NET_KERNEL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct kernel_sctp_status {
	unsigned int streams; /* pairs */
	size_t max_msg;	      /* the longest message that goes out in one packet */
	bool established;     /* and neither side has begun to end it */
};

/* 0, or why the kernel has no SCTP. */
int kernel_sctp_socket_probe(void);
/* A socket with everything set that an association inherits from it. */
int kernel_sctp_socket_open(int family, bool v6only);
/* The same for the next association of a listener that was opened so. */
int kernel_sctp_socket_accept(int listener, int family, bool v6only, struct sockaddr_storage *from);
/*
 * Binds beside sockets of the same port: none may be listening, or only that one. listener: a
 * descriptor, or -1.
 */
int kernel_sctp_socket_bind_beside(int fd, const struct sockaddr *addr, int listener);
/* The peer's UDP port (RFC 6951), for the association that is about to be opened. */
int kernel_sctp_socket_encap(int fd, uint16_t udp_port);
/* -EINVAL: there is no association, or no more. */
int kernel_sctp_socket_status(int fd, struct kernel_sctp_status *status);
/* Bytes that the kernel holds until the peer has acknowledged them without a gap; -errno. */
int64_t kernel_sctp_socket_unacked(int fd);
/* How many packets of the peer have come; -errno. */
int64_t kernel_sctp_socket_packets(int fd);
/* Have a SCTP_SENDER_DRY_EVENT written now or when all is acknowledged; or no more of them. */
void kernel_sctp_socket_want_dry(int fd, bool want);
/* A HEARTBEAT now. */
void kernel_sctp_socket_probe_peer(int fd);
/* Whether messages of more than one packet are sent or refused. */
void kernel_sctp_socket_allow_fragments(int fd, bool allow);

#endif
