/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of a session, by whichever cause, and its timer (RFC 5043 6). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/private.h"

struct iw_session *iw_session_new(struct iw_assoc *assoc, bool active)
{
	struct iw_rnic *rnic = assoc->rnic;
	struct iw_session *s;

	if (timerq_reserve(&rnic->timers, rnic->session_count + 1))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->rnic = rnic;
	s->assoc = assoc;
	s->active = active;
	s->rnr_retry_count = IW_RNR_FOREVER;
	list_init(&s->ready);
	iw_event_init(&s->event, IW_OWNER_SESSION);
	list_add_tail(&rnic->sessions, &s->all);
	rnic->session_count++;
	return s;
}

/* Nobody holds it any more, or nobody will be there to. */
void iw_session_bury(struct iw_session *s)
{
	if (s->closed_qp)
		s->closed_qp->priv->closed = NULL;
	s->closed_qp = NULL;
	iw_session_leave(s);
	iw_event_clear(&s->event);
	list_del(&s->all);
	list_add_tail(&s->rnic->graveyard, &s->all);
}

void iw_session_uncount(struct iw_session *s)
{
	struct iw_assoc *assoc = s->assoc;

	if (!s->counted)
		return;
	s->counted = false;
	if (--assoc->live == 0 && !list_linked(&assoc->idle))
		list_add_tail(&s->rnic->idle, &assoc->idle);
}

/* Off the stream, which is idle again. */
void iw_session_leave(struct iw_session *s)
{
	if (s->state == IW_S_OVER)
		return;
	s->state = IW_S_OVER;
	timerq_remove(&s->rnic->timers, &s->timer);
	list_del(&s->ready);
	iw_session_uncount(s);
	iw_assoc_unlink(s);
	free(s->slots);
	s->slots = NULL;
	s->slots_size = s->slots_used = 0;
	iw_early_clear(s);
}

void iw_session_set_timer(struct iw_session *s, uint64_t when)
{
	if (when == UINT64_MAX)
		timerq_remove(&s->rnic->timers, &s->timer);
	else
		timerq_set(&s->rnic->timers, &s->timer, when);
}

/* When to look again: for an acknowledgement, or for the peer's Terminate. */
static void arm_closing(struct iw_session *s)
{
	if (s->tx_ended && !s->rx_ended) {
		iw_session_set_timer(s, s->counted ? s->close_at : UINT64_MAX);
		return;
	}
	iw_session_set_timer(s, s->rnic->now + s->ack_poll);
	if (s->ack_poll < IW_ACK_POLL_MAX)
		s->ack_poll *= 2;
}

void iw_session_settle(struct iw_session *s)
{
	if (s->state != IW_S_CLOSING)
		return;
	if (s->tx_ended && s->rx_ended) {
		iw_session_uncount(s);
		/* Not before all of it has arrived may the stream be used again (RFC 5043 6.6). */
		if (!s->tx_ssn || iw_assoc_is_acked(s->assoc, s->last_seq)) {
			iw_session_leave(s);
			if (s->user_gone)
				iw_session_bury(s);
			return;
		}
	} else if (s->tx_ended && !s->close_at) {
		s->close_at = s->rnic->now + IW_CLOSE_WAIT;
	}
	arm_closing(s);
}

void iw_session_timer(struct iw_session *s)
{
	if (s->state == IW_S_ESTABLISHED) {
		iw_rq_timeout(s);
		return;
	}
	if (s->state != IW_S_CLOSING)
		return;
	if (s->close_at && s->close_at <= s->rnic->now && !s->rx_ended && s->counted) {
		/* The peer does not end its side: the stream is retired until it does. */
		iw_session_uncount(s);
		iw_session_loosen(s);
	}
	iw_session_wake(s);
	iw_session_settle(s);
}

/* Tells the outside, which may not know of the session at all yet. */
static void notify_closed(struct iw_session *s, int error)
{
	if (!s->active && !s->announced && (s->event.bits & 1 << IW_EVENT_INITIATE)) {
		iw_event_clear(&s->event);
		s->user_gone = true;
		return;
	}
	s->error = error;
	iw_event_raise(s->rnic, &s->event, IW_EVENT_CLOSED);
}

/* What is still to be sent before the stream can rest. */
static void plan_end(struct iw_session *s, const struct iw_failure *f)
{
	bool segments_legal = s->active ? s->answered : s->tx_ssn > 0;

	if (s->tx_ended)
		return;
	if (!s->tx_ssn) { /* nothing of ours went out */
		if (s->active) {
			s->tx_control = 0;
			s->tx_ended = true;
		} else {
			s->tx_control = SESSION_TERMINATE;
		}
		s->rx_ended = true; /* the Initiate was the peer's last message, or there was none */
		return;
	}
	s->want_terminate = true;
	if (f && !f->illegal && segments_legal) {
		s->term = f->term;
		s->term_pending = true;
	}
}

/*
 * What becomes of the QP. One that is connected out of band knows of its peer what InfiniBand would tell: only
 * what is sent to it finds out that it has gone, and before there was a session nothing has happened. But if a
 * completion is lost now it is in error, as it would be at any other time.
 */
static void part(struct iw_session *s, struct iw_qp *qp, bool established, int error,
		 const struct iw_failure *f)
{
	enum iw_qp_state state = iw_qp_state(qp);

	iw_zcopy_release(qp, f);
	iw_qp_unbind(qp);
	if (qp->oob && !f && error != -ECONNABORTED && !qp->send_cq->overflown) {
		if (qp->srq) /* of messages that will never be whole */
			iw_srq_return(qp);
		if (established)
			qp->priv->peer_gone = true;
	} else if (state != IW_QPS_RESET) { /* being reset: it empties its queues by itself */
		iw_qp_enter_error(qp, f);
	}
}

void iw_session_end(struct iw_session *s, int error, bool notify, const struct iw_failure *f)
{
	bool established = s->state == IW_S_ESTABLISHED;
	struct iw_qp *qp = s->qp;

	if (s->state >= IW_S_CLOSING)
		return;
	s->state = IW_S_CLOSING;
	s->rtr = false;
	s->ack_poll = IW_ACK_POLL_MIN;
	plan_end(s, f);
	if (qp) {
		part(s, qp, established, error, f);
		if (notify) {
			s->closed_qp = qp;
			qp->priv->closed = s;
		}
	}
	free(s->local);
	s->local = NULL;
	if (notify)
		notify_closed(s, error);
	iw_session_wake(s);
	iw_session_settle(s);
}

void iw_session_fail(struct iw_session *s, const struct iw_failure *f)
{
	struct iw_failure both;

	if (s->state >= IW_S_CLOSING)
		return;
	if (s->to_self && f->fault == IW_FAULT_NONE) { /* what the Terminate would tell */
		both = *f;
		iw_sq_blame(s->qp, &f->term, &both);
		f = &both;
	}
	if (s->qp && !f->quiet)
		iw_event_raise(s->rnic, &s->qp->priv->event, iw_term_event(f));
	iw_session_end(s, -EPROTO, true, f);
}

void iw_session_wrong(struct iw_session *s, uint16_t ssn, const struct iw_failure *f)
{
	uint16_t distance = (uint16_t)(ssn - s->rx_ssn);

	if (!distance || distance >= 0x8000) {
		iw_session_fail(s, f);
		return;
	}
	if (s->failing && (uint16_t)(s->fail_ssn - s->rx_ssn) <= distance)
		return;
	s->failing = true;
	s->fail_ssn = ssn;
	s->failure = *f;
}

static void let_go(struct iw_session *s, const struct iw_failure *f)
{
	/* Unread events go with it; what is over waited for them only. */
	if (s->closed_qp) {
		s->closed_qp->priv->closed = NULL;
		s->closed_qp = NULL;
	}
	iw_event_clear(&s->event);
	s->user_gone = true;
	if (s->state == IW_S_OVER) {
		iw_session_bury(s);
		return;
	}
	iw_session_end(s, 0, false, f);
}

void iw_session_close(struct iw_session *s)
{
	let_go(s, NULL);
}

void iw_session_abandon(struct iw_session *s)
{
	struct iw_failure f;

	iw_fail(&f, TERM_LLP_LOCAL, NULL, 0);
	let_go(s, &f);
}

void iw_session_set_user(struct iw_session *s, const struct iw_session_user *user)
{
	s->user = *user;
}

void iw_session_set_rnr_retry(struct iw_session *s, uint8_t count)
{
	s->rnr_retry_count = count;
}

struct iw_assoc *iw_session_assoc(const struct iw_session *s)
{
	return s->assoc;
}
