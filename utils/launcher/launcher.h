/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Common declarations of the launcher: its exit statuses and error messages. The launcher has only
 * one thread, and no locks.
 */
#ifndef UTILS_LAUNCHER_LAUNCHER_H
#define UTILS_LAUNCHER_LAUNCHER_H

/* Exit statuses for errors of the launcher itself. env, nice and timeout use the same ones. */
#define EXIT_USAGE 2
/* the launcher itself failed, because parts of this installation are missing */
#define EXIT_BROKEN 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

/* The suffix that libibverbs appends to the names in RDMAV_DRIVERS. */
#define PROVIDER_SUFFIX "-rdmav34.so"

/* Prints a line on standard error, which begins with the names of the program and its command. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Passes the texts of all later complain() calls to `take`, instead of printing them. NULL: print
 * them again.
 */
void complain_to(void (*take)(const char *text));

#endif
