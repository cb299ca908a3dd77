/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both ends of RDMA Read (RFC 5040 5.2, ORD and IRD 6.1). The requests of atomics share its queues
 * (RFC 7306 5.2). Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_READ_H
#define SCTPIW_IWARP_READ_H

#include "iwarp/segment.h"
#include "wire/rdmap.h"

struct iw_failure;
struct iw_rc;
struct iw_session;

#define IW_LONG_READ 16384u /* bytes: reads of this length are asked for several at once */

/* An RDMA Read or an atomic that this side asked for and that is not answered yet. */
struct iw_read {
	uint32_t index;	 /* ring index of the WQE */
	uint32_t msn;	 /* on QN 1; of an atomic, its request identifier too */
	uint32_t stag;	 /* sink */
	uint32_t length; /* bytes */
	uint64_t to;	 /* sink */
	uint32_t got;	 /* bytes delivered */
	bool rtr;	 /* an RTR indication (RFC 6581 9.2): there is no WQE */
	bool scattered;	 /* the sink is the SGEs of the WQE, one behind the other from TO 0 on */
	bool atomic;
	uint32_t response_msn;			 /* atomic: MSN of its response, on QN 3 */
	uint8_t response[RDMAP_ATOMIC_RESP_LEN]; /* atomic: the response as placed */
};

/* Requests of this side: [head, tail) are outstanding. */
struct iw_reads {
	struct iw_read *at;
	uint32_t size; /* of at: a power of two, or 0; grows up to ord */
	uint32_t head, tail;
	uint32_t ord;	     /* how many may be outstanding */
	uint32_t ord_max;    /* more the peer does not take */
	bool gather;	     /* requests wait for a quarter of ord: prepare_request() in rc_tx.c */
	uint32_t msn;	     /* of the next request, on QN 1 */
	uint32_t stag;	     /* for iw_mr_read_stag(), of the next read that needs one */
	uint32_t atomic_msn; /* of the response to the next atomic, on QN 3 */
};

/* A Read or Atomic Request of the peer: the untagged buffer of one MSN on QN 1. */
struct iw_inbound_read {
	uint8_t request[RDMAP_ATOMIC_REQ_LEN]; /* as placed */
	struct iw_rx_rec rec; /* of its last segment; tells which of the two it is */
	union {
		struct rdmap_read_request r;
		struct rdmap_atomic_request a;
	};
	/* It is answered when all Sends before this MSN are delivered (RFC 5040 5.5). */
	uint32_t after;
};

/* Requests of the peer: those with MSNs [head, tail) are delivered and not answered. */
struct iw_irq {
	struct iw_inbound_read *at;
	uint32_t size; /* of at: a power of two, or 0; grows up to ird */
	uint32_t head, tail;
	uint32_t ird;	       /* how many the peer may have outstanding */
	bool responding;       /* the response to the one at head is being sent */
	uint32_t sent;	       /* bytes of that response that are out */
	uint32_t response_msn; /* of the next Atomic Response, on QN 3 */
};

static inline uint32_t iw_reads_outstanding(const struct iw_reads *r)
{
	return r->tail - r->head;
}

static inline struct iw_read *iw_read_at(const struct iw_reads *r, uint32_t i)
{
	return &r->at[i & (r->size - 1)];
}

/* Makes room for n outstanding requests. -ENOMEM: all is as it was. */
int iw_reads_reserve(struct iw_reads *r, uint32_t n);
/* Enters a request of which the WQE's segment is out; there is room for it. */
static inline void iw_reads_add(struct iw_reads *r, const struct iw_read *read)
{
	*iw_read_at(r, r->tail++) = *read;
}

/*
 * f, which is filled, is about a wrong response: blames the oldest request, which has got it.
 * Returns -EPROTO.
 */
int iw_read_wrong(const struct iw_reads *r, struct iw_failure *f);
/* The oldest request is answered. May end the session (CQ overflow). */
void iw_read_answered(struct iw_session *s);

/* Places a Read Response segment. */
int iw_read_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_read_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Places and delivers a segment of the peer's Read or Atomic Request. */
int iw_irq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_irq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Makes room for n requests from head on. -ENOMEM: all is as it was. */
int iw_irq_reserve(struct iw_irq *q, uint32_t n);

/* May the response to the peer's oldest request, which there is, be sent? iw_response_ready() asks. */
bool iw_response_in_turn(const struct iw_rc *rc);
/*
 * Writes the next segment of the response to the request at irq.head behind room for the DDP-SSN:
 * its length with that; 0: it does not fit limit, or the session has ended.
 */
size_t iw_response_pull(struct iw_session *s, uint8_t *buf, size_t limit);

#endif
