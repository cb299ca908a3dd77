/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's settings on the launcher's command line. CMD gets them as environment variables, one
 * for each setting. config/config.h defines the names of options and variables, and checks the
 * values.
 */
#ifndef UTILS_LAUNCHER_SETTINGS_H
#define UTILS_LAUNCHER_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>

#include "config/config.h"

/*
 * Writes the options of the settings for getopt_long(), and the end of the list. Their values begin
 * with first.
 */
void settings_options(struct option out[CONFIG_SETTINGS + 1], int first);

/*
 * Sets the i-th setting of the table. For a flag, value may be NULL, which means yes. If the value
 * is invalid, calls complain() and returns false.
 */
bool settings_take(int i, const char *value);

/* Sets --config FILE. On error, calls complain() and returns false. */
bool settings_take_file(const char *path);

/* Prints a warning for each environment variable with a misspelt name of sctpiw's. */
void settings_warn(void);

/*
 * Checks all settings together, if the command line has any, so that errors are printed before CMD
 * opens the device. On error, calls complain() and returns false.
 */
bool settings_check(void);

/* Collects all settings and their origins. On error, fills in why and returns false. */
bool settings_collect(struct config_builder *b, struct config_error *why);

/*
 * If fault rules exist, but no setting for their seed, chooses a seed for all processes of CMD, so
 * that one number repeats all faults. Returns false when out of memory.
 */
bool settings_choose_seed(void);

/*
 * Truncates the files of --capture and --trace, since processes append to them, and removes the
 * older files of a capture with --capture-size. On error, calls complain() and returns false.
 */
bool settings_make_files(void);

/* Prints the variables set by the command line as shell commands. */
void settings_print(void);

#endif
