/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builds one packet. It has control chunks first, then a SACK if one is due, then lost chunks in
 * TSN order, then new chunks, which the user writes in place (RFC 9260 6.1, 6.10).
 */
#include "sctp/tx_build.h"

#include <assert.h>

#include "sctp/control.h"
#include "sctp/void.h"
#include "wire/sctp_init.h"

static void common_header(struct sctp_tx *tx, uint32_t tag)
{
	const struct wire_sctp_common h = { tx->a->ep->port, tx->a->remote_port, tag };

	wire_sctp_common_put(tx->pkt.p, &h);
	tx->pkt.len = WIRE_SCTP_COMMON_LEN;
}

static uint8_t *packet_end(const struct sctp_tx *tx)
{
	return tx->pkt.p + tx->pkt.len;
}

static size_t build_init(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	if (!(a->pending & SCTP_PEND_INIT))
		return 0;
	common_header(tx, 0);
	tx->pkt.alone = true;
	return tx->pkt.len + sctp_handshake_init_put(a, packet_end(tx));
}

/* If the chunk is pending, writes it. The chunk has no value. */
static void put_short(struct sctp_tx *tx, unsigned int pending, uint8_t type)
{
	if (!(tx->a->pending & pending))
		return;
	tx->a->pending &= ~pending;
	wire_sctp_chunk_put(packet_end(tx), type, 0, WIRE_SCTP_CHUNK_LEN);
	tx->pkt.len += WIRE_SCTP_CHUNK_LEN;
}

static void put_answers(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	if (!a->control)
		return;
	if (tx->pkt.len + a->control->used <= tx->pkt.limit) {
		memcpy(packet_end(tx), a->control->data, a->control->used);
		tx->pkt.len += a->control->used;
		sctp_control_clear(a);
	} else if (!sctp_control_fits(a)) { /* the path MTU has become smaller */
		sctp_control_clear(a);
	}
}

static void put_control(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	put_short(tx, SCTP_PEND_COOKIE_ACK, WIRE_SCTP_COOKIE_ACK);
	put_answers(tx);
	if (a->pending & SCTP_PEND_HEARTBEAT) {
		a->pending &= ~SCTP_PEND_HEARTBEAT;
		tx->pkt.len += sctp_path_heartbeat_put(a, a->path, packet_end(tx), tx->now);
		/* End the packet here: the answer must prove that small packets arrive. */
		tx->pkt.alone = true;
	}
	if (a->pending & SCTP_PEND_SHUTDOWN) {
		a->pending &= ~SCTP_PEND_SHUTDOWN;
		wire_sctp_chunk_put(packet_end(tx), WIRE_SCTP_SHUTDOWN, 0, 8);
		put_be32(packet_end(tx) + WIRE_SCTP_CHUNK_LEN, a->rx.map.cum);
		tx->pkt.len += 8;
	}
	if (a->pending & SCTP_PEND_ASK) {
		a->pending &= ~SCTP_PEND_ASK;
		tx->pkt.len += sctp_receipts_ask_put(packet_end(tx));
	}
	put_short(tx, SCTP_PEND_SHUTDOWN_ACK, WIRE_SCTP_SHUTDOWN_ACK);
}

/* Shrinks cwnd if the path was idle (7.2.1). Called before DATA is sent. */
static void after_idle(struct sctp_path *path, uint64_t now)
{
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t rtos;

	if (!path->flight && path->last_data && now - path->last_data >= rto) {
		rtos = (now - path->last_data) / rto;
		sctp_cc_idle(&path->cc, rtos < 64 ? (unsigned int)rtos : 64);
	}
	path->last_data = now;
}

/* Counts chunk o as sent. The chunk is now at the end of the packet. */
static inline void note_sent(struct sctp_tx *tx, struct sctp_out *o)
{
	bool first = !tx->pkt.counted;

	if (first) {
		tx->pkt.counted = true;
		after_idle(tx->path, tx->now);
	}
	sctp_inflight_sent(tx->a, tx->path, o, first, tx->now);
}

/*
 * Copies the image of a chunk that was sent before, or its replacement if it is void, to the end of
 * the packet.
 */
static void copy_chunk(struct sctp_tx *tx, struct sctp_out *o)
{
	tx->pkt.last_data = packet_end(tx);
	if (o->flags & SCTP_OUT_VOID) {
		sctp_void_put(tx->a, o, tx->pkt.last_data);
	} else {
		sctp_zcopy_copy_out(tx->a, o);
		memcpy(tx->pkt.last_data, o->chunk, o->len);
	}
	tx->pkt.last_data[1] &= (uint8_t)~WIRE_SCTP_DATA_I;
	tx->pkt.len += sctp_void_len(o);
}

/*
 * True if a chunk that was sent before fits into the packet. If it exceeds the path MTU, the chunk
 * gets a packet without other chunks (6.9).
 */
static bool chunk_fits(struct sctp_tx *tx, const struct sctp_out *o)
{
	if (tx->pkt.len + sctp_void_len(o) <= tx->pkt.limit)
		return true;
	if (tx->pkt.len > WIRE_SCTP_COMMON_LEN || tx->built)
		return false;
	tx->pkt.alone = true;
	tx->pkt.oversize = true;
	return true;
}

static void put_lost(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_path *path = tx->path;
	uint32_t tsn;

	if (!a->inflight.lost)
		return;
	if (sctp_window_cwnd_full(path) && !path->recovery.now.cwnd_exempt) {
		path->recovery.now.cwnd_limited = true;
		return;
	}
	for (tsn = a->inflight.lost_from; a->inflight.lost && !tx->pkt.alone && tsn != a->out.next;
	     tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_LOST))
			continue;
		if (!chunk_fits(tx, o))
			break;
		copy_chunk(tx, o);
		a->s->stats.resent++;
		a->counts.resent++;
		sctp_inflight_resent(a, o);
		/*
		 * Karn's rule, also for chunks sent later (6.3.1 C5). If the chunk moves, this
		 * holds for both paths.
		 */
		sctp_path_of(a, o)->recovery.now.measuring = false;
		path->recovery.now.measuring = false;
		note_sent(tx, o);
		if (tsn == a->out.cum + 1) /* rule R1 of 6.3.2: start T3 again */
			sctp_recovery_timer_set(a, path, SCTP_TIMER_T3, TIME_NEVER);
	}
	a->inflight.lost_from = tsn;
	if (tx->pkt.counted && path->recovery.now.cwnd_exempt)
		path->recovery.now.cwnd_exempt--;
}

/*
 * Writes the tail-loss probe: the last chunk in flight is sent again. The chunk is counted as in
 * flight already.
 */
static void put_probe(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_path *path = tx->path;
	uint32_t tsn = path->recovery.tlp.tsn;
	struct sctp_out *o;

	if (!path->recovery.tlp.wanted)
		return;
	o = sctp_outq_has(&a->out, tsn) ? sctp_outq_at(&a->out, tsn) : NULL;
	if (o && !(o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST)) && sctp_path_of(a, o) == path) {
		/* control chunks came first; the chunk fits into the next packet */
		if (!chunk_fits(tx, o))
			return;
		/* The chunk is most likely lost, and no other code would notice this. */
		if (o->flags & SCTP_OUT_REFERENCED)
			sctp_zcopy_lost(a);
		copy_chunk(tx, o);
		a->s->stats.probes++;
		a->counts.resent++;
		tx->pkt.last_data[1] |= WIRE_SCTP_DATA_I;
		tx->pkt.alone = true;
		sctp_inflight_probed(a, o, tx->now);
		path->recovery.tlp.doubt = true;
		path->recovery.now.measuring = false;
		path->last_data = tx->now;
		if (tsn == a->out.cum + 1)
			sctp_recovery_timer_set(a, path, SCTP_TIMER_T3, TIME_NEVER);
	}
	sctp_recovery_no_probe(a, path);
}

static void put_data_chunk(struct sctp_tx *tx, const struct sctp_msg *msg, size_t len)
{
	struct sctp_assoc *a = tx->a;
	uint8_t *p = packet_end(tx);
	const struct wire_sctp_data d = {
		.flags = WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E,
		.tsn = a->out.next,
		.sid = msg->sid,
		.ppid = msg->ppid,
		.len = (uint32_t)len,
	};
	struct sctp_episode *e = &tx->path->recovery.now;
	struct sctp_out *o;

	wire_sctp_data_put(p, &d);
	a->out.next++;
	o = sctp_outq_at(&a->out, d.tsn);
	o->block = tx->block;
	o->chunk = p;
	o->len = (uint16_t)wire_sctp_pad(p, WIRE_SCTP_DATA_LEN + len);
	o->flags = msg->voidable ? SCTP_OUT_VOIDABLE : 0;
	tx->block->refs++;
	note_sent(tx, o);
	if (!e->measuring) {
		e->measuring = true;
		e->measured_tsn = d.tsn;
	}
	if (msg->zcopy)
		sctp_zcopy_add(tx, o, msg);
	else if (a->zcopy.copies)
		a->zcopy.copies--;
	if (msg->awaited) {
		a->tx.has_awaited = true;
		a->tx.awaited_tsn = d.tsn;
	}
	if (msg->receipt)
		sctp_receipts_sent(a, d.tsn);
	tx->pkt.last_data = p;
	tx->pkt.len += o->len;
}

/* Reasons why no more new chunks are added to a packet. */
enum stop {
	STOP_NOT_NOW,	  /* no new chunk may leave now: see put_new() */
	STOP_CWND,	  /* cwnd is full */
	STOP_RWND,	  /* the peer's window is too small */
	STOP_ULP_EMPTY,	  /* the user had no message although a whole packet was free */
	STOP_PACKET_FULL, /* no room for the next message in the packet, or no free TSN */
};

/* True if the next message may reference memory: sctp_msg.may_reference. */
static bool may_reference(const struct sctp_assoc *a)
{
	return a->s->ops.checksum && a->s->refs.count < SCTP_BATCH_REFS && !a->zcopy.copies;
}

/* Pulls messages until the packet has up to `limit` bytes. Returns the reason for the end. */
static enum stop pull_chunks(struct sctp_tx *tx, size_t limit)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_msg msg = { 0 };
	size_t room, len;

	while (a->want_pull && tx->pkt.len + WIRE_SCTP_DATA_LEN < limit) {
		if (sctp_outq_count(&a->out) >= a->s->config.max_tsn_distance ||
		    !sctp_outq_reserve(&a->out))
			return STOP_PACKET_FULL;
		room = limit - tx->pkt.len - WIRE_SCTP_DATA_LEN;
		msg.may_reference = may_reference(a);
		msg.zcopy = NULL;
		msg.awaited = msg.receipt = msg.voidable = false;
		len = a->s->ops.pull(a->user, packet_end(tx) + WIRE_SCTP_DATA_LEN, room, &msg);
		if (!len) {
			if (tx->pkt.len == WIRE_SCTP_COMMON_LEN &&
			    limit == tx->path->mtu.max_packet)
				return STOP_ULP_EMPTY;
			return limit < tx->pkt.limit ? STOP_RWND : STOP_PACKET_FULL;
		}
		assert(len <= room);
		put_data_chunk(tx, &msg, len);
		tx->pkt.more = a->want_pull = msg.more;
		if (a->window.probe) { /* only one chunk (6.1 A) */
			a->window.probe = false;
			if (!sctp_window_room(a))
				return STOP_PACKET_FULL;
		}
	}
	return STOP_PACKET_FULL;
}

/* Adds new chunks if the windows allow this. Returns the reason for the end. */
static enum stop put_new(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	size_t limit = tx->pkt.limit;
	size_t window;

	if (!a->want_pull || a->inflight.lost || tx->pkt.alone || a->paths.returning_to_primary)
		return STOP_NOT_NOW;
	if (sctp_window_cwnd_full(tx->path) || sctp_window_defers(tx->path))
		return STOP_CWND;
	window = sctp_window_room(a);
	if (!window)
		return STOP_RWND;
	if (window < limit - tx->pkt.len)
		limit = tx->pkt.len + window;
	return pull_chunks(tx, limit);
}

/* Updates the association after no more new chunks are added to the packet. */
static void note_stop(struct sctp_tx *tx, enum stop stop)
{
	struct sctp_assoc *a = tx->a;

	if (stop != STOP_NOT_NOW)
		tx->path->recovery.cwnd_blocked = stop == STOP_CWND;
	switch (stop) {
	case STOP_CWND:
		tx->path->recovery.now.cwnd_limited = true;
		break;
	case STOP_RWND:
		sctp_window_wait(a, tx->now);
		break;
	case STOP_ULP_EMPTY:
		a->want_pull = false;
		a->tx.ulp_empty = true;
		a->window.probe = false;
		break;
	case STOP_NOT_NOW:
	case STOP_PACKET_FULL:
		break;
	}
}

/*
 * The next functions are the reasons for the I bit (RFC 7053). The last chunk of a packet requests
 * a SACK at once if no later packet would cause a SACK earlier.
 */

/* True if nothing follows the packet: no chunk is lost, and the user has no message. */
static bool nothing_follows(const struct sctp_assoc *a)
{
	return !a->inflight.lost && !a->want_pull;
}

/* True if the user has more messages, but the packet has filled a window. */
static bool window_is_filled(const struct sctp_tx *tx)
{
	return tx->a->want_pull && !sctp_window_open(tx->a, tx->path);
}

/*
 * True if the user has no more messages, and other packets are in flight. first_new is the packet's
 * first new TSN.
 */
static bool queue_is_drained(const struct sctp_assoc *a, uint32_t first_new)
{
	return !a->want_pull && first_new != a->out.cum + 1;
}

/*
 * True if more DATA will follow, but a quarter of a limit was sent since the last request for a
 * SACK. The limit is the smaller window, or the number of TSNs that may be outstanding. A peer that
 * waits for requests (wire_sctp_receipts.asks) then sends SACKs while the window is still open.
 */
static bool quarter_has_left(const struct sctp_assoc *a, const struct sctp_path *path)
{
	uint32_t window = path->cc.cwnd < a->window.peer_rwnd ? path->cc.cwnd : a->window.peer_rwnd;

	return a->receipts.agreed.asks && !nothing_follows(a) &&
	       (path->recovery.unasked >= window / 4 ||
		a->tx.unasked >= a->s->config.max_tsn_distance / 4);
}

/* True if no new chunk may follow a packet of old chunks, and the peer waits for requests. */
static bool none_may_follow(const struct sctp_tx *tx)
{
	return tx->a->receipts.agreed.asks && !sctp_window_open(tx->a, tx->path);
}

/*
 * True if the user has no more messages, and waits for the acknowledgement of this packet alone. A
 * peer that runs sctpiw sends the SACK with its application's answer, if the answer comes at once
 * (sctp_flush_sacks()).
 */
static bool lone_packet_is_awaited(const struct sctp_assoc *a)
{
	return !a->want_pull && a->tx.has_awaited;
}

/*
 * Completes a packet whose DATA is written. first_new is the TSN that the first new chunk of the
 * packet has, or would have.
 */
static void finish_data(struct sctp_tx *tx, uint32_t first_new)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_path_recovery *r = &tx->path->recovery;
	bool fresh = a->out.next != first_new;

	if (!tx->pkt.last_data)
		return;
	tx->data = true;
	r->unasked += (uint32_t)tx->pkt.len;
	a->tx.unasked += a->out.next - first_new;
	if (quarter_has_left(a, tx->path) ||
	    (fresh ? window_is_filled(tx) || queue_is_drained(a, first_new) :
		     nothing_follows(a) || none_may_follow(tx)))
		tx->pkt.last_data[1] |= WIRE_SCTP_DATA_I;
	r->sack_requested = tx->pkt.last_data[1] & WIRE_SCTP_DATA_I;
	if (r->sack_requested)
		r->unasked = a->tx.unasked = 0;
	a->tx.must_ask = a->receipts.agreed.asks && !r->sack_requested && !nothing_follows(a);
	if (lone_packet_is_awaited(a))
		tx->pkt.last_data[1] |= WIRE_SCTP_DATA_I;
}

void sctp_tx_build_done(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	if (!tx->data || !sctp_in_states(a, SCTP_STATES_SEND))
		return;
	if (!sctp_recovery_timer_runs(tx->path, SCTP_TIMER_T3))
		sctp_recovery_timer_set(a, tx->path, SCTP_TIMER_T3,
					tx->now + sctp_rtt_rto(&tx->path->rtt));
	sctp_recovery_arm_probe(a, tx->path, tx->now);
}

static size_t build_cookie_echo(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	size_t len = WIRE_SCTP_CHUNK_LEN + a->setup.cookie_len;
	size_t whole = WIRE_SCTP_COMMON_LEN + round_up4(len);
	uint32_t first_new = a->out.next;
	uint8_t *p = tx->pkt.p + WIRE_SCTP_COMMON_LEN;

	if (!(a->pending & SCTP_PEND_COOKIE_ECHO) || !a->setup.cookie)
		return 0;
	a->pending &= ~SCTP_PEND_COOKIE_ECHO;
	common_header(tx, a->peer_tag);
	wire_sctp_chunk_put(p, WIRE_SCTP_COOKIE_ECHO, 0, len);
	memcpy(p + WIRE_SCTP_CHUNK_LEN, a->setup.cookie, a->setup.cookie_len);
	wire_sctp_pad(p, len);
	tx->pkt.len = whole;
	tx->pkt.oversize = whole > a->path->mtu.max_packet;
	if (!tx->pkt.oversize) {
		put_answers(tx);
		put_lost(tx);
		if (!sctp_outq_count(&a->out)) /* only one packet of DATA before the COOKIE ACK */
			note_stop(tx, put_new(tx));
		finish_data(tx, first_new);
	}
	tx->pkt.alone = true;
	return tx->pkt.len;
}

/* True if DATA will probably be sent. Only the pull can decide this. */
static bool expects_data(const struct sctp_tx *tx)
{
	const struct sctp_assoc *a = tx->a;

	if (!sctp_in_states(a, SCTP_STATES_SEND))
		return false;
	return a->inflight.lost || tx->path->recovery.tlp.wanted ||
	       (a->state == SCTP_ESTABLISHED && a->want_pull && sctp_window_open(a, tx->path));
}

/*
 * True if a SACK should be in this packet. The SACK is due, or is sent early with DATA that will
 * probably be in the packet. While a receipt is outstanding, an early SACK proves placement again,
 * since earlier SACKs may have proved less, or may be lost. A packet with a HEARTBEAT has no DATA.
 * A SACK leaves on the path on which its DATA came (6.4).
 */
static bool wants_sack(const struct sctp_tx *tx)
{
	const struct sctp_assoc *a = tx->a;

	if (tx->path != a->path && tx->path != a->paths.sack_path)
		return false;
	if (a->pending & SCTP_PEND_SACK)
		return true;
	if (tx->built || tx->pkt.alone || !expects_data(tx))
		return false;
	return a->rx.ack.packets || sctp_receipts_hold_len(a);
}

/* Plans a SACK, and a HOLD chunk of *hold bytes. If the two do not fit, plans neither of them. */
static struct sctp_sack_plan plan_sack(const struct sctp_tx *tx, size_t *hold)
{
	size_t room = tx->pkt.limit - tx->pkt.len;
	struct sctp_sack_plan plan;

	*hold = sctp_receipts_hold_len(tx->a);
	plan = sctp_rx_sack_plan(tx->a, room > *hold ? room - *hold : 0);
	if (!plan.len)
		*hold = 0;
	return plan;
}

/* Adds lost chunks, then new chunks, to the packet. */
static void put_data(struct sctp_tx *tx)
{
	if (!tx->pkt.alone)
		put_lost(tx);
	if (tx->a->state == SCTP_ESTABLISHED)
		note_stop(tx, put_new(tx));
}

size_t sctp_tx_build(struct sctp_tx *tx, uint8_t *p, size_t limit)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_sack_plan sack = { 0 };
	size_t hold = 0;
	uint32_t first_new = a->out.next;
	uint8_t *sack_at;

	tx->pkt = (struct sctp_tx_packet){ .p = p, .limit = limit };
	if (a->state == SCTP_COOKIE_WAIT)
		return build_init(tx);
	if (a->state == SCTP_COOKIE_ECHOED)
		return build_cookie_echo(tx);
	common_header(tx, a->peer_tag);
	if (sctp_receipts_sack_is_due(a))
		a->pending |= SCTP_PEND_SACK;
	if (!tx->built && tx->path == a->path)
		put_control(tx);
	sack_at = packet_end(tx);
	if (wants_sack(tx))
		sack = plan_sack(tx, &hold);
	tx->pkt.len += sack.len + hold;
	if (sctp_in_states(a, SCTP_STATES_SEND) && !tx->pkt.alone) {
		put_probe(tx);
		put_data(tx);
		/* Remove an early SACK if no DATA is in the packet, and use its room. */
		if (!tx->pkt.last_data && sack.len && !(a->pending & SCTP_PEND_SACK)) {
			tx->pkt.len -= sack.len + hold;
			sack.len = hold = 0;
			put_probe(tx);
			put_data(tx);
		}
	}
	if (sack.len) {
		sctp_rx_sack_put(a, &sack, sack_at);
		sctp_receipts_sack_sent(a, sack_at + sack.len, hold);
		sctp_rx_sack_sent(a);
	}
	/* The packet has the receipt that made the last SACK useless, so another SACK is due. */
	if (sctp_receipts_sack_is_due(a))
		a->pending |= SCTP_PEND_SACK;
	finish_data(tx, first_new);
	return tx->pkt.len > WIRE_SCTP_COMMON_LEN ? tx->pkt.len : 0;
}
