/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sockets of an endpoint of the carriers udp and ip, and the receive pass over the sockets of
 * all endpoints. Shard lock.
 */
#ifndef SCTPIW_NET_CARRIER_PORT_H
#define SCTPIW_NET_CARRIER_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/carrier.h"
#include "net/link.h"
#include "net/net.h"

struct conn;
struct dtls_port;
struct endpoint;
struct path_socket;

/*
 * Maximum datagrams of a receive call, and bytes of each. With both segment offloads, these hold up
 * to 8 x 44 packets of Ethernet size. The first buffers are the first to be reused.
 */
#define CARRIER_RX_DATAGRAMS 8
#define CARRIER_RX_SIZE 65536

/* How a carrier reads its sockets. */
struct carrier_port_ops {
	/* Answers packets that came to carrier_port.claim; NULL: nothing does. */
	void (*answer_strangers)(struct endpoint *ep);
	unsigned int rx_batch; /* datagrams requested from receive() at once: 1, or all */
	/*
	 * Receives up to max datagrams of a path socket, or of the port's own sockets if path is
	 * NULL. Returns their number, 0 if none waits. Socket errors go to the error queues.
	 */
	unsigned int (*receive)(struct endpoint *ep, struct path_socket *path,
				struct carrier_datagram *dgrams, unsigned int max);
	/*
	 * Takes the next entry of the error queues, also of path sockets. Returns false if there is
	 * none. unreachable and mtu may both be unset.
	 */
	bool (*next_error)(struct endpoint *ep, struct carrier_error *err);
	/* Passes the parts of a datagram to deliver(). NULL: deliver() gets the whole datagram. */
	void (*input)(struct endpoint *ep, const struct carrier_datagram *d);
	/* user_sctp_input(), or a function that calls it */
	void (*deliver)(struct endpoint *ep, const struct carrier_datagram *d);
};

/* A descriptor in the epoll set, with the target of its entry. */
struct carrier_watched {
	int fd;
	struct net_watch *watch;
};

struct carrier_port {
	struct net_watch watch; /* first; the epoll entries of the sockets point to it */
	struct endpoint *ep;
	const struct carrier_port_ops *ops;
	int fd;
	int fd4;      /* ip: the socket for IPv4 beside the one for IPv6, or -1 */
	int claim;    /* ip: the socket that holds the port number, or -1 */
	bool df;      /* present setting of the sockets; path sockets have their own */
	uint8_t hops; /* udp: present hop limit of packets to groups; 0: never set */
	struct carrier_watched out;	/* the socket of the last transmission */
	struct carrier_watched awaited; /* watched for room while endpoint.await_room is set */
	struct link_table links;
	struct dtls_port *dtls; /* dtls: sessions of the port; NULL with other carriers */
};

/* Returns the port of an endpoint of one of these carriers. */
struct carrier_port *carrier_port_of(const struct endpoint *ep);

/* Gives the endpoint a port without sockets. Returns NULL when out of memory. */
struct carrier_port *carrier_port_new(struct endpoint *ep, const struct carrier_port_ops *ops);
/* Closes the sockets and frees the port. */
void carrier_port_free(struct endpoint *ep);

/* Members of struct carrier. */
int carrier_port_start(struct conn *c, struct config_error *why);
void carrier_port_stop(struct conn *c);
int carrier_port_watch(struct endpoint *ep);
void carrier_port_forget(struct endpoint *ep);
void carrier_port_set_tos(struct endpoint *ep);
enum conn_received carrier_port_receive(struct conn *c, enum conn_depth depth);
void carrier_port_await_room(struct endpoint *ep, bool await);

/* Handles the ICMP errors in the queues of the endpoint's sockets. */
void carrier_port_errors(struct endpoint *ep);
/* Receives from one of the endpoint's path sockets (net/path_socket.h). */
enum conn_received carrier_port_take(struct endpoint *ep, struct path_socket *path);

#endif
