/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error, "sctpiw: ...". A line is one write(), so that the lines of several
 * threads and processes do not mix. No lock; errno stays as it is.
 *
 * A peer can cause lines without end, by one error after the other. So each place in the code that
 * writes lines of level error or info has a limit of its own. Lines beyond the limit are counted,
 * and the next written line ends with the count. log.c has the limits of the levels; level debug
 * has no limit.
 *
 * The log and the trace (util/trace.h) feed each other: lines of level debug are events of a trace,
 * and events of a trace that have a line are printed at level debug.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/trace.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* From now on, lines of this level and of those before it are written. One thread at a time. */
void log_set_level(enum log_level level);
/* Whether lines of this level are written. */
bool log_enabled(enum log_level level);

/* A place that writes lines, all of one level; zero at first. Any thread. */
struct log_site {
	_Atomic uint64_t used_until; /* ns: when the lines so far are used up, at one an interval */
	_Atomic uint64_t again;	     /* ns: until then the last line is not repeated */
	_Atomic uint32_t sum;	     /* of that line's text */
	_Atomic uint32_t left_out;   /* lines since then */
};

/*
 * Writes a line if its level, error or info, is enabled and the site's limit allows it. The format is
 * printf()'s, without a newline; long lines are cut.
 */
void log_line(struct log_site *site, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end of the process: writes the number of lines left out, if not 0. */
void log_end(void);
/*
 * Writes a line of level debug, without a limit, on standard error and into the trace, as enabled.
 * For log_debug().
 */
void log_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * strerror() of an error, and for one of the process's limits the remedy. error is positive. The
 * text is valid until the thread calls this or strerror() again.
 */
const char *log_reason(int error);

/* Errors are what a user can act upon: the line says the cause and the remedy. */
#define log_error(...) LOG_LINE(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) LOG_LINE(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_LINE(level, ...)                                                                       \
	do {                                                                                       \
		static struct log_site log_site_;                                                  \
		log_line(&log_site_, level, __VA_ARGS__);                                          \
	} while (0)
/* Costs one look at a flag if nobody wants it. */
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			log_debug_line(__VA_ARGS__);                                               \
	} while (0)

#endif
