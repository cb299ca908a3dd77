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
#include "util/trace.h"

#define LINE_MAX_LEN 512

static _Atomic int threshold = LOG_LEVEL_ERROR;

static void write_event(struct trace_sink *sink, enum trace_id id, uint64_t now,
			const union trace_value *values)
{
	char line[LINE_MAX_LEN];

	if (trace_infos[id].level != TRACE_LEVEL_LOG)
		return;
	trace_line(line, sizeof(line), id, values);
	log_line(LOG_LEVEL_DEBUG, "%s", line);
}

/* The sink that prints the events that have a line. */
static struct trace_sink events = { .write = write_event };

void log_set_level(enum log_level level)
{
	bool was = log_enabled(LOG_LEVEL_DEBUG), is = level == LOG_LEVEL_DEBUG;

	atomic_store_explicit(&threshold, level, memory_order_relaxed);
	if (is && !was)
		trace_install(&events);
	else if (was && !is)
		trace_remove(&events);
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void log_line(enum log_level level, const char *format, ...)
{
	int saved = errno;
	char line[LINE_MAX_LEN];
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

const char *log_reason(int error)
{
	switch (error) {
	case EMFILE:
		return "Too many open files: raise the limit of the process (ulimit -n)";
	case ENFILE:
		return "Too many open files in system: raise its limit (sysctl fs.file-max)";
	case EFBIG:
		return "File too large: raise the limit of the process (ulimit -f)";
	default:
		return strerror(error);
	}
}

void log_debug_line(const char *format, ...)
{
	int saved = errno;
	char text[LINE_MAX_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line(LOG_LEVEL_DEBUG, "%s", text);
	TRACE(message, TRACE_NOW, .text = text);
	errno = saved;
}
