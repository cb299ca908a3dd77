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

/*
 * Limits of a batch, whose packets have the same length and the same address, as UDP_SEGMENT
 * requires.
 */
#define PACKETS_MAX 64u
#define BATCH_MAX 65000u
/* Bytes of the IPv6 and UDP headers. */
#define OVERHEAD 48u
/*
 * Bytes of SCTP that fit into an unfragmented UDP packet on every route, since every IPv4 link
 * accepts packets of 68 bytes (RFC 791 3.2).
 */
#define ANY_ROUTE 40u
/*
 * TURN: maximum number of datagrams that a QP sends in one turn. TURNS: number of turns after which
 * the holder of the lock does other work. Without this limit, other work might never be done: a
 * datagram completes when it is sent, so a program may post as fast as datagrams are sent.
 */
#define TURN PACKETS_MAX
#define TURNS 4u
/*
 * Maximum number of turns in one datagram_output() that send nothing, because a receiver has no
 * room.
 */
#define TURNS_PACED 64u

struct datagram_out {
	uint8_t buf[BATCH_MAX];
	struct endpoint *ep;
	struct sctp_batch batch; /* len 0: no batch */
	uint16_t port;		 /* destination SCTP port of the batch */
	uint32_t room, cost;	 /* limit from pace_room(), and the batch's sum of pace_cost() */
	bool whole;		 /* the batch arrives in one piece (carrier.whole_batches) */
	bool blocked;		 /* the batch waits for room in the send buffer */
	uint64_t paced_until;	 /* ns; all datagrams wait for receivers until then; 0: none */
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

/*
 * Passes a multicast datagram to the attached QPs. The sender is a local QP only if its address is
 * local, since QP numbers are unique only within a host.
 */
static void receive_copies(struct conn *c, const struct wire_ud *u, const struct path_addr *from)
{
	const struct iw_qp *source = conn_qp(c, u->src_qp);
	bool own = source && source->blocks_own && c->ops->is_own_address(c, &from->remote);

	iw_mcast_receive(c->iw, u, &from->local, &from->remote, own);
}

/* Handles Room Requests and Replies (pace.h). Returns false if the chunk is malformed. */
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
		/*
		 * Ignore requests to a group: otherwise all members would answer one forged packet.
		 */
		if (ep->bound.multicast || h.dport != ep->bound.port ||
		    !wire_sctp_checksum_ok(packet, len) ||
		    !sidr_input(ep, from, h.sport, kind, chunk))
			stats->malformed++;
		return;
	}
	/*
	 * The source port of the packet must be the port in the source QP number, so that the
	 * program can answer.
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
	 * Set DF on Room Requests and Replies, which fit any route. Most other packets have DF, and
	 * each change of DF costs a system call.
	 */
	batch.df = batch.len <= ANY_ROUTE;
	wire_sctp_checksum_put(packet, batch.len);
	ep->conn->traffic.packets_out++;
	ep->conn->traffic.bytes_out += batch.len;
	ep->conn->carrier->send(ep, &batch);
}

static void batch_done(struct datagram_out *o)
{
	o->batch.len = 0;
	pace_sent(&o->pace, o->ep, &o->batch.to, o->port, o->cost);
}

/* Sends the batch. Returns false if the socket's send buffer is full; the batch then waits. */
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

/* Returns the hop limit of multicast packets, or 0, the host's default, for unicast packets. */
static uint8_t hops_of(const struct iw_ud_dest *dest)
{
	return ip_addr_is_multicast(&dest->remote) ? dest->hop_limit : 0;
}

/*
 * Returns the UDP destination port. For a host, the setting encap-port may change it. All members
 * of a group have the same port.
 */
static uint16_t udp_port_of(const struct conn *c, const struct iw_ud_dest *dest)
{
	uint16_t port = qp_num_port(dest->qp_num);

	return ip_addr_is_multicast(&dest->remote) ? port : cm_encap_port(c, port);
}

/*
 * True if a packet from ep to dest with len bytes of payload may be the next packet of the batch.
 */
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
	/* Set DF if the packet fits the route. */
	o->batch.df = o->batch.segment + OVERHEAD + c->carrier->overhead <=
		      known_mtu(c, &o->batch.to);
	o->whole = o->batch.df && c->carrier->whole_batches && is_on_this_host(c, &dest->remote);
	o->port = qp_num_port(dest->qp_num);
	o->cost = 0;
	o->room = pace_room(c, &o->pace, ep, &o->batch.to, o->port);
	return o->room;
}

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

enum turn {
	TURN_SENT,  /* datagrams were sent, or added to the batch */
	TURN_PACED, /* the receiver of its next datagram has no room */
	TURN_FULL,  /* the socket's send buffer is full */
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
