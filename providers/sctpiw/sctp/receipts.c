/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/receipts.h"

#include "sctp/input.h"
#include "util/serial.h"

#define ASK_DOUBLINGS 6u /* maximum number of doublings of the interval between two requests */

void sctp_receipts_agree(struct sctp_assoc *a, const struct wire_sctp_receipts *peer)
{
	const struct wire_sctp_receipts *ours = &a->s->config.receipts;

	a->receipts = (struct sctp_receipts){ .placed = a->out.cum };
	if (!ours->version || !peer->version)
		return;
	a->receipts.agreed = (struct wire_sctp_receipts){
		.version = ours->version < peer->version ? ours->version : peer->version,
		.srq_numbers = ours->srq_numbers && peer->srq_numbers,
		.cm_messages = ours->cm_messages && peer->cm_messages,
		.asks = ours->asks && peer->asks,
		.window = peer->window,
	};
}

/* ---- local receipts ---- */

static bool is_unsent(const struct sctp_assoc *a)
{
	return a->s->ops.receipt_due && a->user && a->s->ops.receipt_due(a->user);
}

size_t sctp_receipts_hold_len(const struct sctp_assoc *a)
{
	const struct sctp_receipts *r = &a->receipts;

	if (!r->agreed.version)
		return 0;
	if ((r->sent && serial32_lt(a->out.cum, r->last_tsn)) || is_unsent(a))
		return WIRE_SCTP_HOLD_LEN;
	return 0;
}

void sctp_receipts_sack_sent(struct sctp_assoc *a, uint8_t *p, size_t len)
{
	struct sctp_receipts *r = &a->receipts;

	r->again = len && is_unsent(a);
	if (len) /* if no receipt is outstanding, use a TSN that has arrived already */
		wire_sctp_hold_put(p, r->again ? WIRE_SCTP_HOLD_UNSENT : 0,
				   r->sent ? r->last_tsn : a->out.cum);
}

bool sctp_receipts_sack_is_due(const struct sctp_assoc *a)
{
	return a->receipts.again && !is_unsent(a);
}

void sctp_receipts_sent(struct sctp_assoc *a, uint32_t tsn)
{
	a->receipts.sent = true;
	a->receipts.last_tsn = tsn;
}

/* ---- the peer's receipts ---- */

void sctp_receipts_hold(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	if (c->flags & WIRE_SCTP_HOLD_ASK) {
		if (sctp_in_states(in->a, SCTP_STATES_RECEIVE)) {
			in->a->pending |= SCTP_PEND_SACK;
			sctp_assoc_ready(in->a);
		}
		if (!(c->flags & WIRE_SCTP_HOLD_UNSENT))
			return;
	}
	if (c->len < WIRE_SCTP_HOLD_LEN) /* without a TSN, treat it as unsent */
		in->hold_unsent = true;
	else if (c->flags & WIRE_SCTP_HOLD_UNSENT)
		in->hold_unsent = true;
	else
		in->hold_tsn = get_be32(wire_sctp_value(c));
	in->hold = true;
}

static void place(struct sctp_receipts *r, uint32_t cum)
{
	if (serial32_gt(cum, r->placed))
		r->placed = cum;
}

static void keep(struct sctp_receipts *r, const struct sctp_hold *hold)
{
	if (!r->oldest.on)
		r->oldest = *hold;
	else if (!r->newest.on || serial32_ge(hold->cum, r->newest.cum))
		r->newest = *hold;
}

/* True if an acknowledged message is not proved to be placed. */
static bool is_in_doubt(const struct sctp_assoc *a)
{
	return serial32_gt(a->out.cum, a->receipts.placed) && sctp_in_states(a, SCTP_STATES_SEND);
}

/*
 * Starts the timer for a request. The wait is longer than the peer delays its SACKs, and doubles
 * with each request.
 */
static void arm(struct sctp_assoc *a, uint64_t now)
{
	unsigned int doublings = a->receipts.asked < ASK_DOUBLINGS ? a->receipts.asked :
								     ASK_DOUBLINGS;
	uint64_t wait = 2 * a->path->rtt.srtt + SCTP_SACK_DELAY;

	sctp_timer_set(a, SCTP_TIMER_RECEIPTS, now + (wait << doublings));
}

static void take_sack(struct sctp_in *in)
{
	const struct sctp_hold hold = { true, in->sack_cum, in->hold_tsn };
	struct sctp_receipts *r = &in->a->receipts;

	/* Compare now, not later: TSNs are compared modulo 2^32. */
	if (r->sent && serial32_ge(in->a->out.cum, r->last_tsn))
		r->sent = false;
	if (!in->hold)
		place(r, in->sack_cum);
	else if (!in->hold_unsent)
		keep(r, &hold);
}

void sctp_receipts_sacked(struct sctp_in *in)
{
	struct sctp_receipts *r = &in->a->receipts;

	if (!r->agreed.version)
		return;
	if (in->sacked)
		take_sack(in);
	if (!in->rx->count) /* the user has all DATA; otherwise the user makes this call (sctp.h) */
		sctp_assoc_release_holds(in->a);
	if (!is_in_doubt(in->a))
		r->asked = 0;
	else if (!sctp_timer_runs(in->a, SCTP_TIMER_RECEIPTS))
		arm(in->a, in->now);
}

void sctp_receipts_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_receipts *r = &a->receipts;

	if (!is_in_doubt(a)) {
		r->asked = 0;
		return;
	}
	/* A waiting SACK will prove placement, although perhaps not of all messages in doubt. */
	if (!r->oldest.on) {
		r->asked++;
		a->pending |= SCTP_PEND_ASK;
		sctp_assoc_ready(a);
	}
	arm(a, now);
}

size_t sctp_receipts_ask_put(uint8_t *p)
{
	wire_sctp_hold_put(p, WIRE_SCTP_HOLD_ASK, 0);
	return WIRE_SCTP_HOLD_LEN;
}

bool sctp_assoc_release_holds(struct sctp_assoc *a)
{
	struct sctp_receipts *r = &a->receipts;
	uint32_t before = r->placed;

	while (r->oldest.on && serial32_ge(a->rx.map.cum, r->oldest.tsn)) {
		place(r, r->oldest.cum);
		r->oldest = r->newest;
		r->newest.on = false;
	}
	return r->placed != before;
}

uint32_t sctp_assoc_placed(const struct sctp_assoc *a)
{
	if (!a->receipts.agreed.version)
		return sctp_assoc_acked(a);
	return a->receipts.placed + 1 - a->setup.init_tsn;
}

bool sctp_assoc_has_receipts(const struct sctp_assoc *a, uint32_t *window)
{
	*window = a->receipts.agreed.window;
	return a->receipts.agreed.version;
}

const struct wire_sctp_receipts *sctp_assoc_agreed(const struct sctp_assoc *a)
{
	return a->receipts.agreed.version ? &a->receipts.agreed : NULL;
}
