/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where settings come from: the environment, to which the launcher adds its options, and one file:
 * that of SCTPIW_CONFIG, the user's, or the system's, the first of these that there is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "sys/sys.h"

#define FILE_MAX 65536
#define SYSTEM_FILE "/etc/sctpiw.conf"

static bool file_error(struct config_error *err, const char *path, const char *why)
{
	snprintf(err->text, sizeof(err->text), "%s: %s", path, why);
	return false;
}

static bool read_file(struct config_builder *b, const char *path, int fd, struct config_error *err)
{
	char *text = malloc(FILE_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;
	bool ok;

	if (!text)
		return file_error(err, path, strerror(ENOMEM));
	while (n > 0 && len <= FILE_MAX) {
		n = sys_read(fd, text + len, FILE_MAX + 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	if (n < 0)
		ok = file_error(err, path, strerror((int)-n));
	else if (len > FILE_MAX)
		ok = file_error(err, path, "longer than 64 KiB: that is no file of settings");
	else
		ok = config_parse(b, path, text, len, err);
	free(text);
	return ok;
}

/* Takes a file that somebody asked for, or that is known to be there. */
static bool load_file(struct config_builder *b, const char *path, struct config_error *err)
{
	/* Without O_NONBLOCK, opening a pipe would wait for its other end. */
	int fd = sys_open(path, O_RDONLY | O_NONBLOCK);
	struct stat st;
	bool ok;

	if (fd < 0)
		return file_error(err, path, strerror(-fd));
	if (!sys_stat_fd(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		ok = file_error(err, path,
				"a pipe is empty once it was read, and every process reads it");
	else
		ok = read_file(b, path, fd, err);
	sys_close(fd);
	return ok;
}

/* A file in a directory that we may not enter counts as none: HOME may be that of another user. */
static bool is_there(const char *path)
{
	int fd = sys_open(path, O_PATH);

	sys_close(fd);
	return fd >= 0;
}

/* Sets path to $XDG_CONFIG_HOME/sctpiw.conf or ~/.config/sctpiw.conf. false: the user has none. */
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
	return config_finish(b, err);
}

bool config_load(struct config *config, const bool options[CONFIG_SETTINGS],
		 struct config_error *err)
{
	/* It is large for the stack of a thread of the application. */
	struct config_builder *b = malloc(sizeof(*b));
	bool ok = b && config_collect(b, options, err);

	if (!b)
		snprintf(err->text, sizeof(err->text), "settings: %s", strerror(ENOMEM));
	if (ok)
		*config = b->config;
	free(b);
	return ok;
}
