/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Performs a check in a child process, because the check needs another environment or may crash. */
#ifndef UTILS_LAUNCHER_DOCTOR_CHILD_H
#define UTILS_LAUNCHER_DOCTOR_CHILD_H

#include <stddef.h>

#define DOCTOR_CHILD_SECONDS 30 /* after this time, SIGALRM ends the child */

/*
 * Calls work(arg) in a child process. The child exits with the result of work(), unless work()
 * executes another program. Writes the standard output and the standard error of the child to out,
 * with a final zero. Text that does not fit is cut off. Returns the status from waitpid(), or
 * -errno if no child was made.
 */
int doctor_child(int (*work)(void *arg), void *arg, char *out, size_t size);

#endif
