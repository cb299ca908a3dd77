/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_known.h"
#include "faults/fault_rule.h"
#include "launcher/launcher.h"
#include "launcher/settings.h"
#include "launcher/torture.h"

const struct options_of options_of_run = {
	.command = "run",
	.synopsis = " [--] CMD [ARG]...",
	.what = "Run CMD and its children with the RDMA device sctpiw0.\n",
	.words = true,
	.status = "Exit status: CMD's own; 2 wrong usage, 125 this installation is incomplete,\n"
		  "126 CMD cannot be executed, 127 CMD is not found.\n",
};

const struct options_of options_of_env = {
	.command = "env",
	.synopsis = "",
	.what = "Print the environment that gives programs the RDMA device sctpiw0, as shell commands:\n"
		"eval \"$(sctpiw env)\"\n",
	.status = "Exit status: 0 success, 2 wrong usage, 125 this installation is incomplete.\n",
};

const struct options_of options_of_list = {
	.command = "list",
	.synopsis = "",
	.what = "Print the RDMA devices that a program would find under \"sctpiw run\", their ports, and the\n"
		"GIDs of these with their network interfaces: a line for each.\n",
	.json = "devices",
	.status = "Exit status: 0 success, 2 wrong usage, 125 this installation is incomplete,\n"
		  "1 there is no device.\n",
};

const struct options_of options_of_doctor = {
	.command = "doctor",
	.synopsis = " [HOST[:PORT]] [-- CMD [ARG]...]\n"
		    "       sctpiw doctor [OPTION]... --listen [PORT]",
	.what = "Look at all that makes the device absent, unreachable or slow: a line each, which begins with\n"
		"ok, warning or FAILURE and ends with the remedy. HOST: the way there, and whether a program of\n"
		"sctpiw listens at its UDP port (7471). Where \"sctpiw doctor --listen PORT\" runs instead, losses,\n"
		"path MTU and rate are measured. CMD: whether the device can be brought into it.\n",
	.json = "lines",
	.diagnoses = true,
	.words = true,
	.tells = true,
	.status = "Exit status: 0 nothing worse than a warning, 1 a failure, 2 wrong usage.\n",
};

const struct options_of options_of_stat = {
	.command = "stat",
	.synopsis = " [PID]",
	.what = "Print the statistics of this user's processes that have the device, or only of the process\n"
		"PID: totals, queue pairs, associations, completion queues and memory regions.\n",
	.json = "processes",
	.status =
		"Exit status: 0 success, 1 there is no such process, it is another user's, it does not have\n"
		"the device or does not answer, 2 wrong usage, 125 standard output cannot be written.\n",
	.asks = true,
	.watch = true,
};

const struct options_of options_of_counters = {
	.command = "counters",
	.synopsis = " [PID]",
	.what = "Print the counters of the processes of this user that have the device, or only those of\n"
		"the process PID: those that it finds in counters and hw_counters of\n"
		"/sys/class/infiniband/sctpiw0/ports/1.\n",
	.json = "processes",
	.status =
		"Exit status: 0 success, 1 there is no such process, it is another user's, it does not have\n"
		"the device or does not answer, 2 wrong usage, 125 standard output cannot be written.\n",
	.asks = true,
};

const struct options_of options_of_fault = {
	.command = "fault",
	.synopsis = " PID RULES | PID list | PID remove N|all",
	.what = "Add fault RULES to the device of a process, list its rules with the number of times that\n"
		"each has fired, or remove one or all of them.\n",
	.status =
		"Exit status: 0 success, 1 there is no such process or rule, the process is another user's,\n"
		"it does not have the device or does not answer, 2 wrong usage or a rule that is not\n"
		"understood, 125 standard output cannot be written.\n",
	.asks = true,
	.words = true,
};

const struct options_of options_of_torture = {
	.command = "torture",
	.synopsis = " [--] CMD [ARG]...",
	.what = "Run CMD with the RDMA device sctpiw0 again and again: each time one more of its calls of verbs,\n"
		"and then of rdma_cm, fails, until a run makes no call that has not failed. Print what became\n"
		"of each run, and which rule of --faults makes it again. CMD has to end with status 0 if\n"
		"nothing fails.\n",
	.json = "runs",
	.words = true,
	.tortures = true,
	.status =
		"Exit status: 0 no run crashed or hung, 1 at least one did, 2 wrong usage, 125 CMD fails without\n"
		"a fault, or does not use the device, or this installation is incomplete, 126 CMD cannot be executed, 127 CMD is not found.\n",
};

const struct options_of options_of_keygen = {
	.command = "keygen",
	.synopsis = " [FILE]",
	.what = "Make a key for \"sctpiw run --key FILE\", and write it to a new FILE that only its owner may\n"
		"read, or to standard output. Hosts with this key in their files communicate, encrypted.\n",
	.status =
		"Exit status: 0 success, 1 FILE is there already or cannot be written, 2 wrong usage,\n"
		"125 standard output cannot be written.\n",
	.asks = true,
	.words = true,
};

/*
 * getopt_long()'s values for options without a letter. After these come the values for the
 * settings, in the order of their table.
 */
enum {
	OPT_PROVIDER = 256,
	OPT_CONFIG,
	OPT_JSON,
	OPT_LISTEN,
	OPT_VERBOSE,
	OPT_WATCH,
	OPT_TIMEOUT,
	OPT_MAX,
	OPT_ERROR,
	OPT_SETTINGS
};

static const struct option own_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "provider", required_argument, NULL, OPT_PROVIDER },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "listen", no_argument, NULL, OPT_LISTEN },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "watch", optional_argument, NULL, OPT_WATCH },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "max", required_argument, NULL, OPT_MAX },
	{ "error", required_argument, NULL, OPT_ERROR },
};
enum { OWN_OPTIONS = sizeof(own_options) / sizeof(own_options[0]) };
/* maximum number of wrong letters in the name of an option for which a suggestion is printed */
#define MISTYPED 2
enum { ALL_OPTIONS = OWN_OPTIONS + CONFIG_SETTINGS };

#define MAX_MOST 1000000u /* maximum number of runs */
#define WATCH_LEAST 0.1	  /* minimum interval in seconds */
#define WATCH_MOST 86400.0
#define WATCH_DEFAULT 1.0
/*
 * A number after --watch, up to this value, may be the seconds or a process number. The launcher
 * then requests a clear form.
 */
#define WATCH_UNCLEAR 60.0

static void help_of_asking(const struct options_of *of)
{
	if (of->watch)
		fputs("  --watch[=SECONDS]    print rates every so many seconds, until interrupted or until\n"
		      "                       process PID has gone; 1 second if they are not given\n",
		      stdout);
	printf("  -h, --help           this text\n\n%s", of->status);
}

void options_help(const struct options_of *of)
{
	const struct config_name *name;

	printf("Usage: sctpiw %s [OPTION]...%s\n\n%s\n", of->command, of->synopsis, of->what);
	if (of->json)
		printf("  --json               print JSON instead: an array of %s\n", of->json);
	if (of->diagnoses)
		fputs("  --listen             answer the probes of other hosts at UDP port PORT, until SIGINT\n"
		      "  --verbose            list the settings that have their defaults, too\n",
		      stdout);
	if (of->tortures)
		fputs("  --timeout SECONDS    a run that takes longer hangs, and is killed; 30 if they are not given\n"
		      "  --max N              at most so many runs of each kind of calls; 1000 if it is not given\n"
		      "  --error ERRNO        the error of the call that fails, such as EIO; else ENOMEM\n",
		      stdout);
	if (of->asks) {
		help_of_asking(of);
		return;
	}
	fputs("  --provider FILE      the provider to load instead of this installation's; its name\n"
	      "                       ends in " PROVIDER_SUFFIX "\n"
	      "  --config FILE        settings from this file, instead of ~/.config/sctpiw.conf or\n"
	      "                       /etc/sctpiw.conf\n"
	      "  -h, --help           this text\n"
	      "\n"
	      "Settings; they stand above the environment, and that above the file. A value in\n"
	      "brackets follows a =, or is left out, which means yes: --share=no\n"
	      "\n",
	      stdout);
	for (unsigned int i = 0; (name = config_names(i)); i++) {
		int n = printf("  --%s%s", name->name, name->flag ? "[=VALUE]" : " VALUE");

		printf("%*s%s:\n%23s%s; else %s\n", n > 21 ? 2 : 23 - n, "", name->help, "",
		       name->allowed, name->dflt);
	}
	putchar('\n');
	if (!of->tells)
		fputs("LD_PRELOAD and RDMAV_DRIVERS are appended to; SCTPIW_PROVIDER, SCTPIW_SYSROOT and a variable\n"
		      "for each setting are set. Out of reach, with a warning: setuid and setgid programs,\n"
		      "statically linked ones, and those of another libc or architecture.\n"
		      "\n",
		      stdout);
	fputs(of->status, stdout);
}

/* ---- errors ---- */

/* Prints an error about an option that does not exist, or about an ambiguous abbreviation. */
static void complain_unknown(const char *word, const struct option *options)
{
	const char *names[ALL_OPTIONS];
	char name[CONFIG_VARIABLE_LEN];
	size_t n = 0, len = strcspn(word + 2, "=");
	const char *nearest;
	unsigned int fit = 0;

	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	for (const struct option *o = options; o->name; o++) {
		fit += !strncmp(o->name, name, strlen(name));
		names[n++] = o->name;
	}
	nearest = config_known_nearest(name, names, n, MISTYPED);
	if (fit > 1)
		complain("--%s is not clear: %u options begin so; write the whole name", name, fit);
	else
		complain("there is no option --%s%s%s; --help lists all", name,
			 nearest ? "; did you mean --" : "", nearest ? nearest : "");
}

/* Prints an error after getopt_long() has returned '?'. word: the last argument it parsed. */
static int refuse(const char *word, const struct option *options)
{
	if (optopt && optopt < OPT_PROVIDER && strncmp(word, "--", 2))
		complain("there is no option -%c; --help lists all", optopt);
	else if (optopt)
		complain("--%.*s takes no value: take away the text after its name",
			 (int)strcspn(word + 2, "="), word + 2);
	else
		complain_unknown(word, options);
	return EXIT_USAGE;
}

/*
 * True if the value of an option looks like another option and is a separate word. The value is
 * then missing.
 */
static bool is_forgotten(char **argv, const char *value)
{
	return value && value == argv[optind - 1] && !strncmp(value, "--", 2);
}

static int refuse_forgotten(const char *option)
{
	complain("%s needs a value; one that begins with -- is written %s=VALUE", option, option);
	return EXIT_USAGE;
}

/*
 * If the word after a flag could be the value of the flag, calls complain() and returns false.
 * getopt_long() does not treat the word as the value, but as CMD.
 */
static bool flag_is_clear(int setting, int argc, char **argv)
{
	const char *name = config_names((unsigned int)setting)->name;
	struct config_builder b;
	struct config_error unused;

	config_init(&b);
	if (optind >= argc || !config_set(&b, "", name, argv[optind], &unused))
		return true;
	complain("--%s %s is not clear: write --%s=%s, or --%s -- %s for a program of that name",
		 name, argv[optind], name, argv[optind], name, argv[optind]);
	return false;
}

/* Parses a number that consists of digits and at most one decimal point. */
static bool take_seconds(const char *text, double *seconds)
{
	if (!*text || strlen(text) > 9 || text[strspn(text, "0123456789.")] ||
	    strchr(text, '.') != strrchr(text, '.'))
		return false;
	*seconds = strtod(text, NULL);
	return *seconds >= WATCH_LEAST && *seconds <= WATCH_MOST;
}

static int take_watch(int argc, char **argv, struct options *out)
{
	double seconds;

	out->watch = WATCH_DEFAULT;
	if (optarg && !take_seconds(optarg, &out->watch)) {
		complain("--watch=%s is not understood; it is seconds from 0.1 to 86400", optarg);
		return EXIT_USAGE;
	}
	if (optarg || optind >= argc || !take_seconds(argv[optind], &seconds) ||
	    seconds > WATCH_UNCLEAR)
		return 0;
	complain(
		"--watch %s is not clear: write --watch=%s, or --watch -- %s for a process of that number",
		argv[optind], argv[optind], argv[optind]);
	return EXIT_USAGE;
}

static int take_timeout(struct options *out)
{
	if (take_seconds(optarg, &out->timeout))
		return 0;
	complain("--timeout=%s is not understood; it is seconds from 0.1 to 86400", optarg);
	return EXIT_USAGE;
}

static int take_max(struct options *out)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	if (*optarg < '0' || *optarg > '9' || *end || !n || n > MAX_MOST) {
		complain("--max=%s is not understood; it is a number from 1 to %u", optarg,
			 MAX_MOST);
		return EXIT_USAGE;
	}
	out->max = (unsigned int)n;
	return 0;
}

static int take_error(struct options *out)
{
	for (const struct fault_name_info *name = fault_names; name->word; name++) {
		if (name->kind == FAULT_KIND_ERRNO && !strcmp(name->word, optarg)) {
			out->error = optarg;
			return 0;
		}
	}
	complain(
		"--error=%s is not understood; it is a name such as ENOMEM or EIO, of those in docs/fault-list.md",
		optarg);
	return EXIT_USAGE;
}

/* Handles one option that getopt_long() has returned. Returns 0, or the exit status. */
static int take(int opt, int argc, char **argv, struct options *out)
{
	switch (opt) {
	case 'h':
		out->help = true;
		return 0;
	case OPT_PROVIDER:
		if (!*optarg) {
			complain("--provider needs the name of a file");
			return EXIT_USAGE;
		}
		out->provider = optarg;
		return 0;
	case OPT_CONFIG:
		return settings_take_file(optarg) ? 0 : EXIT_USAGE;
	case OPT_JSON:
		out->json = true;
		return 0;
	case OPT_LISTEN:
		out->listen = true;
		return 0;
	case OPT_VERBOSE:
		out->verbose = true;
		return 0;
	case OPT_WATCH:
		return take_watch(argc, argv, out);
	case OPT_TIMEOUT:
		return take_timeout(out);
	case OPT_MAX:
		return take_max(out);
	case OPT_ERROR:
		return take_error(out);
	default:
		if (!optarg && !flag_is_clear(opt - OPT_SETTINGS, argc, argv))
			return EXIT_USAGE;
		return settings_take(opt - OPT_SETTINGS, optarg) ? 0 : EXIT_USAGE;
	}
}

/* True if a command accepts this option, which is not a setting. */
static bool takes(const struct options_of *of, int value)
{
	switch (value) {
	case 'h':
		return true;
	case OPT_JSON:
		return of->json;
	case OPT_LISTEN:
	case OPT_VERBOSE:
		return of->diagnoses;
	case OPT_WATCH:
		return of->watch;
	case OPT_TIMEOUT:
	case OPT_MAX:
	case OPT_ERROR:
		return of->tortures;
	default:
		return !of->asks;
	}
}

/* Writes the list of the options that a command accepts, with the element that ends the list. */
static void list_options(const struct options_of *of, struct option out[ALL_OPTIONS + 1])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < OWN_OPTIONS; i++) {
		if (takes(of, own_options[i].val))
			out[n++] = own_options[i];
	}
	if (of->asks)
		out[n] = (struct option){ 0 };
	else
		settings_options(out + n, OPT_SETTINGS);
}

/*
 * Parses the process number after the options, for a command that queries processes. Returns 0, or
 * the exit status.
 */
static int take_pid(int argc, char **argv, struct options *out)
{
	const char *word = optind < argc ? argv[optind] : NULL;

	if (!word)
		return 0;
	if (optind + 1 < argc) {
		complain("takes one process: take %s away", argv[optind + 1]);
		return EXIT_USAGE;
	}
	out->pid = (pid_t)strtol(word, NULL, 10);
	if (*word && strlen(word) <= 9 && !word[strspn(word, "0123456789")] && out->pid > 0)
		return 0;
	complain("%s is not the number of a process; 'sctpiw %s' shows all that have the device",
		 word, argv[0]);
	return EXIT_USAGE;
}

int options_take(const struct options_of *of, int argc, char **argv, struct options *out)
{
	struct option options[ALL_OPTIONS + 1];
	int opt, status = 0;

	*out = (struct options){
		.timeout = TORTURE_TIMEOUT,
		.max = TORTURE_MAX,
		.error = "ENOMEM",
	};
	list_options(of, options);
	while (!status && !out->help &&
	       (opt = getopt_long(argc, argv, of->asks ? ":h" : "+:h", options, NULL)) != -1) {
		if (opt == '?')
			status = refuse(argv[optind - 1], options);
		else if (opt == ':')
			status = refuse_forgotten(argv[optind - 1]);
		else if (is_forgotten(argv, optarg))
			status = refuse_forgotten(argv[optind - 2]);
		else
			status = take(opt, argc, argv, out);
	}
	if (status || out->help)
		return status;
	if (of->asks && !of->words)
		return take_pid(argc, argv, out);
	if (of->tells || of->asks)
		return 0;
	settings_warn();
	return settings_check() ? 0 : EXIT_USAGE;
}
