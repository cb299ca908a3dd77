/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw stat" and "sctpiw counters": print data of processes that have the device. pid: the only
 * process to query, or 0 for all processes of this user. The functions that print return the exit
 * status. If no process has answered, or one of them has not, they call complain() and return
 * EXIT_FAILURE.
 */
#ifndef UTILS_LAUNCHER_STAT_H
#define UTILS_LAUNCHER_STAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/ask.h"

int stat_run(pid_t pid, bool json);
/*
 * Repeats "stat", but only for processes, at intervals of `seconds`. Without json, prints rates
 * (watch.c). With a pid, returns when this process has ended, with EXIT_SUCCESS if it has answered
 * at least once.
 */
int watch_run(pid_t pid, bool json, double seconds);
/* This function is in counters.c. */
int counters_run(pid_t pid, bool json);

/* ---- common functions ---- */

/*
 * Gets the answers of the processes. The caller frees them by ask_free(). If no process has
 * answered, calls complain() and returns false.
 */
bool stat_ask(pid_t pid, const char *request, struct answers *out);
/* Returns the exit status. Call this after the answers were printed. */
int stat_status(const struct answers *answers);
/* Prints the answers to "json stat" as an array with one object per process. */
void stat_print_json(const struct answers *answers);

#endif
