/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "log/log.h"
#include "sys/sys.h"

int append_file_open(const char *path, const char **error)
{
	/* Without O_NONBLOCK, open() of a named pipe would wait for a reader. */
	int fd = sys_keep(sys_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW));
	struct stat st;

	if (fd < 0) {
		*error = fd == -ELOOP ?
				 "a symbolic link, which may lead anywhere: name the file itself" :
				 log_reason(-fd);
		return fd;
	}
	if (sys_stat_fd(fd, &st) || !S_ISREG(st.st_mode)) {
		*error = "not a regular file";
		sys_close(fd);
		return -EINVAL;
	}
	return fd;
}

/*
 * Removes the written part of a record, so that no other process appends a record to that part.
 * Other processes rarely append earlier, since the error most likely stops them, too.
 */
static void take_back(int fd, size_t written)
{
	struct stat st;

	/* If another process has appended a record meanwhile, the file must not be truncated. */
	if (!sys_stat_fd(fd, &st) && sys_tell(fd) == st.st_size && (size_t)st.st_size >= written)
		sys_truncate(fd, st.st_size - (off_t)written);
}

int append_file_write(int fd, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t written = 0;

	while (written < len) {
		ssize_t n = sys_append(fd, p + written, len - written);

		if (n > 0) {
			written += (size_t)n;
		} else if (n != -EINTR) {
			if (written)
				take_back(fd, written);
			return n ? (int)n : -EIO;
		}
	}
	return 0;
}
