/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Service ID resolution (SIDR), which is rdma_cm for datagrams. The id of a client requests the
 * number of the UD QP of an id that listens at a port, with the datagrams of wire/sidr.h. Both ids
 * have the port space RDMA_PS_UDP. The client repeats its request until it gets an answer or times
 * out. The server answers the first request with a cookie, and keeps no state about the client. The
 * client repeats the request with the cookie, which proves the client's address. This request
 * becomes an id that waits for the application, with the same limits as requests for connections.
 * Callers hold the shard's lock. Errors are -errno.
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

/* The request that a datagram id has sent or received. Part of struct cm_id. */
struct sidr_request {
	struct list_node node; /* client: sidr.asking; server: sidr.asked, while undecided */
	uint64_t id;
	uint64_t cookie;       /* from the server; 0: none yet */
	uint64_t wait;	       /* ns between the client's last and next request */
	uint64_t again;	       /* time of the client's next request */
	uint64_t deadline;     /* time when the client gives up */
	struct path_addr peer; /* server: path on which the request arrived */
	uint16_t peer_port;    /* server: the client's SCTP port */
};

/* Part of struct conn. */
struct sidr {
	struct list_node asking;     /* sidr_request.node of clients */
	struct list_node asked;	     /* sidr_request.node of servers, for undecided requests */
	struct sidr_answer *answers; /* last answers sent, for repeated requests; NULL: none yet */
	unsigned int next_answer;    /* index of the oldest answer, which is overwritten next */
	struct hmac_sha256_ctx key;  /* key of the cookies */
	bool has_key;
};

void sidr_init(struct sidr *sidr);
void sidr_fini(struct sidr *sidr);

/* True if the conn's device and transport support datagrams. */
bool sidr_is_served(const struct conn *c);

/* Implement rdma_connect(), rdma_accept() and rdma_reject() for a datagram id; see rnic_api.h. */
int sidr_connect(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_accept(struct cm_id *id, const struct rnic_conn_param *param);
int sidr_reject(struct cm_id *id, const void *private_data, uint8_t len);
/* Refuses the id's undecided request, if any, when the id is destroyed. */
void sidr_hang_up(struct cm_id *id);

/*
 * Handles a request or reply to ep from the peer's SCTP port. The caller has checked the checksum.
 * kind is wire_datagram_kind() of the chunk. Returns false if the chunk is malformed.
 */
bool sidr_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		enum wire_datagram_kind kind, const uint8_t *chunk);
/*
 * Handles an ICMP error that reports that no process has the server's port. quoted: first bytes of
 * the local packet.
 */
void sidr_refused(struct endpoint *ep, const uint8_t *quoted, size_t len);

uint64_t sidr_next_timeout(const struct conn *c);
void sidr_timers(struct conn *c);

#endif
