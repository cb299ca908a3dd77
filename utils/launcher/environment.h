/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sets the environment in which unmodified versions of libibverbs and librdmacm find the device. */
#ifndef UTILS_LAUNCHER_ENVIRONMENT_H
#define UTILS_LAUNCHER_ENVIRONMENT_H

#include <stdbool.h>

#include "launcher/parts.h"

/*
 * Sets the variables that contain the paths of the parts. Adds items to LD_PRELOAD and
 * RDMAV_DRIVERS, but no item twice. Adds to ASAN_OPTIONS and TSAN_OPTIONS the options without which
 * programs with sanitizers do not start. If a variable cannot contain a path, makes a link to the
 * path (link.h). Returns false if out of memory, or after complain() if a path cannot be used.
 */
bool environment_set(const struct parts *parts);

/* Prints the variables that environment_set() has set, as shell commands. */
void environment_print(void);

/* Prints one variable, which must be set, as a shell command. */
void environment_print_one(const char *name);

#endif
