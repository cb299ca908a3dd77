/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines on standard error, "sctpiw: ...". A line is one write(), so that threads
 * and processes do not mix theirs.
 */
#ifndef SCTPIW_LOG_LOG_H
#define SCTPIW_LOG_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level); /* of the lines that are written */
bool log_enabled(enum log_level level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a user can act upon: the cause and the remedy. */
#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (log_enabled(LOG_LEVEL_DEBUG))                                                  \
			log_line(LOG_LEVEL_DEBUG, __VA_ARGS__);                                    \
	} while (0)

#endif
