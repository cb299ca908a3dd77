/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Keeps a sender of datagrams to what its receivers can take. Nothing acknowledges a datagram, but a receiver that is
 * asked says how much of its receive buffer the sender may fill (wire/room.h). It has taken all that came before the
 * request when it answers, so that much may be under way behind the last request that was answered; what is beyond it
 * waits in its send queue. All bytes are as the receiver's kernel counts them, estimated by pace_cost(). Shard lock.
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

/* Receivers that are known: in so many sets of so many, of which the one that was not used for longest is forgotten. */
#define PACE_SETS 64u
#define PACE_WAYS 4u

enum pace_state {
	PACE_NEW,    /* nothing is known of it yet */
	PACE_TELLS,  /* it has answered, and is waited for */
	PACE_SILENT, /* it was waited for in vain: all is sent, and it is asked now and then */
};

/* A request that was not answered yet. */
struct pace_request {
	uint64_t nonce;	 /* 0: there is none */
	uint32_t behind; /* bytes sent behind it */
};

/*
 * Under way to a receiver at the same time: one that leaves at half of what may be under way, and one at the end of it.
 * With the first the next part leaves in time. On a host with more to do than processors the receiver takes all before
 * the sender has its turn again, and with the second it may then send all that the receiver has room for.
 */
#define PACE_REQUESTS 2u

/* One receiving port. */
struct pace_receiver {
	struct ip_addr to;
	uint16_t port; /* SCTP's; 0: the place is free */
	enum pace_state state;
	uint32_t room; /* bytes, as it has told; PACE_FIRST until it has */
	uint32_t out;  /* bytes sent behind the last request that was answered */
	struct pace_request request[PACE_REQUESTS]; /* the older one first */
	uint64_t pause;	  /* ns from the next request to the one behind it */
	uint64_t ask_at;  /* ns. It is not asked before that */
	uint64_t since;	  /* ns; something waits for it since then. 0: nothing does */
	uint64_t used_at; /* ns */
};

/* All zero is a new one. */
struct pace {
	struct pace_receiver receivers[PACE_SETS][PACE_WAYS];
	uint64_t patient_at; /* ns; one of them may be waited for as long as PACE_PATIENCE from then on */
};

/* The receiver's side, part of struct datagrams. All zero is a new one. */
struct pace_answers {
	uint64_t until; /* ns. The number is of the time up to then */
	unsigned int n;
};

/* Bytes that may leave for a receiver of which nothing is known, before it has answered. */
#define PACE_FIRST 131072u
/* ns. A request is repeated behind the first time, and behind twice as long each time up to the last. */
#define PACE_ASK_FIRST 200000u
#define PACE_ASK_LAST 20000000u
/* ns. So soon is looked again whether what waits may leave, unless an answer comes before. */
#define PACE_RETRY 200000u
/*
 * ns. Whoever does not answer for so long does not read, or is of a version that does not answer. Its datagrams are sent
 * all the same, and lost, as on a network. It is longer than a process waits for its processor on a busy host.
 */
#define PACE_PATIENCE 200000000u
/*
 * ns. Once a receiver was waited for in vain, the sender has less patience with the others until this time is over: a QP
 * that sends to many which do not read waits for each of them in turn.
 */
#define PACE_PATIENCE_SHORT 5000000u
#define PACE_IMPATIENT 1000000000u
/* Requests that are answered in so many ns, whoever asks: a flood of them costs little more than its packets. */
#define PACE_ANSWERS 64u
#define PACE_ANSWERS_TIME 1000000u
/* What pace_room() returns for a receiver that nothing waits for. */
#define PACE_ANY UINT32_MAX

/*
 * What a packet of len bytes takes of a receive buffer: the kernel counts its own memory, too, and that of fragments.
 * joins: it arrives in one piece with the packet in front of it (carrier.whole_batches), which then has counted for that.
 */
static inline uint32_t pace_cost(size_t len, bool joins)
{
	return joins ? (uint32_t)len : 2 * (uint32_t)len + 2304;
}

/*
 * Bytes that may leave from ep to the SCTP port `port` at `to` at conn.now; the last packet may exceed them. 0: nothing
 * may, and this is to be asked again in PACE_RETRY or when something was received.
 */
uint32_t pace_room(struct conn *c, struct pace *p, struct endpoint *ep, const struct path_addr *to,
		   uint16_t port);
/* So many bytes, by pace_cost(), have left. */
void pace_sent(struct pace *p, struct endpoint *ep, const struct path_addr *to, uint16_t port,
	       uint32_t cost);
/* A Room Reply came from this port. One that answers no request of ours changes nothing. */
void pace_told(struct pace *p, const struct conn *c, const struct path_addr *from, uint16_t port,
	       const struct wire_room *reply);
/* A Room Request came to ep from this port. It is answered unless it is one too many, or nobody has a UD QP here. */
void pace_answer(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		 const struct wire_room *request);

#endif
