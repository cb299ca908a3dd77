/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/ring_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/append_file.h"
#include "sys/sys.h"

/*
 * Maximum attempts to find a current file with room. One attempt suffices, unless other processes
 * fill whole files at the same time.
 */
#define TRIES 1000

/* ns. Time between two attempts to lock: doubles from NAP_FIRST up to NAP_LAST. */
#define NAP_FIRST (NSEC_PER_SEC / 20000)
#define NAP_LAST (NSEC_PER_SEC / 100)

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

/* True if PATH is still the file that is open. Sets *size to its length. */
static bool is_current(const struct ring_file *r, uint64_t *size)
{
	struct stat st;

	if (sys_lstat(r->path, &st) || st.st_ino != r->ino || st.st_dev != r->dev)
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* Renames each file to the next number, which replaces the oldest. Returns 0, or -errno. */
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
 * Waits until no other process holds the lock of the file. Returns false after RING_FILE_PATIENCE,
 * or once PATH is another file. Returns true at once if the file system has no locks.
 */
static bool lock(const struct ring_file *r)
{
	uint64_t nap = NAP_FIRST, waited = 0, size;

	while (sys_try_lock(r->fd) == -EWOULDBLOCK) {
		if (waited >= RING_FILE_PATIENCE || !is_current(r, &size))
			return false;
		sys_ppoll(NULL, 0, nap);
		waited += nap;
		nap = nap * 2 < NAP_LAST ? nap * 2 : NAP_LAST;
	}
	return true;
}

int ring_file_prepare(struct ring_file *r, size_t len)
{
	const char *unused;
	uint64_t size;
	int ret = 0;

	if (!r->limit)
		return 0;
	for (int i = 0; !ret && i < TRIES; i++) {
		bool locked = lock(r), current = is_current(r, &size);

		if (locked && current && (!size || size + len <= r->limit))
			return 0;
		if (current)
			ret = rename_all(r);
		ring_file_done(r);
		if (!ret || ret == -ENOENT)
			ret = open_current(r, &unused);
	}
	return ret ? ret : -EBUSY;
}

void ring_file_done(struct ring_file *r)
{
	if (r->limit)
		sys_unlock(r->fd);
}
