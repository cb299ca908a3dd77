/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The launcher: "sctpiw run -- CMD" sets the environment in which stock libibverbs and librdmacm
 * find the device, and executes CMD.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "config/config.h"

/* Exit statuses of our own; env, nice and timeout use the same ones. */
#define EXIT_USAGE 2
#define EXIT_BROKEN 125 /* parts of this installation are missing */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

#define PROVIDER_SUFFIX "-rdmav34.so" /* libibverbs appends it to names in RDMAV_DRIVERS */
#define SCRIPT_DEPTH 4		      /* as the kernel: interpreters of interpreters */

struct parts {
	char preload[PATH_MAX];
	char provider[PATH_MAX];
	char sysroot[PATH_MAX];
};

static void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *fmt, ...)
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
	      "       sctpiw --help | --version\n"
	      "\n"
	      "A software RDMA NIC: iWARP over SCTP, for unmodified programs of libibverbs and librdmacm.\n"
	      "\n"
	      "  run   run CMD with the device sctpiw0; sctpiw run --help tells more\n"
	      "  env   print the environment for that as shell commands: eval \"$(sctpiw env)\"\n",
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

		fprintf(out, "%*s%s:\n%23s%s; else %s\n", 23 - n, "", name->help, "",
			name->allowed, name->dflt);
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
 * Finding the parts
 */

/* dir/relative into out, without . and .. and links; false if it is not there. */
static bool find_at(char *out, const char *dir, const char *relative)
{
	char path[PATH_MAX];
	int n = relative[0] == '/' ? snprintf(path, sizeof(path), "%s", relative) :
				     snprintf(path, sizeof(path), "%s/%s", dir, relative);

	return n < (int)sizeof(path) && realpath(path, out);
}

/*
 * The build tree has everything in lib/, an installation in LIBDIR/sctpiw/. Both are looked for from where
 * this program is, so that a prefix can be moved.
 */
static bool find_library(char *out, const char *dir, const char *name)
{
	static const char *const places[] = {
		"../" SCTPIW_LIBDIR "/sctpiw/", "../lib/sctpiw/", "../lib64/sctpiw/", "../lib/",
		SCTPIW_FULL_LIBDIR "/sctpiw/",
	};
	char relative[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(relative, sizeof(relative), "%s%s", places[i], name);
		if (find_at(out, dir, relative))
			return true;
	}
	complain("%s is not where this program (%s) expects it; is the installation complete?",
		 name, dir);
	return false;
}

static bool find_parts(struct parts *parts, const char *provider)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat st;

	if (n <= 0) {
		complain("cannot read /proc/self/exe: %s", strerror(errno));
		return false;
	}
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (!find_library(parts->preload, self, "libsctpiw-preload.so"))
		return false;
	if (provider && (!realpath(provider, parts->provider) || stat(parts->provider, &st) ||
			 !S_ISREG(st.st_mode))) {
		complain("provider %s: %s", provider, strerror(errno));
		return false;
	}
	if (!provider && !find_library(parts->provider, self, "libsctpiw" PROVIDER_SUFFIX))
		return false;
	if (find_at(parts->sysroot, self, "../share/sctpiw/sysroot") ||
	    find_at(parts->sysroot, self, "../" SCTPIW_DATADIR "/sctpiw/sysroot") ||
	    find_at(parts->sysroot, self, SCTPIW_FULL_DATADIR "/sctpiw/sysroot"))
		return true;
	complain("share/sctpiw/sysroot is not where this program (%s) expects it", self);
	return false;
}

/*
 * The environment
 */

static bool list_has(const char *list, const char *separators, const char *item)
{
	size_t len = strlen(item);

	while (*list) {
		size_t n = strcspn(list, separators);

		if (n == len && !strncmp(list, item, n))
			return true;
		list += n;
		list += strspn(list, separators);
	}
	return false;
}

/* Appended, so that what the user has there comes first; not twice when run runs run. */
static bool append(const char *name, const char *old, const char *separators, const char *item)
{
	char *value;
	bool ok;

	if (item[strcspn(item, separators)]) {
		complain("%s cannot hold the path %s: it has a separator of such lists in it", name,
			 item);
		return false;
	}
	if (!old || !*old)
		return !setenv(name, item, 1);
	if (list_has(old, separators, item))
		return !setenv(name, old, 1);
	if (asprintf(&value, "%s:%s", old, item) < 0)
		return false;
	ok = !setenv(name, value, 1);
	free(value);
	return ok;
}

static bool set_environment(struct parts *parts)
{
	const char *drivers = getenv("RDMAV_DRIVERS");
	size_t len = strlen(parts->provider), suffix = strlen(PROVIDER_SUFFIX);
	char driver[PATH_MAX];

	if (len <= suffix || strcmp(parts->provider + len - suffix, PROVIDER_SUFFIX)) {
		complain("libibverbs loads providers by names that end in " PROVIDER_SUFFIX
			 ", unlike %s",
			 parts->provider);
		return false;
	}
	snprintf(driver, sizeof(driver), "%.*s", (int)(len - suffix), parts->provider);
	/* libibverbs looks at the older name only while this one is not set. */
	if (!drivers)
		drivers = getenv("IBV_DRIVERS");
	return append("LD_PRELOAD", getenv("LD_PRELOAD"), ": ", parts->preload) &&
	       append("RDMAV_DRIVERS", drivers, ":;", driver) &&
	       !setenv("SCTPIW_PROVIDER", parts->provider, 1) &&
	       !setenv("SCTPIW_SYSROOT", parts->sysroot, 1);
}

static void print_quoted(const char *name)
{
	printf("export %s='", name);
	for (const char *p = getenv(name); *p; p++)
		*p == '\'' ? fputs("'\\''", stdout) : putchar(*p);
	puts("'");
}

/*
 * Programs that the device cannot be brought into. They are run all the same.
 */

/* execvp()'s way to find a command; false if there is none. */
static bool find_command(const char *cmd, char *out)
{
	const char *path = getenv("PATH");

	if (strchr(cmd, '/'))
		return snprintf(out, PATH_MAX, "%s", cmd) < PATH_MAX;
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		int len = (int)strcspn(path, ":");
		int n = len ? snprintf(out, PATH_MAX, "%.*s/%s", len, path, cmd) :
			      snprintf(out, PATH_MAX, "./%s", cmd);

		if (n < PATH_MAX && !access(out, X_OK))
			return true;
		path += len;
		if (!*path)
			return false;
	}
}

/* Why a dynamic loader of this libc will not load our library into it, or NULL. */
static const char *elf_obstacle(int fd, const Elf64_Ehdr *eh)
{
	char interp[256];
	Elf64_Phdr ph;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return "is a program of another word size than this installation";
	if (eh->e_machine != SCTPIW_ELF_MACHINE)
		return "is a program of another architecture";
	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		ssize_t n;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh->e_phoff + i * sizeof(ph))) !=
		    sizeof(ph))
			return NULL;
		if (ph.p_type != PT_INTERP)
			continue;
		n = pread(fd, interp, sizeof(interp) - 1, (off_t)ph.p_offset);
		interp[n > 0 ? n : 0] = '\0';
		return strstr(interp, "ld-musl") ? "is linked with musl, not glibc" : NULL;
	}
	return "is statically linked";
}

static const char *privilege_obstacle(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return "is setuid";
	if (st.st_mode & S_ISGID && st.st_gid != getegid())
		return "is setgid";
	if (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return NULL;
}

/* "#! /interpreter argument": the interpreter is what is really run. */
static bool script_interpreter(const char *head, char *out)
{
	size_t n;

	if (strncmp(head, "#!", 2))
		return false;
	head += 2 + strspn(head + 2, " \t");
	n = strcspn(head, " \t\r\n");
	return n && snprintf(out, PATH_MAX, "%.*s", (int)n, head) < PATH_MAX;
}

static void warn_if_out_of_reach(const char *cmd)
{
	char path[PATH_MAX], head[PATH_MAX];

	if (!find_command(cmd, path))
		return;
	for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
		const char *why = NULL;
		Elf64_Ehdr eh;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n;

		if (fd < 0)
			return;
		n = pread(fd, head, sizeof(head) - 1, 0);
		head[n > 0 ? n : 0] = '\0';
		if (n >= (ssize_t)sizeof(eh) && !memcmp(head, ELFMAG, SELFMAG)) {
			memcpy(&eh, head, sizeof(eh));
			why = privilege_obstacle(fd);
			if (!why)
				why = elf_obstacle(fd, &eh);
		}
		close(fd);
		if (why)
			complain("warning: %s %s: it will not see the device", path, why);
		if (why || !script_interpreter(head, path))
			return;
	}
}

/*
 * Commands
 */

/* Settings come behind, by their place in the table. */
enum { OPT_PROVIDER = 256, OPT_CONFIG, OPT_SETTINGS };

static const struct option own_options[] = {
	{"help", no_argument, NULL, 'h'},
	{"provider", required_argument, NULL, OPT_PROVIDER},
	{"config", required_argument, NULL, OPT_CONFIG},
};
enum { OWN_OPTIONS = sizeof(own_options) / sizeof(own_options[0]) };

static void make_options(struct option out[OWN_OPTIONS + CONFIG_SETTINGS + 1])
{
	memcpy(out, own_options, sizeof(own_options));
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		const struct config_name *name = config_names((unsigned int)i);

		out[OWN_OPTIONS + i] = (struct option){
			name->name, name->flag ? optional_argument : required_argument, NULL,
			OPT_SETTINGS + i};
	}
	out[OWN_OPTIONS + CONFIG_SETTINGS] = (struct option){0};
}

/* Which variables the command line has set. */
static bool given[CONFIG_SETTINGS];
static const char *config_file;

/* CMD, and what it starts, may work in another directory. */
static bool set_path(const char *variable, const char *path)
{
	char cwd[PATH_MAX], *full;
	bool ok;

	if (*path == '/')
		return !setenv(variable, path, 1);
	if (!getcwd(cwd, sizeof(cwd)) || asprintf(&full, "%s/%s", cwd, path) < 0) {
		complain("%s: where is that? The working directory: %s", path, strerror(errno));
		return false;
	}
	ok = !setenv(variable, full, 1);
	free(full);
	return ok;
}

static bool take_setting(int i, const char *value)
{
	const struct config_name *name = config_names((unsigned int)i);
	struct config_builder b;
	struct config_error why;
	char option[32];

	if (!value)
		value = "yes";
	snprintf(option, sizeof(option), "--%s", name->name);
	config_init(&b);
	if (!config_set(&b, option, name->name, value, &why)) {
		complain("%s", why.text);
		return false;
	}
	given[i] = true;
	return name->path ? set_path(name->env, value) : !setenv(name->env, value, 1);
}

/* Whoever gives settings here hears of what is wrong here, and not only once CMD wants the device. */
static bool check_settings(void)
{
	struct config config;
	struct config_error why;
	bool any = config_file;

	for (int i = 0; i < CONFIG_SETTINGS; i++)
		any |= given[i];
	if (!any || config_load(&config, &why))
		return true;
	complain("%s", why.text);
	return false;
}

/* Makes the files of --capture and --trace empty; processes append to them. */
static bool make_files(void)
{
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		const struct config_name *name = config_names((unsigned int)i);
		const char *path;
		int fd;

		if (!given[i] || !name->path)
			continue;
		path = getenv(name->env);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
		if (fd < 0) {
			complain("--%s %s: %s", name->name, path, strerror(errno));
			return false;
		}
		close(fd);
	}
	return true;
}

/* -1: go on, with optind at CMD; else the exit status. */
static int prepare(int argc, char **argv)
{
	struct option options[OWN_OPTIONS + CONFIG_SETTINGS + 1];
	const char *provider = NULL;
	struct parts parts;
	int opt;

	make_options(options);
	while ((opt = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			usage_run(stdout);
			return EXIT_SUCCESS;
		case OPT_PROVIDER:
			provider = optarg;
			break;
		case OPT_CONFIG:
			config_file = optarg;
			if (!set_path("SCTPIW_CONFIG", optarg))
				return EXIT_BROKEN;
			break;
		case '?':
			fputs("Try 'sctpiw run --help'.\n", stderr);
			return EXIT_USAGE;
		default:
			if (!take_setting(opt - OPT_SETTINGS, optarg))
				return EXIT_USAGE;
		}
	}
	if (!check_settings())
		return EXIT_USAGE;
	if (!find_parts(&parts, provider) || !set_environment(&parts))
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
	if (!make_files())
		return EXIT_USAGE;
	argv += optind;
	warn_if_out_of_reach(argv[0]);
	execvp(argv[0], argv);
	status = errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	complain("%s: %s", argv[0], strerror(errno));
	return status;
}

static int print_environment(int argc, char **argv)
{
	static const char *const names[] = {"LD_PRELOAD", "RDMAV_DRIVERS", "SCTPIW_PROVIDER",
					    "SCTPIW_SYSROOT"};
	int status = prepare(argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc) {
		complain("env: takes no argument");
		return EXIT_USAGE;
	}
	if (!make_files())
		return EXIT_USAGE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		print_quoted(names[i]);
	if (config_file)
		print_quoted("SCTPIW_CONFIG");
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		if (given[i])
			print_quoted(config_names((unsigned int)i)->env);
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (!strcmp(argv[1], "--version")) {
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
