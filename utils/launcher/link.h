/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Symbolic links to directories whose names cannot stand in LD_PRELOAD or RDMAV_DRIVERS, which end
 * a name at blanks, colons and semicolons, and know no way to quote them.
 */
#ifndef UTILS_LAUNCHER_LINK_H
#define UTILS_LAUNCHER_LINK_H

#include <limits.h>
#include <stdbool.h>

/*
 * Writes another path of the file to out, which has none of the separators in it. The link that it
 * leads through is made if it is not there yet, and stays: programs that run may need it. It stands
 * in a directory that only this user can change. False after a line on standard error.
 */
bool link_path(const char *path, const char *separators, char out[PATH_MAX]);

#endif
