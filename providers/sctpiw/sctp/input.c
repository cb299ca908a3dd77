/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Received packets: finds their association, checks them, and handles their chunks. */
#include "sctp/input.h"

#include "sctp/accept.h"
#include "sctp/asconf_in.h"
#include "sctp/away.h"
#include "sctp/control.h"
#include "sctp/sack.h"
#include "sctp/trace.h"
#include "wire/sctp_away.h"
#include "wire/sctp_init.h"

/*
 * Decides by the first chunk of a packet if the packet's chunks are processed. *p points after the
 * first chunk. If the first chunk must be passed to its handler as well, sets *p back to it.
 */
typedef bool admit_fn(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p);
typedef void handle_fn(struct sctp_in *in, const struct wire_sctp_chunk *c);

/* Handles an INIT, which must be alone in a packet without a tag (RFC 9260 8.5.1 A). */
static bool admit_init(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p)
{
	if (in->h.vtag == 0 && *p == in->end)
		sctp_accept_init(in, first);
	return false;
}

static bool admit_cookie_echo(struct sctp_in *in, const struct wire_sctp_chunk *first,
			      const uint8_t **p)
{
	if (in->h.vtag == 0 || !sctp_accept_cookie(in, first))
		return false;
	in->path = sctp_paths_find(in->a, &in->from->remote);
	sctp_path_heard(in);
	return true;
}

/* Decides about a packet of a known association. tag_holds: the packet's tag is valid (8.5). */
static bool admit_known(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p,
			bool tag_holds)
{
	if (in->h.vtag == 0)
		return false;
	if (!in->a) {
		if (!sctp_assoc_has_tag(in->ep, in->h.sport, in->h.vtag))
			sctp_ootb_input(in);
		return false;
	}
	if (!tag_holds)
		return false;
	if (first->type != WIRE_SCTP_AUTH) /* a packet with AUTH counts only after its check */
		sctp_path_heard(in);
	*p = first->raw;
	return true;
}

static bool admit(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p)
{
	return admit_known(in, first, p, in->a && in->h.vtag == in->a->local_tag);
}

/*
 * Decides about a packet with ABORT or SHUTDOWN COMPLETE. A host without the association sets the T
 * bit, and copies the tag of a local packet (8.5.1 B, C). This host need not be the peer: it may
 * have an address that the peer lists, but does not have. The host then answers a HEARTBEAT with an
 * ABORT, which must not end the association. The same holds for an address that the peer has lost.
 * The path to that address has errors, while the peer is reachable on another path.
 */
static bool admit_reflected(struct sctp_in *in, const struct wire_sctp_chunk *first,
			    const uint8_t **p)
{
	const struct sctp_assoc *a = in->a;
	const struct sctp_path *path = in->path;

	/* The ABORT answers a packet from an address that the peer does not know (any more). */
	if (first->type == WIRE_SCTP_ABORT && a && sctp_asconf_is_foreign(a, &in->from->local))
		return false;
	if (!(first->flags & WIRE_SCTP_T_BIT))
		return admit(in, first, p);
	return admit_known(in, first, p,
			   a && a->peer_tag && in->h.vtag == a->peer_tag && path &&
				   path->confirmed && (path == a->path || !path->health.errors));
}

/* A SHUTDOWN ACK during the handshake counts as out of the blue (8.5.1 E). */
static bool admit_shutdown_ack(struct sctp_in *in, const struct wire_sctp_chunk *first,
			       const uint8_t **p)
{
	if (in->a && sctp_in_states(in->a, SCTP_STATES_SETUP))
		in->a = NULL;
	return admit(in, first, p);
}

static void ignore(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
}

/* Handles INIT or COOKIE ECHO after the first chunk: skips the rest (12.3, 3.2.2). */
static void misplaced(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	in->stop = true;
}

#define SETUP SCTP_STATES_SETUP
#define UP SCTP_STATES_UP

/* The rules for each type of chunk (RFC 9260 5, 6, 8, 9). */
static const struct rule {
	unsigned int states; /* the chunk is skipped in all other states */
	handle_fn *handle;
	admit_fn *admit; /* called if it is the first chunk of a packet; NULL: admit() */
	/* may come from an address that is known only from the chunk's list */
	bool lists_addresses;
} rules[] = {
	[WIRE_SCTP_DATA] = { SCTP_STATES_RECEIVE, sctp_rx_data },
	[WIRE_SCTP_INIT] = { SETUP | UP, misplaced, admit_init, true },
	[WIRE_SCTP_INIT_ACK] = { SCTP_IN(SCTP_COOKIE_WAIT), sctp_handshake_init_ack, admit, true },
	[WIRE_SCTP_SACK] = { SCTP_STATES_SEND, sctp_sack_input },
	/* In COOKIE-ECHOED, the HEARTBEAT ACK waits for the COOKIE ACK (8.3, 5.1). */
	[WIRE_SCTP_HEARTBEAT] = { SCTP_IN(SCTP_COOKIE_ECHOED) | UP, sctp_path_heartbeat },
	[WIRE_SCTP_HEARTBEAT_ACK] = { UP, sctp_path_heartbeat_ack },
	[WIRE_SCTP_ABORT] = { SETUP | UP, sctp_close_abort, admit_reflected },
	[WIRE_SCTP_SHUTDOWN] = { UP, sctp_close_shutdown },
	[WIRE_SCTP_SHUTDOWN_ACK] = { SCTP_IN(SCTP_SHUTDOWN_SENT) | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
				     sctp_close_shutdown_ack, admit_shutdown_ack },
	[WIRE_SCTP_ERROR] = { SETUP | UP, sctp_control_error_in },
	[WIRE_SCTP_COOKIE_ECHO] = { SETUP | UP, misplaced, admit_cookie_echo },
	[WIRE_SCTP_COOKIE_ACK] = { SCTP_IN(SCTP_COOKIE_ECHOED), sctp_handshake_cookie_ack },
	[12] = { SETUP | UP, ignore }, /* ECNE and CWR are reserved, and are never negotiated */
	[13] = { SETUP | UP, ignore },
	[WIRE_SCTP_SHUTDOWN_COMPLETE] = { SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
					  sctp_close_shutdown_complete, admit_reflected },
};

/* Returns the rule for a chunk, or NULL if its type is unknown. */
static const struct rule *rule_of(const struct wire_sctp_chunk *c)
{
	return c->type < sizeof(rules) / sizeof(rules[0]) ? &rules[c->type] : NULL;
}

/* Handles chunks that require an agreement on ASCONF. Returns true if c is one of these. */
static bool authenticated(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	/* In these states, ASCONF and ASCONF-ACK are processed (RFC 5061 5.1.1 C4). */
	bool changes = sctp_in_states(in->a, SCTP_STATES_SEND | SCTP_STATES_RECEIVE);

	switch (c->type) {
	case WIRE_SCTP_AUTH:
		sctp_auth_input(in, c);
		return true;
	case WIRE_SCTP_ASCONF:
		if (!in->authentic) /* skip all later chunks, too (RFC 5061 5.2 D5) */
			in->stop = true;
		else if (changes)
			sctp_asconf_in(in, c);
		return true;
	case WIRE_SCTP_ASCONF_ACK:
		if (in->authentic && changes)
			sctp_asconf_ack(in, c);
		return true;
	}
	return false;
}

static void dispatch(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const struct rule *rule = rule_of(c);

	if (c->type == WIRE_SCTP_PAD)
		return;
	if (in->a->auth.hmac && authenticated(in, c))
		return;
	if (c->type == WIRE_SCTP_HOLD && in->a->receipts.agreed.version) {
		sctp_receipts_hold(in, c);
		return;
	}
	if (c->type == WIRE_SCTP_AWAY && in->a->receipts.agreed.version) {
		if (sctp_in_states(in->a, UP))
			sctp_away_input(in, c);
		return;
	}
	if (!rule)
		sctp_control_unknown(in, c);
	else if (sctp_in_states(in->a, rule->states))
		rule->handle(in, c);
}

/*
 * Finds the association of an INIT or INIT ACK. Returns in->a if the packet's source address is
 * confirmed as the peer's, or if the tag matches. Otherwise only the peer claims the source
 * address, which may belong to another host. The addresses listed in the chunk are then looked up
 * (5.1.2). Returns NULL if the chunk requests a new association.
 */
static struct sctp_assoc *find_listed(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct wire_sctp_init init;
	bool whole = wire_sctp_init_get(c, &init);

	if (!a || (in->h.vtag != a->local_tag && !sctp_paths_find(a, &in->from->remote)->confirmed))
		a = whole ? sctp_assoc_find_listed(in->ep, &in->from->local, init.addr, init.addrs,
						   in->h.sport) :
			    NULL;
	if (a && whole && c->type == WIRE_SCTP_INIT &&
	    sctp_locals_is_another(a, in->from, &init.receipts))
		a = NULL;
	return a;
}

/* Finds the packet's association. Returns true if the packet's chunks must be processed. */
static bool identify(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p)
{
	const struct rule *rule = rule_of(first);

	in->a = sctp_assoc_find(in->ep, in->from, in->h.sport, in->h.vtag);
	if (rule && rule->lists_addresses)
		in->a = find_listed(in, first);
	if (first->type == WIRE_SCTP_AUTH && !(in->a && in->a->local_tag == in->h.vtag))
		in->a = sctp_asconf_in_find(in);
	in->path = in->a ? sctp_paths_find(in->a, &in->from->remote) : NULL;
	return (rule && rule->admit ? rule->admit : admit)(in, first, p);
}

/*
 * True if a packet for another port is a local packet that was sent back, as by the echo service of
 * UDP. If the answer were an ABORT, this ABORT would come back too, and would look like an ABORT of
 * the peer.
 */
static bool is_echo(const struct sctp_in *in)
{
	return in->h.sport == in->ep->port &&
	       sctp_assoc_find(in->ep, in->from, in->h.dport, 0) != NULL;
}

/*
 * Answers a packet for an SCTP port without an endpoint. No other process has this UDP port, so no
 * other process answers (5.1, 8.4). p points after the first chunk.
 */
static void other_port(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t *p)
{
	if (is_echo(in))
		return;
	if (first->type == WIRE_SCTP_INIT) {
		if (in->h.vtag == 0 && p == in->end)
			sctp_accept_refuse(in, first);
	} else if (first->type != WIRE_SCTP_COOKIE_ECHO && in->h.vtag) {
		/* Drop a COOKIE ECHO: no cookie that was made here is for another port. */
		sctp_ootb_input(in);
	}
}

static void process(struct sctp_in *in, const uint8_t *p)
{
	const uint8_t *first = in->packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;

	while (!in->stop && in->a->state != SCTP_CLOSED && wire_sctp_chunk_next(&p, in->end, &c)) {
		bool tag_is_ours = in->h.vtag == in->a->local_tag;

		/* A copied tag (T bit) is valid only for the first chunk. */
		if (!tag_is_ours && c.raw != first)
			break;
		/* An ABORT with the T bit must have the peer's tag, not the local tag. */
		if (c.type == WIRE_SCTP_ABORT && tag_is_ours && c.flags & WIRE_SCTP_T_BIT &&
		    in->a->peer_tag != in->a->local_tag)
			continue;
		dispatch(in, &c);
	}
}

/* Called after all chunks of a packet, if the association has not ended. */
static void finish(struct sctp_in *in)
{
	if (in->a->asconf.out && in->h.vtag == in->a->local_tag)
		sctp_asconf_heard(in->a, &in->from->local, in->now);
	/*
	 * A packet gets only one answer (12.4). If a HEARTBEAT ACK was sent alone in a packet, drop
	 * the others.
	 */
	if (in->heartbeat_answered)
		sctp_control_rewind(in->a, in->control);
	sctp_receipts_sacked(in);
	if (in->data)
		sctp_rx_packet_done(in);
}

void sctp_input(struct sctp_endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		size_t len, uint64_t now, struct sctp_rx *rx)
{
	struct sctp_in in = {
		.s = ep->s,
		.ep = ep,
		.from = from,
		.packet = packet,
		.end = packet + len,
		.now = now,
		.rx = rx,
	};
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk first;

	rx->assoc = NULL;
	rx->up = false;
	rx->restart = false;
	rx->count = 0;
	sctp_instance_free_reassembled(ep->s);
	if (len < WIRE_SCTP_MIN_PACKET || len > UINT16_MAX || !wire_sctp_checksum_ok(packet, len)) {
		ep->s->stats.bad_packets++;
		return;
	}
	wire_sctp_common_get(packet, &in.h);
	if (!in.h.dport || !in.h.sport || !wire_sctp_chunk_next(&p, in.end, &first))
		return;
	if (in.h.dport != ep->port) {
		other_port(&in, &first, p);
		return;
	}
	if (!identify(&in, &first, &p))
		return;
	rx->assoc = in.a;
	sctp_trace_received(in.a, &from->remote, packet, len, now);
	in.control = sctp_control_used(in.a);
	process(&in, p);
	sctp_asconf_in_finish(&in);
	if (in.sacks)
		sctp_trace_metrics(in.a, now);
	if (in.a->state != SCTP_CLOSED)
		finish(&in);
}
