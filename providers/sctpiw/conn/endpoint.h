/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints: local ports. This module assigns endpoints to RDMA CM ids and QP numbers, shares them,
 * and releases them. The transport opens and closes their sockets. Shard lock.
 */
#ifndef SCTPIW_CONN_ENDPOINT_H
#define SCTPIW_CONN_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"
#include "util/list.h"

struct cm_id;
struct conn;
struct endpoint_group;
struct qp_block;

/*
 * The local addresses at which an endpoint of QP numbers accepts associations: those of its
 * connected QPs. Empty for an endpoint of ids, which accepts at all its addresses.
 */
struct endpoint_locals {
	struct ip_addr *addr;
	unsigned int n;
};

/* The address of an endpoint. The transport's open() sets it. */
struct endpoint_bound {
	struct sockaddr_storage local; /* includes the port */
	int family;
	uint16_t port;
	bool wildcard; /* bound to all addresses of the family */
	bool v6only;
	bool multicast; /* bound to a group's address: only receives datagrams */
};

struct endpoint {
	struct conn *conn;
	struct list_node node; /* endpoint_table.open or .dormant */
	unsigned int refs;     /* ids, associations and QP number blocks; freed at 0 */
	struct endpoint_bound bound;
	struct endpoint_locals locals;
	uint8_t tos;		 /* TOS or traffic class of the IP packets */
	unsigned int await_room; /* users that wait for room in the port: endpoint_await_room() */
	bool dormant;		 /* the endpoint holds its port, but nobody receives */
	struct endpoint_group *group;  /* endpoint_group.h; NULL: only this shard has the port */
	const struct endpoint *beside; /* while opening: endpoint with the same port; else NULL */
	void *state;		       /* private to the transport */

	struct list_node assocs;      /* conn_assoc.node */
	struct list_node ids;	      /* cm_id.bound_node: ids that claim the address */
	struct cm_id *listener;	      /* NULL: peers' requests wait a while, then are refused */
	uint64_t grace_until;	      /* for datagrams; see cm_grant_grace() */
	struct qp_block *block;	      /* the port's QP numbers, or NULL */
	bool shared;		      /* for ids without a port of their own */
	bool shown;		      /* an id shows, or showed, the port to its program */
	struct list_node client_node; /* endpoint_table.clients while shared and not full */
};

/* Part of struct conn. */
struct endpoint_table {
	struct list_node open, dormant; /* endpoint.node */
	unsigned int n_open;
	bool reap;		  /* an endpoint has no reference left */
	struct list_node clients; /* endpoint.client_node: one for each family and TOS */
};

void endpoint_table_init(struct endpoint_table *t);

/*
 * Returns an endpoint bound to addr, with a reference. Uses an existing endpoint if only
 * associations claim it, or if reuse allows it. Returns 0, or the -errno of bind() and
 * rdma_bind_addr().
 */
int endpoint_open(struct conn *c, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **ep);
/* As endpoint_open(), with the address of another shard's endpoint, for endpoint_group.h. */
int endpoint_open_beside(struct conn *c, const struct endpoint *first, struct endpoint **ep);
/*
 * Returns an endpoint for active connections from any port, with a reference: the one of the family
 * and TOS. With several shards, its port makes a peer with as many shards use the shard with the
 * same index (endpoint_group.h). Returns 0 or -errno.
 */
int endpoint_open_client(struct conn *c, int family, uint8_t tos, struct endpoint **ep);
/*
 * Returns an endpoint bound to addr, with a reference, that only costs its descriptor: nobody
 * receives until endpoint_wake(). Returns 0, or the -errno of socket() and bind().
 */
int endpoint_open_dormant(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/*
 * Returns an endpoint bound to a multicast group and port, with a reference. Other processes may
 * bind the same. Returns 0 or -errno.
 */
int endpoint_open_group(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/*
 * Wakes the endpoint for good. From now on, peers may open associations to this local address. May
 * be repeated for further addresses. Returns 0, the -errno of listen(), or -ENOMEM.
 */
int endpoint_wake(struct endpoint *ep, const struct ip_addr *local);
/* As endpoint_wake(), but peers may not open associations. Returns 0 or -errno. */
int endpoint_watch(struct endpoint *ep);
/*
 * Returns an endpoint, with a reference, that replaces a shared one without free streams to a peer.
 */
int endpoint_open_next(struct endpoint *full, struct endpoint **ep);
/*
 * Registers or removes a user that waits for room in the endpoint's port. Room wakes the receiving
 * thread. Several users may wait at once: associations and datagrams.
 */
void endpoint_await_room(struct endpoint *ep, bool await);
void endpoint_put(struct endpoint *ep);
/* Sets the TOS of later packets. */
void endpoint_set_tos(struct endpoint *ep, uint8_t tos);
/* Releases the id's endpoint. Without ids, the endpoint lives only as long as its sessions. */
void endpoint_leave(struct cm_id *id);
/* True if only sessions use the port: no id, no QP number, and no clients. */
bool endpoint_is_abandoned(const struct endpoint *ep);
/* Frees the endpoints without a reference. */
void endpoint_reap(struct conn *c);

#endif
