/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Detects programs that cannot use the device. The launcher runs them nevertheless. */
#ifndef UTILS_LAUNCHER_REACH_H
#define UTILS_LAUNCHER_REACH_H

#include <limits.h>
#include <stdbool.h>

/* The result of the check of a program. */
struct reach {
	char path[PATH_MAX];   /* path of the program, or of the interpreter of a script */
	char loader[PATH_MAX]; /* path of the program's dynamic loader, or "" */
	/* reason why the program will not see the device, for example "is setuid"; or NULL */
	const char *obstacle;
	unsigned int scripts; /* number of nested interpreters */
};

/*
 * Checks cmd, which is searched as by execvp(). Returns false if cmd does not exist or cannot be
 * read. In this case, errno is set. r->path is then the file that caused the error, or "" if cmd is
 * in no directory of PATH.
 */
bool reach_look(const char *cmd, struct reach *r);

/* Prints a warning if cmd will not see the device. cmd is searched as by execvp(). */
void reach_warn(const char *cmd);

#endif
