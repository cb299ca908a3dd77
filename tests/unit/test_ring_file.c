/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* WRAP: sys_ppoll */
/*
 * Files of limited size that several processes append to. Each process is a struct ring_file here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/append_file.h"
#include "net/ring_file.h"
#include "sys/sys.h"

#define LIMIT 100

static char dir[64], path[96];
/* The sleeps of a process that waits for a lock, which take no time here. */
static struct {
	unsigned int n;
	uint64_t sum;
	unsigned int until; /* after this number of sleeps ... */
	void (*then)(void); /* ... call this, or NULL */
} naps;

int __real_sys_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout);
int __wrap_sys_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout);
int __wrap_sys_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	naps.sum += timeout;
	if (++naps.n == naps.until && naps.then)
		naps.then();
	return naps.until ? 0 : __real_sys_ppoll(fds, n, timeout);
}

static int setup(void **state)
{
	memset(&naps, 0, sizeof(naps));
	strcpy(dir, "/tmp/test_ring_file.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
	return 0;
}

static int teardown(void **state)
{
	char name[128];

	unlink(path);
	for (int age = 1; age < 12; age++) {
		snprintf(name, sizeof(name), "%s.%d", path, age);
		if (unlink(name))
			rmdir(name);
	}
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void open_ring(struct ring_file *r, unsigned int files)
{
	const char *why = NULL;

	if (ring_file_open(r, path, LIMIT, files, &why))
		fail_msg("%s", why);
	assert_true(r->fresh);
}

/* Appends a record of len letters, like capture.c. */
static void append(struct ring_file *r, char letter, size_t len)
{
	char data[LIMIT];

	memset(data, letter, len);
	assert_int_equal(ring_file_prepare(r, len), 0);
	r->fresh = false;
	assert_int_equal(append_file_write(r->fd, data, len), 0);
	ring_file_done(r);
}

/* Checks the contents of the file at path, or of an older one: each letter and its count. */
static void must_have(unsigned int age, const char *want)
{
	char name[128], data[1024], got[64];
	size_t used = 0;
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), age ? "%s.%u" : "%s", path, age);
	fd = open(name, O_RDONLY);
	if (fd >= 0)
		n = read(fd, data, sizeof(data));
	close(fd);
	for (ssize_t i = 0, from = 0; i < n; i++)
		if (i + 1 == n || data[i + 1] != data[from]) {
			used += (size_t)snprintf(got + used, sizeof(got) - used, "%c%zd", data[i],
						 i + 1 - from);
			from = i + 1;
		}
	got[used] = '\0';
	assert_string_equal(n < 0 ? "none" : got, want);
}

/* No record is split, no file exceeds the limit, and the oldest file is removed. */
static void rotates(void **state)
{
	struct ring_file r;

	open_ring(&r, 3);
	append(&r, 'a', 60);
	append(&r, 'b', 40); /* fits exactly */
	must_have(0, "a60b40");
	must_have(1, "none");
	append(&r, 'c', 1);
	assert_int_equal(ring_file_prepare(&r, LIMIT - 1), 0);
	assert_false(r.fresh);
	append(&r, 'd', 100);
	must_have(0, "d100");
	must_have(1, "c1");
	must_have(2, "a60b40");
	assert_int_equal(ring_file_prepare(&r, 1), 0);
	assert_true(r.fresh);
	must_have(0, "");
	must_have(1, "d100");
	must_have(2, "c1");
	must_have(3, "none");
	ring_file_close(&r);
}

/* A single file is restarted when it is full. Of two files, one is older. */
static void few_files(void **state)
{
	struct ring_file r;

	open_ring(&r, 1);
	append(&r, 'a', 80);
	append(&r, 'b', 80);
	must_have(0, "b80");
	must_have(1, "none");
	ring_file_close(&r);
	open_ring(&r, 2);
	append(&r, 'c', 80);
	append(&r, 'd', 80);
	must_have(0, "d80");
	must_have(1, "c80");
	must_have(2, "none");
	ring_file_close(&r);
}

/* A record longer than the limit gets its own file. */
static void long_record(void **state)
{
	struct ring_file r;

	open_ring(&r, 4);
	assert_int_equal(ring_file_prepare(&r, 5000), 0);
	append(&r, 'a', 99);
	assert_int_equal(ring_file_prepare(&r, 5000), 0);
	assert_true(r.fresh);
	must_have(0, "");
	must_have(1, "a99");
	must_have(2, "none");
	ring_file_close(&r);
}

/* Without a limit, no file is renamed or checked. */
static void no_limit(void **state)
{
	const char *why;
	struct ring_file r;

	assert_int_equal(ring_file_open(&r, path, 0, 10, &why), 0);
	append(&r, 'a', 100);
	append(&r, 'b', 100);
	must_have(0, "a100b100");
	must_have(1, "none");
	ring_file_close(&r);
}

/* A process that writes rarely finds the current file, however many others have filled. */
static void two_processes(void **state)
{
	struct ring_file a, b;

	open_ring(&a, 4);
	open_ring(&b, 4);
	append(&a, 'a', 50);
	append(&b, 'b', 50);
	must_have(0, "a50b50");
	assert_false(b.fresh);
	append(&a, 'c', 50);
	assert_int_equal(ring_file_prepare(&b, 50), 0);
	assert_true(b.fresh);
	append(&b, 'd', 50);
	must_have(0, "c50d50");
	for (int i = 0; i < 9; i++)
		append(&a, (char)('0' + i), 100);
	append(&b, 'e', 10);
	must_have(0, "e10");
	must_have(1, "8100");
	must_have(2, "7100");
	must_have(3, "6100");
	must_have(4, "none");
	ring_file_close(&a);
	ring_file_close(&b);
}

/* A symbolic link in place of the file is not followed. */
static void link_in_its_place(void **state)
{
	struct ring_file r;

	open_ring(&r, 2);
	append(&r, 'a', 80);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(ring_file_prepare(&r, 80), -ELOOP);
	ring_file_close(&r);
}

static int holder = -1;

/* Another process locks the current file, like a writer. */
static void hold(void)
{
	holder = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(flock(holder, LOCK_EX), 0);
}

static void let_go(void)
{
	assert_int_equal(write(holder, "hh", 2), 2);
	assert_int_equal(close(holder), 0);
}

/* A writer that finds another writer at work waits, and then checks the length. */
static void waits(void **state)
{
	struct ring_file r;

	naps.until = 3;
	naps.then = let_go;
	open_ring(&r, 3);
	append(&r, 'a', 90);
	hold();
	append(&r, 'b', 8);
	assert_int_equal(naps.n, 3);
	must_have(0, "a90h2b8");
	naps.n = 0;
	hold();
	append(&r, 'c', 1);
	must_have(0, "c1");
	must_have(1, "a90h2b8h2");
	ring_file_close(&r);
}

/*
 * A process that stopped with the lock delays others for a second. A record that fits is still
 * written.
 */
static void stopped_holder(void **state)
{
	struct ring_file r;

	naps.until = UINT32_MAX;
	open_ring(&r, 3);
	append(&r, 'a', 90);
	hold();
	append(&r, 'b', 7);
	must_have(0, "b7");
	must_have(1, "a90");
	assert_in_range(naps.sum, RING_FILE_PATIENCE, RING_FILE_PATIENCE * 11 / 10);
	naps.n = 0;
	append(&r, 'c', 10);
	assert_int_equal(naps.n, 0);
	let_go();
	must_have(0, "b7c10");
	must_have(1, "a90h2");
	must_have(2, "none");
	ring_file_close(&r);
}

static void take_away(void)
{
	assert_int_equal(unlink(path), 0);
}

/* Nobody waits for the lock of a former current file. */
static void holder_of_another(void **state)
{
	struct ring_file r;

	naps.until = 2;
	naps.then = take_away;
	open_ring(&r, 3);
	append(&r, 'a', 90);
	hold();
	append(&r, 'b', 7);
	assert_int_equal(naps.n, 2);
	must_have(0, "b7");
	must_have(1, "none");
	assert_int_equal(close(holder), 0);
	ring_file_close(&r);
}

enum { WRITERS = 4, RECORDS = 300, RECORD = 30, FILES = 600 };

static void write_records(char letter)
{
	struct ring_file r;

	open_ring(&r, FILES);
	for (int i = 0; i < RECORDS; i++)
		append(&r, letter, RECORD);
	ring_file_close(&r);
}

/* Adds the number of whole records of each writer in n bytes of a file. */
static void count(const char *data, ssize_t n, unsigned int *records)
{
	assert_int_equal(n % RECORD, 0);
	for (ssize_t i = 0; i < n; i += RECORD) {
		for (int k = 1; k < RECORD; k++)
			assert_int_equal(data[i + k], data[i]);
		records[data[i] - 'a']++;
	}
}

/* Processes that write at full speed exceed no limit, and lose, split or mix no record. */
static void at_once(void **state)
{
	unsigned int records[WRITERS] = { 0 };
	char name[128], data[LIMIT + 1];
	int status;

	for (int i = 0; i < WRITERS; i++) {
		if (!fork()) {
			write_records((char)('a' + i));
			_exit(0);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (int age = 0; age < FILES; age++) {
		snprintf(name, sizeof(name), age ? "%s.%d" : "%s", path, age);
		int fd = open(name, O_RDONLY);

		if (fd < 0)
			continue;
		count(data, read(fd, data, sizeof(data)), records);
		close(fd);
		unlink(name);
	}
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(records[i], RECORDS);
}

/* The file was renamed or removed: a new one is created. */
static void taken_away(void **state)
{
	struct ring_file r;
	char other[128];

	open_ring(&r, 3);
	append(&r, 'a', 10);
	assert_int_equal(unlink(path), 0);
	append(&r, 'b', 10);
	must_have(0, "b10");
	snprintf(other, sizeof(other), "%s.9", path);
	assert_int_equal(rename(path, other), 0);
	append(&r, 'c', 10);
	must_have(0, "c10");
	must_have(9, "b10");
	must_have(1, "none");
	ring_file_close(&r);
}

/* Files that cannot be renamed are an error, and keep their contents. */
static void cannot_rename(void **state)
{
	struct ring_file r;
	char other[128];

	snprintf(other, sizeof(other), "%s.1", path);
	assert_int_equal(mkdir(other, 0700), 0);
	open_ring(&r, 2);
	append(&r, 'a', 90);
	assert_int_equal(ring_file_prepare(&r, 90), -EISDIR);
	must_have(0, "a90");
	ring_file_close(&r);
}

static void cannot_open(void **state)
{
	const char *why = NULL;
	struct ring_file r;

	assert_true(ring_file_open(&r, "/nowhere/f", LIMIT, 2, &why) < 0);
	assert_string_equal(why, "No such file or directory");
	assert_true(ring_file_open(&r, "/dev/null", LIMIT, 2, &why) < 0);
	assert_string_equal(why, "not a regular file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rotates),		 TEST(few_files),   TEST(long_record),
		TEST(no_limit),		 TEST(waits),	    TEST(two_processes),
		TEST(stopped_holder),	 TEST(at_once),	    TEST(holder_of_another),
		TEST(taken_away),	 TEST(cannot_open), TEST(cannot_rename),
		TEST(link_in_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
