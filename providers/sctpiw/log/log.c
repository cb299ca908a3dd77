/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "log/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"

static _Atomic int threshold = LOG_LEVEL_ERROR;

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void log_line(enum log_level level, const char *format, ...)
{
	int saved = errno;
	char line[512];
	va_list args;
	int head, n;

	if (!log_enabled(level))
		return;
	if (level == LOG_LEVEL_DEBUG) {
		uint64_t now = sys_now();

		head = snprintf(line, sizeof(line), "sctpiw: [%d %llu.%06llu] ", (int)getpid(),
				(unsigned long long)(now / NSEC_PER_SEC),
				(unsigned long long)(now % NSEC_PER_SEC / 1000));
	} else {
		head = snprintf(line, sizeof(line), "sctpiw: ");
	}
	va_start(args, format);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
	va_end(args);
	if (n < 0)
		n = 0;
	n += head;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	sys_write(STDERR_FILENO, line, (size_t)n);
	errno = saved;
}
