/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/simnet.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX 64
#define GROUPS_MAX 16
#define RULES_LEN 1024 /* length of the text of a link's rules */

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
	NOBODY = -1,	  /* the packet goes to an address without a node */
	UNREACHABLE = -2, /* an ICMP error on its way to `from`, for this packet */
	TOO_BIG = -3,	  /* another error: the packet exceeds mtu; data is its begin */
};

#define QUOTED 28 /* bytes of a packet that ICMP quotes, as many routers do */

struct packet {
	uint64_t when;
	uint64_t number; /* the order of packets with the same time */
	int from;
	int to; /* a node, or one of enum notice */
	struct path_addr path;
	uint32_t mtu;
	int error; /* of UNREACHABLE */
	size_t len;
	uint8_t *data;
};

/* The rules of one link. */
struct link_faults {
	struct fault_set set;
	struct link_faults *next;
};

struct simnet {
	struct sim_random random;
	uint64_t now; /* the latest time from the caller */
	struct link_faults *faults;
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
	while (net->faults) {
		struct link_faults *f = net->faults;

		net->faults = f->next;
		fault_set_fini(&f->set);
		free(f);
	}
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

/* ---- rules ---- */

static void wrong(const char *text, const char *why)
{
	fprintf(stderr, "simnet: %s: %s\n", text, why);
	abort();
}

static bool is_known(const struct fault_rule *r)
{
	enum fault_action_id id = r->action.id;

	return r->site == FAULT_SITE_packet && !r->select.known &&
	       (id == FAULT_DO_drop || id == FAULT_DO_delay || id == FAULT_DO_duplicate ||
		id == FAULT_DO_corrupt);
}

static void add(struct simnet *net, struct simnet_link *link, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void add(struct simnet *net, struct simnet_link *link, const char *format, va_list ap)
{
	struct fault_reader reader;
	struct fault_error why;
	struct fault_rule rule;
	char text[RULES_LEN];
	int len = vsnprintf(text, sizeof(text), format, ap), found;

	assert(len >= 0 && len < RULES_LEN);
	if (!link->faults)
		simnet_heal(net, link);
	fault_reader_init(&reader, text, (size_t)len);
	while ((found = fault_read(&reader, &rule, &why)) > 0) {
		if (!is_known(&rule))
			wrong(rule.text, "links have no such faults");
		if (!fault_set_add(link->faults, &rule, net->now))
			wrong(rule.text, "too many rules");
	}
	if (found)
		wrong(text, why.text);
}

void simnet_heal(struct simnet *net, struct simnet_link *link)
{
	if (!link->faults) {
		struct link_faults *f = calloc(1, sizeof(*f));

		assert(f);
		f->next = net->faults;
		net->faults = f;
		link->faults = &f->set;
	}
	fault_set_fini(link->faults);
	fault_set_init(link->faults, sim_random_u64(&net->random));
}

void simnet_faults(struct simnet *net, struct simnet_link *link, const char *format, ...)
{
	va_list ap;

	simnet_heal(net, link);
	va_start(ap, format);
	add(net, link, format, ap);
	va_end(ap);
}

void simnet_faults_both(struct simnet *net, struct simnet_link *link, const char *format, ...)
{
	for (int i = 0; i < 2; i++) {
		va_list ap;

		simnet_heal(net, &link[i]);
		va_start(ap, format);
		add(net, &link[i], format, ap);
		va_end(ap);
	}
}

void simnet_faults_add(struct simnet *net, struct simnet_link *link, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(net, link, format, ap);
	va_end(ap);
}

void simnet_cut(struct simnet *net, struct simnet_link *link, bool off)
{
	if (off) {
		simnet_faults_both(net, link, "packets: drop");
	} else {
		simnet_heal(net, &link[0]);
		simnet_heal(net, &link[1]);
	}
}

bool simnet_may(const struct simnet_link *link, enum fault_action_id what)
{
	return link->faults && link->faults->actions >> what & 1;
}

/* ---- nodes ---- */

void simnet_set_state(struct simnet *net, int node, enum simnet_state state)
{
	net->nodes[node].state = state;
}

void simnet_set_port(struct simnet *net, int node, uint16_t udp_port)
{
	net->nodes[node].udp_port = udp_port;
}

/* Returns the node's entry of the group, or NULL if it has not joined. */
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

/*
 * Returns the time when a packet that enters the link now leaves it; SIMNET_NEVER: no room in the
 * queue. late: delay by a rule, in ns, so that others overtake the packet; 0: none.
 */
static uint64_t pass(struct simnet *net, struct simnet_link *link, size_t len, uint64_t late,
		     uint64_t now)
{
	uint64_t out = now;

	len += link->overhead;
	if (link->rate) {
		uint64_t start = link->busy_until > now ? link->busy_until : now;

		if ((start - now) * link->rate / 1000000000 + len > link->queue)
			return SIMNET_NEVER;
		out = start + (uint64_t)len * 1000000000 / link->rate;
		link->busy_until = out;
	}
	out += link->delay;
	if (link->jitter)
		out += sim_random_u64(&net->random) % link->jitter;
	if (late)
		return out + late;
	if (out < link->last_arrival)
		out = link->last_arrival;
	link->last_arrival = out;
	return out;
}

/* Changes adjacent bytes. */
static void corrupt(struct packet *p, const struct fault_action *a)
{
	uint64_t n = fault_given(a, fault_corrupt_bytes) ? a->arg[fault_corrupt_bytes] : 1;
	uint64_t random = a->random;
	size_t at;

	if (n > p->len)
		n = p->len;
	at = fault_random(&random) % (p->len - n + 1);
	while (n--)
		p->data[at++] ^= (uint8_t)(1 + fault_random(&random) % 255);
}

static uint8_t *copy_of(const void *packet, size_t len)
{
	uint8_t *data = malloc(len);

	assert(data);
	memcpy(data, packet, len);
	return data;
}

/* True if the link accepts a packet of this length. If not, an ICMP error may inform the sender. */
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

/* Returns the delay of a packet by a rule. */
static uint64_t lateness(const struct fault_action *a)
{
	uint64_t jitter = a->arg[fault_delay_jitter];

	return a->arg[fault_delay_time] + (jitter ? a->random % (jitter + 1) : 0);
}

/*
 * Passes a packet over a link that accepts it, with the fault of a rule. Returns the number of
 * additional copies.
 */
static uint64_t pass_one(struct simnet *net, struct simnet_link *link, struct packet p,
			 const void *packet, uint64_t now)
{
	const struct fault_attrs attrs = { .bytes = p.len + SIMNET_HEADERS };
	enum fault_action_id what = FAULT_ACTIONS; /* none */
	struct fault_action a;

	if (link->faults && fault_set_ask(link->faults, FAULT_SITE_packet, &attrs, net->now, &a))
		what = a.id;
	link->packets++;
	link->bytes += p.len;
	p.when = what == FAULT_DO_drop ?
			 SIMNET_NEVER :
			 pass(net, link, p.len, what == FAULT_DO_delay ? lateness(&a) : 0, now);
	if (p.when == SIMNET_NEVER) {
		link->dropped++;
	} else {
		p.data = copy_of(packet, p.len);
		if (what == FAULT_DO_corrupt)
			corrupt(&p, &a);
		push(net, p);
	}
	if (what != FAULT_DO_duplicate)
		return 0;
	return fault_given(&a, fault_duplicate_times) ? a.arg[fault_duplicate_times] : 1;
}

/* Sends a packet to one node, or to an address without a node. */
static void send_one(struct simnet *net, int from, int target, const struct path_addr *to,
		     const void *packet, size_t len, bool df, uint64_t now)
{
	struct simnet_link nothing = { 0 };
	struct simnet_link *link = &nothing;
	struct packet p = { .from = from, .to = target, .path = *to, .len = len };
	uint64_t copies;

	if (target >= 0 && net->routes[from][target])
		link = net->routes[from][target];
	if (!fits(net, link, p, packet, len, df, now))
		return;
	for (copies = pass_one(net, link, p, packet, now); copies; copies--)
		pass_one(net, link, p, packet, now);
}

static void advance(struct simnet *net, uint64_t now)
{
	if (net->now < now)
		net->now = now;
}

static void send_packet(struct simnet *net, int from, const struct path_addr *to,
			const void *packet, size_t len, bool df, uint64_t now)
{
	advance(net, now);
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

/*
 * Reports to the sender that a packet did not arrive. The error has the link's delay on the way
 * back.
 */
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
	/* The packet as its sender addressed it. */
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

/* Handles a packet at its destination. Returns true if a node received it. */
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

	advance(net, now);
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
