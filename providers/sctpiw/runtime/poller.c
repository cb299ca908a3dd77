/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/poller.h"

#include <poll.h>
#include <sched.h>

#include "runtime/loop.h"
#include "runtime/shard.h"
#include "sys/sys.h"

/*
 * Of so many polls that find the engine busy one lets go of the processor: perhaps that is what the
 * thread which is inside waits for.
 */
#define YIELD_POLLS 16
#define UNPARKED_POLLS 64 /* of so many polls one tells the progress thread to park */
#define ONE_CPU_NAP 50000u /* ns */

/*
 * Each packet wakes the thread if it sleeps on the sockets, while it is taken by a poller: then the kernel
 * finds nothing to tell and lets it sleep on, so that it cannot see by itself that polling has begun.
 */
static void tell_thread(struct shard *s)
{
	uint32_t polls = poller_load(&s->poller.polls);

	if (polls % UNPARKED_POLLS == 0 &&
	    !atomic_load_explicit(&s->progress.parked, memory_order_relaxed) &&
	    polls - poller_load(&s->poller.polls_at_arm) >= UNPARKED_POLLS)
		progress_wake(s);
}

/*
 * Who polls on the only processor keeps it from whoever is to answer: the poller waits for a
 * socket instead, but not for long, since another thread may complete something, too.
 */
static void nap(struct shard *s)
{
	struct pollfd pfd = {.fd = s->net.epoll_fd, .events = POLLIN};

	if (doorbell_is_rung(&s->doorbells))
		return;
	atomic_store_explicit(&s->poller.inside, true, memory_order_relaxed);
	sys_ppoll(&pfd, 1, ONE_CPU_NAP);
	atomic_store_explicit(&s->poller.inside, false, memory_order_relaxed);
}

void poller_progress(struct shard *s)
{
	bool burst;

	if (s->progress.one_cpu)
		nap(s);
	if (shard_is_awaited(s) || !shard_try_enter(s)) {
		atomic_store_explicit(&s->poller.last_poll, sys_now(), memory_order_relaxed);
		poller_count(&s->poller.busy_polls);
		if (poller_load(&s->poller.busy_polls) % YIELD_POLLS == 0)
			sched_yield();
		return;
	}
	poller_count(&s->poller.polls);
	tell_thread(s);
	atomic_store_explicit(&s->poller.last_poll, s->conn.now, memory_order_relaxed);
	if (!shard_is_dead(s)) {
		atomic_store_explicit(&s->poller.inside, true, memory_order_relaxed);
		burst = burst_end(&s->burst);
		loop_pass(s, CONN_QUICK);
		if (burst)
			burst_begin(&s->burst);
		atomic_store_explicit(&s->poller.inside, false, memory_order_relaxed);
	}
	shard_leave(s);
}

bool poller_awaits_answer(struct shard *s, struct iw_cq *cq, uint64_t due)
{
	if (atomic_load_explicit(&s->poller.last_poll, memory_order_relaxed) < due)
		return true;
	/* Now it spins on memory, perhaps. */
	if (atomic_exchange_explicit(&cq->answer_due, 0, memory_order_acq_rel) &&
	    atomic_load_explicit(&s->progress.parked, memory_order_relaxed))
		progress_wake(s);
	return false;
}

void poller_armed(struct shard *s)
{
	atomic_store_explicit(&s->poller.polls_at_arm, poller_load(&s->poller.polls), memory_order_relaxed);
	atomic_fetch_add_explicit(&s->poller.arms, 1, memory_order_relaxed);
	/* Against park(): either it sees the count, or we see that it is parked. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&s->progress.parked, memory_order_relaxed))
		progress_wake(s);
	/* What a burst has left behind. */
	if (doorbell_is_rung(&s->doorbells) && shard_try_enter(s)) {
		loop_finish(s);
		shard_leave(s);
	}
}

