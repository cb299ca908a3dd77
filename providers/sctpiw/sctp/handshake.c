/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/handshake.h"

#include <errno.h>
#include <stdlib.h>

#include "sctp/control.h"
#include "sctp/input.h"
#include "sctp/mtu.h"
#include "sctp/trace.h"
#include "wire/sctp_init.h"

/* Minimum delay from an ICMP error to a retransmission, ns. The maximum is twice as long. */
#define DOUBT_TIME (10 * NSEC_PER_MSEC)

/* True if the user should use this association for that address, instead of a new one. */
static bool serves(const struct sctp_assoc *a, const struct path_addr *to)
{
	return sctp_assoc_is_between(a, to) ||
	       (!ip_addr_equal(&sctp_assoc_addr(a)->remote, &to->remote) &&
		sctp_assoc_has_address(a, &to->remote));
}

/* Sets the timer to T1, or to the retransmission after an ICMP error if that is earlier. */
static void set_timer(struct sctp_assoc *a)
{
	uint64_t ask_at = a->setup.doubt.ask_at;

	sctp_timer_set(a, SCTP_TIMER_SETUP, ask_at && ask_at < a->setup.t1 ? ask_at : a->setup.t1);
}

/* Starts T1 for the chunk that is sent now. */
static void arm(struct sctp_assoc *a, uint64_t now)
{
	uint64_t limit = a->setup.since + a->s->config.connect_limit;
	uint64_t wait = sctp_rtt_rto(&a->path->rtt);
	uint64_t when;

	/*
	 * Max.Init.Retransmits (8) retransmissions must fit into connect_limit. So the intervals
	 * double (6.3.3) only up to a seventh of connect_limit. With the defaults, retransmissions
	 * leave after 1, 3 and 7 s, and then every 30/7 s.
	 */
	if (wait > a->s->config.connect_limit / 7)
		wait = a->s->config.connect_limit / 7;
	when = now + wait;
	a->setup.sent = now;
	a->setup.t1 = when < limit || limit <= now ? when : limit;
	set_timer(a);
}

/* Starts a new attempt. If `pending` has the INIT, it leaves now, else when T1 expires. */
static void start(struct sctp_assoc *a, unsigned int pending, uint64_t now)
{
	a->state = SCTP_COOKIE_WAIT;
	a->local_tag = sctp_assoc_new_tag(a->s);
	a->peer_tag = 0;
	a->setup.init_rwnd = sctp_assoc_rwnd(a);
	a->setup.resent = false;
	a->setup.doubt = (struct sctp_doubt){ 0 };
	a->paths.echo_index = 0;
	a->pending = pending;
	arm(a, now);
	sctp_assoc_ready(a);
}

void sctp_handshake_start(struct sctp_assoc *a, uint64_t now)
{
	start(a, SCTP_PEND_INIT, now);
}

void sctp_handshake_stale(struct sctp_assoc *a, uint64_t now)
{
	unsigned int before = a->setup.stale++;

	/* The peer's error may arrive before T1 expires. */
	if (now - a->setup.since >= a->s->config.connect_limit) {
		sctp_assoc_end(a, -ETIMEDOUT);
		return;
	}
	sctp_handshake_drop_cookie(a);
	sctp_control_clear(a);
	/*
	 * If the first cookie was under way for too long, another cookie is requested at once. A
	 * peer may find the next cookie stale as well. It then gets INITs no more often than a
	 * silent peer. The RTT of its INIT ACKs has ended the back-off of T1, so the back-off is
	 * restored here.
	 */
	sctp_rtt_set_backoff(&a->path->rtt, before);
	start(a, before ? 0 : SCTP_PEND_INIT, now);
}

size_t sctp_handshake_init_put(struct sctp_assoc *a, uint8_t *p)
{
	const struct sctp_config *config = &a->s->config;
	struct wire_sctp_init init = {
		.tag = a->local_tag,
		.a_rwnd = a->setup.init_rwnd,
		.os = config->streams,
		.mis = config->streams,
		.tsn = a->setup.init_tsn,
		.adaptation = config->adaptation,
		.receipts = config->receipts,
		.address_type = sctp_paths_type(a),
	};

	a->pending &= ~SCTP_PEND_INIT;
	sctp_locals_tell(&a->locals, &init);
	if (!a->setup.plain)
		sctp_auth_tell(&a->setup.random, &init);
	return wire_sctp_init_put(p, WIRE_SCTP_INIT, &init);
}

void sctp_handshake_resend(struct sctp_assoc *a)
{
	a->setup.resent = true;
	a->pending |= a->state == SCTP_COOKIE_WAIT ? SCTP_PEND_INIT : SCTP_PEND_COOKIE_ECHO;
	sctp_assoc_ready(a);
}

void sctp_handshake_drop_cookie(struct sctp_assoc *a)
{
	free(a->setup.cookie);
	a->setup.cookie = NULL;
}

/* True if the unanswered INIT or COOKIE ECHO may be sent on this path. */
static bool may_go(struct sctp_assoc *a, struct sctp_path *path)
{
	if (a->state != SCTP_COOKIE_WAIT || path == a->path)
		return path->usable;
	return path->usable && sctp_paths_may_init(a, path) && sctp_locals_choose(a, path);
}

/* Retransmits the unanswered INIT or COOKIE ECHO, to the next address of the peer. */
static void resend_elsewhere(struct sctp_assoc *a)
{
	if (a->state == SCTP_COOKIE_ECHOED && !a->paths.echo_index)
		a->path->health.errors++;
	/* Use all usable addresses in turn (5.1, 6.4). The path in use is usable: the loop ends. */
	do
		a->paths.echo_index = (a->paths.echo_index + 1) % (a->paths.others + 1);
	while (!may_go(a, sctp_path_at(a, a->paths.echo_index)));
	sctp_handshake_resend(a);
}

struct sctp_assoc *sctp_connect(struct sctp_endpoint *ep, const struct path_addr *to,
				uint16_t remote_port, uint32_t mtu, void *user, uint64_t now)
{
	struct sctp_assoc *a = sctp_assoc_find(ep, to, remote_port, 0);

	/*
	 * Two endpoints have at most one association (RFC 9260 1.3). Here, each pair of addresses
	 * counts as a pair of endpoints (docs/wire.md).
	 */
	if (!remote_port || (a && serves(a, to))) {
		errno = remote_port ? EISCONN : EINVAL;
		return NULL;
	}
	a = sctp_assoc_new(ep, to, remote_port, mtu, now);
	if (!a) {
		errno = ENOMEM;
		return NULL;
	}
	a->user = user;
	a->setup.role = SCTP_ROLE_ACTIVE;
	a->setup.init_tsn = random_u32(ep->s->random);
	sctp_tx_start(a, a->setup.init_tsn);
	a->setup.since = now;
	a->setup.local = to->local;
	a->setup.named = to->remote;
	sctp_locals_ask(ep, to, &a->locals);
	a->setup.plain = !ep->s->config.asconf;
	if (!a->setup.plain)
		sctp_auth_random(ep->s->random, &a->setup.random);
	sctp_paths_begin(a, now);
	sctp_handshake_start(a, now);
	/* the INIT has no route to this address */
	if (a->paths.others && !sctp_locals_has_way(a, a->path))
		resend_elsewhere(a);
	return a;
}

void sctp_handshake_unreachable(struct sctp_assoc *a, int error, uint64_t now)
{
	struct sctp_doubt *doubt = &a->setup.doubt;

	if (doubt->error && !doubt->ask_at) {
		sctp_assoc_end(a, error);
		return;
	}
	if (!doubt->error)
		doubt->ask_at = now + DOUBT_TIME + random_u32(a->s->random) % DOUBT_TIME;
	doubt->error = error;
	set_timer(a);
}

void sctp_handshake_timeout(struct sctp_assoc *a, uint64_t now)
{
	a->setup.doubt.ask_at = 0; /* the chunk is sent again below, unless the association ends */
	if (a->setup.t1 > now) {
		set_timer(a);
		resend_elsewhere(a);
		return;
	}
	if (now - a->setup.since >= a->s->config.connect_limit) {
		sctp_assoc_end(a, -ETIMEDOUT);
		return;
	}
	sctp_trace_path_lost(a, a->path, "setup_resent", now);
	/* DATA in the packet of the COOKIE ECHO must be sent again */
	sctp_inflight_path_lost(a, a->path);
	sctp_rtt_backoff(&a->path->rtt);
	arm(a, now);
	resend_elsewhere(a);
}

void sctp_handshake_peer(struct sctp_assoc *a, uint32_t tag, uint32_t tsn, uint32_t rwnd,
			 uint16_t os, uint16_t mis)
{
	uint16_t offered = a->s->config.streams;

	a->peer_tag = tag;
	a->setup.peer_init_tsn = tsn;
	a->window.peer_rwnd = rwnd;
	a->in_streams = os < offered ? os : offered;
	a->out_streams = mis < offered ? mis : offered;
	sctp_rxmap_init(&a->rx.map, tsn);
	sctp_asconf_reset(a);
}

/* Checks an INIT ACK. Returns 0, or a cause code whose information is *len bytes at *info. */
static uint16_t init_ack_fault(const struct sctp_assoc *a, const struct wire_sctp_init *init,
			       uint8_t room[6], const uint8_t **info, size_t *len)
{
	*info = room;
	*len = 0;
	if (init->host_name) {
		*info = init->host_name;
		*len = get_be16(init->host_name + 2);
		return WIRE_SCTP_CAUSE_ADDRESS;
	}
	if (!init->os || !init->mis || init->a_rwnd < WIRE_SCTP_MIN_RWND)
		return WIRE_SCTP_CAUSE_INVALID_PARAM;
	if (!a->setup.plain && sctp_auth_offer(init) == SCTP_AUTH_BROKEN)
		return WIRE_SCTP_CAUSE_PROTOCOL;
	if (init->has_adaptation && init->adaptation != a->s->config.adaptation)
		return WIRE_SCTP_CAUSE_INVALID_PARAM;
	if (init->cookie && init->has_adaptation)
		return 0;
	put_be32(room, 1); /* number of missing parameters */
	put_be16(room + 4, init->cookie ? WIRE_SCTP_PARAM_ADAPTATION : WIRE_SCTP_PARAM_COOKIE);
	*len = 6;
	return WIRE_SCTP_CAUSE_MISSING_PARAM;
}

/* Reports all unknown parameters in one ERROR chunk, which follows the COOKIE ECHO (3.2.2). */
static void report_params(struct sctp_assoc *a, const struct wire_sctp_init *init)
{
	uint8_t list[512];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < init->reports; i++) {
		size_t whole = round_up4(init->report[i].len);

		if (whole > sizeof(list) - len)
			break;
		memcpy(list + len, init->report[i].raw, init->report[i].len);
		wire_sctp_pad(list + len, init->report[i].len);
		len += whole;
	}
	if (len)
		sctp_control_error(a, WIRE_SCTP_CAUSE_PARAMS, list, len);
}

void sctp_handshake_init_ack(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct wire_sctp_init init;
	const uint8_t *info;
	uint8_t room[6];
	size_t info_len;
	uint16_t fault;

	if (!wire_sctp_init_get(c, &init))
		return;
	in->stop = true; /* an INIT ACK is the only chunk of its packet (RFC 9260 3) */
	if (in->path && in->path->known && !sctp_paths_may_init(a, in->path))
		return;
	if (!init.tag) {
		const struct wire_sctp_common h = { in->h.dport, in->h.sport, in->h.vtag };

		sctp_ootb_chunk(a->ep, in->from, &h, WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT,
				WIRE_SCTP_CAUSE_INVALID_PARAM, NULL, 0);
		sctp_assoc_end(a, -EPROTO);
		return;
	}
	fault = init_ack_fault(a, &init, room, &info, &info_len);
	if (!fault && !a->setup.plain && sctp_auth_offer(&init) == SCTP_AUTH_MORE) {
		/*
		 * The INIT offered AUTH, so the peer requires authentication of chunks that sctpiw
		 * does not authenticate. Send an INIT without AUTH instead.
		 */
		a->setup.plain = true;
		sctp_handshake_start(a, in->now);
		return;
	}
	a->peer_tag = init.tag;
	if (fault) {
		sctp_close_fail(a, fault, info, info_len, -EPROTO);
		return;
	}
	a->setup.cookie = malloc(init.cookie_len + 1);
	if (!a->setup.cookie) { /* treat the INIT ACK as lost */
		a->peer_tag = 0;
		return;
	}
	memcpy(a->setup.cookie, init.cookie, init.cookie_len);
	a->setup.cookie_len = init.cookie_len;
	sctp_handshake_peer(a, init.tag, init.tsn, init.a_rwnd, init.os, init.mis);
	sctp_receipts_agree(a, &init.receipts);
	a->auth = (struct sctp_auth){ 0 };
	if (!a->setup.plain && sctp_auth_offer(&init) == SCTP_AUTH_GOOD)
		sctp_auth_agree(&a->auth, &a->setup.random, &init);
	/* Every INIT has an address type, but an INIT ACK only if it repeats an INIT (5.2.1). */
	a->setup.role = init.address_type ? SCTP_ROLE_CROSSED : SCTP_ROLE_ACTIVE;
	sctp_paths_set(a, in->from, init.addr, init.addrs, in->now);
	in->path = sctp_paths_find(a, &in->from->remote);
	report_params(a, &init);
	if (!a->setup.resent)
		sctp_rtt_sample(&a->path->rtt, in->now - a->setup.sent);
	a->state = SCTP_COOKIE_ECHOED;
	a->setup.resent = false;
	/* the error was about the INIT, which is now answered */
	a->setup.doubt = (struct sctp_doubt){ 0 };
	a->pending = SCTP_PEND_COOKIE_ECHO;
	arm(a, in->now);
	sctp_assoc_ready(a);
}

void sctp_handshake_up(struct sctp_assoc *a, uint64_t now)
{
	a->state = SCTP_ESTABLISHED;
	a->s->stats.up++;
	sctp_trace_up(a, now);
	sctp_timer_stop(a, SCTP_TIMER_SETUP);
	a->pending &= ~(SCTP_PEND_INIT | SCTP_PEND_COOKIE_ECHO);
	sctp_handshake_drop_cookie(a);
	a->setup.doubt = (struct sctp_doubt){ 0 };
	a->path->rtt.backoff = 0;
	sctp_path_start(a, now);
	sctp_mtu_start(a, a->path);
	sctp_paths_start(a, now);
	sctp_asconf_start(a, now);
	if (sctp_outq_count(&a->out)) {
		sctp_recovery_timer_set(a, a->path, SCTP_TIMER_T3,
					now + sctp_rtt_rto(&a->path->rtt));
		sctp_recovery_arm_probe(a, a->path, now);
	}
	sctp_assoc_ready(a);
}

void sctp_handshake_cookie_ack(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	if (!in->a->setup.resent)
		sctp_rtt_sample(&in->a->path->rtt, in->now - in->a->setup.sent);
	sctp_handshake_up(in->a, in->now);
	if (!sctp_in_elsewhere(in))
		sctp_path_works(in->a, in->a->path, in->now);
	sctp_assoc_event(in->a, SCTP_EVENT_UP);
}
