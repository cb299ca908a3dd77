/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log lines on standard error, which begin with "sctpiw: ". One write() writes each line, so that
 * lines of several threads and processes do not mix. The functions need no lock, and preserve
 * errno.
 *
 * A peer can cause any number of lines by repeated errors. Therefore each log_error() or log_info()
 * in the code is a site with its own limit. Lines above the limit are omitted and counted, and the
 * site's next line ends with the count. log.c defines the limits. Level debug has no limit.
 *
 * The log and the trace (util/trace.h) are connected. Each line of level debug is also an event of
 * the trace. Trace events of level TRACE_LEVEL_LOG are also printed as lines of level debug.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/trace.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/*
 * Enables lines of this level and of the levels before it in the enum. Only one thread at a time
 * may call this.
 */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

/*
 * A site: a place in the code that writes lines of one level. Initially zero. Any thread may use
 * it.
 */
struct log_site {
	_Atomic uint64_t used_until; /* ns; from then on, no earlier line counts */
	_Atomic uint64_t again;	     /* ns; earliest time to repeat the last line */
	_Atomic uint32_t sum;	     /* checksum of the last line */
	_Atomic uint32_t left_out;   /* lines omitted since the last line */
};

/*
 * Writes a line if its level (error or info) is enabled, and if the site's limit permits it. The
 * format is as in printf(), without a newline. Long lines are cut.
 */
void log_line(struct log_site *site, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Called at the end of the process: writes the number of omitted lines, unless it is 0. */
void log_end(void);
/*
 * Writes a line of level debug to standard error and to the trace, if these are enabled. Use the
 * macro log_debug() instead.
 */
void log_debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Returns the text of a positive errno value, as strerror(). For limits of the process, the text
 * includes the remedy. The text is valid until the thread calls log_reason() or strerror() again.
 */
const char *log_reason(int error);

/* log_error() is for problems that a user can solve. The line contains the cause and the remedy. */
#define log_error(...) LOG_LINE(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) LOG_LINE(LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_LINE(level, ...)                                                                       \
	do {                                                                                       \
		static struct log_site log_site_;                                                  \
		log_line(&log_site_, level, __VA_ARGS__);                                          \
	} while (0)
/* While level debug and the trace are disabled, a call costs one test of a flag. */
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			log_debug_line(__VA_ARGS__);                                               \
	} while (0)

#endif
