/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of a reliable connection with an SRQ. Each incomplete message has an entry in the table
 * of unexpected messages. The entry contains the message's receive, or the stored segments of a
 * message that waits for a receive. iw_srq.h describes the rules.
 */
#include "iwarp/rc_srq.h"

#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/rc.h"
#include "iwarp/receipt.h"
#include "iwarp/srq.h"
#include "iwarp/uc.h"

#define MSNS_MAX 0x8000 /* maximum number of messages in the table */
#define TABLE_KEEP 1024 /* a larger table is freed when it is empty */

/* ---- completion ---- */

/* Completes the message at the head, which is delivered and has a receive. */
static int complete_first(struct iw_rc *rc, struct iw_failure *f)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	uint32_t index = t->first;
	struct iw_unexpected *m = iw_unexpected_at(t, index);
	struct iw_rx_rec rec = m->rec;
	struct iw_recv r = m->recv;
	int err = iw_rc_rx_judge(rc, r, index, &rec, f);

	if (!err) {
		memset(m, 0, sizeof(*m));
		t->first++;
		t->delivered--;
		rc->rx.taken--;
		/* rq.head counts the completed messages, as for a QP without an SRQ. */
		rc->base.qp.rq.head = t->first;
		err = iw_rc_rx_complete(rc, r, &rec, f);
	}
	if (err)
		iw_rc_rx_refuse(rc, index);
	return err;
}

/* Completes messages in order, up to the first message that is not delivered or has no receive. */
static int complete(struct iw_rc *rc, struct iw_failure *f)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	int err = 0;

	while (!err && t->delivered && iw_unexpected_at(t, t->first)->recv.at)
		err = complete_first(rc, f);
	return err;
}

/* ---- receives ---- */

static struct iw_srq_part *part_of(const struct iw_rc *rc, struct iw_srq *srq)
{
	return iw_srq_part(srq, rc->base.qp.shard);
}

/*
 * Returns the SRQ of the first message without a receive. With XRC, each message names its SRQ,
 * which is unknown until the message's first segment arrives. In that case, returns the QP's own
 * SRQ, which has no receives.
 */
static struct iw_srq *next_source(const struct iw_rc *rc)
{
	const struct iw_unexpected_table *t = &rc->rx.unexpected;
	struct iw_srq *srq = iw_unexpected_at(t, t->first + rc->rx.taken)->recv.srq;

	return srq ? srq : rc->base.qp.srq;
}

enum taken {
	TAKEN_NONE,   /* no receive is posted, or the QP may not take one now */
	TAKEN_EMPTY,  /* taken by a message of which no segment has arrived */
	TAKEN_FILLED, /* stored segments of the message have moved in */
	TAKEN_FAILED, /* as TAKEN_FILLED, but the message was wrong */
};

/*
 * Takes a receive for the QP's first message that has no receive. If TAKEN_FAILED, fills f, and
 * sets *ssn to the DDP-SSN of the wrong message.
 */
static enum taken take(struct iw_rc *rc, uint16_t *ssn, struct iw_failure *f)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	uint32_t index = t->first + rc->rx.taken;
	struct iw_unexpected *m = iw_unexpected_at(t, index);
	struct iw_unexpected kept = *m;
	int err;

	if (!iw_recv_take(&rc->base.qp, next_source(rc), rc->rx.taken, &m->recv))
		return TAKEN_NONE;
	rc->rx.taken++;
	if (!kept.first)
		return TAKEN_EMPTY;
	m->first = m->last = NULL;
	m->begun = true;
	if (!--t->count)
		list_del(&rc->rx.waiting);
	err = iw_rc_rx_move(rc, &kept, m->recv, index, ssn, f);
	if (err)
		iw_rc_rx_refuse(rc, index);
	else
		err = complete(rc, f);
	return err ? TAKEN_FAILED : TAKEN_FILLED;
}

enum given { GIVEN, GIVEN_NONE, GIVEN_SESSION_ENDED };

static void wait_for(struct iw_rc *rc, struct iw_srq_part *part)
{
	rc->rx.waits_for = part;
	list_add_tail(&part->waiting, &rc->rx.waiting);
	iw_srq_await(part, true);
}

/* Moves a waiting QP to the list of the SRQ that its first message without a receive needs. */
static void follow(struct iw_rc *rc)
{
	struct iw_srq_part *part;

	if (!list_linked(&rc->rx.waiting))
		return;
	part = part_of(rc, next_source(rc));
	if (part == rc->rx.waits_for)
		return;
	list_del(&rc->rx.waiting);
	wait_for(rc, part);
	iw_srq_serve_later(part);
}

/* Takes one more receive for the session's QP, and handles the result. May end the session. */
static enum given give(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_failure f;
	uint16_t ssn = 0;

	switch (take(rc, &ssn, &f)) {
	case TAKEN_NONE:
		return GIVEN_NONE;
	case TAKEN_EMPTY:
		follow(rc);
		iw_receipt_update(s); /* now only later messages wait */
		return GIVEN;
	case TAKEN_FAILED:
		/* A wrong early segment fails the session when its turn comes. */
		if (iw_session_wrong(s, ssn, &f))
			return GIVEN_SESSION_ENDED;
		break;
	case TAKEN_FILLED:
		break;
	}
	follow(rc);
	iw_rc_rx_update_timer(s, true);
	iw_receipt_update(s);
	iw_session_wake(s); /* responses may have waited for an unexpected Send */
	return GIVEN;
}

/* Takes receives for all messages up to the message with this index, in order. */
static enum given obtain(struct iw_session *s, uint32_t index)
{
	const struct iw_rc_rx *rx = &iw_rc_of(s->qp)->rx;
	enum given given = GIVEN;

	while (given == GIVEN && index - rx->unexpected.first >= rx->taken)
		given = give(s);
	return given;
}

/*
 * Makes the QP wait for a receive for the message. Then tries once more, because the application
 * may have posted a receive without seeing that the QP waits.
 */
static enum given await(struct iw_session *s, uint32_t index)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	follow(rc);
	if (list_linked(&rc->rx.waiting))
		iw_srq_await(rc->rx.waits_for, true);
	else
		wait_for(rc, part_of(rc, next_source(rc)));
	return obtain(s, index);
}

int iw_rc_srq_place(struct iw_session *s, struct iw_srq *srq, uint32_t index,
		    const struct iw_rx_rec *rec, const struct iw_segment *seg, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	struct iw_srq_part *part = part_of(rc, srq);
	struct iw_unexpected *m;
	enum given given;

	/* The QPs that already wait, perhaps including this QP, take receives first. */
	if (index - t->first >= rc->rx.taken && !list_empty(&part->waiting))
		iw_rc_srq_serve(part);
	if (rc->session != s)
		return iw_fail_illegal(f); /* the session has ended meanwhile; f is not used */
	if (index - t->first >= MSNS_MAX)
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	if (!iw_unexpected_entry(t, index))
		return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	m = iw_unexpected_at(t, index);
	if (!m->recv.srq)
		m->recv.srq = srq;
	else if (m->recv.srq != srq)
		return iw_fail(f, TERM_DDP_QN, seg->raw, seg->len);
	given = obtain(s, index);
	if (given == GIVEN_NONE && iw_is_uc(s->qp))
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	if (given == GIVEN_NONE)
		given = await(s, index);
	if (given == GIVEN_SESSION_ENDED)
		return iw_fail_illegal(f);
	if (given == GIVEN_NONE)
		return iw_rc_rx_keep(s, index, rec, seg->ssn, seg->payload, f);
	m = iw_unexpected_at(t, index);
	m->begun = true;
	return iw_rc_rx_fill(rc, m->recv, index, rec, seg->payload, f);
}

int iw_rc_srq_deliver(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec,
		      struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	struct iw_unexpected *m = iw_unexpected_at(t, index);
	bool waited = iw_rc_rx_late(rc);
	int err;

	m->delivered = true;
	m->rec = *rec;
	t->delivered++;
	err = complete(rc, f);
	if (err)
		return err;
	if (!waited && iw_rc_rx_late(rc))
		iw_rc_rx_start_timer(s);
	else if (list_linked(&rc->rx.waiting))
		/* The QP now holds fewer receives, so it may take more. */
		iw_rc_srq_serve(rc->rx.waits_for);
	else if (t->size > TABLE_KEEP && !rc->rx.taken)
		iw_unexpected_clear(t);
	return 0;
}

void iw_rc_srq_undeliver(struct iw_rc *rc)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;

	iw_unexpected_at(t, t->first)->delivered = false;
	t->delivered--;
	rc->rx.refused = false;
}

/* ---- waiting QPs ---- */

/* Gives receives to the waiting QPs in turn, while any is left and a QP may take one. */
static void serve_in_turn(struct iw_srq_part *part)
{
	struct list_node *waiting = &part->waiting, *denied = NULL, *node;

	while (iw_srq_left(part->srq) && (node = waiting->next) != waiting && node != denied) {
		struct iw_rc_rx *rx = list_entry(node, struct iw_rc_rx, waiting);

		list_del(node);
		if (!rx->unexpected.count) /* no Send of this QP waits */
			continue;
		list_add_tail(waiting, node);
		if (give(list_entry(rx, struct iw_rc, rx)->session) != GIVEN_NONE)
			denied = NULL;
		else if (!denied)
			denied = node;
	}
}

void iw_rc_srq_serve(struct iw_srq_part *part)
{
	const struct iw_srq *srq = part->srq;
	uint32_t seen;

	/*
	 * The loads are relaxed, because they only detect a change. iw_srq_left() has the acquire
	 * load for the posted receives.
	 */
	do {
		seen = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);
		serve_in_turn(part);
		iw_srq_await(part, !list_empty(&part->waiting));
	} while (!list_empty(&part->waiting) &&
		 atomic_load_explicit(&srq->posted_tail, memory_order_relaxed) != seen);
}

/* ---- the end ---- */

void iw_rc_srq_unbind(struct iw_rc *rc)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;

	list_del(&rc->rx.waiting);
	for (uint32_t i = 0; i < t->size; i++)
		iw_unexpected_free(&t->at[i]);
	t->count = 0;
}

void iw_rc_srq_flush(struct iw_rc *rc, const struct iw_failure *f)
{
	const struct iw_unexpected_table *t = &rc->rx.unexpected;

	for (uint32_t i = 0; i < rc->rx.taken; i++) {
		struct iw_unexpected *m = iw_unexpected_at(t, t->first + i);

		if (!m->begun)
			continue;
		iw_recv_flush(&rc->base.qp, m->recv, t->first + i, f);
		m->recv.at = 0;
	}
	iw_rc_srq_return(rc);
}

void iw_rc_srq_return(struct iw_rc *rc)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;

	/* Return the last receive first, so that the first receive is at the front again. */
	while (rc->rx.taken) {
		struct iw_recv r = iw_unexpected_at(t, t->first + --rc->rx.taken)->recv;

		if (r.at) {
			iw_recv_return(r);
			iw_srq_serve_all_later(part_of(rc, r.srq));
		}
	}
	iw_unexpected_clear(t);
	iw_srq_serve_later(part_of(rc, rc->base.qp.srq));
}
