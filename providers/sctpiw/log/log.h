/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error, "sctpiw: ...". A line is one write(), so that the lines of several
 * threads and processes do not mix. No lock; errno stays as it is.
 *
 * The log and the trace (util/trace.h) feed each other: lines of level debug are events of a trace,
 * and events of a trace that have a line are printed at level debug.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdbool.h>

#include "util/trace.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* From now on, lines of this level and of those before it are written. One thread at a time. */
void log_set_level(enum log_level level);
/* Whether lines of this level are written. */
bool log_enabled(enum log_level level);
/*
 * Writes a line if its level is enabled. The format is printf()'s, without a newline; long lines
 * are cut.
 */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * The same at level debug, on standard error and into the trace, whichever wants it. For
 * log_debug().
 */
void log_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * strerror() of an error, and for one of the process's limits the remedy. error is positive. The
 * text is valid until the thread calls this or strerror() again.
 */
const char *log_reason(int error);

/* Errors are what a user can act upon: the line says the cause and the remedy. */
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
/* Costs one look at a flag if nobody wants it. */
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			log_debug_line(__VA_ARGS__);                                               \
	} while (0)

#endif
