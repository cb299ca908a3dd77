/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "sys/sys.h"

void config_private_free(char *text)
{
	if (text)
		explicit_bzero(text, CONFIG_PRIVATE_SIZE);
	free(text);
}

/* Checks that no other user can read or replace the keys in the file. */
static bool is_private(const char *setting, const char *path, int fd, struct config_error *err)
{
	struct stat st;
	int ret = sys_stat_fd(fd, &st);

	if (ret)
		return config_refuse(err, "%s = %.200s: %s", setting, path, strerror(-ret));
	if (!S_ISREG(st.st_mode))
		return config_refuse(
			err,
			"%s = %.200s: keys are in a regular file, since every process reads it",
			setting, path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return config_refuse(
			err,
			"%s = %.200s: others than its owner may use that file: chmod 600 %.200s",
			setting, path, path);
	if (st.st_uid && st.st_uid != sys_uid())
		return config_refuse(err, "%s = %.200s: that file belongs to another user", setting,
				     path);
	return true;
}

/* Reads up to CONFIG_PRIVATE_SIZE bytes. Returns their number, or -errno. */
static ssize_t read_text(int fd, char *text)
{
	ssize_t len = 0, n = 1;

	while (n > 0 && len < CONFIG_PRIVATE_SIZE) {
		n = sys_read(fd, text + len, (size_t)(CONFIG_PRIVATE_SIZE - len));
		if (n > 0)
			len += n;
	}
	return n < 0 ? n : len;
}

static char *read_open(const char *setting, const char *path, int fd, size_t *len,
		       struct config_error *err)
{
	char *text = malloc(CONFIG_PRIVATE_SIZE);
	ssize_t n = text ? read_text(fd, text) : -ENOMEM;

	if (n >= 0 && n < CONFIG_PRIVATE_SIZE) {
		*len = (size_t)n;
		return text;
	}
	if (n < 0)
		config_refuse(err, "%s = %.200s: %s", setting, path, strerror((int)-n));
	else
		config_refuse(err, "%s = %.200s: 64 KiB or longer: that is no file of keys",
			      setting, path);
	config_private_free(text);
	return NULL;
}

/*
 * Uses one descriptor to check and read the file, so that the checked file cannot be replaced
 * before the read.
 */
char *config_private_read(const char *setting, const char *path, size_t *len,
			  struct config_error *err)
{
	/* Without O_NONBLOCK, the open of a named pipe would wait for a writer. */
	int fd = sys_open(path, O_RDONLY | O_NONBLOCK);
	char *text = NULL;

	if (fd < 0) {
		config_refuse(err, "%s = %.300s: %s", setting, path, strerror(-fd));
		return NULL;
	}
	if (is_private(setting, path, fd, err))
		text = read_open(setting, path, fd, len, err);
	sys_close(fd);
	return text;
}
