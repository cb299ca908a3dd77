/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits the datagrams under way to the room at their receivers. Nothing acknowledges a datagram.
 * But a receiver answers a request with the bytes of its receive buffer that the sender may use
 * (wire/room.h). At this time, the receiver has read all packets before the request. So this many
 * bytes may be under way after the last answered request. Further datagrams wait in their send
 * queues. Bytes are counted as in the receiver's kernel, estimated by pace_cost(). Shard lock.
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
 * Known receivers: PACE_SETS sets of PACE_WAYS. A new one replaces the least recently used of its
 * set.
 */
#define PACE_SETS 64u
#define PACE_WAYS 4u

enum pace_state {
	PACE_NEW,    /* no answer yet */
	PACE_TELLS,  /* answers, so that datagrams wait for its room */
	PACE_SILENT, /* did not answer in time: all datagrams leave, and requests are repeated */
};

/* A request without an answer. */
struct pace_request {
	uint64_t nonce;	 /* 0: no request */
	uint32_t behind; /* bytes sent after it */
};

/*
 * Maximum of requests under way to a receiver. The first leaves at half of the permitted bytes, the
 * second at their end. With the first, the next part can leave in time. On an overloaded host, the
 * receiver reads everything before the sender runs again. The answer to the second then permits all
 * the room of the receiver.
 */
#define PACE_REQUESTS 2u

/* One receiving port. */
struct pace_receiver {
	struct ip_addr to;
	uint16_t port; /* SCTP port; 0: entry is free */
	enum pace_state state;
	uint32_t room; /* bytes permitted by the last answer; PACE_FIRST before */
	uint32_t out;  /* bytes sent after the last answered request */
	struct pace_request request[PACE_REQUESTS]; /* older one first */
	uint64_t pause;	  /* ns between the next request and its repetition */
	uint64_t ask_at;  /* ns; earliest time of the next request */
	uint64_t since;	  /* ns; time since which datagrams wait for it; 0: none wait */
	uint64_t used_at; /* ns */
};

/* Initially zero. */
struct pace {
	struct pace_receiver receivers[PACE_SETS][PACE_WAYS];
	uint64_t patient_at; /* ns; until then, only PACE_PATIENCE_SHORT applies */
};

/* State of the receiver's side, part of struct datagrams. Initially zero. */
struct pace_answers {
	uint64_t until; /* ns; end of the period in which n is counted */
	unsigned int n;
};

/* Bytes that may leave to an unknown receiver before its answer. */
#define PACE_FIRST 131072u
/* ns. Pause before a request is repeated: first, and maximum after doublings. */
#define PACE_ASK_FIRST 200000u
#define PACE_ASK_LAST 20000000u
/* ns. Interval of checks whether datagrams may leave, unless an answer arrives before. */
#define PACE_RETRY 200000u
/*
 * ns. A receiver that does not answer in this time does not read, or has a version without answers.
 * Its datagrams are sent all the same, and may be lost, as on a network. A process waits less than
 * this for a CPU on a busy host.
 */
#define PACE_PATIENCE 200000000u
/*
 * ns. After a receiver was silent for PACE_PATIENCE, others get only PACE_PATIENCE_SHORT, for a
 * time of PACE_IMPATIENT. Otherwise a QP that sends to many silent receivers would wait for each in
 * turn.
 */
#define PACE_PATIENCE_SHORT 5000000u
#define PACE_IMPATIENT 1000000000u
/*
 * Maximum of answers in PACE_ANSWERS_TIME ns, to all senders: a flood of requests costs little more
 * than its packets.
 */
#define PACE_ANSWERS 64u
#define PACE_ANSWERS_TIME 1000000u
/* Result of pace_room() without a limit. */
#define PACE_ANY UINT32_MAX

/*
 * Returns the bytes of a receive buffer for a packet of len bytes. The kernel also counts its own
 * memory, and that of fragments. joins: the packet arrives in one piece with the previous packet
 * (carrier.whole_batches), whose cost includes this memory.
 */
static inline uint32_t pace_cost(size_t len, bool joins)
{
	return joins ? (uint32_t)len : 2 * (uint32_t)len + 2304;
}

/*
 * Returns the bytes that may leave from ep to SCTP port `port` at `to` at conn.now. The last packet
 * may exceed them. 0: call again after PACE_RETRY, or when something was received.
 */
uint32_t pace_room(struct conn *c, struct pace *p, struct endpoint *ep, const struct path_addr *to,
		   uint16_t port);
/* Counts bytes that have left, by pace_cost(). */
void pace_sent(struct pace *p, struct endpoint *ep, const struct path_addr *to, uint16_t port,
	       uint32_t cost);
/* Handles a Room Reply from this port. Ignores replies without a request. */
void pace_told(struct pace *p, const struct conn *c, const struct path_addr *from, uint16_t port,
	       const struct wire_room *reply);
/* Answers a Room Request to ep from this port, unless there are too many, or no UD QP here. */
void pace_answer(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		 const struct wire_room *request);

#endif
