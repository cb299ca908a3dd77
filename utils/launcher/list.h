/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw list". It must show the devices that programs find. So the launcher sets the environment,
 * executes itself once more, and then reads the files of /sys/class/infiniband as any program does.
 * This needs no libibverbs.
 */
#ifndef UTILS_LAUNCHER_LIST_H
#define UTILS_LAUNCHER_LIST_H

#include <stdbool.h>

/*
 * Executes this program once more, in the current environment. Returns the exit status on failure.
 */
int list_run(bool json);

/* True if list_run() has executed this process. name: argv[0] of the process. */
bool list_is_inside(const char *name);

/* Prints the devices. Returns the exit status, which is EXIT_FAILURE if there is no device. */
int list_inside(int argc, char **argv);

#endif
