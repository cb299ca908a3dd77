/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/settings.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_faults.h"
#include "config/config_known.h"
#include "launcher/environment.h"
#include "launcher/launcher.h"
#include "launcher/parts.h"
#include "net/append_file.h"
#include "sys/sys.h"

static bool given[CONFIG_SETTINGS]; /* the settings that the command line contains */
static const char *config_file;	    /* argument of --config, or NULL */
static struct config config;	    /* the settings in force, set by settings_check() */

void settings_options(struct option out[CONFIG_SETTINGS + 1], int first)
{
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		const struct config_name *name = config_names((unsigned int)i);

		out[i] = (struct option){ name->name,
					  name->flag ? optional_argument : required_argument, NULL,
					  first + i };
	}
	out[CONFIG_SETTINGS] = (struct option){ 0 };
}

/* Sets a variable to an absolute path, since CMD may have another working directory. */
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

bool settings_take(int i, const char *value)
{
	const struct config_name *name = config_names((unsigned int)i);
	struct config_builder b;
	struct config_error why;
	char option[32], scenario[PATH_MAX];

	if (!value)
		value = "yes";
	snprintf(option, sizeof(option), "--%s", name->name);
	config_init(&b);
	if (!config_set(&b, option, name->name, value, &why)) {
		complain("%s", why.text);
		return false;
	}
	given[i] = true;
	if (name->rules && config_faults_is_file(value) && parts_scenario(scenario, value))
		return !setenv(name->env, scenario, 1);
	if (name->path || name->file || (name->rules && config_faults_is_file(value)))
		return set_path(name->env, value);
	return !setenv(name->env, value, 1);
}

void settings_warn(void)
{
	char name[CONFIG_VARIABLE_LEN];
	const char *nearest;

	for (char **entry = environ; *entry; entry++) {
		if (config_known_mistyped(*entry, name, &nearest))
			complain("warning: there is no variable %s; the nearest is %s", name,
				 nearest);
	}
}

/* Warns of a misspelt interface name or address, which would add no path. */
static void warn_paths(const struct config_paths *paths)
{
	for (unsigned int i = 0; i < paths->n; i++) {
		const char *name = paths->item[i].interface;

		if (*name && !if_nametoindex(name))
			complain(
				"warning: paths: this host has no interface %s; 'ip link' lists them",
				name);
	}
}

bool settings_check(void)
{
	struct config_error why;
	bool any = config_file;

	for (int i = 0; i < CONFIG_SETTINGS; i++)
		any |= given[i];
	if (any && !config_load(&config, given, &why)) {
		complain("%s", why.text);
		return false;
	}
	warn_paths(&config.paths);
	return true;
}

bool settings_collect(struct config_builder *b, struct config_error *why)
{
	return config_collect(b, given, why);
}

bool settings_choose_seed(void)
{
	struct config_builder b;
	struct config_error why;
	char seed[16];
	uint32_t random;

	/* Ignore errors in the settings: processes that open the device print them. */
	if (!settings_collect(&b, &why) || !*b.config.faults || b.config.fault_seed)
		return true;
	if (sys_random(&random, sizeof(random)))
		random = (uint32_t)getpid();
	snprintf(seed, sizeof(seed), "%u", random % 999999999u + 1);
	return !setenv("SCTPIW_FAULT_SEED", seed, 1);
}

/* Removes older files of an earlier capture, which would look like files of this run. */
static void remove_older_captures(void)
{
	char path[CONFIG_PATH_LEN + 16];

	for (unsigned int age = 1; config.capture_size && age < config.capture_files; age++) {
		snprintf(path, sizeof(path), CONFIG_OLDER_CAPTURE, config.capture, age);
		unlink(path);
	}
}

bool settings_make_files(void)
{
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		const struct config_name *name = config_names((unsigned int)i);
		const char *path = getenv(name->env);
		const char *error;
		int fd;

		if (!given[i] || !name->path || !path)
			continue;
		fd = append_file_open(path, &error);
		if (fd < 0) {
			complain("--%s %s: %s", name->name, path, error);
			return false;
		}
		sys_truncate(fd, 0);
		sys_close(fd);
		if (!strcmp(path, config.capture))
			remove_older_captures();
	}
	return true;
}

bool settings_take_file(const char *path)
{
	if (!*path) {
		complain("--config needs the name of a file");
		return false;
	}
	config_file = path;
	return set_path("SCTPIW_CONFIG", path);
}

void settings_print(void)
{
	if (config_file)
		environment_print_one("SCTPIW_CONFIG");
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		if (given[i])
			environment_print_one(config_names((unsigned int)i)->env);
	}
}
