/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One packet: control chunks first, then a SACK if one is due, then lost chunks in
 * TSN order, then new ones straight from the user (RFC 9260 6.1, 6.10).
 */
#include <assert.h>

#include "sctp/internal.h"

static void common_header(struct sctp_tx *tx, uint32_t tag)
{
	const struct wire_sctp_common h = { tx->a->ep->port, tx->a->remote_port, tag };

	wire_sctp_common_put(tx->p, &h);
	tx->len = WIRE_SCTP_COMMON_LEN;
}

static size_t build_init(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	const struct sctp_config *config = &a->s->config;
	struct wire_sctp_init init = {
		.tag = a->local_tag,
		.a_rwnd = a->init_rwnd,
		.os = config->streams,
		.mis = config->streams,
		.tsn = a->init_tsn,
		.adaptation = config->adaptation,
		.address_type = sctp_paths_type(a),
	};

	if (!(a->pending & SCTP_PEND_INIT))
		return 0;
	a->pending &= ~SCTP_PEND_INIT;
	common_header(tx, 0);
	tx->alone = true;
	return tx->len + wire_sctp_init_put(tx->p + tx->len, WIRE_SCTP_INIT, &init);
}

/* Chunks without parameters of their own. */
static void put_short(struct sctp_tx *tx, unsigned int pending, uint8_t type)
{
	if (!(tx->a->pending & pending))
		return;
	tx->a->pending &= ~pending;
	wire_sctp_chunk_put(tx->p + tx->len, type, 0, WIRE_SCTP_CHUNK_LEN);
	tx->len += WIRE_SCTP_CHUNK_LEN;
}

static void put_answers(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	if (!a->control)
		return;
	if (tx->len + a->control->used <= tx->limit) {
		memcpy(tx->p + tx->len, a->control->data, a->control->used);
		tx->len += a->control->used;
		sctp_control_clear(a);
	} else if (!sctp_control_fits(a)) { /* the path MTU has shrunk meanwhile */
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
		tx->len += sctp_path_heartbeat_put(a, &a->path, tx->p + tx->len, tx->now);
		tx->alone = true; /* a small packet: its answer says that those arrive */
	}
	if (a->pending & SCTP_PEND_SHUTDOWN) {
		a->pending &= ~SCTP_PEND_SHUTDOWN;
		wire_sctp_chunk_put(tx->p + tx->len, WIRE_SCTP_SHUTDOWN, 0, 8);
		put_be32(tx->p + tx->len + WIRE_SCTP_CHUNK_LEN, a->rxmap.cum);
		tx->len += 8;
	}
	put_short(tx, SCTP_PEND_SHUTDOWN_ACK, WIRE_SCTP_SHUTDOWN_ACK);
}

/* After silence the window shrinks (7.2.1). Called before DATA goes out. */
static void after_idle(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_path *path = &a->path;
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t rtos;

	if (!path->flight && path->last_data && now - path->last_data >= rto) {
		rtos = (now - path->last_data) / rto;
		sctp_cc_idle(&path->cc, rtos < 64 ? (unsigned int)rtos : 64);
	}
	path->last_data = now;
}

/* Notes that chunk o leaves in this packet, whose image it is at the end of now. */
static void note_sent(struct sctp_tx *tx, struct sctp_out *o)
{
	struct sctp_assoc *a = tx->a;

	if (!tx->ordered) {
		tx->ordered = true;
		a->order++;
		o->flags |= SCTP_OUT_FIRST;
		a->charged += SCTP_PACKET_OVERHEAD;
		after_idle(a, tx->now);
	}
	o->order = a->order;
	o->sent = tx->now;
	o->miss = 0;
	a->charged += o->len;
	a->path.flight += o->len;
}

/* The image of an old chunk at the end of the packet. */
static void copy_chunk(struct sctp_tx *tx, struct sctp_out *o)
{
	sctp_zcopy_copy_out(tx->a, o);
	tx->last_data = tx->p + tx->len;
	memcpy(tx->last_data, o->chunk, o->len);
	tx->last_data[1] &= (uint8_t)~WIRE_SCTP_DATA_I;
	tx->len += o->len;
}

/* Whether an old chunk can go at the end of the packet; above the path MTU it goes alone (6.9). */
static bool chunk_fits(struct sctp_tx *tx, const struct sctp_out *o)
{
	if (tx->len + o->len <= tx->limit)
		return true;
	if (tx->len > WIRE_SCTP_COMMON_LEN || !tx->first)
		return false;
	tx->alone = true;
	tx->oversize = true;
	return true;
}

static void put_lost(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	uint32_t tsn;

	if (!a->lost)
		return;
	if (sctp_tx_cwnd_full(a) && !a->rescue) {
		a->cwnd_limited = true;
		return;
	}
	for (tsn = a->lost_from; a->lost && !tx->alone && tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_LOST))
			continue;
		if (!chunk_fits(tx, o))
			break;
		copy_chunk(tx, o);
		a->s->stats.resent++;
		o->flags &= (uint8_t)~(SCTP_OUT_LOST | SCTP_OUT_FIRST);
		o->flags |= SCTP_OUT_RESENT;
		a->lost--;
		note_sent(tx, o);
		a->rtt_running = false; /* Karn's rule, and 6.3.1 C5 for those behind it */
		if (tsn == a->out.cum + 1)
			sctp_timer_stop(a, SCTP_TIMER_T3); /* R1 of 6.3.2: restarted below */
	}
	a->lost_from = tsn;
	if (tx->ordered && a->rescue)
		a->rescue--;
}

/* The tail-loss probe: the last chunk again. It is in flight already and changes no account. */
static void put_probe(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	struct sctp_out *o;

	if (!(a->pending & SCTP_PEND_PROBE))
		return;
	o = sctp_outq_has(&a->out, a->tlp_tsn) ? sctp_outq_at(&a->out, a->tlp_tsn) : NULL;
	if (o && !(o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST))) {
		if (!chunk_fits(tx, o)) /* behind control chunks; it has its turn next */
			return;
		if (o->flags & SCTP_OUT_REFERENCED) /* lost, most likely, and nothing else would tell */
			sctp_zcopy_lost(a);
		copy_chunk(tx, o);
		a->s->stats.probes++;
		tx->last_data[1] |= WIRE_SCTP_DATA_I;
		tx->alone = true;
		o->flags |= SCTP_OUT_RESENT;
		o->order = ++a->order;
		o->sent = tx->now;
		a->tlp_doubt = true;
		a->rtt_running = false;
		a->path.last_data = tx->now;
		if (a->tlp_tsn == a->out.cum + 1)
			sctp_timer_stop(a, SCTP_TIMER_T3);
	}
	a->pending &= ~SCTP_PEND_PROBE;
}

static void put_data_chunk(struct sctp_tx *tx, const struct sctp_msg *msg, size_t len)
{
	struct sctp_assoc *a = tx->a;
	uint8_t *p = tx->p + tx->len;
	const struct wire_sctp_data d = {
		.flags = WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E,
		.tsn = a->out.next,
		.sid = msg->sid,
		.ppid = msg->ppid,
		.len = (uint32_t)len,
	};
	struct sctp_out *o;

	wire_sctp_data_put(p, &d);
	a->out.next++;
	o = sctp_outq_at(&a->out, d.tsn);
	o->block = tx->block;
	o->chunk = p;
	o->len = (uint16_t)wire_sctp_pad(p, WIRE_SCTP_DATA_LEN + len);
	o->flags = 0;
	tx->block->refs++;
	note_sent(tx, o);
	if (!a->rtt_running) {
		a->rtt_running = true;
		a->rtt_tsn = d.tsn;
	}
	if (msg->ref)
		sctp_zcopy_add(tx, o, msg);
	else if (a->copies)
		a->copies--;
	tx->last_data = p;
	tx->len += o->len;
}

/* The peer's window lets nothing go and nothing is under way that would open it: probe it later. */
static void wait_for_window(struct sctp_assoc *a, uint64_t now)
{
	uint64_t wait = sctp_rtt_rto(&a->path.rtt) << (a->window_tries < 6 ? a->window_tries : 6);

	if (a->charged || sctp_timer_runs(a, SCTP_TIMER_WINDOW))
		return;
	if (wait > a->s->config.rto_max)
		wait = a->s->config.rto_max;
	sctp_timer_set(a, SCTP_TIMER_WINDOW, now + wait);
}

static void put_new(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	size_t limit = tx->limit;
	struct sctp_msg msg = { 0 };
	size_t window, room, len;

	if (!a->want_pull || a->lost || tx->alone || a->moving)
		return;
	if (sctp_tx_cwnd_full(a) || sctp_tx_defers(a)) {
		a->cwnd_limited = true;
		a->filled = true;
		return;
	}
	a->filled = false;
	window = sctp_tx_rwnd_room(a);
	if (!window) {
		wait_for_window(a, tx->now);
		return;
	}
	if (window < limit - tx->len)
		limit = tx->len + window;
	while (a->want_pull && tx->len + WIRE_SCTP_DATA_LEN < limit) {
		if (sctp_outq_count(&a->out) >= a->s->config.max_tsn_distance ||
		    !sctp_outq_reserve(&a->out))
			return;
		room = limit - tx->len - WIRE_SCTP_DATA_LEN;
		msg.zcopy_window = sctp_zcopy_window(a);
		msg.ref = NULL;
		len = a->s->ops.pull(a->user, tx->p + tx->len + WIRE_SCTP_DATA_LEN, room, &msg);
		if (!len) {
			/* Nothing at all, or nothing for so little room? */
			if (tx->len == WIRE_SCTP_COMMON_LEN && limit == a->path.max_packet) {
				a->want_pull = false;
				a->declined = true;
				a->window_probe = false;
			} else if (limit < tx->limit) {
				wait_for_window(a, tx->now);
			}
			return;
		}
		assert(len <= room);
		put_data_chunk(tx, &msg, len);
		tx->more = a->want_pull = msg.more;
		if (a->window_probe) { /* one chunk (6.1 A) */
			a->window_probe = false;
			if (!sctp_tx_rwnd_room(a))
				return;
		}
	}
}

/*
 * The last chunk asks for a SACK at once (RFC 7053) when nothing will follow that
 * would bring one sooner: the window is full, or the queue is empty while packets
 * are outstanding. A lone packet gets its acknowledgement with the answer, unless
 * the user waits for memory that it has referenced.
 */
static void finish_data(struct sctp_tx *tx, uint32_t first_new)
{
	struct sctp_assoc *a = tx->a;
	bool fresh = a->out.next != first_new;

	if (!tx->last_data)
		return;
	tx->data = true;
	if (!fresh ? !a->lost && !a->want_pull :
		     a->want_pull ? !sctp_tx_window_open(a) : first_new != a->out.cum + 1 || a->ref)
		tx->last_data[1] |= WIRE_SCTP_DATA_I;
	a->asked = tx->last_data[1] & WIRE_SCTP_DATA_I;
}

void sctp_tx_arm(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;

	if (!tx->data || !sctp_in_states(a, SCTP_STATES_SEND))
		return;
	if (!sctp_timer_runs(a, SCTP_TIMER_T3))
		sctp_timer_set(a, SCTP_TIMER_T3, tx->now + sctp_rtt_rto(&a->path.rtt));
	sctp_recovery_arm_probe(a, tx->now);
}

static size_t build_cookie_echo(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	size_t len = WIRE_SCTP_CHUNK_LEN + a->cookie_len;
	size_t whole = WIRE_SCTP_COMMON_LEN + round_up4(len);
	uint32_t first_new = a->out.next;
	uint8_t *p = tx->p + WIRE_SCTP_COMMON_LEN;

	if (!(a->pending & SCTP_PEND_COOKIE_ECHO) || !a->cookie)
		return 0;
	a->pending &= ~SCTP_PEND_COOKIE_ECHO;
	common_header(tx, a->peer_tag);
	wire_sctp_chunk_put(p, WIRE_SCTP_COOKIE_ECHO, 0, len);
	memcpy(p + WIRE_SCTP_CHUNK_LEN, a->cookie, a->cookie_len);
	wire_sctp_pad(p, len);
	tx->len = whole;
	tx->oversize = whole > a->path.max_packet;
	if (!tx->oversize) {
		put_answers(tx);
		put_lost(tx);
		if (!sctp_outq_count(&a->out)) /* one packet of DATA until the COOKIE ACK */
			put_new(tx);
		finish_data(tx, first_new);
	}
	tx->alone = true;
	return tx->len;
}

/* Adds a SACK. Returns the bytes that it takes. */
static size_t put_sack(struct sctp_tx *tx)
{
	size_t len = sctp_rx_sack_put(tx->a, tx->p + tx->len, tx->limit - tx->len);

	tx->len += len;
	return len;
}

size_t sctp_tx_build(struct sctp_tx *tx)
{
	struct sctp_assoc *a = tx->a;
	uint32_t first_new = a->out.next;
	size_t sack = 0, plain;
	bool due;

	tx->ordered = tx->more = false;
	tx->last_data = NULL;
	if (a->state == SCTP_COOKIE_WAIT)
		return build_init(tx);
	if (a->state == SCTP_COOKIE_ECHOED)
		return build_cookie_echo(tx);
	common_header(tx, a->peer_tag);
	if (tx->first)
		put_control(tx);
	due = a->pending & SCTP_PEND_SACK;
	plain = tx->len;
	/* One that is not due yet rides along with DATA. */
	if (due || (tx->first && a->unsacked &&
		    (a->lost || (a->want_pull && sctp_tx_window_open(a)))))
		sack = put_sack(tx);
	if (sctp_in_states(a, SCTP_STATES_SEND) && !tx->alone) {
		put_probe(tx);
		if (!tx->alone)
			put_lost(tx);
		if (a->state == SCTP_ESTABLISHED)
			put_new(tx);
		if (!tx->last_data && sack && !due) { /* perhaps it took the room */
			tx->len = plain;
			sack = 0;
			put_lost(tx);
			if (a->state == SCTP_ESTABLISHED)
				put_new(tx);
		}
	}
	if (sack)
		sctp_rx_sack_sent(a);
	finish_data(tx, first_new);
	return tx->len > WIRE_SCTP_COMMON_LEN ? tx->len : 0;
}
