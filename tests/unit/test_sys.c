/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * sys_append(): exceeding the file size limit is an error, without a signal to the application.
 * sys_read_pipe() never waits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/sys.h"

static int signals;

static void count(int sig)
{
	signals++;
}

static void file_limit(void **state)
{
	char path[] = "/tmp/sctpiw-sys-XXXXXX", bytes[200] = { 0 };
	struct rlimit old, limit;
	sigset_t set, now;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	fcntl(fd, F_SETFL, O_APPEND);
	signal(SIGXFSZ, count);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){ .rlim_cur = 300, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(sys_append(fd, bytes, sizeof(bytes)), 200);
	assert_int_equal(sys_append(fd, bytes, sizeof(bytes)), 100);
	assert_int_equal(sys_append(fd, bytes, sizeof(bytes)), -EFBIG);
	assert_int_equal(signals, 0);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	assert_false(sigismember(&now, SIGXFSZ));

	/* A SIGXFSZ that is already pending for the application stays pending, once. */
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGXFSZ);
	assert_int_equal(sys_append(fd, bytes, sizeof(bytes)), -EFBIG);
	sigpending(&now);
	assert_true(sigismember(&now, SIGXFSZ));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	assert_int_equal(signals, 1);
	setrlimit(RLIMIT_FSIZE, &old);
	close(fd);
}

static void check_pipe(void)
{
	char bytes[8];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(sys_read_pipe(fds[0], bytes, sizeof(bytes)), -EAGAIN);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	assert_int_equal(sys_read_pipe(fds[0], bytes, 2), 2);
	assert_memory_equal(bytes, "ab", 2);
	assert_int_equal(sys_read_pipe(fds[0], bytes, sizeof(bytes)), 1);
	assert_int_equal(bytes[0], 'c');
	assert_int_equal(sys_read_pipe(fds[0], bytes, sizeof(bytes)), -EAGAIN);
	close(fds[0]);
	close(fds[1]);
}

/*
 * The method of new kernels, and that of older kernels, which is used once a descriptor has refused
 * the new method.
 */
static void pipe_is_read(void **state)
{
	char bytes[8];

	alarm(20);
	check_pipe();
	assert_int_equal(sys_read_pipe(-1, bytes, sizeof(bytes)), -EBADF);
	check_pipe();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(file_limit),
					    cmocka_unit_test(pipe_is_read) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
