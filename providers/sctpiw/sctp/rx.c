/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* DATA that arrives, and the SACKs that it asks for (RFC 9260 6.2). */
#include <errno.h>

#include "sctp/internal.h"
#include "util/serial.h"

static void note_duplicate(struct sctp_in *in, uint32_t tsn)
{
	struct sctp_assoc *a = in->a;

	in->s->stats.duplicates++;
	if (a->dup_count < SCTP_DUPS_MAX)
		a->dups[a->dup_count++] = tsn;
	in->sack_now = true;
}

static void deliver(struct sctp_rx *rx, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    uint32_t len)
{
	rx->data[rx->count++] = (struct sctp_data){ sid, ppid, len, data };
}

/* A fragment of a message. Returns whether it may count as received. */
static bool reassemble(struct sctp_in *in, const struct wire_sctp_data *d)
{
	struct sctp_assoc *a = in->a;
	struct sctp_reasm_message *m;
	int ret = sctp_reasm_add(&a->reasm, d, d->tsn == a->rxmap.cum + 1, &m);

	if (ret == -ENOBUFS)
		return false;
	if (ret < 0) {
		sctp_close_fail(a, ret == -EMSGSIZE ? WIRE_SCTP_CAUSE_RESOURCE :
						      WIRE_SCTP_CAUSE_PROTOCOL,
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

/* The stream does not exist: acknowledged, reported, not delivered (6.5). */
static void invalid_stream(struct sctp_in *in, const struct wire_sctp_data *d)
{
	uint8_t info[4] = { 0 };

	put_be16(info, d->sid);
	sctp_control_error(in->a, WIRE_SCTP_CAUSE_STREAM, info, sizeof(info));
}

/*
 * At a window of 0 what lies above the highest TSN is dropped (6.2), but for what carries on the
 * message that fills it: nothing else would ever open it again.
 */
static bool no_window(const struct sctp_assoc *a, const struct wire_sctp_data *d)
{
	return a->reasm.bytes && !sctp_assoc_rwnd(a) && serial32_gt(d->tsn, a->rxmap.highest) &&
	       (d->tsn != a->rxmap.cum + 1 || d->flags & WIRE_SCTP_DATA_B);
}

void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const uint8_t whole = WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E;
	struct sctp_assoc *a = in->a;
	struct wire_sctp_data d;
	uint8_t tsn[4];

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
		in->sack_now = true;
	switch (sctp_rxmap_check(&a->rxmap, d.tsn)) {
	case SCTP_RXMAP_DUPLICATE:
		note_duplicate(in, d.tsn);
		return;
	case SCTP_RXMAP_BEYOND:
		in->sack_now = true;
		return;
	case SCTP_RXMAP_NEW:
		break;
	}
	if (no_window(a, &d)) {
		in->sack_now = true;
		return;
	}
	/* SCTP_RX_MAX is more than a datagram holds; one over IP could not be larger either. */
	if (in->rx->count == SCTP_RX_MAX)
		return;
	/*
	 * Ordered chunks (U = 0) are delivered as they come too: RFC 5043 has DDP
	 * order by the DDP-SSN inside the message, whatever the transport did.
	 */
	if (d.sid >= a->in_streams)
		invalid_stream(in, &d);
	else if ((d.flags & whole) == whole)
		deliver(in->rx, d.sid, d.ppid, d.data, d.len);
	else if (!reassemble(in, &d))
		return;
	sctp_rxmap_add(&a->rxmap, d.tsn);
}

void sctp_rx_packet_done(struct sctp_in *in)
{
	struct sctp_assoc *a = in->a;

	sctp_path_data(in);
	a->unsacked++;
	a->sack_from = in->other && in->path ? (unsigned int)(in->path - a->other) + 1 : 0;
	/*
	 * At once: what the peer must know to repair a loss, the first DATA of all
	 * (5.1), and every second packet; all within one batch of packets
	 * share a SACK, since it leaves with the output behind the batch.
	 */
	if (in->sack_now || sctp_rxmap_has_gap(&a->rxmap) || a->unsacked >= 2 || !a->sacked_once) {
		a->pending |= SCTP_PEND_SACK;
		sctp_assoc_ready(a);
	} else if (!sctp_timer_runs(a, SCTP_TIMER_SACK)) {
		sctp_timer_set(a, SCTP_TIMER_SACK, in->now + in->s->config.sack_delay);
	}
	if (a->state == SCTP_SHUTDOWN_SENT)
		sctp_close_data(a, in->now);
}

bool sctp_rx_sack_waits(const struct sctp_assoc *a)
{
	return a->unsacked || a->pending & SCTP_PEND_SACK;
}

size_t sctp_rx_sack_put(struct sctp_assoc *a, uint8_t *p, size_t room)
{
	struct wire_sctp_gap *gaps = a->s->gaps;
	unsigned int ngaps = 0, ndups = a->dup_count;
	size_t max;

	if (room < WIRE_SCTP_SACK_LEN)
		return 0;
	max = (room - WIRE_SCTP_SACK_LEN) / 4;
	if (sctp_rxmap_has_gap(&a->rxmap)) {
		if (max > SCTP_RXMAP_RANGE / 2)
			max = SCTP_RXMAP_RANGE / 2;
		ngaps = sctp_rxmap_gaps(&a->rxmap, gaps, (unsigned int)max);
	}
	if (ndups > max - ngaps)
		ndups = (unsigned int)max - ngaps;
	return wire_sctp_sack_put(p, a->rxmap.cum, sctp_assoc_rwnd(a), gaps, ngaps, a->dups, ndups);
}

void sctp_rx_sack_sent(struct sctp_assoc *a)
{
	a->pending &= ~SCTP_PEND_SACK;
	a->unsacked = 0;
	a->dup_count = 0;
	a->sacked_once = true;
	sctp_timer_stop(a, SCTP_TIMER_SACK);
}
