/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures of a session: who is at fault, and what the peer is told by an RDMAP Terminate (RFC 5040
 * 4.8, 5.4, 7). Functions that judge what the peer sent return -EPROTO and fill a struct
 * iw_failure. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_TERMINATE_H
#define SCTPIW_IWARP_TERMINATE_H

#include <stdbool.h>

#include "iwarp/event.h"
#include "iwarp/mr.h"
#include "iwarp/segment.h"
#include "wire/terminate.h"

/* The queue of the WQE that is at fault. */
enum iw_fault { IW_FAULT_NONE, IW_FAULT_SQ, IW_FAULT_RQ };

struct iw_failure {
	bool illegal; /* against the session's rules: no RDMAP Terminate (RFC 5043 6.1) */
	struct term_message term; /* what the peer is told */
	uint8_t fault;		  /* enum iw_fault: whose WQE gets status instead of a flush */
	uint32_t index;		  /* ring index of that WQE */
	uint32_t status;	  /* enum iw_wc_status of that WQE */
	bool quiet; /* no async event: the application learns it from that WQE, or need not */
	/*
	 * If the QP is connected to itself: the WQE at fault at the other end, where it learns of this
	 * failure as of a peer's. Else NULL.
	 */
	const struct iw_failure *at_peer;
};

/*
 * An error of the peer: fills f and returns -EPROTO. error: TERM_* of wire/terminate.h. header: the
 * DDP header of the segment at fault, and its length with the payload; or NULL.
 */
int iw_fail(struct iw_failure *f, uint16_t error, const uint8_t *header, size_t segment_len);
/* The same for a segment that was placed before. */
int iw_fail_rec(struct iw_failure *f, uint16_t error, const struct iw_rx_rec *r);
/* A message that the session's rules do not allow. */
int iw_fail_illegal(struct iw_failure *f);
/* An error of this side: local catastrophic, without headers. status: for the WQE at index. */
int iw_fail_local(struct iw_failure *f, enum iw_fault fault, uint32_t index, uint32_t status);

/* The WQE of the send queue at this index gets the status. The rest of f stays. */
void iw_blame(struct iw_failure *f, uint32_t index, uint32_t status);

/*
 * What f says of the WQE at this index of the queue, as it is or at the other end; NULL: nothing, so the
 * WQE is flushed. f may be NULL.
 */
const struct iw_failure *iw_failure_of(const struct iw_failure *f, enum iw_fault queue,
				       uint32_t index);

/*
 * Makes the DDP header of the segment again. buf has room for DDP_UNTAGGED_LEN bytes; returns the
 * length.
 */
size_t iw_rec_header(const struct iw_rx_rec *r, uint8_t *buf);

struct iw_session;

/* Places a segment of the peer's Terminate. */
int iw_term_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
/* The peer's Terminate, once whole, ends the session. Always 0. */
int iw_term_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/*
 * Writes the session's Terminate behind room for the DDP-SSN. Its length; 0: it does not fit limit.
 */
size_t iw_term_pull(struct iw_session *s, uint8_t *buf, size_t limit);
/* The type of async event that tells the application of f. */
enum iw_event_type iw_term_event(const struct iw_failure *f);

#endif
