/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw stat" and "sctpiw counters": print the data of processes with the device. pid: the only
 * process to query; 0: all of this user. The functions that print return the exit status. They
 * return EXIT_FAILURE if no process has answered, or one has not, and call complain().
 */
#ifndef UTILS_LAUNCHER_STAT_H
#define UTILS_LAUNCHER_STAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/ask.h"

int stat_run(pid_t pid, bool json);
/*
 * Repeats "stat" every `seconds`, for processes only; without json, prints rates (watch.c). Returns
 * when process pid has ended: EXIT_SUCCESS if it has answered once.
 */
int watch_run(pid_t pid, bool json, double seconds);
/* (counters.c) */
int counters_run(pid_t pid, bool json);

/* ---- common functions ---- */

/*
 * Gets the answers, which the caller frees by ask_free(). Without any answer, calls complain() and
 * returns false.
 */
bool stat_ask(pid_t pid, const char *request, struct answers *out);
/* Returns the exit status after the answers were printed. */
int stat_status(const struct answers *answers);
/* Prints the answers to "json stat" as an array with an object for each process. */
void stat_print_json(const struct answers *answers);

#endif
