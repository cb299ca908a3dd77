/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/options.h"

#include <getopt.h>
#include <string.h>

#include "config/config.h"
#include "config/config_known.h"
#include "launcher/launcher.h"
#include "launcher/settings.h"

const struct options_of options_of_run = {
	.command = "run",
	.synopsis = " [--] CMD [ARG]...",
	.what = "Run CMD, and what it starts, with the RDMA device sctpiw0.\n",
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
		"ok, warning or FAILURE and ends with the remedy. HOST: the way there, and its UDP port (7471),\n"
		"where \"sctpiw doctor --listen PORT\" has to run. CMD: whether the device can be brought into it.\n",
	.json = "lines",
	.listen = true,
	.words = true,
	.tells = true,
	.status = "Exit status: 0 nothing worse than a warning, 1 a failure, 2 wrong usage.\n",
};

/*
 * Values of the options that have no letter; those of the settings follow, in the order of their
 * table.
 */
enum { OPT_PROVIDER = 256, OPT_CONFIG, OPT_JSON, OPT_LISTEN, OPT_SETTINGS };

static const struct option own_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "provider", required_argument, NULL, OPT_PROVIDER },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "listen", no_argument, NULL, OPT_LISTEN },
};
enum { OWN_OPTIONS = sizeof(own_options) / sizeof(own_options[0]) };
#define MISTYPED 2 /* letters of an option's name that may be wrong for another to be meant */
enum { ALL_OPTIONS = OWN_OPTIONS + CONFIG_SETTINGS };

void options_help(const struct options_of *of)
{
	const struct config_name *name;

	printf("Usage: sctpiw %s [OPTION]...%s\n\n%s\n", of->command, of->synopsis, of->what);
	if (of->json)
		printf("  --json               print JSON instead: an array of %s\n", of->json);
	if (of->listen)
		fputs("  --listen             answer the probes of other hosts at UDP port PORT, until SIGINT\n",
		      stdout);
	fputs("  --provider FILE      the provider to load instead of this installation's; its name\n"
	      "                       ends in " PROVIDER_SUFFIX "\n"
	      "  --config FILE        settings from this file, instead of ~/.config/sctpiw.conf or\n"
	      "                       /etc/sctpiw.conf\n"
	      "  -h, --help           this text\n"
	      "\n"
	      "Settings; they stand above the environment, and that above the file. A value in\n"
	      "brackets stands behind a = or not at all, which means yes: --share=no\n"
	      "\n",
	      stdout);
	for (unsigned int i = 0; (name = config_names(i)); i++) {
		int n = printf("  --%s%s", name->name, name->flag ? "[=VALUE]" : " VALUE");

		printf("%*s%s:\n%23s%s; else %s\n", 23 - n, "", name->help, "", name->allowed,
		       name->dflt);
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

/* An option that does not exist, or whose name was cut short to what several begin with. */
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

/* What getopt_long() says '?' about; word is the argument that it looked at last. */
static int refuse(const char *word, const struct option *options)
{
	if (optopt && optopt < OPT_PROVIDER && strncmp(word, "--", 2))
		complain("there is no option -%c; --help lists all", optopt);
	else if (optopt)
		complain("--%.*s takes no value: take away what is behind its name",
			 (int)strcspn(word + 2, "="), word + 2);
	else
		complain_unknown(word, options);
	return EXIT_USAGE;
}

/*
 * Whether the value of an option, which is a word of its own, looks like the next option: then the
 * value was forgotten.
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
 * False after a line on standard error if a flag is followed by a word that was meant as its value.
 * getopt_long() takes such a word for CMD.
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

/* Takes an option that getopt_long() has understood. 0, or the exit status. */
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
	default:
		if (!optarg && !flag_is_clear(opt - OPT_SETTINGS, argc, argv))
			return EXIT_USAGE;
		return settings_take(opt - OPT_SETTINGS, optarg) ? 0 : EXIT_USAGE;
	}
}

/* The options that a command has besides those of the settings. Returns how many. */
static unsigned int take_own(const struct options_of *of, struct option *out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < OWN_OPTIONS; i++) {
		int value = own_options[i].val;

		if ((value == OPT_JSON && !of->json) || (value == OPT_LISTEN && !of->listen))
			continue;
		out[n++] = own_options[i];
	}
	return n;
}

int options_take(const struct options_of *of, int argc, char **argv, struct options *out)
{
	struct option options[ALL_OPTIONS + 1];
	int opt, status = 0;

	*out = (struct options){ 0 };
	settings_options(options + take_own(of, options), OPT_SETTINGS);
	while (!status && !out->help &&
	       (opt = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		if (opt == '?')
			status = refuse(argv[optind - 1], options);
		else if (opt == ':')
			status = refuse_forgotten(argv[optind - 1]);
		else if (is_forgotten(argv, optarg))
			status = refuse_forgotten(argv[optind - 2]);
		else
			status = take(opt, argc, argv, out);
	}
	if (!status && !out->help && !of->tells) {
		settings_warn();
		if (!settings_check())
			status = EXIT_USAGE;
	}
	return status;
}
