/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rdma_cm for datagrams: an id of RDMA_PS_UDP asks a port for the UD queue pair behind it, by datagrams
 * (wire/sidr.h). The client repeats its request until it is answered or given up. The server keeps nothing of
 * a stranger: a request is answered with a cookie, and looked at when it comes back with it, which proves
 * that somebody is at its source address. Then it is an id that waits for the application, under the limits of
 * other requests. Shard lock. Errors are -errno.
 */
#ifndef SCTPIW_CONN_SIDR_H
#define SCTPIW_CONN_SIDR_H

#include <nettle/hmac.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/list.h"
#include "wire/datagram.h"

struct cm_id;
struct conn;
struct endpoint;
struct rnic_conn_param;
struct sidr_answer;

#define SIDR_QKEY 0x01234567 /* RDMA_UDP_QKEY, unless the application names another one */

/* The request of an id for datagrams. Part of struct cm_id. */
struct sidr_request {
	struct list_node
		node; /* sidr.asking of a client, sidr.asked of a server until it has decided */
	uint64_t id;
	uint64_t cookie;       /* that the server has given the client; 0: none yet */
	uint64_t wait;	       /* ns from the client's last request to the next */
	uint64_t again;	       /* when the client sends the next */
	uint64_t deadline;     /* when the client gives up */
	struct path_addr peer; /* of a server: where the request came from, and to */
	uint16_t peer_port;    /* of a server: the client's SCTP port */
};

/* Part of struct conn. */
struct sidr {
	struct list_node asking;     /* sidr_request.node of clients */
	struct list_node asked;	     /* sidr_request.node of servers that have not decided */
	struct sidr_answer *answers; /* the last ones, for requests that come again; NULL: none yet */
	unsigned int next_answer;    /* the oldest of them, which is overwritten next */
	struct hmac_sha256_ctx key; /* of cookies */
	bool has_key;
};

void sidr_init(struct sidr *sidr);
void sidr_fini(struct sidr *sidr);

/* Whether the conn's device and transport have datagrams. */
bool sidr_is_served(const struct conn *c);

/* rdma_connect(), rdma_accept() and rdma_reject() of an id for datagrams; see rnic_api.h. */
int sidr_connect(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_accept(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_reject(struct cm_id *id, const void *private_data, uint8_t len);
/* The id goes away: a request that waits for its decision is refused. */
void sidr_hang_up(struct cm_id *id);

/*
 * A request or reply came to ep from the peer's SCTP port; the checksum is right, and `chunk` is one for which
 * wire_datagram_kind() has said `kind`. false: it is malformed, and nothing was done.
 */
bool sidr_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		enum wire_datagram_kind kind, const uint8_t *chunk);
/* ICMP said that nobody has the port of a packet, which began as quoted. */
void sidr_refused(struct endpoint *ep, const uint8_t *quoted, size_t len);

uint64_t sidr_next_timeout(const struct conn *c);
void sidr_timers(struct conn *c);

#endif
