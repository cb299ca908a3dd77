/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/poller.h"

#include <poll.h>
#include <sched.h>

#include "runtime/loop.h"
#include "runtime/shard.h"
#include "runtime/tuning.h"
#include "sys/sys.h"

uint32_t poller_activity(const struct shard *s)
{
	return poller_load(&s->poller.polls) + poller_load(&s->burst.looks);
}

uint64_t poller_last_active(const struct shard *s)
{
	uint64_t poll = atomic_load_explicit(&s->poller.last_poll, memory_order_relaxed);
	uint64_t look = atomic_load_explicit(&s->burst.last_look, memory_order_relaxed);

	return poll > look ? poll : look;
}

/*
 * Wakes the progress thread to make it park, if polling has begun and the thread cannot notice.
 * polls: the number of polls including this one.
 */
static void tell_thread(struct shard *s, uint32_t polls)
{
	bool parked;

	if (!tuning_poll_looks(polls))
		return;
	parked = atomic_load_explicit(&s->progress.parked, memory_order_relaxed);
	if (tuning_poll_wakes(parked, poller_activity(s) - poller_load(&s->poller.active_at_arm)))
		progress_wake(s);
}

/*
 * If the process has only one processor, a busy poller would keep the answering program from
 * running. So the poller sleeps until a socket is ready.
 */
static void nap(struct shard *s)
{
	struct pollfd pfd = { .fd = s->net.epoll_fd, .events = POLLIN };

	if (doorbell_is_rung(&s->doorbells))
		return;
	atomic_store_explicit(&s->poller.inside, true, memory_order_relaxed);
	sys_ppoll(&pfd, 1, TUNING_ONE_CPU_NAP);
	atomic_store_explicit(&s->poller.inside, false, memory_order_relaxed);
}

/* Handles a poll while another thread holds the lock, or waits for it. */
static void give_way(struct shard *s)
{
	atomic_store_explicit(&s->poller.last_poll, sys_now(), memory_order_relaxed);
	if (tuning_poll_yields(poller_count(&s->poller.busy_polls)))
		sched_yield();
}

/* Makes one pass, which also sends the waiting work requests of a burst. Needs the shard lock. */
static void run(struct shard *s)
{
	bool burst = burst_is_gathering(&s->burst);

	atomic_store_explicit(&s->poller.inside, true, memory_order_relaxed);
	if (burst)
		burst_end(&s->burst);
	loop_pass(s, CONN_QUICK);
	if (burst)
		burst_sent(&s->burst);
	atomic_store_explicit(&s->poller.inside, false, memory_order_relaxed);
}

void poller_progress(struct shard *s)
{
	if (s->progress.one_cpu)
		nap(s);
	if (shard_is_awaited(s) || !shard_try_enter(s)) {
		give_way(s);
		return;
	}
	tell_thread(s, poller_count(&s->poller.polls));
	atomic_store_explicit(&s->poller.last_poll, s->conn.now, memory_order_relaxed);
	if (!shard_is_dead(s)) {
		progress_put_nap_off(s, s->conn.now);
		run(s);
	}
	shard_leave(s);
}

void poller_armed(struct shard *s)
{
	atomic_store_explicit(&s->poller.active_at_arm, poller_activity(s), memory_order_relaxed);
	atomic_fetch_add_explicit(&s->poller.arms, 1, memory_order_relaxed);
	/*
	 * Pairs with the fence in park(): either the progress thread sees the new count, or this
	 * thread reads `parked` as true.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&s->progress.parked, memory_order_relaxed))
		progress_wake(s);
	/* A burst may have left work requests, and the application may not poll again. */
	if (doorbell_is_rung(&s->doorbells) && shard_try_enter(s)) {
		loop_finish(s);
		shard_leave(s);
	}
}
