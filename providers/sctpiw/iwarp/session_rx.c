/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that arrive in a session. A message that arrives in order is placed and delivered at
 * once. An early message is placed at once, but a small record of it is kept until all earlier
 * messages have arrived.
 */
#include "iwarp/session_rx.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/ddp_rx.h"
#include "iwarp/rc.h"
#include "iwarp/receipt.h"
#include "iwarp/rdmap_rx.h"
#include "iwarp/session_setup.h"
#include "iwarp/trace.h"
#include "iwarp/uc.h"
#include "iwarp/void.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/serial.h"

#define SLOTS_MIN 64
#define SLOTS_KEEP 4096 /* a larger table is freed when it is empty */

/* ---- early messages ---- */

static bool is_remembered(const struct iw_session *s, uint16_t ssn)
{
	const struct iw_rx_order *o = &s->rx.order;

	return o->used && (uint16_t)(ssn - s->rx.ssn) < o->size && iw_rx_order_at(o, ssn)->control;
}

static int remember(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	uint32_t n = (uint16_t)(ssn - s->rx.ssn) + 1u;
	struct iw_rx_order *o = &s->rx.order;
	struct iw_rx_rec *slots;

	if (n > o->size) {
		slots = alloc_grown(o->slots, &o->size, sizeof(*slots), s->rx.ssn,
				    n < SLOTS_MIN ? SLOTS_MIN : n);
		if (!slots)
			return -ENOMEM;
		o->slots = slots;
	}
	*iw_rx_order_at(o, ssn) = *rec;
	if (!o->used++ || serial16_lt(o->last, ssn))
		o->last = ssn;
	return 0;
}

void iw_rx_order_clear(struct iw_rx_order *o)
{
	free(o->slots);
	*o = (struct iw_rx_order){ 0 };
}

/* ---- delivery ---- */

/* Handles the end of the peer's side: all its messages and its Terminate have arrived. */
static void peer_ended(struct iw_session *s)
{
	s->rx.ended = true;
	if (s->active)
		s->tx.answered = true;
	if (s->state == IW_S_CLOSING)
		iw_session_settle(s);
	else
		iw_session_end(s, IW_END_PEER, NULL);
}

static void first_segment(struct iw_session *s, const struct iw_rx_rec *rec)
{
	s->rx.begun = s->tx.answered = true;
	if (s->qp->oob && iw_qp_state(s->qp) == IW_QPS_RTR &&
	    rdmap_opcode(rec->rdmap) != RDMAP_TERMINATE)
		iw_event_raise(s->shard, &iw_qp_base(s->qp)->event, IW_EVENT_QP_COMM_EST);
}

static void fail_delivery(struct iw_session *s, const struct iw_failure *f)
{
	if (!iw_uc_drop_whole(s, f))
		iw_session_fail(s, f);
}

static void deliver(struct iw_session *s, const struct iw_rx_rec *rec)
{
	uint16_t ssn = (uint16_t)(s->rx.ssn - 1);
	struct iw_failure f;

	if (rec->control == IW_REC_TERMINATE) {
		peer_ended(s);
		return;
	}
	if (rec->control == IW_REC_SKIP ||
	    (s->rx.voided.found && iw_void_drops(s, ssn, rec->rdmap)))
		return;
	if (s->state != IW_S_ESTABLISHED && (s->state != IW_S_AWAITING || iw_rtr_deliver(s, rec)))
		return;
	if (!s->rx.begun)
		first_segment(s, rec);
	if (iw_rdmap_deliver(s, rec, &f))
		fail_delivery(s, &f);
	else if (!s->rx.voided.found)
		s->rx.delivered = s->rx.ssn;
}

/* Delivers the early messages whose turn has come. */
static void drain(struct iw_session *s)
{
	struct iw_rx_order *o = &s->rx.order;

	while (o->used && !s->rx.ended) {
		struct iw_rx_rec *slot = iw_rx_order_at(o, s->rx.ssn);
		struct iw_rx_rec rec = *slot;
		uint16_t ssn = s->rx.ssn;

		if (!rec.control)
			return;
		slot->control = 0;
		o->used--;
		s->rx.ssn++;
		if (s->rx.fault.found && ssn == s->rx.fault.ssn)
			iw_session_fail(s, &s->rx.fault.failure);
		deliver(s, &rec);
	}
	if (o->size > SLOTS_KEEP && !o->used)
		iw_rx_order_clear(o);
}

/* ---- unordered mode: struct iw_rx_loose ---- */

static void count(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	struct iw_rx_loose *loose = &s->rx.loose;

	if (rec->control == IW_REC_TERMINATE && !loose->end_known) {
		loose->end_known = true;
		loose->end_ssn = ssn;
	}
	s->rx.ssn++;
}

/*
 * Checks whether all messages of the peer have arrived. At most 32,767 messages are outstanding
 * (RFC 5043 10), so the 16-bit count shows whether a message is missing.
 */
static void check_end(struct iw_session *s)
{
	const struct iw_rx_loose *loose = &s->rx.loose;

	if (loose->end_known && !s->rx.ended && s->rx.ssn == (uint16_t)(loose->end_ssn + 1))
		peer_ended(s);
}

/*
 * Processes a message whose contents no longer matter, because the session is closing or an earlier
 * message was wrong. Returns a record that only keeps the message's place in the order.
 */
static struct iw_rx_rec skim(struct iw_session *s, uint32_t ppid, uint16_t ssn, const uint8_t *data,
			     size_t len)
{
	struct iw_rx_rec rec = { .control = IW_REC_SKIP };
	struct session_control c;

	if (ppid == SESSION_PPID_CONTROL && len >= SESSION_CONTROL_MIN) {
		session_decode(&c, data, len); /* sets c.function even if the rest is wrong */
		if (c.function == SESSION_TERMINATE)
			rec.control = IW_REC_TERMINATE;
		if (s->active && !s->tx.answered && ssn == 0 &&
		    (c.function == SESSION_REJECT || c.function == SESSION_ENHANCED_REJECT ||
		     c.function == SESSION_TERMINATE)) {
			/* The session never started: send nothing more (RFC 5043 6.3, 6.4). */
			s->tx.terminate_due = s->tx.term_due = false;
			s->tx.receipt_due = false;
			s->tx.ended = true;
			iw_receipt_count(s);
			rec.control = IW_REC_TERMINATE;
		}
	}
	/*
	 * On the passive side, a Terminate from the peer is no answer to the Accept, because the
	 * two may have crossed.
	 */
	if (s->active || ppid == SESSION_PPID_DDP)
		s->tx.answered = true;
	return rec;
}

void iw_session_loosen(struct iw_session *s)
{
	struct iw_rx_order *o = &s->rx.order;
	uint16_t first = s->rx.ssn;
	struct iw_early *m;

	s->rx.loose.on = true;
	for (uint32_t i = 0; i < o->size; i++) {
		const struct iw_rx_rec *slot = iw_rx_order_at(o, (uint16_t)(first + i));

		if (slot->control)
			count(s, (uint16_t)(first + i), slot);
	}
	iw_rx_order_clear(o);
	while (!s->rx.ended && (m = iw_early_take(s))) {
		uint32_t ppid;
		size_t len;
		const uint8_t *data = iw_early_message(m, &ppid, &len);
		struct iw_rx_rec rec = skim(s, ppid, get_be16(data), data, len);

		count(s, get_be16(data), &rec);
		check_end(s);
		free(m);
	}
	check_end(s);
	if (s->state == IW_S_CLOSING)
		iw_session_wake(s); /* a Terminate to send may have waited for the answer */
}

/* ---- messages ---- */

/* Delivers the record of a processed message, or stores the record until its turn. */
static inline void accept_rec(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	struct iw_failure f;

	if (!s->rx.loose.on) {
		if (ssn == s->rx.ssn) {
			s->rx.ssn++;
			deliver(s, rec);
			if (s->rx.order.used)
				drain(s);
			return;
		}
		if (!remember(s, ssn, rec))
			return;
		iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
		iw_session_fail(s, &f);
		iw_session_loosen(s);
	}
	count(s, ssn, rec);
	check_end(s);
}

/* Processes a message whose contents no longer matter: see skim(). */
static void follow(struct iw_session *s, uint32_t ppid, uint16_t ssn, const uint8_t *data,
		   size_t len)
{
	struct iw_rx_rec rec = skim(s, ppid, ssn, data, len);

	accept_rec(s, ssn, &rec);
	if (s->state == IW_S_CLOSING)
		iw_session_wake(s); /* a Terminate to send may have waited for the answer */
}

/* Rejects a wrong message: the session fails when the message's turn comes. */
static void reject(struct iw_session *s, uint16_t ssn, const struct iw_failure *f)
{
	struct iw_rx_rec skip = { .control = IW_REC_SKIP };

	if (ssn == s->rx.ssn) {
		iw_session_wrong(s, ssn, f); /* uses rx.ssn, so increment rx.ssn afterwards */
		s->rx.ssn++;
		drain(s);
		return;
	}
	iw_session_wrong(s, ssn, f);
	accept_rec(s, ssn, &skip);
}

static void illegal(struct iw_session *s, uint16_t ssn)
{
	struct iw_failure f;

	iw_fail_illegal(&f);
	reject(s, ssn, &f);
}

static void receive_control(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_rx_rec rec = { .control = IW_REC_TERMINATE };
	struct session_control c;
	struct iw_failure f;
	int err = session_decode(&c, data, len);

	TRACE(session_received, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .message = iw_trace_message(c.function));
	if (s->state == IW_S_INITIATING && ssn == s->rx.ssn) {
		if (!s->tx.ssn && session_is_initiate(c.function)) {
			uint16_t sid = s->sid;

			iw_setup_give_way(s);
			iw_setup_first(s->assoc, sid, SESSION_PPID_CONTROL, data, len);
			return;
		}
		s->rx.ssn++;
		iw_setup_answer(s, &c, err);
		drain(s);
		return;
	}
	if (c.function != SESSION_TERMINATE) {
		illegal(s, ssn);
		return;
	}
	if (err) { /* a Terminate with private data is illegal, but still ends the session */
		iw_fail_illegal(&f);
		iw_session_wrong(s, ssn, &f);
	}
	accept_rec(s, ssn, &rec);
}

/*
 * Handles a segment that arrives before the session is established. Returns true if no further
 * processing is needed.
 */
static bool receive_first(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_failure f;
	struct iw_rx_rec rec;

	if (s->state == IW_S_INITIATING && ssn == 0) {
		illegal(s, ssn); /* the Accept must be the first message (RFC 5043 6.2) */
		return true;
	}
	if (s->state != IW_S_AWAITING || ssn != 1 || !iw_rtr_is_send(s))
		return false;
	switch (iw_rtr_place(data, len, &rec, &f)) {
	case IW_RTR_INDICATION:
		accept_rec(s, ssn, &rec);
		return true;
	case IW_RTR_WRONG:
		reject(s, ssn, &f);
		return true;
	default:
		return false;
	}
}

/*
 * True if the segment is to be dropped, because it is void, follows a void message, or belongs to a
 * dropped message.
 */
static bool is_of_no_effect(struct iw_session *s, uint16_t ssn, const uint8_t *segment, size_t len)
{
	if (len == IW_VOID_SEGMENT && iw_void_is(s, segment)) {
		iw_void_take(s, ssn);
		return true;
	}
	return s->sifts && ((len >= DDP_TAGGED_LEN && iw_void_drops(s, ssn, segment[1])) ||
			    iw_uc_sifts(s, segment, len));
}

static void receive_segment(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_rx_rec rec = { .control = IW_REC_SKIP };
	struct iw_failure f;

	data += SESSION_SSN_LEN;
	len -= SESSION_SSN_LEN;
	if (!s->qp) {
		illegal(s, ssn);
		return;
	}
	if (is_of_no_effect(s, ssn, data, len)) {
		accept_rec(s, ssn, &rec);
		return;
	}
	if (s->state != IW_S_ESTABLISHED && receive_first(s, ssn, data, len))
		return;
	if (iw_ddp_place(s, ssn, data, len, &rec, &f) && !iw_uc_drop(s, data, len, &f))
		reject(s, ssn, &f);
	else
		accept_rec(s, ssn, &rec);
}

static void receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	const struct iw_rx_fault *fault = &s->rx.fault;
	uint16_t ssn, distance;
	struct iw_failure f;

	if (s->rx.ended)
		return;
	if (len < SESSION_SSN_LEN) {
		iw_fail_illegal(&f);
		iw_session_fail(s, &f);
		return;
	}
	ssn = get_be16(data);
	if (s->rx.loose.on) {
		follow(s, ppid, ssn, data, len);
		return;
	}
	distance = (uint16_t)(ssn - s->rx.ssn);
	if (distance >= 0x8000 || is_remembered(s, ssn))
		return; /* the message was already delivered or placed */
	if (s->state == IW_S_CLOSING || (fault->found && serial16_le(fault->ssn, ssn)))
		follow(s, ppid, ssn, data, len);
	else if (s->state == IW_S_PENDING && distance)
		/* before the answer to an Initiate, only a Terminate may follow the Initiate */
		illegal(s, s->rx.ssn);
	else if (ppid == SESSION_PPID_DDP)
		receive_segment(s, ssn, data, len);
	else if (ppid == SESSION_PPID_CONTROL && len >= SESSION_CONTROL_MIN)
		receive_control(s, ssn, data, len);
	else
		illegal(s, ssn);
}

void iw_session_receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	struct iw_early *m = NULL;

	if (s->in_order && iw_early_keep(s, ppid, data, len))
		return;
	for (;;) {
		receive(s, ppid, data, len);
		free(m);
		m = s->rx.early.first ? iw_early_take(s) : NULL;
		if (!m)
			return;
		data = iw_early_message(m, &ppid, &len);
	}
}
