/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Departures from RFC 9260 8.3: a HEARTBEAT leaves if no packet was received for HB.interval, even
 * while the local side sends. The interval contains neither the RTO nor a back-off. The reason: the
 * death of a process must be noticed within 3 s. With RTO.Min (1 s) and its jitter in the interval,
 * this would be impossible. Any valid packet of the peer proves that the peer is alive, not only a
 * HEARTBEAT ACK. But the interval grows until the address has answered once. A stranger may have
 * completed a handshake and then be silent. An address in doubt may belong to a victim.
 *
 * Departure from 8.1 and 8.2: a time limits the silence of a peer (silent_limit), not a number of
 * retransmissions. Tail-loss probes and HEARTBEATs would exceed a limit of 10 within seconds.
 * Still, some HEARTBEATs must be unanswered: if the local process was stopped, its timers may run
 * before the process has read the answers of the peer.
 */
#include "sctp/path.h"

#include <errno.h>

#include "sctp/control.h"
#include "sctp/input.h"
#include "sctp/mtu.h"
#include "sctp/trace.h"
#include "wire/sctp_init.h"

#define SHUTDOWN_GUARD_RTOS 5u /* T5-shutdown-guard, as a multiple of RTO.Max (9.2) */

void sctp_path_init(struct sctp_path *path, const struct sctp_config *config,
		    const struct path_addr *addr, uint32_t mtu)
{
	*path = (struct sctp_path){
		.addr = *addr,
		.usable = true,
		.hb.due = TIME_NEVER,
		.mtu.due = TIME_NEVER,
		.mtu.silent = true,
	};
	sctp_rtt_init(&path->rtt, config->rto_initial, config->rto_min, config->rto_max);
	sctp_cc_init(&path->cc, SCTP_PMTU_FLOOR_V4, ip_addr_is_v4(&addr->remote));
	sctp_recovery_clear(&path->recovery);
	sctp_mtu_init(path, config, mtu);
}

/*
 * True if packets shall leave from the local address that the peer has sent to, instead of the
 * present one. A peer that knows several local addresses sends HEARTBEATs, and perhaps SACKs, to
 * all of them. So the address changes only if packets to the present address have ceased, or if
 * DATA now comes only to the new address. `last` is the time of the last such packet to the present
 * address, ns. It is 0 if none has come, or if this host has lost the address.
 */
static bool takes_over(const struct sctp_in *in, const struct sctp_path *path, uint64_t last)
{
	const struct ip_addr *local = &in->from->local;

	if (ip_addr_is_zero(local) || (last && in->now - last < path->rtt.base))
		return false;
	/*
	 * The peer may have learnt the address from a request whose answer is still under way (RFC
	 * 5061 5.3 F2).
	 */
	return (!in->a->locals.n || sctp_locals_has(in->a, local)) &&
	       sctp_locals_is_ours(in->a, local);
}

/* Stores the local address that the peer sends to. *last: see takes_over(). */
static void learn_local(const struct sctp_in *in, struct sctp_path *path, uint64_t *last)
{
	const struct ip_addr *local = &in->from->local;

	if (!ip_addr_equal(local, &path->addr.local)) {
		if (!takes_over(in, path, *last))
			return;
		/* Packets now take another way through the network (7.2.5). */
		if (!ip_addr_is_zero(&path->addr.local))
			sctp_cc_init(&path->cc, path->cc.pmdcs, path->cc.v4);
		path->addr.local = *local;
		sctp_locals_changed(in->a, path);
	}
	*last = in->now;
}

void sctp_path_data(struct sctp_in *in)
{
	if (!in->path)
		return;
	learn_local(in, in->path, &in->path->local_data);
	in->path->counts.received++;
}

static void heard(struct sctp_path *path, uint64_t now)
{
	path->health.heard = now;
	path->health.unanswered = 0;
	path->health.ticks = 0;
}

void sctp_path_works(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	bool first = !path->health.proof;

	heard(path, now);
	path->health.proof = now;
	path->health.errors = 0;
	sctp_mtu_alive(a, path);
	if (first && path == a->path)
		sctp_path_start(a, now);
}

/*
 * A packet from an unconfirmed address shows that its link works. So the next HEARTBEAT may leave
 * before the interval of paths.c is over. One leaves per RTO, which doubles with each unanswered
 * HEARTBEAT.
 */
static void ask_again(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	uint64_t when = path->hb.sent + sctp_rtt_rto(&path->rtt);

	if (path == a->path || path->confirmed || !path->usable ||
	    !sctp_in_states(a, SCTP_STATES_UP) || path->hb.due == TIME_NEVER)
		return;
	if (when < now)
		when = now;
	if (when >= path->hb.due)
		return;
	path->hb.due = when;
	if (when < a->timers.at[SCTP_TIMER_PATHS])
		sctp_timer_set(a, SCTP_TIMER_PATHS, when);
}

void sctp_path_heard(struct sctp_in *in)
{
	struct sctp_path *path = in->path;
	bool encapsulated;

	in->a->heard = in->now;
	if (!path)
		return;
	encapsulated = path->addr.udp_port;
	/* The source address of the packet may be forged, so only a confirmed path counts. */
	if (path->confirmed)
		heard(path, in->now);
	learn_local(in, path, &path->local_heard);
	ask_again(in->a, path, in->now);
	if (path->addr.udp_port == in->from->udp_port)
		return;
	/* The peer's UDP port has changed, or encapsulation was switched on/off (RFC 6951 5.4). */
	path->addr.udp_port = in->from->udp_port;
	if (encapsulated != (in->from->udp_port != 0))
		sctp_mtu_fit(in->a);
}

/* Returns the interval of HEARTBEATs with some jitter, ns. */
static uint64_t jittered(struct sctp_assoc *a)
{
	uint64_t interval = a->s->config.heartbeat_interval;

	/* Associations should not send at the same time, and no HEARTBEAT should be late. */
	return interval - random_u32(a->s->random) % (interval / 10);
}

void sctp_path_start(struct sctp_assoc *a, uint64_t now)
{
	a->path->health.heard = now;
	sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + jittered(a));
}

/*
 * Returns the start of the peer's silence. On a path in doubt, this is the time of the first
 * unanswered HEARTBEAT.
 */
static uint64_t silent_since(const struct sctp_assoc *a)
{
	return a->path->confirmed ? a->heard : a->path->hb.since;
}

/*
 * Returns the time of the next HEARTBEAT, if the present one is not answered. If the peer has never
 * answered, each wait is twice as long as all earlier waits together. But no wait is longer than
 * the rest of silent_limit.
 */
static uint64_t next_heartbeat(struct sctp_assoc *a, uint64_t now)
{
	const struct sctp_path *path = a->path;
	uint64_t next = now + jittered(a), end = silent_since(a) + a->s->config.silent_limit;
	uint64_t late;

	if (path->health.proof || !path->hb.sent)
		return next;
	late = now + 2 * (now - path->hb.since);
	if (late > end)
		late = end;
	return late > next ? late : next;
}

/*
 * HEARTBEATs leave on a failed path even if packets come from its address. Only an answer proves
 * that the path works in the sending direction again, and T3 may take long.
 */
void sctp_path_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_path *path = a->path;
	const struct sctp_config *config = &a->s->config;
	uint64_t silent = now - path->health.heard;

	if (!sctp_in_states(a, SCTP_STATES_UP))
		return;
	/* T5-shutdown-guard (9.2): the peer is alive, but does not complete the shutdown. */
	if (a->state > SCTP_ESTABLISHED &&
	    now - a->closing.since >= SHUTDOWN_GUARD_RTOS * config->rto_max) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	if (path->health.ticks) {
		if (--path->health.ticks == 0) {
			if (!sctp_paths_fail_over(a, now))
				sctp_assoc_end(a, -ECONNRESET);
			return;
		}
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + SCTP_PROBE_INTERVAL);
	} else if (silent < config->heartbeat_interval / 2 && path->health.proof &&
		   !path->health.errors) {
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, path->health.heard + jittered(a));
		return;
	} else if (path->health.unanswered >= SCTP_SILENT_PROBES &&
		   now - silent_since(a) >= config->silent_limit) {
		sctp_assoc_end(a, -ETIMEDOUT);
		return;
	} else if (path->health.unanswered >= 2 && sctp_paths_fail_over(a, now)) {
		return;
	} else {
		sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, next_heartbeat(a, now));
	}
	path->health.unanswered++;
	a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_assoc_ready(a);
}

/*
 * Handles an ICMP error, a hint that the peer is gone. An established association waits until
 * routers and firewalls recover, as TCP does. Only if the port is reported as closed, HEARTBEATs
 * probe the path.
 */
static void hint(struct sctp_assoc *a, int error, uint64_t now)
{
	if (error != -ECONNREFUSED || !sctp_in_states(a, SCTP_STATES_UP) || a->path->health.ticks)
		return;
	a->path->health.ticks = SCTP_PROBE_TICKS;
	a->path->health.unanswered++;
	a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_timer_set(a, SCTP_TIMER_HEARTBEAT, now + SCTP_PROBE_INTERVAL);
	sctp_assoc_ready(a);
}

/*
 * The packet that an ICMP error quotes must have the right ports and verification tag. An INIT has
 * no verification tag, but must have the right Initiate Tag. A forger cannot know these tags.
 */
#define QUOTED_MIN 8u
#define QUOTED_INIT (WIRE_SCTP_COMMON_LEN + 8u)

static bool is_quoted(const struct sctp_assoc *a, const uint8_t *quoted, size_t len)
{
	uint32_t tag = get_be32(quoted + 4);

	if (tag)
		return tag == a->peer_tag;
	/* Ignore an error about an INIT that is already answered (ICMP8). */
	return a->state == SCTP_COOKIE_WAIT && len >= QUOTED_INIT &&
	       quoted[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_INIT &&
	       get_be32(quoted + QUOTED_INIT - 4) == a->local_tag;
}

struct sctp_assoc *sctp_path_quoted(struct sctp_endpoint *ep, const struct path_addr *to,
				    const uint8_t *quoted, size_t len)
{
	struct sctp_assoc *a;
	uint32_t tag;

	if (len < QUOTED_MIN || get_be16(quoted) != ep->port)
		return NULL;
	/* The tag identifies the association, since the quotation has no local address. */
	tag = get_be32(quoted + 4);
	if (!tag && len >= QUOTED_INIT)
		tag = get_be32(quoted + QUOTED_INIT - 4);
	a = sctp_assoc_find(ep, to, get_be16(quoted + 2), tag);
	if (!a || !is_quoted(a, quoted, len) ||
	    sctp_paths_find(a, &to->remote)->addr.udp_port != to->udp_port)
		return NULL;
	return a;
}

void sctp_unreachable(struct sctp_endpoint *ep, const struct path_addr *to, int error,
		      const uint8_t *quoted, size_t len, uint64_t now)
{
	struct sctp_assoc *a = sctp_path_quoted(ep, to, quoted, len);

	if (!a || !ip_addr_equal(&a->path->addr.remote, &to->remote))
		return;
	if (sctp_in_states(a, SCTP_STATES_SETUP))
		sctp_handshake_unreachable(a, error, now);
	else
		hint(a, error, now);
}

/* The Heartbeat Info (3.3.5) is a nonce of 128 bits. The path stores all other information. */
void sctp_path_heartbeat_chunk(uint8_t *p, const uint64_t nonce[2])
{
	wire_sctp_chunk_put(p, WIRE_SCTP_HEARTBEAT, 0, SCTP_HEARTBEAT_LEN);
	wire_sctp_param_put(p + WIRE_SCTP_CHUNK_LEN, WIRE_SCTP_PARAM_HEARTBEAT_INFO, nonce,
			    2 * sizeof(*nonce));
}

size_t sctp_path_heartbeat_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p,
			       uint64_t now)
{
	random_bytes(a->s->random, path->hb.nonce, sizeof(path->hb.nonce));
	if (!path->hb.sent)
		path->hb.since = now;
	path->hb.sent = now ? now : 1;
	sctp_path_heartbeat_chunk(p, path->hb.nonce);
	return SCTP_HEARTBEAT_LEN;
}

static void heartbeat_answer(uint8_t *p, const struct wire_sctp_chunk *c)
{
	memcpy(p, c->raw, c->len);
	wire_sctp_chunk_put(p, WIRE_SCTP_HEARTBEAT_ACK, 0, c->len);
	wire_sctp_pad(p, c->len);
}

/*
 * Sends the HEARTBEAT ACK in its own packet. The packet leaves from the destination address of the
 * HEARTBEAT to its source (3.3.6), since the peer probes this pair of addresses. A received packet
 * gets only one such answer (12.4).
 */
static void heartbeat_other(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const struct wire_sctp_common h = sctp_assoc_header(in->a);
	size_t len = WIRE_SCTP_COMMON_LEN + round_up4(c->len);
	struct sctp_ootb *ootb;

	if (in->heartbeat_answered || len > SCTP_OOTB_LEN)
		return;
	ootb = sctp_ootb_new(in->ep, in->from);
	if (!ootb)
		return;
	in->heartbeat_answered = true;
	wire_sctp_common_put(ootb->data, &h);
	heartbeat_answer(ootb->data + WIRE_SCTP_COMMON_LEN, c);
	ootb->len = (uint16_t)len;
	sctp_ootb_seal(ootb);
}

void sctp_path_heartbeat(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	uint8_t *p;

	/* While the path in use is in doubt, queued answers do not leave. */
	if (sctp_in_elsewhere(in) || sctp_path_in_doubt(in->a) ||
	    !ip_addr_equal(&in->from->local, &in->a->path->addr.local)) {
		heartbeat_other(in, c);
		return;
	}
	/*
	 * The peer is up and waits: its COOKIE ACK was lost, and T1 may be long by now. So send the
	 * COOKIE ECHO at once. It goes to the proved address of the peer, not to addresses that the
	 * peer only lists.
	 */
	if (in->a->state == SCTP_COOKIE_ECHOED) {
		in->a->paths.echo_index = 0;
		sctp_handshake_resend(in->a);
	}
	p = sctp_control_room(in->a, round_up4(c->len));
	if (p)
		heartbeat_answer(p, c);
}

/* Returns the path whose outstanding HEARTBEAT has this nonce, or NULL. */
static struct sctp_path *asked(struct sctp_assoc *a, const uint8_t *nonce)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (path->hb.sent && memcmp(nonce, path->hb.nonce, sizeof(path->hb.nonce)) == 0)
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
	for (i = 0; i <= a->paths.others; i++) {
		path = sctp_path_at(a, i);
		if (!sctp_mtu_answered(a, path, nonce, in->now))
			continue;
		sctp_paths_learn(a, path, in->now);
		return;
	}
	path = asked(a, nonce);
	if (!path)
		return;
	backoff = path->rtt.backoff;
	sctp_rtt_sample(&path->rtt, in->now - path->hb.sent);
	path->hb.answered = path->hb.sent;
	path->hb.sent = 0;
	sctp_path_works(a, path, in->now);
	sctp_paths_learn(a, path, in->now);
	if (path != a->path) {
		sctp_paths_answered(a, path, in->now);
		return;
	}
	if (!path->confirmed)
		sctp_path_confirm(a, in->now);
	/* The path works again, so T3 does not have to wait for a doubled RTO. */
	if (backoff && sctp_recovery_timer_runs(path, SCTP_TIMER_T3) &&
	    path->recovery.due[SCTP_PATH_TIMER(SCTP_TIMER_T3)] > in->now + sctp_rtt_rto(&path->rtt))
		sctp_recovery_timer_set(a, path, SCTP_TIMER_T3, in->now + sctp_rtt_rto(&path->rtt));
}

bool sctp_path_in_doubt(const struct sctp_assoc *a)
{
	return !a->path->confirmed && sctp_in_states(a, SCTP_STATES_UP);
}

void sctp_path_confirm(struct sctp_assoc *a, uint64_t now)
{
	a->path->confirmed = true;
	TRACE(path_confirmed, now, .assoc = a->local_tag, .remote = &a->path->addr.remote);
	sctp_mtu_start(a, a->path);
	sctp_mtu_fit(a);
	sctp_paths_await_lost(a, now);
	sctp_assoc_ready(a);
}
