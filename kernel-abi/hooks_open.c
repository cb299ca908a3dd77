/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks on functions that open a path: descriptors, streams, directories, and patterns of paths. */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sysfs.h"

/*
 * Opens path if it is in the device's tree: *fd is what open() returns then. A function of its own,
 * so that only these calls pay for the kilobyte of stack that a target takes.
 */
static __attribute__((noinline)) bool open_ours(int dirfd, const char *path, int flags, mode_t mode,
						int *fd)
{
	struct sysfs_target target;
	int saved = errno;

	if (!sysfs_lookup(dirfd, path, &target))
		return false;
	if (target.kind == SYSFS_OUTSIDE)
		*fd = REAL(open)(target.path, flags, mode);
	else
		*fd = (int)hooks_result(sysfs_open(&target, flags), saved);
	return true;
}

static int openat_hook(int dirfd, const char *path, int flags, mode_t mode)
{
	int fd;

	if (sysfs_maybe(dirfd, path) && open_ours(dirfd, path, flags, mode, &fd))
		return fd;
	return dirfd == AT_FDCWD ? REAL(open)(path, flags, mode) :
				   REAL(openat)(dirfd, path, flags, mode);
}

/* Fetches the mode that follows the argument `flags`, or 0 if these flags come without one. */
#define OPEN_MODE(flags, mode)                                                                     \
	do {                                                                                       \
		va_list ap;                                                                        \
		mode = 0;                                                                          \
		if (__OPEN_NEEDS_MODE(flags)) {                                                    \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, mode_t);                                                 \
			va_end(ap);                                                                \
		}                                                                                  \
	} while (0)

HOOK int open(const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(AT_FDCWD, path, flags, mode);
}

HOOK int open64(const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

HOOK int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(dirfd, path, flags, mode);
}

HOOK int openat64(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(dirfd, path, flags | O_LARGEFILE, mode);
}

/* The fortified functions have no mode: if the flags need one the program is at fault, and ends. */
static int openat_2_hook(int dirfd, const char *path, int flags)
{
	if (__OPEN_NEEDS_MODE(flags))
		__chk_fail();
	return openat_hook(dirfd, path, flags, 0);
}

HOOK int __open_2(const char *path, int flags)
{
	return openat_2_hook(AT_FDCWD, path, flags);
}

HOOK int __open64_2(const char *path, int flags)
{
	return openat_2_hook(AT_FDCWD, path, flags | O_LARGEFILE);
}

HOOK int __openat_2(int dirfd, const char *path, int flags)
{
	return openat_2_hook(dirfd, path, flags);
}

HOOK int __openat64_2(int dirfd, const char *path, int flags)
{
	return openat_2_hook(dirfd, path, flags | O_LARGEFILE);
}

/*
 * The flags of open() for a mode of fopen() ("r", "r+", "we" ...), without those that create a
 * file.
 */
static int stream_flags(const char *mode)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	return flags | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

static __attribute__((noinline)) bool fopen_ours(const char *path, const char *mode, FILE **fp)
{
	struct sysfs_target target;
	int fd, saved = errno;

	if (!sysfs_lookup(AT_FDCWD, path, &target))
		return false;
	if (target.kind == SYSFS_OUTSIDE) {
		*fp = REAL(fopen)(target.path, mode);
		return true;
	}
	fd = (int)hooks_result(sysfs_open(&target, stream_flags(mode)), saved);
	*fp = fd < 0 ? NULL : fdopen(fd, mode);
	if (fd >= 0 && !*fp)
		close(fd);
	return true;
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	FILE *fp;

	if (sysfs_maybe(AT_FDCWD, path) && fopen_ours(path, mode, &fp))
		return fp;
	return REAL(fopen)(path, mode);
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

HOOK FILE *freopen(const char *path, const char *mode, FILE *fp)
{
	struct sysfs_target target;

	if (hooks_lookup(AT_FDCWD, path, &target)) {
		if (stream_flags(mode) & (O_WRONLY | O_RDWR) && target.kind != SYSFS_OUTSIDE) {
			fclose(fp);
			errno = EACCES;
			return NULL;
		}
		path = target.path;
	}
	return REAL(freopen)(path, mode, fp);
}

HOOK FILE *freopen64(const char *path, const char *mode, FILE *fp)
{
	return freopen(path, mode, fp);
}

HOOK DIR *opendir(const char *path)
{
	struct sysfs_target target;
	DIR *dir;

	if (!hooks_lookup(AT_FDCWD, path, &target))
		return REAL(opendir)(path);
	dir = REAL(opendir)(target.path);
	if (dir)
		sysfs_opened_dir(&target, dirfd(dir));
	return dir;
}

HOOK int scandirat(int dirfd, const char *path, struct dirent ***list,
		   int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	struct sysfs_target target;

	hooks_redirect(&dirfd, &path, &target);
	return dirfd == AT_FDCWD ? REAL(scandir)(path, list, filter, compare) :
				   REAL(scandirat)(dirfd, path, list, filter, compare);
}

HOOK int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **))
{
	return scandirat(AT_FDCWD, path, list, filter, compare);
}

HOOK int scandir64(const char *path, struct dirent64 ***list,
		   int (*filter)(const struct dirent64 *),
		   int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(AT_FDCWD, path, (struct dirent ***)list,
			 (int (*)(const struct dirent *))filter,
			 (int (*)(const struct dirent **, const struct dirent **))compare);
}

HOOK int scandirat64(int dirfd, const char *path, struct dirent64 ***list,
		     int (*filter)(const struct dirent64 *),
		     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(dirfd, path, (struct dirent ***)list,
			 (int (*)(const struct dirent *))filter,
			 (int (*)(const struct dirent **, const struct dirent **))compare);
}

static void *glob_opendir(const char *path)
{
	return opendir(path);
}

static void glob_closedir(void *dir)
{
	closedir(dir);
}

static struct dirent *glob_readdir(void *dir)
{
	return readdir(dir);
}

/*
 * glob() reads directories by libc's internal functions, which are not hooked. GLOB_ALTDIRFUNC
 * makes it call the hooks instead.
 */
HOOK int glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *g)
{
	glob_t saved = *g;
	int ret;

	if (flags & GLOB_ALTDIRFUNC || !sysfs_maybe(AT_FDCWD, pattern))
		return REAL(glob)(pattern, flags, on_error, g);
	g->gl_opendir = glob_opendir;
	g->gl_closedir = glob_closedir;
	g->gl_readdir = glob_readdir;
	g->gl_stat = stat;
	g->gl_lstat = lstat;
	ret = REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, on_error, g);
	g->gl_opendir = saved.gl_opendir;
	g->gl_closedir = saved.gl_closedir;
	g->gl_readdir = saved.gl_readdir;
	g->gl_stat = saved.gl_stat;
	g->gl_lstat = saved.gl_lstat;
	g->gl_flags &= ~GLOB_ALTDIRFUNC;
	return ret;
}

HOOK int glob64(const char *pattern, int flags, int (*on_error)(const char *, int), glob64_t *g)
{
	return glob(pattern, flags, on_error, (glob_t *)g);
}
