/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The peer only claims to have the addresses in its INIT or INIT ACK. Until a HEARTBEAT ACK returns
 * the nonce of a HEARTBEAT, an address gets only HEARTBEATs. It may also get a COOKIE ECHO once, if
 * other addresses have not answered. A stranger, or a host behind NAT, cannot return the nonce. Over
 * UDP, the first HEARTBEAT uses the UDP port of the path in use (RFC 6951).
 *
 * One path at a time carries all DATA, unless DATA is spread (spread.h). When a timer shows that
 * this path has failed, another working path takes over at once. The failed path gets a HEARTBEAT
 * each RTO (RFC 7829 with PFMR = 0: a transfer waits for one timeout, not for six). All outstanding
 * DATA then counts as lost. So without spread.h, DATA is in flight on one path only. Each path has
 * its own counters, RACK and congestion control. When the primary path answers again, no new DATA
 * is sent until no DATA is in flight, which takes a round trip. The primary path is used after
 * that.
 *
 * The timer need not be T3, which takes at least a second: HEARTBEATs leave on the other paths
 * together with a tail-loss probe. If one of these is answered, and the probe is not, that path
 * takes over (sctp_paths_suspect()). So a transfer is interrupted for only some 130 ms in a network
 * with short round trips. If the decision was wrong, the association returns later. A busy peer
 * answers on no path, so its path does not change.
 */
#include "sctp/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sctp/assoc.h"
#include "sctp/mtu.h"
#include "sctp/spread.h"
#include "sctp/trace.h"
#include "util/alloc.h"
#include "wire/sctp_init.h"

#define CLAIM_DOUBLINGS 10u
#define CLAIM_INTERVAL (600 * NSEC_PER_SEC)
/* Time from the start of the association to the first HEARTBEAT on another path. */
#define CONFIRM_SOON (20 * NSEC_PER_MSEC)
/* Maximum interval of HEARTBEATs on failed, confirmed paths, in units of heartbeat_interval. */
#define RETURN_INTERVALS 4u
/* Time before a failed primary path is used again: minimum, and maximum after repeated failures. */
#define HOLD_MIN NSEC_PER_SEC
#define HOLD_MAX (64 * NSEC_PER_SEC)

/* True if this host can send to the address, and the address means the same host everywhere. */
static bool usable(const struct sctp_assoc *a, const struct ip_addr *addr)
{
	const struct sctp_user_ops *ops = &a->s->ops;
	bool v4 = ip_addr_is_v4(addr);

	/* Exclude addresses of this host: many hosts have the same container bridge addresses. */
	if (ops->is_own && !ip_addr_is_loopback(addr) && ops->is_own(a->ep->ctx, addr))
		return false;
	if (v4 != ip_addr_is_v4(&a->path->addr.remote) || ip_addr_is_zero(addr) ||
	    ip_addr_is_loopback(addr) != ip_addr_is_loopback(&a->path->addr.remote))
		return false;
	if (v4)
		return addr->b[12] && addr->b[12] < 224 &&
		       !(addr->b[12] == 169 && addr->b[13] == 254); /* link-local (RFC 3927) */
	return addr->b[0] != 0xff && !ip_addr_is_link_local(addr);
}

uint16_t sctp_paths_type(const struct sctp_assoc *a)
{
	return ip_addr_is_v4(&a->path->addr.remote) ? WIRE_SCTP_PARAM_IPV4 : WIRE_SCTP_PARAM_IPV6;
}

void sctp_paths_init(struct sctp_assoc *a, const struct path_addr *addr, uint32_t mtu)
{
	a->path = &a->paths.first;
	list_init(&a->paths.node);
	sctp_path_init(a->path, &a->s->config, addr, mtu);
	a->path->primary = true;
	/* the user has named the address, or the local INIT ACK has arrived there (5.4) */
	a->path->confirmed = true;
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
	struct sctp_path in_use;

	for (unsigned int i = 0; i < a->paths.others; i++)
		sctp_inflight_forget_path(a, a->paths.other[i]);
	in_use = *a->path;
	in_use.id = 0;
	list_del(&a->paths.node);
	free(a->paths.listed);
	a->paths = (struct sctp_paths){ .first = in_use };
	list_init(&a->paths.node);
	a->path = &a->paths.first;
	sctp_inflight_one_path(a);
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
	path->id = (uint8_t)(a->paths.others + 1);
	path->usable = usable(a, remote);
	if (path->usable)
		sctp_locals_choose(a, path);
	a->paths.other[a->paths.others++] = path;
}

static bool alloc_listed(struct sctp_assoc *a)
{
	if (!a->paths.listed)
		a->paths.listed = alloc_lines((SCTP_PATHS_MAX - 1) * sizeof(*a->paths.listed));
	return a->paths.listed;
}

void sctp_paths_set(struct sctp_assoc *a, const struct path_addr *from, const struct ip_addr *addr,
		    unsigned int n, uint64_t now)
{
	const struct sctp_path *path = sctp_paths_find(a, &from->remote);
	unsigned int i;

	if (a->state == SCTP_COOKIE_WAIT && path && path->known) {
		TRACE(path_used, now, .assoc = a->local_tag, .old = &a->path->addr.remote,
		      .remote = &from->remote, .why = "known");
		sctp_paths_restart(a, from);
		a->setup.local = from->local;
	}
	sctp_paths_clear(a);
	sctp_locals_begin(a);
	if (!n && ip_addr_equal(&from->remote, &a->path->addr.remote))
		return;
	if (!alloc_listed(a)) /* act as if the peer had listed no address */
		return;
	add(a, &from->remote);
	for (i = 0; i < n; i++)
		add(a, &addr[i]);
	if (a->paths.others)
		list_add_tail(&a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED], &a->paths.node);
	sctp_paths_recall(a, now);
}

/* Sets SCTP_TIMER_PATHS to the earliest HEARTBEAT. */
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
	uint64_t due = now + CONFIRM_SOON;
	unsigned int i;

	/* HB.Max.Burst allows one HEARTBEAT per RTO. */
	for (i = 0; i < a->paths.others; i++) {
		if (!a->paths.other[i]->usable)
			continue;
		a->paths.other[i]->hb.due = due;
		due += sctp_rtt_rto(&a->path->rtt);
	}
	arm(a);
}

/* Returns the maximum time between two HEARTBEATs on a failed path, ns. */
static uint64_t most_wait(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint64_t most = RETURN_INTERVALS * a->s->config.heartbeat_interval;

	return most > path->rtt.base ? most : path->rtt.base;
}

static uint64_t claim_interval(const struct sctp_assoc *a, const struct sctp_path *path)
{
	unsigned int errors = path->health.errors;

	return errors < CLAIM_DOUBLINGS ? a->s->config.rto_initial << errors : CLAIM_INTERVAL;
}

/*
 * Returns the time from this HEARTBEAT to the next one (8.3), ns. An unconfirmed address may belong
 * to a victim. It gets ten HEARTBEATs in ten minutes, three of them soon, and then one in ten
 * minutes. If a link was dead during the setup, its recovery is noticed within twice the time that
 * it was dead.
 */
static uint64_t interval(struct sctp_assoc *a, const struct sctp_path *path)
{
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t idle = a->s->config.heartbeat_interval;

	if (!path->confirmed && !path->known && !sctp_paths_is_named(a, path))
		return claim_interval(a, path);
	if (!path->health.errors)
		return rto + idle - random_u32(a->s->random) % (idle / 10);
	/* A long back-off would delay the return of a path, and the association may end before. */
	return rto < most_wait(a, path) ? rto : most_wait(a, path);
}

/*
 * True if an outstanding HEARTBEAT counts as an error. The first unanswered HEARTBEAT must be old
 * enough; the last one may have left just now, for the path MTU search. All HEARTBEATs within one
 * RTO, which may have doubled, count as one error (8.3).
 */
static bool is_unanswered(struct sctp_assoc *a, const struct sctp_path *path, uint64_t now)
{
	uint64_t rto = sctp_rtt_rto(&path->rtt);
	uint64_t wait = rto < most_wait(a, path) ? rto : most_wait(a, path);

	return path->hb.sent && now - path->hb.since >= wait / 2 &&
	       (!path->hb.judged || now - path->hb.judged >= rto);
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
		/* If DATA sent later was acknowledged, the path works. */
		if (is_unanswered(a, path, now) &&
		    !(path->joined && path->health.proof > path->hb.sent)) {
			path->hb.judged = now;
			path->health.errors++;
			TRACE(path_failed, now, .assoc = a->local_tag, .remote = &path->addr.remote,
			      .errors = path->health.errors);
			sctp_rtt_backoff(&path->rtt);
			sctp_paths_failed(a, path, now);
		}
		path->hb.due = now + interval(a, path);
		path->hb.wanted = true;
		a->pending |= SCTP_PEND_PATHS;
		sctp_assoc_ready(a);
	}
	arm(a);
}

/* Moves the recovery state to another path, except for the recent history. */
static void hand_over(struct sctp_path *from, struct sctp_path *to)
{
	to->recovery = from->recovery;
	to->recovery.now = (struct sctp_episode){ 0 };
}

/* Sets the timers of the association again after a path's timers have changed. */
static void rearm(struct sctp_assoc *a)
{
	for (unsigned int t = 0; t < SCTP_PATH_TIMERS; t++)
		sctp_recovery_rearm(a, SCTP_TIMER_T3 + t);
}

/* Makes other[i] the path in use. No DATA may be in flight on the present path in use. */
static void use(struct sctp_assoc *a, unsigned int i, uint64_t now)
{
	struct sctp_path *path = a->paths.other[i];
	struct sctp_path *old = a->path;
	bool own = path->joined || path->flight; /* it has its own DATA, losses and timers */

	TRACE(path_used, now, .assoc = a->local_tag, .old = &old->addr.remote,
	      .remote = &path->addr.remote, .why = old->health.errors ? "failover" : "primary");
	if (sctp_assoc_is_up(a))
		sctp_assoc_event(a, SCTP_EVENT_PATH);
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
	if (path->joined)
		sctp_paths_part(a, path);
	if (own)
		sctp_recovery_no_probe(a, old);
	else
		hand_over(old, path);
	sctp_recovery_clear(&old->recovery);
	rearm(a);
	sctp_mtu_fit(a);
	sctp_path_start(a, now);
	arm(a);
	sctp_spread_update(a, now);
	sctp_assoc_ready(a);
}

bool sctp_paths_works(struct sctp_assoc *a, struct sctp_path *path)
{
	return path->usable && path->confirmed && sctp_locals_choose(a, path);
}

/*
 * True if `path` is a better successor than `best`, which has as many errors. The reasons, in this
 * order: the path is joined, it is the primary path, or its round trip is shorter.
 */
static bool better(const struct sctp_path *path, const struct sctp_path *best)
{
	if (path->joined != best->joined)
		return path->joined;
	return path->primary || (!best->primary && path->rtt.srtt < best->rtt.srtt);
}

/* True if the peer has answered a packet that was sent on the path after `since`. */
static bool has_answered(const struct sctp_path *path, uint64_t since)
{
	return path->hb.answered >= since || (path->joined && path->health.proof >= since);
}

/*
 * Returns the index in other[] of the best successor of the path in use, or a->paths.others if
 * there is none. The successor must work, have fewer errors than `errors`, and have answered a
 * packet sent after `since`. The fewest errors decide, then better().
 */
static unsigned int best_other(struct sctp_assoc *a, uint32_t errors, uint64_t since)
{
	unsigned int i, best = a->paths.others;

	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];
		bool first = path->health.errors < errors ||
			     (best != a->paths.others && path->health.errors == errors &&
			      better(path, a->paths.other[best]));

		if (first && has_answered(path, since) && sctp_paths_works(a, path)) {
			best = i;
			errors = path->health.errors;
		}
	}
	return best;
}

/* Starts a rest period. Doubles the last one if the path fails again soon, to avoid alternation. */
static void rest(struct sctp_path_rest *r, uint64_t now)
{
	bool soon = r->returned && now - r->returned < 2 * r->hold;

	if (!soon)
		r->hold = HOLD_MIN;
	else if (r->hold < HOLD_MAX)
		r->hold *= 2;
	r->until = now + r->hold;
}

/* Marks the chunks in flight on a failed path lost, so that other paths can send them. */
static void give_up(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	if (path->primary || sctp_spread_is_on(a))
		rest(&path->rest, now);
	sctp_trace_path_lost(a, path, "path_failed", now);
	sctp_inflight_path_lost(a, path);
}

void sctp_paths_await_lost(struct sctp_assoc *a, uint64_t now)
{
	if (a->inflight.lost && !sctp_recovery_timer_runs(a->path, SCTP_TIMER_T3))
		sctp_recovery_timer_set(a, a->path, SCTP_TIMER_T3,
					now + sctp_rtt_rto(&a->path->rtt));
}

/* Makes other[i] the path in use, and sends the outstanding chunks on it. */
static void fail_over_to(struct sctp_assoc *a, unsigned int i, uint64_t now)
{
	give_up(a, a->path, now);
	use(a, i, now);
	sctp_paths_await_lost(a, now);
}

/* Handles the failure of a joined path. The remaining paths carry all DATA. */
static void drop_out(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	give_up(a, path, now);
	sctp_recovery_no_probe(a, path);
	sctp_paths_part(a, path);
	sctp_recovery_clear(&path->recovery);
	rearm(a);
	sctp_paths_await_lost(a, now);
	path->hb.due = now;
	arm(a);
	sctp_spread_update(a, now);
	sctp_assoc_ready(a);
}

void sctp_paths_failed(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	if (path == a->path)
		sctp_paths_fail_over(a, now);
	else if (path->joined)
		drop_out(a, path, now);
}

void sctp_paths_join(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	path->joined = true;
	path->last_data = 0;
	path->rest.returned = now;
	a->paths.joined++;
	TRACE(path_used, now, .assoc = a->local_tag, .old = &a->path->addr.remote,
	      .remote = &path->addr.remote, .why = "spread");
	sctp_mtu_fit(a);
	sctp_assoc_ready(a);
}

void sctp_paths_part(struct sctp_assoc *a, struct sctp_path *path)
{
	path->joined = false;
	a->paths.joined--;
}

bool sctp_paths_fail_over(struct sctp_assoc *a, uint64_t now)
{
	unsigned int best;

	if (!a->path->health.errors)
		a->path->health.errors = 1;
	best = best_other(a, a->path->health.errors, 0);
	if (best == a->paths.others) {
		/* No other path works. Perhaps another source address reaches the peer. */
		sctp_locals_choose(a, a->path);
		return false;
	}
	fail_over_to(a, best, now);
	return true;
}

void sctp_paths_ask(struct sctp_assoc *a, const struct sctp_path *silent, uint64_t now)
{
	unsigned int i;

	if (!silent->recovery.now.probes)
		a->paths.asked = now;
	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];
		uint64_t answer = sctp_rtt_answer_time(&path->rtt, sctp_rtt_prompt_margin(0), 0);

		if (path == silent || !path->usable || !path->confirmed || path->health.errors ||
		    (path->hb.sent >= a->paths.asked && now - path->hb.sent < answer))
			continue;
		/* While a HEARTBEAT is outstanding, keep hb.due, so that errors are counted. */
		if (!path->hb.sent)
			path->hb.due = now + interval(a, path);
		path->hb.wanted = true;
		a->pending |= SCTP_PEND_PATHS;
	}
	arm(a);
}

bool sctp_paths_suspect(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	unsigned int best = best_other(a, 1, a->paths.asked);

	if (path == a->path ? best == a->paths.others : !path->joined || a->path->health.errors)
		return false;
	path->health.errors++;
	sctp_cc_timeout(&path->cc);
	TRACE(path_failed, now, .assoc = a->local_tag, .remote = &path->addr.remote,
	      .errors = path->health.errors);
	if (path == a->path)
		fail_over_to(a, best, now);
	else
		drop_out(a, path, now);
	return true;
}

/* Handles a change of local addresses or routes for a joined path. */
static void readdress_joined(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	const struct ip_addr before = path->addr.local;

	if (sctp_paths_works(a, path) && ip_addr_equal(&before, &path->addr.local))
		return;
	path->health.errors++;
	drop_out(a, path, now);
}

void sctp_paths_uprooted(struct sctp_assoc *a, uint64_t now)
{
	sctp_trace_path_lost(a, a->path, "readdressed", now);
	sctp_inflight_path_lost(a, a->path);
	a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_paths_await_lost(a, now);
	sctp_assoc_ready(a);
}

void sctp_paths_readdress(struct sctp_assoc *a, uint64_t now)
{
	const struct ip_addr before = a->path->addr.local;
	unsigned int i;

	if (!a->locals.n || !sctp_in_states(a, SCTP_STATES_UP))
		return;
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (!sctp_locals_is_ours(a, &path->addr.local))
			path->local_heard = path->local_data = 0;
	}
	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		/* An unconfirmed address may belong to a victim: no additional HEARTBEAT. */
		if (path->joined)
			readdress_joined(a, path, now);
		else if (sctp_paths_works(a, path) && path->health.errors)
			path->hb.due = now;
	}
	arm(a);
	if (!sctp_locals_choose(a, a->path))
		sctp_paths_fail_over(a, now);
	else if (!ip_addr_equal(&before, &a->path->addr.local))
		sctp_paths_uprooted(a, now);
}

void sctp_paths_settle(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!a->paths.returning_to_primary || a->path->flight || a->inflight.lost)
		return;
	a->paths.returning_to_primary = false;
	for (i = 0; i < a->paths.others; i++)
		if (a->paths.other[i]->primary && !a->paths.other[i]->health.errors) {
			a->paths.other[i]->rest.returned = now;
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
	/* The path in use may have failed, or be in doubt, while no other path worked. */
	if (a->path->recovery.now.timeouts || a->path->health.errors || !a->path->confirmed) {
		sctp_paths_fail_over(a, now);
		return;
	}
	if (sctp_recovery_is_suspicious(a)) { /* the answer took longer than the tail-loss probes */
		sctp_paths_suspect(a, a->path, now);
		return;
	}
	sctp_spread_update(a, now);
	if (!path->joined && path->primary && now >= path->rest.until) {
		a->paths.returning_to_primary = true;
		sctp_paths_settle(a, now);
	}
}

/* ---- addresses that come and go (RFC 5061) ---- */

/* Returns unused memory for one more path, or NULL. */
static struct sctp_path *spare(struct sctp_assoc *a)
{
	struct sctp_path *path = &a->paths.first;
	unsigned int i, j;

	if (a->paths.others == SCTP_PATHS_MAX - 1 || !alloc_listed(a))
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
	path->id = path == &a->paths.first ? 0 : (uint8_t)(path - a->paths.listed + 1);
	path->hb.due = ask_at;
	if (!list_linked(&a->paths.node))
		list_add_tail(&a->ep->multihomed[a->remote_port % SCTP_MULTIHOMED], &a->paths.node);
	a->paths.other[a->paths.others++] = path;
	arm(a);
	return 0;
}

/* Returns the index in other[] of the path that replaces the path in use, which is removed. */
static unsigned int successor(struct sctp_assoc *a, const struct ip_addr *heir)
{
	unsigned int i, best = best_other(a, UINT32_MAX, 0);

	for (i = 0; best == a->paths.others && i < a->paths.others; i++)
		if (a->paths.other[i]->usable &&
		    ip_addr_equal(&a->paths.other[i]->addr.remote, heir))
			best = i;
	for (i = 0; best == a->paths.others; i++)
		if (a->paths.other[i]->usable)
			best = i;
	return best;
}

/* Stops the timers of an unconfirmed path in use: only HEARTBEATs may leave on it. */
static void doubt(struct sctp_assoc *a, uint64_t now)
{
	a->path->hb.since = now;
	for (unsigned int t = 0; t < SCTP_PATH_TIMERS; t++)
		sctp_recovery_timer_set(a, a->path, SCTP_TIMER_T3 + t, TIME_NEVER);
	sctp_recovery_no_probe(a, a->path);
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
		doubt(a, now);
}

/* Drops all state of a path that is not in use. Its chunks in flight become lost. */
static void forget(struct sctp_assoc *a, struct sctp_path *path)
{
	if (path->joined)
		sctp_paths_part(a, path);
	sctp_recovery_no_probe(a, path);
	sctp_inflight_forget_path(a, path);
	sctp_recovery_clear(&path->recovery);
}

void sctp_paths_remove(struct sctp_assoc *a, struct sctp_path *path, const struct ip_addr *heir,
		       uint64_t now)
{
	unsigned int i;

	sctp_paths_forget(a, path);
	if (path == a->path)
		replace(a, heir, now);
	if (path->primary)
		a->path->primary = true;
	forget(a, path);
	for (i = 0; a->paths.other[i] != path; i++)
		;
	a->paths.others--;
	memmove(&a->paths.other[i], &a->paths.other[i + 1],
		(a->paths.others - i) * sizeof(a->paths.other[0]));
	if (!a->paths.others)
		a->path->cc.stride = 0;
	if (a->paths.sack_path == path)
		a->paths.sack_path = NULL;
	a->paths.echo_index = 0;
	rearm(a);
	arm(a);
	sctp_mtu_fit(a);
}
