/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* The file of --trace. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/trace_file.h"
#include "sys/sys.h"
#include "util/trace.h"

static char path[] = "/tmp/test_trace_file.XXXXXX";
static char text[1 << 20];

static size_t read_file(void)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return n;
}

static unsigned int count(const char *what)
{
	unsigned int n = 0;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n++;
	return n;
}

static struct trace_file *open_trace(void)
{
	struct config_error why = { "" };
	struct trace_file *t = trace_file_open(path, &why);

	if (!t)
		fail_msg("%s", why.text);
	return t;
}

/* Nothing is written before the first event. Events before the trace starts are not written. */
static void off(void **state)
{
	struct trace_file *t;

	assert_int_equal(truncate(path, 0), 0);
	TRACE(doorbell, TRACE_NOW, .qp = 1);
	t = open_trace();
	trace_file_flush(t);
	assert_int_equal(read_file(), 0);
	trace_file_free(t);
	TRACE(doorbell, TRACE_NOW, .qp = 2);
	assert_int_equal(read_file(), 0);
}

/* Checks that the times in text never go back. */
static void must_ascend(void)
{
	double last = -1;

	for (const char *p = strstr(text, "\"time\":"); p; p = strstr(p + 1, "\"time\":")) {
		double when = strtod(p + 7, NULL);

		assert_true(when >= last && when < 1e6);
		last = when;
	}
}

static void ascending(void **state)
{
	struct trace_file *t;

	assert_int_equal(truncate(path, 0), 0);
	t = open_trace();
	for (uint64_t i = 0; i < 100; i++)
		TRACE(doorbell, i % 3 ? sys_now() : i % 2 ? TRACE_NOW : 1, .qp = i);
	assert_int_equal(read_file(), 0);
	trace_file_flush(t);
	read_file();
	assert_int_equal(count("\x1e{"), 101);
	assert_int_equal(count("\"qlog_version\""), 1);
	must_ascend();
	trace_file_free(t);
}

/* Records of two processes are whole, and each has its own header. */
static void two_processes(void **state)
{
	struct trace_file *t;
	pid_t child;
	int status;

	assert_int_equal(truncate(path, 0), 0);
	child = fork();
	t = open_trace();
	for (uint64_t i = 0; i < 2000; i++)
		TRACE(doorbell, TRACE_NOW, .qp = i);
	trace_file_flush(t);
	trace_file_free(t);
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	read_file();
	assert_int_equal(count("\"qlog_version\""), 2);
	assert_int_equal(count("}\n"), 4002);
	assert_int_equal(count("\x1e{"), 4002);
	for (const char *p = text; *p; p = strchr(p, '\n') + 1)
		assert_memory_equal(p, "\x1e{", 2);
}

static void *write_events(void *arg)
{
	for (uint64_t i = 0; i < 1000; i++)
		TRACE(doorbell, i % 2 ? TRACE_NOW : sys_now(), .qp = i);
	return NULL;
}

/* Threads write while another one flushes. */
static void several_threads(void **state)
{
	pthread_t threads[4];
	struct trace_file *t;

	assert_int_equal(truncate(path, 0), 0);
	t = open_trace();
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_events, NULL), 0);
	for (int i = 0; i < 100; i++)
		trace_file_flush(t);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	trace_file_flush(t);
	read_file();
	must_ascend();
	assert_int_equal(count("\x1e{"), 4001);
	assert_int_equal(count("}\n"), 4001);
	trace_file_free(t);
}

/* A file that cannot grow ends the trace, and has whole records. */
static void full(void **state)
{
	const struct rlimit limit = { 10000, RLIM_INFINITY };
	struct rlimit old;
	struct trace_file *t;
	size_t n;

	assert_int_equal(truncate(path, 0), 0);
	t = open_trace();
	getrlimit(RLIMIT_FSIZE, &old);
	TRACE(doorbell, TRACE_NOW, .qp = 1);
	trace_file_flush(t);
	n = read_file();
	assert_true(n > 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 2000; i++)
		TRACE(doorbell, TRACE_NOW, .qp = 2);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_false(trace_enabled());
	trace_file_flush(t);
	assert_int_equal(read_file(), n);
	trace_file_free(t);
}

/* A trace shows the work of a program, so only its owner may read it. */
static void is_private(void **state)
{
	mode_t before = umask(0);
	struct stat st;

	unlink(path);
	trace_file_free(open_trace());
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | S_IRUSR | S_IWUSR);
}

static void cannot_open(void **state)
{
	struct config_error why;
	char link[sizeof(path) + 8];

	snprintf(link, sizeof(link), "%s.link", path);

	assert_null(trace_file_open("/nowhere/x", &why));
	assert_string_equal(why.text,
			    "cannot write the trace: /nowhere/x: No such file or directory");
	assert_null(trace_file_open("/dev/null", &why));
	assert_string_equal(why.text, "cannot write the trace: /dev/null: not a regular file");
	assert_int_equal(symlink(path, link), 0);
	assert_null(trace_file_open(link, &why));
	assert_non_null(strstr(why.text, ".link: a symbolic link, which may lead anywhere"));
	unlink(link);
	assert_false(trace_enabled());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off),		 cmocka_unit_test(ascending),
		cmocka_unit_test(two_processes), cmocka_unit_test(several_threads),
		cmocka_unit_test(full),		 cmocka_unit_test(is_private),
		cmocka_unit_test(cannot_open),
	};
	int ret, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
