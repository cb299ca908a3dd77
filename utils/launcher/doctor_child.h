/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Runs a check in a child process, because the check needs another environment or may crash. */
#ifndef UTILS_LAUNCHER_DOCTOR_CHILD_H
#define UTILS_LAUNCHER_DOCTOR_CHILD_H

#include <stddef.h>

#define DOCTOR_CHILD_SECONDS 30 /* SIGALRM then ends the child */

/*
 * Calls work(arg) in a child process. The child exits with the return value, unless work() executes
 * another program. Writes the child's standard output and error to out, cut to fit, with a final
 * zero. Returns the status as from waitpid(), or -errno if no child was made.
 */
int doctor_child(int (*work)(void *arg), void *arg, char *out, size_t size);

#endif
