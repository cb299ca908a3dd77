/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify progress_start progress_wake port_watch */
/* WRAP: port_unwatch */
/* VALGRIND: yes */
/* Events of the port for a device context. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture/fake_shard.h"
#include "runtime/channel.h"
#include "runtime/object.h"
#include "runtime/port_events.h"

static struct shard *const s = &fake.rnic.shard;
static int start_error;

/* ---- the functions that it calls ---- */

int __wrap_progress_start(struct shard *shard);
int __wrap_progress_start(struct shard *shard)
{
	shard_assert_locked(shard);
	fake_shard_note("start");
	return start_error;
}

void __wrap_progress_wake(struct shard *shard);
void __wrap_progress_wake(struct shard *shard)
{
	assert_ptr_equal(shard, s);
	fake_shard_note("wake");
}

void __wrap_port_watch(struct port_watcher *w);
void __wrap_port_watch(struct port_watcher *w)
{
	/* Changes may come from now on. */
	assert_non_null(w->changed);
	fake_shard_note("watch");
}

void __wrap_port_unwatch(struct port_watcher *w);
void __wrap_port_unwatch(struct port_watcher *w)
{
	assert_non_null(w->changed);
	fake_shard_note("unwatch");
}

/* ---- contexts ---- */

struct context {
	struct rnic_channel *chan;
	int fd;
	struct port_events port;
};

static void open_context(struct context *c)
{
	memset(c, 0, sizeof(*c));
	assert_int_equal(channel_create(CHANNEL_ASYNC, &c->chan, &c->fd), 0);
	channel_ref(c->chan);
	c->port.source.chan = c->chan;
}

static void close_context(struct context *c)
{
	channel_purge(&c->port.source);
	channel_put(c->port.source.chan);
	close(c->fd);
	channel_release(c->chan);
}

static void start(struct context *c, int want)
{
	assert_int_equal(port_events_start(s, &c->port), want);
	assert_true(shard_try_enter(s));
	shard_leave(s);
}

static void change(struct context *c, enum port_change what)
{
	c->port.watcher.changed(&c->port.watcher, what);
}

static void expect(struct context *c, enum object_async_type type)
{
	struct object_async_event ev;

	assert_int_equal(channel_read(c->chan, &ev, sizeof(ev)), sizeof(ev));
	assert_int_equal(ev.event_type, type);
	assert_int_equal(ev.element, 1);
}

static void expect_nothing(struct context *c)
{
	struct object_async_event ev;

	assert_int_equal(channel_read(c->chan, &ev, sizeof(ev)), -EAGAIN);
}

static int setup(void **state)
{
	fake_shard_reset();
	start_error = 0;
	return 0;
}

/* ---- tests ---- */

/*
 * The thread detects changes, so it starts before the watch. The thread is woken after the watch,
 * whose descriptor it must sleep on from now on.
 */
static void test_start_and_stop(void **state)
{
	struct context c;

	open_context(&c);
	start(&c, 0);
	fake_shard_expect("events start events output events reap watch wake");
	port_events_stop(&c.port);
	fake_shard_expect("unwatch");
	close_context(&c);
}

/* Without the thread, nobody detects changes. */
static void test_no_thread(void **state)
{
	struct context c;

	open_context(&c);
	start_error = -EAGAIN;
	start(&c, -EAGAIN);
	fake_shard_expect("events start events output events reap");
	close_context(&c);
}

static void test_changes(void **state)
{
	struct context a, b;

	open_context(&a);
	open_context(&b);
	start(&a, 0);
	start(&b, 0);
	change(&a, PORT_CHANGE_DOWN);
	change(&a, PORT_CHANGE_GIDS);
	change(&b, PORT_CHANGE_UP);
	expect(&a, OBJECT_ASYNC_PORT_ERR);
	expect(&a, OBJECT_ASYNC_GID_CHANGE);
	expect_nothing(&a);
	expect(&b, OBJECT_ASYNC_PORT_ACTIVE);
	expect_nothing(&b);
	close_context(&a);
	close_context(&b);
}

/* Without reads, one event of each kind remains. The last one shows the present state. */
static void test_unread(void **state)
{
	struct context c;

	open_context(&c);
	start(&c, 0);
	for (int i = 0; i < 10; i++) {
		change(&c, PORT_CHANGE_UP);
		change(&c, PORT_CHANGE_GIDS);
		change(&c, PORT_CHANGE_DOWN);
	}
	change(&c, PORT_CHANGE_UP);
	expect(&c, OBJECT_ASYNC_GID_CHANGE);
	expect(&c, OBJECT_ASYNC_PORT_ERR);
	expect(&c, OBJECT_ASYNC_PORT_ACTIVE);
	expect_nothing(&c);
	close_context(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_start_and_stop, setup),
		cmocka_unit_test_setup(test_no_thread, setup),
		cmocka_unit_test_setup(test_changes, setup),
		cmocka_unit_test_setup(test_unread, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
