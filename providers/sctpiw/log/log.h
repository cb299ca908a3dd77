/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error, "sctpiw: ...". A line is one write(), so that the lines of several
 * threads and processes do not mix. Those of level debug are in a trace (util/trace.h) as well, and
 * events of a trace that have a line are printed at level debug.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdbool.h>

#include "util/trace.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* From now on, lines of this level and of those before it are written. One thread at a time. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of level debug, to wherever somebody wants it. */
void log_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a user can act upon: the cause and the remedy. */
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			log_debug_line(__VA_ARGS__);                                               \
	} while (0)

#endif
