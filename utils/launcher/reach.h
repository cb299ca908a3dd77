/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Detects programs that cannot use the device. They are run all the same. */
#ifndef UTILS_LAUNCHER_REACH_H
#define UTILS_LAUNCHER_REACH_H

#include <limits.h>
#include <stdbool.h>

/* The program that is executed. */
struct reach {
	char path[PATH_MAX];   /* the program; for a script, its interpreter */
	char loader[PATH_MAX]; /* the program's dynamic loader, or "" */
	const char *obstacle;  /* why it will not see the device, such as "is setuid"; or NULL */
	unsigned int scripts;  /* number of nested interpreters */
};

/*
 * Checks cmd, which is found as by execvp(). Returns false if cmd does not exist or cannot be read:
 * errno is set, and path is the file in question, or "" if cmd is in no directory of PATH.
 */
bool reach_look(const char *cmd, struct reach *r);

/* Prints a warning if cmd, found as by execvp(), will not see the device. */
void reach_warn(const char *cmd);

#endif
