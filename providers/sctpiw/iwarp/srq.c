/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Slots and limit of shared receive queues. rc_srq.c contains their use by QPs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/mr.h"
#include "iwarp/iw_spin.h"
#include "iwarp/srq.h"
#include "iwarp/xrc.h"
#include "util/alloc.h"

static struct iw_srq_full *full_of(struct iw_srq *srq)
{
	return list_entry(srq, struct iw_srq_full, srq);
}

static void enter(struct iw_srq *srq)
{
	if (srq->shared)
		iw_spin_lock(&srq->locked, srq->pd->rnic);
}

static void leave(struct iw_srq *srq)
{
	if (srq->shared)
		iw_spin_unlock(&srq->locked);
}

struct arrays {
	uint8_t *slots;
	uint32_t *posted, *freed;
	uint32_t mask;
};

static int alloc_arrays(struct arrays *a, uint32_t size, uint32_t stride)
{
	uint32_t ring = 1;

	while (ring < size)
		ring *= 2;
	a->mask = ring - 1;
	a->slots = alloc_lines((size_t)size * stride);
	a->posted = alloc_lines_unset(ring * sizeof(*a->posted));
	a->freed = alloc_lines_unset(ring * sizeof(*a->freed));
	if (a->slots && a->posted && a->freed)
		return 0;
	free(a->slots);
	free(a->posted);
	free(a->freed);
	return -ENOMEM;
}

static void set_arrays(struct iw_srq *srq, const struct arrays *a, uint32_t size)
{
	srq->slots = a->slots;
	srq->posted = a->posted;
	srq->freed = a->freed;
	srq->mask = a->mask;
	srq->size = size;
}

static void free_arrays(struct iw_srq *srq)
{
	free(srq->slots);
	free(srq->posted);
	free(srq->freed);
}

static void init_parts(struct iw_srq_full *full, const struct iw_rnic *rnic)
{
	list_for_each(node, &rnic->shards) {
		struct iw_shard *shard = list_entry(node, struct iw_shard, node);
		struct iw_srq_part *part = &full->parts[shard->index];

		part->srq = &full->srq;
		part->shard = shard;
		part->doorbell.is_srq = true;
		iw_event_init(&part->event, IW_OWNER_SRQ);
		list_init(&part->waiting);
		list_init(&part->due);
	}
}

int iw_srq_new(struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge, void *ctx, struct iw_srq **out)
{
	size_t stride = sizeof(struct iw_recv_wqe) + max_sge * sizeof(struct iw_sge);
	struct iw_srq_full *full;
	struct arrays a;
	struct iw_srq *srq;

	if (!max_wr || max_wr > IW_MAX_SRQ_WR || max_sge > IW_MAX_SGE)
		return -EINVAL;
	if (pd->rnic->srqs >= IW_MAX_SRQ)
		return -ENOMEM;
	full = alloc_lines(sizeof(*full) + pd->rnic->n_shards * sizeof(full->parts[0]));
	if (!full)
		return -ENOMEM;
	srq = &full->srq;
	srq->stride = (uint32_t)alloc_line_up(stride);
	if (alloc_arrays(&a, max_wr, srq->stride)) {
		free(full);
		return -ENOMEM;
	}
	set_arrays(srq, &a, max_wr);
	for (uint32_t i = 0; i < max_wr; i++)
		srq->freed[i] = i;
	srq->freed_tail = max_wr;
	srq->max_wr = max_wr;
	srq->max_sge = max_sge;
	srq->shared = pd->rnic->n_shards > 1;
	srq->pd = pd;
	srq->ctx = ctx;
	init_parts(full, pd->rnic);
	pd->refs++;
	pd->rnic->srqs++;
	*out = srq;
	return 0;
}

int iw_srq_free(struct iw_srq *srq)
{
	if (srq->refs)
		return -EBUSY;
	if (srq->num)
		iw_xrc_srq_leave(srq);
	for (unsigned int i = 0; i < srq->pd->rnic->n_shards; i++) {
		iw_event_clear(&full_of(srq)->parts[i].event);
		list_del(&full_of(srq)->parts[i].due);
	}
	srq->pd->refs--;
	srq->pd->rnic->srqs--;
	free_arrays(srq);
	free(full_of(srq));
	return 0;
}

/* Enlarges the queue. Slots keep their numbers, which messages in progress refer to. */
static int grow(struct iw_srq *srq, uint32_t size)
{
	uint32_t posted_head = atomic_load_explicit(&srq->posted_head, memory_order_relaxed);
	uint32_t posted_tail = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);
	struct arrays a;

	if (alloc_arrays(&a, size, srq->stride))
		return -ENOMEM;
	memcpy(a.slots, srq->slots, (size_t)srq->size * srq->stride);
	for (uint32_t i = posted_head; i != posted_tail; i++)
		a.posted[i & a.mask] = srq->posted[i & srq->mask];
	for (uint32_t i = srq->freed_head; i != srq->freed_tail; i++)
		a.freed[i & a.mask] = srq->freed[i & srq->mask];
	for (uint32_t slot = srq->size; slot < size; slot++)
		a.freed[srq->freed_tail++ & a.mask] = slot;
	free_arrays(srq);
	set_arrays(srq, &a, size);
	return 0;
}

int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr)
{
	int err;

	if (!max_wr || max_wr > IW_MAX_SRQ_WR || max_wr < iw_srq_outstanding(srq) ||
	    max_wr < srq->limit)
		return -EINVAL;
	if (max_wr > srq->size) {
		err = grow(srq, max_wr);
		if (err)
			return err;
	}
	srq->max_wr = max_wr;
	return 0;
}

static void tell_limit(struct iw_srq_part *part)
{
	iw_event_raise(part->shard, &part->event, IW_EVENT_SRQ_LIMIT);
}

int iw_srq_arm(struct iw_srq *srq, uint32_t limit)
{
	if (limit > srq->max_wr)
		return -EINVAL;
	srq->limit = limit;
	/*
	 * If a Send waits already, the event is due now. Waiting Sends take no receive before one
	 * is posted, so raise the event here.
	 */
	for (unsigned int i = 0; i < srq->pd->rnic->n_shards && srq->limit; i++) {
		struct iw_srq_part *part = &full_of(srq)->parts[i];

		if (list_empty(&part->waiting) || iw_srq_left(srq))
			continue;
		srq->limit = 0;
		tell_limit(part);
	}
	return 0;
}

/* Changes the head. The caller holds the SRQ's lock. */
static void move_head(struct iw_srq *srq, uint32_t to)
{
	atomic_store_explicit(&srq->posted_head, to, memory_order_release);
}

uint32_t iw_srq_take(struct iw_srq *srq, struct iw_shard *shard, uint32_t taken)
{
	uint32_t slot = 0, left, head;
	bool reached;

	enter(srq);
	left = iw_srq_left(srq);
	head = atomic_load_explicit(&srq->posted_head, memory_order_relaxed);
	if (left && (!taken || srq->refs == 1 || taken < left)) {
		slot = srq->posted[head & srq->mask] + 1;
		move_head(srq, head + 1);
		left--;
	}
	reached = left < srq->limit;
	if (reached)
		srq->limit = 0;
	leave(srq);
	if (reached)
		tell_limit(iw_srq_part(srq, shard));
	return slot;
}

void iw_srq_give_back(struct iw_srq *srq, uint32_t slot)
{
	enter(srq);
	srq->freed[srq->freed_tail++ & srq->mask] = slot - 1;
	leave(srq);
}

void iw_srq_repost(struct iw_srq *srq, uint32_t slot)
{
	uint32_t head;

	enter(srq);
	head = atomic_load_explicit(&srq->posted_head, memory_order_relaxed) - 1;
	/* The ring has room, because it has an entry for each slot, and this slot is not posted. */
	srq->posted[head & srq->mask] = slot - 1;
	move_head(srq, head);
	leave(srq);
}

/* ---- waiting QPs ---- */

struct iw_doorbell *iw_srq_doorbell(struct iw_srq *srq, unsigned int shard)
{
	return &full_of(srq)->parts[shard].doorbell;
}

void iw_srq_await(struct iw_srq_part *part, bool awaited)
{
	_Atomic uint32_t *shards = &part->srq->awaited;
	uint32_t bit = 1u << part->shard->index;

	if (awaited == !!(atomic_load_explicit(shards, memory_order_relaxed) & bit))
		return;
	if (awaited)
		atomic_fetch_or_explicit(shards, bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(shards, ~bit, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* see iw_srq_awaited() */
}

void iw_srq_serve_later(struct iw_srq_part *part)
{
	if (!list_empty(&part->waiting) && !list_linked(&part->due))
		list_add_tail(&part->shard->srqs_due, &part->due);
}

void iw_srq_serve_all_later(struct iw_srq_part *part)
{
	iw_srq_serve_later(part);
	/*
	 * Either the other shards see the posted receives, or this shard sees that the other shards
	 * wait. The full fence in iw_srq_awaited() ensures this.
	 */
	if (iw_srq_awaited(part->srq) & ~(1u << part->shard->index))
		iw_event_raise(part->shard, &part->event, IW_EVENT_SRQ_OTHERS);
}
