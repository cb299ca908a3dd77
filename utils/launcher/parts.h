/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of this installation that a program needs to see the device. The build tree has the
 * libraries in lib/, an installation in LIBDIR/sctpiw/. They are searched relative to the launcher
 * itself, so that a prefix can be moved.
 */
#ifndef UTILS_LAUNCHER_PARTS_H
#define UTILS_LAUNCHER_PARTS_H

#include <limits.h>
#include <stdbool.h>

/* Absolute paths without links. */
struct parts {
	char preload[PATH_MAX];	 /* libsctpiw-preload.so */
	char provider[PATH_MAX]; /* libsctpiw-rdmav34.so, or the user's choice */
	char sysroot[PATH_MAX];	 /* the tree of the device's files, beside the preload library */
};

/*
 * Finds the parts. provider: the path of another provider to use, or NULL. If a part is missing,
 * calls complain() and returns false.
 */
bool parts_find(struct parts *parts, const char *provider);

/*
 * Writes the path of this program, without links: the target of /proc/self/exe, or without /proc
 * the path by which the program was executed. On error, calls complain() and returns false.
 */
bool parts_self(char self[PATH_MAX]);

/*
 * Writes the path of the fault scenario (utils/faults) of this name. Returns false if no scenario
 * has this name, or a file of this name exists in the working directory.
 */
bool parts_scenario(char path[PATH_MAX], const char *name);

#endif
