/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The options of the launcher's commands, and their help. All commands that set the environment
 * accept the same options. For each setting there is an option with the same name (settings.h).
 */
#ifndef UTILS_LAUNCHER_OPTIONS_H
#define UTILS_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct options {
	const char *provider; /* argument of --provider, or NULL */
	bool help;	      /* --help was given, so only the help must be printed */
	bool json;
	bool listen;
	bool verbose;
	double timeout; /* argument of --timeout in seconds */
	unsigned int max;
	const char *error; /* argument of --error: the name of an errno */
	double watch;	   /* argument of --watch in seconds; 0: not given */
	pid_t pid;	   /* the process number on the command line; 0: none */
};

/* The options that a command accepts. The command's help and error messages depend on it. */
struct options_of {
	const char *command;
	const char *synopsis; /* the words after the options in the first line of the help */
	const char *what;     /* description of the command, in lines */
	/* the elements of the array that --json prints, in words; NULL: no --json */
	const char *json;
	bool diagnoses; /* accepts --listen and --verbose */
	bool watch;	/* accepts --watch */
	bool tortures;	/* accepts --timeout, --max and --error */
	/* queries processes: the command accepts a process number, but no settings */
	bool asks;
	bool words;	    /* the command accepts words after its options */
	bool tells;	    /* the command itself reports errors of the environment */
	const char *status; /* description of the exit statuses for the help */
};

extern const struct options_of options_of_run, options_of_env, options_of_list, options_of_doctor,
	options_of_stat, options_of_counters, options_of_fault, options_of_torture,
	options_of_keygen;

/*
 * Parses the options of a command, whose name is argv[0]. optind is then the index of the first
 * word after the options. Checks the settings, and puts them into the environment. Returns 0. On
 * error, calls complain() and returns the exit status.
 */
int options_take(const struct options_of *of, int argc, char **argv, struct options *out);

void options_help(const struct options_of *of);

#endif
