/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error, "sctpiw: ...". Each line is one write(), so that lines of several
 * threads and processes do not mix. No lock; errno is preserved.
 *
 * A peer can cause any number of lines by repeated errors. So each place in the code that writes
 * lines of level error or info has its own limit. Lines beyond the limit are counted, and the next
 * written line ends with the count. log.c has the limits of the levels. Level debug has no limit.
 *
 * The log and the trace (util/trace.h) feed each other: lines of level debug are events of a trace,
 * and trace events with a line are printed at level debug.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/trace.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Enables lines of this level and of earlier ones. One thread at a time. */
void log_set_level(enum log_level level);
/* True if lines of this level are written. */
bool log_enabled(enum log_level level);

/* A place that writes lines of one level. Initially zero. Any thread. */
struct log_site {
	_Atomic uint64_t
		used_until;	/* ns: until then, the lines so far use up one line per interval */
	_Atomic uint64_t again; /* ns: the last line is not repeated before */
	_Atomic uint32_t sum;	/* checksum of the last line */
	_Atomic uint32_t left_out; /* lines left out since the last line */
};

/*
 * Writes a line, if its level (error or info) is enabled, and the site's limit allows it. The
 * format is printf()'s, without a newline. Long lines are cut.
 */
void log_line(struct log_site *site, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes the number of lines left out, if not 0, at the end of the process. */
void log_end(void);
/*
 * Writes a line of level debug, without a limit, to standard error and the trace, as enabled. For
 * log_debug().
 */
void log_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Returns strerror() of a positive error. For limits of the process, the text includes the remedy.
 * It is valid until the thread calls this or strerror() again.
 */
const char *log_reason(int error);

/* Errors are problems that a user can solve: the line has the cause and the remedy. */
#define log_error(...) LOG_LINE(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) LOG_LINE(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_LINE(level, ...)                                                                       \
	do {                                                                                       \
		static struct log_site log_site_;                                                  \
		log_line(&log_site_, level, __VA_ARGS__);                                          \
	} while (0)
/* Costs one test of a flag while disabled. */
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			log_debug_line(__VA_ARGS__);                                               \
	} while (0)

#endif
