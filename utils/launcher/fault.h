/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw fault": adds, lists and removes the faults of a process that runs (docs/faults.md). */
#ifndef UTILS_LAUNCHER_FAULT_H
#define UTILS_LAUNCHER_FAULT_H

/*
 * words: what stands behind the options, up to NULL: PID, then rules, `list`, `remove N` or `remove all`. Returns the exit
 * status, after a line on standard error if it is none of success.
 */
int fault_run(char **words);
/* Prints what rules are made of. */
void fault_help(void);

#endif
