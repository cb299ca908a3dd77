/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends to a QP whose receives are in an SRQ. Each message has an entry in held[], with the receive
 * that it has taken, or with the segments that wait for one. See struct iw_srq for who gets what.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/private.h"

#define SRQ_MSNS 0x8000	   /* from the next message that completes on */
#define SRQ_UNEXPECTED_KEEP 1024 /* a larger table is given back when it is empty */

static struct list_node *waiting_of(struct iw_srq *srq)
{
	return &list_entry(srq, struct iw_srq_full, srq)->waiting;
}

/* ---- completion ---- */

/* The receive of the message at the head leaves the QP: its WR id. */
static uint64_t release_head(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_unexpected *h = iw_unexpected_at(p, p->rq_tail);
	uint64_t wr_id = iw_srq_at(qp->srq, h->slot)->wr_id;

	iw_srq_give_back(qp->srq, h->slot);
	memset(h, 0, sizeof(*h));
	p->taken--;
	p->rq_tail++;
	iw_ring_release(&qp->rq, p->rq_tail);
	return wr_id;
}

/* What is whole, delivered and has a receive completes, up to the first that does not. */
static int complete(struct iw_qp *qp, struct iw_failure *f)
{
	struct iw_qp_private *p = qp->priv;

	while (p->held_delivered) {
		const struct iw_unexpected *h = iw_unexpected_at(p, p->rq_tail);
		struct iw_rx_rec rec = h->rec;
		uint64_t wr_id;
		int err;

		if (!h->slot)
			return 0;
		err = iw_rq_judge(qp, iw_srq_at(qp->srq, h->slot), p->rq_tail, &rec, f);
		if (err)
			return err;
		wr_id = release_head(qp);
		p->held_delivered--;
		if (!iw_rq_push(qp, wr_id, IW_WC_SUCCESS, &rec, 0))
			return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	}
	return 0;
}

/* ---- receives ---- */

/*
 * One more for the QP: for its first message that has none; what is held of it moves in. False: there is
 * none, or not for this QP. The session may have ended.
 */
static bool take(struct iw_session *s)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t index = p->rq_tail + p->taken;
	struct iw_unexpected *h = iw_unexpected_at(p, index);
	struct iw_unexpected unexpected = *h;
	struct iw_failure f;
	uint16_t ssn = 0;
	int err;

	h->slot = iw_srq_take(qp);
	if (!h->slot)
		return false;
	if (!unexpected.first)
		return true;
	h->first = h->last = NULL;
	h->begun = true;
	if (!--p->unexpected_count)
		list_del(&p->waiting);
	err = iw_unexpected_move(qp, &unexpected, iw_srq_at(qp->srq, h->slot), index, &ssn, &f);
	if (!err)
		err = complete(qp, &f);
	if (err)
		iw_session_wrong(s, ssn, &f); /* one that came early is judged when its turn comes */
	if (s->qp != qp)
		return true;
	if (!p->held_delivered)
		iw_session_set_timer(s, UINT64_MAX);
	else
		iw_rnr_start(s); /* a receive came: patience starts anew */
	iw_session_wake(s);	 /* responses that stood behind a held Send */
	return true;
}

/* Does the message have a receive, or can it have one now? The session may have ended. */
static bool obtain(struct iw_session *s, uint32_t index)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;

	while (index - p->rq_tail >= p->taken)
		if (!take(s) || s->qp != qp)
			return false;
	return true;
}

/* There is none for it. True: now there is, posted before anybody could see that it is awaited. */
static bool await(struct iw_session *s, uint32_t index)
{
	struct iw_qp *qp = s->qp;

	if (!list_linked(&qp->priv->waiting))
		list_add_tail(waiting_of(qp->srq), &qp->priv->waiting);
	iw_srq_await(qp->srq, true);
	return obtain(s, index);
}

int iw_srq_place(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		 const uint8_t *payload, struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	struct iw_unexpected *h;
	bool has;

	if (index - p->rq_tail >= p->taken && !list_empty(waiting_of(qp->srq)))
		iw_srq_serve(qp->srq); /* those that wait already go first */
	if (s->qp != qp)
		return iw_fail_illegal(f); /* ended meanwhile; f is not used any more */
	if (index - p->rq_tail >= SRQ_MSNS)
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	if (!iw_unexpected_entry(p, index))
		return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	has = obtain(s, index) || (s->qp == qp && await(s, index));
	if (s->qp != qp)
		return iw_fail_illegal(f);
	if (!has)
		return iw_unexpected_keep(s, index, rec, ssn, payload, f);
	h = iw_unexpected_at(p, index);
	h->begun = true;
	return iw_rq_place_at(qp, iw_srq_at(qp->srq, h->slot), index, rec, payload, f);
}

int iw_srq_deliver(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	bool waited = p->held_delivered != 0;
	struct iw_unexpected *h = iw_unexpected_at(p, index);
	int err;

	h->delivered = true;
	h->rec = *rec;
	p->held_delivered++;
	err = complete(qp, f);
	if (err)
		return err;
	if (p->held_delivered && !waited)
		iw_rnr_start(s);
	else if (list_linked(&p->waiting))
		iw_srq_serve(qp->srq); /* it has fewer now */
	else if (p->unexpected_size > SRQ_UNEXPECTED_KEEP && !p->taken)
		iw_unexpected_clear(p);
	return 0;
}

/* ---- QPs that wait ---- */

/* One at a time, until there are none left or nobody may have one. */
static void serve_in_turn(struct iw_srq *srq)
{
	struct list_node *waiting = waiting_of(srq), *denied = NULL, *node;

	while (iw_srq_left(srq) && (node = waiting->next) != waiting && node != denied) {
		struct iw_qp_private *p = list_entry(node, struct iw_qp_private, waiting);

		list_del(node);
		if (!p->unexpected_count) /* it has all it wanted */
			continue;
		list_add_tail(waiting, node);
		if (take(p->session))
			denied = NULL;
		else if (!denied)
			denied = node;
	}
}

void iw_srq_serve(struct iw_srq *srq)
{
	uint32_t seen;

	do {
		seen = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);
		serve_in_turn(srq);
		iw_srq_await(srq, !list_empty(waiting_of(srq)));
	} while (!list_empty(waiting_of(srq)) &&
		 atomic_load_explicit(&srq->posted_tail, memory_order_relaxed) != seen);
}

/* ---- the end ---- */

void iw_srq_unbind(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;

	list_del(&p->waiting);
	for (uint32_t i = 0; i < p->unexpected_size; i++) {
		struct iw_unexpected *h = &p->unexpected[i];

		iw_unexpected_free(h);
		h->first = h->last = NULL;
	}
	p->unexpected_count = 0;
}

/* Receives of messages that have begun leave the QP with a completion; others as they came. */
void iw_srq_flush(struct iw_qp *qp, const struct iw_failure *f)
{
	struct iw_qp_private *p = qp->priv;

	for (uint32_t i = 0; i < p->taken; i++) {
		uint32_t index = p->rq_tail + i;
		struct iw_unexpected *h = iw_unexpected_at(p, index);
		bool fault = f && f->fault == IW_FAULT_RQ && f->index == index;
		uint64_t wr_id = iw_srq_at(qp->srq, h->slot)->wr_id;

		if (!h->begun)
			continue;
		iw_srq_give_back(qp->srq, h->slot);
		h->slot = 0;
		iw_rq_push(qp, wr_id, fault ? f->status : IW_WC_WR_FLUSH_ERR, NULL,
			   fault ? f->term.error : 0);
	}
	iw_srq_return(qp);
}

void iw_srq_return(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;

	/* From the last on, so that the first comes to the front. */
	while (p->taken) {
		uint32_t slot = iw_unexpected_at(p, p->rq_tail + --p->taken)->slot;

		if (slot)
			iw_srq_repost(qp->srq, slot);
	}
	iw_unexpected_clear(p);
	iw_srq_serve_later(qp->srq);
}
