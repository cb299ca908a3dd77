/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: log */
/* WRAP: clock_gettime sys_write */
/* Lines on standard error: their rate for each place in the code, and their characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <cmocka.h>

#include "log/log.h"
#include "util/printable.h"
#include "util/time.h"

#define AT_ONCE 20 /* lines of level error */

static uint64_t now;
static char last[1024];
static unsigned int lines;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	ts->tv_sec = (time_t)(now / NSEC_PER_SEC);
	ts->tv_nsec = (long)(now % NSEC_PER_SEC);
	return 0;
}

ssize_t __wrap_sys_write(int fd, const void *buf, size_t len);
ssize_t __wrap_sys_write(int fd, const void *buf, size_t len)
{
	assert_in_range(len, 2, sizeof(last) - 1);
	memcpy(last, buf, len);
	last[len] = '\0';
	lines++;
	return (ssize_t)len;
}

static int setup(void **state)
{
	now = 1000 * NSEC_PER_SEC;
	lines = 0;
	log_set_level(LOG_LEVEL_ERROR);
	return 0;
}

/* Logs n failures of a peer, with numbers that differ. */
static void fail_often(struct log_site *site, enum log_level level, int n)
{
	static int number;

	for (int i = 0; i < n; i++)
		log_line(site, level, "peer %d: too long", number++);
}

/* A flood gives AT_ONCE lines, then one every ten seconds, with the number of omitted lines. */
static void flood(void **state)
{
	struct log_site site = { 0 };

	fail_often(&site, LOG_LEVEL_ERROR, AT_ONCE - 1);
	assert_null(strstr(last, "more"));
	fail_often(&site, LOG_LEVEL_ERROR, 1);
	assert_non_null(strstr(last, "too long (more like this are counted"));
	fail_often(&site, LOG_LEVEL_ERROR, 1000);
	assert_int_equal(lines, AT_ONCE);
	now += 10 * NSEC_PER_SEC;
	fail_often(&site, LOG_LEVEL_ERROR, 500);
	assert_int_equal(lines, AT_ONCE + 1);
	assert_non_null(strstr(last, "too long (and 1000 more like this)\n"));
	now += 3600 * NSEC_PER_SEC; /* the place has its full budget again */
	fail_often(&site, LOG_LEVEL_ERROR, 1);
	assert_non_null(strstr(last, "too long (and 499 more like this)\n"));
	fail_often(&site, LOG_LEVEL_ERROR, AT_ONCE);
	assert_int_equal(lines, AT_ONCE + 1 + AT_ONCE);
	log_end();
	assert_string_equal(last, "sctpiw: 1 more lines like those before were left out\n");
	log_end();
	assert_int_equal(lines, AT_ONCE + 1 + AT_ONCE + 1);
}

static void at_one_place(void)
{
	for (int i = 0; i < 2 * AT_ONCE; i++)
		log_error("line %d", i);
}

/* The limit of one place does not affect others. Level info has room for a thousand peers. */
static void places(void **state)
{
	struct log_site site = { 0 };

	at_one_place();
	assert_int_equal(lines, AT_ONCE);
	log_error("another place");
	assert_string_equal(last, "sctpiw: another place\n");
	log_set_level(LOG_LEVEL_INFO);
	lines = 0;
	fail_often(&site, LOG_LEVEL_INFO, 100000);
	assert_int_equal(lines, 1000);
	log_end();
}

/* Level debug writes all lines. */
static void debug(void **state)
{
	struct log_site site = { 0 };

	log_set_level(LOG_LEVEL_DEBUG);
	fail_often(&site, LOG_LEVEL_ERROR, 2000);
	assert_int_equal(lines, 2000);
}

/* A peer that repeats an attempt gets one line for a while, and reduces no other budget. */
static void repeated(void **state)
{
	struct log_site site = { 0 };

	for (int i = 0; i < 50; i++, now += NSEC_PER_SEC / 10)
		log_line(&site, LOG_LEVEL_ERROR, "no key");
	assert_int_equal(lines, 1);
	now += 5 * NSEC_PER_SEC;
	log_line(&site, LOG_LEVEL_ERROR, "no key");
	assert_string_equal(last, "sctpiw: no key (and 49 more like this)\n");
	for (int i = 0; i < 50; i++)
		log_line(&site, LOG_LEVEL_ERROR, "no key");
	log_line(&site, LOG_LEVEL_ERROR, "no certificate");
	assert_string_equal(last, "sctpiw: no certificate (and 50 more like this)\n");
	assert_int_equal(lines, 3);
}

/* A line ends with a newline, and has no other control character, whatever the peer's name. */
static void hostile_text(void **state)
{
	struct log_site site = { 0 };
	char text[600], c1[] = "\xc2\x9b"
			       "2J, \xc3\xa4, \xc2\xa0.";

	log_line(&site, LOG_LEVEL_ERROR, "%s has no key", "\x1b[2J\r\nme\t\x7f");
	assert_string_equal(last, "sctpiw: ?[2J??me?? has no key\n");
	printable_make(c1);
	assert_string_equal(c1, "??2J, \xc3\xa4, \xc2\xa0.");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_line(&site, LOG_LEVEL_ERROR, "%s", text);
	assert_int_equal(strlen(last), 511);
	assert_int_equal(strspn(last + 8, "x"), 502);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(flood, setup),
		cmocka_unit_test_setup(places, setup),
		cmocka_unit_test_setup(debug, setup),
		cmocka_unit_test_setup(repeated, setup),
		cmocka_unit_test_setup(hostile_text, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
