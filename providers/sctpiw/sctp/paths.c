/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a peer lists in its INIT or INIT ACK is a claim. Nothing but HEARTBEATs goes to such an
 * address, and with one of them a COOKIE ECHO that was not answered elsewhere, until a HEARTBEAT
 * was answered with its nonce. A host behind a NAT, or one that never was the peer, cannot do that.
 * Encapsulated, the first HEARTBEAT goes to the UDP port of the path in use (RFC 6951 5.7).
 *
 * All DATA goes on one path at a time. When a timer says that this path has failed, another one
 * that works takes over at once, and the failed one gets a HEARTBEAT each RTO (RFC 7829 with PFMR =
 * 0: a transfer waits for one timeout, not for six). Since everything outstanding is lost by then,
 * nothing is ever in flight on two paths, and accounts, RACK and congestion control deal with one.
 * When the primary path answers again, no new DATA is sent until nothing is in flight, which takes
 * a round trip; then the association goes back.
 *
 * That timer need not be T3, which is a second at least: if a tail-loss probe was not answered either, and
 * another path works, the association goes there (sctp_paths_suspect()), and comes back if that was wrong. So a
 * transfer stands still for some 130 ms on a network of short round trips.
 */
#include "sctp/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sctp/assoc.h"
#include "sctp/mtu.h"
#include "sctp/trace.h"
#include "wire/sctp_init.h"

#define CLAIM_TRIES 2u /* HEARTBEATs unanswered, before the last one that follows soon */
#define CLAIM_INTERVAL (600 * NSEC_PER_SEC)
/* The primary path that has failed is not used for so long, at least; and at most, if it fails again and again. */
#define HOLD_MIN NSEC_PER_SEC
#define HOLD_MAX (64 * NSEC_PER_SEC)

/*
 * Whether we are able to send there: the address is of the family and scope that the association
 * uses already, and means the same host to everybody.
 */
static bool usable(const struct sctp_assoc *a, const struct ip_addr *addr)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	bool v4 = ip_addr_is_v4(addr);

	/* Hosts have addresses that many others have as well, of their containers' bridges. */
	if (ops->is_own && !ip_addr_is_loopback(addr) && ops->is_own(a->ep->ctx, addr))
		return false;
	if (v4 != ip_addr_is_v4(&a->path->addr.remote) || ip_addr_is_zero(addr) ||
	    ip_addr_is_loopback(addr) != ip_addr_is_loopback(&a->path->addr.remote))
		return false;
	if (v4)
		return addr->b[12] && addr->b[12] < 224 &&
		       !(addr->b[12] == 169 && addr->b[13] == 254); /* of one link (RFC 3927) */
	return addr->b[0] != 0xff && !ip_addr_is_link_local(addr);
}

uint16_t sctp_paths_type(const struct sctp_assoc *a)
{
	return ip_addr_is_v4(&a->path->addr.remote) ? WIRE_SCTP_PARAM_IPV4 : WIRE_SCTP_PARAM_IPV6;
}

struct sctp_path *sctp_paths_find(struct sctp_assoc *a, const struct ip_addr *remote)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (ip_addr_equal(&sctp_path_at(a, i)->addr.remote, remote))
			return sctp_path_at(a, i);
	return NULL;
}

const struct sctp_path *sctp_paths_primary(const struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; !a->path->primary && i < a->paths.others; i++)
		if (a->paths.other[i]->primary)
			return a->paths.other[i];
	return a->path;
}

void sctp_paths_init(struct sctp_assoc *a, const struct path_addr *addr, uint32_t mtu)
{
	a->path = &a->paths.first;
	list_init(&a->paths.node);
	sctp_path_init(a->path, &a->s->config, addr, mtu);
	a->path->primary = true;
	a->path->confirmed = true; /* the user named it, or our INIT ACK arrived there (5.4) */
}

void sctp_paths_restart(struct sctp_assoc *a, const struct path_addr *addr)
{
	uint32_t mtu = sctp_paths_primary(a)->mtu.search.told;

	sctp_paths_clear(a);
	sctp_paths_init(a, addr, mtu);
	sctp_assoc_rehash(a);
}

void sctp_paths_clear(struct sctp_assoc *a)
{
	struct sctp_path in_use = *a->path;

	list_del(&a->paths.node);
	free(a->paths.listed);
	a->paths = (struct sctp_paths){ .first = in_use };
	list_init(&a->paths.node);
	a->path = &a->paths.first;
	sctp_timer_stop(a, SCTP_TIMER_PATHS);
}

static void add(struct sctp_assoc *a, const struct ip_addr *remote)
{
	struct path_addr addr = a->path->addr;
	struct sctp_path *path = &a->paths.listed[a->paths.others];

	if (a->paths.others == SCTP_PATHS_MAX - 1 || sctp_paths_find(a, remote))
		return;
	addr.remote = *remote;
	sctp_path_init(path, &a->s->config, &addr, a->path->mtu.search.told);
	path->usable = usable(a, remote);
	if (path->usable)
		sctp_locals_choose(a, path);
	a->paths.other[a->paths.others++] = path;
}

void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n)
{
	unsigned int i;

	sctp_paths_clear(a);
	sctp_locals_begin(a);
	if (!n && ip_addr_equal(&from->remote, &a->path->addr.remote))
		return;
	a->paths.listed = calloc(SCTP_PATHS_MAX - 1, sizeof(*a->paths.listed));
	if (!a->paths.listed) /* as if the peer had listed none */
		return;
	add(a, &from->remote);
	for (i = 0; i < n; i++)
		add(a, &addr[i]);
	if (a->paths.others)
		list_add_tail(&a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED], &a->paths.node);
}

/* Sets the timer to the earliest HEARTBEAT. */
static void arm(struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < a->paths.others; i++)
		if (a->paths.other[i]->hb.due < when)
			when = a->paths.other[i]->hb.due;
	if (when == TIME_NEVER)
		sctp_timer_stop(a, SCTP_TIMER_PATHS);
	else
		sctp_timer_set(a, SCTP_TIMER_PATHS, when);
}

void sctp_paths_start(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	/* HB.Max.Burst allows one in an RTO. */
	for (i = 0; i < a->paths.others; i++)
		if (a->paths.other[i]->usable)
			a->paths.other[i]->hb.due = now + (i + 1) * sctp_rtt_rto(&a->path->rtt);
	arm(a);
}

/*
 * How long after this HEARTBEAT the next one follows (8.3), ns. An address that nobody confirms may
 * be that of a victim: it gets three HEARTBEATs, and then one in ten minutes.
 */
static uint64_t interval(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t idle = a->s->config.heartbeat_interval;

	if (!path->confirmed && path->health.errors >= CLAIM_TRIES)
		return CLAIM_INTERVAL;
	/* To know soon that the peer is there, or back. */
	if ((path->health.errors || !path->confirmed) && path->health.errors <= SCTP_PATH_RETRANS)
		return rto;
	return rto + idle - random_u32(a->s->random) % (idle / 10);
}

void sctp_paths_timeout(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!sctp_in_states(a, SCTP_STATES_UP))
		return;
	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		if (path->hb.due > now)
			continue;
		/*
		 * A HEARTBEAT that the path MTU asked for may just have left, and is not judged
		 * yet.
		 */
		if (path->hb.sent && now - path->hb.sent >= sctp_rtt_rto(&path->rtt) / 2) {
			path->health.errors++;
			TRACE(path_failed, now, .assoc = a->local_tag, .remote = &path->addr.remote,
			      .errors = path->health.errors);
			sctp_rtt_backoff(&path->rtt);
		}
		path->hb.due = now + interval(a, path);
		path->hb.wanted = true;
		a->pending |= SCTP_PEND_PATHS;
		sctp_assoc_ready(a);
	}
	arm(a);
}

/* Nothing is in flight: other[i] carries DATA from now on. */
static void use(struct sctp_assoc *a, unsigned int i, uint64_t now)
{
	struct sctp_path *path = a->paths.other[i];
	struct sctp_path *old = a->path;

	TRACE(path_used, now, .assoc = a->local_tag, .old = &old->addr.remote,
	      .remote = &path->addr.remote, .why = old->health.errors ? "failover" : "primary");
	a->path = path;
	a->paths.other[i] = old;
	a->paths.returning_to_primary = false;
	a->paths.sack_path = NULL;
	sctp_assoc_rehash(a);
	path->hb.due = TIME_NEVER;
	path->hb.wanted = false;
	path->health.unanswered = 0;
	path->last_data = 0;
	old->hb.due = now;
	old->hb.sent = 0;
	old->health.ticks = 0;
	a->pending &= ~SCTP_PEND_HEARTBEAT;
	/* What has happened on the other path means nothing here. */
	a->recovery.now = (struct sctp_episode){ 0 };
	sctp_mtu_fit(a);
	sctp_path_start(a, now);
	arm(a);
	sctp_assoc_ready(a);
}

/* Whether packets may go there: the peer is there, and we have a way. */
static bool works(struct sctp_assoc *a, struct sctp_path *path)
{
	return path->usable && path->confirmed && sctp_locals_choose(a, path);
}

/*
 * The path to use in the place of that in use, as an index of other[]: the one with the fewest errors, but fewer than
 * that; the primary path, where they are equal. If there is none, a->paths.others.
 */
static unsigned int best_other(struct sctp_assoc *a, uint32_t errors)
{
	unsigned int i, best = a->paths.others;

	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];
		bool better =
			path->health.errors < errors ||
			(best != a->paths.others && path->primary && path->health.errors == errors);

		if (better && works(a, path)) {
			best = i;
			errors = path->health.errors;
		}
	}
	return best;
}

/*
 * A path that fails again soon after it was used again is left alone for twice as long as before, so that the
 * association does not go to and fro.
 */
static void leave_primary(struct sctp_paths *p, uint64_t now)
{
	bool soon = p->returned && now - p->returned < 2 * p->hold;

	if (!soon)
		p->hold = HOLD_MIN;
	else if (p->hold < HOLD_MAX)
		p->hold *= 2;
	p->hold_until = now + p->hold;
}

/* other[i] takes over what was outstanding. */
static void fail_over_to(struct sctp_assoc *a, unsigned int i, uint64_t now)
{
	if (a->path->primary)
		leave_primary(&a->paths, now);
	sctp_trace_all_lost(a, "path_failed", now);
	sctp_inflight_all_lost(a);
	use(a, i, now);
	if (a->inflight.lost)
		sctp_timer_set(a, SCTP_TIMER_T3, now + sctp_rtt_rto(&a->path->rtt));
}

bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now)
{
	unsigned int best;

	if (!a->path->health.errors)
		a->path->health.errors = 1;
	best = best_other(a, a->path->health.errors);
	if (best == a->paths.others) {
		/* The peer has no other address, but we may have another way to this one by now. */
		sctp_locals_choose(a, a->path);
		return false;
	}
	fail_over_to(a, best, now);
	return true;
}

bool sctp_paths_suspect(struct sctp_assoc *a, uint64_t now)
{
	unsigned int best = best_other(a, 1);

	if (best == a->paths.others)
		return false;
	a->path->health.errors++;
	sctp_cc_timeout(&a->path->cc);
	TRACE(path_failed, now, .assoc = a->local_tag, .remote = &a->path->addr.remote,
	      .errors = a->path->health.errors);
	fail_over_to(a, best, now);
	return true;
}

void sctp_paths_readdress(struct sctp_assoc *a, uint64_t now)
{
	const struct ip_addr before = a->path->addr.local;
	unsigned int i;

	if (!a->locals.n || !sctp_in_states(a, SCTP_STATES_UP))
		return;
	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		/* Those that nobody has confirmed may be a victim's, which hears no more for this. */
		if (works(a, path) && path->health.errors)
			path->hb.due = now;
	}
	arm(a);
	if (!sctp_locals_choose(a, a->path)) {
		sctp_paths_fail_over(a, now);
	} else if (!ip_addr_equal(&before, &a->path->addr.local)) {
		/* What is under way may be lost, and its answers with it. */
		sctp_trace_all_lost(a, "readdressed", now);
		sctp_inflight_all_lost(a);
		a->pending |= SCTP_PEND_HEARTBEAT;
		sctp_assoc_ready(a);
	}
}

void sctp_paths_settle(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!a->paths.returning_to_primary || a->path->flight || a->inflight.lost)
		return;
	a->paths.returning_to_primary = false;
	for (i = 0; i < a->paths.others; i++)
		if (a->paths.other[i]->primary && !a->paths.other[i]->health.errors) {
			a->paths.returned = now;
			use(a, i, now);
			return;
		}
}

void sctp_paths_answered(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	bool fresh = !path->confirmed;

	path->confirmed = true;
	path->hb.due = now + interval(a, path);
	arm(a);
	if (fresh) {
		TRACE(path_confirmed, now, .assoc = a->local_tag, .remote = &path->addr.remote);
		sctp_mtu_start(a, path);
		sctp_mtu_fit(a);
	}
	/* The path in use may have failed, or be in doubt, while no other one worked. */
	if (a->recovery.now.timeouts || a->path->health.errors || !a->path->confirmed) {
		sctp_paths_fail_over(a, now);
	} else if (path->primary && now >= a->paths.hold_until) {
		a->paths.returning_to_primary = true;
		sctp_paths_settle(a, now);
	}
}

/* ---- addresses that come and go (RFC 5061) ---- */

/* Memory for one more path: a place that none of them has. */
static struct sctp_path *spare(struct sctp_assoc *a)
{
	struct sctp_path *path = &a->paths.first;
	unsigned int i, j;

	if (a->paths.others == SCTP_PATHS_MAX - 1)
		return NULL;
	if (!a->paths.listed)
		a->paths.listed = calloc(SCTP_PATHS_MAX - 1, sizeof(*a->paths.listed));
	if (!a->paths.listed)
		return NULL;
	for (i = 0;; path = &a->paths.listed[i++]) {
		for (j = 0; j <= a->paths.others && sctp_path_at(a, j) != path; j++)
			;
		if (j > a->paths.others)
			return path;
	}
}

int sctp_paths_add(struct sctp_assoc *a, const struct path_addr *addr, uint64_t ask_at)
{
	struct path_addr to = a->path->addr;
	struct sctp_path *path;

	if (sctp_paths_find(a, &addr->remote))
		return 0;
	if (!usable(a, &addr->remote))
		return -EADDRNOTAVAIL;
	path = spare(a);
	if (!path)
		return -ENOSPC;
	to.remote = addr->remote;
	to.udp_port = addr->udp_port;
	sctp_path_init(path, &a->s->config, &to, a->path->mtu.search.told);
	sctp_locals_choose(a, path);
	path->hb.due = ask_at;
	if (!a->paths.others)
		list_add_tail(&a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED], &a->paths.node);
	a->paths.other[a->paths.others++] = path;
	arm(a);
	return 0;
}

bool sctp_paths_is_last(const struct sctp_assoc *a, const struct sctp_path *path)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i) != path && sctp_path_at(a, i)->usable)
			return false;
	return true;
}

/* The path in use is about to be removed: the index, in other[], of the one that takes over. */
static unsigned int successor(struct sctp_assoc *a, const struct ip_addr *heir)
{
	unsigned int i, best = best_other(a, UINT32_MAX);

	for (i = 0; best == a->paths.others && i < a->paths.others; i++)
		if (a->paths.other[i]->usable &&
		    ip_addr_equal(&a->paths.other[i]->addr.remote, heir))
			best = i;
	for (i = 0; best == a->paths.others; i++)
		if (a->paths.other[i]->usable)
			best = i;
	return best;
}

/* Nothing may leave but HEARTBEATs, so nothing is waited for either. */
static void doubt(struct sctp_assoc *a)
{
	sctp_timer_stop(a, SCTP_TIMER_T3);
	sctp_timer_stop(a, SCTP_TIMER_TLP);
	sctp_timer_stop(a, SCTP_TIMER_REORDER);
	a->pending &= ~SCTP_PEND_PROBE;
	a->pending |= SCTP_PEND_HEARTBEAT;
}

static void replace(struct sctp_assoc *a, const struct ip_addr *heir, uint64_t now)
{
	bool primary = a->path->primary;

	a->path->primary = false;
	fail_over_to(a, successor(a, heir), now);
	if (primary)
		a->path->primary = true;
	if (!a->path->confirmed)
		doubt(a);
}

void sctp_paths_remove(struct sctp_assoc *a, struct sctp_path *path, const struct ip_addr *heir,
		       uint64_t now)
{
	unsigned int i;

	if (path == a->path)
		replace(a, heir, now);
	if (path->primary)
		a->path->primary = true;
	for (i = 0; a->paths.other[i] != path; i++)
		;
	a->paths.others--;
	memmove(&a->paths.other[i], &a->paths.other[i + 1],
		(a->paths.others - i) * sizeof(a->paths.other[0]));
	if (!a->paths.others)
		list_del(&a->paths.node);
	if (a->paths.sack_path == path)
		a->paths.sack_path = NULL;
	a->paths.echo_index = 0;
	arm(a);
	sctp_mtu_fit(a);
}

void sctp_paths_set_primary(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		sctp_path_at(a, i)->primary = false;
	path->primary = true;
	a->paths.hold = a->paths.hold_until = 0;
	a->paths.returning_to_primary = path != a->path && path->confirmed && !path->health.errors;
	sctp_paths_settle(a, now);
}

bool sctp_paths_in_doubt(const struct sctp_assoc *a)
{
	return !a->path->confirmed && sctp_in_states(a, SCTP_STATES_UP);
}

void sctp_paths_confirm(struct sctp_assoc *a, uint64_t now)
{
	a->path->confirmed = true;
	TRACE(path_confirmed, now, .assoc = a->local_tag, .remote = &a->path->addr.remote);
	sctp_mtu_start(a, a->path);
	sctp_mtu_fit(a);
	if (a->inflight.lost)
		sctp_timer_set(a, SCTP_TIMER_T3, now + sctp_rtt_rto(&a->path->rtt));
	sctp_assoc_ready(a);
}

/* ---- packets ---- */

/*
 * A COOKIE ECHO to where the peer is not known to be, with a HEARTBEAT in one packet (5.4). Returns
 * its length in bytes; 0: it does not fit the path MTU.
 */
static size_t cookie_echo(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t room,
			  uint64_t now)
{
	size_t len = WIRE_SCTP_CHUNK_LEN + a->setup.cookie_len;
	size_t whole = round_up4(len);

	if (whole + SCTP_HEARTBEAT_LEN > room ||
	    WIRE_SCTP_COMMON_LEN + whole + SCTP_HEARTBEAT_LEN > path->mtu.max_packet)
		return 0;
	a->pending &= ~SCTP_PEND_COOKIE_ECHO;
	wire_sctp_chunk_put(p, WIRE_SCTP_COOKIE_ECHO, 0, len);
	memcpy(p + WIRE_SCTP_CHUNK_LEN, a->setup.cookie, a->setup.cookie_len);
	wire_sctp_pad(p, len);
	return whole + sctp_path_heartbeat_put(a, path, p + whole, now);
}

/*
 * A SACK to where the DATA came from (6.4), if one is due and the peer is known to be there (5.4).
 */
static size_t sack(struct sctp_assoc *a, uint8_t *p, size_t room, struct path_addr *to)
{
	const struct sctp_path *path = a->paths.sack_path;
	size_t hold = sctp_receipts_hold_len(a);
	struct sctp_sack_plan plan;

	if (!path || !(a->pending & SCTP_PEND_SACK) || a->pending & SCTP_PEND_COOKIE_ACK ||
	    !path->confirmed || !path->usable)
		return 0;
	if (room > path->mtu.max_packet - WIRE_SCTP_COMMON_LEN)
		room = path->mtu.max_packet - WIRE_SCTP_COMMON_LEN;
	plan = sctp_rx_sack_plan(a, room - hold);
	sctp_rx_sack_put(a, &plan, p);
	sctp_receipts_sack_sent(a, p + plan.len, hold);
	sctp_rx_sack_sent(a);
	*to = path->addr;
	return plan.len + hold;
}

/* The HEARTBEAT of one path that wants one. */
static size_t heartbeat(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to)
{
	unsigned int i;

	for (i = 0; a->pending & SCTP_PEND_PATHS && i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		if (!path->hb.wanted)
			continue;
		path->hb.wanted = false;
		sctp_locals_choose(a, path);
		*to = path->addr;
		return sctp_path_heartbeat_put(a, path, p, now);
	}
	a->pending &= ~SCTP_PEND_PATHS;
	return 0;
}

size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to)
{
	const struct wire_sctp_common h = sctp_assoc_header(a);
	uint8_t *chunk = p + WIRE_SCTP_COMMON_LEN;
	size_t len;

	room -= WIRE_SCTP_COMMON_LEN;
	wire_sctp_common_put(p, &h);
	len = sctp_asconf_put(a, chunk, now, to);
	if (len)
		return WIRE_SCTP_COMMON_LEN + len;
	if (sctp_paths_in_doubt(a) && a->pending & SCTP_PEND_HEARTBEAT) {
		a->pending &= ~SCTP_PEND_HEARTBEAT;
		sctp_locals_choose(a, a->path);
		*to = a->path->addr;
		return WIRE_SCTP_COMMON_LEN + sctp_path_heartbeat_put(a, a->path, chunk, now);
	}
	if (a->pending & SCTP_PEND_COOKIE_ECHO && a->paths.echo_index) {
		struct sctp_path *path = sctp_path_at(a, a->paths.echo_index);

		*to = path->addr;
		len = cookie_echo(a, path, chunk, room, now);
		if (!len) /* it goes where the INIT went */
			a->paths.echo_index = 0;
	} else {
		len = sack(a, chunk, room, to);
		if (!len)
			len = heartbeat(a, chunk, now, to);
	}
	return len ? WIRE_SCTP_COMMON_LEN + len : 0;
}
