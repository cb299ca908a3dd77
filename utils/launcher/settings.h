/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's settings on the launcher's command line. CMD receives them as environment variables,
 * one per setting. config/config.h defines the names of options and variables, and checks the
 * values.
 */
#ifndef UTILS_LAUNCHER_SETTINGS_H
#define UTILS_LAUNCHER_SETTINGS_H

#include <getopt.h>
#include <stdbool.h>

#include "config/config.h"

/*
 * Writes the list of the settings' options for getopt_long(), with the element that ends the list.
 * `first` is the option value of the first setting.
 */
void settings_options(struct option out[CONFIG_SETTINGS + 1], int first);

/*
 * Sets setting number i of the table. For a flag, NULL as value means yes. If the value is invalid,
 * calls complain() and returns false.
 */
bool settings_take(int i, const char *value);

/* Sets the file of --config. On error, calls complain() and returns false. */
bool settings_take_file(const char *path);

/* Prints a warning for each environment variable whose name is a misspelt variable of sctpiw. */
void settings_warn(void);

/*
 * Checks all settings together, if the command line contains any. Errors are then printed before
 * CMD opens the device. On error, calls complain() and returns false.
 */
bool settings_check(void);

/* Collects all settings and their origins. On error, sets *why and returns false. */
bool settings_collect(struct config_builder *b, struct config_error *why);

/*
 * If there are fault rules, but no seed in the settings, chooses one seed for all processes of CMD.
 * The user can then repeat all faults with one number. Returns false if out of memory.
 */
bool settings_choose_seed(void);

/*
 * Empties the files of --capture and --trace, since processes append to them. Also removes the
 * older files of a capture with --capture-size. On error, calls complain() and returns false.
 */
bool settings_make_files(void);

/* Prints the variables that the command line has set, as shell commands. */
void settings_print(void);

#endif
