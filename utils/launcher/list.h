/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "sctpiw list". It shows what programs find, and so it looks where they do: the launcher executes
 * itself once more in the environment that it has set, and reads the files of /sys/class/infiniband
 * as any program does. libibverbs is not needed for that.
 */
#ifndef UTILS_LAUNCHER_LIST_H
#define UTILS_LAUNCHER_LIST_H

#include <stdbool.h>

/* Executes this program anew, in the present environment. Returns the exit status if it cannot. */
int list_run(bool json);

/* Whether this process is the one that list_run() has executed, as its argv[0] tells. */
bool list_is_inside(const char *name);

/* Prints the devices there. Returns the exit status: EXIT_FAILURE if there is none. */
int list_inside(int argc, char **argv);

#endif
