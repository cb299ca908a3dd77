/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/burst.h"

#include "runtime/loop.h"
#include "runtime/shard.h"
#include "runtime/tuning.h"
#include "sys/sys.h"
#include "util/trace.h"

void burst_end(struct burst *b)
{
	uint32_t shift = tuning_gap_shift(poller_load(&b->gap_shift), poller_load(&b->gathered));

	atomic_store_explicit(&b->gap_shift, shift, memory_order_relaxed);
	atomic_store_explicit(&b->gathered, 0, memory_order_relaxed);
	atomic_store_explicit(&b->gathered_bytes, 0, memory_order_relaxed);
}

void burst_sent(struct burst *b)
{
	atomic_store_explicit(&b->last_served, sys_now(), memory_order_relaxed);
}

/*
 * Decides by the clock if the burst goes on. now is in ns. If the burst goes on, counts this look
 * at the clock as a sign that the application is active.
 */
static enum tuning_post look(struct shard *s, const struct iw_doorbell *doorbell, uint64_t now)
{
	struct burst *b = &s->burst;
	uint64_t served = atomic_load_explicit(&b->last_served, memory_order_relaxed);
	bool parked = atomic_load_explicit(&s->progress.parked, memory_order_relaxed);
	enum tuning_post post = tuning_post_at(now - served, poller_load(&b->gap_shift),
					       progress_is_started(&s->progress));

	if (post == TUNING_POST_WAIT) {
		uint32_t looks = poller_count(&b->looks);

		atomic_store_explicit(&b->last_look, now, memory_order_relaxed);
		if (doorbell->is_ud && !parked) {
			if (tuning_looks_wake(looks))
				progress_wake(s);
			post = TUNING_POST_SEND;
		}
	}
	return post;
}

/* Adds the new work request to the waiting ones. The state is GATHERING afterwards. */
static void gather(struct burst *b, const struct tuning_post_seen *seen)
{
	atomic_store_explicit(&b->gathered_bytes, seen->gathered_bytes + seen->bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&b->gathered, seen->gathered + 1, memory_order_relaxed);
}

/*
 * Makes the progress thread serve the doorbell that was rung at `now`, ns. A parked thread serves
 * the doorbell after its nap, so this function shortens a long nap. A sleeping thread is woken only
 * once for many work requests: the thread clears doorbell_wake before it serves the list.
 */
static void tell_thread(struct shard *s, uint64_t now)
{
	/* Pairs with the thread's fences after its writes of parked and doorbell_wake (shard.h). */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&s->progress.parked, memory_order_relaxed))
		progress_shorten_nap(s, now);
	else if (!atomic_exchange_explicit(&s->progress.doorbell_wake, true, memory_order_seq_cst))
		progress_wake(s);
}

/*
 * Sends all waiting work requests. If another thread holds the lock, that thread serves the list
 * before it releases the lock. doorbell: the doorbell that was just rung. now is in ns.
 */
static void send_all(struct shard *s, const struct iw_doorbell *doorbell, uint64_t now)
{
	/* Pairs with the fence of shard_leave(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (!shard_try_enter_at(s, now)) {
		TRACE(doorbell, TRACE_NOW,
		      .qp = doorbell->is_srq ? TRACE_NONE :
					       list_entry(doorbell, struct iw_qp, doorbell)->num);
		return;
	}
	/* Keeps the thread parked: sending may take so long that it finds no recent poll. */
	atomic_store_explicit(&s->poller.inside, true, memory_order_relaxed);
	burst_end(&s->burst);
	loop_finish(s);
	burst_sent(&s->burst);
	atomic_store_explicit(&s->poller.inside, false, memory_order_relaxed);
	shard_leave(s);
}

void burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes, bool ends_batch)
{
	struct burst *b = &s->burst;
	bool first = doorbell_ring(&s->doorbells, doorbell);
	struct tuning_post_seen seen = {
		.first = first,
		.bytes = bytes,
		.gathered_bytes = atomic_load_explicit(&b->gathered_bytes, memory_order_relaxed),
		.gathered = poller_load(&b->gathered),
		.in_flight = poller_load(&b->in_flight),
		/*
		 * A datagram is complete once it was sent. No thread waits for an answer, so a
		 * datagram ends no batch.
		 */
		.ends_batch = ends_batch && !doorbell->is_ud,
	};
	enum tuning_post post = tuning_post(&seen);
	uint64_t now = post == TUNING_POST_WAIT ? 0 : sys_now();

	if (post == TUNING_POST_LOOK)
		post = look(s, doorbell, now);
	if (post == TUNING_POST_SEND) {
		send_all(s, doorbell, now);
		return;
	}
	gather(b, &seen);
	if (first) /* only then was the clock read above */
		tell_thread(s, now);
}
