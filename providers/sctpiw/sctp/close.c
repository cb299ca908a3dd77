/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/close.h"

#include <errno.h>

#include "sctp/input.h"
#include "sctp/sack.h"
#include "util/trace.h"

static void arm_t2(struct sctp_assoc *a, uint64_t now)
{
	sctp_timer_set(a, SCTP_TIMER_SETUP, now + sctp_rtt_rto(&a->path->rtt));
}

/* Enters a state whose chunk is sent again until it is answered. */
static void enter(struct sctp_assoc *a, enum sctp_state state, unsigned int chunk, uint64_t now)
{
	a->state = state;
	a->pending &= ~(SCTP_PEND_SHUTDOWN | SCTP_PEND_SHUTDOWN_ACK);
	a->pending |= chunk;
	a->closing.progress = now;
	a->closing.tries = 0;
	arm_t2(a, now);
	sctp_assoc_ready(a);
}

void sctp_close_drained(struct sctp_assoc *a, uint64_t now)
{
	if (sctp_outq_count(&a->out))
		return;
	if (a->state == SCTP_SHUTDOWN_PENDING)
		enter(a, SCTP_SHUTDOWN_SENT, SCTP_PEND_SHUTDOWN, now);
	else if (a->state == SCTP_SHUTDOWN_RECEIVED)
		enter(a, SCTP_SHUTDOWN_ACK_SENT, SCTP_PEND_SHUTDOWN_ACK, now);
}

/* True if the peer opened the association, and was silent since: a SHUTDOWN may get no answer. */
static bool is_of_stranger(const struct sctp_assoc *a)
{
	return !a->path->health.proof && !sctp_outq_count(&a->out) &&
	       a->rx.map.highest == a->setup.peer_init_tsn - 1;
}

void sctp_assoc_shutdown(struct sctp_assoc *a, uint64_t now)
{
	if (sctp_in_states(a, SCTP_STATES_SETUP) || is_of_stranger(a)) { /* no DATA to wait for */
		sctp_ootb_assoc(a, WIRE_SCTP_ABORT, WIRE_SCTP_CAUSE_USER_ABORT, NULL, 0);
		sctp_assoc_end(a, 0);
	} else if (a->state == SCTP_ESTABLISHED) {
		a->closing.since = now;
		a->state = SCTP_SHUTDOWN_PENDING;
		sctp_close_drained(a, now);
	}
}

void sctp_close_timeout(struct sctp_assoc *a, uint64_t now)
{
	/* A time limits the silence of the peer, not Association.Max.Retrans (see path.c). */
	a->closing.tries++;
	if (a->closing.tries >= SCTP_SILENT_PROBES &&
	    now - a->closing.progress >= a->s->config.silent_limit) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	sctp_rtt_backoff(&a->path->rtt);
	a->path->health.errors++;
	TRACE(path_failed, now, .assoc = a->local_tag, .remote = &a->path->addr.remote,
	      .errors = a->path->health.errors);
	sctp_paths_fail_over(a, now);
	a->pending |= a->state == SCTP_SHUTDOWN_SENT ? SCTP_PEND_SHUTDOWN : SCTP_PEND_SHUTDOWN_ACK;
	arm_t2(a, now);
	sctp_assoc_ready(a);
}

void sctp_close_data(struct sctp_assoc *a, uint64_t now)
{
	a->closing.progress = now;
	a->closing.tries = 0;
	a->pending |= SCTP_PEND_SHUTDOWN;
	/* With gaps or duplicates, a SACK must leave too: a SHUTDOWN cannot report them (9.2). */
	if (!sctp_rxmap_has_gap(&a->rx.map) && !a->rx.ack.dup_count)
		sctp_rx_sack_sent(a);
	arm_t2(a, now);
	sctp_assoc_ready(a);
}

void sctp_close_shutdown(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;

	if (c->len < 8)
		return;
	switch (a->state) {
	case SCTP_SHUTDOWN_SENT: /* both sides began a shutdown at the same time (9.2) */
		enter(a, SCTP_SHUTDOWN_ACK_SENT, SCTP_PEND_SHUTDOWN_ACK, in->now);
		return;
	case SCTP_SHUTDOWN_ACK_SENT:
		a->pending |= SCTP_PEND_SHUTDOWN_ACK;
		sctp_assoc_ready(a);
		return;
	case SCTP_ESTABLISHED:
	case SCTP_SHUTDOWN_PENDING:
		a->closing.since = in->now;
		a->state = SCTP_SHUTDOWN_RECEIVED;
		sctp_assoc_event(a, SCTP_EVENT_SHUTDOWN);
		break;
	default:
		break;
	}
	sctp_sack_cum_only(in, get_be32(c->raw + 4));
	if (a->state != SCTP_CLOSED)
		sctp_close_drained(a, in->now);
}

void sctp_close_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	sctp_ootb_assoc(in->a, WIRE_SCTP_SHUTDOWN_COMPLETE, 0, NULL, 0);
	sctp_assoc_end(in->a, 0);
}

void sctp_close_shutdown_complete(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	sctp_assoc_end(in->a, 0);
}

/* Stores the Upper Layer Abort Reason (3.3.10.12) if it is short printable text. */
static void keep_reason(struct sctp_assoc *a, const struct wire_sctp_chunk *c)
{
	const uint8_t *p = c->raw + WIRE_SCTP_CHUNK_LEN, *end = c->raw + c->len;
	struct wire_sctp_cause_tlv cause;
	size_t i;

	while (wire_sctp_cause_next(&p, end, &cause)) {
		if (cause.code != WIRE_SCTP_CAUSE_USER_ABORT || cause.len >= SCTP_REASON_LEN)
			continue;
		for (i = 0; i < cause.len && cause.info[i] >= ' ' && cause.info[i] <= '~'; i++)
			a->setup.reason[i] = (char)cause.info[i];
		a->setup.reason[i < cause.len ? 0 : i] = 0;
		return;
	}
}

void sctp_close_abort(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	bool setup = sctp_in_states(in->a, SCTP_STATES_SETUP);

	in->s->stats.aborts_in++;
	/*
	 * Ignore an ABORT from a known other address of the peer. There may be a listener at the
	 * address that the user has named.
	 */
	if (in->a->state == SCTP_COOKIE_WAIT && in->path && in->path->known)
		return;
	if (setup) {
		in->a->setup.doubt = (struct sctp_doubt){ 0 };
		keep_reason(in->a, c);
	}
	/*
	 * If the peer has sent an INIT ACK, the association may have existed at the peer, and ended
	 * before the COOKIE ACK arrived. So the error is not -ECONNREFUSED.
	 */
	sctp_assoc_end(in->a, in->a->state == SCTP_COOKIE_WAIT ? -ECONNREFUSED : -ECONNRESET);
}

void sctp_close_fail(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len, int error)
{
	if (a->state == SCTP_CLOSED)
		return;
	sctp_ootb_assoc(a, WIRE_SCTP_ABORT, cause, info, len);
	sctp_assoc_end(a, error);
}
