/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw torture": runs a program repeatedly. In each run, a later call of the program fails. */
#ifndef UTILS_LAUNCHER_TORTURE_H
#define UTILS_LAUNCHER_TORTURE_H

#include "launcher/options.h"

#define TORTURE_TIMEOUT 30.0 /* seconds, without --timeout */
#define TORTURE_MAX 1000u    /* maximum runs, without --max */

/*
 * Runs argv, whose environment has the device already, and prints the result of each run. Returns
 * the exit status of the launcher.
 */
int torture_run(const struct options *options, char **argv);

#endif
