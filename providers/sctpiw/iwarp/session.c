/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of a session for any reason, and the session's timer (RFC 5043 6). */
#include "iwarp/session.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/explain.h"
#include "iwarp/rc.h"
#include "iwarp/receipt.h"
#include "iwarp/rc_srq.h"
#include "iwarp/session_rx.h"
#include "iwarp/trace.h"
#include "iwarp/uc.h"
#include "iwarp/void.h"
#include "util/alloc.h"

#define CLOSE_WAIT (1000 * IW_MSEC) /* maximum wait for the peer's session Terminate */
#define ACK_POLL_MIN IW_MSEC
#define ACK_POLL_MAX (1024 * IW_MSEC)

struct iw_session *iw_session_new(struct iw_assoc *assoc, bool active)
{
	struct iw_shard *shard = assoc->shard;
	struct iw_session *s;

	if (timerq_reserve(&shard->timers, shard->session_count + 1))
		return NULL;
	s = alloc_lines(sizeof(*s));
	if (!s)
		return NULL;
	s->shard = shard;
	s->assoc = assoc;
	s->active = active;
	s->in_order = shard->rnic->config.in_order;
	s->rnr_retry_count = IW_RNR_FOREVER;
	s->ending.ack_poll = ACK_POLL_MIN;
	list_init(&s->ready);
	iw_event_init(&s->event, IW_OWNER_SESSION);
	list_add_tail(&shard->sessions, &s->all);
	shard->session_count++;
	return s;
}

/* Removes the QP from the pending IW_EVENT_CLOSED. */
static void forget_closed_qp(struct iw_session *s)
{
	if (s->ending.closed_qp)
		iw_rc_of(s->ending.closed_qp)->closed = NULL;
	s->ending.closed_qp = NULL;
}

void iw_session_bury(struct iw_session *s)
{
	forget_closed_qp(s);
	iw_session_leave(s);
	iw_event_clear(&s->event);
	list_del(&s->all);
	list_add_tail(&s->shard->graveyard, &s->all);
}

void iw_session_release(struct iw_session *s)
{
	forget_closed_qp(s);
	s->ending.user_gone = true;
	if (s->state == IW_S_OVER)
		iw_session_bury(s);
}

static void tell_idle(struct iw_assoc *assoc)
{
	if (!list_linked(&assoc->idle))
		list_add_tail(&assoc->shard->idle, &assoc->idle);
}

static void unwant(struct iw_assoc *assoc)
{
	if (--assoc->wanted == 0)
		tell_idle(assoc);
}

void iw_session_uncount(struct iw_session *s)
{
	struct iw_assoc *assoc = s->assoc;

	if (!s->counted)
		return;
	s->counted = false;
	if (--assoc->live == 0)
		tell_idle(assoc);
	if (!s->setup.turned_away)
		unwant(assoc);
}

void iw_session_turn_away(struct iw_session *s)
{
	s->setup.turned_away = true;
	s->assoc->turned_away++;
	s->shard->turned_away++;
	if (s->counted)
		unwant(s->assoc);
}

void iw_session_leave(struct iw_session *s)
{
	if (s->state == IW_S_OVER)
		return;
	s->state = IW_S_OVER;
	iw_receipt_count(s);
	if (s->setup.turned_away) {
		s->assoc->turned_away--;
		s->shard->turned_away--;
	}
	timerq_remove(&s->shard->timers, &s->timer);
	list_del(&s->ready);
	iw_session_uncount(s);
	iw_assoc_unlink(s);
	iw_rx_order_clear(&s->rx.order);
	iw_early_clear(s);
}

void iw_session_set_timer(struct iw_session *s, uint64_t when)
{
	if (when == UINT64_MAX)
		timerq_remove(&s->shard->timers, &s->timer);
	else
		timerq_set(&s->shard->timers, &s->timer, when);
}

/* ---- closing ---- */

/*
 * Sets the timer of a closing session: to the end of the wait for the peer's Terminate, or to the
 * next check for an acknowledgement. Checks are at multiples of ACK_POLL_MIN, so that the timers of
 * many closing sessions expire together.
 */
static void arm_closing(struct iw_session *s)
{
	struct iw_session_ending *e = &s->ending;
	uint64_t look;

	if (s->tx.ended && !s->rx.ended) {
		iw_session_set_timer(s, s->counted ? e->give_up_at : UINT64_MAX);
		return;
	}
	look = s->shard->now + e->ack_poll + ACK_POLL_MIN - 1;
	iw_session_set_timer(s, look - look % ACK_POLL_MIN);
	if (e->ack_poll < ACK_POLL_MAX)
		e->ack_poll *= 2;
}

void iw_session_settle(struct iw_session *s)
{
	if (s->state != IW_S_CLOSING)
		return;
	if (s->tx.ended && s->rx.ended) {
		iw_session_uncount(s);
		/* The stream may be reused once all messages have arrived (RFC 5043 6.6). */
		if (!s->tx.ssn || iw_assoc_is_acked(s->assoc, s->tx.last_seq)) {
			iw_session_leave(s);
			if (s->ending.user_gone)
				iw_session_bury(s);
			return;
		}
	} else if (s->tx.ended && !s->ending.give_up_at) {
		s->ending.give_up_at = s->shard->now + CLOSE_WAIT;
	}
	arm_closing(s);
}

void iw_session_timer(struct iw_session *s)
{
	const struct iw_session_ending *e = &s->ending;

	if (s->state == IW_S_ESTABLISHED) {
		iw_rc_rx_timeout(s);
		return;
	}
	if (s->state != IW_S_CLOSING)
		return;
	if (e->give_up_at && e->give_up_at <= s->shard->now && !s->rx.ended && s->counted) {
		/* The peer's Terminate is late. The stream stays in use until it arrives. */
		iw_session_uncount(s);
		iw_session_loosen(s);
	}
	iw_session_wake(s);
	iw_session_settle(s);
}

/* ---- the end ---- */

/* Effects of a reason. */
struct end_info {
	int error;	 /* error of IW_EVENT_CLOSED; for LOST, the caller passes the error */
	bool silent;	 /* raise no event, because the user has caused the end */
	bool spares_oob; /* a QP connected out of band keeps its state and its WRs */
};

static const struct end_info end_infos[] = {
	[IW_END_PEER] = { 0, .spares_oob = true },
	[IW_END_REFUSED] = { -ECONNREFUSED, .spares_oob = true },
	[IW_END_CROSSED] = { -ECONNRESET },
	[IW_END_LOST] = { 0, .spares_oob = true },
	[IW_END_TERMINATE] = { -ECONNRESET },
	[IW_END_FAILED] = { -EPROTO },
	[IW_END_MOVED] = { -ECONNABORTED },
	[IW_END_CLOSED] = { 0, .silent = true, .spares_oob = true },
	[IW_END_ABANDONED] = { 0, .silent = true },
};

/* Reports the end to the user. A user that has not fetched IW_EVENT_INITIATE gets no event. */
static void notify_closed(struct iw_session *s, int error)
{
	if (!s->active && !s->setup.announced && (s->event.bits & 1 << IW_EVENT_INITIATE)) {
		iw_event_clear(&s->event);
		s->ending.user_gone = true;
		return;
	}
	s->ending.error = error;
	iw_event_raise(s->shard, &s->event, IW_EVENT_CLOSED);
}

/*
 * Determines the last messages to send on the stream. began: both sides may send segments, so
 * messages of the peer may have been delivered.
 */
static void plan_end(struct iw_session *s, bool began, const struct iw_failure *f)
{
	bool segments_legal = s->active ? s->tx.answered : s->tx.ssn > 0;

	s->tx.receipt_due = false;
	if (s->tx.ended)
		return;
	if (!s->tx.ssn) { /* this side has not sent any message */
		if (s->active) {
			s->tx.control = 0;
			s->tx.ended = true;
		} else {
			s->tx.control = SESSION_TERMINATE;
		}
		/* An active peer has sent only the Initiate; a passive peer has sent nothing. */
		s->rx.ended = true;
		return;
	}
	s->tx.terminate_due = true;
	if (began && !s->rx.ended) /* otherwise no WR of the peer waits for a receipt */
		iw_receipt_finish(s);
	if (f && !f->illegal && segments_legal) {
		s->tx.term = f->term;
		s->tx.term_due = true;
	}
}

/*
 * Unbinds the QP, and sets its state. A QP connected out of band behaves as with InfiniBand, where
 * a QP notices a dead peer only when it sends. Therefore such a QP keeps its state at the end of a
 * session, for some reasons of the end (spares_oob). But if the CQ has lost a completion, the QP
 * enters the error state.
 */
static void part(struct iw_session *s, enum iw_end_reason why, int error, bool established,
		 const struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_rc *rc = iw_rc_of(qp);
	enum iw_qp_state state = iw_qp_state(qp);
	const struct iw_failure gone = {
		.fault = IW_FAULT_SQ,
		.index = qp->sq.head,
		.status = IW_WC_RETRY_EXC_ERR,
	};

	iw_void_session(s);
	if (iw_is_uc(qp) && iw_uc_survives(qp, why, f)) {
		iw_uc_outlive(qp, why, f);
		return;
	}
	/* As with InfiniBand, the oldest WR fails, because the peer did not answer. */
	if (why == IW_END_LOST && qp->sq.head != rc->base.send.next + rc->base.send.begun) {
		iw_explain_lost(s, &gone, error);
		f = &gone;
	}
	iw_rc_unbind(rc);
	if (qp->oob && end_infos[why].spares_oob && !iw_cq_is_overflown(qp->send_cq)) {
		if (qp->srq) /* return the receives of incomplete messages to the SRQ */
			iw_rc_srq_return(rc);
		if (established)
			rc->peer_gone = true;
	} else if (state != IW_QPS_RESET) { /* a reset empties the queues itself */
		iw_qp_enter_error(qp, f);
	}
}

static void end(struct iw_session *s, enum iw_end_reason why, int error, const struct iw_failure *f)
{
	bool established = s->state == IW_S_ESTABLISHED;
	bool began = established && !s->tx.rtr_due;
	bool silent = end_infos[why].silent;
	struct iw_qp *qp = s->qp;

	if (s->state >= IW_S_CLOSING)
		return;
	if (s->state == IW_S_PENDING)
		iw_session_turn_away(s);
	if (established)
		s->shard->stats.last_use = s->shard->now;
	TRACE(session_closed, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .why = iw_trace_reason(why), .error = (uint64_t)-error);
	s->state = IW_S_CLOSING;
	s->tx.rtr_due = false;
	plan_end(s, began, f);
	if (qp) {
		part(s, why, error, established, f);
		if (!silent) {
			s->ending.closed_qp = qp;
			iw_rc_of(qp)->closed = s;
		}
	}
	free(s->setup.local);
	s->setup.local = NULL;
	iw_receipt_count(s);
	if (!silent)
		notify_closed(s, error);
	iw_session_wake(s);
	iw_session_settle(s);
}

void iw_session_end(struct iw_session *s, enum iw_end_reason why, const struct iw_failure *f)
{
	end(s, why, end_infos[why].error, f);
}

void iw_session_lost(struct iw_session *s, int error)
{
	end(s, IW_END_LOST, error, NULL);
}

/* For a QP that is its own peer: makes at_peer name the WR that a Terminate would refer to. */
static void blame_at_peer(const struct iw_rc *rc, const struct iw_failure *f,
			  struct iw_failure *at_peer)
{
	*at_peer = (struct iw_failure){ .term = f->term };
	if (f->fault == IW_FAULT_RQ)
		iw_rc_tx_blame_send(rc, f->index - rc->rx.delta, iw_rc_tx_status(f->term.error),
				    at_peer);
	else
		iw_rc_tx_blame(rc, &f->term, at_peer);
}

void iw_session_fail(struct iw_session *s, const struct iw_failure *f)
{
	struct iw_failure both, at_peer;

	if (s->state >= IW_S_CLOSING)
		return;
	if (s->to_self && f->fault != IW_FAULT_SQ) {
		iw_receipt_finish_to_self(s);
		blame_at_peer(iw_rc_of(s->qp), f, &at_peer);
		both = *f;
		both.at_peer = &at_peer;
		f = &both;
	}
	iw_explain_sent(s, f);
	if (s->qp && !f->quiet)
		iw_event_raise(s->shard, &iw_qp_base(s->qp)->event, iw_term_event(f));
	iw_session_end(s, IW_END_FAILED, f);
}

bool iw_session_wrong(struct iw_session *s, uint16_t ssn, const struct iw_failure *f)
{
	uint16_t distance = (uint16_t)(ssn - s->rx.ssn);
	struct iw_rx_fault *fault = &s->rx.fault;

	if (!distance || distance >= 0x8000) {
		iw_session_fail(s, f);
		return true;
	}
	if (!fault->found || (uint16_t)(fault->ssn - s->rx.ssn) > distance)
		*fault = (struct iw_rx_fault){ .found = true, .ssn = ssn, .failure = *f };
	return false;
}

/* Ends the session for its user, and drops all events that were not fetched. */
static void let_go(struct iw_session *s, enum iw_end_reason why, const struct iw_failure *f)
{
	iw_event_clear(&s->event);
	iw_session_release(s);
	iw_session_end(s, why, f);
}

void iw_session_close(struct iw_session *s)
{
	let_go(s, IW_END_CLOSED, NULL);
}

void iw_session_abandon(struct iw_session *s)
{
	struct iw_failure f;

	iw_explain_abandoned(s);
	iw_fail(&f, TERM_LLP_LOCAL, NULL, 0);
	let_go(s, IW_END_ABANDONED, &f);
}

void iw_session_set_user(struct iw_session *s, const struct iw_session_user *user)
{
	s->user = *user;
}

void iw_session_set_rnr_retry(struct iw_session *s, uint8_t count)
{
	s->rnr_retry_count = count;
	if (s->state == IW_S_ESTABLISHED)
		iw_rc_rx_update_timer(s, true); /* a Send may already wait for a receive */
}

struct iw_assoc *iw_session_assoc(const struct iw_session *s)
{
	return s->assoc;
}
