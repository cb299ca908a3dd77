/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/simnet.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define NODES_MAX 64
#define GROUPS_MAX 16

struct node {
	struct ip_addr addr;
	uint16_t udp_port;
	enum simnet_state state;
	const struct simnet_ops *ops;
	void *ctx;
	struct ip_addr groups[GROUPS_MAX];
	unsigned int n_groups;
};

enum notice {
	NOBODY = -1,	  /* the packet goes to a place where nobody is */
	UNREACHABLE = -2, /* an ICMP error on its way to `from`, of this packet */
	TOO_BIG = -3,	  /* another one: the packet exceeds mtu; data is its begin */
};

#define QUOTED 28 /* bytes of a packet that ICMP quotes, as many routers do */

struct packet {
	uint64_t when;
	uint64_t number; /* the order among packets of the same time */
	int from;
	int to; /* a node, or one of enum notice */
	struct path_addr path;
	uint32_t mtu;
	int error; /* of UNREACHABLE */
	size_t len;
	uint8_t *data;
};

struct simnet {
	struct sim_random random;
	struct node nodes[NODES_MAX];
	int count;
	struct simnet_link *routes[NODES_MAX][NODES_MAX];
	struct packet *heap;
	size_t used;
	size_t capacity;
	uint64_t number;
};

uint64_t sim_random_u64(struct sim_random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void fill(struct random_source *self, void *buf, size_t len)
{
	struct sim_random *r = (struct sim_random *)(void *)self;
	uint8_t *p = buf;

	while (len--)
		*p++ = (uint8_t)sim_random_u64(r);
}

void sim_random_init(struct sim_random *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	r->source.fill = fill;
	r->source.used = sizeof(r->source.pool);
	r->state = seed;
}

uint32_t sim_random_below(struct sim_random *r, uint32_t n)
{
	return n ? (uint32_t)(sim_random_u64(r) % n) : 0;
}

bool sim_random_chance(struct sim_random *r, double p)
{
	return p > 0 && (double)(sim_random_u64(r) >> 11) * 0x1p-53 < p;
}

struct ip_addr simnet_v4(uint8_t n)
{
	struct ip_addr a = { .b = { [10] = 0xff, [11] = 0xff, 10, 0, 0, n } };

	return a;
}

struct simnet *simnet_new(uint64_t seed)
{
	struct simnet *net = calloc(1, sizeof(*net));

	assert(net);
	sim_random_init(&net->random, seed);
	return net;
}

void simnet_free(struct simnet *net)
{
	size_t i;

	for (i = 0; i < net->used; i++)
		free(net->heap[i].data);
	free(net->heap);
	free(net);
}

int simnet_add(struct simnet *net, const struct ip_addr *addr, uint16_t udp_port,
	       const struct simnet_ops *ops, void *ctx)
{
	assert(net->count < NODES_MAX);
	net->nodes[net->count] =
		(struct node){ .addr = *addr, .udp_port = udp_port, .ops = ops, .ctx = ctx };
	return net->count++;
}

void simnet_route(struct simnet *net, int from, int to, struct simnet_link *link)
{
	net->routes[from][to] = link;
}

void simnet_set_state(struct simnet *net, int node, enum simnet_state state)
{
	net->nodes[node].state = state;
}

void simnet_set_port(struct simnet *net, int node, uint16_t udp_port)
{
	net->nodes[node].udp_port = udp_port;
}

/* Returns the node's entry of the group; NULL: it has not joined. */
static struct ip_addr *membership(struct node *n, const struct ip_addr *group)
{
	for (unsigned int i = 0; i < n->n_groups; i++)
		if (ip_addr_equal(&n->groups[i], group))
			return &n->groups[i];
	return NULL;
}

void simnet_join(struct simnet *net, int node, const struct ip_addr *group, bool join)
{
	struct node *n = &net->nodes[node];
	struct ip_addr *entry = membership(n, group);

	assert(join ? !entry && n->n_groups < GROUPS_MAX : !!entry);
	if (join)
		n->groups[n->n_groups++] = *group;
	else
		*entry = n->groups[--n->n_groups];
}

bool simnet_has_joined(struct simnet *net, int node, const struct ip_addr *group)
{
	return membership(&net->nodes[node], group);
}

static bool before(const struct packet *a, const struct packet *b)
{
	return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static void push(struct simnet *net, struct packet p)
{
	size_t i = net->used++;

	if (i == net->capacity) {
		net->capacity = net->capacity ? 2 * net->capacity : 64;
		net->heap = realloc(net->heap, net->capacity * sizeof(*net->heap));
		assert(net->heap);
	}
	p.number = net->number++;
	while (i && before(&p, &net->heap[(i - 1) / 2])) {
		net->heap[i] = net->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	net->heap[i] = p;
}

static struct packet pop(struct simnet *net)
{
	struct packet top = net->heap[0];
	struct packet last = net->heap[--net->used];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < net->used) {
		if (child + 1 < net->used && before(&net->heap[child + 1], &net->heap[child]))
			child++;
		if (!before(&net->heap[child], &last))
			break;
		net->heap[i] = net->heap[child];
		i = child;
	}
	if (net->used)
		net->heap[i] = last;
	return top;
}

static int find(const struct simnet *net, const struct path_addr *to)
{
	int i;

	for (i = 0; i < net->count; i++)
		if (net->nodes[i].udp_port == to->udp_port &&
		    ip_addr_equal(&net->nodes[i].addr, &to->remote))
			return i;
	return NOBODY;
}

/* Returns when a packet that enters the link now comes out; SIMNET_NEVER: it is lost. */
static uint64_t pass(struct simnet *net, struct simnet_link *link, size_t len, uint64_t now)
{
	struct sim_random *r = &net->random;
	uint64_t out = now;

	link->packets++;
	link->bytes += len;
	len += link->overhead;
	if (sim_random_chance(r, link->loss)) {
		link->dropped++;
		return SIMNET_NEVER;
	}
	if (link->rate) {
		uint64_t start = link->busy_until > now ? link->busy_until : now;

		if ((start - now) * link->rate / 1000000000 + len > link->queue) {
			link->dropped++;
			return SIMNET_NEVER;
		}
		out = start + (uint64_t)len * 1000000000 / link->rate;
		link->busy_until = out;
	}
	out += link->delay;
	if (link->jitter)
		out += sim_random_u64(r) % link->jitter;
	if (sim_random_chance(r, link->reorder))
		return out + link->reorder_delay;
	if (out < link->last_arrival)
		out = link->last_arrival;
	link->last_arrival = out;
	return out;
}

static void corrupt(struct simnet *net, struct packet *p)
{
	uint32_t bits = 1 + sim_random_below(&net->random, 3);

	while (bits--)
		p->data[sim_random_below(&net->random, (uint32_t)p->len)] ^=
			(uint8_t)(1u << sim_random_below(&net->random, 8));
}

static uint8_t *copy_of(const void *packet, size_t len)
{
	uint8_t *data = malloc(len);

	assert(data);
	memcpy(data, packet, len);
	return data;
}

/*
 * Returns whether the link takes a packet of that length; if not, the sender hears of it, or not.
 */
static bool fits(struct simnet *net, struct simnet_link *link, struct packet p, const void *packet,
		 size_t len, bool df, uint64_t now)
{
	if (!link->mtu || len + SIMNET_HEADERS <= link->mtu)
		return true;
	if (!df) {
		link->fragmented++;
		return true;
	}
	link->too_long++;
	if (link->black_hole)
		return false;
	p.to = TOO_BIG;
	p.mtu = link->mtu;
	p.when = now + 2 * link->delay;
	p.len = len < QUOTED ? len : QUOTED;
	p.data = copy_of(packet, p.len);
	push(net, p);
	return false;
}

/* Sends it to one node, or to nobody. */
static void send_one(struct simnet *net, int from, int target, const struct path_addr *to,
		     const void *packet, size_t len, bool df, uint64_t now)
{
	struct simnet_link nothing = { 0 };
	struct simnet_link *link = &nothing;
	unsigned int copies = 1;
	bool copy_late = false;

	if (target >= 0 && net->routes[from][target])
		link = net->routes[from][target];
	if (!fits(net, link, (struct packet){ .from = from, .path = *to }, packet, len, df, now))
		return;
	if (sim_random_chance(&net->random, link->duplicate)) {
		copies++;
		copy_late = link->duplicate_delay > 0;
	}
	while (copies--) {
		struct packet p = { .when = pass(net, link, len, now), .from = from, .to = target };

		if (p.when == SIMNET_NEVER)
			continue;
		if (!copies && copy_late)
			p.when += sim_random_u64(&net->random) % link->duplicate_delay;
		p.path = *to;
		p.len = len;
		p.data = copy_of(packet, len);
		if (sim_random_chance(&net->random, link->corrupt))
			corrupt(net, &p);
		push(net, p);
	}
}

static void send_packet(struct simnet *net, int from, const struct path_addr *to,
			const void *packet, size_t len, bool df, uint64_t now)
{
	if (net->nodes[from].state != SIMNET_UP)
		return;
	if (!ip_addr_is_multicast(&to->remote)) {
		send_one(net, from, find(net, to), to, packet, len, df, now);
		return;
	}
	for (int i = 0; i < net->count; i++)
		send_one(net, from, i, to, packet, len, df, now);
}

void simnet_send(struct simnet *net, int from, const struct path_addr *to, const void *packet,
		 size_t len, uint64_t now)
{
	send_packet(net, from, to, packet, len, true, now);
}

void simnet_send_fragments(struct simnet *net, int from, const struct path_addr *to,
			   const void *packet, size_t len, uint64_t now)
{
	send_packet(net, from, to, packet, len, false, now);
}

uint64_t simnet_next(const struct simnet *net)
{
	return net->used ? net->heap[0].when : SIMNET_NEVER;
}

/* Tells the sender that a packet did not arrive; the error takes its time on the way back, too. */
static void bounce(struct simnet *net, const struct packet *p)
{
	struct simnet_link *link = p->to >= 0 ? net->routes[p->to][p->from] : NULL;
	bool cut = p->to >= 0 && net->nodes[p->to].state == SIMNET_CUT;
	size_t quoted = p->len < QUOTED ? p->len : QUOTED;

	push(net, (struct packet){
			  .when = p->when + (link ? link->delay : 0),
			  .from = p->from,
			  .to = UNREACHABLE,
			  .path = p->path,
			  .error = cut ? -EHOSTUNREACH : -ECONNREFUSED,
			  .len = quoted,
			  .data = copy_of(p->data, quoted),
		  });
}

void simnet_refuse(struct simnet *net, int node, const struct path_addr *path,
		   const uint8_t *packet, size_t len, uint64_t now)
{
	int sender = find(net, path);
	/* As the sender addressed it. */
	struct packet p = {
		.when = now,
		.from = sender,
		.to = node,
		.len = len,
		.data = (uint8_t *)(uintptr_t)packet,
		.path = { path->remote, path->local, net->nodes[node].udp_port },
	};

	if (sender >= 0)
		bounce(net, &p);
}

void simnet_forge(struct simnet *net, int node, const struct path_addr *to, int error,
		  const uint8_t *quoted, size_t len, uint64_t when)
{
	assert(len <= QUOTED);
	push(net, (struct packet){
			  .when = when,
			  .from = node,
			  .to = UNREACHABLE,
			  .path = *to,
			  .error = error,
			  .len = len,
			  .data = copy_of(quoted, len),
		  });
}

/* The packet has arrived where it was sent. Returns whether somebody is there to take it. */
static bool arrive(struct simnet *net, const struct packet *p)
{
	struct node *to = p->to < 0 ? NULL : &net->nodes[p->to];
	const struct node *from = &net->nodes[p->from];
	bool group = ip_addr_is_multicast(&p->path.remote);
	struct path_addr path;

	if (!to || to->state >= SIMNET_GONE) {
		if (!group)
			bounce(net, p);
		return false;
	}
	if (to->state != SIMNET_UP || (group && !membership(to, &p->path.remote)))
		return false;
	path = (struct path_addr){ group ? p->path.remote : to->addr, from->addr, from->udp_port };
	to->ops->deliver(to->ctx, &path, p->data, p->len, p->when);
	return true;
}

unsigned int simnet_deliver(struct simnet *net, uint64_t now)
{
	unsigned int n = 0;

	while (simnet_next(net) <= now) {
		struct packet p = pop(net);
		struct node *from = &net->nodes[p.from];

		if (p.to == UNREACHABLE) {
			if (from->state == SIMNET_UP && from->ops->unreachable)
				from->ops->unreachable(from->ctx, &p.path, p.error, p.data, p.len,
						       p.when);
		} else if (p.to == TOO_BIG) {
			if (from->state == SIMNET_UP && from->ops->too_big)
				from->ops->too_big(from->ctx, &p.path, p.mtu, p.data, p.len,
						   p.when);
		} else {
			n += arrive(net, &p);
		}
		free(p.data);
	}
	return n;
}
