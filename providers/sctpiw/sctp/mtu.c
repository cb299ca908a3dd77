/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path MTU discovery without ICMP (RFC 8899, RFC 6951 5.6). A probe is a packet of HEARTBEAT and
 * PAD (RFC 4820) with DF. A chunk cannot be cut anew, so DATA is never cut for more than the path
 * has confirmed: it starts at 1280 bytes, and the first probe, for what the caller was told of the
 * interface, leaves right behind the first packet of an association that is up. Not
 * earlier: a handshake packet padded to that size would cost the connection a second where it is
 * too large, and nothing may stand between COOKIE ECHO and COOKIE ACK (RFC 9260 5.1). It is early
 * enough: a user begins with an exchange of small messages (RFC 5043 sessions), and the probe's
 * answer comes with theirs.
 *
 * Large packets may come to be lost without a word later on. When chunks are lost twice, or the second
 * tail-loss probe in a row leaves, or T3 expires, the MTU in use is probed itself. A probe counts as
 * lost only if something else of ours arrived since: with each one that is sent again goes a small
 * HEARTBEAT, so that a path that is dead or stopped for a while is not taken for a narrow one. After three,
 * the MTU falls to 1280, the search goes upwards from there, and what was cut larger leaves again
 * alone and with DF off. None of it is a sign of congestion (RFC 8899 3, 4.1).
 */
#include "sctp/internal.h"
#include "util/serial.h"

#define BACKOFF_MAX 16u

/* The SCTP packet in an IP packet of so many bytes, or the longest that there is. */
static uint32_t packet_in(const struct sctp_path *path, uint32_t mtu)
{
	uint32_t packet = mtu - (ip_addr_is_v4(&path->addr.remote) ? 20 : 40) -
			  (path->addr.udp_port ? 8 : 0);

	return (packet < SCTP_PACKET_MAX ? packet : SCTP_PACKET_MAX) & ~3u;
}

static uint32_t within(uint32_t mtu)
{
	return mtu < SCTP_MTU_MAX ? mtu : SCTP_MTU_MAX;
}

static void fit(struct sctp_path *path, uint32_t packet)
{
	path->max_packet = packet;
	path->told_packet = packet_in(path, path->pmtu.told);
	sctp_cc_set_pmdcs(&path->cc, packet - WIRE_SCTP_COMMON_LEN);
}

void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu)
{
	bool v4 = ip_addr_is_v4(&path->addr.remote);

	sctp_pmtu_init(&path->pmtu, v4 ? SCTP_PMTU_FLOOR_V4 : SCTP_PMTU_FLOOR_V6,
		       config->mtu_probe ? SCTP_PMTU_BASE : SCTP_MTU_MAX, within(mtu));
	fit(path, packet_in(path, path->pmtu.good));
}

/*
 * DATA is cut for the narrowest of the confirmed paths (7.3), so that each can take over; one whose
 * MTU is still being searched for does not count yet.
 */
void sctp_mtu_fit(struct sctp_assoc *a)
{
	uint32_t least = packet_in(&a->path, a->path.pmtu.good);
	unsigned int i;

	for (i = 1; i <= a->others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);
		uint32_t packet = packet_in(path, path->pmtu.good);

		fit(path, packet);
		if (path->confirmed && !path->pmtu.probe && packet < least)
			least = packet;
	}
	fit(&a->path, least);
}

/* One timer for all paths. */
static void arm(struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i <= a->others; i++)
		if (sctp_path_at(a, i)->mtu_due < when)
			when = sctp_path_at(a, i)->mtu_due;
	if (when == TIME_NEVER)
		sctp_timer_stop(a, SCTP_TIMER_MTU);
	else
		sctp_timer_set(a, SCTP_TIMER_MTU, when);
}

/* A small one, whose answer says that the path is not dead. */
static void want_heartbeat(struct sctp_assoc *a, struct sctp_path *path)
{
	path->hb_wanted = path != &a->path;
	a->pending |= path->hb_wanted ? SCTP_PEND_PATHS : SCTP_PEND_HEARTBEAT;
}

void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path)
{
	if (!path->pmtu.probe || !path->confirmed || !sctp_in_states(a, SCTP_STATES_SEND))
		return;
	path->mtu_due = TIME_NEVER;
	path->mtu_wanted = true;
	arm(a);
	path->probe_tries = 0;
	random_bytes(a->s->random, path->probe_nonce, sizeof(path->probe_nonce));
	a->pending |= SCTP_PEND_MTU;
	sctp_assoc_ready(a);
}

/* After anything has changed: packets of the right size, and the next probe or the wait for it. */
static void go_on(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	uint32_t before = a->path.max_packet;

	sctp_mtu_fit(a);
	if (a->path.max_packet > before && a->declined) { /* perhaps for want of room */
		a->declined = false;
		sctp_assoc_doorbell(a);
	}
	path->mtu_wanted = false;
	path->mtu_due = TIME_NEVER;
	if (path->pmtu.probe)
		sctp_mtu_start(a, path);
	else if (path->pmtu.good < path->pmtu.told)
		path->mtu_due = now + a->s->config.mtu_raise_time;
	arm(a);
}

void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu)
{
	unsigned int i;

	/* All leave through the same interface, or ours says otherwise in time. */
	for (i = 0; i <= a->others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		sctp_pmtu_tell(&path->pmtu, within(mtu));
		path->mtu_due = TIME_NEVER;
		sctp_mtu_start(a, path);
	}
	sctp_mtu_fit(a);
	arm(a);
}

/* What is outstanding fell into it. It leaves again at once, not when T3 has doubled a few times. */
static void black_hole(struct sctp_assoc *a)
{
	uint32_t tsn;

	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++)
		sctp_recovery_mark(a, tsn, sctp_outq_at(&a->out, tsn));
	a->tlp_count = 0;
	a->pending &= ~SCTP_PEND_PROBE;
	sctp_assoc_ready(a);
}

static void expired(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct sctp_pmtu *p = &path->pmtu;
	uint32_t size = p->probe;

	path->mtu_due = TIME_NEVER;
	if (!size) {
		sctp_pmtu_raise(p);
		go_on(a, path, now);
		return;
	}
	if (path->proof > path->probe_sent) {
		if (sctp_pmtu_lost(p) && path == &a->path)
			black_hole(a);
		if (p->probe != size) {
			go_on(a, path, now);
			return;
		}
	} else if (path->probe_tries < BACKOFF_MAX) {
		path->probe_tries++;
	}
	path->mtu_wanted = true;
	a->pending |= SCTP_PEND_MTU;
	want_heartbeat(a, path);
	sctp_assoc_ready(a);
}

void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!sctp_in_states(a, SCTP_STATES_SEND))
		return;
	for (i = 0; i <= a->others; i++)
		if (sctp_path_at(a, i)->mtu_due <= now)
			expired(a, sctp_path_at(a, i), now);
	arm(a);
}

void sctp_mtu_doubt(struct sctp_assoc *a, uint64_t sent)
{
	struct sctp_path *path = &a->path;

	/* A probe that was answered since knows better. */
	if (!a->s->config.mtu_probe || sent < path->probe_answered || !sctp_pmtu_doubt(&path->pmtu))
		return;
	sctp_mtu_start(a, path);
	want_heartbeat(a, path);
}

struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len)
{
	unsigned int i;

	if (!(a->pending & SCTP_PEND_MTU) || !sctp_in_states(a, SCTP_STATES_SEND))
		return NULL;
	for (i = 0; i <= a->others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (path->mtu_wanted && path->pmtu.probe) {
			*len = packet_in(path, path->pmtu.probe);
			return path;
		}
	}
	a->pending &= ~SCTP_PEND_MTU;
	return NULL;
}

/* How long for the answer; as for a tail-loss probe whose SACK is not delayed (see recovery.c). */
static uint64_t wait_for(const struct sctp_assoc *a, const struct sctp_path *path, size_t len)
{
	const struct sctp_rtt *rtt = &path->rtt;
	uint64_t wait = 2 * rtt->srtt;

	if (wait < rtt->srtt + 4 * rtt->rttvar)
		wait = rtt->srtt + 4 * rtt->rttvar;
	wait = wait ? wait + SCTP_TLP_MARGIN_ASKED + len * 100 : sctp_rtt_rto(rtt);
	wait <<= path->probe_tries;
	return wait < a->s->config.rto_max ? wait : a->s->config.rto_max;
}

void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now)
{
	const struct wire_sctp_common h = { a->ep->port, a->remote_port, a->peer_tag };
	size_t pad = len - WIRE_SCTP_COMMON_LEN - SCTP_HEARTBEAT_LEN;
	uint8_t *q = p + WIRE_SCTP_COMMON_LEN;

	wire_sctp_common_put(p, &h);
	sctp_path_heartbeat_chunk(q, path->probe_nonce);
	q += SCTP_HEARTBEAT_LEN;
	memset(q, 0, pad);
	wire_sctp_chunk_put(q, WIRE_SCTP_PAD, 0, pad);
	wire_sctp_checksum_put(p, len);
	path->mtu_wanted = false;
	path->mtu_due = now + wait_for(a, path, len);
	path->probe_sent = now;
	arm(a);
}

void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	if (!path->probe_tries)
		return;
	path->probe_tries = 0;
	if (path->mtu_due == TIME_NEVER || !path->pmtu.probe)
		return;
	path->mtu_due = now + wait_for(a, path, packet_in(path, path->pmtu.probe));
	arm(a);
}

bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now)
{
	/* The nonce is the size's: also the answer to one that was sent again counts. */
	if (!path->pmtu.probe || !path->probe_sent ||
	    memcmp(nonce, path->probe_nonce, sizeof(path->probe_nonce)) != 0)
		return false;
	path->proof = now;
	path->probe_answered = now;
	sctp_pmtu_answered(&path->pmtu);
	go_on(a, path, now);
	return true;
}

static void too_big(struct sctp_assoc *a, const struct path_addr *to, uint32_t mtu, uint64_t now)
{
	struct sctp_path *path = sctp_paths_find(a, &to->remote);

	if (path && sctp_pmtu_too_big(&path->pmtu, within(mtu)))
		go_on(a, path, now);
}

void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now)
{
	struct sctp_assoc *a;

	if (quoted) {
		a = sctp_path_quoted(ep, to, quoted, len);
		if (a)
			too_big(a, to, mtu, now);
		return;
	}
	list_for_each(n, &ep->assocs) {
		a = list_entry(n, struct sctp_assoc, ep_node);
		if (a->state != SCTP_CLOSED)
			too_big(a, to, mtu, now);
	}
}
