/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMA Read (RFC 5040 5.2, ORD and IRD 6.1): the requester and the responder. Atomic requests share
 * the queues of Read requests (RFC 7306 5.2). Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_READ_H
#define SCTPIW_IWARP_READ_H

#include "iwarp/segment.h"
#include "wire/rdmap.h"

struct iw_failure;
struct iw_rc;
struct iw_session;

#define IW_LONG_READ 16384u /* bytes: shorter reads are not requested in groups (iw_reads.gather) */

/* An outstanding RDMA Read or atomic of this side. */
struct iw_read {
	uint32_t index;	 /* ring index of the WQE */
	uint32_t msn;	 /* MSN on QN 1; also the request identifier of an atomic */
	uint32_t stag;	 /* STag of the data sink */
	uint32_t length; /* bytes */
	uint64_t to;	 /* TO in the data sink */
	uint32_t got;	 /* bytes delivered */
	bool rtr;	 /* the read is an RTR indication (RFC 6581 9.2), which has no WQE */
	bool scattered;	 /* the sink consists of all SGEs of the WQE, in sequence, from TO 0 on */
	bool atomic;
	uint32_t response_msn;			 /* atomic: MSN of the response, on QN 3 */
	uint8_t response[RDMAP_ATOMIC_RESP_LEN]; /* atomic: the placed response */
};

/* This side's requests: [head, tail) are outstanding. */
struct iw_reads {
	struct iw_read *at;
	uint32_t size; /* entries of at: a power of two, or 0; grows up to ord */
	uint32_t head, tail;
	uint32_t ord;	     /* maximum outstanding requests */
	uint32_t ord_max;    /* the peer's limit for ord */
	bool gather;	     /* requests wait for a quarter of ord: prepare_request() */
	uint32_t msn;	     /* MSN of the next request, on QN 1 */
	uint32_t stag;	     /* counter for the next call of iw_mr_read_stag() */
	uint32_t atomic_msn; /* MSN of the response to the next atomic, on QN 3 */
};

/* The peer's Read or Atomic Request: the untagged buffer of an MSN on QN 1. */
struct iw_inbound_read {
	uint8_t request[RDMAP_ATOMIC_REQ_LEN]; /* the request as it arrived */
	struct iw_rx_rec rec;		       /* last segment; has the opcode, Read or Atomic */
	union {
		struct rdmap_read_request r;
		struct rdmap_atomic_request a;
	};
	/* Send the response only after all Sends before this MSN are delivered (RFC 5040 5.5). */
	uint32_t after;
};

/* The peer's requests: MSNs [head, tail) are delivered and unanswered. */
struct iw_irq {
	struct iw_inbound_read *at;
	uint32_t size; /* entries of at: a power of two, or 0; grows up to ird */
	uint32_t head, tail;
	uint32_t ird;	       /* maximum outstanding requests of the peer */
	bool responding;       /* the response to the request at head is being sent */
	uint32_t sent;	       /* sent bytes of that response */
	uint32_t response_msn; /* MSN of the next Atomic Response, on QN 3 */
};

static inline uint32_t iw_reads_outstanding(const struct iw_reads *r)
{
	return r->tail - r->head;
}

static inline struct iw_read *iw_read_at(const struct iw_reads *r, uint32_t i)
{
	return &r->at[i & (r->size - 1)];
}

/* Makes room for n outstanding requests. Returns 0, or -ENOMEM without a change. */
int iw_reads_reserve(struct iw_reads *r, uint32_t n);
/* Adds a request that was just sent. The caller has reserved the room. */
static inline void iw_reads_add(struct iw_reads *r, const struct iw_read *read)
{
	*iw_read_at(r, r->tail++) = *read;
}

/*
 * Blames the oldest request for a wrong response: makes f, which is otherwise filled, name the
 * request's WQE. Returns -EPROTO.
 */
int iw_read_wrong(const struct iw_reads *r, struct iw_failure *f);
/* Completes the oldest request. May end the session (CQ overflow). */
void iw_read_answered(struct iw_session *s);

/* Place and deliver a segment of a Read Response. */
int iw_read_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_read_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Place and deliver a segment of the peer's Read or Atomic Request. */
int iw_irq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_irq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Makes room for n requests from q->head on. Returns 0, or -ENOMEM without a change. */
int iw_irq_reserve(struct iw_irq *q, uint32_t n);

/*
 * True if the peer's oldest unanswered request may be answered now. At least one such request must
 * exist: see iw_response_ready().
 */
bool iw_response_in_turn(const struct iw_rc *rc);
/*
 * Writes the next segment of the response to the request at irq.head, leaving room for the DDP-SSN
 * before it. Returns the length including the DDP-SSN. Returns 0 if the segment does not fit limit,
 * or if the session has ended.
 */
size_t iw_response_pull(struct iw_session *s, uint8_t *buf, size_t limit);

#endif
