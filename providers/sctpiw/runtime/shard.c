/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/shard.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/loop.h"
#include "runtime/rnic.h"
#include "runtime/tuning.h"
#include "sys/sys.h"

/*
 * The TLS model initial-exec never allocates. This code may run while the program is in malloc()
 * (unmap.c).
 */
static __thread __attribute__((tls_model("initial-exec"))) int thread_id;

static int self(void)
{
	if (!thread_id)
		thread_id = (int)syscall(SYS_gettid);
	return thread_id;
}

static void set_clock(struct shard *s, uint64_t now)
{
	s->conn.now = now;
	iw_set_now(s->conn.iw, now);
}

void shard_read_clock(struct shard *s)
{
	set_clock(s, sys_now());
}

static void set_owner(struct shard *s)
{
	atomic_store_explicit(&s->lock.owner, self(), memory_order_relaxed);
}

void shard_entered(struct shard *s)
{
	set_owner(s);
	shard_read_clock(s);
}

void shard_enter(struct shard *s)
{
	pthread_mutex_lock(&s->lock.mutex);
	shard_entered(s);
}

bool shard_try_enter(struct shard *s)
{
	if (pthread_mutex_trylock(&s->lock.mutex))
		return false;
	shard_entered(s);
	return true;
}

bool shard_try_enter_at(struct shard *s, uint64_t now)
{
	if (pthread_mutex_trylock(&s->lock.mutex))
		return false;
	set_owner(s);
	/* The previous holder of the lock may have read the clock after the caller did. */
	if (now > s->conn.now)
		set_clock(s, now);
	return true;
}

bool shard_leave_alone(struct shard *s)
{
	unsigned int rounds = 0;
	bool handed_on = false, wants_all;

	do {
		if (doorbell_is_rung(&s->doorbells))
			handed_on = loop_finish(s);
		/*
		 * Another thread posts without pause. Leave its posts to the progress thread, since
		 * this thread has other work.
		 */
		if (!handed_on && ++rounds > TUNING_ROUNDS && progress_is_started(&s->progress)) {
			progress_wake(s);
			handed_on = true;
		}
		wants_all = s->rnic->n_shards > 1 && !shard_is_dead(s) &&
			    (s->conn.wants_all || iw_shard_wants_all(s->conn.iw));
		atomic_store_explicit(&s->lock.owner, 0, memory_order_relaxed);
		pthread_mutex_unlock(&s->lock.mutex);
		/*
		 * Pairs with the fence of a poster, which rings a doorbell and then tries the lock.
		 * This thread releases the lock, and then reads the list. At least one of the two
		 * threads therefore sees what the other did.
		 */
		atomic_thread_fence(memory_order_seq_cst);
	} while (!handed_on && doorbell_is_rung(&s->doorbells) && shard_try_enter(s));
	return wants_all;
}

void shard_leave(struct shard *s)
{
	if (shard_leave_alone(s))
		rnic_serve_all(s->rnic);
}

void shard_wait_begin(struct shard *s)
{
	atomic_fetch_add_explicit(&s->lock.waiters, 1, memory_order_relaxed);
}

void shard_wait_end(struct shard *s)
{
	atomic_fetch_sub_explicit(&s->lock.waiters, 1, memory_order_relaxed);
}

void shard_lock(struct shard *s)
{
	shard_wait_begin(s);
	shard_enter(s);
	shard_wait_end(s);
	loop_settle(s);
}

void shard_unlock(struct shard *s)
{
	loop_finish(s);
	shard_leave(s);
}

bool shard_is_mine(const struct shard *s)
{
	return atomic_load_explicit(&s->lock.owner, memory_order_relaxed) == self();
}

void shard_assert_locked(const struct shard *s)
{
	if (!shard_is_mine(s))
		__builtin_trap();
}
