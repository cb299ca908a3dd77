/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of rdma_cm ids. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "conn/cm.h"

/*
 * A handle is the slot's index, and above it a count of the slot's uses: stale ones are found
 * out.
 */
#define INDEX_BITS 20
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define USES_MASK ((1u << (31 - INDEX_BITS)) - 1)
#define FIRST_SLOTS 64

struct slot {
	struct cm_id *id;
	uint32_t uses;
	uint32_t next_free; /* 0: the last one */
};

static struct slot *slots;
static uint32_t n_slots;
static uint32_t first_free; /* slot 0 is never used */

static bool grow(void)
{
	uint32_t n = n_slots ? n_slots * 2 : FIRST_SLOTS;
	struct slot *p;

	if (n > INDEX_MASK + 1)
		return false;
	p = realloc(slots, n * sizeof(*p));
	if (!p)
		return false;
	slots = p;
	for (uint32_t i = n - 1; i >= n_slots && i > 0; i--) {
		slots[i] = (struct slot){.next_free = first_free};
		first_free = i;
	}
	if (!n_slots)
		slots[0] = (struct slot){0};
	n_slots = n;
	return true;
}

struct cm_id *cm_id_new(struct engine *e, struct rnic_channel *chan, uint64_t uid)
{
	struct cm_id *id;
	uint32_t i;

	if (!first_free && !grow())
		return NULL;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	i = first_free;
	first_free = slots[i].next_free;
	slots[i].id = id;
	id->handle = (slots[i].uses++ & USES_MASK) << INDEX_BITS | i;
	id->engine = e;
	id->uid = uid;
	id->source.chan = chan;
	channel_ref(chan);
	list_init(&id->bound_node);
	list_init(&id->wait_node);
	list_init(&id->accept_node);
	list_init(&id->requests);
	list_init(&id->request_node);
	return id;
}

struct cm_id *cm_id_get(struct engine *e, uint32_t handle)
{
	uint32_t i = handle & INDEX_MASK;

	if (i >= n_slots || !slots[i].id || slots[i].id->handle != handle)
		return NULL;
	return slots[i].id;
}

struct cm_id *cm_id_next(struct engine *e, uint32_t *pos)
{
	while (*pos < n_slots) {
		struct cm_id *id = slots[(*pos)++].id;

		if (id)
			return id;
	}
	return NULL;
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

void cm_leave_backlog(struct cm_id *id)
{
	if (!id->listener)
		return;
	id->listener->pending--;
	id->listener = NULL;
	list_del(&id->request_node);
}

uint32_t cm_id_free(struct cm_id *id)
{
	uint32_t i = id->handle & INDEX_MASK;
	uint32_t reported;

	cm_unlisten(id);
	cm_hang_up(id);
	cm_leave_backlog(id);
	reported = channel_purge(&id->source);
	channel_put(id->source.chan);
	endpoint_leave(id);
	slots[i].id = NULL;
	slots[i].next_free = first_free;
	first_free = i;
	free(id);
	return reported;
}

void cm_forget_all(void)
{
	for (uint32_t i = 0; i < n_slots; i++) {
		if (slots[i].id)
			channel_put(slots[i].id->source.chan);
		free(slots[i].id);
	}
	free(slots);
	slots = NULL;
	n_slots = 0;
	first_free = 0;
}
