/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Settings come from the environment, to which the launcher adds its options, and from one file.
 * The file is SCTPIW_CONFIG if this variable is set, else the user's file if it exists, else the
 * system's file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_certs.h"
#include "config/config_faults.h"
#include "config/config_keys.h"
#include "config/config_file.h"
#include "sys/sys.h"

#define SYSTEM_FILE "/etc/sctpiw.conf"

/* Loads a file. It is an error if the file does not exist. */
static bool load_file(struct config_builder *b, const char *path, struct config_error *err)
{
	size_t len;
	char *text = config_file_read(path, "settings", &len, err);
	bool ok = text && config_parse(b, path, text, len, err);

	free(text);
	return ok;
}

/*
 * True if the file exists. False for a file in an inaccessible directory, since HOME may belong to
 * another user.
 */
static bool is_there(const char *path)
{
	int fd = sys_open(path, O_PATH);

	sys_close(fd);
	return fd >= 0;
}

/*
 * Sets path to $XDG_CONFIG_HOME/sctpiw.conf or ~/.config/sctpiw.conf. False if there is no such
 * file.
 */
static bool users_file(char *path, size_t size)
{
	const char *base = secure_getenv("XDG_CONFIG_HOME"), *middle = "";
	int n;

	if (!base || *base != '/') {
		base = secure_getenv("HOME");
		middle = "/.config";
	}
	if (!base || *base != '/')
		return false;
	n = snprintf(path, size, "%s%s/sctpiw.conf", base, middle);
	return n < (int)size && is_there(path);
}

static bool load_files(struct config_builder *b, struct config_error *err)
{
	const char *env = secure_getenv("SCTPIW_CONFIG");
	char path[CONFIG_PATH_LEN];

	if (env && *env)
		return load_file(b, env, err);
	if (users_file(path, sizeof(path)))
		return load_file(b, path, err);
	return !is_there(SYSTEM_FILE) || load_file(b, SYSTEM_FILE, err);
}

bool config_collect(struct config_builder *b, const bool options[CONFIG_SETTINGS],
		    struct config_error *err)
{
	const struct config_name *name;
	char option[32];

	config_init(b);
	if (!load_files(b, err))
		return false;
	for (unsigned int i = 0; (name = config_names(i)); i++) {
		const char *value = secure_getenv(name->env);

		snprintf(option, sizeof(option), "--%s", name->name);
		if (value && *value &&
		    !config_set(b, options && options[i] ? option : name->env, name->name, value,
				err))
			return false;
	}
	return config_finish(b, err) && config_faults_check(b, err) && config_keys_check(b, err) &&
	       config_certs_check(b, err);
}

bool config_load(struct config *config, const bool options[CONFIG_SETTINGS],
		 struct config_error *err)
{
	/* A config_builder is too large for the stacks of some threads of applications. */
	struct config_builder *b = malloc(sizeof(*b));
	bool ok = b && config_collect(b, options, err);

	if (!b)
		snprintf(err->text, sizeof(err->text), "settings: %s", strerror(ENOMEM));
	if (ok)
		*config = b->config;
	free(b);
	return ok;
}
