/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: port_force_down aligned_alloc */
/*
 * The timers of faults: when they fire, even without memory; and the port, which several rules take
 * down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "net/port.h"
#include "runtime/rnic.h"
#include "util/time.h"

static bool no_memory;

void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return no_memory ? NULL : __real_aligned_alloc(align, size);
}

static bool is_down;

void __wrap_port_force_down(bool down);
void __wrap_port_force_down(bool down)
{
	is_down = down;
}

static uint64_t no_timeout(const struct conn *c)
{
	return TIME_NEVER;
}

static void no_timers(struct conn *c)
{
}

static const struct transport plain = { .next_timeout = no_timeout, .timers = no_timers };
static struct rnic rnic;
static char fired[16];

/* Sets the shard's time, in ms, and runs its timers. */
static void run_at(uint64_t ms)
{
	struct conn *c = &rnic.shard.conn;

	fired[0] = '\0';
	c->now = ms * NSEC_PER_MSEC;
	c->transport->timers(c);
}

/* Returns the next timeout in ms, or 0. */
static uint64_t next(void)
{
	const struct conn *c = &rnic.shard.conn;
	uint64_t due = c->transport->next_timeout(c);

	return due == TIME_NEVER ? 0 : due / NSEC_PER_MSEC;
}

/* Starts a shard with one rule, which takes the port down in an hour. */
static int setup(void **state)
{
	static struct config config;
	struct config_error err;
	struct faults *f = &rnic.faults;

	memset(&rnic, 0, sizeof(rnic));
	is_down = no_memory = false;
	snprintf(config.faults, sizeof(config.faults), "after 60 min: port down for 1 s");
	config.fault_seed = 1;
	rnic.shard.rnic = &rnic;
	rnic.shard.conn.transport = &plain;
	if (!faults_init(f, &config, &err))
		fail_msg("%s", err.text);
	faults_start(f, &rnic.shard);
	return 0;
}

static int teardown(void **state)
{
	fault_set_fini(&rnic.faults.set);
	return 0;
}

/* ---- timers ---- */

static struct letter {
	struct fault_timer timer; /* must be first */
	char name;
} letters[3];

static void fire(struct fault_timer *t, struct shard *s, uint64_t now)
{
	size_t len = strlen(fired);

	fired[len] = ((struct letter *)t)->name;
	fired[len + 1] = '\0';
}

static void set(unsigned int i, uint64_t ms)
{
	letters[i].name = (char)('a' + i);
	letters[i].timer.fire = fire;
	faults_timer_set(&rnic.faults, &letters[i].timer, ms * NSEC_PER_MSEC);
}

/* No timer fires while one is set: the caller may be in the middle of something. */
static void timers(void **state)
{
	memset(letters, 0, sizeof(letters));
	fired[0] = '\0';
	no_memory = true;
	set(0, 20);
	set(1, 10);
	set(2, 20);
	assert_string_equal(fired, "");
	assert_int_equal(next(), 10);
	run_at(9);
	assert_string_equal(fired, "");
	run_at(10);
	assert_string_equal(fired, "b");
	assert_false(faults_timer_is_set(&letters[1].timer));
	/* Moved and cancelled timers; cancelling twice is harmless. */
	set(0, 30);
	faults_timer_cancel(&letters[2].timer);
	faults_timer_cancel(&letters[2].timer);
	run_at(29);
	assert_string_equal(fired, "");
	set(2, 30);
	run_at(30);
	assert_string_equal(fired, "ac");
}

/* ---- the port ---- */

static void down_for(uint64_t ms)
{
	const struct fault_action a = {
		.id = FAULT_DO_port_down,
		.arg = { [fault_port_down_time] = ms * NSEC_PER_MSEC },
	};

	faults_perform(&rnic.faults, &a, rnic.shard.conn.now);
}

/* The port stays down until the last fault is over, in any order. */
static void ports_down(void **state)
{
	run_at(1000);
	down_for(300);
	run_at(1050);
	down_for(100);
	run_at(1160);
	assert_true(is_down);
	run_at(1200);
	down_for(200);
	run_at(1399);
	assert_true(is_down);
	run_at(1400);
	assert_false(is_down);
	/* The port can go down again. */
	down_for(10);
	assert_true(is_down);
	run_at(1410);
	assert_false(is_down);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(timers, setup, teardown),
		cmocka_unit_test_setup_teardown(ports_down, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
