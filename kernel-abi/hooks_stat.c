/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on the stat family. In 64-bit libcs, stat and stat64 are the same, and the __xstat
 * functions of older programs know only one version of the struct. Nevertheless, each hook calls
 * the next definition of its own name.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <sys/sysmacros.h>

#include "fdtable.h"
#include "sysfs.h"

/* If fd is a device of this library, makes the result of fstat() that of a character device. */
static __attribute__((noinline)) void fix_fstat(int fd, struct stat *st)
{
	struct kfile *kf = fdtable_get(fd);

	if (!kf)
		return;
	if (kf->ops->cdev) {
		st->st_mode = S_IFCHR | 0666;
		st->st_size = 0;
		st->st_rdev = makedev(kf->ops->major, kf->ops->minor);
	}
	kfile_put(kf);
}

/*
 * Completes a hook of fstat(). ret: the result of libc's function. st: a struct stat or stat64.
 * Returns the result of the hook.
 */
static inline int fixed(int fd, int ret, void *st)
{
	if (unlikely(fdtable_maybe(fd)) && !ret)
		fix_fstat(fd, st);
	return ret;
}

/* True if the arguments of fstatat() or statx() refer to dirfd itself, which may be served. */
static bool is_descriptor_itself(int dirfd, const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && dirfd >= 0 && fdtable_maybe(dirfd) && (!path || !*path);
}

/* Does the same as fixed(), for the hooks of fstatat(). */
static inline int fixed_at(int dirfd, const char *path, int flags, int ret, void *st)
{
	if (!ret && is_descriptor_itself(dirfd, path, flags))
		fix_fstat(dirfd, st);
	return ret;
}

static __attribute__((noinline)) bool lookup_and_stat(int dirfd, const char *path, struct stat *st,
						      int flags, int *ret)
{
	struct sysfs_target target;

	if (!sysfs_lookup(dirfd, path, &target))
		return false;
	*ret = REAL(fstatat)(AT_FDCWD, target.path, st, flags);
	if (!*ret)
		sysfs_fix_stat(&target, st);
	return true;
}

/*
 * Performs fstatat() if path is in the device's tree, and sets *ret to the hook's return value.
 * Otherwise returns false.
 */
static inline bool stat_ours(int dirfd, const char *path, void *st, int flags, int *ret)
{
	return sysfs_maybe(dirfd, path) && lookup_and_stat(dirfd, path, st, flags, ret);
}

HOOK int stat(const char *path, struct stat *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, 0, &ret) ? ret : REAL(stat)(path, st);
}

HOOK int stat64(const char *path, struct stat64 *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, 0, &ret) ? ret : REAL(stat64)(path, st);
}

HOOK int lstat(const char *path, struct stat *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &ret) ? ret :
									  REAL(lstat)(path, st);
}

HOOK int lstat64(const char *path, struct stat64 *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &ret) ? ret :
									  REAL(lstat64)(path, st);
}

HOOK int fstat(int fd, struct stat *st)
{
	return fixed(fd, REAL(fstat)(fd, st), st);
}

HOOK int fstat64(int fd, struct stat64 *st)
{
	return fixed(fd, REAL(fstat64)(fd, st), st);
}

HOOK int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	int ret;

	if (stat_ours(dirfd, path, st, flags, &ret))
		return ret;
	return fixed_at(dirfd, path, flags, REAL(fstatat)(dirfd, path, st, flags), st);
}

HOOK int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	int ret;

	if (stat_ours(dirfd, path, st, flags, &ret))
		return ret;
	return fixed_at(dirfd, path, flags, REAL(fstatat64)(dirfd, path, st, flags), st);
}

HOOK int __xstat(int version, const char *path, struct stat *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, 0, &ret) ? ret : REAL(__xstat)(version, path, st);
}

HOOK int __xstat64(int version, const char *path, struct stat64 *st)
{
	int ret;

	return stat_ours(AT_FDCWD, path, st, 0, &ret) ? ret : REAL(__xstat64)(version, path, st);
}

HOOK int __lxstat(int version, const char *path, struct stat *st)
{
	int ret;

	if (stat_ours(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &ret))
		return ret;
	return REAL(__lxstat)(version, path, st);
}

HOOK int __lxstat64(int version, const char *path, struct stat64 *st)
{
	int ret;

	if (stat_ours(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &ret))
		return ret;
	return REAL(__lxstat64)(version, path, st);
}

HOOK int __fxstat(int version, int fd, struct stat *st)
{
	return fixed(fd, REAL(__fxstat)(version, fd, st), st);
}

HOOK int __fxstat64(int version, int fd, struct stat64 *st)
{
	return fixed(fd, REAL(__fxstat64)(version, fd, st), st);
}

HOOK int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags)
{
	int ret;

	if (stat_ours(dirfd, path, st, flags, &ret))
		return ret;
	return fixed_at(dirfd, path, flags, REAL(__fxstatat)(version, dirfd, path, st, flags), st);
}

HOOK int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st, int flags)
{
	int ret;

	if (stat_ours(dirfd, path, st, flags, &ret))
		return ret;
	ret = REAL(__fxstatat64)(version, dirfd, path, st, flags);
	return fixed_at(dirfd, path, flags, ret, st);
}

HOOK int statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	struct sysfs_target target;
	struct stat st = { 0 };
	int ret;

	if (hooks_lookup(dirfd, path, &target)) {
		ret = REAL(statx)(AT_FDCWD, target.path, flags, mask, stx);
		if (!ret)
			sysfs_fix_statx(&target, stx);
		return ret;
	}
	ret = REAL(statx)(dirfd, path, flags, mask, stx);
	if (!ret && is_descriptor_itself(dirfd, path, flags)) {
		fix_fstat(dirfd, &st);
		if (S_ISCHR(st.st_mode)) {
			stx->stx_mode = (uint16_t)st.st_mode;
			stx->stx_rdev_major = major(st.st_rdev);
			stx->stx_rdev_minor = minor(st.st_rdev);
		}
	}
	return ret;
}
