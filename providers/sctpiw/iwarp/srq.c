/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The shared receive queue itself: its slots, its limit. What QPs do with them is in rc_srq.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/mr.h"
#include "iwarp/srq.h"
#include "iwarp/xrc.h"
#include "util/alloc.h"

static struct iw_srq_full *full_of(struct iw_srq *srq)
{
	return list_entry(srq, struct iw_srq_full, srq);
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
	a->posted = calloc(ring, sizeof(*a->posted));
	a->freed = calloc(ring, sizeof(*a->freed));
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

int iw_srq_new(struct iw_shard *shard, struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge,
	       void *ctx, struct iw_srq **out)
{
	size_t stride = sizeof(struct iw_recv_wqe) + max_sge * sizeof(struct iw_sge);
	struct iw_srq_full *full;
	struct arrays a;
	struct iw_srq *srq;

	if (!max_wr || max_wr > IW_MAX_SRQ_WR || max_sge > IW_MAX_SGE)
		return -EINVAL;
	if (pd->rnic->srqs >= IW_MAX_SRQ)
		return -ENOMEM;
	full = alloc_lines(sizeof(*full));
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
	atomic_store_explicit(&srq->freed_tail, max_wr, memory_order_relaxed);
	srq->max_wr = max_wr;
	srq->max_sge = max_sge;
	srq->doorbell.is_srq = true;
	srq->shard = shard;
	srq->pd = pd;
	srq->ctx = ctx;
	iw_event_init(&full->event, IW_OWNER_SRQ);
	list_init(&full->waiting);
	list_init(&full->due);
	list_init(&full->of_xrcd);
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
	iw_event_clear(&full_of(srq)->event);
	list_del(&full_of(srq)->due);
	srq->pd->refs--;
	srq->pd->rnic->srqs--;
	free_arrays(srq);
	free(full_of(srq));
	return 0;
}

static uint32_t outstanding(const struct iw_srq *srq)
{
	return srq->size -
	       (atomic_load_explicit(&srq->freed_tail, memory_order_relaxed) - srq->freed_head);
}

/* Slots keep their numbers: messages in process know them. */
static int grow(struct iw_srq *srq, uint32_t size)
{
	uint32_t posted_tail = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);
	uint32_t freed_tail = atomic_load_explicit(&srq->freed_tail, memory_order_relaxed);
	struct arrays a;

	if (alloc_arrays(&a, size, srq->stride))
		return -ENOMEM;
	memcpy(a.slots, srq->slots, (size_t)srq->size * srq->stride);
	for (uint32_t i = srq->posted_head; i != posted_tail; i++)
		a.posted[i & a.mask] = srq->posted[i & srq->mask];
	for (uint32_t i = srq->freed_head; i != freed_tail; i++)
		a.freed[i & a.mask] = srq->freed[i & srq->mask];
	for (uint32_t slot = srq->size; slot < size; slot++)
		a.freed[freed_tail++ & a.mask] = slot;
	free_arrays(srq);
	set_arrays(srq, &a, size);
	atomic_store_explicit(&srq->freed_tail, freed_tail, memory_order_relaxed);
	return 0;
}

int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr)
{
	int err;

	if (!max_wr || max_wr > IW_MAX_SRQ_WR || max_wr < outstanding(srq) || max_wr < srq->limit)
		return -EINVAL;
	if (max_wr > srq->size) {
		err = grow(srq, max_wr);
		if (err)
			return err;
	}
	srq->max_wr = max_wr;
	return 0;
}

static void limit_reached(struct iw_srq *srq)
{
	srq->limit = 0;
	iw_event_raise(srq->shard, &full_of(srq)->event, IW_EVENT_SRQ_LIMIT);
}

int iw_srq_arm(struct iw_srq *srq, uint32_t limit)
{
	if (limit > srq->max_wr)
		return -EINVAL;
	srq->limit = limit;
	/* Sends that found none do not look again before there are some. */
	if (limit && !list_empty(&full_of(srq)->waiting) && !iw_srq_left(srq))
		limit_reached(srq);
	return 0;
}

uint32_t iw_srq_take(struct iw_srq *srq, uint32_t taken)
{
	uint32_t left = iw_srq_left(srq);
	uint32_t slot = 0;

	if (left && (!taken || srq->refs == 1 || taken < left)) {
		slot = srq->posted[srq->posted_head++ & srq->mask] + 1;
		left--;
	}
	if (left < srq->limit)
		limit_reached(srq);
	return slot;
}

void iw_srq_give_back(struct iw_srq *srq, uint32_t slot)
{
	uint32_t tail = atomic_load_explicit(&srq->freed_tail, memory_order_relaxed);

	srq->freed[tail & srq->mask] = slot - 1;
	/* Release: pairs with the load of iw_srq_slot(). */
	atomic_store_explicit(&srq->freed_tail, tail + 1, memory_order_release);
}

void iw_srq_repost(struct iw_srq *srq, uint32_t slot)
{
	/* There is room: this slot is neither posted nor free, and the ring has one for each. */
	srq->posted[--srq->posted_head & srq->mask] = slot - 1;
}

void iw_srq_await(struct iw_srq *srq, bool awaited)
{
	if (atomic_load_explicit(&srq->awaited, memory_order_relaxed) == awaited)
		return;
	atomic_store_explicit(&srq->awaited, awaited, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* see iw_srq_is_awaited() */
}

void iw_srq_serve_later(struct iw_srq *srq)
{
	struct iw_srq_full *full = full_of(srq);

	if (!list_empty(&full->waiting) && !list_linked(&full->due))
		list_add_tail(&srq->shard->srqs_due, &full->due);
}
