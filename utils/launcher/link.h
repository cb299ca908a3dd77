/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Symbolic links to directories whose names LD_PRELOAD or RDMAV_DRIVERS cannot contain. There,
 * blanks, colons and semicolons end a name, and cannot be quoted.
 */
#ifndef UTILS_LAUNCHER_LINK_H
#define UTILS_LAUNCHER_LINK_H

#include <limits.h>
#include <stdbool.h>

/*
 * Writes another path of the file to out, without any of the separators. Makes the necessary link,
 * in a directory that only this user can change. The link stays, as running programs may need it.
 * On error, calls complain() and returns false.
 */
bool link_path(const char *path, const char *separators, char out[PATH_MAX]);

#endif
