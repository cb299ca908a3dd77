/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/shard.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_spin.h"
#include "util/alloc.h"
#include "util/trace.h"

static struct iw_cqe *new_ring(uint32_t entries, uint32_t *mask)
{
	uint32_t size = 1;

	while (size < entries)
		size *= 2;
	*mask = size - 1;
	return alloc_lines_unset(size * sizeof(struct iw_cqe));
}

static uint64_t *new_stamps(uint32_t mask)
{
	return alloc_lines_unset(((size_t)mask + 1) * sizeof(uint64_t));
}

struct iw_cq *iw_cq_new(struct iw_shard *shard, uint32_t entries, void *ctx)
{
	struct iw_cq_full *full;

	if (!entries || entries > IW_MAX_CQE || shard->rnic->cqs >= IW_MAX_CQ)
		return NULL;
	full = alloc_lines(sizeof(*full));
	if (!full)
		return NULL;
	full->cq.ring = new_ring(entries, &full->cq.mask);
	if (!full->cq.ring) {
		free(full);
		return NULL;
	}
	full->cq.limit = entries;
	full->cq.shard = shard;
	full->cq.ctx = ctx;
	iw_event_init(&full->event, IW_OWNER_CQ);
	list_add_tail(&shard->rnic->all_cqs, &full->all);
	shard->rnic->cqs++;
	return &full->cq;
}

/* ---- several shards ---- */

void iw_cq_join(struct iw_cq *cq, struct iw_shard *shard)
{
	if (!cq->used)
		cq->shard = shard;
	else if (cq->shard != shard)
		cq->shared = true;
	cq->used = true;
}

void iw_cq_leave(struct iw_cq *cq, uint32_t queues)
{
	const struct iw_cq_full *full = list_entry(cq, struct iw_cq_full, cq);

	if (cq->refs == queues && !cq->shared && !cq->notify_queued && !full->timing)
		cq->used = false;
}

static void enter(struct iw_cq *cq)
{
	if (cq->shared)
		iw_spin_lock(&cq->locked, cq->shard->rnic);
}

static void leave(struct iw_cq *cq)
{
	if (cq->shared)
		iw_spin_unlock(&cq->locked);
}

/* ---- the end ---- */

static void forget_notify(struct iw_cq *cq)
{
	struct iw_shard *shard = cq->notify_shard;

	if (!cq->notify_queued)
		return;
	for (struct iw_cq **at = &shard->notify_first; *at; at = &(*at)->notify_next) {
		if (*at != cq)
			continue;
		*at = cq->notify_next;
		if (shard->notify_last == &cq->notify_next)
			shard->notify_last = at;
		break;
	}
	cq->notify_queued = false;
}

int iw_cq_free(struct iw_cq *cq)
{
	struct iw_cq_full *full = list_entry(cq, struct iw_cq_full, cq);

	if (cq->refs)
		return -EBUSY;
	forget_notify(cq);
	if (full->timing)
		timerq_remove(&full->timing->cq_timers, &full->timer);
	iw_event_clear(&full->event);
	list_del(&full->all);
	cq->shard->rnic->cqs--;
	free(cq->ring);
	free(cq->stamps);
	free(full);
	return 0;
}

int iw_cq_stamp(struct iw_cq *cq)
{
	cq->stamps = new_stamps(cq->mask);
	return cq->stamps ? 0 : -ENOMEM;
}

int iw_cq_resize(struct iw_cq *cq, uint32_t entries)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	uint64_t *stamps = NULL;
	struct iw_cqe *ring;
	uint32_t mask;

	if (!entries || entries > IW_MAX_CQE || entries < tail - head)
		return -EINVAL;
	ring = new_ring(entries, &mask);
	if (ring && cq->stamps)
		stamps = new_stamps(mask);
	if (!ring || (cq->stamps && !stamps)) {
		free(ring);
		return -ENOMEM;
	}
	for (uint32_t i = head; i != tail; i++) {
		ring[i & mask] = cq->ring[i & cq->mask];
		if (stamps)
			stamps[i & mask] = cq->stamps[i & cq->mask];
	}
	free(cq->ring);
	free(cq->stamps);
	cq->ring = ring;
	cq->stamps = stamps;
	cq->mask = mask;
	cq->limit = entries;
	return 0;
}

/* Frees all slots of a queue of a QP in RESET, even if their completions were not polled. */
static void free_slots(struct iw_ring *r)
{
	atomic_store_explicit(&r->polled, r->head, memory_order_release);
}

void iw_cq_purge(struct iw_cq *cq, struct iw_qp *qp)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	uint32_t to = tail;

	/* Start at the newest entry: the remaining entries move to tail, and only head changes. */
	for (uint32_t i = tail; i != head;) {
		i--;
		if (cq->ring[i & cq->mask].qp_num == qp->num) {
			iw_polled_free(&cq->ring[i & cq->mask].polled, 1);
			continue;
		}
		to--;
		if (to == i)
			continue;
		cq->ring[to & cq->mask] = cq->ring[i & cq->mask];
		if (cq->stamps)
			cq->stamps[to & cq->mask] = cq->stamps[i & cq->mask];
	}
	atomic_store_explicit(&cq->head, to, memory_order_release);
	if (qp->send_cq == cq)
		free_slots(&qp->sq);
	if (qp->recv_cq == cq)
		free_slots(&qp->rq);
}

void iw_cq_disown(struct iw_cq *cq, const struct iw_srq *srq)
{
	static _Atomic uint32_t nowhere;
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);

	for (uint32_t i = atomic_load_explicit(&cq->head, memory_order_relaxed); i != tail; i++) {
		struct iw_polled *polled = &cq->ring[i & cq->mask].polled;

		if (polled->at == &srq->polled)
			polled->at = &nowhere;
	}
}

static bool find_success(const struct iw_cq *cq, uint32_t qp_num, uint32_t *pos)
{
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	uint32_t n = tail - atomic_load_explicit(&cq->head, memory_order_acquire);

	n = n < IW_CQ_LOOK_BACK ? n : IW_CQ_LOOK_BACK;
	for (uint32_t i = tail - 1; n; i--, n--) {
		const struct iw_cqe *cqe = &cq->ring[i & cq->mask];

		if (cqe->qp_num == qp_num && cqe->status == IW_WC_SUCCESS) {
			*pos = i;
			return true;
		}
	}
	return false;
}

bool iw_cq_find_success(struct iw_cq *cq, uint32_t qp_num, uint32_t *pos)
{
	bool found;

	enter(cq);
	found = find_success(cq, qp_num, pos);
	leave(cq);
	return found;
}

unsigned int iw_cq_poll(struct iw_cq *cq, unsigned int n, struct iw_cqe *out)
{
	uint32_t count = iw_cq_count(cq);

	if (n > count)
		n = count;
	for (uint32_t i = 0; i < n; i++)
		out[i] = cq->ring[iw_cq_slot(cq, i)];
	if (n)
		iw_cq_consume(cq, n);
	return n;
}

void iw_cq_arm(struct iw_cq *cq, bool solicited_only)
{
	uint32_t was = IW_CQ_UNARMED;

	atomic_store_explicit(&cq->armed_at, atomic_load_explicit(&cq->tail, memory_order_relaxed),
			      memory_order_relaxed);
	/*
	 * The application first arms the CQ, and then polls once more. The RNIC first publishes an
	 * entry, and then reads `armed` (iw_next_notify()). Each side has a sequentially consistent
	 * fence between its two steps, so at least one side sees the first step of the other side.
	 * Arming for any completion overrides arming for solicited completions.
	 */
	if (solicited_only)
		atomic_compare_exchange_strong(&cq->armed, &was, IW_CQ_ARM_SOLICITED);
	else
		atomic_store(&cq->armed, IW_CQ_ARM_ANY);
	atomic_thread_fence(memory_order_seq_cst);
}

static void queue_notify(struct iw_cq *cq, struct iw_shard *shard)
{
	if (cq->notify_queued)
		return;
	cq->notify_queued = true;
	cq->notify_shard = shard;
	cq->notify_next = NULL;
	*shard->notify_last = cq;
	shard->notify_last = &cq->notify_next;
}

static void fail(struct iw_cq *cq, struct iw_shard *shard)
{
	struct iw_cq_full *full = list_entry(cq, struct iw_cq_full, cq);

	atomic_store_explicit(&cq->overflown, true, memory_order_relaxed);
	iw_event_raise(shard, &full->event, IW_EVENT_CQ_ERROR);
}

void iw_cq_overrun(struct iw_cq *cq)
{
	enter(cq);
	if (!iw_cq_is_overflown(cq))
		fail(cq, cq->shard);
	leave(cq);
}

void iw_cq_notify(struct iw_cq *cq)
{
	enter(cq);
	cq->notify_solicited = true;
	queue_notify(cq, cq->shard);
	leave(cq);
}

/* Drops an entry that will never be polled. Returns true if the overrun is ignored. */
static bool lose(struct iw_cq *cq, struct iw_shard *shard, const struct iw_cqe *cqe)
{
	iw_polled_free(&cqe->polled, 1);
	if (iw_cq_is_overflown(cq))
		return false;
	if (!cq->ignore_overrun)
		fail(cq, shard);
	return cq->ignore_overrun;
}

static bool push(struct iw_cq *cq, struct iw_shard *shard, const struct iw_cqe *cqe, bool solicited)
{
	uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);

	/* The acquire load pairs with the store in iw_cq_consume() after the entry was read. */
	if (iw_cq_is_overflown(cq) ||
	    tail - atomic_load_explicit(&cq->head, memory_order_acquire) >= cq->limit)
		return lose(cq, shard, cqe);
	TRACE(completion, shard->now, .qp = cqe->qp_num, .wr_id = cqe->wr_id, .opcode = cqe->opcode,
	      .status = cqe->status, .bytes = cqe->byte_len);
	cq->ring[tail & cq->mask] = *cqe;
	if (cq->stamps)
		cq->stamps[tail & cq->mask] = shard->rnic->ops.clock ? shard->rnic->ops.clock() :
								       shard->now;
	/*
	 * The release store pairs with the load in iw_cq_count(), whose thread then sees the entry
	 * and the placed data.
	 */
	atomic_store_explicit(&cq->tail, tail + 1, memory_order_release);
	cq->notify_solicited |= solicited;
	queue_notify(cq, shard);
	return true;
}

bool iw_cq_push(struct iw_cq *cq, struct iw_shard *shard, const struct iw_cqe *cqe, bool solicited)
{
	bool pushed, shared = cq->shared;

	if (shared)
		enter(cq);
	pushed = push(cq, shard, cqe, solicited);
	if (shared)
		leave(cq);
	return pushed;
}

/* ---- moderation delays events (iw_cq_moderate()) ---- */

/* True if the pending event may be raised now; otherwise postpones it. */
static bool release(struct iw_cq_full *full, struct iw_shard *shard)
{
	struct iw_cq *cq = &full->cq;
	uint32_t since = atomic_load_explicit(&cq->tail, memory_order_relaxed) -
			 atomic_load_explicit(&cq->armed_at, memory_order_relaxed);

	if (!full->count || full->ripe || since >= full->count)
		return true;
	/*
	 * A timer of another shard is not stopped here, because its shard's lock is not held. If
	 * such a timer still runs, the event is raised a little early.
	 */
	if (!full->timing) {
		full->timing = shard;
		timerq_set(&shard->cq_timers, &full->timer, shard->now + full->period);
	}
	full->postponed = true;
	return false;
}

/* Ends the postponement when the event is raised. */
static void end_wait(struct iw_cq_full *full, struct iw_shard *shard)
{
	full->postponed = full->ripe = false;
	if (full->timing != shard)
		return;
	timerq_remove(&shard->cq_timers, &full->timer);
	full->timing = NULL;
}

static void ripen(struct iw_cq_full *full, struct iw_shard *shard)
{
	full->ripe = true;
	queue_notify(&full->cq, shard);
}

void iw_cq_timer(struct iw_cq_full *full, struct iw_shard *shard)
{
	enter(&full->cq);
	full->timing = NULL;
	if (full->postponed)
		ripen(full, shard);
	leave(&full->cq);
}

int iw_cq_moderate(struct iw_cq *cq, uint32_t count, uint64_t period)
{
	struct iw_cq_full *full = list_entry(cq, struct iw_cq_full, cq);

	list_for_each(node, &cq->shard->rnic->shards) {
		struct iw_shard *shard = list_entry(node, struct iw_shard, node);

		if (timerq_reserve(&shard->cq_timers, shard->rnic->cqs))
			return -ENOMEM;
	}
	full->count = period ? count : 0;
	full->period = period;
	if (full->postponed) /* the previous limits have postponed an event */
		ripen(full, cq->shard);
	return 0;
}

/* True if the event of a CQ with new completions is raised now. */
static bool comes(struct iw_cq_full *full, struct iw_shard *shard)
{
	struct iw_cq *cq = &full->cq;
	uint32_t armed;
	bool due;

	/* For the fence see iw_cq_arm(). A thread of another shard may have pushed the entry. */
	atomic_thread_fence(memory_order_seq_cst);
	armed = atomic_load(&cq->armed);
	due = armed == IW_CQ_ARM_ANY ||
	      (armed == IW_CQ_ARM_SOLICITED && (cq->notify_solicited || full->postponed));
	cq->notify_queued = false;
	cq->notify_solicited = false;
	if (!due || !release(full, shard))
		return false;
	end_wait(full, shard);
	return atomic_exchange(&cq->armed, IW_CQ_UNARMED) != IW_CQ_UNARMED;
}

struct iw_cq *iw_next_notify(struct iw_shard *shard)
{
	struct iw_cq *cq;
	bool found = false;

	while (!found && (cq = shard->notify_first)) {
		/* Lock first: another shard may queue the CQ once notify_queued is false. */
		enter(cq);
		shard->notify_first = cq->notify_next;
		if (!shard->notify_first)
			shard->notify_last = &shard->notify_first;
		found = comes(list_entry(cq, struct iw_cq_full, cq), shard);
		leave(cq);
	}
	return found ? cq : NULL;
}
