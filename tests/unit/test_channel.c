/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* VALGRIND: yes */
/* Event channels: order, counts, the descriptor's readiness, purge, migration, threads, release. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/channel.h"

static bool readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void open_source(struct event_source *src, struct rnic_channel *chan)
{
	memset(src, 0, sizeof(*src));
	src->chan = chan;
	channel_ref(chan);
}

static void post(struct event_source *src, uint64_t v)
{
	assert_int_equal(channel_post(src, &v, sizeof(v)), 0);
}

static void expect(struct rnic_channel *chan, uint64_t want)
{
	uint64_t v = 0;

	assert_int_equal(channel_read(chan, &v, sizeof(v)), sizeof(v));
	assert_int_equal(v, want);
}

static void test_order(void **state)
{
	struct event_source a, b;
	struct rnic_channel *chan;
	char small[4];
	uint64_t v;
	int fd;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	open_source(&a, chan);
	open_source(&b, chan);
	assert_false(readable(fd));
	assert_int_equal(channel_read(chan, &v, sizeof(v)), -EAGAIN);
	post(&a, 1);
	post(&b, 2);
	post(&a, 3);
	assert_true(readable(fd));
	assert_int_equal(channel_read(chan, small, sizeof(small)), -EINVAL);
	expect(chan, 1);
	expect(chan, 2);
	assert_true(readable(fd));
	expect(chan, 3);
	assert_false(readable(fd));
	assert_int_equal(a.reported, 2);
	assert_int_equal(b.reported, 1);
	channel_put(a.chan);
	channel_put(b.chan);
	close(fd);
	channel_release(chan);
}

static void test_purge(void **state)
{
	struct event_source a, b;
	struct rnic_channel *chan;
	int fd;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	open_source(&a, chan);
	open_source(&b, chan);
	post(&a, 1);
	post(&b, 2);
	post(&a, 3);
	expect(chan, 1);
	assert_int_equal(channel_purge(&a), 1);
	assert_true(readable(fd));
	expect(chan, 2);
	assert_false(readable(fd));
	post(&b, 4);
	assert_int_equal(channel_purge(&b), 1);
	/* The last event was purged, unread: the descriptor is not readable. */
	assert_false(readable(fd));
	channel_put(a.chan);
	channel_put(b.chan);
	close(fd);
	channel_release(chan);
}

/*
 * A new event replaces an equal event that waits. Other events stay, and so do events already read.
 */
static void test_latest(void **state)
{
	struct event_source a, b;
	struct rnic_channel *chan;
	uint64_t one = 1, two = 2;
	int fd;

	assert_int_equal(channel_create(CHANNEL_ASYNC, &chan, &fd), 0);
	open_source(&a, chan);
	open_source(&b, chan);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(channel_post_latest(&a, &one, sizeof(one)), 0);
		assert_int_equal(channel_post_latest(&b, &one, sizeof(one)), 0);
		assert_int_equal(channel_post_latest(&a, &two, sizeof(two)), 0);
	}
	assert_int_equal(a.unread, 2);
	assert_int_equal(b.unread, 1);
	expect(chan, 1);
	expect(chan, 1);
	assert_true(readable(fd));
	expect(chan, 2);
	assert_false(readable(fd));
	assert_int_equal(channel_post_latest(&a, &two, sizeof(two)), 0);
	assert_true(readable(fd));
	expect(chan, 2);
	assert_int_equal(channel_purge(&a), 3);
	assert_int_equal(channel_purge(&b), 1);
	channel_put(a.chan);
	channel_put(b.chan);
	close(fd);
	channel_release(chan);
}

static void test_migrate(void **state)
{
	struct rnic_channel *one, *two;
	struct event_source a, b;
	int fd1, fd2;

	assert_int_equal(channel_create(CHANNEL_CM, &one, &fd1), 0);
	assert_int_equal(channel_create(CHANNEL_CM, &two, &fd2), 0);
	open_source(&a, one);
	open_source(&b, one);
	post(&a, 1);
	post(&a, 2);
	post(&b, 3);
	expect(one, 1);
	assert_int_equal(channel_migrate(&a, two), 1);
	assert_ptr_equal(a.chan, two);
	assert_true(readable(fd2));
	expect(two, 2);
	assert_false(readable(fd2));
	expect(one, 3);
	assert_false(readable(fd1));
	post(&a, 4);
	assert_false(readable(fd1));
	expect(two, 4);
	assert_int_equal(a.reported, 3);
	channel_put(a.chan);
	channel_put(b.chan);
	close(fd1);
	close(fd2);
	channel_release(one);
	channel_release(two);
}

static void test_release(void **state)
{
	struct rnic_channel *chan, *found;
	struct event_source a;
	int fd, copy;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	open_source(&a, chan);
	copy = dup(fd);
	found = channel_get_by_fd(copy);
	assert_ptr_equal(found, chan);
	channel_put(found);
	close(copy);
	assert_null(channel_get_by_fd(0));
	post(&a, 1);
	close(fd);
	channel_release(chan);
	/* The event is dropped, without SIGPIPE. */
	post(&a, 2);
	assert_int_equal(channel_purge(&a), 0);
	channel_put(a.chan);
}

/* An application that reads the byte by itself must not stop the RNIC. */
static void test_stolen_byte(void **state)
{
	struct event_source a;
	struct rnic_channel *chan;
	char byte;
	int fd;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	open_source(&a, chan);
	post(&a, 1);
	assert_int_equal(read(fd, &byte, 1), 1);
	expect(chan, 1);
	post(&a, 2);
	assert_true(readable(fd));
	expect(chan, 2);
	channel_put(a.chan);
	close(fd);
	channel_release(chan);
}

static void test_low_descriptors(void **state)
{
	int saved = dup(0), fd;
	struct rnic_channel *chan;

	close(0);
	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	assert_true(fd > 2);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(saved, 0);
	close(saved);
	close(fd);
	channel_release(chan);
}

#define MANY 100000

static void *poster(void *arg)
{
	struct event_source *src = arg;

	for (uint64_t i = 0; i < MANY; i++)
		post(src, i);
	return NULL;
}

/* More events than any pipe holds, with a reader at the same time. */
static void test_threads(void **state)
{
	struct event_source a;
	struct rnic_channel *chan;
	pthread_t thread;
	uint64_t v;
	int fd;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	open_source(&a, chan);
	poster(&a);
	assert_int_equal(a.unread, MANY);
	pthread_create(&thread, NULL, poster, &a);
	for (uint64_t i = 0; i < 2 * MANY; i++) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&pfd, 1, 10000), 1);
		assert_int_equal(channel_read(chan, &v, sizeof(v)), sizeof(v));
		assert_int_equal(v, i % MANY);
	}
	pthread_join(thread, NULL);
	assert_false(readable(fd));
	assert_int_equal(a.reported, 2 * MANY);
	channel_put(a.chan);
	close(fd);
	channel_release(chan);
}

static int announced;

static void on_opened(int fd, struct rnic_channel *chan)
{
	struct rnic_channel *found = channel_get_by_fd(fd);

	assert_ptr_equal(found, chan);
	channel_put(found);
	announced = fd;
}

static void test_announce(void **state)
{
	struct rnic_channel *async, *comp;
	int fd1, fd2;

	channel_set_fd_hook(on_opened);
	assert_int_equal(channel_create(CHANNEL_ASYNC, &async, &fd1), 0);
	assert_int_equal(announced, fd1);
	assert_int_equal(channel_create(CHANNEL_COMP, &comp, &fd2), 0);
	assert_int_equal(announced, fd1);
	channel_set_fd_hook(NULL);
	close(fd1);
	close(fd2);
	channel_release(async);
	channel_release(comp);
}

static void test_foreign(void **state)
{
	struct event_source a;
	struct rnic_channel *chan;
	int fd, status;
	uint64_t v;
	pid_t pid;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	open_source(&a, chan);
	post(&a, 7);
	pid = fork();
	if (!pid) {
		bool ok;

		channel_forget_all();
		ok = channel_read(chan, &v, sizeof(v)) == -EIO && !channel_get_by_fd(fd);
		channel_release(chan);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* The child did not touch the pipe that both processes have. */
	assert_true(readable(fd));
	expect(chan, 7);
	channel_put(a.chan);
	close(fd);
	channel_release(chan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),		cmocka_unit_test(test_purge),
		cmocka_unit_test(test_latest),		cmocka_unit_test(test_migrate),
		cmocka_unit_test(test_release),		cmocka_unit_test(test_stolen_byte),
		cmocka_unit_test(test_low_descriptors), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_announce),	cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
