/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/rx.h"

#include <errno.h>

#include "sctp/control.h"
#include "sctp/input.h"
#include "util/serial.h"

static void note_duplicate(struct sctp_in *in, uint32_t tsn)
{
	struct sctp_assoc *a = in->a;

	in->s->stats.duplicates++;
	if (a->rx.ack.dup_count < SCTP_DUPS_MAX)
		a->rx.ack.dups[a->rx.ack.dup_count++] = tsn;
	in->sack_now = true;
}

static void deliver(struct sctp_rx *rx, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    uint32_t len)
{
	rx->data[rx->count++] = (struct sctp_data){ sid, ppid, len, data };
}

/* Handles a fragment of a message. Returns true if the chunk counts as received. */
static bool reassemble(struct sctp_in *in, const struct wire_sctp_data *d)
{
	struct sctp_assoc *a = in->a;
	struct sctp_reasm_message *m;
	int ret = sctp_reasm_add(&a->rx.reasm, d, d->tsn == a->rx.map.cum + 1, &m);

	if (ret == -ENOBUFS)
		return false;
	if (ret < 0) {
		sctp_close_fail(
			a, ret == -EMSGSIZE ? WIRE_SCTP_CAUSE_RESOURCE : WIRE_SCTP_CAUSE_PROTOCOL,
			NULL, 0, -EPROTO);
		return false;
	}
	if (ret > 0) {
		m->next = in->s->reassembled;
		in->s->reassembled = m;
		deliver(in->rx, m->sid, m->ppid, m->data, m->len);
	}
	return true;
}

/*
 * Handles a chunk for a stream that does not exist: reports it. The chunk is acknowledged, but not
 * delivered (6.5).
 */
static void invalid_stream(struct sctp_in *in, const struct wire_sctp_data *d)
{
	uint8_t info[4] = { 0 };

	put_be16(info, d->sid);
	sctp_control_error(in->a, WIRE_SCTP_CAUSE_STREAM, info, sizeof(info));
}

/*
 * True if the chunk must be dropped because the window is 0 (6.2). A chunk is accepted if it
 * continues the message whose fragments fill the window, since otherwise the window would never
 * open again.
 */
static bool no_window(const struct sctp_assoc *a, const struct wire_sctp_data *d)
{
	return a->rx.reasm.bytes && !sctp_assoc_rwnd(a) && serial32_gt(d->tsn, a->rx.map.highest) &&
	       (d->tsn != a->rx.map.cum + 1 || d->flags & WIRE_SCTP_DATA_B);
}

/* Called unless the chunk is simply the next one. True if it is new and may be accepted. */
static bool is_new(struct sctp_in *in, const struct wire_sctp_data *d)
{
	switch (sctp_rxmap_check(&in->a->rx.map, d->tsn)) {
	case SCTP_RXMAP_DUPLICATE:
		note_duplicate(in, d->tsn);
		return false;
	case SCTP_RXMAP_BEYOND:
		in->sack_now = true;
		return false;
	default:
		return true;
	}
}

void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const uint8_t whole = WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E;
	struct sctp_assoc *a = in->a;
	struct wire_sctp_data d;
	uint8_t tsn[4];
	bool next;

	if (!wire_sctp_data_get(c, &d)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	if (!d.len) {
		put_be32(tsn, d.tsn);
		sctp_close_fail(a, WIRE_SCTP_CAUSE_NO_DATA, tsn, sizeof(tsn), -EPROTO);
		return;
	}
	in->data = true;
	if (d.flags & WIRE_SCTP_DATA_I)
		in->sack_asked = true;
	next = sctp_rxmap_is_next(&a->rx.map, d.tsn);
	if (!next && !is_new(in, &d))
		return;
	if (no_window(a, &d)) {
		in->sack_now = true;
		return;
	}
	/* This never happens: a datagram or IP packet has fewer chunks than SCTP_RX_MAX. */
	if (in->rx->count == SCTP_RX_MAX)
		return;
	/*
	 * Ordered chunks (U = 0) are delivered in the order of arrival as well. With RFC 5043, DDP
	 * orders messages by the DDP-SSN in them, independently of the transport.
	 */
	if (d.sid >= a->in_streams)
		invalid_stream(in, &d);
	else if ((d.flags & whole) == whole)
		deliver(in->rx, d.sid, d.ppid, d.data, d.len);
	else if (!reassemble(in, &d))
		return;
	if (next)
		sctp_rxmap_add_next(&a->rx.map, d.tsn);
	else
		sctp_rxmap_add(&a->rx.map, d.tsn);
}

/*
 * True if a SACK is due. Every second packet gets a SACK (RFC 9260 6.2). If both sides have agreed
 * that the sender requests SACKs, the second packet gets a SACK only after a request; otherwise the
 * 88th packet does. A packet that closes a gap gets a SACK at once. Its sender may have nothing
 * else to send, and has not requested a SACK.
 */
static bool is_due(const struct sctp_assoc *a, bool gap)
{
	const struct sctp_ack_debt *ack = &a->rx.ack;

	if (gap || !ack->sacked_once)
		return true;
	if (!a->receipts.agreed.asks)
		return ack->packets >= 2;
	return ack->gap || ack->packets >= (ack->asked ? 2 : SCTP_UNASKED_PACKETS);
}

void sctp_rx_packet_done(struct sctp_in *in)
{
	struct sctp_assoc *a = in->a;
	bool gap = sctp_rxmap_has_gap(&a->rx.map);

	sctp_path_data(in);
	a->rx.ack.packets++;
	if (in->sack_asked)
		a->rx.ack.asked = true;
	a->paths.sack_path = sctp_in_elsewhere(in) ? in->path : NULL;
	/*
	 * A SACK leaves at once if the peer needs it to repair a loss, for the first DATA (5.1),
	 * and after enough packets. All packets of a received batch share one SACK, which is sent
	 * after the batch. If a single packet requests a SACK, the SACK waits for the user's answer
	 * to that packet: see sctp_flush_sacks().
	 */
	if (in->sack_now || is_due(a, gap)) {
		a->pending |= SCTP_PEND_SACK;
		sctp_assoc_ready(a);
	} else {
		if (in->sack_asked && !list_linked(&a->asked_node))
			list_add_tail(&in->s->asked, &a->asked_node);
		if (!sctp_timer_runs(a, SCTP_TIMER_SACK))
			sctp_timer_set(a, SCTP_TIMER_SACK, in->now + in->s->config.sack_delay);
	}
	a->rx.ack.gap = gap;
	if (a->state == SCTP_SHUTDOWN_SENT)
		sctp_close_data(a, in->now);
}

bool sctp_has_asked(const struct sctp *s)
{
	return !list_empty(&s->asked);
}

void sctp_flush_sacks(struct sctp *s)
{
	struct list_node *node;

	while ((node = list_pop(&s->asked))) {
		struct sctp_assoc *a = list_entry(node, struct sctp_assoc, asked_node);

		a->pending |= SCTP_PEND_SACK;
		sctp_assoc_ready(a);
	}
}

struct sctp_sack_plan sctp_rx_sack_plan(struct sctp_assoc *a, size_t room)
{
	struct sctp_sack_plan plan = { .dups = a->rx.ack.dup_count };
	size_t max;

	if (room < WIRE_SCTP_SACK_LEN)
		return (struct sctp_sack_plan){ 0 };
	max = (room - WIRE_SCTP_SACK_LEN) / 4;
	if (sctp_rxmap_has_gap(&a->rx.map)) {
		if (max > SCTP_RXMAP_RANGE / 2)
			max = SCTP_RXMAP_RANGE / 2;
		plan.gaps = sctp_rxmap_gaps(&a->rx.map, a->s->gaps, (unsigned int)max);
	}
	if (plan.dups > max - plan.gaps)
		plan.dups = (unsigned int)max - plan.gaps;
	plan.len = WIRE_SCTP_SACK_LEN + 4 * ((size_t)plan.gaps + plan.dups);
	return plan;
}

void sctp_rx_sack_put(const struct sctp_assoc *a, const struct sctp_sack_plan *plan, uint8_t *p)
{
	wire_sctp_sack_put(p, a->rx.map.cum, sctp_assoc_rwnd(a), a->s->gaps, plan->gaps,
			   a->rx.ack.dups, plan->dups);
}

void sctp_rx_sack_sent(struct sctp_assoc *a)
{
	a->pending &= ~SCTP_PEND_SACK;
	a->rx.ack.packets = 0;
	a->rx.ack.asked = false;
	a->rx.ack.dup_count = 0;
	a->rx.ack.sacked_once = true;
	list_del(&a->asked_node);
	sctp_timer_stop(a, SCTP_TIMER_SACK);
}

void sctp_rx_restart(struct sctp_assoc *a)
{
	sctp_reasm_clear(&a->rx.reasm);
	a->rx.ack = (struct sctp_ack_debt){ 0 };
}

void sctp_rx_fini(struct sctp_assoc *a)
{
	sctp_reasm_clear(&a->rx.reasm);
	sctp_rxmap_fini(&a->rx.map);
}
