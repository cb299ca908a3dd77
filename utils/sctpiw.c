/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The launcher. "sctpiw run -- CMD" sets the environment in which stock libibverbs and librdmacm
 * find the device, and executes CMD; "sctpiw env" prints that environment.
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

#include "config/config.h"
#include "launcher/environment.h"
#include "launcher/launcher.h"
#include "launcher/parts.h"
#include "launcher/reach.h"
#include "launcher/settings.h"

void complain(const char *fmt, ...)
{
	va_list ap;

	fputs("sctpiw: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void usage(FILE *out)
{
	fputs("Usage: sctpiw run [OPTION]... [--] CMD [ARG]...\n"
	      "       sctpiw env [OPTION]...\n"
	      "       sctpiw help | version\n"
	      "\n"
	      "A software RDMA NIC: iWARP over SCTP, for unmodified programs of libibverbs and librdmacm.\n"
	      "\n"
	      "  run   run CMD with the device sctpiw0; sctpiw run --help tells more\n"
	      "  env   print the environment for that as shell commands: eval \"$(sctpiw env)\"\n"
	      "\n"
	      "The manual page sctpiw(1) tells more.\n",
	      out);
}

static void usage_run(FILE *out)
{
	const struct config_name *name;

	fputs("Usage: sctpiw run [OPTION]... [--] CMD [ARG]...\n"
	      "\n"
	      "Run CMD, and what it starts, with the RDMA device sctpiw0.\n"
	      "\n"
	      "  --provider FILE      the provider to load instead of this installation's; its name\n"
	      "                       ends in " PROVIDER_SUFFIX "\n"
	      "  --config FILE        settings from this file, instead of ~/.config/sctpiw.conf or\n"
	      "                       /etc/sctpiw.conf\n"
	      "  -h, --help           this text\n"
	      "\n"
	      "Settings; they stand above the environment, and that above the file:\n"
	      "\n",
	      out);
	for (unsigned int i = 0; (name = config_names(i)); i++) {
		int n = fprintf(out, "  --%s%s", name->name, name->flag ? "[=VALUE]" : " VALUE");

		fprintf(out, "%*s%s:\n%23s%s; else %s\n", 23 - n, "", name->help, "", name->allowed,
			name->dflt);
	}
	fputs("\n"
	      "LD_PRELOAD and RDMAV_DRIVERS are appended to; SCTPIW_PROVIDER, SCTPIW_SYSROOT and a variable\n"
	      "for each setting are set. Out of reach, with a warning: setuid and setgid programs,\n"
	      "statically linked ones, and those of another libc or architecture.\n"
	      "\n"
	      "Exit status: CMD's own; 2 wrong usage, 125 this installation is incomplete,\n"
	      "126 CMD cannot be executed, 127 CMD is not found.\n",
	      out);
}

/*
 * Values of the options that have no letter; those of the settings follow, in the order of their
 * table.
 */
enum { OPT_PROVIDER = 256, OPT_CONFIG, OPT_SETTINGS };

static const struct option own_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "provider", required_argument, NULL, OPT_PROVIDER },
	{ "config", required_argument, NULL, OPT_CONFIG },
};
enum { OWN_OPTIONS = sizeof(own_options) / sizeof(own_options[0]) };

/*
 * Takes the options, and sets the environment. Returns the exit status, or -1 to go on, with optind
 * at CMD.
 */
static int prepare(int argc, char **argv)
{
	struct option options[OWN_OPTIONS + CONFIG_SETTINGS + 1];
	const char *provider = NULL;
	struct parts parts;
	int opt;

	memcpy(options, own_options, sizeof(own_options));
	settings_options(options + OWN_OPTIONS, OPT_SETTINGS);
	while ((opt = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			usage_run(stdout);
			return EXIT_SUCCESS;
		case OPT_PROVIDER:
			provider = optarg;
			break;
		case OPT_CONFIG:
			if (!settings_take_file(optarg))
				return EXIT_BROKEN;
			break;
		case '?':
			fputs("Try 'sctpiw run --help'.\n", stderr);
			return EXIT_USAGE;
		default:
			if (!settings_take(opt - OPT_SETTINGS, optarg))
				return EXIT_USAGE;
		}
	}
	if (!settings_check())
		return EXIT_USAGE;
	if (!parts_find(&parts, provider) || !environment_set(&parts))
		return EXIT_BROKEN;
	return -1;
}

static int run(int argc, char **argv)
{
	int status = prepare(argc, argv);

	if (status >= 0)
		return status;
	if (optind >= argc) {
		complain("run: no command given\nTry 'sctpiw run --help'.");
		return EXIT_USAGE;
	}
	if (!settings_make_files())
		return EXIT_USAGE;
	argv += optind;
	reach_warn(argv[0]);
	execvp(argv[0], argv);
	status = errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	complain("%s: %s", argv[0], strerror(errno));
	return status;
}

static int print_environment(int argc, char **argv)
{
	int status = prepare(argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc) {
		complain("env: takes no argument");
		return EXIT_USAGE;
	}
	if (!settings_make_files())
		return EXIT_USAGE;
	environment_print();
	settings_print();
	return EXIT_SUCCESS;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "help", "--help", "-h")) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (is_one_of(argv[1], "version", "--version", "-V")) {
		puts("sctpiw " SCTPIW_VERSION);
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "run"))
		return run(argc - 1, argv + 1);
	if (!strcmp(argv[1], "env"))
		return print_environment(argc - 1, argv + 1);
	complain("no such command: %s\nTry 'sctpiw --help'.", argv[1]);
	return EXIT_USAGE;
}
