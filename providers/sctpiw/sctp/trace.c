/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/trace.h"

#include <string.h>

#include "sctp/assoc.h"
#include "wire/sctp_away.h"

#define CHUNKS_TEXT 96u

/* A summary of the chunks of a packet. */
struct summary {
	/* names of the types; successive chunks of one type have one name */
	char chunks[CHUNKS_TEXT];
	size_t used;
	unsigned int last_type;
	unsigned int n_chunks, n_data, resent;
	uint64_t first_tsn, last_tsn, payload;
};

static const char *chunk_name(unsigned int type)
{
	static const char *const names[] = {
		[WIRE_SCTP_DATA] = "DATA",
		[WIRE_SCTP_INIT] = "INIT",
		[WIRE_SCTP_INIT_ACK] = "INIT-ACK",
		[WIRE_SCTP_SACK] = "SACK",
		[WIRE_SCTP_HEARTBEAT] = "HEARTBEAT",
		[WIRE_SCTP_HEARTBEAT_ACK] = "HEARTBEAT-ACK",
		[WIRE_SCTP_ABORT] = "ABORT",
		[WIRE_SCTP_SHUTDOWN] = "SHUTDOWN",
		[WIRE_SCTP_SHUTDOWN_ACK] = "SHUTDOWN-ACK",
		[WIRE_SCTP_ERROR] = "ERROR",
		[WIRE_SCTP_COOKIE_ECHO] = "COOKIE-ECHO",
		[WIRE_SCTP_COOKIE_ACK] = "COOKIE-ACK",
		[WIRE_SCTP_SHUTDOWN_COMPLETE] = "SHUTDOWN-COMPLETE",
		[WIRE_SCTP_AUTH] = "AUTH",
	};

	if (type == WIRE_SCTP_PAD)
		return "PAD";
	if (type == WIRE_SCTP_ASCONF)
		return "ASCONF";
	if (type == WIRE_SCTP_ASCONF_ACK)
		return "ASCONF-ACK";
	if (type == WIRE_SCTP_AWAY)
		return "AWAY";
	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "unknown";
}

static void add_name(struct summary *s, unsigned int type)
{
	const char *name = chunk_name(type);
	size_t n = strlen(name);

	if (s->n_chunks && type == s->last_type)
		return;
	s->last_type = type;
	if (s->used + n + 2 > CHUNKS_TEXT)
		return;
	if (s->used)
		s->chunks[s->used++] = ' ';
	memcpy(s->chunks + s->used, name, n + 1);
	s->used += n;
}

static bool is_resent(struct sctp_assoc *a, uint32_t tsn)
{
	return sctp_outq_has(&a->out, tsn) && sctp_outq_at(&a->out, tsn)->flags & SCTP_OUT_RESENT;
}

static void add_data(struct summary *s, struct sctp_assoc *a, const struct wire_sctp_chunk *c)
{
	struct wire_sctp_data d;

	if (!wire_sctp_data_get(c, &d))
		return;
	if (!s->n_data++)
		s->first_tsn = d.tsn;
	s->last_tsn = d.tsn;
	s->payload += c->len;
	s->resent += is_resent(a, d.tsn);
}

static struct summary summarize(struct sctp_assoc *a, const uint8_t *packet, size_t len)
{
	struct summary s = { .first_tsn = TRACE_NONE, .last_tsn = TRACE_NONE };
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;

	while (wire_sctp_chunk_next(&p, packet + len, &c)) {
		add_name(&s, c.type);
		s.n_chunks++;
		if (c.type == WIRE_SCTP_DATA)
			add_data(&s, a, &c);
	}
	return s;
}

static void trace_sacks(struct sctp_assoc *a, const uint8_t *packet, size_t len, bool sent,
			uint64_t now)
{
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	struct wire_sctp_sack s;

	while (wire_sctp_chunk_next(&p, packet + len, &c)) {
		if (c.type != WIRE_SCTP_SACK || !wire_sctp_sack_get(&c, &s))
			continue;
		if (sent)
			TRACE(sack_sent, now, .assoc = a->local_tag, .cum_tsn = s.cum,
			      .gaps = s.gaps, .duplicates = s.dups, .rwnd = s.a_rwnd);
		else
			TRACE(sack_received, now, .assoc = a->local_tag, .cum_tsn = s.cum,
			      .gaps = s.gaps, .duplicates = s.dups, .rwnd = s.a_rwnd);
	}
}

void sctp_trace_batch(struct sctp_assoc *a, const struct sctp_batch *batch, uint64_t now)
{
	bool data = false;

	for (size_t off = 0; off < batch->len; off += batch->segment) {
		size_t left = batch->len - off, len = left < batch->segment ? left : batch->segment;
		struct summary s = summarize(a, batch->data + off, len);

		TRACE(packet_sent, now, .assoc = a->local_tag, .remote = &batch->to.remote,
		      .chunks = s.chunks, .first_tsn = s.first_tsn, .bytes = len,
		      .payload = s.payload, .last_tsn = s.last_tsn, .n_chunks = s.n_chunks,
		      .n_data = s.n_data, .resent = s.resent);
		trace_sacks(a, batch->data + off, len, true, now);
		data |= s.n_data;
	}
	if (data)
		sctp_trace_windows(a, now);
}

void sctp_trace_input(struct sctp_assoc *a, const struct ip_addr *from, const uint8_t *packet,
		      size_t len, uint64_t now)
{
	struct summary s = summarize(a, packet, len);

	TRACE(packet_received, now, .assoc = a->local_tag, .remote = from, .chunks = s.chunks,
	      .first_tsn = s.first_tsn, .bytes = len, .payload = s.payload, .last_tsn = s.last_tsn,
	      .n_chunks = s.n_chunks, .n_data = s.n_data);
	trace_sacks(a, packet, len, false, now);
}

void sctp_trace_windows(const struct sctp_assoc *a, uint64_t now)
{
	const struct sctp_path *path = a->path;
	const struct sctp_rtt *rtt = &path->rtt;
	bool measured = rtt->srtt;

	TRACE(metrics, now, .assoc = a->local_tag, .cwnd = path->cc.cwnd,
	      .ssthresh = path->cc.ssthresh == UINT32_MAX ? TRACE_NONE : path->cc.ssthresh,
	      .flight = path->flight, .srtt = measured ? rtt->srtt : TRACE_NONE,
	      .rttvar = measured ? rtt->rttvar : TRACE_NONE,
	      .min_rtt = measured ? rtt->min : TRACE_NONE, .rto = sctp_rtt_rto(rtt),
	      .rwnd = a->window.peer_rwnd);
}

void sctp_trace_flight_lost(struct sctp_assoc *a, const struct sctp_path *path, const char *why,
			    uint64_t now)
{
	for (uint32_t tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
		const struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST)) && sctp_path_of(a, o) == path)
			TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn, .bytes = o->len,
			      .why = why);
	}
}

void sctp_trace_established(const struct sctp_assoc *a, uint64_t now)
{
	const struct path_addr *addr = &a->path->addr;

	TRACE(assoc_up, now, .assoc = a->local_tag, .port = a->ep->port, .remote = &addr->remote,
	      .remote_port = a->remote_port, .udp_port = addr->udp_port,
	      .initiator = sctp_assoc_is_initiator(a), .streams = a->out_streams);
}

void sctp_trace_timer_name(const struct sctp_assoc *a, unsigned int timer, uint64_t now)
{
	static const char *const names[SCTP_TIMERS] = {
		[SCTP_TIMER_SETUP] = "setup",	    [SCTP_TIMER_T3] = "T3",
		[SCTP_TIMER_TLP] = "TLP",	    [SCTP_TIMER_HEARTBEAT] = "heartbeat",
		[SCTP_TIMER_WINDOW] = "window",	    [SCTP_TIMER_PATHS] = "paths",
		[SCTP_TIMER_RECEIPTS] = "receipts", [SCTP_TIMER_ASCONF] = "asconf",
	};

	if (names[timer])
		TRACE(timer, now, .assoc = a->local_tag, .timer = names[timer]);
}
