/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The path to the peer: addresses, and whether anybody is there.
 *
 * Departures from RFC 9260 8.3: a HEARTBEAT leaves when nothing was heard for
 * HB.interval, whoever was to speak; without the RTO in the interval and without
 * back-off. A killed process has to be noticed within 3 s, and 1 s of RTO.Min and
 * its jitter do not leave that. Any valid packet counts as a sign of life, an
 * acknowledgement as much as a HEARTBEAT ACK. Departure from 8.1 and 8.2: silence
 * is judged by time (silent_limit) and not by counting retransmissions, as
 * tail-loss probes and HEARTBEATs would use up a count of 10 within seconds. But
 * some HEARTBEATs must have gone unanswered: after our own process was stopped,
 * the peer's answers are still unread when the timers run.
 */
#include <errno.h>

#include "sctp/internal.h"

#define STATES_ALIVE (SCTP_STATES_SEND | SCTP_STATES_RECEIVE | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT))

void sctp_path_init(struct sctp_path *path, const struct sctp_config *config,
		    const struct path_addr *addr, uint32_t mtu)
{
	memset(path, 0, sizeof(*path));
	path->addr = *addr;
	path->usable = true;
	path->hb_due = TIME_NEVER;
	path->mtu_due = TIME_NEVER;
	sctp_rtt_init(&path->rtt, config->rto_initial, config->rto_min, config->rto_max);
	sctp_cc_init(&path->cc, SCTP_PMTU_FLOOR_V4, ip_addr_is_v4(&addr->remote));
	sctp_mtu_init(path, config, mtu);
}

/*
 * The address of ours that the peer uses. If it knows several, it asks after the others now and
 * then, and it may send its SACKs there: one takes over when the first is quiet, or has no DATA any
 * more while this one has. *last: of the kind of packet that this is.
 */
static void learn_local(const struct sctp_in *in, struct sctp_path *path, uint64_t *last)
{
	const struct ip_addr *local = &in->from->local;

	if (!ip_addr_equal(local, &path->addr.local)) {
		if (ip_addr_is_zero(local) || (*last && in->now - *last < sctp_rtt_rto(&path->rtt)))
			return;
		if (!ip_addr_is_zero(&path->addr.local)) /* another way through the network (7.2.5) */
			sctp_cc_init(&path->cc, path->cc.pmdcs, path->cc.v4);
		path->addr.local = *local;
	}
	*last = in->now;
}

void sctp_path_data(struct sctp_in *in)
{
	if (in->path)
		learn_local(in, in->path, &in->path->data_local);
}

static void heard(struct sctp_path *path, uint64_t now)
{
	path->heard = now;
	path->unanswered = 0;
	path->probing = 0;
}

void sctp_path_works(struct sctp_path *path, uint64_t now)
{
	heard(path, now);
	path->proof = now;
	path->errors = 0;
}

void sctp_path_heard(struct sctp_in *in)
{
	struct sctp_path *path = in->path;
	bool encapsulated;

	in->a->heard = in->now;
	if (!path)
		return;
	encapsulated = path->addr.udp_port;
	heard(path, in->now);
	learn_local(in, path, &path->heard_local);
	if (path->addr.udp_port == in->from->udp_port)
		return;
	/* RFC 6951 5.4: also that encapsulation was switched on or off. */
	path->addr.udp_port = in->from->udp_port;
	if (encapsulated != (in->from->udp_port != 0))
		sctp_mtu_fit(in->a);
}

static uint64_t jittered(struct sctp_assoc *a)
{
	uint64_t interval = a->s->config.heartbeat_interval;

	/* A little, and shorter only: many associations should not beat in step. */
	return interval - random_u32(a->s->random) % (interval / 10);
}

void sctp_path_start(struct sctp_assoc *a, uint64_t now)
{
	a->path.heard = now;
	sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + jittered(a));
}

void sctp_path_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_path *path = &a->path;
	const struct sctp_config *config = &a->s->config;
	uint64_t silent = now - path->heard;

	if (!sctp_in_states(a, STATES_ALIVE))
		return;
	/* T5-shutdown-guard (9.2): a peer that lives but does not let the shutdown end. */
	if (a->state > SCTP_ESTABLISHED && now - a->closing_since >= 5 * config->rto_max) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	if (path->probing) {
		if (--path->probing == 0) {
			if (!sctp_paths_fail_over(a, now))
				sctp_assoc_end(a, -ECONNRESET);
			return;
		}
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + SCTP_PROBE_INTERVAL);
	} else if (silent < config->heartbeat_interval / 2) {
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, path->heard + jittered(a));
		return;
	} else if (now - a->heard >= config->silent_limit && path->unanswered >= SCTP_SILENT_PROBES) {
		sctp_assoc_end(a, -ETIMEDOUT);
		return;
	} else if (path->unanswered >= 2 && sctp_paths_fail_over(a, now)) {
		return;
	} else {
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + jittered(a));
	}
	path->unanswered++;
	a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_assoc_ready(a);
}

static void hint(struct sctp_assoc *a, uint64_t now)
{
	if (sctp_in_states(a, SCTP_IN(SCTP_COOKIE_WAIT) | SCTP_IN(SCTP_COOKIE_ECHOED))) {
		if (++a->refused >= 3)
			sctp_assoc_end(a, -ECONNREFUSED);
		else
			sctp_handshake_elsewhere(a);
		return;
	}
	if (!sctp_in_states(a, STATES_ALIVE) || a->path.probing)
		return;
	a->path.probing = SCTP_PROBE_TICKS;
	a->path.unanswered++;
	a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + SCTP_PROBE_INTERVAL);
	sctp_assoc_ready(a);
}

/* Ports and verification tag, or that of the INIT, as whoever forges an error cannot know them. */
#define QUOTED_MIN 8u
#define QUOTED_INIT (WIRE_SCTP_COMMON_LEN + 8u)

static bool is_quoted(const struct sctp_assoc *a, const uint8_t *quoted, size_t len)
{
	uint32_t tag = get_be32(quoted + 4);

	if (tag)
		return tag == a->peer_tag;
	return len < QUOTED_INIT || (quoted[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_INIT &&
				     get_be32(quoted + QUOTED_INIT - 4) == a->local_tag);
}

struct sctp_assoc *sctp_path_quoted(struct sctp_endpoint *ep, const struct path_addr *to,
				    const uint8_t *quoted, size_t len)
{
	struct sctp_assoc *a;
	uint32_t tag;

	if (len < QUOTED_MIN || get_be16(quoted) != ep->port)
		return NULL;
	/* Which of our addresses it was sent from only the tag tells. */
	tag = get_be32(quoted + 4);
	if (!tag && len >= QUOTED_INIT)
		tag = get_be32(quoted + QUOTED_INIT - 4);
	a = sctp_assoc_find_any(ep, to, get_be16(quoted + 2), tag);
	return a && is_quoted(a, quoted, len) &&
			       sctp_paths_find(a, &to->remote)->addr.udp_port == to->udp_port ?
		       a :
		       NULL;
}

void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, const uint8_t *quoted,
		      size_t len, uint64_t now)
{
	struct sctp_assoc *a;

	if (len >= QUOTED_MIN) {
		a = sctp_path_quoted(ep, to, quoted, len);
		if (a && ip_addr_equal(&a->path.addr.remote, &to->remote))
			hint(a, now);
		return;
	}
	/* By convention the UDP port is the peer's SCTP port; look no further then. */
	a = to->udp_port ? sctp_assoc_find(ep, to, to->udp_port, 0) : NULL;
	if (a && a->path.addr.udp_port == to->udp_port) {
		hint(a, now);
		return;
	}
	list_for_each_safe(n, &ep->assocs) {
		a = list_entry(n, struct sctp_assoc, ep_node);
		if (a->state != SCTP_CLOSED && a->path.addr.udp_port == to->udp_port &&
		    ip_addr_equal(&a->path.addr.remote, &to->remote))
			hint(a, now);
	}
}

/*
 * Heartbeat Info (3.3.5): a nonce of 128 bits. When it was sent and where to is
 * remembered here and need not travel.
 */
void sctp_path_heartbeat_chunk(uint8_t *p, const uint64_t nonce[2])
{
	wire_sctp_chunk_put(p, WIRE_SCTP_HEARTBEAT, 0, SCTP_HEARTBEAT_LEN);
	wire_sctp_param_put(p + WIRE_SCTP_CHUNK_LEN, WIRE_SCTP_PARAM_HEARTBEAT_INFO, nonce,
			    2 * sizeof(*nonce));
}

size_t sctp_path_heartbeat_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, uint64_t now)
{
	random_bytes(a->s->random, path->hb_nonce, sizeof(path->hb_nonce));
	path->hb_sent = now ? now : 1;
	sctp_path_heartbeat_chunk(p, path->hb_nonce);
	return SCTP_HEARTBEAT_LEN;
}

static void heartbeat_answer(uint8_t *p, const struct wire_sctp_chunk *c)
{
	memcpy(p, c->raw, c->len);
	wire_sctp_chunk_put(p, WIRE_SCTP_HEARTBEAT_ACK, 0, c->len);
	wire_sctp_pad(p, c->len);
}

/* From where it went to, to where it came from (3.3.6), one for a packet (12.4): the peer asks about those. */
static void heartbeat_other(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const struct wire_sctp_common h = { in->h.dport, in->h.sport, in->a->peer_tag };
	size_t len = WIRE_SCTP_COMMON_LEN + round_up4(c->len);
	struct sctp_ootb *ootb;

	if (in->answered || len > SCTP_OOTB_LEN)
		return;
	ootb = sctp_ootb_new(in->ep, in->from);
	if (!ootb)
		return;
	in->answered = true;
	wire_sctp_common_put(ootb->data, &h);
	heartbeat_answer(ootb->data + WIRE_SCTP_COMMON_LEN, c);
	ootb->len = (uint16_t)len;
	sctp_ootb_seal(ootb);
}

void sctp_path_heartbeat(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	uint8_t *p;

	if (in->other || !ip_addr_equal(&in->from->local, &in->a->path.addr.local)) {
		heartbeat_other(in, c);
		return;
	}
	/*
	 * It waits for us: its COOKIE ACK was lost, and T1 may be long by now. The answer goes to where it is, and
	 * never, however often it asks, to those whom it lists.
	 */
	if (in->a->state == SCTP_COOKIE_ECHOED) {
		in->a->echo_path = 0;
		sctp_handshake_resend(in->a);
	}
	p = sctp_control_room(in->a, round_up4(c->len));
	if (p)
		heartbeat_answer(p, c);
}

/* The path that one with this nonce was sent on, or NULL. */
static struct sctp_path *asked(struct sctp_assoc *a, const uint8_t *nonce)
{
	unsigned int i;

	for (i = 0; i <= a->others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (path->hb_sent && memcmp(nonce, path->hb_nonce, sizeof(path->hb_nonce)) == 0)
			return path;
	}
	return NULL;
}

void sctp_path_heartbeat_ack(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	const uint8_t *nonce = c->raw + WIRE_SCTP_CHUNK_LEN + 4;
	struct sctp_path *path;
	unsigned int backoff, i;

	if (c->len != SCTP_HEARTBEAT_LEN)
		return;
	for (i = 0; i <= a->others; i++)
		if (sctp_mtu_answered(a, sctp_path_at(a, i), nonce, in->now))
			return;
	path = asked(a, nonce);
	if (!path)
		return;
	backoff = path->rtt.backoff;
	sctp_rtt_sample(&path->rtt, in->now - path->hb_sent);
	path->hb_sent = 0;
	sctp_path_works(path, in->now);
	sctp_mtu_alive(a, path, in->now);
	if (path != &a->path) {
		sctp_paths_answered(a, path, in->now);
		return;
	}
	/* The path is back: what waits out a doubled RTO need not. */
	if (backoff && sctp_timer_runs(a, SCTP_TIMER_T3) &&
	    a->timers[SCTP_TIMER_T3] > in->now + sctp_rtt_rto(&path->rtt))
		sctp_timer_set(a, SCTP_TIMER_T3, in->now + sctp_rtt_rto(&path->rtt));
}
