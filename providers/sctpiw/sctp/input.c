/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that come in: whose they are, whether they are valid, which chunk goes where. */
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
 * Decides, by the first chunk of a packet, whether the chunks of the packet are to be processed.
 * *p: behind the first chunk; put back to it if it is to be dispatched like the others.
 */
typedef bool admit_fn(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p);
typedef void handle_fn(struct sctp_in *in, const struct wire_sctp_chunk *c);

/* An INIT is looked at only if it is alone in its packet, which has no tag (RFC 9260 8.5.1 A). */
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

/*
 * Admits the packet if it is of an association that we know. tag_holds: whether its verification tag
 * is one that this association accepts (8.5).
 */
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
	if (first->type != WIRE_SCTP_AUTH) /* an AUTH counts only if valid */
		sctp_path_heard(in);
	*p = first->raw;
	return true;
}

static bool admit(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p)
{
	return admit_known(in, first, p, in->a && in->h.vtag == in->a->local_tag);
}

/*
 * An ABORT or SHUTDOWN COMPLETE may come from somebody who has no association. Then the T bit is set,
 * and its tag is the one that we sent, reflected (8.5.1 B, C). Whoever has an address that the peer lists and
 * that is not the peer's says so of our HEARTBEAT, and rightly; it means nothing for the association. Nor does it if the
 * peer has lost the address since, where it no longer answers, while it is at another one.
 */
static bool admit_reflected(struct sctp_in *in, const struct wire_sctp_chunk *first,
			    const uint8_t **p)
{
	const struct sctp_assoc *a = in->a;
	const struct sctp_path *path = in->path;

	/* It is about what we have sent from an address that the peer does not know any more, or not yet. */
	if (first->type == WIRE_SCTP_ABORT && a && sctp_asconf_is_foreign(a, &in->from->local))
		return false;
	if (!(first->flags & WIRE_SCTP_T_BIT))
		return admit(in, first, p);
	return admit_known(in, first, p,
			   a && a->peer_tag && in->h.vtag == a->peer_tag && path &&
				   path->confirmed && (path == a->path || !path->health.errors));
}

/* A SHUTDOWN ACK that finds us connecting is out of the blue (8.5.1 E). */
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

/* INIT comes alone and COOKIE ECHO first: elsewhere they stop the packet (12.3, 3.2.2). */
static void misplaced(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	in->stop = true;
}

#define SETUP SCTP_STATES_SETUP
#define UP SCTP_STATES_UP

/* What is true of each type of chunk (RFC 9260 5, 6, 8, 9). */
static const struct rule {
	unsigned int states; /* in which it means something; in the others it is skipped */
	handle_fn *handle;
	admit_fn *admit;      /* as the first chunk of a packet; NULL: admit() */
	bool lists_addresses; /* and may come from an address that nobody but itself tells of */
} rules[] = {
	[WIRE_SCTP_DATA] = { SCTP_STATES_RECEIVE, sctp_rx_data },
	[WIRE_SCTP_INIT] = { SETUP | UP, misplaced, admit_init, true },
	[WIRE_SCTP_INIT_ACK] = { SCTP_IN(SCTP_COOKIE_WAIT), sctp_handshake_init_ack, admit, true },
	[WIRE_SCTP_SACK] = { SCTP_STATES_SEND, sctp_sack_input },
	/* In COOKIE-ECHOED its answer waits for the COOKIE ACK (8.3, 5.1). */
	[WIRE_SCTP_HEARTBEAT] = { SCTP_IN(SCTP_COOKIE_ECHOED) | UP, sctp_path_heartbeat },
	[WIRE_SCTP_HEARTBEAT_ACK] = { UP, sctp_path_heartbeat_ack },
	[WIRE_SCTP_ABORT] = { SETUP | UP, sctp_close_abort, admit_reflected },
	[WIRE_SCTP_SHUTDOWN] = { UP, sctp_close_shutdown },
	[WIRE_SCTP_SHUTDOWN_ACK] = { SCTP_IN(SCTP_SHUTDOWN_SENT) | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
				     sctp_close_shutdown_ack, admit_shutdown_ack },
	[WIRE_SCTP_ERROR] = { SETUP | UP, sctp_control_error_in },
	[WIRE_SCTP_COOKIE_ECHO] = { SETUP | UP, misplaced, admit_cookie_echo },
	[WIRE_SCTP_COOKIE_ACK] = { SCTP_IN(SCTP_COOKIE_ECHOED), sctp_handshake_cookie_ack },
	[12] = { SETUP | UP, ignore }, /* ECNE and CWR are reserved and never negotiated */
	[13] = { SETUP | UP, ignore },
	[WIRE_SCTP_SHUTDOWN_COMPLETE] = { SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
					  sctp_close_shutdown_complete, admit_reflected },
};

/* The rule of a chunk, or NULL for a type that we do not know. */
static const struct rule *rule_of(const struct wire_sctp_chunk *c)
{
	return c->type < sizeof(rules) / sizeof(rules[0]) ? &rules[c->type] : NULL;
}

/* Takes the chunks that both sides know if they have agreed upon ASCONF. Returns whether c was one of them. */
static bool authenticated(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	/* ASCONF and ASCONF-ACK have these states (RFC 5061 5.1.1 C4). */
	bool changes = sctp_in_states(in->a, SCTP_STATES_SEND | SCTP_STATES_RECEIVE);

	switch (c->type) {
	case WIRE_SCTP_AUTH:
		sctp_auth_input(in, c);
		return true;
	case WIRE_SCTP_ASCONF:
		if (!in->authentic) /* with all that follows (RFC 5061 5.2 D5) */
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
 * The association that has one of the addresses which an INIT or INIT ACK lists (5.1.2), unless it
 * is known by the address where the packet came from. That this address belongs to its peer must
 * have been confirmed, or be shown by the tag; else nobody but that peer has said so, and it may be
 * another host's. NULL: it asks for an association of its own.
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

/* Finds out whose packet it is. Returns whether its chunks are to be processed. */
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
 * Whether a packet for another port is one of ours that was sent back, as UDP's echo service does. An
 * ABORT in answer to it would come back, too, and would be taken for the peer's.
 */
static bool is_echo(const struct sctp_in *in)
{
	return in->h.sport == in->ep->port &&
	       sctp_assoc_find(in->ep, in->from, in->h.dport, 0) != NULL;
}

/*
 * The packet is for an SCTP port that is not here. Nobody else has our UDP port, so nobody else will
 * say that (5.1, 8.4). p: behind the first chunk.
 */
static void other_port(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t *p)
{
	if (is_echo(in))
		return;
	if (first->type == WIRE_SCTP_INIT) {
		if (in->h.vtag == 0 && p == in->end)
			sctp_accept_refuse(in, first);
	} else if (first->type != WIRE_SCTP_COOKIE_ECHO && in->h.vtag) {
		/* No cookie of ours is for another port: it would be dropped. */
		sctp_ootb_input(in);
	}
}

static void process(struct sctp_in *in, const uint8_t *p)
{
	const uint8_t *first = in->packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;

	while (!in->stop && in->a->state != SCTP_CLOSED && wire_sctp_chunk_next(&p, in->end, &c)) {
		bool tag_is_ours = in->h.vtag == in->a->local_tag;

		/* A reflected tag vouches for the one chunk that it came with. */
		if (!tag_is_ours && c.raw != first)
			break;
		/* An ABORT that claims to reflect a tag must have the peer's, not ours. */
		if (c.type == WIRE_SCTP_ABORT && tag_is_ours && c.flags & WIRE_SCTP_T_BIT &&
		    in->a->peer_tag != in->a->local_tag)
			continue;
		dispatch(in, &c);
	}
}

/* All chunks were processed, and the association lives. */
static void finish(struct sctp_in *in)
{
	if (in->a->asconf.out && in->h.vtag == in->a->local_tag)
		sctp_asconf_heard(in->a, &in->from->local, in->now);
	/* A packet gets one answer (12.4): that in a packet of its own is under way. */
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
