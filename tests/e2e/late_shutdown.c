/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD: each shutdown() waits until the peer has shut down as well. The program
 * cannot have noticed this by then. The program makes its system calls by syscall().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*next)(long, ...);
	struct pollfd pfd;
	long arg[6], ret;
	va_list list;

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_shutdown) {
		pfd = (struct pollfd){ .fd = (int)arg[0], .events = POLLRDHUP };
		poll(&pfd, 1, -1);
	}
	ret = next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (number == SYS_shutdown)
		fputs("both have shut down\n", stderr);
	return ret;
}
