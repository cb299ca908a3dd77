/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw stat" and "sctpiw counters": what processes with the device say of it. pid: of the only one
 * that is asked; 0: all of this user. Those that print return the exit status: EXIT_FAILURE after a line
 * on standard error if nobody has answered, or somebody has not.
 */
#ifndef UTILS_LAUNCHER_STAT_H
#define UTILS_LAUNCHER_STAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/ask.h"

int stat_run(pid_t pid, bool json);
/*
 * The same again every so many seconds, but of processes alone, and without json as rates (watch.c).
 * Returns when the process that pid names is gone: success if it has answered once.
 */
int watch_run(pid_t pid, bool json, double seconds);
/* (counters.c) */
int counters_run(pid_t pid, bool json);

/* ---- what these three share ---- */

/*
 * Asks for the answers, which ask_free() is to be called for. False after a line on standard error if
 * there are none.
 */
bool stat_ask(pid_t pid, const char *request, struct answers *out);
/* The exit status after answers were printed. */
int stat_status(const struct answers *answers);
/* Prints the answers to "json stat" as an array with an object for each process. */
void stat_print_json(const struct answers *answers);

#endif
