/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An endpoint is a local port. This module assigns endpoints to rdma_cm ids and QP numbers, shares
 * endpoints between ids, and releases them. The transport opens and closes their sockets. Callers
 * hold the shard's lock.
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
 * The local addresses at which an endpoint accepts associations. For an endpoint of QP numbers,
 * these are the addresses of its connected QPs. The list is empty for an endpoint of ids, which
 * accepts associations at all its addresses.
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
	bool multicast; /* bound to a multicast group: only receives datagrams */
};

struct endpoint {
	struct conn *conn;
	struct list_node node; /* endpoint_table.open or .dormant */
	unsigned int refs;     /* ids, associations and QP number blocks; freed at 0 */
	struct endpoint_bound bound;
	struct endpoint_locals locals;
	uint8_t tos;		       /* TOS or traffic class of the IP packets */
	unsigned int await_room;       /* number of users in endpoint_await_room() */
	bool dormant;		       /* the endpoint reserves its port, but does not receive */
	struct endpoint_group *group;  /* endpoint_group.h; NULL: only this shard has the port */
	const struct endpoint *beside; /* in open(): another shard's endpoint at this port */
	void *state;		       /* private to the transport */

	struct list_node assocs;      /* conn_assoc.node */
	struct list_node ids;	      /* cm_id.bound_node: ids bound to the address */
	struct cm_id *listener;	      /* NULL: requests wait CM_LISTEN_GRACE, then are refused */
	uint64_t grace_until;	      /* end of CM_LISTEN_GRACE, for datagrams */
	struct qp_block *block;	      /* the port's QP numbers, or NULL */
	bool shared;		      /* for ids whose programs chose no port */
	bool shown;		      /* the program of an id sees, or saw, the port */
	struct list_node client_node; /* endpoint_table.clients while shared and not full */
};

/* Part of struct conn. */
struct endpoint_table {
	struct list_node open, dormant; /* endpoint.node */
	unsigned int n_open;
	bool reap;		  /* endpoint_reap() has an endpoint to free */
	struct list_node clients; /* endpoint.client_node: one for each family and TOS */
};

void endpoint_table_init(struct endpoint_table *t);

/*
 * Sets *ep to an endpoint bound to addr, with a reference. Uses an existing endpoint if no id is
 * bound to it, or if the caller and all these ids have the reuse option. Returns 0, or the -errno
 * of bind() or rdma_bind_addr().
 */
int endpoint_open(struct conn *c, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **ep);
/* Opens an endpoint with the same address as another shard's endpoint, for endpoint_group.h. */
int endpoint_open_beside(struct conn *c, const struct endpoint *first, struct endpoint **ep);
/*
 * Sets *ep to the shared endpoint of the family and TOS for active connections from any port, with
 * a reference. With several shards, the port is chosen so that a peer with the same number of
 * shards handles its packets on the shard with the same index (endpoint_group.h). Returns 0 or
 * -errno.
 */
int endpoint_open_client(struct conn *c, int family, uint8_t tos, struct endpoint **ep);
/*
 * Sets *ep to a dormant endpoint bound to addr, with a reference. Such an endpoint costs only a
 * descriptor. It does not receive before endpoint_wake() or endpoint_watch(). Returns 0, or the
 * -errno of socket() or bind().
 */
int endpoint_open_dormant(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/*
 * Sets *ep to an endpoint bound to a multicast group and port, with a reference. Other processes
 * may bind the same address and port. Returns 0 or -errno.
 */
int endpoint_open_group(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/*
 * Starts receiving at a dormant endpoint, which then never becomes dormant again. Lets peers open
 * associations to this local address. May be called again for further addresses. Returns 0, the
 * -errno of listen(), or -ENOMEM.
 */
int endpoint_wake(struct endpoint *ep, const struct ip_addr *local);
/* Starts receiving at a dormant endpoint, without accepting associations. Returns 0 or -errno. */
int endpoint_watch(struct endpoint *ep);
/*
 * Sets *ep to an endpoint, with a reference, that replaces a shared endpoint whose association to a
 * peer has no free stream. Returns 0 or -errno.
 */
int endpoint_open_next(struct endpoint *full, struct endpoint **ep);
/*
 * Registers or removes a user that waits for room in the port's send buffer. Once there is room,
 * the receiving thread runs. Both the associations and the datagrams of an endpoint may wait at the
 * same time.
 */
void endpoint_await_room(struct endpoint *ep, bool await);
void endpoint_put(struct endpoint *ep);
void endpoint_set_tos(struct endpoint *ep, uint8_t tos);
/* Releases the id's endpoint. An endpoint without ids remains only while it has associations. */
void endpoint_leave(struct cm_id *id);
/* True if only sessions use the port: it has no id and no QP numbers, and is not shared. */
bool endpoint_is_abandoned(const struct endpoint *ep);
void endpoint_reap(struct conn *c);

#endif
