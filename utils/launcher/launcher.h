/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Common declarations of the launcher: its exit statuses and error messages. The launcher has one
 * thread, and no locks.
 */
#ifndef UTILS_LAUNCHER_LAUNCHER_H
#define UTILS_LAUNCHER_LAUNCHER_H

/* Exit statuses of the launcher itself, as of env, nice and timeout. */
#define EXIT_USAGE 2
#define EXIT_BROKEN 125 /* the launcher itself failed: parts of this installation are missing */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

/* libibverbs appends this to the names in RDMAV_DRIVERS. */
#define PROVIDER_SUFFIX "-rdmav34.so"

/* Prints a line on standard error, after the names of the program and its command. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* While take is not NULL, passes the text of each complain() to take instead. */
void complain_to(void (*take)(const char *text));

#endif
