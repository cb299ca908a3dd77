/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the sockets of carriers have in common: options, control data and error queues. No state of its own.
 */
#ifndef SCTPIW_NET_CARRIER_SOCKET_H
#define SCTPIW_NET_CARRIER_SOCKET_H

#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/carrier.h"

/* For headers that are older than the kernels that this runs on. */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Where a message goes, and its control data, as sendmsg() wants them. */
struct carrier_outgoing {
	struct msghdr msg; /* the iov is the caller's */
	struct sockaddr_storage to;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
	} control;
};

/* Packets that are sent on fd from now on carry tos; family: of the endpoint. fd < 0: nothing happens. */
void carrier_socket_set_tos(int fd, int family, uint8_t tos);
/* Makes both buffers as large as may be; returns how many bytes the receiving one really holds. */
size_t carrier_socket_raise_buffers(int fd);
/*
 * Turns the error queue on; wildcard: each message also tells its destination. v4, v6: which kinds of options
 * the socket has; a socket for IPv6 that takes IPv4 as well has both.
 */
void carrier_socket_report(int fd, bool v4, bool v6, bool wildcard);
/*
 * Whether packets carry DF, so that no router fragments them. The kernel sends whatever the interface takes: it
 * does not keep to the path MTUs that it has learnt from ICMP, since it cannot tell a forged message from a real
 * one. We can (RFC 6951 5.5), and are told of all of them by the error queue.
 */
void carrier_socket_set_df(int fd, bool v4, bool v6, bool df);

/*
 * Receives up to max messages of fd, as carrier_port_ops.receive(). What is not for this host alone (broadcast,
 * multicast) is left out, since SCTP does not take it. local: where they came to, if they do not tell. strip: takes away what stands before the SCTP packet and
 * sets from.udp_port; false: the message is none of ours, and d is as it was. NULL: nothing stands before it.
 */
unsigned int carrier_socket_receive(struct endpoint *ep, int fd, const struct ip_addr *local,
				    struct carrier_datagram *dgrams, unsigned int max,
				    bool (*strip)(const struct endpoint *ep,
						  const struct sockaddr *from,
						  struct carrier_datagram *d));

/*
 * Receives one message of fd into d->data, which has room for size bytes, and tells where it came from. false: there
 * is none. One that is not for this host alone has length 0. Errors are dropped.
 */
bool carrier_socket_receive_one(const struct endpoint *ep, int fd, struct carrier_datagram *d,
				size_t size);

/* How full the receive buffer of fd is. false: the kernel does not tell. */
bool carrier_socket_room(int fd, struct carrier_room *room);

/* Prepares a message to `to` on a socket of this family, with UDP port port, from to->local if from_local. */
void carrier_socket_prepare(struct carrier_outgoing *out, int family, const struct path_addr *to,
			    uint16_t port, bool from_local);
/* The same on a connected socket. */
void carrier_socket_prepare_connected(struct carrier_outgoing *out);
/* Appends one item of control data. */
void carrier_socket_add_control(struct carrier_outgoing *out, int level, int type, const void *data,
				size_t len);

struct sock_extended_err;
/* Reads the next entry of fd's error queue; false: there is none. ee is all zero if the entry has none. */
bool carrier_socket_read_error(int fd, struct carrier_error *err, struct sock_extended_err *ee);
/*
 * What an entry says of a packet that did not arrive, as in carrier_error.unreachable: -errno of a destination
 * that is unreachable for any reason, or of a packet that was under way for too long; 0: neither of them.
 */
int carrier_socket_unreachable(const struct sock_extended_err *ee);

#endif
