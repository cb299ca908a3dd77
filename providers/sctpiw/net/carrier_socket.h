/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Options, control messages and error queues of sockets, for all carriers. No state. */
#ifndef SCTPIW_NET_CARRIER_SOCKET_H
#define SCTPIW_NET_CARRIER_SOCKET_H

#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/carrier.h"

/* The kernel may have options that its headers lack. */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Destination and control data of a message, for sendmsg(). */
struct carrier_outgoing {
	struct msghdr msg; /* the caller sets msg_iov */
	struct sockaddr_storage to;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
	} control;
};

/* Sets the TOS of packets that fd sends from now on. family: the endpoint's. fd < 0: no effect. */
void carrier_socket_set_tos(int fd, int family, uint8_t tos);
/* Raises both buffers to the maximum. Returns the actual size of the receive buffer in bytes. */
size_t carrier_socket_raise_buffers(int fd);
/*
 * Turns on the error queue of fd. v4 and v6 select the options of IPv4 and IPv6; an IPv6 socket
 * that also carries IPv4 needs both. If wildcard, each received message also reports its
 * destination address.
 */
void carrier_socket_report(int fd, bool v4, bool v6, bool wildcard);
/*
 * Sets or clears DF, which keeps routers from fragmenting packets. With DF the kernel sends every
 * packet that fits the interface's MTU, and ignores path MTUs from ICMP messages, some of which may
 * be forged. Instead SCTP checks all ICMP messages from the error queue (RFC 6951 5.5).
 */
void carrier_socket_set_df(int fd, bool v4, bool v6, bool df);

/*
 * Receives up to max messages from fd; see carrier_port_ops.receive(). Skips broadcasts and
 * multicasts, which SCTP does not accept. local is the destination of messages that do not report
 * one. strip() removes the bytes before the SCTP packet, and sets from.udp_port. If the message is
 * not for this endpoint, strip() returns false and leaves d unchanged. strip is NULL if no bytes
 * precede the packet.
 */
unsigned int carrier_socket_receive(struct endpoint *ep, int fd, const struct ip_addr *local,
				    struct carrier_datagram *dgrams, unsigned int max,
				    bool (*strip)(const struct endpoint *ep,
						  const struct sockaddr *from,
						  struct carrier_datagram *d));

/*
 * Receives one message from fd into d->data, which has room for size bytes. Sets the source in d.
 * Returns false if no message waits, or after an error, which is dropped. A broadcast or multicast
 * gets length 0.
 */
bool carrier_socket_receive_one(const struct endpoint *ep, int fd, struct carrier_datagram *d,
				size_t size);

/* Gets the size and fill level of fd's receive buffer. Returns false if they are unknown. */
bool carrier_socket_room(int fd, struct carrier_room *room);

/*
 * Prepares a message that a socket of this family sends to to->remote, UDP port `port`. If
 * from_local, the source address is to->local.
 */
void carrier_socket_prepare(struct carrier_outgoing *out, int family, const struct path_addr *to,
			    uint16_t port, bool from_local);
/* Prepares a message of a connected socket, which needs no address. */
void carrier_socket_prepare_connected(struct carrier_outgoing *out);
void carrier_socket_add_control(struct carrier_outgoing *out, int level, int type, const void *data,
				size_t len);

struct sock_extended_err;
/*
 * Reads the next entry of fd's error queue. Returns false if the queue is empty. If the entry has
 * no details, *ee is all zero.
 */
bool carrier_socket_read_error(int fd, struct carrier_error *err, struct sock_extended_err *ee);
/*
 * Returns the value of carrier_error.unreachable for an error-queue entry. The value is -errno if
 * the destination was unreachable or the packet exceeded its hop limit, otherwise 0.
 */
int carrier_socket_unreachable(const struct sock_extended_err *ee);

#endif
