/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "config/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "sys/sys.h"

#define FILE_MAX 65536

static char *file_error(struct config_error *err, const char *path, const char *why)
{
	snprintf(err->text, sizeof(err->text), "%s: %s", path, why);
	return NULL;
}

static char *read_all(const char *path, const char *what, int fd, size_t *len,
		      struct config_error *err)
{
	char *text = malloc(FILE_MAX + 1);
	ssize_t n = 1;

	if (!text)
		return file_error(err, path, strerror(ENOMEM));
	for (*len = 0; n > 0 && *len <= FILE_MAX;) {
		n = sys_read(fd, text + *len, FILE_MAX + 1 - *len);
		if (n > 0)
			*len += (size_t)n;
	}
	if (n >= 0 && *len <= FILE_MAX)
		return text;
	free(text);
	if (n < 0)
		return file_error(err, path, strerror((int)-n));
	snprintf(err->text, sizeof(err->text), "%s: longer than 64 KiB: that is no file of %s",
		 path, what);
	return NULL;
}

char *config_file_read(const char *path, const char *what, size_t *len, struct config_error *err)
{
	/* Without O_NONBLOCK, the open of a named pipe would wait for a writer. */
	int fd = sys_open(path, O_RDONLY | O_NONBLOCK);
	struct stat st;
	char *text;

	if (fd < 0)
		return file_error(err, path, strerror(-fd));
	if (!sys_stat_fd(fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		text = file_error(err, path,
				  "a pipe is empty once it was read, and every process reads it");
	else
		text = read_all(path, what, fd, len, err);
	sys_close(fd);
	return text;
}
