/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the application's threads do for the engine when they post, poll and arm. */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>

#include "runtime/private.h"
#include "sys/sys.h"

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
 * Of so many polls that find the engine busy one lets go of the processor: perhaps that is what the
 * thread which is inside waits for.
 */
#define YIELD_POLLS 16
#define UNPARKED_POLLS 64 /* of so many polls one tells the progress thread to park */
#define ONE_CPU_NAP 50000u /* ns */

/* Two threads may lose a count: it only has to move. */
static void count(_Atomic uint32_t *n)
{
	atomic_store_explicit(n, engine_load(n) + 1, memory_order_relaxed);
}

/*
 * Each packet wakes the thread if it sleeps on the sockets, while it is taken by a poller: then the kernel
 * finds nothing to tell and lets it sleep on, so that it cannot see by itself that polling has begun.
 */
static void tell_thread(struct engine *e)
{
	uint32_t polls = engine_load(&e->polls);

	if (polls % UNPARKED_POLLS == 0 &&
	    !atomic_load_explicit(&e->parked, memory_order_relaxed) &&
	    polls - engine_load(&e->polls_at_arm) >= UNPARKED_POLLS)
		progress_wake(e);
}

/*
 * Who polls on the only processor keeps it from whoever is to answer: the poller waits for a
 * socket instead, but not for long, since another thread may complete something, too.
 */
static void nap(struct engine *e)
{
	struct pollfd pfd = {.fd = e->epoll_fd, .events = POLLIN};

	if (loop_has_doorbells(e))
		return;
	atomic_store_explicit(&e->poller_inside, true, memory_order_relaxed);
	sys_ppoll(&pfd, 1, ONE_CPU_NAP);
	atomic_store_explicit(&e->poller_inside, false, memory_order_relaxed);
}

/*
 * What was gathered leaves now. Who posts in bursts gets more time for the next one; who posts one
 * message and waits for what follows from it, by looking at memory perhaps, gets little.
 */
static void end_burst(struct engine *e)
{
	uint32_t gathered = engine_load(&e->gathered), shift = engine_load(&e->gap_shift);

	if (gathered >= BURST_MANY && shift < BURST_GAP_SHIFT_MAX)
		shift++;
	else if (gathered < BURST_FEW && shift)
		shift--;
	atomic_store_explicit(&e->gap_shift, shift, memory_order_relaxed);
	atomic_store_explicit(&e->gathered, 0, memory_order_relaxed);
	atomic_store_explicit(&e->gathered_bytes, 0, memory_order_relaxed);
}

/* The gap begins when all is sent: to send one message may take longer than it lasts. */
static void begin_burst(struct engine *e)
{
	atomic_store_explicit(&e->last_served, sys_now(), memory_order_relaxed);
}

void engine_progress(struct engine *e)
{
	bool burst;

	if (e->one_cpu)
		nap(e);
	if (atomic_load_explicit(&e->waiters, memory_order_relaxed) || !loop_trylock(e)) {
		atomic_store_explicit(&e->last_poll, sys_now(), memory_order_relaxed);
		count(&e->busy_polls);
		if (engine_load(&e->busy_polls) % YIELD_POLLS == 0)
			sched_yield();
		return;
	}
	count(&e->polls);
	tell_thread(e);
	atomic_store_explicit(&e->last_poll, e->now, memory_order_relaxed);
	if (!atomic_load_explicit(&e->dead, memory_order_relaxed)) {
		atomic_store_explicit(&e->poller_inside, true, memory_order_relaxed);
		burst = engine_load(&e->gathered);
		if (burst)
			end_burst(e);
		loop_pass(e, LOOP_QUICK);
		if (burst)
			begin_burst(e);
		atomic_store_explicit(&e->poller_inside, false, memory_order_relaxed);
	}
	loop_unlock(e);
}

bool engine_awaits_answer(struct engine *e, struct iw_cq *cq, uint64_t due)
{
	if (atomic_load_explicit(&e->last_poll, memory_order_relaxed) < due)
		return true;
	/* Now it spins on memory, perhaps. */
	if (atomic_exchange_explicit(&cq->answer_due, 0, memory_order_acq_rel) &&
	    atomic_load_explicit(&e->parked, memory_order_relaxed))
		progress_wake(e);
	return false;
}

void engine_armed(struct engine *e)
{
	atomic_store_explicit(&e->polls_at_arm, engine_load(&e->polls), memory_order_relaxed);
	atomic_fetch_add_explicit(&e->arms, 1, memory_order_relaxed);
	/* Against park(): either it sees the count, or we see that it is parked. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&e->parked, memory_order_relaxed))
		progress_wake(e);
	/* What a burst has left behind. */
	if (loop_has_doorbells(e) && loop_trylock(e)) {
		loop_finish(e);
		loop_unlock(e);
	}
}

static bool is_over(struct engine *e, uint64_t now)
{
	uint64_t gap = BURST_GAP << engine_load(&e->gap_shift);

	return now - atomic_load_explicit(&e->last_served, memory_order_relaxed) >= gap ||
	       !atomic_load_explicit(&e->thread_started, memory_order_relaxed);
}

/* There is something on the list of doorbells, and nobody may come for it. */
static void leave_to_thread(struct engine *e)
{
	/* Against the thread: it sees the list after it has cleared either of these. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&e->parked, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&e->doorbell_wake, true, memory_order_seq_cst))
		progress_wake(e);
}

/*
 * A small message in a packet of its own is ten times as dear as one in a full packet. What comes
 * alone is sent at once. The rest of a burst stays on the list until it is a packet's worth, the
 * gap is over, the empty CQ is polled, or the progress thread comes for it: the one that is parked
 * at the end of its nap, else it is woken, once for many WRs.
 */
static bool gather(struct engine *e, uint64_t bytes, bool first)
{
	uint64_t gathered = atomic_load_explicit(&e->gathered_bytes, memory_order_relaxed) + bytes;
	uint32_t n = engine_load(&e->gathered);
	uint64_t now;

	if (bytes > BURST_BYTES || gathered > BURST_BYTES)
		return false;
	if (first || n % BURST_LOOK == 0) {
		now = sys_now();
		if (is_over(e, now))
			return false;
		count(&e->polls);
		atomic_store_explicit(&e->last_poll, now, memory_order_relaxed);
	}
	atomic_store_explicit(&e->gathered_bytes, gathered, memory_order_relaxed);
	atomic_store_explicit(&e->gathered, n + 1, memory_order_relaxed);
	if (first)
		leave_to_thread(e);
	return true;
}

static void doorbell(struct engine *e, struct iw_doorbell *doorbell, uint64_t bytes)
{
	if (gather(e, bytes, loop_ring_doorbell(e, doorbell)))
		return;
	atomic_thread_fence(memory_order_seq_cst);
	if (!loop_trylock(e))
		return;
	end_burst(e);
	loop_finish(e);
	begin_burst(e);
	loop_unlock(e);
}

void engine_doorbell(struct engine *e, struct iw_qp *qp, uint64_t bytes)
{
	doorbell(e, &qp->doorbell, bytes);
}

void engine_doorbell_srq(struct engine *e, struct iw_srq *srq)
{
	doorbell(e, &srq->doorbell, ENGINE_AT_ONCE);
}
