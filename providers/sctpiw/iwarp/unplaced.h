/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion means that the peer has the data.
 *
 * A Write, and every earlier WR of the QP, completes with success only when its bytes are placed in
 * the peer's memory. A Send completes only when it is in a receive of the peer and will complete
 * there. Until then the WQE is IW_WQE_SENT. Two sources show progress:
 *
 * - The LLP counts the messages that the peer has placed and delivered (iw_llp_ops.placed).
 * - The peer's receipts (wire/rdmap_receipt.h) show which Sends have no receive yet, and how far a
 *   session came at its end.
 *
 * For a peer without receipts the LLP reports SCTP's acknowledgements, the only information
 * available. Some LLPs report nothing: then a WQE completes when the LLP has it. Needs the shard's
 * lock.
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
	 * Ring indexes. All WQEs before arrived are placed or need no placement. WQEs before next
	 * do not wait for a receive. The ring's head may have passed both, when reads completed or
	 * WQEs were flushed. Their slots may then contain other WQEs.
	 */
	uint32_t arrived, next; /* next <= arrived */
	bool blocked;		/* a Send waits for the window */
	bool waiting;		/* Sends from waiting_msn on have no receive */
	uint32_t waiting_msn;
	struct iw_send_window window;
};

/* Makes room for one more QP with a session on the association. Returns 0, or -ENOMEM. */
int iw_unplaced_reserve(struct iw_assoc *assoc);
/* Starts a new session of the QP; room was made. sq_head: ring index of its first WQE. */
void iw_unplaced_start(struct iw_rc *rc, struct iw_session *s, uint32_t sq_head);
/*
 * Handles the current WQE once the LLP has all of it, in the pulled message. Returns true if the
 * WQE is complete; otherwise it completes when it is placed.
 */
bool iw_unplaced_add(struct iw_rc *rc, struct iw_send_wqe *wqe);
/* Makes a segment of a Send wait for the window. */
void iw_unplaced_block(struct iw_rc *rc);
/* Stops waiting: all is placed, or the session ends. */
void iw_unplaced_stop(struct iw_rc *rc);
/* Processes a receipt of the peer. May end the session. */
void iw_unplaced_receipt(struct iw_rc *rc, const struct rdmap_receipt *r);
/* Processes the final receipt of a session that ends in any case. */
void iw_unplaced_finish(struct iw_rc *rc, const struct rdmap_receipt *r);
/*
 * Blames the oldest unplaced WQE with this status, or else the oldest unanswered read. Leaves f
 * unchanged if neither exists.
 */
void iw_unplaced_blame(struct iw_rc *rc, uint32_t status, struct iw_failure *f);

#endif
