/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One-to-one sockets of the kernel's SCTP (RFC 6458 section 4): their options, and data about their
 * associations. No state. Errors are -errno. Ports are in host byte order.
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
	unsigned int streams; /* number of streams that exist in both directions */
	size_t max_msg;	      /* bytes; longest message that fits into one packet */
	bool established;     /* the association is up, and neither side has begun to end it */
};

/* Returns 0 if the kernel has SCTP, or -errno of socket(). */
int kernel_sctp_socket_probe(void);
/* Opens a socket with the options of its future association. Returns the descriptor, or -errno. */
int kernel_sctp_socket_open(int family, bool v6only);
/* Accepts an association and sets options that it does not inherit. *from: the peer's address. */
int kernel_sctp_socket_accept(int listener, int family, bool v6only, struct sockaddr_storage *from);
/*
 * Binds fd to a port that other sockets may have. Only the socket `listener` may be listening on
 * that port. listener is -1 if no socket listens.
 */
int kernel_sctp_socket_bind_beside(int fd, const struct sockaddr *addr, int listener);
/*
 * Binds fd to a further address with the same port. The peer gets this address in the list, too.
 * listener is as above. Returns 0, or -errno, for example if the host has lost the address.
 */
int kernel_sctp_socket_bind_further(int fd, const struct sockaddr *addr, int listener);
/* Removes an address from fd. fd must have other addresses. */
void kernel_sctp_socket_unbind(int fd, const struct sockaddr *addr);
/* Sets the peer's UDP port (RFC 6951) for the association that fd opens next. */
int kernel_sctp_socket_encap(int fd, uint16_t udp_port);
/* Returns 0, or -EINVAL if the association does not exist yet or has ended. */
int kernel_sctp_socket_status(int fd, struct kernel_sctp_status *status);
/* Gets the kernel's data about the association. *info is all zero if the kernel has none. */
void kernel_sctp_socket_inspect(int fd, struct sctp_assoc_info *info);
/*
 * Gets data about the association's paths, at most SCTP_PATHS_INFO_MAX. Returns the number of
 * paths. The kernel does not report local addresses. If the primary path has failed and several
 * others work, the kernel does not report which path is in use.
 */
unsigned int kernel_sctp_socket_inspect_paths(int fd, struct sctp_path_info *info);
/* Returns the bytes that the kernel holds until their cumulative acknowledgement, or -errno. */
int64_t kernel_sctp_socket_unacked(int fd);
/* Returns the number of packets received from the peer, or -errno. */
int64_t kernel_sctp_socket_packets(int fd);
/*
 * Turns SCTP_SENDER_DRY_EVENT on or off. This event reports that all messages are acknowledged. The
 * kernel sends the event at once if they already are.
 */
void kernel_sctp_socket_want_dry(int fd, bool want);
/* Sends a HEARTBEAT to the peer at once. */
void kernel_sctp_socket_probe_peer(int fd);
/* Selects whether messages longer than a packet are fragmented, or refused with EMSGSIZE. */
void kernel_sctp_socket_allow_fragments(int fd, bool allow);

#endif
