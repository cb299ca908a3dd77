/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/burst.h"

#include "runtime/loop.h"
#include "runtime/shard.h"
#include "sys/sys.h"
#include "util/trace.h"

/*
 * A burst: WRs that are posted within this time, ns, of the last ones that were sent; it doubles up
 * to three times while so many WRs come in it, and halves while few do. So many bytes do not wait.
 */
#define BURST_GAP 3000u
#define BURST_GAP_SHIFT_MAX 3
#define BURST_MANY 8u
#define BURST_FEW 2u
#define BURST_BYTES 262144u
#define BURST_LOOK 4u /* of so many WRs one looks at the clock */

/*
 * What was gathered leaves now. Who posts in bursts gets more time for the next one; who posts one
 * message and waits for what follows from it, by looking at memory perhaps, gets little.
 */
static void end_burst(struct burst *b)
{
	uint32_t gathered = poller_load(&b->gathered), shift = poller_load(&b->gap_shift);

	if (gathered >= BURST_MANY && shift < BURST_GAP_SHIFT_MAX)
		shift++;
	else if (gathered < BURST_FEW && shift)
		shift--;
	atomic_store_explicit(&b->gap_shift, shift, memory_order_relaxed);
	atomic_store_explicit(&b->gathered, 0, memory_order_relaxed);
	atomic_store_explicit(&b->gathered_bytes, 0, memory_order_relaxed);
}

bool burst_end(struct burst *b)
{
	bool any = poller_load(&b->gathered);

	if (any)
		end_burst(b);
	return any;
}

/* The gap begins when all is sent: to send one message may take longer than it lasts. */
void burst_begin(struct burst *b)
{
	atomic_store_explicit(&b->last_served, sys_now(), memory_order_relaxed);
}

static bool is_over(struct shard *s, uint64_t now)
{
	uint64_t gap = BURST_GAP << poller_load(&s->burst.gap_shift);

	return now - atomic_load_explicit(&s->burst.last_served, memory_order_relaxed) >= gap ||
	       !atomic_load_explicit(&s->progress.started, memory_order_relaxed);
}

/* There is something on the list of doorbells, and nobody may come for it. */
static void leave_to_thread(struct shard *s)
{
	/* Against the thread: it sees the list after it has cleared either of these. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&s->progress.parked, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&s->progress.doorbell_wake, true, memory_order_seq_cst))
		progress_wake(s);
}

/*
 * A small message in a packet of its own is ten times as dear as one in a full packet. What comes
 * alone is sent at once. The rest of a burst stays on the list until it is a packet's worth, the
 * gap is over, the empty CQ is polled, or the progress thread comes for it: the one that is parked
 * at the end of its nap, else it is woken, once for many WRs.
 */
static bool gather(struct shard *s, uint64_t bytes, bool first)
{
	uint64_t gathered = atomic_load_explicit(&s->burst.gathered_bytes, memory_order_relaxed) + bytes;
	uint32_t n = poller_load(&s->burst.gathered);
	uint64_t now;

	if (bytes > BURST_BYTES || gathered > BURST_BYTES)
		return false;
	if (first || n % BURST_LOOK == 0) {
		now = sys_now();
		if (is_over(s, now))
			return false;
		poller_count(&s->poller.polls);
		atomic_store_explicit(&s->poller.last_poll, now, memory_order_relaxed);
	}
	atomic_store_explicit(&s->burst.gathered_bytes, gathered, memory_order_relaxed);
	atomic_store_explicit(&s->burst.gathered, n + 1, memory_order_relaxed);
	if (first)
		leave_to_thread(s);
	return true;
}

void burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes)
{
	if (gather(s, bytes, doorbell_ring(&s->doorbells, doorbell)))
		return;
	atomic_thread_fence(memory_order_seq_cst);
	if (!shard_try_enter(s)) {
		TRACE(doorbell, TRACE_NOW,
		      .qp = doorbell->is_srq ? TRACE_NONE :
					       list_entry(doorbell, struct iw_qp, doorbell)->num);
		return;
	}
	end_burst(&s->burst);
	loop_finish(s);
	burst_begin(&s->burst);
	shard_leave(s);
}
