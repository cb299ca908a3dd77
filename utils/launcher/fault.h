/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw fault": adds, lists and removes the faults of a running process (docs/faults.md). */
#ifndef UTILS_LAUNCHER_FAULT_H
#define UTILS_LAUNCHER_FAULT_H

/*
 * words: the words after the options, up to NULL. They are PID, and then rules, `list`, `remove N`
 * or `remove all`. Returns the exit status. On failure, calls complain().
 */
int fault_run(char **words);
void fault_help(void);

#endif
