/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The options of the launcher's commands, and their help. All commands that set the environment
 * accept the same options. Each setting is an option of its own name (settings.h).
 */
#ifndef UTILS_LAUNCHER_OPTIONS_H
#define UTILS_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct options {
	const char *provider; /* the file of --provider, or NULL */
	bool help;	      /* --help was given: print the help only */
	bool json;
	bool listen;
	bool verbose;
	double timeout; /* seconds */
	unsigned int max;
	const char *error; /* an errno */
	double watch;	   /* the seconds of --watch; 0: not given */
	pid_t pid;	   /* the process on the command line; 0: none */
};

/* The options that a command accepts, for its help and its errors. */
struct options_of {
	const char *command;
	const char *synopsis; /* the words after the options in the first line of its help */
	const char *what;     /* its effect, in lines */
	const char *json;     /* accepts --json, which prints an array of these; or NULL */
	bool diagnoses;	      /* accepts --listen and --verbose */
	bool watch;	      /* accepts --watch */
	bool tortures;	      /* accepts --timeout, --max and --error */
	bool asks;	      /* queries processes: accepts a process number, and no settings */
	bool words;	      /* accepts words after its options */
	bool tells;	      /* reports errors of the environment itself */
	const char *status;   /* its exit statuses, for its help */
};

extern const struct options_of options_of_run, options_of_env, options_of_list, options_of_doctor,
	options_of_stat, options_of_counters, options_of_fault, options_of_torture,
	options_of_keygen;

/*
 * Parses the options of a command; argv[0] is its name. The words after the options begin at
 * optind. Checks the settings and puts them into the environment. Returns 0. On error, calls
 * complain() and returns the exit status.
 */
int options_take(const struct options_of *of, int argc, char **argv, struct options *out);

void options_help(const struct options_of *of);

#endif
