/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/inflight.h"

#include "sctp/assoc.h"
#include "sctp/void.h"
#include "util/serial.h"

/* Returns the bytes of the peer's window for a chunk. A first chunk includes packet overhead. */
static uint32_t charge(const struct sctp_out *o)
{
	return o->len + (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
}

/* These two functions count the bytes of chunks in flight. Other code only resets the counters. */
static void enter_flight(struct sctp_assoc *a, const struct sctp_out *o)
{
	uint32_t bytes = charge(o);

	sctp_path_of(a, o)->flight += o->len;
	a->window.rwnd_outstanding += bytes;
	a->s->in_flight += bytes;
}

static void leave_flight(struct sctp_assoc *a, const struct sctp_out *o)
{
	uint32_t bytes = charge(o);

	sctp_path_of(a, o)->flight -= o->len;
	a->window.rwnd_outstanding -= bytes;
	a->s->in_flight -= bytes;
}

uint32_t sctp_in_flight(const struct sctp *s)
{
	return s->in_flight;
}

void sctp_inflight_start(struct sctp_assoc *a, uint32_t initial_tsn)
{
	sctp_outq_init(&a->out, initial_tsn);
	a->inflight = (struct sctp_inflight){
		.lost_from = initial_tsn,
		.gap_end = a->out.cum,
	};
}

void sctp_inflight_sent(struct sctp_assoc *a, struct sctp_path *path, struct sctp_out *o,
			bool first, uint64_t now)
{
	if (o->flags & SCTP_OUT_RESENT && o->path != path->id)
		o->flags |= SCTP_OUT_MOVED;
	o->path = path->id;
	if (first) {
		a->inflight.xmit_seq++;
		path->counts.packets++;
		o->flags |= SCTP_OUT_FIRST;
	}
	o->xmit_seq = a->inflight.xmit_seq;
	o->sent = now;
	o->miss = 0;
	path->counts.bytes += o->len;
	enter_flight(a, o);
}

void sctp_inflight_resent(struct sctp_assoc *a, struct sctp_out *o)
{
	o->flags &= (uint8_t) ~(SCTP_OUT_LOST | SCTP_OUT_FIRST);
	o->flags |= SCTP_OUT_RESENT;
	a->inflight.lost--;
}

void sctp_inflight_probed(struct sctp_assoc *a, struct sctp_out *o, uint64_t now)
{
	o->flags |= SCTP_OUT_RESENT;
	/*
	 * Enough time has passed for the earlier transmissions. So an acknowledgement belongs to
	 * this one, and may reveal losses on this path.
	 */
	o->flags &= (uint8_t)~SCTP_OUT_MOVED;
	o->xmit_seq = ++a->inflight.xmit_seq;
	o->sent = now;
}

/* Called when a chunk, in flight or lost, has arrived. */
static void arrived(struct sctp_assoc *a, struct sctp_out *o)
{
	if (o->flags & SCTP_OUT_LOST) {
		o->flags &= (uint8_t)~SCTP_OUT_LOST;
		a->inflight.lost--;
	} else {
		leave_flight(a, o);
	}
}

void sctp_inflight_acked(struct sctp_assoc *a, struct sctp_out *o)
{
	arrived(a, o);
	o->flags |= SCTP_OUT_ACKED;
	a->inflight.gap_acked++;
}

void sctp_inflight_passed(struct sctp_assoc *a, struct sctp_out *o)
{
	if (o->flags & SCTP_OUT_ACKED)
		a->inflight.gap_acked--;
	else
		arrived(a, o);
	if (o->flags & SCTP_OUT_REFERENCED)
		a->inflight.referenced--;
	sctp_block_unref(&a->s->blocks, o->block);
}

void sctp_inflight_advance(struct sctp_assoc *a, uint32_t cum)
{
	a->out.cum = cum;
	if (serial32_lt(a->inflight.gap_end, cum))
		a->inflight.gap_end = cum;
	if (serial32_le(a->inflight.lost_from, cum))
		a->inflight.lost_from = cum + 1;
}

void sctp_inflight_renege(struct sctp_assoc *a, uint32_t from, uint32_t to)
{
	uint32_t tsn;

	for (tsn = from; a->inflight.gap_acked && serial32_lt(tsn, to); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_ACKED))
			continue;
		o->flags &= (uint8_t)~SCTP_OUT_ACKED;
		a->inflight.gap_acked--;
		if (!sctp_path_of(a, o)->joined) /* no timer waits for DATA on its path any more */
			o->path = a->path->id;
		enter_flight(a, o);
	}
}

void sctp_inflight_withdraw(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o)
{
	o->flags |= SCTP_OUT_LOST;
	leave_flight(a, o);
	if (o->flags & SCTP_OUT_VOID)
		o->len = SCTP_VOID_CHUNK_LEN;
	if (!a->inflight.lost++ || serial32_lt(tsn, a->inflight.lost_from))
		a->inflight.lost_from = tsn;
}

void sctp_inflight_lost(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o)
{
	if (o->flags & (SCTP_OUT_LOST | SCTP_OUT_ACKED))
		return;
	if (o->flags & SCTP_OUT_REFERENCED)
		sctp_zcopy_lost(a);
	a->counts.lost++;
	a->s->stats.lost++;
	sctp_path_of(a, o)->counts.lost++;
	sctp_inflight_withdraw(a, tsn, o);
}

void sctp_inflight_void(struct sctp_out *o)
{
	o->flags |= SCTP_OUT_VOID;
	if (o->flags & (SCTP_OUT_LOST | SCTP_OUT_ACKED))
		o->len = SCTP_VOID_CHUNK_LEN;
}

void sctp_inflight_path_lost(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint32_t tsn;

	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++)
		if (sctp_path_of(a, sctp_outq_at(&a->out, tsn)) == path)
			sctp_inflight_lost(a, tsn, sctp_outq_at(&a->out, tsn));
}

void sctp_inflight_forget_path(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint32_t tsn;

	sctp_inflight_path_lost(a, path);
	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (o->path != path->id)
			continue;
		o->path = a->path->id;
		o->flags |= SCTP_OUT_MOVED;
	}
}

void sctp_inflight_one_path(struct sctp_assoc *a)
{
	uint32_t tsn;

	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++)
		sctp_outq_at(&a->out, tsn)->path = a->path->id;
}
