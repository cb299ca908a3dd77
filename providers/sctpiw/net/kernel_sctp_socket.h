/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One-to-one sockets of the kernel's SCTP (RFC 6458 section 4): their options, and what the kernel tells of
 * their associations. This module has no state. Errors are -errno, ports are in host order.
 */
#ifndef SCTPIW_NET_KERNEL_SOCKET_H
#define SCTPIW_NET_KERNEL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct ip_addr;
struct sctp_assoc_info;
struct sctp_path_info;
struct kernel_sctp_status {
	unsigned int streams; /* usable pairs */
	size_t max_msg;	      /* the longest message that goes out in one packet */
	bool established;     /* it is up, and neither side has begun to end it */
};

/* Whether the kernel has SCTP: 0, or the -errno of socket(). */
int kernel_sctp_socket_probe(void);
/* A socket with everything set that an association inherits from it. The descriptor, or -errno. */
int kernel_sctp_socket_open(int family, bool v6only);
/* The same for the next association of a listener that was opened so; *from: the peer's address. */
int kernel_sctp_socket_accept(int listener, int family, bool v6only, struct sockaddr_storage *from);
/*
 * Binds fd beside sockets of the same port, of which none may be listening but `listener` (a descriptor, or
 * -1).
 */
int kernel_sctp_socket_bind_beside(int fd, const struct sockaddr *addr, int listener);
/*
 * Binds fd to a further address with the same port, of which the peer is told as well; listener as above. -errno, as
 * when the host has lost the address meanwhile.
 */
int kernel_sctp_socket_bind_further(int fd, const struct sockaddr *addr, int listener);
/* Takes an address away from fd, which has others. */
void kernel_sctp_socket_unbind(int fd, const struct sockaddr *addr);
/* Sets the peer's UDP port (RFC 6951) for the association that is about to be opened. */
int kernel_sctp_socket_encap(int fd, uint16_t udp_port);
/* -EINVAL: there is no association, or not any more. */
int kernel_sctp_socket_status(int fd, struct kernel_sctp_status *status);
/* What the kernel knows of the association; all of it is zero if it cannot be asked. */
void kernel_sctp_socket_inspect(int fd, struct sctp_assoc_info *info);
/*
 * The same of its paths, SCTP_PATHS_INFO_MAX at most, and how many. The kernel tells neither the addresses of ours, nor
 * which path is in use if the primary one has failed and several others work.
 */
unsigned int kernel_sctp_socket_inspect_paths(int fd, struct sctp_path_info *info);
/* Bytes that the kernel holds until the peer has acknowledged them without a gap; -errno. */
int64_t kernel_sctp_socket_unacked(int fd);
/* How many packets of the peer have come; -errno. */
int64_t kernel_sctp_socket_packets(int fd);
/* Whether the kernel writes a SCTP_SENDER_DRY_EVENT when everything is acknowledged, or is so now. */
void kernel_sctp_socket_want_dry(int fd, bool want);
/* Sends a HEARTBEAT now. */
void kernel_sctp_socket_probe_peer(int fd);
/* Whether messages of more than one packet are sent in fragments, or refused. */
void kernel_sctp_socket_allow_fragments(int fd, bool allow);

#endif
