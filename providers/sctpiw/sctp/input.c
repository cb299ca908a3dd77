/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that come in: whose they are, whether they are valid, which chunk goes where. */
#include <stdlib.h>

#include "sctp/internal.h"

#define SETUP (SCTP_IN(SCTP_COOKIE_WAIT) | SCTP_IN(SCTP_COOKIE_ECHOED))
#define UP                                                                                         \
	(SCTP_STATES_SEND | SCTP_STATES_RECEIVE | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT))

static void ignore(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
}

/* INIT comes alone and COOKIE ECHO first: elsewhere they stop the packet (12.3, 3.2.2). */
static void misplaced(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	in->stop = true;
}

/* In which states a chunk means something (RFC 9260 5, 6, 8, 9); in the others it is skipped. */
static const struct {
	unsigned int states;
	void (*handle)(struct sctp_in *in, const struct wire_sctp_chunk *c);
} rules[] = {
	[WIRE_SCTP_DATA] = { SCTP_STATES_RECEIVE, sctp_rx_data },
	[WIRE_SCTP_INIT] = { SETUP | UP, misplaced },
	[WIRE_SCTP_INIT_ACK] = { SCTP_IN(SCTP_COOKIE_WAIT), sctp_handshake_init_ack },
	[WIRE_SCTP_SACK] = { SCTP_STATES_SEND, sctp_sack_input },
	/* In COOKIE-ECHOED its answer waits for the COOKIE ACK (8.3, 5.1). */
	[WIRE_SCTP_HEARTBEAT] = { SCTP_IN(SCTP_COOKIE_ECHOED) | UP, sctp_path_heartbeat },
	[WIRE_SCTP_HEARTBEAT_ACK] = { UP, sctp_path_heartbeat_ack },
	[WIRE_SCTP_ABORT] = { SETUP | UP, sctp_close_abort },
	[WIRE_SCTP_SHUTDOWN] = { UP, sctp_close_shutdown },
	[WIRE_SCTP_SHUTDOWN_ACK] = { SCTP_IN(SCTP_SHUTDOWN_SENT) | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
				     sctp_close_shutdown_ack },
	[WIRE_SCTP_ERROR] = { SETUP | UP, sctp_control_error_in },
	[WIRE_SCTP_COOKIE_ECHO] = { SETUP | UP, misplaced },
	[WIRE_SCTP_COOKIE_ACK] = { SCTP_IN(SCTP_COOKIE_ECHOED), sctp_handshake_cookie_ack },
	[12] = { SETUP | UP, ignore }, /* ECNE and CWR are reserved and never negotiated */
	[13] = { SETUP | UP, ignore },
	[WIRE_SCTP_SHUTDOWN_COMPLETE] = { SCTP_IN(SCTP_SHUTDOWN_ACK_SENT),
					  sctp_close_shutdown_complete },
};

static void dispatch(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	if (c->type == WIRE_SCTP_PAD)
		return;
	if (c->type >= sizeof(rules) / sizeof(rules[0])) {
		sctp_control_unknown(in, c);
		return;
	}
	if (sctp_in_states(in->a, rules[c->type].states))
		rules[c->type].handle(in, c);
}

/*
 * The verification tag (8.5, 8.5.1). An ABORT or SHUTDOWN COMPLETE stands first
 * in a packet of somebody who has no association, with our own tag reflected.
 */
static bool tag_holds(const struct sctp_in *in, const struct wire_sctp_chunk *first)
{
	const struct sctp_assoc *a = in->a;
	bool reflected = (first->type == WIRE_SCTP_ABORT ||
			  first->type == WIRE_SCTP_SHUTDOWN_COMPLETE) &&
			 first->flags & WIRE_SCTP_T_BIT;

	if (reflected)
		return a->peer_tag && in->h.vtag == a->peer_tag;
	return in->h.vtag == a->local_tag;
}

/* The one that has one of the addresses that an INIT or INIT ACK lists (5.1.2). */
static struct sctp_assoc *find_listed(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct wire_sctp_init init;

	return wire_sctp_init_get(c, &init) ?
		       sctp_assoc_find_listed(in->ep, &in->from->local, init.addr, init.addrs,
					      in->h.sport) : NULL;
}

/* An INIT and an INIT ACK may come from an address that only they themselves tell of. */
static void find(struct sctp_in *in, const struct wire_sctp_chunk *first)
{
	in->a = sctp_assoc_find_any(in->ep, in->from, in->h.sport, in->h.vtag);
	/* Nobody but its peer has said that this address is that peer's: it may be of another host. */
	if (in->a && (first->type == WIRE_SCTP_INIT ||
		      (first->type == WIRE_SCTP_INIT_ACK && in->h.vtag != in->a->local_tag)) &&
	    !sctp_paths_find(in->a, &in->from->remote)->confirmed)
		in->a = NULL;
	if (!in->a && (first->type == WIRE_SCTP_INIT || first->type == WIRE_SCTP_INIT_ACK))
		in->a = find_listed(in, first);
	in->path = in->a ? sctp_paths_find(in->a, &in->from->remote) : NULL;
	in->other = in->a && in->path != &in->a->path;
}

/* Finds out whose packet it is. Returns false when no chunk of it is to be processed. */
static bool admit(struct sctp_in *in, const struct wire_sctp_chunk *first, const uint8_t **p)
{
	struct sctp_assoc *a;

	find(in, first);
	if (first->type == WIRE_SCTP_INIT) {
		if (in->h.vtag == 0 && *p == in->end)
			sctp_accept_init(in, first);
		return false;
	}
	if (in->h.vtag == 0)
		return false;
	if (first->type == WIRE_SCTP_COOKIE_ECHO) {
		if (!sctp_accept_cookie(in, first))
			return false;
		in->path = sctp_paths_find(in->a, &in->from->remote);
		in->other = in->path != &in->a->path;
		sctp_path_heard(in);
		return true;
	}
	a = in->a;
	if (!a || (first->type == WIRE_SCTP_SHUTDOWN_ACK && sctp_in_states(a, SETUP))) {
		sctp_ootb_input(in);
		return false;
	}
	if (!tag_holds(in, first))
		return false;
	sctp_path_heard(in);
	*p = first->raw; /* it is dispatched like the others */
	return true;
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
	struct wire_sctp_chunk c;
	uint32_t control;

	rx->assoc = NULL;
	rx->up = false;
	rx->restart = false;
	rx->count = 0;
	while (ep->s->reassembled) {
		struct sctp_reasm_message *m = ep->s->reassembled;

		ep->s->reassembled = m->next;
		free(m);
	}
	if (len < WIRE_SCTP_MIN_PACKET || len > UINT16_MAX || !wire_sctp_checksum_ok(packet, len)) {
		ep->s->stats.bad_packets++;
		return;
	}
	wire_sctp_common_get(packet, &in.h);
	if (in.h.dport != ep->port || !in.h.dport || !in.h.sport)
		return;
	if (!wire_sctp_chunk_next(&p, in.end, &c) || !admit(&in, &c, &p))
		return;
	rx->assoc = in.a;
	control = in.a->control ? in.a->control->used : 0;
	while (!in.stop && in.a->state != SCTP_CLOSED && wire_sctp_chunk_next(&p, in.end, &c)) {
		/* A reflected tag vouches for the one chunk that it came with. */
		if (in.h.vtag != in.a->local_tag && c.raw != packet + WIRE_SCTP_COMMON_LEN)
			break;
		if (c.type == WIRE_SCTP_ABORT && in.h.vtag == in.a->local_tag &&
		    c.flags & WIRE_SCTP_T_BIT && in.a->peer_tag != in.a->local_tag)
			continue;
		dispatch(&in, &c);
	}
	if (in.a->state == SCTP_CLOSED)
		return;
	if (in.a->others) { /* an answered HEARTBEAT may have made another path that in use */
		in.path = sctp_paths_find(in.a, &from->remote);
		in.other = in.path != &in.a->path;
	}
	if (in.answered) /* one answer to a packet (12.4), and that is on its way to where it came from */
		sctp_control_rewind(in.a, control);
	if (in.data)
		sctp_rx_packet_done(&in);
}
