/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs that the device cannot be brought into. They are run all the same. */
#ifndef UTILS_LAUNCHER_REACH_H
#define UTILS_LAUNCHER_REACH_H

#include <limits.h>
#include <stdbool.h>

/* What is really run. */
struct reach {
	char path[PATH_MAX];   /* the program; of a script, that of its interpreter */
	char loader[PATH_MAX]; /* the dynamic loader that it names, or "" */
	const char *obstacle;  /* why it will not see the device, as "is setuid"; NULL: it will */
	unsigned int scripts;  /* how many interpreters lead to it */
};

/*
 * Looks at cmd, which is looked for as execvp() does. False if it is not there, or cannot be read: errno says why, and
 * path what was looked at, or it is "" if cmd is in no directory of PATH.
 */
bool reach_look(const char *cmd, struct reach *r);

/* Prints a warning if cmd, which is looked for as execvp() does, will not see the device. */
void reach_warn(const char *cmd);

#endif
