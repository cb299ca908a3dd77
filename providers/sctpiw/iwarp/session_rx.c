/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What arrives on a stream in session (RFC 5043 5.2, 6.1, 10). A message whose turn has come is dealt
 * with at once and leaves no trace; one that came early is placed, and remembered in 16 bytes until
 * the gap before it is closed.
 */
#include <errno.h>
#include <stdlib.h>

#include "iwarp/private.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/serial.h"

#define SLOTS_MIN 64
#define SLOTS_KEEP 4096 /* a larger window is given back when it is empty */

static struct iw_rx_rec *slot_at(const struct iw_session *s, uint16_t ssn)
{
	return &s->slots[ssn & (s->slots_size - 1)];
}

static bool is_remembered(const struct iw_session *s, uint16_t ssn)
{
	return (uint16_t)(ssn - s->rx_ssn) < s->slots_size && slot_at(s, ssn)->control;
}

static int remember(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	uint32_t n = (uint16_t)(ssn - s->rx_ssn) + 1u;
	struct iw_rx_rec *slots;

	if (n > s->slots_size) {
		slots = alloc_grown(s->slots, &s->slots_size, sizeof(*slots), s->rx_ssn,
				    n < SLOTS_MIN ? SLOTS_MIN : n);
		if (!slots)
			return -ENOMEM;
		s->slots = slots;
	}
	*slot_at(s, ssn) = *rec;
	s->slots_used++;
	return 0;
}

/* The peer's last message, and everything before it, is there. */
static void peer_ended(struct iw_session *s)
{
	s->rx_ended = true;
	if (s->active)
		s->answered = true;
	if (s->state == IW_S_CLOSING)
		iw_session_settle(s);
	else
		iw_session_end(s, 0, true, NULL);
}

static void first_segment(struct iw_session *s, const struct iw_rx_rec *rec)
{
	s->begun = s->answered = true;
	if (s->qp->oob && iw_qp_state(s->qp) == IW_QPS_RTR &&
	    rdmap_opcode(rec->rdmap) != RDMAP_TERMINATE)
		iw_event_raise(s->rnic, &s->qp->priv->event, IW_EVENT_QP_COMM_EST);
}

static void deliver(struct iw_session *s, const struct iw_rx_rec *rec)
{
	struct iw_failure f;

	if (rec->control == IW_REC_TERMINATE) {
		peer_ended(s);
		return;
	}
	if (rec->control == IW_REC_SKIP)
		return;
	if (s->state != IW_S_ESTABLISHED && (s->state != IW_S_AWAITING || iw_rtr_deliver(s, rec)))
		return;
	if (!s->begun)
		first_segment(s, rec);
	if (iw_rdmap_deliver(s, rec, &f))
		iw_session_fail(s, &f);
}

static void drain(struct iw_session *s)
{
	while (s->slots_used && !s->rx_ended) {
		struct iw_rx_rec *slot = slot_at(s, s->rx_ssn);
		struct iw_rx_rec rec = *slot;
		uint16_t ssn = s->rx_ssn;

		if (!rec.control)
			return;
		slot->control = 0;
		s->slots_used--;
		s->rx_ssn++;
		if (s->failing && ssn == s->fail_ssn)
			iw_session_fail(s, &s->failure);
		deliver(s, &rec);
	}
	if (s->slots_size > SLOTS_KEEP && !s->slots_used) {
		free(s->slots);
		s->slots = NULL;
		s->slots_size = 0;
	}
}

static void note_loose(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	if (rec->control == IW_REC_TERMINATE && !s->end_known) {
		s->end_known = true;
		s->end_ssn = ssn;
	}
	s->rx_ssn++;
}

/* At most 32,767 messages are under way (RFC 5043 10): 16 bits tell whether one is missing. */
static void check_loose(struct iw_session *s)
{
	if (s->end_known && s->rx_ssn == (uint16_t)(s->end_ssn + 1))
		peer_ended(s);
}

/* In turn, or for later. */
static void accept_rec(struct iw_session *s, uint16_t ssn, const struct iw_rx_rec *rec)
{
	struct iw_failure f;

	if (s->rx_loose) {
		note_loose(s, ssn, rec);
		check_loose(s);
		return;
	}
	if (ssn == s->rx_ssn) {
		s->rx_ssn++;
		deliver(s, rec);
		if (s->slots_used)
			drain(s);
		return;
	}
	if (remember(s, ssn, rec)) {
		iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
		iw_session_fail(s, &f);
		iw_session_loosen(s);
		accept_rec(s, ssn, rec);
	}
}

/* ssn is not as it should be: when its turn comes the session fails. */
static void reject(struct iw_session *s, uint16_t ssn, const struct iw_failure *f)
{
	struct iw_rx_rec skip = { .control = IW_REC_SKIP };

	if (ssn == s->rx_ssn) {
		iw_session_wrong(s, ssn, f); /* compares with rx_ssn: first */
		s->rx_ssn++;
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

/* The QP is gone, or a segment before this one is in error: only the order matters. */
static void follow(struct iw_session *s, uint32_t ppid, uint16_t ssn, const uint8_t *data,
		   size_t len)
{
	struct iw_rx_rec rec = { .control = IW_REC_SKIP };
	struct session_control c;

	if (ppid == SESSION_PPID_CONTROL && len >= SESSION_CONTROL_MIN) {
		session_decode(&c, data, len); /* function is valid whatever it says */
		if (c.function == SESSION_TERMINATE)
			rec.control = IW_REC_TERMINATE;
		if (s->active && !s->answered && ssn == 0 &&
		    (c.function == SESSION_REJECT || c.function == SESSION_ENHANCED_REJECT ||
		     c.function == SESSION_TERMINATE)) {
			/* It never began: nothing more is owed (RFC 5043 6.3, 6.4). */
			s->want_terminate = s->term_pending = false;
			s->tx_ended = true;
			rec.control = IW_REC_TERMINATE;
		}
	}
	/* A Terminate of the active side may have crossed our Accept. */
	if (s->active || ppid == SESSION_PPID_DDP)
		s->answered = true;
	accept_rec(s, ssn, &rec);
	if (s->state == IW_S_CLOSING)
		iw_session_wake(s); /* a Terminate that waited for the answer */
}

void iw_session_loosen(struct iw_session *s)
{
	uint16_t first = s->rx_ssn;
	struct iw_early *m;

	s->rx_loose = true;
	for (uint32_t i = 0; i < s->slots_size; i++) {
		const struct iw_rx_rec *slot = &s->slots[(first + i) & (s->slots_size - 1)];

		if (slot->control)
			note_loose(s, (uint16_t)(first + i), slot);
	}
	free(s->slots);
	s->slots = NULL;
	s->slots_size = s->slots_used = 0;
	while ((m = iw_early_take(s))) {
		uint32_t ppid;
		size_t len;
		const uint8_t *data = iw_early_message(m, &ppid, &len);

		follow(s, ppid, get_be16(data), data, len);
		free(m);
	}
	check_loose(s);
}

static void receive_control(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_rx_rec rec = { .control = IW_REC_TERMINATE };
	struct session_control c;
	int err = session_decode(&c, data, len);

	if (s->state == IW_S_INITIATING && ssn == s->rx_ssn) {
		if (!s->tx_ssn && session_is_initiate(c.function)) {
			uint16_t sid = s->sid;

			iw_setup_give_way(s);
			iw_setup_first(s->assoc, sid, SESSION_PPID_CONTROL, data, len);
			return;
		}
		s->rx_ssn++;
		iw_setup_answer(s, &c, err);
		drain(s);
		return;
	}
	if (c.function != SESSION_TERMINATE) {
		illegal(s, ssn);
	} else if (err) { /* with private data: no legal Terminate, but it ends the session */
		struct iw_failure f;

		iw_fail_illegal(&f);
		iw_session_wrong(s, ssn, &f);
		accept_rec(s, ssn, &rec);
	} else {
		accept_rec(s, ssn, &rec);
	}
}

/* A segment of a session that is not established yet. True: dealt with. */
static bool receive_first(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_failure f;
	struct iw_rx_rec rec;
	int ret;

	if (s->state == IW_S_INITIATING && ssn == 0) {
		illegal(s, ssn); /* no segment before the Accept (RFC 5043 6.2) */
		return true;
	}
	if (s->state != IW_S_AWAITING || ssn != 1 || !iw_rtr_is_send(s))
		return false;
	ret = iw_rtr_place(data, len, &rec, &f);
	if (ret < 0)
		reject(s, ssn, &f);
	else if (!ret)
		accept_rec(s, ssn, &rec);
	return ret <= 0;
}

static void receive_segment(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len)
{
	struct iw_failure f;
	struct iw_rx_rec rec;

	if (!s->qp) {
		illegal(s, ssn);
		return;
	}
	if (s->state != IW_S_ESTABLISHED &&
	    receive_first(s, ssn, data + SESSION_SSN_LEN, len - SESSION_SSN_LEN))
		return;
	if (iw_ddp_place(s, ssn, data + SESSION_SSN_LEN, len - SESSION_SSN_LEN, &rec, &f))
		reject(s, ssn, &f);
	else
		accept_rec(s, ssn, &rec);
}

static void receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	uint16_t ssn, distance;

	if (s->rx_ended)
		return;
	if (len < SESSION_SSN_LEN) {
		struct iw_failure f;

		iw_fail_illegal(&f);
		iw_session_fail(s, &f);
		return;
	}
	ssn = get_be16(data);
	if (s->rx_loose) {
		follow(s, ppid, ssn, data, len);
		return;
	}
	distance = (uint16_t)(ssn - s->rx_ssn);
	if (distance >= 0x8000 || is_remembered(s, ssn))
		return; /* delivered or placed already */
	if (s->state == IW_S_CLOSING || (s->failing && serial16_le(s->fail_ssn, ssn)))
		follow(s, ppid, ssn, data, len);
	else if (s->state == IW_S_PENDING && distance)
		illegal(s, s->rx_ssn); /* only a Terminate can follow an undecided Initiate */
	else if (ppid == SESSION_PPID_DDP)
		receive_segment(s, ssn, data, len);
	else if (ppid == SESSION_PPID_CONTROL && len >= SESSION_CONTROL_MIN)
		receive_control(s, ssn, data, len);
	else
		illegal(s, ssn);
}

void iw_session_receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	struct iw_early *m;

	if (s->rnic->config.in_order && iw_early_keep(s, ppid, data, len))
		return;
	receive(s, ppid, data, len);
	while (s->early && (m = iw_early_take(s))) {
		data = iw_early_message(m, &ppid, &len);
		receive(s, ppid, data, len);
		free(m);
	}
}
