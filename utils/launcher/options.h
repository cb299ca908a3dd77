/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The options of the launcher's commands, and their help. All commands that set the environment
 * take the same options; those of the settings are options of their own names (settings.h).
 */
#ifndef UTILS_LAUNCHER_OPTIONS_H
#define UTILS_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct options {
	const char *provider; /* the file of --provider, or NULL */
	bool help;	      /* somebody wants to read the help, and nothing else */
	bool json;	      /* --json was given */
	bool listen;	      /* --listen was given */
	bool verbose;	      /* --verbose was given */
	double timeout;	      /* the seconds of --timeout */
	unsigned int max;     /* the number of --max */
	const char *error;    /* the errno of --error */
	double watch;	      /* the seconds of --watch; 0: it was not given */
	pid_t pid;	      /* the process that was named; 0: none was */
};

/* What a command takes, for its help and its errors. */
struct options_of {
	const char *command;  /* its name */
	const char *synopsis; /* what stands behind the options in its first line */
	const char *what;     /* what it does, in lines */
	const char *json;     /* it takes --json, which prints an array of these; or NULL */
	bool diagnoses;	      /* the command takes --listen and --verbose */
	bool watch;	      /* it takes --watch */
	bool tortures;	      /* it takes --timeout, --max and --error */
	bool asks;	      /* it asks processes: it takes the number of one, and no settings */
	bool words;	      /* it takes words behind its options */
	bool tells;	      /* what is wrong with the environment is among what it prints */
	const char *status;   /* its exit statuses, for its help */
};

extern const struct options_of options_of_run, options_of_env, options_of_list, options_of_doctor,
	options_of_stat, options_of_counters, options_of_fault, options_of_torture,
	options_of_keygen;

/*
 * Takes the options of a command; argv[0] is its name. What is behind them begins at optind. The
 * settings are put into the environment, and checked. Returns 0, or the exit status after a line on
 * standard error.
 */
int options_take(const struct options_of *of, int argc, char **argv, struct options *out);

/* Prints the help of a command. */
void options_help(const struct options_of *of);

#endif
