/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/datagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/carrier.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "conn/pace.h"
#include "sctp/sctp.h"
#include "util/alloc.h"
#include "util/time.h"
#include "wire/datagram.h"
#include "wire/sidr.h"

/* A batch: packets of one length to one address, as UDP_SEGMENT takes them. */
#define PACKETS_MAX 64u
#define BATCH_MAX 65000u
/* Bytes of the IPv6 and UDP headers. */
#define OVERHEAD 48u
/*
 * Bytes of SCTP that every route takes in UDP: IPv4 links take packets of 68 bytes (RFC 791 3.2).
 */
#define ANY_ROUTE 40u
/*
 * TURN: datagrams of a QP in one turn. TURNS: turns until the holder of the lock does other work. A
 * datagram is complete when it has left, so a program may post as fast as datagrams leave.
 */
#define TURN PACKETS_MAX
#define TURNS 4u
/* Maximum of turns without room at the receiver, in one datagram_output(). */
#define TURNS_PACED 64u

struct datagram_out {
	uint8_t buf[BATCH_MAX];
	struct endpoint *ep;
	struct sctp_batch batch; /* len 0: no batch */
	uint16_t port;		 /* destination SCTP port of the batch */
	uint32_t room, cost;	 /* as in pace.h: limit of the batch, and its present cost */
	bool whole;		 /* the batch reaches its receiver in one piece */
	bool blocked;		 /* the port was full, and the batch waits */
	uint64_t paced_until;	 /* ns. All datagrams wait for room until then; 0: none waits */
	struct pace pace;
};

void datagram_fini(struct conn *c)
{
	free(c->datagrams.out);
	c->datagrams.out = NULL;
}

int datagram_start(struct conn *c, const struct iw_qp *qp)
{
	struct endpoint *ep = qp_num_endpoint(c, qp->num);

	if (!ep || !c->transport->watch)
		return -EOPNOTSUPP;
	if (!c->datagrams.out)
		c->datagrams.out = alloc_lines(sizeof(*c->datagrams.out));
	return c->datagrams.out ? endpoint_watch(ep) : -ENOMEM;
}

/* ---- input ---- */

/* A QP number identifies a local QP only together with a local source address. */
static void receive_copies(struct conn *c, const struct wire_ud *u, const struct path_addr *from)
{
	const struct iw_qp *source = conn_qp(c, u->src_qp);
	bool own = source && source->blocks_own && c->ops->is_own_address(c, &from->remote);

	iw_mcast_receive(c->iw, u, &from->local, &from->remote, own);
}

/* Handles the requests and replies of pace.h. Returns false if the chunk is malformed. */
static bool room_input(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		       enum wire_datagram_kind kind, const uint8_t *chunk)
{
	struct datagram_out *o = ep->conn->datagrams.out;
	struct wire_room room;

	if (!wire_room_get(&room, kind, chunk))
		return false;
	if (kind == WIRE_DATAGRAM_ROOM_REQUEST)
		pace_answer(ep, from, port, &room);
	else if (o)
		pace_told(&o->pace, ep->conn, from, port, &room);
	return true;
}

void datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		    size_t len)
{
	struct iw_ud_stats *stats = iw_ud_stats(ep->conn->iw);
	const uint8_t *chunk = packet + WIRE_SCTP_COMMON_LEN;
	enum wire_datagram_kind kind = wire_datagram_kind(chunk, len - WIRE_SCTP_COMMON_LEN);
	struct wire_sctp_common h;
	struct wire_ud u;

	wire_sctp_common_get(packet, &h);
	if (kind == WIRE_DATAGRAM_ROOM_REQUEST || kind == WIRE_DATAGRAM_ROOM_REPLY) {
		if (ep->bound.multicast || h.dport != ep->bound.port ||
		    !wire_sctp_checksum_ok(packet, len) ||
		    !room_input(ep, from, h.sport, kind, chunk))
			stats->malformed++;
		return;
	}
	if (kind == WIRE_DATAGRAM_SIDR_REQUEST || kind == WIRE_DATAGRAM_SIDR_REPLY) {
		/* Requests to a group get no answer: all members would answer one forged packet. */
		if (ep->bound.multicast || h.dport != ep->bound.port ||
		    !wire_sctp_checksum_ok(packet, len) ||
		    !sidr_input(ep, from, h.sport, kind, chunk))
			stats->malformed++;
		return;
	}
	/*
	 * The source must be a port of QP numbers, and the packet's port, so that a program can
	 * answer.
	 */
	if (kind != WIRE_DATAGRAM_UD || h.dport != ep->bound.port || !wire_ud_get(&u, chunk) ||
	    u.len > IW_UD_MAX_MSG || qp_num_port(u.src_qp) != h.sport ||
	    qp_num_port(u.dst_qp) != h.dport || !wire_sctp_checksum_ok(packet, len)) {
		stats->malformed++;
		return;
	}
	if (ep->bound.multicast)
		receive_copies(ep->conn, &u, from);
	else
		iw_ud_receive(ep->conn->iw, &u, &from->local, &from->remote);
}

/* ---- output ---- */

void datagram_send_chunk(struct endpoint *ep, const struct path_addr *to, uint16_t port,
			 const uint8_t *chunk, size_t len)
{
	uint8_t packet[WIRE_SIDR_PACKET];
	struct sctp_batch batch = { .data = packet, .to = *to };

	wire_sctp_common_put(packet, &(struct wire_sctp_common){
					     .sport = ep->bound.port,
					     .dport = port,
				     });
	memcpy(packet + WIRE_SCTP_COMMON_LEN, chunk, len);
	batch.len = batch.segment = WIRE_SCTP_COMMON_LEN + len;
	/*
	 * Requests and replies about room have DF, like most packets around them: changing it costs
	 * calls.
	 */
	batch.df = batch.len <= ANY_ROUTE;
	wire_sctp_checksum_put(packet, batch.len);
	ep->conn->traffic.packets_out++;
	ep->conn->traffic.bytes_out += batch.len;
	ep->conn->carrier->send(ep, &batch);
}

/* Accounts for a batch that has left. */
static void batch_done(struct datagram_out *o)
{
	o->batch.len = 0;
	pace_sent(&o->pace, o->ep, &o->batch.to, o->port, o->cost);
}

/* Sends the batch. Returns false if the port is full: the batch then waits. */
static bool send_batch(struct conn *c, struct datagram_out *o)
{
	if (o->blocked)
		return false;
	c->traffic.bytes_out += o->batch.len;
	c->traffic.packets_out += (o->batch.len + o->batch.segment - 1) / o->batch.segment;
	if (c->carrier->send(o->ep, &o->batch) != -EAGAIN) {
		batch_done(o);
		return true;
	}
	c->traffic.waits++;
	o->blocked = true;
	endpoint_await_room(o->ep, true);
	return false;
}

bool datagram_retry(struct conn *c)
{
	struct datagram_out *o = c->datagrams.out;

	if (o->paced_until && c->now >= o->paced_until) {
		o->paced_until = 0;
		return true;
	}
	if (!o->blocked || c->carrier->send(o->ep, &o->batch) == -EAGAIN)
		return false;
	endpoint_await_room(o->ep, false);
	o->blocked = false;
	batch_done(o);
	return true;
}

/* Limits the hops of multicast packets only; unicast packets have the host's default. */
static uint8_t hops_of(const struct iw_ud_dest *dest)
{
	return ip_addr_is_multicast(&dest->remote) ? dest->hop_limit : 0;
}

/* A host's UDP port is configurable. All members of a group have the same port. */
static uint16_t udp_port_of(const struct conn *c, const struct iw_ud_dest *dest)
{
	uint16_t port = qp_num_port(dest->qp_num);

	return ip_addr_is_multicast(&dest->remote) ? port : cm_encap_port(c, port);
}

/* True if a packet with len bytes of payload from ep to dest fits the batch as its next one. */
static bool fits(const struct datagram_out *o, const struct endpoint *ep,
		 const struct iw_ud_dest *dest, uint32_t len)
{
	const struct sctp_batch *b = &o->batch;
	/* The carrier adds bytes to each packet, and sends the batch in one call. */
	size_t added = (b->len / b->segment + 1) * ep->conn->carrier->overhead;

	return o->ep == ep && o->port == qp_num_port(dest->qp_num) && o->cost < o->room &&
	       b->len % b->segment == 0 && b->len + b->segment + added <= BATCH_MAX &&
	       b->len < PACKETS_MAX * b->segment &&
	       round_up4(WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + len) <= b->segment &&
	       b->to.udp_port == udp_port_of(ep->conn, dest) && b->hops == hops_of(dest) &&
	       ip_addr_equal(&b->to.remote, &dest->remote) &&
	       ip_addr_equal(&b->to.local, &dest->local);
}

static bool is_on_this_host(struct conn *c, const struct ip_addr *ip)
{
	return ip_addr_is_loopback(ip) || c->ops->is_own_address(c, ip);
}

/* Begins a batch. Returns false if the receiver has no room. */
static bool begin_batch(struct conn *c, struct datagram_out *o, struct endpoint *ep,
			const struct iw_ud_dest *dest, uint32_t len)
{
	o->ep = ep;
	o->batch = (struct sctp_batch){
		.data = o->buf,
		.segment = round_up4(WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + len),
		.hops = hops_of(dest),
		.to = { .local = dest->local,
			.remote = dest->remote,
			.udp_port = udp_port_of(ep->conn, dest) },
	};
	/* Routers do not fragment packets that fit the route. */
	o->batch.df = o->batch.segment + OVERHEAD + c->carrier->overhead <=
		      known_mtu(c, &o->batch.to);
	o->whole = o->batch.df && c->carrier->whole_batches && is_on_this_host(c, &dest->remote);
	o->port = qp_num_port(dest->qp_num);
	o->cost = 0;
	o->room = pace_room(c, &o->pace, ep, &o->batch.to, o->port);
	return o->room;
}

/* Appends the QP's next datagram to the batch. */
static void add(struct datagram_out *o, struct iw_qp *qp, uint32_t dst_qp)
{
	uint8_t *packet = o->buf + o->batch.len;
	bool joins = o->batch.len;
	size_t n;

	wire_sctp_common_put(packet, &(struct wire_sctp_common){
					     .sport = qp_num_port(qp->num),
					     .dport = qp_num_port(dst_qp),
				     });
	n = iw_ud_pull(qp, packet + WIRE_SCTP_COMMON_LEN);
	if (!n)
		return;
	n = WIRE_SCTP_COMMON_LEN + wire_sctp_pad(packet + WIRE_SCTP_COMMON_LEN, n);
	wire_sctp_checksum_put(packet, n);
	o->batch.len += n;
	o->cost += pace_cost(n, o->whole && joins);
}

/* Result of a QP's turn. */
enum turn {
	TURN_SENT,  /* datagrams were sent, or are in the batch */
	TURN_PACED, /* its next receiver has no room */
	TURN_FULL,  /* the port is full */
};

static enum turn output_qp(struct conn *c, struct datagram_out *o, struct iw_qp *qp)
{
	struct endpoint *ep = qp_num_endpoint(c, qp->num);
	const struct iw_ud_dest *dest;
	uint32_t len;
	unsigned int n;

	for (n = 0; n < TURN && (dest = iw_ud_peek(qp, &len)); n++) {
		if (o->batch.len && !fits(o, ep, dest, len) && !send_batch(c, o))
			return TURN_FULL;
		if (!o->batch.len && !begin_batch(c, o, ep, dest, len))
			return n ? TURN_SENT : TURN_PACED;
		add(o, qp, dest->qp_num);
	}
	return TURN_SENT;
}

void datagram_output(struct conn *c)
{
	struct datagram_out *o = c->datagrams.out;
	unsigned int sent = 0, paced = 0;
	struct iw_qp *qp;

	if (o->blocked)
		return;
	while (sent < TURNS && paced < TURNS_PACED && (qp = iw_ud_next_ready(c->iw))) {
		enum turn turn = output_qp(c, o, qp);

		if (turn == TURN_FULL)
			return;
		if (turn == TURN_PACED)
			paced++;
		else
			sent++;
		iw_ud_end_turn(qp);
	}
	if (o->batch.len)
		send_batch(c, o);
	o->paced_until = paced && !sent ? c->now + PACE_RETRY : 0;
}

uint64_t datagram_next_timeout(const struct conn *c)
{
	const struct datagram_out *o = c->datagrams.out;

	return o && o->paced_until ? o->paced_until : TIME_NEVER;
}

bool datagram_is_pending(const struct conn *c)
{
	const struct datagram_out *o = c->datagrams.out;

	return o && !o->blocked && !o->paced_until && iw_ud_next_ready(c->iw);
}
