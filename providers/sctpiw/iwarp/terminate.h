/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures of a session: the WQE at fault, and the RDMAP Terminate for the peer (RFC 5040 4.8, 5.4,
 * 7). Functions that check the peer's messages return -EPROTO and fill a struct iw_failure. Needs
 * the shard's lock.
 */
#ifndef SCTPIW_IWARP_TERMINATE_H
#define SCTPIW_IWARP_TERMINATE_H

#include <stdbool.h>

#include "iwarp/event.h"
#include "iwarp/mr.h"
#include "iwarp/segment.h"
#include "wire/terminate.h"

/* Queue of the WQE at fault. */
enum iw_fault { IW_FAULT_NONE, IW_FAULT_SQ, IW_FAULT_RQ };

struct iw_failure {
	bool illegal;		  /* breaks session rules: no RDMAP Terminate (RFC 5043 6.1) */
	struct term_message term; /* the RDMAP Terminate for the peer */
	uint8_t fault;	 /* enum iw_fault: queue of the WQE that gets status instead of a flush */
	uint32_t index;	 /* ring index of that WQE */
	uint32_t status; /* enum iw_wc_status of that WQE */
	/* raise no async event: that WQE reports the error, or no report is needed */
	bool quiet;
	/*
	 * For a QP connected to itself: the failure that a peer would see, with the WQE at fault
	 * there. Else NULL.
	 */
	const struct iw_failure *at_peer;
};

/*
 * Fills f for an error of the peer and returns -EPROTO. error: TERM_* of wire/terminate.h. header:
 * DDP header of the segment at fault, with segment_len including the payload; or NULL.
 */
int iw_fail(struct iw_failure *f, uint16_t error, const uint8_t *header, size_t segment_len);
/* Fills f for an error of a segment that is already placed, as iw_fail(). */
int iw_fail_rec(struct iw_failure *f, uint16_t error, const struct iw_rx_rec *r);
/* Fills f for a message that violates the rules of sessions. Returns -EPROTO. */
int iw_fail_illegal(struct iw_failure *f);
/*
 * Fills f for a local catastrophic error, without headers. The WQE at index of the queue `fault`
 * gets the status. Returns -EPROTO.
 */
int iw_fail_local(struct iw_failure *f, enum iw_fault fault, uint32_t index, uint32_t status);

/* Makes f name the send WQE at this index, with this status. The rest of f stays. */
void iw_blame(struct iw_failure *f, uint32_t index, uint32_t status);

/*
 * Returns f or f->at_peer, whichever names the WQE at this index of the queue. Returns NULL if
 * neither does: the WQE is flushed. f may be NULL.
 */
const struct iw_failure *iw_failure_of(const struct iw_failure *f, enum iw_fault queue,
				       uint32_t index);

/* Rebuilds the segment's DDP header in buf, of DDP_UNTAGGED_LEN bytes. Returns the length. */
size_t iw_rec_header(const struct iw_rx_rec *r, uint8_t *buf);

struct iw_session;

int iw_term_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
/* Ends the session once the peer's Terminate is complete. Returns 0. */
int iw_term_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/*
 * Writes the session's RDMAP Terminate, leaving room for the DDP-SSN before it. Returns the length,
 * or 0 if the Terminate does not fit limit.
 */
size_t iw_term_pull(struct iw_session *s, uint8_t *buf, size_t limit);
/* Returns the type of the async event for f. */
enum iw_event_type iw_term_event(const struct iw_failure *f);

#endif
