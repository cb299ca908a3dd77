/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw torture": runs a program repeatedly. In each run, another call of the program fails. */
#ifndef UTILS_LAUNCHER_TORTURE_H
#define UTILS_LAUNCHER_TORTURE_H

#include "launcher/options.h"

#define TORTURE_TIMEOUT 30.0 /* default of --timeout in seconds */
#define TORTURE_MAX 1000u    /* default of --max, the maximum number of runs */

/*
 * Runs the program argv repeatedly, and prints the result of each run. The environment must contain
 * the device already. Returns the exit status of the launcher.
 */
int torture_run(const struct options *options, char **argv);

#endif
