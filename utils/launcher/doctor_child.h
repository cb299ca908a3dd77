/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a check does in a process of its own, because it needs another environment or may die of it. */
#ifndef UTILS_LAUNCHER_DOCTOR_CHILD_H
#define UTILS_LAUNCHER_DOCTOR_CHILD_H

#include <stddef.h>

#define DOCTOR_CHILD_SECONDS 30 /* after so many a child is ended by SIGALRM */

/*
 * Calls work(arg) in a child process, whose exit status is what that returns, unless it executes another program.
 * Writes what the child prints on its two outputs to out, with a final zero; what does not fit is lost. Returns the
 * status as waitpid() gives it, or -errno if there was no child.
 */
int doctor_child(int (*work)(void *arg), void *arg, char *out, size_t size);

#endif
