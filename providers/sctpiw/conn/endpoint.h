/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints: local ports. This module decides which endpoint an RDMA CM id or a QP number gets, when one is
 * shared, and when one is given back; the transport opens and closes what is behind it. Shard lock.
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
 * The local addresses at which peers may open associations to an endpoint of QP numbers: those that one of
 * its QPs is connected from. An endpoint of ids has none here: it accepts wherever it is bound.
 */
struct endpoint_locals {
	struct ip_addr *addr;
	unsigned int n;
};

/* Where an endpoint is bound. The transport's open() fills it. */
struct endpoint_bound {
	struct sockaddr_storage local; /* with the port */
	int family;
	uint16_t port;
	bool wildcard; /* to all addresses of the family */
	bool v6only;
	bool multicast; /* to the address of a group: only datagrams are taken, and nothing is sent */
};

struct endpoint {
	struct conn *conn;
	struct list_node node; /* endpoint_table.open or .dormant */
	unsigned int refs; /* ids, associations and QP number blocks that use it; at 0 it is reaped */
	struct endpoint_bound bound;
	struct endpoint_locals locals;
	uint8_t tos;		       /* of the IP packets, or their traffic class */
	unsigned int await_room;       /* who waits for room in its port: endpoint_await_room() */
	bool dormant;		       /* it holds its port, and nobody looks at what comes there */
	struct endpoint_group *group;  /* endpoint_group.h; NULL: no other shard has the port */
	const struct endpoint *beside; /* while it is opened: whose port it shares; else NULL */
	void *state;		       /* the transport's own */

	struct list_node assocs;      /* conn_assoc.node */
	struct list_node ids;	      /* cm_id.bound_node: the ids that claim the address */
	struct cm_id *listener;	      /* NULL: requests of peers wait a while, and are refused */
	uint64_t grace_until;	      /* for datagrams; see cm_grant_grace() */
	struct qp_block *block;	      /* the QP numbers that the port is a part of; or NULL */
	bool shared;		      /* for ids that were not bound to a port */
	bool shown;		      /* an id has shown the port to its program, or does so */
	struct list_node client_node; /* endpoint_table.clients while shared and not full */
};

/* Part of struct conn. */
struct endpoint_table {
	struct list_node open, dormant; /* endpoint.node */
	unsigned int n_open;
	bool reap;		  /* some endpoint has no reference left */
	struct list_node clients; /* endpoint.client_node: one of each family and TOS */
};

void endpoint_table_init(struct endpoint_table *t);

/*
 * A referenced endpoint bound to addr. It may be one that is there already, if nobody but associations
 * claims it, or if reuse allows it. -errno as of bind() and rdma_bind_addr().
 */
int endpoint_open(struct conn *c, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **ep);
/* A referenced endpoint bound as `first` is, which is another shard's: for endpoint_group.h. -errno. */
int endpoint_open_beside(struct conn *c, const struct endpoint *first, struct endpoint **ep);
/*
 * A referenced endpoint for active connections from any port: the one of the family and TOS. With several shards the port is
 * one whose peer, if it has as many, has it on the shard of the same index (endpoint_group.h). -errno.
 */
int endpoint_open_client(struct conn *c, int family, uint8_t tos, struct endpoint **ep);
/*
 * A referenced endpoint bound to addr that costs nothing but its descriptor: what comes is left lying
 * until endpoint_wake(). -errno of socket() and bind().
 */
int endpoint_open_dormant(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/* A referenced endpoint bound to the address of a multicast group and a port, which other processes may have, too. -errno. */
int endpoint_open_group(struct conn *c, const struct sockaddr *addr, struct endpoint **ep);
/*
 * Wakes the endpoint, once and for all; from now on peers may open associations to this local address of
 * it. May be repeated for further addresses. -errno of listen(), or -ENOMEM.
 */
int endpoint_wake(struct endpoint *ep, const struct ip_addr *local);
/* The same without an address: what comes is looked at, and nobody may open associations. -errno. */
int endpoint_watch(struct endpoint *ep);
/* A referenced endpoint that takes the place of a shared one whose streams to some peer are used up. */
int endpoint_open_next(struct endpoint *full, struct endpoint **ep);
/*
 * Somebody begins or ends to wait for room in the endpoint's port, which wakes the thread that receives. Several may
 * wait at once: associations, and datagrams beside them.
 */
void endpoint_await_room(struct endpoint *ep, bool await);
/* Gives a reference back. */
void endpoint_put(struct endpoint *ep);
/* What is sent from now on carries tos. */
void endpoint_set_tos(struct endpoint *ep, uint8_t tos);
/* The id lets go of its endpoint. Without ids an endpoint is kept for the sessions on it alone. */
void endpoint_leave(struct cm_id *id);
/* Whether the port is kept for its sessions alone: no id and no QP number has it, nor is it for clients. */
bool endpoint_is_abandoned(const struct endpoint *ep);
/* Frees the endpoints that have no reference left. */
void endpoint_reap(struct conn *c);

#endif
