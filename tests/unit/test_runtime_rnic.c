/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: conn_is_drained conn_abort_all clock_gettime */
/* The process's RNIC: created once, abandoned in the child of a fork(), and ended at exit(). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/channel.h"
#include "runtime/rnic.h"
#include "sys/sys.h"

/* A child's reports to its parent. */
static int report_fd = -1;
static int undrained; /* calls of conn_is_drained() that return false */

static void report(char c)
{
	if (report_fd >= 0 && sys_write(report_fd, &c, 1) != 1)
		abort();
}

bool __real_conn_is_drained(const struct conn *c);
bool __wrap_conn_is_drained(const struct conn *c);
bool __wrap_conn_is_drained(const struct conn *c)
{
	report('d');
	if (undrained) {
		undrained--;
		return false;
	}
	return __real_conn_is_drained(c);
}

void __real_conn_abort_all(struct conn *c);
void __wrap_conn_abort_all(struct conn *c);
void __wrap_conn_abort_all(struct conn *c)
{
	struct shard *s = &rnic_get()->shard;

	shard_assert_locked(s);
	assert_true(shard_is_awaited(s));
	report('a');
	__real_conn_abort_all(c);
}

/* The clocks of the thread that tests them. Each reading takes some time. */
static __thread struct {
	bool fake;
	uint64_t now;		 /* ns, of CLOCK_MONOTONIC */
	uint64_t offset;	 /* ns, from CLOCK_MONOTONIC to CLOCK_REALTIME */
	uint64_t look;		 /* ns per reading */
	uint64_t slow;		 /* ns per slow reading */
	unsigned int slow_looks; /* number of slow readings */
} clocks;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t now;

	if (!clocks.fake)
		return __real_clock_gettime(clock, ts);
	clocks.now += clocks.slow_looks ? clocks.slow : clocks.look;
	clocks.slow_looks -= clocks.slow_looks > 0;
	now = clocks.now + (clock == CLOCK_REALTIME ? clocks.offset : 0);
	*ts = (struct timespec){ (time_t)(now / NSEC_PER_SEC), (long)(now % NSEC_PER_SEC) };
	return 0;
}

/* Runs act in a child. Returns the child's exit status; writes its report to `told`. */
static int in_child(void (*act)(void), char *told, size_t size)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(fds[0]);
		report_fd = fds[1];
		act();
		exit(0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = read(fds[0], told, size - 1);
	assert_true(n >= 0);
	told[n] = '\0';
	close(fds[0]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Like assert_true(), for a child. */
static void must(bool condition)
{
	if (!condition)
		_exit(1);
}

static void refused(void)
{
	setenv("SCTPIW_LLP", "pigeons", 1);
	errno = 0;
	must(!rnic_get() && errno == EINVAL);
	/* Each call tries again. */
	unsetenv("SCTPIW_LLP");
	must(rnic_get() != NULL);
	_exit(0);
}

/* Before this process creates its own RNIC. */
static void test_refused(void **state)
{
	char told[16];

	assert_int_equal(in_child(refused, told, sizeof(told)), 0);
}

static void *get(void *arg)
{
	return rnic_get();
}

static void test_one(void **state)
{
	pthread_t threads[4];
	struct rnic *r;
	void *got;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get, NULL), 0);
	r = rnic_get();
	assert_non_null(r);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &got);
		assert_ptr_equal(got, r);
	}
	assert_ptr_equal(r->shard.rnic, r);
	assert_ptr_equal(iw_shard_rnic(r->shard.conn.iw), r->iw);
	assert_false(shard_is_dead(&r->shard));
}

static struct rnic *parents;
static struct rnic_channel *channel;

static void forgotten(void)
{
	struct shard *s = &parents->shard;
	struct rnic *own;

	must(shard_is_dead(s));
	must(s->conn.closed && !cm_id_next(&s->conn, &(uint32_t){ 0 }));
	must(s->progress.wake_fd == -1 && s->progress.timer_fd == -1 && s->net.epoll_fd == -1);
	must(!s->progress.started && !shard_is_awaited(s));
	must(channel_is_foreign(channel));
	/* Objects of the parent still lock and unlock the parent's shard. */
	shard_lock(s);
	shard_unlock(s);
	own = rnic_get();
	must(own && own != parents && !shard_is_dead(&own->shard));
	must(own->shard.progress.wake_fd >= 0);
	_exit(0);
}

static void test_fork(void **state)
{
	char told[16];
	int fd, wake_fd;

	parents = rnic_get();
	wake_fd = parents->shard.progress.wake_fd;
	assert_int_equal(channel_create(CHANNEL_COMP, &channel, &fd), 0);
	assert_int_equal(in_child(forgotten, told, sizeof(told)), 0);
	/* The parent continues as before. */
	assert_ptr_equal(rnic_get(), parents);
	assert_false(shard_is_dead(&parents->shard));
	assert_int_equal(parents->shard.progress.wake_fd, wake_fd);
	assert_false(channel_is_foreign(channel));
	assert_true(shard_try_enter(&parents->shard));
	shard_leave(&parents->shard);
	channel_release(channel);
	close(fd);
}

/* fork() while another thread has the lock: fork() waits, and the child finds the lock free. */
static _Atomic bool held;

static void *hold(void *arg)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	atomic_store(&held, true);
	while (!shard_is_awaited(s))
		;
	shard_unlock(s);
	return NULL;
}

static void lock_it(void)
{
	shard_lock(&parents->shard);
	shard_unlock(&parents->shard);
	_exit(0);
}

static void test_fork_while_locked(void **state)
{
	pthread_t thread;
	char told[16];

	parents = rnic_get();
	atomic_store(&held, false);
	assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
	while (!atomic_load(&held))
		;
	assert_int_equal(in_child(lock_it, told, sizeof(told)), 0);
	pthread_join(thread, NULL);
}

static void end_without(void)
{
}

static void end_with_device(void)
{
	must(rnic_get() != NULL);
	undrained = 3;
}

static void end_dead(void)
{
	atomic_store(&rnic_get()->shard.dead, true);
}

static void *keep(void *arg)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	atomic_store(&held, true);
	pause();
	return NULL;
}

static void end_while_locked(void)
{
	pthread_t thread;

	must(rnic_get() != NULL);
	atomic_store(&held, false);
	must(!pthread_create(&thread, NULL, keep, NULL));
	while (!atomic_load(&held))
		;
}

static void test_exit(void **state)
{
	char told[16];

	/* A child that has not opened the device does not touch its parent's. */
	assert_non_null(rnic_get());
	assert_int_equal(in_child(end_without, told, sizeof(told)), 0);
	assert_string_equal(told, "");
	/* Posted messages still arrive; then associations are aborted. */
	assert_int_equal(in_child(end_with_device, told, sizeof(told)), 0);
	assert_string_equal(told, "dddda");
	assert_int_equal(in_child(end_dead, told, sizeof(told)), 0);
	assert_string_equal(told, "");
	/* A thread that stopped with the lock does not block exit() forever. */
	assert_int_equal(in_child(end_while_locked, told, sizeof(told)), 0);
	assert_string_equal(told, "");
}

static void test_clocks(void **state)
{
	uint64_t now = rnic_clock();

	assert_true(rnic_clock() >= now);
	assert_true(now + rnic_wallclock_offset() > 1500000000ull * NSEC_PER_SEC);
	assert_true(rnic_processors() >= 1);
}

/* True if the offset equals the fake clocks' offset, except for the time of a few readings. */
static bool is_exact(uint64_t offset)
{
	return offset - clocks.offset + 500 <= 1000;
}

/* The offset stays until the time of day is set, however slow the readings. */
static void test_wallclock_offset(void **state)
{
	uint64_t first;

	clocks.fake = true;
	clocks.now = 1000 * NSEC_PER_SEC;
	clocks.offset = 1600000000 * NSEC_PER_SEC + 123;
	clocks.look = 40;
	first = rnic_wallclock_offset();
	assert_true(is_exact(first));
	for (uint64_t look = 1; look < 1000; look += 7) {
		clocks.look = look;
		assert_true(rnic_wallclock_offset() == first);
		clocks.slow = look * NSEC_PER_MSEC / 10; /* as if preempted */
		clocks.slow_looks = look % 4;
		assert_true(rnic_wallclock_offset() == first);
		clocks.slow_looks = 0;
	}
	clocks.look = 40;
	for (int i = 0; i < 100; i++) {
		/* The clock is set forward and back. */
		clocks.offset += i % 2 ? -1000ull * NSEC_PER_MSEC : 3000ull * NSEC_PER_MSEC;
		clocks.slow = 5 * NSEC_PER_MSEC;
		clocks.slow_looks = (unsigned int)i % 12;
		first = rnic_wallclock_offset();
		assert_true(is_exact(first));
		assert_true(rnic_wallclock_offset() == first);
	}
	clocks.fake = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_while_locked),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_wallclock_offset),
	};

	/* Only default settings. */
	setenv("SCTPIW_CONFIG", "/dev/null", 1);
	unsetenv("SCTPIW_LLP");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
