/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits the datagrams under way to the room in their receivers' buffers. Receivers do not
 * acknowledge datagrams. But a receiver answers a Room Request with the number of bytes of its
 * receive buffer that the sender may fill (wire/room.h). When it answers, it has already read all
 * packets that were sent before the request. Therefore the sender may send this number of bytes
 * after the last answered request. Further datagrams wait in their send queues. Bytes are counted
 * as the receiver's kernel counts them; pace_cost() estimates this. Callers hold the shard's lock.
 */
#ifndef SCTPIW_CONN_PACE_H
#define SCTPIW_CONN_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "wire/room.h"

struct conn;
struct endpoint;

/*
 * The table of receivers has PACE_SETS sets with PACE_WAYS entries each. A new receiver replaces
 * the least recently used receiver of its set.
 */
#define PACE_SETS 64u
#define PACE_WAYS 4u

enum pace_state {
	PACE_NEW,    /* the receiver has sent no answer yet */
	PACE_TELLS,  /* the receiver answers, so that datagrams wait for its room */
	PACE_SILENT, /* the receiver did not answer in time: datagrams do not wait for it */
};

/* A request that was not answered yet. */
struct pace_request {
	uint64_t nonce;	 /* 0: no request */
	uint32_t behind; /* bytes sent after this request */
};

/*
 * Maximum number of unanswered requests to a receiver. The first request is sent after half of the
 * permitted bytes, the second after all of them. The answer to the first request usually arrives
 * before all permitted bytes are sent, so that the sender need not wait. On an overloaded host, the
 * receiver may read all packets before the sender runs again. The answer to the second request then
 * permits the sender to fill the whole buffer.
 */
#define PACE_REQUESTS 2u

/* One receiving port. */
struct pace_receiver {
	struct ip_addr to;
	uint16_t port; /* SCTP port; 0: entry is free */
	enum pace_state state;
	uint32_t room; /* bytes permitted by the last answer; at first PACE_FIRST */
	uint32_t out;  /* bytes sent after the last answered request */
	struct pace_request request[PACE_REQUESTS]; /* older one first */
	uint64_t pause;	  /* ns between the next request and its repetition */
	uint64_t ask_at;  /* ns; earliest time of the next request */
	uint64_t since;	  /* ns; since when datagrams wait for room; 0: none wait */
	uint64_t used_at; /* ns */
};

/* Initially zero. */
struct pace {
	struct pace_receiver receivers[PACE_SETS][PACE_WAYS];
	uint64_t patient_at; /* ns; until then, only PACE_PATIENCE_SHORT applies */
};

/* State for answering requests, part of struct datagrams. Initially zero. */
struct pace_answers {
	uint64_t until; /* ns; end of the period in which n is counted */
	unsigned int n;
};

/* Bytes that may be sent to a new receiver before its first answer. */
#define PACE_FIRST 131072u
/*
 * Pause before a request is repeated, in ns: the initial pause, and the maximum, since each
 * repetition doubles the pause.
 */
#define PACE_ASK_FIRST 200000u
#define PACE_ASK_LAST 20000000u
/*
 * Interval in ns at which waiting datagrams are tried again. An answer from the receiver also
 * triggers a try.
 */
#define PACE_RETRY 200000u
/*
 * Time in ns after which a receiver that does not answer becomes PACE_SILENT. Such a receiver does
 * not read its socket, or runs a version without answers. Datagrams to it are sent without a limit,
 * and may be lost, as on any network. The time is longer than a process usually waits for a CPU on
 * a busy host.
 */
#define PACE_PATIENCE 200000000u
/*
 * Times in ns. After a receiver was silent for PACE_PATIENCE, other receivers become PACE_SILENT
 * after PACE_PATIENCE_SHORT, during the next PACE_IMPATIENT. Otherwise, a QP that sends to many
 * silent receivers would wait PACE_PATIENCE for each of them in turn.
 */
#define PACE_PATIENCE_SHORT 5000000u
#define PACE_IMPATIENT 1000000000u
/*
 * Maximum number of answers to all senders in PACE_ANSWERS_TIME ns. Because of the limit, a flood
 * of requests costs little more than receiving its packets.
 */
#define PACE_ANSWERS 64u
#define PACE_ANSWERS_TIME 1000000u
/* Result of pace_room() if there is no limit. */
#define PACE_ANY UINT32_MAX

/*
 * Returns the bytes of a receive buffer that a packet of len bytes occupies. The kernel also counts
 * its own data structures for the packet and for its IP fragments. joins: the packet arrives in one
 * piece with the packet before it (carrier.whole_batches). The cost of the first packet already
 * includes the data structures.
 */
static inline uint32_t pace_cost(size_t len, bool joins)
{
	return joins ? (uint32_t)len : 2 * (uint32_t)len + 2304;
}

/*
 * Returns the number of bytes that ep may send to SCTP port `port` at `to` now (conn.now). The last
 * packet may exceed this number. If 0, call again after PACE_RETRY, or after packets were received.
 */
uint32_t pace_room(struct conn *c, struct pace *p, struct endpoint *ep, const struct path_addr *to,
		   uint16_t port);
/* Counts sent bytes. cost: the sum of pace_cost() of the packets. */
void pace_sent(struct pace *p, struct endpoint *ep, const struct path_addr *to, uint16_t port,
	       uint32_t cost);
/* Handles a Room Reply from this port. Ignores a reply that matches no request. */
void pace_told(struct pace *p, const struct conn *c, const struct path_addr *from, uint16_t port,
	       const struct wire_room *reply);
/*
 * Answers a Room Request to ep from this port. Sends no answer above the limit of PACE_ANSWERS, or
 * if the conn has had no UD QP yet.
 */
void pace_answer(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		 const struct wire_room *request);

#endif
