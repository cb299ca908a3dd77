/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The settings of the device that the launcher's command line gives. They go to CMD as variables of
 * the environment, one for each setting. The names of options, variables and the checks of values
 * are those of config/config.h.
 */
#ifndef UTILS_LAUNCHER_SETTINGS_H
#define UTILS_LAUNCHER_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>

#include "config/config.h"

/*
 * Writes the options of the settings for getopt_long(), and the end of the list; their values count
 * from first.
 */
void settings_options(struct option out[CONFIG_SETTINGS + 1], int first);

/*
 * Takes the i-th setting of the table; value may be NULL for a flag, and means yes. False after a
 * line on standard error if the value is not understood.
 */
bool settings_take(int i, const char *value);

/* Takes --config FILE. False after a line on standard error. */
bool settings_take_file(const char *path);

/* Warns of variables of the environment whose names are nearly those of ours: a line for each. */
void settings_warn(void);

/*
 * Checks all settings together, if the command line gives any: the user is told of what is wrong
 * here at once, and not when CMD opens the device. False after a line on standard error.
 */
bool settings_check(void);

/* Collects all settings, with where each comes from. False: why says what is wrong. */
bool settings_collect(struct config_builder *b, struct config_error *why);

/*
 * If there are rules of faults, and no setting gives their seed: chooses one for all processes that CMD begins, so
 * that one number repeats them all. False: no memory.
 */
bool settings_choose_seed(void);

/*
 * Makes the files of --capture and --trace empty, since processes append to them, and removes the
 * older files of a capture with --capture-size. False after a line on standard error.
 */
bool settings_make_files(void);

/* Prints the variables that the command line has set as shell commands. */
void settings_print(void);

#endif
