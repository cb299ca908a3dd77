/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks on functions that open a path: open(), fopen(), opendir(), glob() and similar ones. */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sysfs.h"

static __attribute__((noinline)) bool lookup_and_open(int dirfd, const char *path, int flags,
						      mode_t mode, int *fd)
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

/*
 * Opens path if it is in the device's tree, and sets *fd to the return value of open(). Only calls
 * for such paths use the kilobyte of stack for a target.
 */
static inline bool open_ours(int dirfd, const char *path, int flags, mode_t mode, int *fd)
{
	return sysfs_maybe(dirfd, path) && lookup_and_open(dirfd, path, flags, mode, fd);
}

/* Sets mode to the argument after `flags`, or to 0 if these flags take no mode. */
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

#define OPEN_HOOK(name)                                                                            \
	HOOK int name(const char *path, int flags, ...)                                            \
	{                                                                                          \
		mode_t mode;                                                                       \
		int fd;                                                                            \
                                                                                                   \
		OPEN_MODE(flags, mode);                                                            \
		return open_ours(AT_FDCWD, path, flags, mode, &fd) ?                               \
			       fd :                                                                \
			       REAL(name)(path, flags, mode);                                      \
	}

#define OPENAT_HOOK(name)                                                                          \
	HOOK int name(int dirfd, const char *path, int flags, ...)                                 \
	{                                                                                          \
		mode_t mode;                                                                       \
		int fd;                                                                            \
                                                                                                   \
		OPEN_MODE(flags, mode);                                                            \
		return open_ours(dirfd, path, flags, mode, &fd) ?                                  \
			       fd :                                                                \
			       REAL(name)(dirfd, path, flags, mode);                               \
	}

/* The fortified functions take no mode. If the flags need a mode, libc aborts the program. */
#define OPEN_2_HOOK(name, params, args, dirfd)                                                     \
	HOOK int name params                                                                       \
	{                                                                                          \
		int fd;                                                                            \
                                                                                                   \
		if (!__OPEN_NEEDS_MODE(flags) && open_ours(dirfd, path, flags, 0, &fd))            \
			return fd;                                                                 \
		return REAL(name) args;                                                            \
	}

OPEN_HOOK(open)
OPEN_HOOK(open64)
OPENAT_HOOK(openat)
OPENAT_HOOK(openat64)
OPEN_2_HOOK(__open_2, (const char *path, int flags), (path, flags), AT_FDCWD)
OPEN_2_HOOK(__open64_2, (const char *path, int flags), (path, flags), AT_FDCWD)
OPEN_2_HOOK(__openat_2, (int dirfd, const char *path, int flags), (dirfd, path, flags), dirfd)
OPEN_2_HOOK(__openat64_2, (int dirfd, const char *path, int flags), (dirfd, path, flags), dirfd)

/* Returns the flags of open() for a mode of fopen(), without those that create a file. */
static int stream_flags(const char *mode)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	return flags | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

static __attribute__((noinline)) bool lookup_and_fopen(const char *path, const char *mode,
						       FILE **fp)
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

static inline bool fopen_ours(const char *path, const char *mode, FILE **fp)
{
	return sysfs_maybe(AT_FDCWD, path) && lookup_and_fopen(path, mode, fp);
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	FILE *fp;

	return fopen_ours(path, mode, &fp) ? fp : REAL(fopen)(path, mode);
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	FILE *fp;

	return fopen_ours(path, mode, &fp) ? fp : REAL(fopen64)(path, mode);
}

/*
 * Returns the path that freopen() must open. This is the location of the file if path is in the
 * device's tree. Returns NULL if the mode would change the tree. In this case, closes fp and sets
 * errno.
 */
static const char *freopen_path(const char *path, const char *mode, FILE *fp,
				struct sysfs_target *target)
{
	if (!hooks_lookup(AT_FDCWD, path, target))
		return path;
	if (stream_flags(mode) & (O_WRONLY | O_RDWR) && target->kind != SYSFS_OUTSIDE) {
		fclose(fp);
		errno = EACCES;
		return NULL;
	}
	return target->path;
}

/* If the program passes NULL as path, it requests another mode for the same file. */
#define FREOPEN_HOOK(name)                                                                         \
	HOOK FILE *name(const char *path, const char *mode, FILE *fp)                              \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		const char *to = freopen_path(path, mode, fp, &target);                            \
                                                                                                   \
		return path && !to ? NULL : REAL(name)(to, mode, fp);                              \
	}

FREOPEN_HOOK(freopen)
FREOPEN_HOOK(freopen64)

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
 * Makes glob() call the hooks, by GLOB_ALTDIRFUNC. Without this flag, glob() reads directories by
 * libc's internal functions, which have no hooks. glob64_t is the same as glob_t, except for the
 * types of its functions.
 */
static bool glob_begin(const char *pattern, int flags, glob_t *g)
{
	if (flags & GLOB_ALTDIRFUNC || !sysfs_maybe(AT_FDCWD, pattern))
		return false;
	g->gl_opendir = glob_opendir;
	g->gl_closedir = glob_closedir;
	g->gl_readdir = glob_readdir;
	g->gl_stat = stat;
	g->gl_lstat = lstat;
	return true;
}

static void glob_end(glob_t *g, const glob_t *before)
{
	g->gl_opendir = before->gl_opendir;
	g->gl_closedir = before->gl_closedir;
	g->gl_readdir = before->gl_readdir;
	g->gl_stat = before->gl_stat;
	g->gl_lstat = before->gl_lstat;
	g->gl_flags &= ~GLOB_ALTDIRFUNC;
}

#define GLOB_HOOK(name, type)                                                                      \
	HOOK int name(const char *pattern, int flags, int (*on_error)(const char *, int), type *g) \
	{                                                                                          \
		glob_t before = *(glob_t *)g;                                                      \
		int ret;                                                                           \
                                                                                                   \
		if (!glob_begin(pattern, flags, (glob_t *)g))                                      \
			return REAL(name)(pattern, flags, on_error, g);                            \
		ret = REAL(name)(pattern, flags | GLOB_ALTDIRFUNC, on_error, g);                   \
		glob_end((glob_t *)g, &before);                                                    \
		return ret;                                                                        \
	}

GLOB_HOOK(glob, glob_t)
GLOB_HOOK(glob64, glob64_t)
