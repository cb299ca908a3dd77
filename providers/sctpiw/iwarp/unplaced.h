/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completions mean that the peer has it.
 *
 * A Write, and every WR before it on the QP, completes with success only when its bytes are placed
 * in the peer's memory; a Send only when it is in a receive of the peer's and will be reported
 * there. Until then its WQE is IW_WQE_SENT. Two things tell:
 *
 * - The LLP counts the messages that the peer has placed and delivered (iw_llp_ops.placed).
 * - The peer's receipts (wire/rdmap_receipt.h) say which Sends have no receive yet, and, when a
 *   session ends, how far it came.
 *
 * Of a peer that knows no receipts the LLP tells what SCTP has acknowledged, which is all that can
 * be known; and some LLPs tell nothing: then a WQE completes when it is with the LLP. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_UNPLACED_H
#define SCTPIW_IWARP_UNPLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/send_window.h"
#include "util/timerq.h"

struct iw_assoc;
struct iw_failure;
struct iw_rc;
struct iw_send_wqe;
struct iw_session;
struct rdmap_receipt;

struct iw_unplaced {
	/* iw_assoc.unplaced; node.when: number of the message whose placement is awaited next */
	struct timerq_node node;
	/*
	 * Ring indexes: all WQEs before arrived are placed, or need not be, and none of those before next waits for
	 * a receive. The head of the ring may have passed both, by WQEs that complete otherwise: reads, or what was
	 * flushed. Their slots may have others in them then.
	 */
	uint32_t arrived, next; /* next is not above arrived */
	bool blocked;		/* a Send waits for the window */
	bool waiting;		/* Sends from waiting_msn on have no receive */
	uint32_t waiting_msn;
	struct iw_send_window window;
};

/* Makes room for one more QP with a session on the association. -ENOMEM. */
int iw_unplaced_reserve(struct iw_assoc *assoc);
/* The QP has a new session, and room was made. sq_head: ring index of its first WQE. */
void iw_unplaced_start(struct iw_rc *rc, struct iw_session *s, uint32_t sq_head);
/*
 * All of the current WQE is with the LLP, in the message that is being pulled: is it complete by
 * that? If not it is complete when it is placed.
 */
bool iw_unplaced_add(struct iw_rc *rc, struct iw_send_wqe *wqe);
/* A segment of a Send has to wait for the window. */
void iw_unplaced_block(struct iw_rc *rc);
/* Nothing is awaited any more: all is placed, or the session ends. */
void iw_unplaced_stop(struct iw_rc *rc);
/* A receipt of the peer's. May end the session. */
void iw_unplaced_receipt(struct iw_rc *rc, const struct rdmap_receipt *r);
/* The final one, of a session that is about to end in any case. */
void iw_unplaced_finish(struct iw_rc *rc, const struct rdmap_receipt *r);
/*
 * The oldest WQE that is not placed is at fault with this status, or else the oldest read that is
 * not answered; f stays as it is if there is neither.
 */
void iw_unplaced_blame(struct iw_rc *rc, uint32_t status, struct iw_failure *f);

#endif
