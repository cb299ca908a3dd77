// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
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

#define BACKOFF_MAX 6u

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

void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu)
{
	bool v4 = ip_addr_is_v4(&path->addr.remote);

	sctp_pmtu_init(&path->pmtu, v4 ? SCTP_PMTU_FLOOR_V4 : SCTP_PMTU_FLOOR_V6,
		       config->mtu_probe ? SCTP_PMTU_BASE : SCTP_MTU_MAX, within(mtu));
	sctp_mtu_fit(path);
}

void sctp_mtu_fit(struct sctp_path *path)
{
	path->max_packet = packet_in(path, path->pmtu.good);
	path->told_packet = packet_in(path, path->pmtu.told);
	sctp_cc_set_pmdcs(&path->cc, path->max_packet - WIRE_SCTP_COMMON_LEN);
}

void sctp_mtu_start(struct sctp_assoc *a)
{
	struct sctp_path *path = &a->path;

	if (!path->pmtu.probe || !sctp_in_states(a, SCTP_STATES_SEND))
		return;
	sctp_timer_stop(a, SCTP_TIMER_MTU);
	path->probe_tries = 0;
	random_bytes(a->s->random, path->probe_nonce, sizeof(path->probe_nonce));
	a->pending |= SCTP_PEND_MTU;
	sctp_assoc_ready(a);
}

/* After anything has changed: packets of the right size, and the next probe or the wait for it. */
static void go_on(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_path *path = &a->path;
	uint32_t before = path->max_packet;

	sctp_mtu_fit(path);
	if (path->max_packet > before && a->declined) { /* perhaps for want of room */
		a->declined = false;
		sctp_assoc_kick(a);
	}
	a->pending &= ~SCTP_PEND_MTU;
	if (path->pmtu.probe)
		sctp_mtu_start(a);
	else if (path->pmtu.good < path->pmtu.told)
		sctp_timer_set(a, SCTP_TIMER_MTU, now + a->s->config.mtu_raise_time);
	else
		sctp_timer_stop(a, SCTP_TIMER_MTU);
}

void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu)
{
	sctp_pmtu_tell(&a->path.pmtu, within(mtu));
	sctp_mtu_fit(&a->path);
	sctp_timer_stop(a, SCTP_TIMER_MTU);
	sctp_mtu_start(a);
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

void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_path *path = &a->path;
	struct sctp_pmtu *p = &path->pmtu;
	uint32_t size = p->probe;

	if (!sctp_in_states(a, SCTP_STATES_SEND))
		return;
	if (!size) {
		sctp_pmtu_raise(p);
		go_on(a, now);
		return;
	}
	if (a->proof > path->probe_sent) {
		if (sctp_pmtu_lost(p))
			black_hole(a);
		if (p->probe != size) {
			go_on(a, now);
			return;
		}
	} else if (path->probe_tries < BACKOFF_MAX) {
		path->probe_tries++;
	}
	a->pending |= SCTP_PEND_MTU | SCTP_PEND_HEARTBEAT;
	sctp_assoc_ready(a);
}

void sctp_mtu_doubt(struct sctp_assoc *a, uint64_t sent)
{
	struct sctp_path *path = &a->path;

	/* A probe that was answered since knows better. */
	if (!a->s->config.mtu_probe || sent < path->probe_answered || !sctp_pmtu_doubt(&path->pmtu))
		return;
	sctp_mtu_start(a);
	a->pending |= SCTP_PEND_HEARTBEAT;
}

size_t sctp_mtu_probe_len(const struct sctp_assoc *a)
{
	if (!(a->pending & SCTP_PEND_MTU) || !a->path.pmtu.probe ||
	    !sctp_in_states(a, SCTP_STATES_SEND))
		return 0;
	return packet_in(&a->path, a->path.pmtu.probe);
}

void sctp_mtu_probe_put(struct sctp_assoc *a, uint8_t *p, size_t len, uint64_t now)
{
	const struct wire_sctp_common h = { a->ep->port, a->remote_port, a->peer_tag };
	struct sctp_path *path = &a->path;
	const struct sctp_rtt *rtt = &path->rtt;
	uint64_t wait = 2 * rtt->srtt;
	size_t pad = len - WIRE_SCTP_COMMON_LEN - SCTP_HEARTBEAT_LEN;
	uint8_t *q = p + WIRE_SCTP_COMMON_LEN;

	wire_sctp_common_put(p, &h);
	sctp_path_heartbeat_chunk(q, path->probe_nonce);
	q += SCTP_HEARTBEAT_LEN;
	memset(q, 0, pad);
	wire_sctp_chunk_put(q, WIRE_SCTP_PAD, 0, pad);
	wire_sctp_checksum_put(p, len);
	/* As for a tail-loss probe whose SACK is not delayed (see recovery.c). */
	if (wait < rtt->srtt + 4 * rtt->rttvar)
		wait = rtt->srtt + 4 * rtt->rttvar;
	wait = wait ? wait + SCTP_TLP_MARGIN_ASKED + len * 100 : sctp_rtt_rto(rtt);
	sctp_timer_set(a, SCTP_TIMER_MTU, now + (wait << path->probe_tries));
	path->probe_sent = now;
	a->pending &= ~SCTP_PEND_MTU;
}

bool sctp_mtu_answered(struct sctp_assoc *a, const uint8_t *nonce, uint64_t now)
{
	struct sctp_path *path = &a->path;

	/* The nonce is the size's: also the answer to one that was sent again counts. */
	if (!path->pmtu.probe || !path->probe_sent ||
	    memcmp(nonce, path->probe_nonce, sizeof(path->probe_nonce)) != 0)
		return false;
	path->probe_answered = now;
	sctp_pmtu_answered(&path->pmtu);
	go_on(a, now);
	return true;
}

static void too_big(struct sctp_assoc *a, uint32_t mtu, uint64_t now)
{
	if (sctp_pmtu_too_big(&a->path.pmtu, within(mtu)))
		go_on(a, now);
}

void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now)
{
	struct sctp_assoc *a;

	if (quoted) {
		a = sctp_path_quoted(ep, to, quoted, len);
		if (a)
			too_big(a, mtu, now);
		return;
	}
	list_for_each(n, &ep->assocs) {
		a = list_entry(n, struct sctp_assoc, ep_node);
		if (a->state != SCTP_CLOSED && ip_addr_equal(&a->path.addr.remote, &to->remote))
			too_big(a, mtu, now);
	}
}
