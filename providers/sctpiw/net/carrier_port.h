/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sockets of an endpoint, as the carriers udp and ip have them, and the receive pass over the sockets of
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
 * A receive call takes so many datagrams of so much: with both segment offloads on the way that is up to
 * 8 x 44 packets of Ethernet size. The first ones are the first to be used again.
 */
#define CARRIER_RX_DATAGRAMS 8
#define CARRIER_RX_SIZE 65536

/* How a carrier reads its sockets. */
struct carrier_port_ops {
	/* Answers what came to carrier_port.claim; NULL: nothing does. */
	void (*answer_strangers)(struct endpoint *ep);
	unsigned int rx_batch; /* datagrams that receive() is asked for at once: 1, or all */
	/*
	 * Up to max datagrams of a path socket, or, if that is NULL, of the port's own sockets; 0: there are none now.
	 * Errors of the sockets go to the error queues.
	 */
	unsigned int (*receive)(struct endpoint *ep, struct path_socket *path,
				struct carrier_datagram *dgrams, unsigned int max);
	/*
	 * The next entry of the error queues, those of path sockets too; false: there is none. unreachable and mtu
	 * may both be unset.
	 */
	bool (*next_error)(struct endpoint *ep, struct carrier_error *err);
	/* Takes a datagram to pieces and gives what is in it to deliver(); NULL: deliver() gets it as it is. */
	void (*input)(struct endpoint *ep, const struct carrier_datagram *d);
	/* user_sctp_input(), or what stands in front of that. */
	void (*deliver)(struct endpoint *ep, const struct carrier_datagram *d);
};

/* A descriptor in the epoll set, and what its entry points to. */
struct carrier_watched {
	int fd;
	struct net_watch *watch;
};

struct carrier_port {
	struct net_watch watch; /* first; what the epoll entries of the sockets point to */
	struct endpoint *ep;
	const struct carrier_port_ops *ops;
	int fd;
	int fd4;      /* ip: the socket for IPv4 beside that for IPv6; or -1 */
	int claim;    /* ip: the socket that holds the port number; or -1 */
	bool df;      /* as the sockets have it now; path sockets have it for themselves */
	uint8_t hops; /* udp: of packets to groups, as the socket has it now; 0: as it began */
	struct carrier_watched out;	/* what was last sent on */
	struct carrier_watched awaited; /* whose room is awaited while endpoint.await_room is not 0 */
	struct link_table links;
	struct dtls_port *dtls; /* dtls: the sessions of the port; NULL with other carriers */
};

/* The port of an endpoint of one of these carriers. */
struct carrier_port *carrier_port_of(const struct endpoint *ep);

/* A port without sockets, known to the endpoint. NULL: out of memory. */
struct carrier_port *carrier_port_new(struct endpoint *ep, const struct carrier_port_ops *ops);
/* Closes the sockets and frees the port. */
void carrier_port_free(struct endpoint *ep);

/* Of struct carrier. */
int carrier_port_start(struct conn *c, struct config_error *why);
void carrier_port_stop(struct conn *c);
int carrier_port_watch(struct endpoint *ep);
void carrier_port_forget(struct endpoint *ep);
void carrier_port_set_tos(struct endpoint *ep);
enum conn_received carrier_port_receive(struct conn *c, enum conn_depth depth);
void carrier_port_await_room(struct endpoint *ep, bool await);

/* Takes the ICMP errors that wait on the endpoint's sockets. */
void carrier_port_errors(struct endpoint *ep);
/* Takes what came to one of the endpoint's path sockets (net/path_socket.h). */
enum conn_received carrier_port_take(struct endpoint *ep, struct path_socket *path);

#endif
