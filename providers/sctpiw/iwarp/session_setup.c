/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Session setup: Initiate, Accept, Reject, plain (RFC 5043 6) and enhanced (RFC 6581). */
#include "iwarp/session_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/explain.h"
#include "iwarp/rc.h"
#include "iwarp/rc_srq.h"
#include "iwarp/receipt.h"
#include "iwarp/session_rx.h"
#include "iwarp/trace.h"
#include "util/bytes.h"

static uint32_t at_most(uint32_t v, uint32_t max)
{
	return v < max ? v : max;
}

/*
 * Returns the depth (IRD or ORD) for an event: max if the peer leaves it to the ULP or sends none.
 */
static uint32_t shown_depth(uint16_t depth, uint32_t max)
{
	return depth == SESSION_DEPTH_ULP ? max : depth;
}

static struct iw_session_param *copy_param(const struct iw_session_param *p)
{
	struct iw_session_param *copy = malloc(sizeof(*copy));

	if (copy) {
		*copy = *p;
		copy->ird = at_most(p->ird, IW_MAX_IRD);
		copy->ord = at_most(p->ord, IW_MAX_ORD);
	}
	return copy;
}

static uint8_t kinds_of(const struct session_enhanced *e)
{
	return (e->rtr_send ? IW_RTR_SEND : 0) | (e->rtr_write ? IW_RTR_WRITE : 0) |
	       (e->rtr_read ? IW_RTR_READ : 0);
}

/* Stores the parameters of the peer's message for an event. Stores none if out of memory. */
static void keep_remote(struct iw_session *s, const struct session_control *c, uint32_t ird,
			uint32_t ord)
{
	struct iw_session_param *p = calloc(1, sizeof(*p));

	free(s->setup.remote);
	s->setup.remote = p;
	if (!p)
		return;
	p->ird = ird;
	p->ord = ord;
	p->rnr_retry_count = IW_RNR_FOREVER;
	p->rtr = kinds_of(&s->setup.offer);
	if (s->setup.offer.peer_to_peer && !p->rtr)
		p->rtr = IW_RTR_ANY;
	p->private_data_len = c->private_len;
	memcpy(p->private_data, c->private_data, c->private_len);
}

/* ---- active side ---- */

static int start(struct iw_session *s)
{
	int sid = iw_assoc_idle_stream(s->assoc);
	int err;

	if (sid < 0)
		return sid;
	err = iw_assoc_link(s->assoc, s, (unsigned int)sid);
	if (err)
		return err;
	s->tx.control = s->setup.enhanced ? SESSION_ENHANCED_INITIATE : SESSION_INITIATE;
	iw_session_wake(s);
	return 0;
}

int iw_session_initiate(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
			const struct iw_session_user *user, struct iw_session **out)
{
	struct iw_session *s;
	int err = -ENOMEM;

	if (p->private_data_len > IW_MAX_PRIVATE_DATA - SESSION_ENHANCED_LEN)
		return -EINVAL;
	iw_shard_reap(assoc->shard);
	s = iw_session_new(assoc, true);
	if (!s)
		return -ENOMEM;
	if (user)
		s->user = *user;
	s->setup.enhanced = true;
	s->state = IW_S_INITIATING;
	s->rnr_retry_count = p->rnr_retry_count;
	s->setup.local = copy_param(p);
	if (s->setup.local)
		err = iw_rc_bind(qp, s, s->setup.local->ird, s->setup.local->ord);
	if (!err) {
		err = start(s);
		if (err)
			iw_rc_unbind(iw_rc_of(qp));
	}
	if (err) {
		s->state = IW_S_OVER;
		iw_session_bury(s);
		return err;
	}
	*out = s;
	return 0;
}

/*
 * Selects the kind of RTR indication (RFC 6581 9.2): a kind that the responder accepts and the
 * local user allows. If the Accept has flag A (peer-to-peer), but the Initiate did not have it, any
 * kind that the responder accepts may be used.
 */
static int negotiate_rtr(struct iw_session *s, struct iw_failure *f)
{
	struct session_enhanced *e = &s->setup.offer;
	unsigned int asked = s->setup.local->rtr;
	unsigned int kinds = asked ? asked : IW_RTR_ANY;

	e->rtr_send = e->rtr_send && kinds & IW_RTR_SEND;
	e->rtr_write = e->rtr_write && kinds & IW_RTR_WRITE;
	e->rtr_read = e->rtr_read && kinds & IW_RTR_READ;
	if (!e->peer_to_peer && !asked)
		return 0;
	if (!kinds_of(e))
		return iw_fail(f, TERM_LLP_RTR, NULL, 0);
	s->tx.rtr_due = true;
	return 0;
}

/* Sets the local depths from the responder's answer (RFC 6581 9.1). */
static int negotiate_answer(struct iw_session *s, const struct session_enhanced *e,
			    struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	uint32_t ird = rc->irq.ird;

	s->setup.offer = *e;
	if (e->ird != SESSION_DEPTH_ULP) {
		rc->reads.ord_max = at_most(e->ird, IW_MAX_ORD);
		iw_explain_depths(s, rc->reads.ord, rc->reads.ord_max, false);
		rc->reads.ord = at_most(rc->reads.ord, rc->reads.ord_max);
	}
	if (e->ord != SESSION_DEPTH_ULP && e->ord > ird)
		ird = e->ord;
	if (ird > IW_MAX_IRD)
		return iw_fail(f, TERM_LLP_IRD, NULL, 0);
	/*
	 * The responder's ORD exceeds the offered IRD. If the memory for it is not available,
	 * report this to the peer now.
	 */
	if (ird > rc->irq.ird && iw_irq_reserve(&rc->irq, ird))
		return iw_fail(f, TERM_LLP_LOCAL, NULL, 0);
	rc->irq.ird = ird;
	return negotiate_rtr(s, f);
}

static void establish(struct iw_session *s)
{
	s->state = IW_S_ESTABLISHED;
	s->shard->stats.sessions++;
	if (!s->shard->stats.first_use)
		s->shard->stats.first_use = s->shard->now;
	TRACE(session_established, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .active = s->active);
	iw_receipt_update(s); /* Sends may have arrived before the session was established */
}

/* Moves the QP to RTS. A QP that is connected out of band keeps its state: see iw_qp.oob. */
static void enter_rts(struct iw_qp *qp)
{
	if (!qp->oob)
		iw_qp_set_state(qp, IW_QPS_RTS);
}

int iw_session_to_self(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
		       const struct iw_session_user *user, struct iw_session **out)
{
	int sid = iw_assoc_idle_stream(assoc);
	struct iw_session *s;
	int err;

	if (sid < 0)
		return sid;
	iw_shard_reap(assoc->shard);
	s = iw_session_new(assoc, true);
	if (!s)
		return -ENOMEM;
	if (user)
		s->user = *user;
	s->to_self = true;
	s->tx.answered = true;
	err = iw_assoc_link(assoc, s, (unsigned int)sid);
	if (!err)
		err = iw_rc_bind(qp, s, at_most(p->ird, IW_MAX_IRD), at_most(p->ord, p->ird));
	if (err) {
		iw_session_bury(s);
		return err;
	}
	iw_rc_of(qp)->reads.ord_max = at_most(p->ird, IW_MAX_ORD);
	establish(s);
	iw_session_wake(s);
	*out = s;
	return 0;
}

static void accepted(struct iw_session *s, const struct session_control *c)
{
	const struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_failure f;

	if (s->setup.enhanced) {
		if (negotiate_answer(s, &c->enhanced, &f)) {
			f.quiet = true; /* no connection existed */
			iw_session_fail(s, &f);
			return;
		}
		keep_remote(s, c, shown_depth(c->enhanced.ird, rc->reads.ord),
			    shown_depth(c->enhanced.ord, rc->irq.ird));
	} else {
		keep_remote(s, c, rc->reads.ord, rc->irq.ird);
	}
	free(s->setup.local);
	s->setup.local = NULL;
	establish(s);
	enter_rts(s->qp);
	iw_event_raise(s->shard, &s->event, IW_EVENT_ACCEPT);
	iw_session_wake(s);
}

void iw_setup_release_qp(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	iw_rc_unbind(rc);
	if (rc->base.qp.srq) /* return the receives of messages that arrived before the answer */
		iw_rc_srq_return(rc);
}

static void rejected(struct iw_session *s, const struct session_control *c)
{
	keep_remote(s, c, shown_depth(c->enhanced.ird, IW_MAX_IRD),
		    shown_depth(c->enhanced.ord, IW_MAX_ORD));
	s->rx.ended = true;
	s->tx.ended = true; /* no further message may be sent (RFC 5043 6.3) */
	s->state = IW_S_CLOSING;
	iw_setup_release_qp(s);
	free(s->setup.local);
	s->setup.local = NULL;
	iw_event_raise(s->shard, &s->event, IW_EVENT_REJECT);
	iw_session_settle(s);
}

/* Restarts the session on another stream, as if no message had been sent or received. */
static int start_anew(struct iw_session *s)
{
	list_del(&s->ready);
	iw_assoc_unlink(s);
	iw_session_uncount(s);
	iw_rx_order_clear(&s->rx.order);
	iw_early_clear(s);
	s->tx = (struct iw_session_tx){ 0 };
	s->rx = (struct iw_session_rx){ 0 };
	return start(s);
}

void iw_setup_give_way(struct iw_session *s)
{
	iw_assoc_set_initiator(s->assoc, s->sid % 2);
	if (!start_anew(s))
		return;
	s->rx.ended = s->tx.ended = true;
	iw_setup_release_qp(s);
	iw_session_end(s, IW_END_CROSSED, NULL);
}

/*
 * Ends a session whose Initiate crossed the peer's Initiate on the same stream. This happens if the
 * INITs of both sides collided. SCTP then does not report which side opened the association, and
 * both sides act as the initiator. Such a session is illegal (RFC 5043 6.1), so both sides end the
 * session and may retry. For the retry, the side with the larger private data uses the even
 * streams; both sides know both Initiates. If these are equal, each side chooses at random.
 */
static void crossed(struct iw_session *s, const struct session_control *c)
{
	const struct iw_session_param *ours = s->setup.local;
	int order = (int)ours->private_data_len - (int)c->private_len;

	if (!order && c->private_len)
		order = memcmp(ours->private_data, c->private_data, c->private_len);
	if (!order)
		order = random_u32(s->shard->random) & 1 ? 1 : -1;
	iw_assoc_set_initiator(s->assoc, order > 0);
	iw_setup_release_qp(s);
	iw_session_end(s, IW_END_CROSSED, NULL);
}

/*
 * Handles a Terminate that answers the Initiate: the peer is too busy, or does not support the
 * Enhanced Initiate (RFC 6581 10). Retries once with a plain Initiate on another stream, unless the
 * peer is known to support the Enhanced Initiate. Peers of QPs that are connected out of band
 * always support it.
 */
static void refused(struct iw_session *s)
{
	s->rx.ended = true;
	s->tx.ended = true;
	if (s->setup.enhanced && !s->assoc->peer_enhanced && !s->qp->oob) {
		s->setup.enhanced = false; /* no message is outstanding on this stream */
		if (!start_anew(s))
			return;
		s->rx.ended = s->tx.ended = true;
	}
	iw_session_end(s, IW_END_REFUSED, NULL);
}

/*
 * True if the function is a Reject that may answer this session's Initiate. A plain Reject may
 * answer an Enhanced Initiate. An Enhanced Reject shows that a plain Initiate would be acceptable
 * (RFC 6581 7), which is not always so.
 */
static bool is_reject(const struct iw_session *s, uint16_t function)
{
	return function == SESSION_REJECT ||
	       (s->setup.enhanced && function == SESSION_ENHANCED_REJECT);
}

void iw_setup_answer(struct iw_session *s, const struct session_control *c, int verdict)
{
	uint16_t function = c->function;
	struct iw_failure f;

	/* A message that arrives before the Initiate was sent cannot be an answer. */
	if (!s->tx.ssn)
		verdict = -EPROTO;
	s->tx.answered = true;
	if (!verdict && session_is_enhanced(function))
		s->assoc->peer_enhanced = true;
	if (!verdict &&
	    function == (s->setup.enhanced ? SESSION_ENHANCED_ACCEPT : SESSION_ACCEPT)) {
		accepted(s, c);
	} else if (!verdict && is_reject(s, function)) {
		rejected(s, c);
	} else if (!verdict && function == SESSION_TERMINATE) {
		refused(s);
	} else if (!verdict && session_is_initiate(function)) {
		crossed(s, c);
	} else {
		iw_fail_illegal(&f);
		f.quiet = true;
		iw_session_fail(s, &f);
	}
}

/* ---- passive side ---- */

/* Answers a message that opens no session: only with a Terminate (RFC 5043 6.1, 6.4). */
static void refuse_first(struct iw_session *s)
{
	s->ending.user_gone = true;
	s->state = IW_S_PENDING;
	iw_session_end(s, IW_END_CLOSED, NULL);
}

void iw_setup_first(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    size_t len)
{
	struct session_control c;
	struct iw_session *s;
	int err = -EINVAL;

	/*
	 * The message belongs to a session that is over: the peer has withdrawn an Initiate that
	 * was rejected meanwhile.
	 */
	if (len >= SESSION_SSN_LEN && get_be16(data) != 0)
		return;
	s = iw_session_new(assoc, false);
	if (!s)
		return;
	if (iw_assoc_link(assoc, s, sid)) {
		s->state = IW_S_OVER;
		iw_session_bury(s);
		return;
	}
	s->rx.ssn = 1;
	if (ppid == SESSION_PPID_CONTROL)
		err = session_decode(&c, data, len);
	if (err || !session_is_initiate(c.function)) {
		refuse_first(s);
		return;
	}
	TRACE(session_received, s->shard->now, .qp = TRACE_NONE, .sid = sid,
	      .message = iw_trace_message(c.function));
	s->setup.enhanced = c.function == SESSION_ENHANCED_INITIATE;
	assoc->peer_enhanced |= s->setup.enhanced;
	s->setup.offer = c.enhanced;
	if (!s->setup.enhanced)
		s->setup.offer.ird = s->setup.offer.ord = SESSION_DEPTH_ULP;
	keep_remote(s, &c, shown_depth(s->setup.offer.ird, IW_MAX_IRD),
		    shown_depth(s->setup.offer.ord, IW_MAX_ORD));
	if (!s->setup.remote) {
		refuse_first(s);
		return;
	}
	s->state = IW_S_PENDING;
	iw_event_raise(s->shard, &s->event, IW_EVENT_INITIATE);
}

/*
 * Lowers the local ORD to at most the initiator's IRD. Raises the local IRD to at least the
 * initiator's ORD (RFC 6581 9.1).
 */
static void negotiate_offer(const struct iw_session *s, struct iw_session_param *p)
{
	if (!s->setup.enhanced)
		return;
	if (s->setup.offer.ird != SESSION_DEPTH_ULP)
		p->ord = at_most(p->ord, s->setup.offer.ird);
	if (s->setup.offer.ord != SESSION_DEPTH_ULP && p->ird < s->setup.offer.ord)
		p->ird = at_most(s->setup.offer.ord, IW_MAX_IRD);
	if (s->setup.offer.peer_to_peer && !p->ird)
		p->ird = 1; /* the RTR indication may be a read */
}

/*
 * Makes the session wait for the RTR indication. Until it arrives, the QP accepts work requests,
 * but sends nothing.
 */
static void await_rtr(struct iw_session *s)
{
	struct iw_rc_rx *rx = &iw_rc_of(s->qp)->rx;

	s->state = IW_S_AWAITING;
	if (!iw_rtr_is_send(s))
		return;
	rx->deliver_msn++;
	rx->delta--; /* the receive at the head gets MSN 2 */
}

int iw_session_accept(struct iw_session *s, struct iw_qp *qp, const struct iw_session_param *p)
{
	struct iw_session_param *local;
	int err;

	if (p->private_data_len > IW_MAX_PRIVATE_DATA - SESSION_ENHANCED_LEN)
		return -EINVAL;
	if (s->state != IW_S_PENDING)
		return -ECONNRESET; /* IW_EVENT_CLOSED is pending */
	local = copy_param(p);
	if (!local)
		return -ENOMEM;
	negotiate_offer(s, local);
	err = iw_rc_bind(qp, s, local->ird, local->ord);
	if (err) {
		free(local);
		return err;
	}
	s->setup.local = local;
	if (s->setup.enhanced) {
		iw_explain_depths(s, p->ord, s->setup.offer.ird, false);
		iw_explain_depths(s,
				  s->setup.offer.ord == SESSION_DEPTH_ULP ? 0 : s->setup.offer.ord,
				  p->ird, true);
	}
	s->rnr_retry_count = p->rnr_retry_count;
	s->tx.control = s->setup.enhanced ? SESSION_ENHANCED_ACCEPT : SESSION_ACCEPT;
	if (s->setup.enhanced && s->setup.offer.ird != SESSION_DEPTH_ULP)
		iw_rc_of(qp)->reads.ord_max = at_most(s->setup.offer.ird, IW_MAX_ORD);
	if (s->setup.offer.peer_to_peer)
		await_rtr(s);
	else
		establish(s);
	enter_rts(qp);
	iw_session_wake(s);
	return 0;
}

bool iw_session_awaits_rtr(const struct iw_session *s)
{
	return s->state == IW_S_AWAITING;
}

enum iw_rtr_verdict iw_rtr_place(const uint8_t *data, size_t len, struct iw_rx_rec *rec,
				 struct iw_failure *f)
{
	struct ddp_header h;

	if (ddp_get(&h, data, len) && !ddp_is_tagged(h.control) &&
	    ddp_version(h.control) == DDP_VERSION && rdmap_version(h.rdmap) == RDMAP_VERSION) {
		if (rdmap_opcode(h.rdmap) == RDMAP_TERMINATE)
			return IW_RTR_TERMINATE;
		*rec = (struct iw_rx_rec){ .control = h.control, .rdmap = h.rdmap, .msn = h.msn };
		if (len == DDP_UNTAGGED_LEN && ddp_is_last(h.control) &&
		    rdmap_opcode(h.rdmap) == RDMAP_SEND && h.qn == RDMAP_QN_SEND && h.msn == 1 &&
		    !h.mo)
			return IW_RTR_INDICATION;
	}
	iw_fail(f, TERM_LLP_RTR, NULL, 0);
	f->quiet = true; /* no connection existed */
	return IW_RTR_WRONG;
}

/*
 * True if the record is of an empty Write, which is the RTR indication. Immediate Data of the
 * application must not be attributed to this Write.
 */
static bool is_rtr_write(const struct iw_rx_rec *rec)
{
	return rdmap_opcode(rec->rdmap) == RDMAP_WRITE && ddp_is_last(rec->control) && !rec->len;
}

bool iw_rtr_deliver(struct iw_session *s, const struct iw_rx_rec *rec)
{
	if (rdmap_opcode(rec->rdmap) == RDMAP_TERMINATE)
		return false;
	establish(s);
	iw_event_raise(s->shard, &s->event, IW_EVENT_RTR);
	iw_session_wake(s);
	if (!iw_rtr_is_send(s) && !is_rtr_write(rec))
		return false;
	s->tx.answered = true;
	s->shard->stats.in[rdmap_opcode(rec->rdmap)]++;
	return true;
}

int iw_session_reject(struct iw_session *s, const void *private_data, size_t len)
{
	struct iw_session_param *local;

	if (len > IW_MAX_PRIVATE_DATA - SESSION_ENHANCED_LEN)
		return -EINVAL;
	if (s->state != IW_S_PENDING) {
		iw_session_close(s);
		return 0;
	}
	local = calloc(1, sizeof(*local));
	if (!local)
		return -ENOMEM;
	if (len)
		memcpy(local->private_data, private_data, len);
	local->private_data_len = (uint16_t)len;
	/* Answer with acceptable depths, because depths are not the reason for the Reject. */
	local->ird = at_most(s->setup.offer.ord, IW_MAX_IRD);
	local->ord = at_most(s->setup.offer.ird, IW_MAX_ORD);
	s->setup.local = local;
	iw_event_clear(&s->event);
	s->ending.user_gone = true;
	s->rx.ended = true;
	s->tx.control = s->setup.enhanced ? SESSION_ENHANCED_REJECT : SESSION_REJECT;
	iw_session_turn_away(s);
	s->state = IW_S_CLOSING;
	iw_session_wake(s);
	iw_session_settle(s);
	return 0;
}

void iw_session_refuse(struct iw_session *s)
{
	iw_session_close(s);
}

/* ---- the message itself ---- */

static void fill_enhanced(const struct iw_session *s, struct session_enhanced *e)
{
	const struct iw_session_param *p = s->setup.local;

	e->ird = (uint16_t)p->ird;
	e->ord = (uint16_t)p->ord;
	if (s->active) {
		e->peer_to_peer = p->rtr != 0;
		e->rtr_send = p->rtr & IW_RTR_SEND;
		e->rtr_write = p->rtr & IW_RTR_WRITE;
		e->rtr_read = p->rtr & IW_RTR_READ;
		return;
	}
	/*
	 * If the peer leaves a depth to the ULPs, the answer does the same, and the local depth
	 * stays (RFC 6581 9.1).
	 */
	if (s->setup.offer.ord == SESSION_DEPTH_ULP)
		e->ird = SESSION_DEPTH_ULP;
	if (s->setup.offer.ird == SESSION_DEPTH_ULP)
		e->ord = SESSION_DEPTH_ULP;
	/*
	 * Accept the kinds of RTR indication that the initiator can send, or Write and Read if the
	 * initiator names none. Accept a Send only if no other kind is accepted: see
	 * iw_rtr_is_send().
	 */
	e->peer_to_peer = s->setup.offer.peer_to_peer;
	e->rtr_send = iw_rtr_is_send(s);
	e->rtr_write = !e->rtr_send && (s->setup.offer.rtr_write || !s->setup.offer.rtr_read);
	e->rtr_read = !e->rtr_send && (s->setup.offer.rtr_read || !s->setup.offer.rtr_write);
}

size_t iw_setup_encode(struct iw_session *s, uint8_t *buf, size_t limit)
{
	struct session_control c = { .ssn = s->tx.ssn, .function = s->tx.control };
	size_t n;

	if (c.function != SESSION_TERMINATE) {
		c.private_len = s->setup.local->private_data_len;
		c.private_data = s->setup.local->private_data;
		if (session_is_enhanced(c.function))
			fill_enhanced(s, &c.enhanced);
	}
	n = session_encode(&c, buf, limit);
	if (!n)
		return 0;
	TRACE(session_sent, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .message = iw_trace_message(c.function));
	s->tx.control = 0;
	s->tx.ended = c.function == SESSION_TERMINATE || c.function == SESSION_REJECT ||
		      c.function == SESSION_ENHANCED_REJECT;
	if (!s->active) { /* the active side may have to send its Initiate again */
		free(s->setup.local);
		s->setup.local = NULL;
	}
	return n;
}
