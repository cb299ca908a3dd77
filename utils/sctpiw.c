/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The launcher.
 * - "sctpiw run -- CMD" sets the environment in which stock libibverbs and librdmacm find the
 *   device, and executes CMD.
 * - "sctpiw env" prints that environment.
 * - "sctpiw list" prints the devices that programs find.
 * - "sctpiw stat" and "sctpiw counters" print the activity of programs.
 * - "sctpiw fault" injects faults into their device; "sctpiw torture" runs a program repeatedly
 *   with such faults.
 * - "sctpiw keygen" makes keys.
 * - "sctpiw doctor" reports causes of an absent or slow device.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_known.h"
#include "launcher/doctor.h"
#include "launcher/environment.h"
#include "launcher/fault.h"
#include "launcher/keygen.h"
#include "launcher/launcher.h"
#include "launcher/list.h"
#include "launcher/options.h"
#include "launcher/parts.h"
#include "launcher/reach.h"
#include "launcher/settings.h"
#include "launcher/stat.h"
#include "launcher/torture.h"
#include "launcher/unused.h"
#include "util/printable.h"

/* maximum number of wrong letters in a command for which a suggestion is printed */
#define MISTYPED 2

#define COMPLAINT_LEN 4096

static const char *command; /* the current command, or NULL */
static void (*complaints)(const char *text);

void complain_to(void (*take)(const char *text))
{
	complaints = take;
}

void complain(const char *fmt, ...)
{
	char text[COMPLAINT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printable_make(text);
	if (complaints)
		complaints(text);
	else
		fprintf(stderr, "sctpiw%s%s: %s\n", command ? " " : "", command ? command : "",
			text);
}

static void usage(FILE *out)
{
	fputs("Usage: sctpiw run [OPTION]... [--] CMD [ARG]...\n"
	      "       sctpiw env [OPTION]...\n"
	      "       sctpiw list [OPTION]...\n"
	      "       sctpiw doctor [OPTION]... [HOST[:PORT]] [-- CMD [ARG]...]\n"
	      "       sctpiw stat [OPTION]... [PID]\n"
	      "       sctpiw counters [OPTION]... [PID]\n"
	      "       sctpiw fault PID RULES | PID list | PID remove N|all\n"
	      "       sctpiw torture [OPTION]... [--] CMD [ARG]...\n"
	      "       sctpiw keygen [FILE]\n"
	      "       sctpiw help [COMMAND] | version\n"
	      "\n"
	      "A software RDMA NIC: iWARP over SCTP, for unmodified programs of libibverbs and librdmacm.\n"
	      "\n"
	      "  run       run CMD with the device sctpiw0; see sctpiw run --help\n"
	      "  env       print the environment for this device as shell commands: eval \"$(sctpiw env)\"\n"
	      "  list      print the device, its port and its GIDs\n"
	      "  stat      print statistics of processes: queue pairs, associations, ...\n"
	      "  counters  print the counters of processes with the device\n"
	      "  fault     add fault rules to the device of a process\n"
	      "  torture   run CMD again and again; in each run another call fails\n"
	      "  keygen    make a key for --key, which encrypts all packets\n"
	      "  doctor    find the reason why the device is absent, unreachable or slow\n"
	      "\n"
	      "See also the manual page sctpiw(1).\n",
	      out);
}

/*
 * Parses the options of a command, and sets the environment. Returns the exit status. If the
 * command must continue, returns -1, and optind is the index of the first word after the options.
 */
static int prepare(const struct options_of *of, int argc, char **argv, struct options *options)
{
	struct parts parts;
	int status;

	command = of->command;
	status = options_take(of, argc, argv, options);
	if (status)
		return status;
	if (options->help) {
		options_help(of);
		return EXIT_SUCCESS;
	}
	if (!of->words && optind < argc) {
		complain("takes no argument: take %s away", argv[optind]);
		return EXIT_USAGE;
	}
	if (!of->tells && (!parts_find(&parts, options->provider) || !environment_set(&parts)))
		return EXIT_BROKEN;
	return -1;
}

/* Prints why CMD could not be run, and a remedy. Returns the exit status. */
static int complain_not_run(const char *cmd, int error)
{
	const char *more = "";

	if (error == ENOENT && !strchr(cmd, '/'))
		more = " in the directories of PATH";
	else if (error == ENOENT && !access(cmd, F_OK))
		more = ": it is there, but not the interpreter or dynamic loader that it names";
	else if (error == EACCES)
		more = ": it has to be a program, with the right to execute it (chmod +x)";
	complain("%s: %s%s", cmd, strerror(error), more);
	return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int run(int argc, char **argv)
{
	struct options options;
	int status = prepare(&options_of_run, argc, argv, &options);

	if (status >= 0)
		return status;
	if (optind >= argc) {
		complain("no command given: sctpiw run [OPTION]... -- CMD, see --help");
		return EXIT_USAGE;
	}
	if (!settings_make_files() || !settings_choose_seed())
		return EXIT_USAGE;
	argv += optind;
	reach_warn(argv[0]);
	unused_begin();
	execvp(argv[0], argv);
	status = complain_not_run(argv[0], errno);
	unused_forget();
	return status;
}

static int torture(int argc, char **argv)
{
	struct options options;
	int status = prepare(&options_of_torture, argc, argv, &options);

	if (status >= 0)
		return status;
	if (optind >= argc) {
		complain("no command given: sctpiw torture [OPTION]... -- CMD, see --help");
		return EXIT_USAGE;
	}
	if (!settings_make_files())
		return EXIT_USAGE;
	return torture_run(&options, argv + optind);
}

static int print_environment(int argc, char **argv)
{
	struct options options;
	int status = prepare(&options_of_env, argc, argv, &options);

	if (status >= 0)
		return status;
	if (!settings_make_files())
		return EXIT_USAGE;
	environment_print();
	settings_print();
	return EXIT_SUCCESS;
}

static int list(int argc, char **argv)
{
	struct options options;
	int status = prepare(&options_of_list, argc, argv, &options);

	return status >= 0 ? status : list_run(options.json);
}

static int doctor(int argc, char **argv)
{
	struct options options;
	int status = prepare(&options_of_doctor, argc, argv, &options);

	return status >= 0 ? status : doctor_run(&options, argc, argv);
}

/* Parses the options of a command that queries processes. Returns the same as prepare(). */
static int prepare_to_ask(const struct options_of *of, int argc, char **argv,
			  struct options *options)
{
	int status;

	command = of->command;
	status = options_take(of, argc, argv, options);
	if (!status && options->help)
		options_help(of);
	return status || options->help ? status : -1;
}

static int stat_command(int argc, char **argv)
{
	struct options o;
	int status = prepare_to_ask(&options_of_stat, argc, argv, &o);

	if (status >= 0)
		return status;
	return o.watch > 0 ? watch_run(o.pid, o.json, o.watch) : stat_run(o.pid, o.json);
}

static int counters_command(int argc, char **argv)
{
	struct options o;
	int status = prepare_to_ask(&options_of_counters, argc, argv, &o);

	return status >= 0 ? status : counters_run(o.pid, o.json);
}

static int fault_command(int argc, char **argv)
{
	struct options o;
	int status = prepare_to_ask(&options_of_fault, argc, argv, &o);

	if (o.help)
		fault_help();
	return status >= 0 ? status : fault_run(argv + optind);
}

static int keygen_command(int argc, char **argv)
{
	struct options o;
	int status = prepare_to_ask(&options_of_keygen, argc, argv, &o);

	return status >= 0 ? status : keygen_run(argv + optind);
}

static int help(int argc, char **argv);

static int version(int argc, char **argv)
{
	if (argc > 1) {
		complain("version takes no argument: take %s away", argv[1]);
		return EXIT_USAGE;
	}
	puts("sctpiw " SCTPIW_VERSION);
	return EXIT_SUCCESS;
}

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
	/* options and help of the command; NULL: it has no help of its own */
	const struct options_of *of;
} commands[] = {
	{ "run", run, &options_of_run },
	{ "env", print_environment, &options_of_env },
	{ "list", list, &options_of_list },
	{ "doctor", doctor, &options_of_doctor },
	{ "stat", stat_command, &options_of_stat },
	{ "counters", counters_command, &options_of_counters },
	{ "fault", fault_command, &options_of_fault },
	{ "torture", torture, &options_of_torture },
	{ "keygen", keygen_command, &options_of_keygen },
	{ "help", help, NULL },
	{ "version", version, NULL },
	{ "--help", help, NULL },
	{ "-h", help, NULL },
	{ "--version", version, NULL },
	{ "-V", version, NULL },
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Returns the index of the command in the table. On error, calls complain() and returns -1. */
static int find_command(const char *word)
{
	const char *names[N_COMMANDS], *nearest;
	struct reach program;

	for (int i = 0; i < N_COMMANDS; i++) {
		names[i] = commands[i].name;
		if (!strcmp(word, names[i]))
			return i;
	}
	nearest = config_known_nearest(word, names, N_COMMANDS, MISTYPED);
	if (nearest)
		complain("no such command: %s; did you mean %s; 'sctpiw --help' lists all", word,
			 nearest);
	else if (reach_look(word, &program))
		complain("no such command: %s; did you mean sctpiw run -- %s; 'sctpiw --help' "
			 "lists all",
			 word, word);
	else
		complain("no such command: %s; 'sctpiw --help' lists all", word);
	return -1;
}

static int help(int argc, char **argv)
{
	int i = argc > 1 ? find_command(argv[1]) : -1;

	if (argc > 1 && i < 0)
		return EXIT_USAGE;
	if (argc > 2) {
		complain("help takes one command: take %s away", argv[2]);
		return EXIT_USAGE;
	}
	if (i >= 0 && commands[i].of)
		options_help(commands[i].of);
	else
		usage(stdout);
	if (i >= 0 && commands[i].of == &options_of_fault)
		fault_help();
	return EXIT_SUCCESS;
}

/* Flushes the output, and returns the exit status. A failed write is an error. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		complain("standard output: %s", strerror(errno));
		return EXIT_BROKEN;
	}
	return status;
}

int main(int argc, char **argv)
{
	int i;

	if (list_is_inside(argv[0])) {
		command = options_of_list.command;
		return finish(list_inside(argc, argv));
	}
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	i = find_command(argv[1]);
	return i < 0 ? EXIT_USAGE : finish(commands[i].main(argc - 1, argv + 1));
}
