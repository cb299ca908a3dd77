/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The other addresses of a peer that has several (RFC 9260 5.4, 6.4, 8.2). What it lists in its INIT
 * or INIT ACK is a claim: nothing but HEARTBEATs goes there, with one a COOKIE ECHO that was not answered
 * elsewhere, until one was answered with its nonce, which what sits behind a NAT, or was never the peer's,
 * cannot do. Encapsulated, the first goes to the UDP port of the path in use (RFC 6951 5.7).
 *
 * All DATA goes on one path at a time. When a timer says that it failed, another one that
 * works takes over at once and the failed one gets a HEARTBEAT each RTO (RFC 7829 with PFMR = 0: one
 * timeout, not six, is what a transfer waits for). Since everything outstanding is lost by then,
 * nothing is ever in flight on two paths: the accounts, RACK and congestion control deal with one. When
 * the primary path answers again, no new DATA is sent until nothing is in flight, which takes a round trip,
 * and it goes back.
 *
 * We have one address ourselves as far as the peer is told, and all packets come from it: from another
 * one the peer would take them for somebody's who has no association, and answer with an ABORT.
 */
#include <stdlib.h>
#include <string.h>

#include "sctp/internal.h"

#define CLAIM_TRIES 2 /* unanswered, before the last of the quick ones */
#define CLAIM_INTERVAL (600000 * SCTP_NSEC_PER_MSEC)
#define STATES_UP (SCTP_STATES_SEND | SCTP_STATES_RECEIVE | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT))

/* Of the family that the association uses already, and an address that one host has for all. */
static bool usable(const struct sctp_assoc *a, const struct ip_addr *addr)
{
	bool v4 = ip_addr_is_v4(addr);

	if (v4 != ip_addr_is_v4(&a->path.addr.remote) || ip_addr_is_zero(addr) ||
	    ip_addr_is_loopback(addr) != ip_addr_is_loopback(&a->path.addr.remote))
		return false;
	if (v4)
		return addr->b[12] && addr->b[12] < 224;
	return addr->b[0] != 0xff && !ip_addr_is_link_local(addr);
}

uint16_t sctp_paths_type(const struct sctp_assoc *a)
{
	return ip_addr_is_v4(&a->path.addr.remote) ? WIRE_SCTP_PARAM_IPV4 : WIRE_SCTP_PARAM_IPV6;
}

struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote)
{
	unsigned int i;

	for (i = 0; i <= a->others; i++)
		if (ip_addr_equal(&sctp_path_at(a, i)->addr.remote, remote))
			return sctp_path_at(a, i);
	return NULL;
}

const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; !a->path.primary && i < a->others; i++)
		if (a->other[i].primary)
			return &a->other[i];
	return &a->path;
}

static void add(struct sctp_assoc *a, const struct ip_addr *remote)
{
	struct path_addr addr = a->path.addr;
	struct sctp_path *path = &a->other[a->others];

	if (a->others == SCTP_PATHS_MAX - 1 || sctp_paths_find(a, remote))
		return;
	addr.remote = *remote;
	sctp_path_init(path, &a->s->config, &addr, a->path.pmtu.told);
	path->usable = usable(a, remote);
	a->others++;
}

void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n)
{
	unsigned int i;

	sctp_paths_clear(a);
	if (!n && ip_addr_equal(&from->remote, &a->path.addr.remote))
		return;
	a->other = calloc(SCTP_PATHS_MAX - 1, sizeof(*a->other));
	if (!a->other) /* as if it had listed none */
		return;
	add(a, &from->remote);
	for (i = 0; i < n; i++)
		add(a, &addr[i]);
	if (a->others)
		list_add_tail(&a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED], &a->other_node);
}

void sctp_paths_clear(struct sctp_assoc *a)
{
	list_del(&a->other_node);
	free(a->other);
	a->other = NULL;
	a->others = 0;
	a->moving = false;
	a->sack_from = 0;
	a->echo_path = 0;
	sctp_timer_stop(a, SCTP_TIMER_PATHS);
}

static void arm(struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < a->others; i++)
		if (a->other[i].hb_due < when)
			when = a->other[i].hb_due;
	if (when == TIME_NEVER)
		sctp_timer_stop(a, SCTP_TIMER_PATHS);
	else
		sctp_timer_set(a, SCTP_TIMER_PATHS, when);
}

void sctp_paths_start(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	/* HB.Max.Burst: one in an RTO. */
	for (i = 0; i < a->others; i++)
		if (a->other[i].usable)
			a->other[i].hb_due = now + (i + 1) * sctp_rtt_rto(&a->path.rtt);
	arm(a);
}

/*
 * How long after this HEARTBEAT the next one follows (8.3). A claim that nobody bears out may be the
 * address of a victim: it gets three, and then one in ten minutes.
 */
static uint64_t interval(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t idle = a->s->config.heartbeat_interval;

	if (!path->confirmed && path->errors >= CLAIM_TRIES)
		return CLAIM_INTERVAL;
	/* To know soon that one is there, or back. */
	if ((path->errors || !path->confirmed) && path->errors <= SCTP_PATH_RETRANS)
		return rto;
	return rto + idle - random_u32(a->s->random) % (idle / 10);
}

void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!sctp_in_states(a, STATES_UP))
		return;
	for (i = 0; i < a->others; i++) {
		struct sctp_path *path = &a->other[i];

		if (path->hb_due > now)
			continue;
		/* One that the path MTU asked for may just have left. */
		if (path->hb_sent && now - path->hb_sent >= sctp_rtt_rto(&path->rtt) / 2) {
			path->errors++;
			sctp_rtt_backoff(&path->rtt);
		}
		path->hb_due = now + interval(a, path);
		path->hb_wanted = true;
		a->pending |= SCTP_PEND_PATHS;
		sctp_assoc_ready(a);
	}
	arm(a);
}

/* Nothing is in flight: other[i] carries DATA from now on. */
static void use(struct sctp_assoc *a, unsigned int i, uint64_t now)
{
	struct sctp_path path = a->other[i];

	a->other[i] = a->path;
	a->path = path;
	sctp_assoc_rehash(a);
	a->path.hb_due = TIME_NEVER;
	a->path.hb_wanted = false;
	a->path.unanswered = 0;
	a->path.heard = now;
	a->path.last_data = 0;
	a->other[i].probing = 0;
	a->other[i].hb_due = now;
	a->other[i].hb_sent = 0;
	a->pending &= ~SCTP_PEND_HEARTBEAT;
	/* What was measured on the other one means nothing here. */
	a->rtt_running = false;
	a->reordered = false;
	a->recovering = false;
	a->rescue = 0;
	a->cwnd_limited = false;
	a->tlp_count = 0;
	a->timeouts = 0;
	a->moving = false;
	a->sack_from = 0;
	sctp_mtu_fit(a);
	sctp_path_start(a, now);
	arm(a);
	sctp_assoc_ready(a);
}

bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i, best = a->others;
	uint32_t tsn, errors;

	if (!a->path.errors)
		a->path.errors = 1;
	errors = a->path.errors;
	for (i = 0; i < a->others; i++) {
		const struct sctp_path *path = &a->other[i];

		/* The primary path, where all are alike. */
		if (path->usable && path->confirmed &&
		    (path->errors < errors || (best != a->others && path->primary && path->errors == errors))) {
			best = i;
			errors = path->errors;
		}
	}
	if (best == a->others)
		return false;
	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++)
		sctp_recovery_mark(a, tsn, sctp_outq_at(&a->out, tsn));
	use(a, best, now);
	if (a->lost)
		sctp_timer_set(a, SCTP_TIMER_T3, now + sctp_rtt_rto(&a->path.rtt));
	return true;
}

void sctp_paths_settle(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!a->moving || a->path.flight || a->lost)
		return;
	a->moving = false;
	for (i = 0; i < a->others; i++)
		if (a->other[i].primary && !a->other[i].errors) {
			use(a, i, now);
			return;
		}
}

void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	bool fresh = !path->confirmed;

	path->confirmed = true;
	path->hb_due = now + interval(a, path);
	arm(a);
	if (fresh) {
		sctp_mtu_start(a, path);
		sctp_mtu_fit(a);
	}
	if (a->timeouts || a->path.errors) { /* none worked when the one in use failed */
		sctp_paths_fail_over(a, now);
	} else if (path->primary) {
		a->moving = true;
		sctp_paths_settle(a, now);
	}
}

/* A COOKIE ECHO to where the peer is not known to be: with a HEARTBEAT in a packet of the path MTU (5.4). */
static size_t cookie_echo(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t room,
			  uint64_t now)
{
	size_t len = WIRE_SCTP_CHUNK_LEN + a->cookie_len;
	size_t whole = round_up4(len);

	if (whole + SCTP_HEARTBEAT_LEN > room ||
	    WIRE_SCTP_COMMON_LEN + whole + SCTP_HEARTBEAT_LEN > path->max_packet)
		return 0;
	a->pending &= ~SCTP_PEND_COOKIE_ECHO;
	wire_sctp_chunk_put(p, WIRE_SCTP_COOKIE_ECHO, 0, len);
	memcpy(p + WIRE_SCTP_CHUNK_LEN, a->cookie, a->cookie_len);
	wire_sctp_pad(p, len);
	return whole + sctp_path_heartbeat_put(a, path, p + whole, now);
}

size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to)
{
	const struct wire_sctp_common h = { a->ep->port, a->remote_port, a->peer_tag };
	struct sctp_path *path = sctp_path_at(a, a->sack_from);
	size_t len = WIRE_SCTP_COMMON_LEN;
	unsigned int i;
	size_t chunks;

	wire_sctp_common_put(p, &h);
	if (a->pending & SCTP_PEND_COOKIE_ECHO && a->echo_path) {
		path = &a->other[a->echo_path - 1];
		*to = path->addr;
		chunks = cookie_echo(a, path, p + len, room - len, now);
		if (!chunks) /* it does not fit, and goes where the INIT went */
			a->echo_path = 0;
		return chunks ? len + chunks : 0;
	}
	/* A SACK goes to where the DATA came from (6.4), if the peer is known to be there (5.4). */
	if (a->sack_from && a->pending & SCTP_PEND_SACK && !(a->pending & SCTP_PEND_COOKIE_ACK) &&
	    path->confirmed && path->usable) {
		if (room > path->max_packet)
			room = path->max_packet;
		len += sctp_rx_sack_put(a, p + len, room - len);
		sctp_rx_sack_sent(a);
		*to = path->addr;
		return len;
	}
	for (i = 0; a->pending & SCTP_PEND_PATHS && i < a->others; i++) {
		path = &a->other[i];
		if (!path->hb_wanted)
			continue;
		path->hb_wanted = false;
		len += sctp_path_heartbeat_put(a, path, p + len, now);
		*to = path->addr;
		return len;
	}
	a->pending &= ~SCTP_PEND_PATHS;
	return 0;
}
