/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The environment in which stock libibverbs and librdmacm find the device. */
#ifndef UTILS_LAUNCHER_ENVIRONMENT_H
#define UTILS_LAUNCHER_ENVIRONMENT_H

#include <stdbool.h>

#include "launcher/parts.h"

/*
 * Sets the variables that lead to the parts. Appends to LD_PRELOAD and RDMAV_DRIVERS, only once.
 * ASAN_OPTIONS and TSAN_OPTIONS get the options that programs with sanitizers need to start. A path
 * that its variable cannot contain gets a link (link.h). Returns false when out of memory, or after
 * complain() if a path cannot be used.
 */
bool environment_set(const struct parts *parts);

/* Prints the variables set by environment_set() as shell commands. */
void environment_print(void);

/* Prints a variable, which is set, as a shell command. */
void environment_print_one(const char *name);

#endif
