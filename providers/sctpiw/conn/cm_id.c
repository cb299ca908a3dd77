/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "conn/cm.h"
#include "conn/conn.h"
#include "iwarp/iw_spin.h"
#include "util/sockaddr.h"

/*
 * The lower bits of a handle are the index of a slot. The upper bits count the uses of the slot, so
 * that an old handle does not match a new id.
 */
#define INDEX_BITS 20
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define USES_MASK ((1u << (31 - INDEX_BITS)) - 1)
#define FIRST_SLOTS 64

struct slot {
	struct cm_id *id; /* NULL: free */
	uint32_t uses;
	uint32_t next_free; /* 0: this is the last free slot */
};

struct cm_id_table {
	/*
	 * A spin lock that guards the table, since all shards look up and create ids. It also
	 * guards the list of undecided requests and the listeners' backlogs, which requests of
	 * several shards change. The holder of this lock must not take another lock.
	 */
	_Atomic bool locked;
	struct slot *slots;
	uint32_t n_slots;
	uint32_t first_free;	    /* 0: none; slot 0 is never used */
	struct list_node undecided; /* cm_request_link.undecided */
	unsigned int n_undecided;
};

static struct cm_id_table *lock_table(const struct conn *c)
{
	iw_spin_lock(&c->cm.ids->locked, iw_shard_rnic(c->iw));
	return c->cm.ids;
}

static void unlock_table(struct cm_id_table *t)
{
	iw_spin_unlock(&t->locked);
}

void cm_init(struct cm *cm, struct cm_id_table *ids)
{
	cm->ids = ids;
	list_init(&cm->accepting);
	list_init(&cm->ending);
	list_init(&cm->timewait);
	list_init(&cm->early);
	cm->n_early = 0;
}

struct cm_id_table *cm_id_table_new(void)
{
	struct cm_id_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	list_init(&t->undecided);
	return t;
}

void cm_id_table_forget(struct cm_id_table *t, const struct conn_events_ops *events)
{
	for (uint32_t i = 0; i < t->n_slots; i++) {
		if (t->slots[i].id) {
			cm_forget_groups(t->slots[i].id, events);
			events->put(t->slots[i].id->source.chan);
		}
		free(t->slots[i].id);
	}
	free(t->slots);
	t->slots = NULL;
	t->n_slots = t->first_free = t->n_undecided = 0;
	list_init(&t->undecided);
}

void cm_id_table_free(struct cm_id_table *t, const struct conn_events_ops *events)
{
	cm_id_table_forget(t, events);
	free(t);
}

static bool grow(struct cm_id_table *t)
{
	uint32_t n = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS;
	struct slot *p;

	if (n > INDEX_MASK + 1)
		return false;
	p = realloc(t->slots, n * sizeof(*p));
	if (!p)
		return false;
	t->slots = p;
	for (uint32_t i = n - 1; i >= t->n_slots && i > 0; i--) {
		p[i] = (struct slot){ .next_free = t->first_free };
		t->first_free = i;
	}
	if (!t->n_slots)
		p[0] = (struct slot){ 0 };
	t->n_slots = n;
	return true;
}

static bool enter(struct cm_id_table *t, struct cm_id *id)
{
	struct slot *slot;

	if (!t->first_free && !grow(t))
		return false;
	slot = &t->slots[t->first_free];
	id->handle = (slot->uses++ & USES_MASK) << INDEX_BITS | t->first_free;
	t->first_free = slot->next_free;
	slot->id = id;
	return true;
}

static void leave(struct cm_id_table *t, const struct cm_id *id)
{
	uint32_t i = id->handle & INDEX_MASK;

	t->slots[i].id = NULL;
	t->slots[i].next_free = t->first_free;
	t->first_free = i;
}

struct cm_id *cm_id_new(struct conn *c, struct rnic_channel *chan, uint64_t uid)
{
	struct cm_id *id = calloc(1, sizeof(*id));
	struct cm_id_table *t;
	bool entered;

	if (!id)
		return NULL;
	id->conn = c;
	t = lock_table(c);
	entered = enter(t, id);
	unlock_table(t);
	if (!entered) {
		free(id);
		return NULL;
	}
	id->uid = uid;
	id->counts = id->peer_counts = CM_COUNTS_MOST;
	id->source.chan = chan;
	c->ops->events.ref(chan);
	list_init(&id->bound_node);
	list_init(&id->setup.wait_node);
	list_init(&id->setup.node);
	list_init(&id->ending.node);
	list_init(&id->ending.timewait_node);
	list_init(&id->sidr.node);
	list_init(&id->groups);
	list_init(&id->listening.requests);
	list_init(&id->request.node);
	list_init(&id->request.undecided);
	return id;
}

static struct cm_id *find(const struct cm_id_table *t, uint32_t handle)
{
	uint32_t i = handle & INDEX_MASK;
	struct cm_id *id = i < t->n_slots ? t->slots[i].id : NULL;

	return id && id->handle == handle ? id : NULL;
}

struct cm_id *cm_id_get(const struct conn *c, uint32_t handle)
{
	struct cm_id_table *t = lock_table(c);
	struct cm_id *id = find(t, handle);

	unlock_table(t);
	return id;
}

/*
 * Holds the table's lock while it reads id->conn. At any other time, another shard may free its
 * ids.
 */
struct cm_id *cm_id_here(const struct conn *c, uint32_t handle)
{
	struct cm_id_table *t = lock_table(c);
	struct cm_id *id = find(t, handle);

	if (id && id->conn != c)
		id = NULL;
	unlock_table(t);
	return id;
}

struct cm_id *cm_id_next(const struct conn *c, uint32_t *pos)
{
	struct cm_id_table *t = lock_table(c);
	struct cm_id *id = NULL;

	while (!id && *pos < t->n_slots)
		id = t->slots[(*pos)++].id;
	unlock_table(t);
	return id;
}

const char *cm_state_name(enum cm_state state)
{
	static const char *const names[] = {
		[CM_IDLE] = "new",
		[CM_BOUND] = "bound",
		[CM_ADDR_RESOLVED] = "address resolved",
		[CM_ROUTE_RESOLVED] = "route resolved",
		[CM_CONNECTING] = "connecting",
		[CM_LISTEN] = "listening",
		[CM_REQUESTED] = "requested",
		[CM_ACCEPTED] = "accepted",
		[CM_ESTABLISHED] = "connected",
		[CM_OVER] = "over",
	};

	return names[state];
}

/* ---- requests ---- */

void cm_enter_backlog(struct cm_id *id, struct cm_id *listener)
{
	struct cm_id_table *t = lock_table(id->conn);

	id->request.listener = listener;
	listener->listening.pending++;
	list_add_tail(&listener->listening.requests, &id->request.node);
	list_add_tail(&t->undecided, &id->request.undecided);
	t->n_undecided++;
	unlock_table(t);
}

void cm_leave_backlog(struct cm_id *id)
{
	struct cm_id_table *t = lock_table(id->conn);

	if (id->request.listener) {
		id->request.listener->listening.pending--;
		id->request.listener = NULL;
		list_del(&id->request.node);
	}
	unlock_table(t);
}

bool cm_backlog_is_full(const struct cm_id *listener)
{
	struct cm_id_table *t = lock_table(listener->conn);
	bool full = listener->listening.pending >= listener->listening.backlog;

	unlock_table(t);
	return full;
}

unsigned int cm_undecided(const struct conn *c)
{
	struct cm_id_table *t = lock_table(c);
	unsigned int n = t->n_undecided;

	unlock_table(t);
	return n;
}

static bool is_asked_by(const struct cm_id_table *t, uint32_t qp_num, const struct ip_addr *from)
{
	list_for_each(node, &t->undecided) {
		const struct cm_id *id = list_entry(node, struct cm_id, request.undecided);
		struct ip_addr ip = sockaddr_ip((const struct sockaddr *)&id->dst);

		/*
		 * Do not compare scopes, since programs pass link-local addresses without scopes. A
		 * peer's loopback address matches every `from`: it may not be a GID, so programs
		 * pass another address of this host instead.
		 */
		if (id->peer_qp_num == qp_num &&
		    (ip_addr_is_loopback(&ip) || !memcmp(ip.b, from->b, sizeof(ip.b))))
			return true;
	}
	return false;
}

bool cm_is_asked_by(const struct conn *c, uint32_t qp_num, const struct ip_addr *from)
{
	struct cm_id_table *t = lock_table(c);
	bool asked = is_asked_by(t, qp_num, from);

	unlock_table(t);
	return asked;
}

void cm_decided(struct cm_id *id)
{
	struct cm_id_table *t = lock_table(id->conn);

	if (list_linked(&id->request.undecided)) {
		list_del(&id->request.undecided);
		t->n_undecided--;
	}
	unlock_table(t);
}

uint32_t cm_id_free(struct cm_id *id)
{
	const struct conn_events_ops *events = &id->conn->ops->events;
	struct cm_id_table *t;
	uint32_t reported;

	cm_unlisten(id);
	cm_hang_up(id);
	cm_leave_backlog(id);
	cm_decided(id);
	reported = events->purge(&id->source) + cm_leave_all(id);
	events->put(id->source.chan);
	endpoint_leave(id);
	if (id->own_port)
		id->conn->ops->give_port(id->conn, id->own_port);
	t = lock_table(id->conn);
	leave(t, id);
	unlock_table(t);
	free(id);
	return reported;
}
