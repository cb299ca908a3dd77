/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Options, control data and error queues of the sockets of all carriers. No state. */
#ifndef SCTPIW_NET_CARRIER_SOCKET_H
#define SCTPIW_NET_CARRIER_SOCKET_H

#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/carrier.h"

/* Headers may be older than the kernel. */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Destination and control data of a message, for sendmsg(). */
struct carrier_outgoing {
	struct msghdr msg; /* the caller sets the iov */
	struct sockaddr_storage to;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
	} control;
};

/* Sets the TOS of later packets on fd. family is the endpoint's. fd < 0: no effect. */
void carrier_socket_set_tos(int fd, int family, uint8_t tos);
/* Raises both buffers to the maximum. Returns the true size of the receive buffer in bytes. */
size_t carrier_socket_raise_buffers(int fd);
/*
 * Turns on the error queue. wildcard: each message also reports its destination. v4, v6: kinds of
 * options that the socket has. An IPv6 socket that also takes IPv4 has both.
 */
void carrier_socket_report(int fd, bool v4, bool v6, bool wildcard);
/*
 * Sets or clears DF, which keeps routers from fragmenting packets. With DF the kernel sends any
 * packet that fits the interface. It ignores the path MTUs of ICMP, since it cannot distinguish
 * forged messages from real ones. This device can (RFC 6951 5.5), and gets all of them from the
 * error queue.
 */
void carrier_socket_set_df(int fd, bool v4, bool v6, bool df);

/*
 * Receives up to max messages of fd, as carrier_port_ops.receive(). Broadcasts and multicasts are
 * skipped, since SCTP does not take them. local: destination of messages that do not report it.
 * strip: removes the bytes before the SCTP packet, and sets from.udp_port. It returns false, and
 * leaves d unchanged, if the message is not for this endpoint. NULL: nothing precedes the packet.
 */
unsigned int carrier_socket_receive(struct endpoint *ep, int fd, const struct ip_addr *local,
				    struct carrier_datagram *dgrams, unsigned int max,
				    bool (*strip)(const struct endpoint *ep,
						  const struct sockaddr *from,
						  struct carrier_datagram *d));

/*
 * Receives one message of fd, with its source, into d->data, which has size bytes. Returns false if
 * none waits, or after an error, which is dropped. A broadcast or multicast gets length 0.
 */
bool carrier_socket_receive_one(const struct endpoint *ep, int fd, struct carrier_datagram *d,
				size_t size);

/* Gets the fill level of fd's receive buffer. Returns false if the kernel does not report it. */
bool carrier_socket_room(int fd, struct carrier_room *room);

/*
 * Prepares a message to `to` for a socket of this family: UDP port `port`, from to->local if
 * from_local.
 */
void carrier_socket_prepare(struct carrier_outgoing *out, int family, const struct path_addr *to,
			    uint16_t port, bool from_local);
/* The same for a connected socket. */
void carrier_socket_prepare_connected(struct carrier_outgoing *out);
void carrier_socket_add_control(struct carrier_outgoing *out, int level, int type, const void *data,
				size_t len);

struct sock_extended_err;
/*
 * Reads the next entry of fd's error queue. Returns false if it is empty. ee may become all zero.
 */
bool carrier_socket_read_error(int fd, struct carrier_error *err, struct sock_extended_err *ee);
/*
 * Returns carrier_error.unreachable of an entry: -errno if the destination is unreachable or the
 * packet's time in transit was exceeded, or else 0.
 */
int carrier_socket_unreachable(const struct sock_extended_err *ee);

#endif
