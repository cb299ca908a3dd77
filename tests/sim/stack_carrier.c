/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The simulated carrier: SCTP in UDP as in carrier_udp. But all ports of a node share one UDP port,
 * so that the network knows a node by one address and a NAT can move it.
 *
 * With net.links, packets need a link to the peer, which a handshake of one round trip sets up,
 * like a carrier with keys. Before that, packets are dropped at either end.
 *
 * Packets that arrive together may be delivered as one datagram, like the kernel's GRO. Nothing
 * else in a run depends on this.
 *
 * A port bound to a multicast group gets the group's packets. Processes of one host are nodes with
 * one address.
 */
#include "sim/stack.h"
#include "util/bytes.h"
#include "util/sockaddr.h"
#include "wire/datagram.h"
#include "wire/sctp_init.h"
#include "wire/sctp_packet.h"

#define PACKET_MAX 65536
#define RCVBUF (8u << 20)
#define FIRST_PORT 32768u
#define PORTS 1000u /* of a process, if its host has several */
#define FULL_MOST MSEC

/* The handshake of a link: a packet of this length with ports like an SCTP packet's. */
#define HELLO_LEN 12
#define HELLO_PAUSE (50 * MSEC)
#define HELLO_PAUSE_MOST SEC

enum hello {
	HELLO_ASK = 0x68656c6f,	 /* request */
	HELLO_HERE = 0x68657265, /* answer: the link is up at both ends */
	HELLO_NO_LINK =
		0x6e6f6c6b, /* a packet arrived without a link, which must be set up again */
};

/* An arriving packet, or an ICMP error for a packet. */
struct arrival {
	struct list_node node; /* net.arrived */
	struct path_addr path;
	bool icmp;
	int unreachable;
	uint32_t mtu;
	size_t len;
	uint8_t data[];
};

/* A link to one peer. */
struct sim_link {
	struct list_node node; /* sim_port.links */
	struct path_addr to;
	uint16_t port; /* the peer's port of SCTP */
	bool up;
	uint64_t ask_at, pause;
};

struct sim_port {
	struct list_node node; /* net.ports */
	struct endpoint *ep;
	bool watched;
	bool joined; /* the group that it is bound to */
	bool awaits_room;
	uint64_t full_until;
	struct list_node links;
};

static struct sim_port *port_of(const struct endpoint *ep)
{
	return (struct sim_port *)(void *)user_sctp_port(ep);
}

/* ---- ports ---- */

static int start(struct conn *c, struct config_error *why)
{
	list_init(&c->net->ports);
	list_init(&c->net->arrived);
	list_init(&c->net->datagram);
	c->net->next_port = (uint16_t)(FIRST_PORT + PORTS * stack_node_of(c)->process);
	return 0;
}

static void stop_net(struct conn *c)
{
	stack_carrier_clear(stack_node_of(c));
	check(list_empty(&c->net->ports));
}

static bool is_group(const struct sockaddr *addr)
{
	struct ip_addr ip = sockaddr_ip(addr);

	return ip_addr_is_multicast(&ip);
}

/*
 * Two ports of one number need different addresses, and the wildcard overlaps all addresses. A
 * group's port may be opened again before the earlier one, which has left the group, is closed.
 */
static bool is_taken(const struct net *net, uint16_t number, const struct sockaddr *addr)
{
	struct ip_addr ip = sockaddr_ip(addr), other;

	if (is_group(addr))
		return false;
	list_for_each(node, &net->ports) {
		const struct endpoint *ep = list_entry(node, struct sim_port, node)->ep;

		other = sockaddr_ip((const struct sockaddr *)&ep->bound.local);
		if (ep->bound.port == number &&
		    (ip_addr_is_zero(&ip) || ip_addr_is_zero(&other) || ip_addr_equal(&ip, &other)))
			return true;
	}
	return false;
}

static int open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf)
{
	struct net *net = ep->conn->net;
	uint16_t number = sockaddr_port(addr);
	struct sim_port *p;

	if (number && is_taken(net, number, addr))
		return -EADDRINUSE;
	while (!number) {
		number = net->next_port++;
		if (is_taken(net, number, addr))
			number = 0;
	}
	p = calloc(1, sizeof(*p));
	assert_non_null(p);
	p->ep = ep;
	list_init(&p->links);
	ep->bound.family = addr->sa_family;
	ep->bound.v6only = v6only;
	ep->bound.wildcard = sockaddr_is_any(addr);
	ep->bound.multicast = is_group(addr);
	ep->bound.port = number;
	sockaddr_copy(&ep->bound.local, addr);
	sockaddr_set_port((struct sockaddr *)&ep->bound.local, number);
	list_add_tail(&net->ports, &p->node);
	user_sctp_set_port(ep, (struct carrier_port *)(void *)p);
	*rcvbuf = RCVBUF;
	return 0;
}

static void close_port(struct endpoint *ep)
{
	struct sim_port *p = port_of(ep);
	struct list_node *node;

	while ((node = list_pop(&p->links)))
		free(list_entry(node, struct sim_link, node));
	list_del(&p->node);
	free(p);
	user_sctp_set_port(ep, NULL);
}

static int watch(struct endpoint *ep)
{
	port_of(ep)->watched = true;
	return 0;
}

static int join(struct endpoint *ep, const struct ip_addr *group, unsigned int ifindex, bool join)
{
	struct stack_node *n = stack_node_of(ep->conn);

	check(ep->bound.multicast && ifindex == STACK_IFINDEX);
	simnet_join(n->w->net, n->id, group, join);
	port_of(ep)->joined = join;
	return 0;
}

static void forget(struct endpoint *ep)
{
	check(!"nobody forks here");
}

static void set_tos(struct endpoint *ep)
{
}

/* ---- links ---- */

static struct sim_link *link_to(struct sim_port *p, const struct path_addr *to, uint16_t port)
{
	struct sim_link *l;

	list_for_each(node, &p->links) {
		l = list_entry(node, struct sim_link, node);
		if (l->port == port && ip_addr_equal(&l->to.remote, &to->remote))
			return l;
	}
	l = calloc(1, sizeof(*l));
	assert_non_null(l);
	l->to = *to;
	l->port = port;
	l->ask_at = TIME_NEVER;
	list_add_tail(&p->links, &l->node);
	return l;
}

static void say(struct sim_port *p, const struct sim_link *l, enum hello what)
{
	struct stack_node *n = stack_node_of(p->ep->conn);
	uint8_t packet[HELLO_LEN] = { 0 };

	put_be16(packet, p->ep->bound.port);
	put_be16(packet + 2, l->port);
	put_be32(packet + 8, what);
	simnet_send(n->w->net, n->id, &l->to, packet, sizeof(packet), n->w->now);
}

static void ask(struct sim_port *p, struct sim_link *l)
{
	l->pause = l->pause < HELLO_PAUSE_MOST / 2 ? 2 * l->pause : HELLO_PAUSE_MOST;
	l->ask_at = p->ep->conn->now + l->pause;
	say(p, l, HELLO_ASK);
}

/* True if a packet may leave on this link. Otherwise, sets the link up. */
static bool link_is_up(struct sim_port *p, const struct path_addr *to, uint16_t port)
{
	struct sim_link *l;

	if (!p->ep->conn->net->links)
		return true;
	l = link_to(p, to, port);
	if (!l->up && l->ask_at == TIME_NEVER) {
		l->pause = HELLO_PAUSE / 2;
		ask(p, l);
	}
	return l->up;
}

/* True if an arriving packet may pass. False if it is dropped, or belongs to the handshake. */
static bool link_passes(struct sim_port *p, const struct arrival *a)
{
	struct sim_link *l;
	uint32_t what = a->len == HELLO_LEN ? get_be32(a->data + 8) : 0;

	if (!p->ep->conn->net->links)
		return true;
	l = link_to(p, &a->path, get_be16(a->data));
	switch (what) {
	case HELLO_ASK:
		say(p, l, HELLO_HERE);
		/* fall through */
	case HELLO_HERE:
		l->up = true;
		l->ask_at = TIME_NEVER;
		return false;
	case HELLO_NO_LINK:
		l->up = false;
		return false;
	default:
		if (!l->up)
			say(p, l, HELLO_NO_LINK);
		return l->up;
	}
}

static uint64_t next_timeout(const struct conn *c)
{
	const struct stack_node *n = list_entry(c, struct stack_node, conn);
	uint64_t next = n->w->layer ? n->w->layer->next_timeout(n) : TIME_NEVER;

	list_for_each(node, &c->net->ports) {
		const struct sim_port *p = list_entry(node, struct sim_port, node);

		if (p->awaits_room && p->full_until < next)
			next = p->full_until;
		list_for_each(lnode, &p->links) {
			const struct sim_link *l = list_entry(lnode, struct sim_link, node);

			if (l->ask_at < next)
				next = l->ask_at;
		}
	}
	return next;
}

static void timers(struct conn *c)
{
	struct stack_node *n = stack_node_of(c);

	if (n->w->layer)
		n->w->layer->timers(n);
	list_for_each(node, &c->net->ports) {
		struct sim_port *p = list_entry(node, struct sim_port, node);

		list_for_each(lnode, &p->links) {
			struct sim_link *l = list_entry(lnode, struct sim_link, node);

			if (l->ask_at <= c->now)
				ask(p, l);
		}
	}
}

/* ---- receiving ---- */

static void arrive(struct stack_node *n, struct arrival head, const uint8_t *data)
{
	struct arrival *a;

	if (!n->alive)
		return;
	a = malloc(sizeof(*a) + head.len);
	assert_non_null(a);
	memcpy(a, &head, sizeof(head));
	memcpy(a->data, data, head.len);
	list_add_tail(&n->net.arrived, &a->node);
}

void stack_arrive(struct stack_node *n, const struct path_addr *path, const uint8_t *packet,
		  size_t len)
{
	arrive(n, (struct arrival){ .path = *path, .len = len }, packet);
}

static void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t at)
{
	struct stack_node *n = ctx;

	if (n->alive && n->w->layer)
		n->w->layer->input(n, path, packet, len);
	else
		stack_arrive(n, path, packet, len);
}

/* Queues an ICMP error for a packet. */
static void arrive_icmp(struct stack_node *n, struct arrival head, const uint8_t *quoted)
{
	uint8_t begin[sizeof(((struct carrier_error *)NULL)->quoted)];

	head.icmp = true;
	head.len = head.len < sizeof(begin) ? head.len : sizeof(begin);
	memcpy(begin, quoted, head.len);
	arrive(n, head, begin);
}

void stack_unreachable(struct stack_node *n, const struct path_addr *to, int error,
		       const uint8_t *packet, size_t len)
{
	arrive_icmp(n, (struct arrival){ .path = *to, .unreachable = error, .len = len }, packet);
}

/* Handles an ICMP error of the network, which quotes the layer's version of the packet. */
static void hear_icmp(struct stack_node *n, struct arrival head, const uint8_t *quoted)
{
	uint8_t begin[sizeof(((struct carrier_error *)NULL)->quoted)];

	check(head.len <= sizeof(begin));
	memcpy(begin, quoted, head.len);
	if (!n->alive || !n->w->layer ||
	    n->w->layer->quoted(n, &head.path, head.unreachable, begin, &head.len, sizeof(begin)))
		arrive_icmp(n, head, begin);
}

static void unreachable(void *ctx, const struct path_addr *to, int error, const uint8_t *quoted,
			size_t len, uint64_t at)
{
	hear_icmp(ctx, (struct arrival){ .path = *to, .unreachable = error, .len = len }, quoted);
}

static void too_big(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
		    size_t len, uint64_t at)
{
	hear_icmp(ctx, (struct arrival){ .path = *to, .mtu = mtu, .len = len }, quoted);
}

const struct simnet_ops stack_net_ops = { .deliver = deliver,
					  .unreachable = unreachable,
					  .too_big = too_big };

static struct sim_port *find_port(const struct net *net, uint16_t number,
				  const struct ip_addr *local)
{
	list_for_each(node, &net->ports) {
		struct sim_port *p = list_entry(node, struct sim_port, node);
		struct ip_addr ip = sockaddr_ip((const struct sockaddr *)&p->ep->bound.local);

		if (p->ep->bound.port == number &&
		    (ip_addr_is_zero(&ip) || ip_addr_equal(&ip, local)))
			return p;
	}
	return NULL;
}

static void icmp(struct stack_node *n, const struct arrival *a)
{
	struct carrier_error err = {
		.to = a->path,
		.unreachable = a->unreachable,
		.mtu = a->mtu,
		.quoted_len = a->len,
	};
	struct sim_port *p;

	check(a->len <= sizeof(err.quoted));
	memcpy(err.quoted, a->data, a->len);
	p = a->len >= 2 ? find_port(&n->net, get_be16(a->data), &a->path.local) : NULL;
	if (p)
		user_sctp_icmp(p->ep, &err);
}

/* Returns a group's port. It gets all packets to the group's UDP port, whatever their SCTP port. */
static struct sim_port *find_group(const struct net *net, const struct ip_addr *group)
{
	list_for_each(node, &net->ports) {
		struct sim_port *p = list_entry(node, struct sim_port, node);
		struct ip_addr ip = sockaddr_ip((const struct sockaddr *)&p->ep->bound.local);

		if (p->joined && ip_addr_equal(&ip, group))
			return p;
	}
	return NULL;
}

/* Returns the port that takes this packet, or NULL. */
static struct sim_port *port_for(struct stack_node *n, const struct arrival *a)
{
	bool good = a->len >= WIRE_SCTP_COMMON_LEN && wire_sctp_checksum_ok(a->data, a->len);
	struct sim_port *p;

	if (a->len < HELLO_LEN)
		return NULL;
	if (ip_addr_is_multicast(&a->path.local)) {
		n->bad_crc += !good;
		return find_group(&n->net, &a->path.local);
	}
	p = find_port(&n->net, get_be16(a->data + 2), &a->path.local);
	n->bad_crc += !good && a->len != HELLO_LEN;
	/* Bit errors may have changed the SCTP port, which UDP would not have used. */
	if (!p && good)
		simnet_refuse(n->w->net, n->id, &a->path, a->data, a->len, n->w->now);
	return p && p->watched && link_passes(p, a) ? p : NULL;
}

/*
 * True if GRO joins a packet to others, of which the first and the last are given. They come from
 * one peer to one port, and have one length, but the very last may be shorter.
 */
static bool joins(const struct arrival *first, const struct arrival *last,
		  const struct arrival *next)
{
	return !next->icmp && next->len >= HELLO_LEN && next->len <= first->len &&
	       last->len == first->len && get_be16(next->data + 2) == get_be16(first->data + 2) &&
	       next->path.udp_port == first->path.udp_port &&
	       ip_addr_equal(&next->path.remote, &first->path.remote) &&
	       ip_addr_equal(&next->path.local, &first->path.local);
}

/* Drops the next packets of net.datagram that are no UD datagrams: a group's port ignores them. */
static void skip_at_group(struct net *net, const struct endpoint *ep)
{
	while (ep->bound.multicast && !list_empty(&net->datagram)) {
		struct arrival *a = list_entry(net->datagram.next, struct arrival, node);

		if (wire_is_datagram(a->data, a->len))
			return;
		list_del(&a->node);
		free(a);
	}
}

/* Delivers the packets of net.datagram, of len bytes in total, as one datagram. */
static void hand_over(struct stack_node *n, struct sim_port *p, size_t len)
{
	const struct arrival *first = list_entry(n->net.datagram.next, struct arrival, node);
	struct carrier_datagram d = {
		.data = malloc(len), .len = len, .segment = first->len, .from = first->path
	};
	const struct conn_traffic before = n->conn.traffic;
	uint64_t packets = 0;
	size_t at = 0;

	assert_non_null(d.data);
	list_for_each(node, &n->net.datagram) {
		const struct arrival *a = list_entry(node, struct arrival, node);

		memcpy(d.data + at, a->data, a->len);
		at += a->len;
		packets++;
	}
	user_sctp_input(p->ep, &d);
	free(d.data);
	skip_at_group(&n->net, p->ep);
	check(list_empty(&n->net.datagram));
	check(n->conn.traffic.packets_in == before.packets_in + packets);
	check(n->conn.traffic.bytes_in == before.bytes_in + len);
	n->w->joined += packets - 1;
}

/* Delivers a packet, perhaps joined with later ones, and frees them. */
static void gather(struct stack_node *n, struct arrival *first)
{
	struct sim_port *p = port_for(n, first);
	struct net *net = &n->net;
	struct arrival *last = first, *next;
	size_t len = first->len;

	if (!p) {
		free(first);
		return;
	}
	list_add_tail(&net->datagram, &first->node);
	while (!list_empty(&net->arrived) && sim_random_chance(&net->random, net->join)) {
		next = list_entry(net->arrived.next, struct arrival, node);
		if (len + next->len >= PACKET_MAX || !joins(first, last, next))
			break;
		list_del(&next->node);
		if (!port_for(n, next)) {
			free(next);
			continue;
		}
		list_add_tail(&net->datagram, &next->node);
		len += next->len;
		last = next;
	}
	hand_over(n, p, len);
}

void __real_sctp_input(struct sctp_endpoint *ep, const struct path_addr *from,
		       const uint8_t *packet, size_t len, uint64_t now, struct sctp_rx *rx);
void __wrap_sctp_input(struct sctp_endpoint *ep, const struct path_addr *from,
		       const uint8_t *packet, size_t len, uint64_t now, struct sctp_rx *rx);

void __real_datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
			   size_t len);
void __wrap_datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
			   size_t len);

/* Checks that each packet of a UDP datagram is passed on whole, once, and in order. */
static void expect_packet(const struct endpoint *to, const uint8_t *packet, size_t len)
{
	struct list_node *node;
	struct arrival *a;

	skip_at_group(to->conn->net, to);
	node = list_pop(&to->conn->net->datagram);
	check(node);
	a = list_entry(node, struct arrival, node);
	check(len == a->len && !memcmp(packet, a->data, len));
	free(a);
}

void __wrap_sctp_input(struct sctp_endpoint *ep, const struct path_addr *from,
		       const uint8_t *packet, size_t len, uint64_t now, struct sctp_rx *rx)
{
	expect_packet(sctp_endpoint_ctx(ep), packet, len);
	__real_sctp_input(ep, from, packet, len, now, rx);
}

void __wrap_datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
			   size_t len)
{
	expect_packet(ep, packet, len);
	__real_datagram_input(ep, from, packet, len);
}

static enum conn_received receive(struct conn *c, enum conn_depth depth)
{
	struct stack_node *n = stack_node_of(c);
	enum conn_received got = CONN_NOTHING;
	struct list_node *node;

	while ((node = list_pop(&c->net->arrived))) {
		struct arrival *a = list_entry(node, struct arrival, node);

		if (a->icmp) {
			icmp(n, a);
			free(a);
		} else {
			gather(n, a);
		}
		got = CONN_SOME;
	}
	return got;
}

void stack_carrier_clear(struct stack_node *n)
{
	struct list_node *node;

	while ((node = list_pop(&n->net.arrived)))
		free(list_entry(node, struct arrival, node));
}

/* ---- sending ---- */

/* Copies len bytes of the batch, from data on, as they leave. */
static void assemble(const struct sctp_batch *b, uint8_t *packet, const uint8_t *data, size_t len)
{
	memcpy(packet, data, len);
	for (unsigned int i = 0; i < b->n_refs; i++) {
		const struct sctp_ref *ref = &b->refs[i];

		if (ref->at < data || ref->at >= data + len)
			continue;
		check(ref->at + ref->len <= data + len);
		memcpy(packet + (ref->at - data), ref->from, ref->len);
		stack_current->ref++;
	}
}

void stack_transmit(struct stack_node *n, const struct path_addr *to, bool df, const uint8_t *data,
		    size_t len)
{
	struct stack_world *w = n->w;
	int from = n->second >= 0 && ip_addr_equal(&to->local, &n->second_addr) ? n->second : n->id;

	if (df)
		simnet_send(w->net, from, to, data, len, w->now);
	else
		simnet_send_fragments(w->net, from, to, data, len, w->now);
}

static void transmit(struct stack_node *n, struct sctp_batch *b, const uint8_t *data, size_t len)
{
	static uint8_t packet[PACKET_MAX];
	struct stack_world *w = n->w;

	check(!b->df || len + SIMNET_HEADERS <= n->mtu);
	check(!b->hops == !ip_addr_is_multicast(&b->to.remote));
	check(!b->hops || b->to.udp_port == MULTICAST_PORT);
	assemble(b, packet, data, len);
	if (w->filter)
		len = w->filter(w, n, packet, len);
	if (!len)
		return;
	if (w->layer)
		w->layer->send(n, &b->to, b->df, packet, len);
	else
		stack_transmit(n, &b->to, b->df, packet, len);
}

static int send_batch(struct endpoint *ep, struct sctp_batch *b)
{
	struct stack_node *n = stack_node_of(ep->conn);
	struct sim_port *p = port_of(ep);
	struct stack_world *w = n->w;

	if (p->full_until > w->now)
		return -EAGAIN;
	if (sim_random_chance(&w->random, n->net.full)) {
		p->full_until = w->now + sim_random_below(&w->random, FULL_MOST);
		return -EAGAIN;
	}
	if (!link_is_up(p, &b->to, get_be16(b->data + 2)))
		return 0;
	for (size_t at = 0; at < b->len; at += b->segment)
		transmit(n, b, b->data + at, b->len - at < b->segment ? b->len - at : b->segment);
	return 0;
}

static void await_room(struct endpoint *ep, bool await)
{
	port_of(ep)->awaits_room = await;
}

/* Arriving packets are taken immediately. */
static bool room_of(const struct endpoint *ep, const struct ip_addr *from,
		    struct carrier_room *room)
{
	*room = (struct carrier_room){ .size = RCVBUF };
	return true;
}

const struct carrier stack_carrier = {
	.references = true,
	.start = start,
	.stop = stop_net,
	.open = open_port,
	.close = close_port,
	.watch = watch,
	.join = join,
	.forget = forget,
	.set_tos = set_tos,
	.receive = receive,
	.send = send_batch,
	.await_room = await_room,
	.room = room_of,
	.next_timeout = next_timeout,
	.timers = timers,
};
