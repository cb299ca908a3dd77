/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on functions that use a path without opening it, for access rights, symbolic links, the
 * working directory and extended attributes. hooks_stat.c has the stat family.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>

#include "fdtable.h"
#include "sysfs.h"

/*
 * If the path is in the device's tree, sets *ret to the hook's return value and returns true.
 * Otherwise the hook must call libc with *dirfd and *path. This function has changed them if the
 * path leads out of the tree.
 */
static bool access_ours(int *dirfd, const char **path, int mode, struct sysfs_target *target,
			int *ret)
{
	int saved = errno;

	if (!hooks_redirect(dirfd, path, target) || target->kind == SYSFS_OUTSIDE)
		return false;
	*ret = (int)hooks_result(sysfs_access(target, mode), saved);
	return true;
}

HOOK int access(const char *path, int mode)
{
	struct sysfs_target target;
	int ret, dirfd = AT_FDCWD;

	return access_ours(&dirfd, &path, mode, &target, &ret) ? ret : REAL(access)(path, mode);
}

HOOK int eaccess(const char *path, int mode)
{
	struct sysfs_target target;
	int ret, dirfd = AT_FDCWD;

	return access_ours(&dirfd, &path, mode, &target, &ret) ? ret : REAL(eaccess)(path, mode);
}

HOOK int euidaccess(const char *path, int mode)
{
	struct sysfs_target target;
	int ret, dirfd = AT_FDCWD;

	return access_ours(&dirfd, &path, mode, &target, &ret) ? ret : REAL(euidaccess)(path, mode);
}

HOOK int faccessat(int dirfd, const char *path, int mode, int flags)
{
	struct sysfs_target target;
	int ret;

	return access_ours(&dirfd, &path, mode, &target, &ret) ?
		       ret :
		       REAL(faccessat)(dirfd, path, mode, flags);
}

HOOK ssize_t readlink(const char *path, char *buf, size_t len)
{
	struct sysfs_target target;
	int dirfd = AT_FDCWD;

	hooks_redirect(&dirfd, &path, &target);
	return REAL(readlink)(path, buf, len);
}

HOOK ssize_t readlinkat(int dirfd, const char *path, char *buf, size_t len)
{
	struct sysfs_target target;

	hooks_redirect(&dirfd, &path, &target);
	return REAL(readlinkat)(dirfd, path, buf, len);
}

HOOK ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t size)
{
	struct sysfs_target target;
	int dirfd = AT_FDCWD;

	hooks_redirect(&dirfd, &path, &target);
	return REAL(__readlink_chk)(path, buf, len, size);
}

HOOK ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t len, size_t size)
{
	struct sysfs_target target;

	hooks_redirect(&dirfd, &path, &target);
	return REAL(__readlinkat_chk)(dirfd, path, buf, len, size);
}

#define REALPATH_HOOK(name, params, args)                                                          \
	HOOK char *name params                                                                     \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		char *ret;                                                                         \
                                                                                                   \
		if (!hooks_lookup(AT_FDCWD, path, &target))                                        \
			return REAL(name) args;                                                    \
		path = target.path;                                                                \
		ret = REAL(name) args;                                                             \
		if (ret)                                                                           \
			sysfs_unmap(ret);                                                          \
		return ret;                                                                        \
	}

REALPATH_HOOK(realpath, (const char *path, char *resolved_path), (path, resolved_path))
REALPATH_HOOK(__realpath_chk, (const char *path, char *resolved_path, size_t size),
	      (path, resolved_path, size))
REALPATH_HOOK(canonicalize_file_name, (const char *path), (path))

HOOK int chdir(const char *path)
{
	struct sysfs_target target;
	int ret;

	if (!hooks_lookup(AT_FDCWD, path, &target))
		return REAL(chdir)(path);
	ret = REAL(chdir)(target.path);
	if (!ret && target.kind != SYSFS_OUTSIDE)
		sysfs_entered();
	return ret;
}

HOOK int fchdir(int fd)
{
	int ret = REAL(fchdir)(fd);

	if (!ret && unlikely(fdtable_maybe(fd)))
		sysfs_entered(); /* only possibly; lookups of relative paths check this */
	return ret;
}

/* Extended attributes have hooks since `ls -l` reads them for each file. */
#define XATTR_HOOK(name, params, args)                                                             \
	HOOK ssize_t name params                                                                   \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		int dirfd = AT_FDCWD;                                                              \
                                                                                                   \
		hooks_redirect(&dirfd, &path, &target);                                            \
		return REAL(name) args;                                                            \
	}

XATTR_HOOK(getxattr, (const char *path, const char *name, void *value, size_t size),
	   (path, name, value, size))
XATTR_HOOK(lgetxattr, (const char *path, const char *name, void *value, size_t size),
	   (path, name, value, size))
XATTR_HOOK(listxattr, (const char *path, char *list, size_t size), (path, list, size))
XATTR_HOOK(llistxattr, (const char *path, char *list, size_t size), (path, list, size))
