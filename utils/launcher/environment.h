/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The environment in which stock libibverbs and librdmacm find the device. */
#ifndef UTILS_LAUNCHER_ENVIRONMENT_H
#define UTILS_LAUNCHER_ENVIRONMENT_H

#include <stdbool.h>

#include "launcher/parts.h"

/*
 * Sets the variables that lead to the parts. LD_PRELOAD and RDMAV_DRIVERS are appended to, and only
 * once; ASAN_OPTIONS and TSAN_OPTIONS get what lets programs with sanitizers start. A path that
 * cannot stand in its variable gets a link (link.h). False after a line on standard error if it
 * cannot, or without memory.
 */
bool environment_set(const struct parts *parts);

/* Prints the variables that environment_set() has set as shell commands. */
void environment_print(void);

/* Prints a variable, which is set, as a shell command. */
void environment_print_one(const char *name);

#endif
