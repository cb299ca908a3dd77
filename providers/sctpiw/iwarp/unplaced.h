/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion means that the peer has the data.
 *
 * A Write completes with success only when its bytes, and those of all earlier WRs of the QP, are
 * placed in the peer's memory. A Send completes only when it is in a receive of the peer that will
 * complete. Until then the WQE is IW_WQE_SENT. Two sources show progress:
 *
 * - The LLP counts the messages that the peer has placed and delivered (iw_llp_ops.placed).
 * - The peer's receipts (wire/rdmap_receipt.h) show which Sends have no receive yet, and which
 *   message of a session was the last one that the peer has delivered.
 *
 * For a peer that does not support receipts, the LLP reports SCTP's acknowledgements as placement,
 * because no better information is available. Some LLPs report nothing; then a WQE completes when
 * the LLP has pulled the WQE's messages. Needs the shard's lock.
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
	/* iw_assoc.unplaced; node.when: number of the message whose placement is awaited */
	struct timerq_node node;
	/*
	 * Ring indexes. All WQEs before arrived are placed, or need no placement. No WQE before
	 * next waits for a receive of the peer. The ring's head may be past both indexes, if reads
	 * completed or WQEs were flushed. Slots before the head may contain other WQEs.
	 */
	uint32_t arrived, next; /* next <= arrived */
	bool blocked;		/* a Send waits for the window */
	bool waiting;		/* Sends from waiting_msn on have no receive */
	uint32_t waiting_msn;
	struct iw_send_window window;
};

/* Makes room for one more QP with a session on the association. Returns 0, or -ENOMEM. */
int iw_unplaced_reserve(struct iw_assoc *assoc);
/* Starts a session of the QP, after iw_unplaced_reserve(). sq_head: ring index of its first WQE. */
void iw_unplaced_start(struct iw_rc *rc, struct iw_session *s, uint32_t sq_head);
/*
 * Call when the last message of the current WQE is pulled. Returns true if the WQE is complete.
 * Otherwise the WQE completes when its messages are placed.
 */
bool iw_unplaced_add(struct iw_rc *rc, struct iw_send_wqe *wqe);
/* Makes a segment of a Send wait for the window. */
void iw_unplaced_block(struct iw_rc *rc);
/* Ends the QP's wait for placement, because all messages are placed or the session ends. */
void iw_unplaced_stop(struct iw_rc *rc);
/* Processes a receipt of the peer. May end the session. */
void iw_unplaced_receipt(struct iw_rc *rc, const struct rdmap_receipt *r);
/* Processes the final receipt of a session that is ending. */
void iw_unplaced_finish(struct iw_rc *rc, const struct rdmap_receipt *r);
/*
 * Makes f name the oldest WQE that is not placed, or else the oldest unanswered read, with this
 * status. Leaves f unchanged if neither exists.
 */
void iw_unplaced_blame(struct iw_rc *rc, uint32_t status, struct iw_failure *f);

#endif
