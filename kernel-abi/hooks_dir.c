/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks that open and read directories. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fdtable.h"
#include "hooks.h"
#include "netdir.h"

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

HOOK struct dirent *readdir(DIR *dir)
{
	struct netdir *n = netdir_find(dir);

	return n ? netdir_next(n) : REAL(readdir)(dir);
}

HOOK struct dirent64 *readdir64(DIR *dir)
{
	struct netdir *n = netdir_find(dir);

	return n ? (struct dirent64 *)netdir_next(n) : REAL(readdir64)(dir);
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

/* ---- scandir() reads directories by libc's internal functions, which are not hooked ---- */

typedef int dir_filter(const struct dirent *);
typedef int dir_compare(const struct dirent **, const struct dirent **);

static void free_list(struct dirent **list, int n)
{
	while (n--)
		free(list[n]);
	free(list);
}

/* scandir() for the directory device/net. */
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

/* The types of filter and comparison differ between the functions. */
#define SCAN_NETDIR                                                                                \
	scan(target.known_as, (struct dirent ***)list, (dir_filter *)filter, (dir_compare *)compare)

#define SCANDIR_HOOK(name, entry)                                                                  \
	HOOK int name(const char *path, struct entry ***list, int (*filter)(const struct entry *), \
		      int (*compare)(const struct entry **, const struct entry **))                \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		int dirfd = AT_FDCWD;                                                              \
                                                                                                   \
		if (hooks_redirect(&dirfd, &path, &target) && netdir_is(target.known_as))          \
			return SCAN_NETDIR;                                                        \
		return REAL(name)(path, list, filter, compare);                                    \
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
		return REAL(name)(dirfd, path, list, filter, compare);                             \
	}

SCANDIR_HOOK(scandir, dirent)
SCANDIR_HOOK(scandir64, dirent64)
SCANDIRAT_HOOK(scandirat, dirent)
SCANDIRAT_HOOK(scandirat64, dirent64)
