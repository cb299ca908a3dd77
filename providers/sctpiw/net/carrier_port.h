/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sockets of one endpoint, and the pass that receives from the sockets of all endpoints. Used
 * by the carriers udp, dtls and ip. Shard lock.
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
 * Maximum number of datagrams that one receive call returns, and maximum bytes of a datagram. A
 * kernel that merges received packets (GRO) can return 8 datagrams of 44 Ethernet packets each.
 * Every receive call starts with the first buffers, which are then still in the cache.
 */
#define CARRIER_RX_DATAGRAMS 8
#define CARRIER_RX_SIZE 65536

/* How a carrier reads its sockets. */
struct carrier_port_ops {
	/* Answers packets to the socket carrier_port.claim. NULL if the carrier does not. */
	void (*answer_strangers)(struct endpoint *ep);
	unsigned int rx_batch; /* datagrams that one call of receive() may return */
	/*
	 * Receives up to max datagrams from a path socket, or from the port's own sockets if path
	 * is NULL. Returns the number of datagrams; 0 if none waits. Socket errors are left in the
	 * error queues.
	 */
	unsigned int (*receive)(struct endpoint *ep, struct path_socket *path,
				struct carrier_datagram *dgrams, unsigned int max);
	/*
	 * Takes the next entry from the error queues of all sockets of the port, including path
	 * sockets. Returns false if the queues are empty. An entry may set neither err->unreachable
	 * nor err->mtu.
	 */
	bool (*next_error)(struct endpoint *ep, struct carrier_error *err);
	/* Passes each part of a datagram to deliver(). NULL: passes the whole datagram. */
	void (*input)(struct endpoint *ep, const struct carrier_datagram *d);
	/* Passes an SCTP packet on: user_sctp_input(), or a function that calls it. */
	void (*deliver)(struct endpoint *ep, const struct carrier_datagram *d);
};

/* A descriptor in the epoll set, and the object to which its epoll entry points. */
struct carrier_watched {
	int fd;
	struct net_watch *watch;
};

struct carrier_port {
	struct net_watch watch; /* first member; the sockets' epoll entries point to it */
	struct endpoint *ep;
	const struct carrier_port_ops *ops;
	int fd;
	int fd4;      /* carrier ip, if fd is for IPv6: second socket, for IPv4; otherwise -1 */
	int claim;    /* carrier ip: UDP socket that reserves the port number; otherwise -1 */
	bool df;      /* DF of the port's own sockets now; each path socket has its own setting */
	uint8_t hops; /* carrier udp: hop limit of packets to groups now; 0: never set */
	struct carrier_watched out; /* socket that sent last */
	/* socket that epoll watches for send buffer space while endpoint.await_room is set */
	struct carrier_watched awaited;
	struct link_table links;
	struct dtls_port *dtls; /* carrier dtls: sessions of the port; NULL with other carriers */
};

/* Returns the port of an endpoint that uses udp, dtls or ip. */
struct carrier_port *carrier_port_of(const struct endpoint *ep);

/* Gives the endpoint a port without sockets. Returns NULL when out of memory. */
struct carrier_port *carrier_port_new(struct endpoint *ep, const struct carrier_port_ops *ops);
/* Closes the sockets and frees the port. */
void carrier_port_free(struct endpoint *ep);

/* These functions implement members of struct carrier. */
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
