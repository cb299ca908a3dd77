/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/ring_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/append_file.h"
#include "sys/sys.h"

/*
 * So often in a row a process looks for the current file. It finds it at once, unless others fill
 * whole files meanwhile.
 */
#define TRIES 8

static int open_current(struct ring_file *r, const char **error)
{
	int fd = append_file_open(r->path, error), ret;
	struct stat st;

	if (fd < 0)
		return fd;
	ret = sys_stat_fd(fd, &st);
	if (ret) {
		sys_close(fd);
		return ret;
	}
	sys_close(r->fd);
	r->fd = fd;
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	r->fresh = true;
	return 0;
}

int ring_file_open(struct ring_file *r, const char *path, uint64_t limit, unsigned int files,
		   const char **error)
{
	*r = (struct ring_file){ .fd = -1, .limit = limit, .files = files };
	snprintf(r->path, sizeof(r->path), "%s", path);
	*error = "fstat() fails";
	return open_current(r, error);
}

void ring_file_close(struct ring_file *r)
{
	sys_close(r->fd);
	r->fd = -1;
}

/* Whether the path still leads to the file that is open, and how long that is. */
static bool is_current(const struct ring_file *r, uint64_t *size)
{
	struct stat st;

	if (sys_stat(r->path, &st) || st.st_ino != r->ino || st.st_dev != r->dev)
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* Renames the files, the oldest one first, which goes. 0 or -errno. */
static int rename_all(const struct ring_file *r)
{
	char from[sizeof(r->path) + 16], to[sizeof(from)];
	int ret = 0;

	if (r->files == 1)
		return sys_unlink(r->path);
	for (unsigned int age = r->files - 1; age && (!ret || ret == -ENOENT); age--) {
		snprintf(to, sizeof(to), CONFIG_OLDER_CAPTURE, r->path, age);
		if (age == 1)
			snprintf(from, sizeof(from), "%s", r->path);
		else
			snprintf(from, sizeof(from), CONFIG_OLDER_CAPTURE, r->path, age - 1);
		ret = sys_rename(from, to);
	}
	return ret;
}

/*
 * Makes the full file an older one. 0 also if another process does so, or has done so, as the lock
 * tells: it is on the file and not on its name.
 */
static int retire(const struct ring_file *r)
{
	uint64_t size;
	int ret;

	if (sys_try_lock(r->fd) || !is_current(r, &size))
		return 0;
	ret = rename_all(r);
	return ret == -ENOENT ? 0 : ret;
}

int ring_file_prepare(struct ring_file *r, size_t len)
{
	const char *unused;
	uint64_t size;
	int ret = 0;

	if (!r->limit)
		return 0;
	for (int i = 0; !ret && i < TRIES; i++) {
		if (is_current(r, &size)) {
			if (!size || size + len <= r->limit)
				return 0;
			ret = retire(r);
			if (ret || is_current(r, &size))
				return ret; /* another process is about to rename it */
		}
		ret = open_current(r, &unused);
	}
	return ret;
}
