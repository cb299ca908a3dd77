/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the files of this installation without which a program does not see the device. The
 * libraries are in lib/ of the build tree, or in LIBDIR/sctpiw/ of an installation. Their paths are
 * relative to the launcher itself, so that an installation can be moved.
 */
#ifndef UTILS_LAUNCHER_PARTS_H
#define UTILS_LAUNCHER_PARTS_H

#include <limits.h>
#include <stdbool.h>

/* Absolute paths that contain no links. */
struct parts {
	char preload[PATH_MAX];	 /* path of libsctpiw-preload.so */
	char provider[PATH_MAX]; /* path of libsctpiw-rdmav34.so, or of the user's choice */
	/* the tree with the device's files, in the same directory as the preload library */
	char sysroot[PATH_MAX];
};

/*
 * Finds the parts. provider: the path of another provider, or NULL. If a part is missing, calls
 * complain() and returns false.
 */
bool parts_find(struct parts *parts, const char *provider);

/*
 * Writes the path of this program, without links. It is the target of /proc/self/exe. Without
 * /proc, it is the path by which the program was executed. On error, calls complain() and returns
 * false.
 */
bool parts_self(char self[PATH_MAX]);

/*
 * Writes the path of the fault scenario with this name (utils/faults). Returns false if there is no
 * such scenario, or if the working directory contains a file with this name.
 */
bool parts_scenario(char path[PATH_MAX], const char *name);

#endif
