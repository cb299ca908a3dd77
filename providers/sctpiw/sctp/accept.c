/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The passive side keeps no state until the COOKIE ECHO: the cookie contains all of it. */
#include "sctp/accept.h"

#include "sctp/control.h"
#include "sctp/input.h"
#include "sctp/mtu.h"
#include "wire/sctp_init.h"

/* Maximum time by which a probe of the old path delays the restart of an association, ns. */
#define RESTART_DOUBT (10 * NSEC_PER_SEC)
#define REPORTS_MAX 256u /* maximum bytes of unknown parameters in an INIT ACK */
/*
 * Maximum length of an INIT ACK, as a multiple of the INIT's length; RFC 9000 8.1 has the same
 * limit for QUIC. The source address of the INIT may be forged, so the INIT ACK may go to a victim.
 */
#define GROWTH_MAX 3u
#define IP_HEADER 20u /* bytes of the shortest IPv4 header */

/* Answers an INIT with an ABORT. tag is the Initiate Tag of the INIT (8.4). */
static void refuse(struct sctp_in *in, uint32_t tag, uint16_t cause, const void *info, size_t len)
{
	const struct wire_sctp_common h = { in->h.dport, in->h.sport, tag };

	sctp_ootb_chunk(in->ep, in->from, &h, WIRE_SCTP_ABORT, 0, cause, info, len);
}

/* True if the INIT gets an INIT ACK. If false, an ABORT was sent, unless INITs are dropped now. */
static bool acceptable(struct sctp_in *in, const struct wire_sctp_init *init)
{
	uint8_t info[6];

	if (!init->os || !init->mis || init->a_rwnd < WIRE_SCTP_MIN_RWND) {
		refuse(in, init->tag, WIRE_SCTP_CAUSE_INVALID_PARAM, NULL, 0);
	} else if (init->host_name) {
		refuse(in, init->tag, WIRE_SCTP_CAUSE_ADDRESS, init->host_name,
		       get_be16(init->host_name + 2));
	} else if (!init->has_adaptation) {
		put_be32(info, 1);
		put_be16(info + 4, WIRE_SCTP_PARAM_ADAPTATION);
		refuse(in, init->tag, WIRE_SCTP_CAUSE_MISSING_PARAM, info, sizeof(info));
	} else if (init->adaptation != in->s->config.adaptation) {
		refuse(in, init->tag, WIRE_SCTP_CAUSE_INVALID_PARAM, NULL, 0);
	} else if (in->s->config.asconf && sctp_auth_offer(init) == SCTP_AUTH_BROKEN) {
		refuse(in, init->tag, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0);
	} else if (!in->a && !in->ep->accept) {
		if (in->now >= in->ep->quiet_until)
			refuse(in, init->tag, 0, NULL, 0);
	} else if (!in->a && in->s->table.assoc_count >= SCTP_ASSOCS_MAX) {
		refuse(in, init->tag, WIRE_SCTP_CAUSE_RESOURCE, NULL, 0);
	} else {
		return true;
	}
	return false;
}

/*
 * Returns an address that the INIT would add to the association, or NULL. The address is the source
 * of the INIT, or an address in its list. An address that only the peer has named counts as
 * unknown. It may belong to another host, which must not be able to restart the association.
 */
static const struct ip_addr *added_address(const struct sctp_in *in,
					   const struct wire_sctp_init *init)
{
	unsigned int i;

	if (!in->path || (!in->path->confirmed && !sctp_in_states(in->a, SCTP_STATES_SETUP)))
		return &in->from->remote;
	for (i = 0; i < init->addrs; i++)
		if (!sctp_paths_find(in->a, &init->addr[i]))
			return &init->addr[i];
	return NULL;
}

/*
 * Answers an INIT that would restart the association and adds an address. The answer is an ABORT,
 * since another host may try to take over the association (5.2.1, 5.2.2).
 */
static void refuse_address(struct sctp_in *in, uint32_t tag, const struct ip_addr *addr)
{
	uint8_t info[20];
	size_t len;

	if (ip_addr_is_v4(addr))
		len = wire_sctp_param_put(info, WIRE_SCTP_PARAM_IPV4, addr->b + 12, 4);
	else
		len = wire_sctp_param_put(info, WIRE_SCTP_PARAM_IPV6, addr->b, 16);
	refuse(in, tag, WIRE_SCTP_CAUSE_RESTART_ADDRESS, info, len);
}

/* Local data of an INIT ACK that struct wire_sctp_init does not contain. */
struct told {
	struct sctp_locals locals; /* other local addresses */
	struct sctp_auth_random random;
};

static void cookie_fill(struct sctp_in *in, const struct wire_sctp_init *init,
			const struct wire_sctp_init *answer, const struct told *told,
			struct sctp_cookie *cookie)
{
	const struct sctp_assoc *a = in->a;
	unsigned int i;

	*cookie = (struct sctp_cookie){
		.created = in->now,
		.local_port = in->h.dport,
		.remote_port = in->h.sport,
		.local_tag = answer->tag,
		.peer_tag = init->tag,
		.local_tsn = answer->tsn,
		.peer_tsn = init->tsn,
		.peer_rwnd = init->a_rwnd,
		.peer_os = init->os,
		.peer_mis = init->mis,
		.receipts = init->receipts,
		.told = sctp_locals_digest(&told->locals),
		.addr = *in->from,
	};
	if (answer->random)
		sctp_auth_agree(&cookie->auth, &told->random, init);
	for (i = 0; i < init->addrs; i++)
		if (!ip_addr_equal(&init->addr[i], &in->from->remote))
			cookie->alt[cookie->alts++] = init->addr[i];
	if (a && a->state != SCTP_COOKIE_WAIT) { /* an association exists already (5.2.2) */
		cookie->local_tie = a->setup.local_tie;
		cookie->peer_tie = a->setup.peer_tie;
	}
}

/*
 * Returns the destination of the INIT ACK: normally the source of the INIT. If both sides have sent
 * an INIT (a collision), the INIT ACK repeats the local INIT. The INIT ACK must not go to a host
 * that only claims to be the peer (5.2.1). So it goes to the address that the user has named, and
 * only the host there gets the cookie. It also goes to a known address of the peer, which may get
 * the local INIT, too.
 */
static const struct path_addr *answer_to(const struct sctp_in *in)
{
	bool elsewhere =
		in->a && sctp_in_states(in->a, SCTP_STATES_SETUP) &&
		!(in->path && (in->path->confirmed || sctp_paths_may_init(in->a, in->path)));

	return elsewhere ? &in->a->path->addr : in->from;
}

/* Offers ASCONF if the peer supports it, and requires authentication of no other chunks. */
static void offer(struct sctp_in *in, const struct wire_sctp_init *init, struct told *told,
		  struct wire_sctp_init *answer)
{
	const struct sctp_assoc *a = in->a;
	bool crossed = a && sctp_in_states(a, SCTP_STATES_SETUP);

	if (!in->s->config.asconf || sctp_auth_offer(init) != SCTP_AUTH_GOOD ||
	    (crossed && a->setup.plain))
		return;
	if (crossed) /* collision: same random bytes as in the local INIT (RFC 4895 6.1) */
		told->random = a->setup.random;
	else
		sctp_auth_random(in->s->random, &told->random);
	sctp_auth_tell(&told->random, answer);
}

/* Returns the contents of the INIT ACK. */
static struct wire_sctp_init init_ack(struct sctp_in *in, const struct wire_sctp_init *init,
				      struct told *told)
{
	const struct sctp_assoc *a = in->a;
	struct wire_sctp_init answer = { .adaptation = in->s->config.adaptation };

	if (init->receipts.version) /* only for peers with receipts */
		answer.receipts = in->s->config.receipts;

	/* collision: repeats the local INIT (5.2.1) */
	if (a && sctp_in_states(a, SCTP_STATES_SETUP)) {
		answer.tag = a->local_tag;
		answer.tsn = a->setup.init_tsn;
		answer.a_rwnd = a->setup.init_rwnd;
		answer.address_type = sctp_paths_type(a);
		told->locals = a->locals;
	} else {
		answer.tag = sctp_assoc_new_tag(in->s);
		answer.tsn = random_u32(in->s->random);
		answer.a_rwnd = (uint32_t)(in->ep->rcvbuf / 5 * 4 / (in->ep->assoc_count + 1));
		if (answer.a_rwnd < SCTP_MTU_MAX)
			answer.a_rwnd = SCTP_MTU_MAX;
		sctp_locals_ask(in->ep, in->from, &told->locals);
	}
	sctp_locals_tell(&told->locals, &answer);
	offer(in, init, told, &answer);
	/* Offer equal numbers of streams each way (RFC 5043 8), as far as the peer supports it. */
	answer.os = init->os < init->mis ? init->os : init->mis;
	if (answer.os > in->s->config.streams)
		answer.os = in->s->config.streams;
	answer.mis = answer.os;
	return answer;
}

/* Writes the parameters of the INIT ACK, and the cookie. Returns their length in bytes. */
static size_t put_init_ack(struct sctp_in *in, const struct wire_sctp_init *init,
			   const struct wire_sctp_init *answer, const struct told *told, uint8_t *p)
{
	struct sctp_cookie cookie;
	uint8_t raw[SCTP_COOKIE_MAX];
	size_t cookie_len, len;

	cookie_fill(in, init, answer, told, &cookie);
	cookie_len = sctp_cookie_put(&in->s->cookie_key, in->s->random, in->now, &cookie, raw);
	len = wire_sctp_init_put(p, WIRE_SCTP_INIT_ACK, answer);
	return len + wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_COOKIE, raw, cookie_len);
}

/* Removes local addresses from the end, until n bytes of parameters are saved or none is left. */
static void leave_out(struct sctp_locals *l, size_t n)
{
	size_t saved = 0;

	while (l->n && saved < n)
		saved += ip_addr_is_v4(&l->addr[--l->n]) ? 8 : 20;
}

static void send_init_ack(struct sctp_in *in, const struct wire_sctp_init *init)
{
	const struct wire_sctp_common h = { in->h.dport, in->h.sport, init->tag };
	struct sctp_ootb *ootb = sctp_ootb_new(in->ep, answer_to(in));
	struct wire_sctp_init answer;
	struct told told;
	size_t len, end, plain, room, i;
	uint8_t *p;

	if (!ootb)
		return;
	p = ootb->data + WIRE_SCTP_COMMON_LEN;
	wire_sctp_common_put(ootb->data, &h);
	answer = init_ack(in, init, &told);
	len = put_init_ack(in, init, &answer, &told, p);
	room = GROWTH_MAX * (IP_HEADER + (size_t)(in->end - in->packet)) - IP_HEADER -
	       WIRE_SCTP_COMMON_LEN;
	if (told.locals.n && len > room) {
		leave_out(&told.locals, len - room);
		sctp_locals_tell(&told.locals, &answer);
		len = put_init_ack(in, init, &answer, &told, p);
	}
	plain = len;
	end = len;
	/* Report unknown parameters, but keep the answer about as short as the INIT (12.4). */
	for (i = 0; i < init->reports && len - plain < REPORTS_MAX; i++) {
		if (init->report[i].len <= REPORTS_MAX) {
			end = len + 4 + init->report[i].len;
			len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_UNRECOGNIZED,
						   init->report[i].raw, init->report[i].len);
		}
	}
	/* The chunk's length must exclude the padding of the last parameter (3.2.1). */
	wire_sctp_chunk_put(p, WIRE_SCTP_INIT_ACK, 0, end);
	ootb->len = (uint16_t)(WIRE_SCTP_COMMON_LEN + len);
	sctp_ootb_seal(ootb);
}

void sctp_accept_init(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	const struct ip_addr *added;
	struct wire_sctp_init init;

	if (!wire_sctp_init_get(c, &init) || !init.tag ||
	    !sctp_ootb_may_answer(in, &answer_to(in)->remote))
		return;
	if (a && a->state == SCTP_SHUTDOWN_ACK_SENT) { /* the SHUTDOWN COMPLETE was lost (9.2) */
		a->pending |= SCTP_PEND_SHUTDOWN_ACK;
		sctp_assoc_ready(a);
		return;
	}
	if (!acceptable(in, &init))
		return;
	added = a && a->state != SCTP_COOKIE_WAIT ? added_address(in, &init) : NULL;
	if (added) {
		/*
		 * An INIT with the peer's tag is a late INIT of this association. Send no ABORT
		 * with this tag: it would end the association at the peer.
		 */
		if (init.tag != a->peer_tag)
			refuse_address(in, init.tag, added);
		return;
	}
	if (a && sctp_in_states(a, SCTP_STATES_SETUP))
		a->setup.collision_tag = init.tag;
	send_init_ack(in, &init);
}

void sctp_accept_refuse(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct wire_sctp_init init;

	if (wire_sctp_init_get(c, &init) && init.tag && sctp_ootb_may_answer(in, &in->from->remote))
		refuse(in, init.tag, 0, NULL, 0);
}

/* Stores the data of both sides from the cookie. */
static void adopt(struct sctp_assoc *a, const struct path_addr *from, const struct sctp_cookie *c,
		  uint64_t now)
{
	a->local_tag = c->local_tag;
	a->setup.init_tsn = c->local_tsn;
	a->setup.local = c->addr.local; /* the COOKIE ECHO may have arrived at another address */
	sctp_tx_start(a, c->local_tsn);
	sctp_handshake_peer(a, c->peer_tag, c->peer_tsn, c->peer_rwnd, c->peer_os, c->peer_mis);
	sctp_receipts_agree(a, &c->receipts);
	a->auth = c->auth;
	/*
	 * The peer knows the local addresses in the INIT ACK, which may have had room for only some
	 * of them. If the addresses have changed since the INIT ACK, assume that the peer knows
	 * only one.
	 */
	sctp_locals_ask(a->ep, &c->addr, &a->locals);
	while (sctp_locals_digest(&a->locals) != c->told && a->locals.n)
		a->locals.n--;
	sctp_paths_set(a, from, c->alt, c->alts, now);
}

/* Creates an association from the cookie. Returns false if the cookie was refused. */
static bool create(struct sctp_in *in, const struct sctp_cookie *c)
{
	struct sctp_assoc *a;

	if (!in->ep->accept) { /* the listener was closed after the INIT ACK */
		refuse(in, c->peer_tag, 0, NULL, 0);
		return false;
	}
	a = sctp_assoc_new(in->ep, in->from, in->h.sport, SCTP_PMTU_BASE, in->now);
	if (!a) {
		refuse(in, c->peer_tag, WIRE_SCTP_CAUSE_RESOURCE, NULL, 0);
		return false;
	}
	adopt(a, in->from, c, in->now);
	/*
	 * The time from INIT ACK to COOKIE ECHO is a round trip. If it is an RTO or longer, a
	 * packet may have been retransmitted.
	 */
	if (in->now - c->created < in->s->config.rto_initial)
		sctp_rtt_sample(&a->path->rtt, in->now - c->created);
	sctp_handshake_up(a, in->now);
	a->pending |= SCTP_PEND_COOKIE_ACK;
	in->a = a;
	in->rx->up = true;
	return true;
}

/* Reports a stale cookie: the peer then requests another cookie at once (5.2.6). */
static void refuse_cookie(const struct sctp_in *in, const struct sctp_cookie *c)
{
	const struct wire_sctp_common h = { in->h.dport, in->h.sport, c->peer_tag };
	static const uint8_t staleness[4];

	sctp_ootb_chunk(in->ep, in->from, &h, WIRE_SCTP_ERROR, 0, WIRE_SCTP_CAUSE_STALE_COOKIE,
			staleness, sizeof(staleness));
}

/*
 * True if the cookie belongs to another association of the peer than `a`. The local INIT goes to
 * several pairs of addresses if all of them are known to be the peer's. So the local INIT may cross
 * the INITs of two associations of the peer.
 */
static bool is_of_another(const struct sctp_assoc *a, const struct sctp_cookie *c)
{
	return c->receipts.version && a->peer_tag && c->peer_tag != a->peer_tag &&
	       !sctp_locals_is_pair(a, &c->addr);
}

/* Actions B and D of 5.2.4. The peer's cookie completes the local handshake, or has come again. */
static bool complete(struct sctp_in *in, const struct sctp_cookie *c)
{
	struct sctp_assoc *a = in->a;
	bool setup = sctp_in_states(a, SCTP_STATES_SETUP);

	if (is_of_another(a, c)) {
		refuse_cookie(in, c);
		return false;
	}
	if (c->peer_tag != a->peer_tag) { /* action B */
		if (!setup && (a->rx.map.highest != a->setup.peer_init_tsn - 1 ||
			       a->rx.map.cum != a->rx.map.highest))
			return false; /* DATA came with the old tag: this is another peer */
		sctp_handshake_peer(a, c->peer_tag, c->peer_tsn, c->peer_rwnd, c->peer_os,
				    c->peer_mis);
		a->auth = c->auth;
		if (setup) /* otherwise the user already uses the earlier agreement */
			sctp_receipts_agree(a, &c->receipts);
		sctp_paths_set(a, &c->addr, c->alt, c->alts, in->now);
		a->path->primary = true;
		if (!setup) {
			sctp_paths_start(a, in->now);
			sctp_asconf_start(a, in->now);
		}
	}
	a->pending |= SCTP_PEND_COOKIE_ACK;
	if (setup) {
		a->setup.role = SCTP_ROLE_CROSSED;
		sctp_handshake_up(a, in->now);
		if (ip_addr_equal(&in->from->remote, &a->path->addr.remote))
			sctp_path_works(a, a->path, in->now);
		sctp_assoc_event(a, SCTP_EVENT_UP);
	}
	sctp_assoc_ready(a);
	return true;
}

/*
 * True if the restart may come from another host. Two hosts behind one NAT look like one
 * restarted host if their SCTP ports are equal. If the cookie comes from another UDP port than the
 * association's, the old path is probed first. The result is used for the next COOKIE ECHO, which
 * the peer sends after T1-cookie.
 */
static bool restart_is_doubtful(struct sctp_in *in)
{
	struct sctp_assoc *a = in->a;
	bool asked = a->setup.restart_probe && in->now - a->setup.restart_probe < RESTART_DOUBT;

	if (in->path && in->from->udp_port == in->path->addr.udp_port)
		return false;
	if (asked && in->now - a->setup.restart_probe >= SCTP_PROBE_INTERVAL)
		return a->heard > a->setup.restart_probe;
	if (!asked) {
		a->setup.restart_probe = in->now;
		a->pending |= SCTP_PEND_HEARTBEAT;
		sctp_assoc_ready(a);
	}
	return true;
}

/* Drops the state that belongs to the peer before its restart. */
static void forget_peer(struct sctp_assoc *a, const struct path_addr *from)
{
	uint32_t local_tie = sctp_assoc_new_tag(a->s);
	uint32_t peer_tie = sctp_assoc_new_tag(a->s);

	sctp_timer_stop_all(a);
	sctp_tx_reset(a);
	sctp_rx_restart(a);
	sctp_control_clear(a);
	sctp_paths_restart(a, from);
	sctp_assoc_event_cancel(a, SCTP_EVENT_SHUTDOWN);
	a->setup = (struct sctp_handshake){
		.role = SCTP_ROLE_PASSIVE,
		.local_tie = local_tie,
		.peer_tie = peer_tie,
	};
	a->closing = (struct sctp_closing){ 0 };
}

/* Action A of 5.2.4: the peer has restarted. */
static bool restart(struct sctp_in *in, const struct sctp_cookie *c)
{
	struct sctp_assoc *a = in->a;

	if (a->state == SCTP_SHUTDOWN_ACK_SENT) {
		a->pending |= SCTP_PEND_SHUTDOWN_ACK;
		sctp_control_error(a, WIRE_SCTP_CAUSE_COOKIE_IN_SHUTDOWN, NULL, 0);
		sctp_assoc_ready(a);
		return false;
	}
	if (restart_is_doubtful(in))
		return false;
	forget_peer(a, in->from);
	a->pending = SCTP_PEND_COOKIE_ACK;
	adopt(a, in->from, c, in->now);
	sctp_handshake_up(a, in->now);
	in->rx->restart = true;
	return true;
}

/*
 * Handles a cookie for an existing association, by Table 12 of 5.2.4. Returns true if the
 * association accepts the packet.
 */
static bool meets(struct sctp_in *in, const struct sctp_cookie *c)
{
	const struct sctp_assoc *a = in->a;
	bool local = c->local_tag == a->local_tag;
	bool peer = a->peer_tag && c->peer_tag == a->peer_tag;

	if (local)
		return complete(in, c);
	if (!peer && c->local_tie == a->setup.local_tie && c->peer_tie == a->setup.peer_tie &&
	    !sctp_in_states(a, SCTP_STATES_SETUP))
		return restart(in, c);
	return false; /* action C, and cases that the table does not have */
}

/* True if no association existed for the cookie's INIT, and the cookie has neither tag of `a`. */
static bool met_none(const struct sctp_assoc *a, const struct sctp_cookie *c)
{
	return !c->local_tie && c->local_tag != a->local_tag && c->peer_tag != a->peer_tag;
}

/*
 * Returns the association between the addresses of the cookie's INIT, if it was created after that
 * INIT. Otherwise returns NULL.
 */
static struct sctp_assoc *overtaken_by(const struct sctp_in *in, const struct sctp_cookie *c)
{
	struct sctp_assoc *a = NULL;

	if (c->receipts.version) /* a peer without receipts has one association for all addresses */
		a = sctp_assoc_find(in->ep, &c->addr, in->h.sport, 0);
	return a && sctp_locals_is_pair(a, &c->addr) ? a : NULL;
}

/*
 * Finds the association for the cookie by all addresses of its INIT (5.1.2), or returns NULL. If no
 * association existed for the INIT, the INIT may have requested another association than the one
 * that the address leads to now. Moreover, the peer may only claim to have the address. The COOKIE
 * ECHO may have come from and to other addresses than the INIT.
 */
static struct sctp_assoc *find(const struct sctp_in *in, const struct sctp_cookie *c)
{
	struct sctp_assoc *a = in->a, *newer;

	if (a && !met_none(a, c))
		return a;
	newer = overtaken_by(in, c);
	if (newer)
		return newer;
	if (a && in->path->confirmed && !sctp_locals_is_another(a, &c->addr, &c->receipts))
		return a;
	a = sctp_assoc_find_listed(in->ep, &c->addr.local, c->alt, c->alts, in->h.sport);
	return a && met_none(a, c) && sctp_locals_is_another(a, &c->addr, &c->receipts) ? NULL : a;
}

/*
 * True if the cookie comes from a valid address: the source of its INIT, which got the INIT ACK. In
 * a collision, the INIT ACK may have gone to another address (see answer_to()). The cookie is then
 * valid from all addresses in its INIT.
 */
static bool comes_from_there(const struct sctp_in *in, const struct sctp_cookie *c)
{
	bool there = ip_addr_equal(&c->addr.remote, &in->from->remote);
	unsigned int i;

	for (i = 0; !there && in->a && c->local_tag == in->a->local_tag && i < c->alts; i++)
		there = ip_addr_equal(&c->alt[i], &in->from->remote);
	return there;
}

bool sctp_accept_cookie(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const struct sctp_assoc *a;
	struct sctp_cookie cookie;

	if (!sctp_cookie_get(&in->s->cookie_key, wire_sctp_value(c), wire_sctp_value_len(c),
			     &cookie))
		return false;
	if (cookie.local_port != in->h.dport || cookie.remote_port != in->h.sport ||
	    cookie.local_tag != in->h.vtag)
		return false;
	a = in->a = find(in, &cookie);
	in->path = a ? sctp_paths_find(in->a, &in->from->remote) : NULL;
	if (!comes_from_there(in, &cookie))
		return false;
	if (in->now - cookie.created > in->s->config.cookie_life &&
	    !(a && a->local_tag == cookie.local_tag && a->peer_tag == cookie.peer_tag)) {
		refuse_cookie(in, &cookie);
		return false;
	}
	return in->a ? meets(in, &cookie) : create(in, &cookie);
}
