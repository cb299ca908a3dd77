/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One-to-one sockets of the kernel's SCTP (RFC 6458 section 4): options, and data about
 * associations. No state. Errors are -errno, ports are in host order.
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
	size_t max_msg;	      /* the longest message that fits one packet */
	bool established;     /* up, and neither side has begun to end it */
};

/* Checks if the kernel has SCTP. Returns 0, or -errno of socket(). */
int kernel_sctp_socket_probe(void);
/*
 * Opens a socket with the options that its association inherits. Returns the descriptor, or -errno.
 */
int kernel_sctp_socket_open(int family, bool v6only);
/* The same for the next association of such a listener. *from: the peer's address. */
int kernel_sctp_socket_accept(int listener, int family, bool v6only, struct sockaddr_storage *from);
/*
 * Binds fd beside sockets of the same port. Of these only `listener`, a descriptor or -1, may be
 * listening.
 */
int kernel_sctp_socket_bind_beside(int fd, const struct sockaddr *addr, int listener);
/*
 * Binds fd to a further address with the same port, which is also listed to the peer. listener is
 * as above. Returns 0, or -errno, for example if the host has lost the address.
 */
int kernel_sctp_socket_bind_further(int fd, const struct sockaddr *addr, int listener);
/* Removes an address from fd, which has others. */
void kernel_sctp_socket_unbind(int fd, const struct sockaddr *addr);
/* Sets the peer's UDP port (RFC 6951) for the association that is opened next. */
int kernel_sctp_socket_encap(int fd, uint16_t udp_port);
/* Returns 0, or -EINVAL if the association does not exist yet, or any more. */
int kernel_sctp_socket_status(int fd, struct kernel_sctp_status *status);
/* Gets the kernel's data about the association; all zero if the kernel does not answer. */
void kernel_sctp_socket_inspect(int fd, struct sctp_assoc_info *info);
/*
 * Gets the same of its paths, SCTP_PATHS_INFO_MAX at most. Returns their number. The kernel does
 * not report local addresses. Nor does it report the path in use if the primary one has failed and
 * several others work.
 */
unsigned int kernel_sctp_socket_inspect_paths(int fd, struct sctp_path_info *info);
/* Returns the bytes that the kernel holds until they are acknowledged without a gap, or -errno. */
int64_t kernel_sctp_socket_unacked(int fd);
/* Returns the number of packets that have come from the peer, or -errno. */
int64_t kernel_sctp_socket_packets(int fd);
/*
 * Turns SCTP_SENDER_DRY_EVENT on or off. It comes once all is acknowledged, at once if that is so.
 */
void kernel_sctp_socket_want_dry(int fd, bool want);
/* Sends a HEARTBEAT now. */
void kernel_sctp_socket_probe_peer(int fd);
/* Sets whether messages longer than a packet are sent in fragments, or refused. */
void kernel_sctp_socket_allow_fragments(int fd, bool allow);

#endif
