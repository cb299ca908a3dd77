/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * rdma_cm for datagrams: an id of RDMA_PS_UDP requests the UD queue pair of a port, by datagrams
 * (wire/sidr.h). The client repeats its request until an answer or a timeout. The server keeps no
 * state of a stranger: it answers a request with a cookie. A request with this cookie proves its
 * source address, and becomes an id that waits for the application, under the limits of other
 * requests. Shard lock. Errors are -errno.
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

#define SIDR_QKEY 0x01234567 /* RDMA_UDP_QKEY, the default */

/* The request of a datagram id. Part of struct cm_id. */
struct sidr_request {
	struct list_node node; /* client: sidr.asking; server: `sidr.asked` until the decision */
	uint64_t id;
	uint64_t cookie;       /* from the server; 0: none yet */
	uint64_t wait;	       /* ns between the client's last and next request */
	uint64_t again;	       /* time of the client's next request */
	uint64_t deadline;     /* time when the client gives up */
	struct path_addr peer; /* server: path of the request */
	uint16_t peer_port;    /* server: the client's SCTP port */
};

/* Part of struct conn. */
struct sidr {
	struct list_node asking;     /* sidr_request.node of clients */
	struct list_node asked;	     /* sidr_request.node of servers without a decision */
	struct sidr_answer *answers; /* last answers, for repeated requests; NULL: none yet */
	unsigned int next_answer;    /* the oldest answer, overwritten next */
	struct hmac_sha256_ctx key;  /* key of the cookies */
	bool has_key;
};

void sidr_init(struct sidr *sidr);
void sidr_fini(struct sidr *sidr);

/* True if the conn's device and transport have datagrams. */
bool sidr_is_served(const struct conn *c);

/* rdma_connect(), rdma_accept() and rdma_reject() of a datagram id; see rnic_api.h. */
int sidr_connect(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_accept(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_reject(struct cm_id *id, const void *private_data, uint8_t len);
/* Refuses a request that waits for a decision, when its id is destroyed. */
void sidr_hang_up(struct cm_id *id);

/*
 * Handles a request or reply to ep from the peer's SCTP port. The checksum is right, and kind is
 * wire_datagram_kind() of `chunk`. Returns false if it is malformed.
 */
bool sidr_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		enum wire_datagram_kind kind, const uint8_t *chunk);
/* Handles an ICMP error: no process has the port. quoted: beginning of the local packet. */
void sidr_refused(struct endpoint *ep, const uint8_t *quoted, size_t len);

uint64_t sidr_next_timeout(const struct conn *c);
void sidr_timers(struct conn *c);

#endif
