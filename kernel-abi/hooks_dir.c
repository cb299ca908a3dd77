/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks that open and read directories. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdtable.h"
#include "hooks.h"
#include "netdir.h"
#include "rnic.h"

/* readdir_r() and readdir64_r() are deprecated, but programs still use them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* ---- entries for the descriptors of this process ---- */

/*
 * True if the open directory is /proc/self/fd or fdinfo, no matter by which path it was opened.
 * These directories list the descriptor of the directory itself, and that entry has the directory's
 * inode.
 */
static bool lists_own_fds(int dirfd)
{
	struct stat dir, entry;
	char name[32];

	snprintf(name, sizeof(name), "../fd/%d", dirfd);
	return !libc_fstat(dirfd, &dir) && !libc_fstatat(dirfd, name, &entry, 0) &&
	       dir.st_dev == entry.st_dev && dir.st_ino == entry.st_ino;
}

/* If an entry has the number of a descriptor of the RNIC as its name, returns it, else -1. */
static int own_fd_named(const char *name)
{
	unsigned long fd = 0;
	const char *p = name;

	for (; *p >= '0' && *p <= '9' && fd <= INT_MAX; p++)
		fd = 10 * fd + (unsigned long)(*p - '0');
	return p > name && !*p && fd <= INT_MAX ? rnic_own_fd((unsigned int)fd, (unsigned int)fd) :
						  -1;
}

/*
 * True if an entry of the open directory is a descriptor of the RNIC. The application must see
 * these numbers as unused (hooks_fd.c), since some programs count descriptors to find leaks.
 */
static inline bool is_hidden(int dirfd, const char *name)
{
	return unlikely(own_fd_named(name) >= 0) && lists_own_fds(dirfd);
}

/* ---- streams ---- */

HOOK DIR *opendir(const char *path)
{
	struct sysfs_target target;
	DIR *dir;

	if (!hooks_lookup(AT_FDCWD, path, &target))
		return REAL(opendir)(path);
	dir = REAL(opendir)(target.path);
	if (!dir)
		return NULL;
	sysfs_opened_dir(&target, dirfd(dir));
	if (netdir_is(target.known_as))
		netdir_opened(dir);
	return dir;
}

HOOK DIR *fdopendir(int fd)
{
	DIR *dir = REAL(fdopendir)(fd);
	struct kfile *kf = dir ? fdtable_get(fd) : NULL;

	if (kf && kf->path && netdir_is(kf->path))
		netdir_opened(dir);
	if (kf)
		kfile_put(kf);
	return dir;
}

HOOK int closedir(DIR *dir)
{
	if (netdir_find(dir))
		netdir_closed(dir);
	return REAL(closedir)(dir);
}

#define READDIR_HOOK(name, type)                                                                   \
	HOOK struct type *name(DIR *dir)                                                           \
	{                                                                                          \
		struct netdir *n = netdir_find(dir);                                               \
		struct type *entry;                                                                \
                                                                                                   \
		if (n)                                                                             \
			return (struct type *)netdir_next(n);                                      \
		do {                                                                               \
			entry = REAL(name)(dir);                                                   \
		} while (entry && is_hidden(dirfd(dir), entry->d_name));                           \
		return entry;                                                                      \
	}

READDIR_HOOK(readdir, dirent)
READDIR_HOOK(readdir64, dirent64)

#define READDIR_R_HOOK(name, type)                                                                 \
	HOOK int name(DIR *dir, struct type *entry, struct type **result)                          \
	{                                                                                          \
		struct netdir *n = netdir_find(dir);                                               \
		struct type *next = n ? (struct type *)netdir_next(n) : NULL;                      \
		int ret = 0;                                                                       \
                                                                                                   \
		if (n) {                                                                           \
			if (next)                                                                  \
				*entry = *next;                                                    \
			*result = next ? entry : NULL;                                             \
			return 0;                                                                  \
		}                                                                                  \
		do {                                                                               \
			ret = REAL(name)(dir, entry, result);                                      \
		} while (!ret && *result && is_hidden(dirfd(dir), entry->d_name));                 \
		return ret;                                                                        \
	}

READDIR_R_HOOK(readdir_r, dirent)
READDIR_R_HOOK(readdir64_r, dirent64)

/* Removes the hidden entries from a buffer of len bytes. Returns the number of remaining bytes. */
static ssize_t without_hidden(int fd, char *buf, ssize_t len)
{
	ssize_t kept = 0, size;

	for (char *at = buf, *end = buf + len; at < end; at += size) {
		size = ((struct dirent64 *)(void *)at)->d_reclen;
		if (is_hidden(fd, at + offsetof(struct dirent64, d_name)))
			continue;
		memmove(buf + kept, at, (size_t)size);
		kept += size;
	}
	return kept;
}

HOOK ssize_t getdents64(int fd, void *buf, size_t len)
{
	ssize_t n, kept;

	do {
		n = REAL(getdents64)(fd, buf, len);
		kept = n > 0 ? without_hidden(fd, buf, n) : n;
	} while (n > 0 && !kept); /* a return value of 0 would mean the end of the directory */
	return kept;
}

HOOK void rewinddir(DIR *dir)
{
	struct netdir *n = netdir_find(dir);

	if (n)
		netdir_seek(n, 0);
	else
		REAL(rewinddir)(dir);
}

HOOK long telldir(DIR *dir)
{
	struct netdir *n = netdir_find(dir);

	return n ? netdir_tell(n) : REAL(telldir)(dir);
}

HOOK void seekdir(DIR *dir, long pos)
{
	struct netdir *n = netdir_find(dir);

	if (n)
		netdir_seek(n, pos);
	else
		REAL(seekdir)(dir, pos);
}

/* ---- scandir() reads directories by libc's internal functions, which have no hooks ---- */

typedef int dir_filter(const struct dirent *);
typedef int dir_compare(const struct dirent **, const struct dirent **);

static void free_list(struct dirent **list, int n)
{
	while (n--)
		free(list[n]);
	free(list);
}

/* Does the work of scandir() for the directory device/net. */
static int scan(const char *path, struct dirent ***list, dir_filter *filter, dir_compare *compare)
{
	struct dirent *found, **all = NULL, **more;
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while ((found = readdir(dir))) {
		if (filter && !filter(found))
			continue;
		more = realloc(all, ((size_t)n + 1) * sizeof(struct dirent *));
		if (more)
			all = more;
		if (!more || !(all[n] = malloc(sizeof(*found)))) {
			free_list(all, n);
			closedir(dir);
			errno = ENOMEM;
			return -1;
		}
		*all[n++] = *found;
	}
	closedir(dir);
	if (n && compare)
		qsort(all, (size_t)n, sizeof(struct dirent *),
		      (int (*)(const void *, const void *))compare);
	*list = all;
	return n;
}

/*
 * Removes the hidden entries from the list of n entries that libc has made. n may be -1. Returns
 * the number of entries that remain. Only if the directory may have hidden entries, opens it once
 * more, which takes a descriptor.
 */
static int show(int dirfd, const char *path, struct dirent ***found, int n)
{
	struct dirent **list = n > 0 ? *found : NULL;
	int kept = 0, fd = -1, saved = errno;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		bool own = own_fd_named(list[i]->d_name) >= 0;

		if (own && fd < 0)
			fd = REAL(openat)(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (own && fd >= 0 && lists_own_fds(fd))
			free(list[i]);
		else
			list[kept++] = list[i];
	}
	if (fd >= 0)
		libc_close(fd);
	errno = saved;
	return kept;
}

/* A macro, since the functions have different types of filter and comparison. */
#define SCAN_NETDIR                                                                                \
	scan(target.known_as, (struct dirent ***)list, (dir_filter *)filter, (dir_compare *)compare)

/* n: return value of libc's function. */
#define SHOWN(n) show(dirfd, path, (struct dirent ***)list, n)

#define SCANDIR_HOOK(name, entry)                                                                  \
	HOOK int name(const char *path, struct entry ***list, int (*filter)(const struct entry *), \
		      int (*compare)(const struct entry **, const struct entry **))                \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		int dirfd = AT_FDCWD;                                                              \
                                                                                                   \
		if (hooks_redirect(&dirfd, &path, &target) && netdir_is(target.known_as))          \
			return SCAN_NETDIR;                                                        \
		return SHOWN(REAL(name)(path, list, filter, compare));                             \
	}

#define SCANDIRAT_HOOK(name, entry)                                                                \
	HOOK int name(int dirfd, const char *path, struct entry ***list,                           \
		      int (*filter)(const struct entry *),                                         \
		      int (*compare)(const struct entry **, const struct entry **))                \
	{                                                                                          \
		struct sysfs_target target;                                                        \
                                                                                                   \
		if (hooks_redirect(&dirfd, &path, &target) && netdir_is(target.known_as))          \
			return SCAN_NETDIR;                                                        \
		return SHOWN(REAL(name)(dirfd, path, list, filter, compare));                      \
	}

SCANDIR_HOOK(scandir, dirent)
SCANDIR_HOOK(scandir64, dirent64)
SCANDIRAT_HOOK(scandirat, dirent)
SCANDIRAT_HOOK(scandirat64, dirent64)
