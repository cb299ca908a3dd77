/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of this installation that a program needs to see the device. The build tree has the
 * libraries in lib/, an installation in LIBDIR/sctpiw/. They are looked for relative to the
 * launcher itself, so that a prefix can be moved.
 */
#ifndef UTILS_LAUNCHER_PARTS_H
#define UTILS_LAUNCHER_PARTS_H

#include <limits.h>
#include <stdbool.h>

/* Absolute paths without links. */
struct parts {
	char preload[PATH_MAX];	 /* libsctpiw-preload.so */
	char provider[PATH_MAX]; /* libsctpiw-rdmav34.so, or what the user has named */
	char sysroot[PATH_MAX];	 /* the tree of the device's files, beside the preload library */
};

/*
 * Finds the parts. provider: the path of another provider to use, or NULL. False after a line on
 * standard error if one of them is not there.
 */
bool parts_find(struct parts *parts, const char *provider);

/*
 * Writes the path of this very program, without links: where /proc/self/exe leads, or without /proc the path
 * by which the program was executed. False after a line on standard error.
 */
bool parts_self(char self[PATH_MAX]);

/*
 * The file of a scenario of faults that has this name (utils/faults), if the name is not one of a file in this directory.
 * False: there is none.
 */
bool parts_scenario(char path[PATH_MAX], const char *name);

#endif
