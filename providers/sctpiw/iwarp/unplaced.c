/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/unplaced.h"

#include "iwarp/assoc.h"
#include "iwarp/iw_wr.h"
#include "iwarp/rc.h"
#include "iwarp/void.h"
#include "wire/rdmap_receipt.h"

int iw_unplaced_reserve(struct iw_assoc *assoc)
{
	return timerq_reserve(&assoc->unplaced, assoc->live + 1);
}

void iw_unplaced_start(struct iw_rc *rc, struct iw_session *s, uint32_t sq_head)
{
	rc->unplaced = (struct iw_unplaced){ .arrived = sq_head, .next = sq_head };
	iw_send_window_start(&rc->unplaced.window, s->assoc->receipts, s->assoc->send_window);
}

void iw_unplaced_stop(struct iw_rc *rc)
{
	timerq_remove(&rc->session->assoc->unplaced, &rc->unplaced.node);
}

/* ---- waiting for placement ---- */

/* Makes the QP wait until the message with this number is placed. */
static void await(struct iw_rc *rc, uint32_t seq)
{
	struct iw_assoc *assoc = rc->session->assoc;
	uint32_t ahead = seq - (uint32_t)assoc->placed;

	timerq_set(&assoc->unplaced, &rc->unplaced.node, assoc->placed + ahead);
}

/* True if the peer has reported that the WQE's message has no receive. */
static bool has_no_receive(const struct iw_unplaced *u, const struct iw_send_wqe *wqe)
{
	return u->waiting && iw_wr_info(wqe->opcode)->on_queue_0 &&
	       (int32_t)(wqe->msn - u->waiting_msn) >= 0;
}

/* Marks the placed WQE at u->next as done. Returns false for a Send without a receive. */
static inline bool mark_next(struct iw_unplaced *u, struct iw_send_wqe *wqe)
{
	if (wqe->progress == IW_WQE_SENT) {
		if (has_no_receive(u, wqe))
			return false;
		wqe->progress = IW_WQE_DONE;
	}
	u->next++;
	return true;
}

/* Moves next and arrived past complete WQEs, whose slots may already contain new WQEs. */
static inline void skip_complete(struct iw_rc *rc)
{
	uint32_t head = rc->base.qp.sq.head;
	struct iw_unplaced *u = &rc->unplaced;

	if ((int32_t)(head - u->next) > 0)
		u->next = head;
	if ((int32_t)(head - u->arrived) > 0)
		u->arrived = head;
}

/*
 * Finds the placed WQEs, and marks them as done up to the first Send without a receive. The WQEs
 * after that Send are checked now as well: message numbers are compared modulo 2^32, so a later
 * check could be too late. If a WQE is not placed, returns true, and sets *seq to the number of the
 * WQE's last message.
 */
static bool take_placed(struct iw_rc *rc, uint32_t *seq)
{
	uint32_t placed = (uint32_t)rc->session->assoc->placed;
	uint32_t end = rc->base.send.next;
	struct iw_unplaced *u = &rc->unplaced;

	iw_send_window_placed(&u->window, placed);
	skip_complete(rc);
	while (u->next != u->arrived && mark_next(u, iw_sq_at(&rc->base.qp, u->next)))
		;
	for (; u->arrived != end; u->arrived++) {
		struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, u->arrived);

		if (wqe->progress == IW_WQE_SENT && (int32_t)(placed - wqe->seq) <= 0) {
			*seq = wqe->seq;
			return true;
		}
		if (u->next == u->arrived)
			mark_next(u, wqe);
	}
	return false;
}

/* Marks placed WQEs, and waits for the next placement. */
static void advance(struct iw_rc *rc)
{
	struct iw_unplaced *u = &rc->unplaced;
	uint32_t seq = 0, window_seq;
	bool awaits = take_placed(rc, &seq);

	if (u->blocked && iw_send_window_awaits(&u->window, &window_seq)) {
		if (!awaits || (int32_t)(window_seq - seq) < 0)
			seq = window_seq;
		awaits = true;
	}
	if (awaits)
		await(rc, seq);
	else
		iw_unplaced_stop(rc);
}

bool iw_unplaced_add(struct iw_rc *rc, struct iw_send_wqe *wqe)
{
	struct iw_assoc *assoc = rc->session->assoc;

	if (!assoc->ops.placed)
		return true;
	wqe->seq = assoc->pulled;
	wqe->ssn = rc->session->tx.ssn;
	if (rc->base.qp.sq_sig_all || (wqe->flags & IW_SEND_SIGNALED))
		assoc->msg->awaited = true;
	if (!rc->unplaced.node.index)
		await(rc, wqe->seq);
	return false;
}

void iw_unplaced_block(struct iw_rc *rc)
{
	rc->unplaced.blocked = true;
	advance(rc);
}

/* Completes placed WQEs, and wakes the session if a Send waited for the window. */
static void conclude(struct iw_rc *rc)
{
	struct iw_session *s = rc->session;

	advance(rc);
	if (!iw_rc_complete_sends(rc) || !rc->unplaced.blocked)
		return;
	rc->unplaced.blocked = false;
	iw_session_wake(s);
}

void iw_assoc_placed(struct iw_assoc *assoc)
{
	struct timerq_node *first;

	if (!assoc->ops.placed)
		return;
	assoc->placed += assoc->ops.placed(assoc->llp) - (uint32_t)assoc->placed;
	/* Each iteration removes the first QP, or makes it wait for a later message. */
	while ((first = timerq_first(&assoc->unplaced)) && first->when < assoc->placed)
		conclude(list_entry(first, struct iw_rc, unplaced.node));
}

/* ---- the peer's reports ---- */

/*
 * Returns iw_send_window.held_from: the bytes sent before the message with this MSN, the first one
 * without a receive.
 */
static uint32_t held_from(const struct iw_rc *rc, uint32_t msn)
{
	uint32_t end = rc->base.send.next + rc->base.send.begun;

	for (uint32_t i = rc->unplaced.next; i != end; i++) {
		const struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, i);

		if (iw_wr_info(wqe->opcode)->on_queue_0 && wqe->msn == msn)
			return wqe->sent_before;
	}
	return rc->unplaced.window.sent; /* no message with this MSN is outstanding */
}

/*
 * Processes a final receipt: the peer has delivered all messages before this DDP-SSN, even those
 * that SCTP has not acknowledged.
 */
static void take_final(struct iw_rc *rc, uint16_t ssn)
{
	struct iw_unplaced *u = &rc->unplaced;

	/*
	 * The WRs of these messages complete. If SCTP still retransmits such a message, the peer
	 * drops the retransmission, which may therefore be void.
	 */
	iw_void_session(rc->session);
	for (; u->arrived != rc->base.send.next; u->arrived++) {
		const struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, u->arrived);

		if (wqe->progress == IW_WQE_SENT && (int16_t)(ssn - wqe->ssn) <= 0)
			return;
	}
}

static void take_receipt(struct iw_rc *rc, const struct rdmap_receipt *r)
{
	struct iw_unplaced *u = &rc->unplaced;

	skip_complete(rc);
	u->waiting = r->waiting;
	u->waiting_msn = r->msn;
	u->window.held = r->waiting;
	if (r->waiting)
		u->window.held_from = held_from(rc, r->msn);
	if (r->final)
		take_final(rc, r->ssn);
}

void iw_unplaced_receipt(struct iw_rc *rc, const struct rdmap_receipt *r)
{
	take_receipt(rc, r);
	conclude(rc);
}

void iw_unplaced_finish(struct iw_rc *rc, const struct rdmap_receipt *r)
{
	take_receipt(rc, r);
	advance(rc);
	iw_sq_complete(&rc->base.qp); /* the session is ending, so ignore lost completions */
}

void iw_unplaced_blame(struct iw_rc *rc, uint32_t status, struct iw_failure *f)
{
	uint32_t end = rc->base.send.next + rc->base.send.begun;

	skip_complete(rc);
	for (uint32_t i = rc->unplaced.next; i != end; i++) {
		const struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, i);

		if (wqe->progress != IW_WQE_SENT && wqe->progress != IW_WQE_STARTED)
			continue;
		iw_blame(f, i, status);
		return;
	}
	if (rc->base.qp.sq.head != end)
		iw_blame(f, rc->base.qp.sq.head, status);
}
