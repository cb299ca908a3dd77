/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw list". To show the devices that programs find, the launcher executes itself once more in
 * the environment that it has set, and reads the files of /sys/class/infiniband as any program
 * does. This needs no libibverbs.
 */
#ifndef UTILS_LAUNCHER_LIST_H
#define UTILS_LAUNCHER_LIST_H

#include <stdbool.h>

/* Executes this program anew, in the present environment. Returns the exit status if this fails. */
int list_run(bool json);

/* True if list_run() has executed this process, according to its argv[0]. */
bool list_is_inside(const char *name);

/* Prints the devices. Returns the exit status: EXIT_FAILURE without a device. */
int list_inside(int argc, char **argv);

#endif
