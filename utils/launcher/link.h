/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes symbolic links to directories whose names LD_PRELOAD or RDMAV_DRIVERS cannot contain. In
 * these variables, blanks, colons and semicolons end a name, and cannot be quoted.
 */
#ifndef UTILS_LAUNCHER_LINK_H
#define UTILS_LAUNCHER_LINK_H

#include <limits.h>
#include <stdbool.h>

/*
 * Writes to out another path of the file, without any of the separators. Makes the link that this
 * path needs, in a directory that only this user can change. The link is never removed, since
 * running programs may need it. On error, calls complain() and returns false.
 */
bool link_path(const char *path, const char *separators, char out[PATH_MAX]);

#endif
