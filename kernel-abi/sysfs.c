/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "sysfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attr.h"
#include "devnum.h"
#include "libc.h"
#include "rnic.h"
#include "ucma.h"
#include "uverbs.h"

#define DEV_DIR "/dev/infiniband"

static const char *const our_trees[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/misc/rdma_cm",
	DEV_DIR,
};

_Atomic bool sysfs_cwd_inside;

/* NULL: not searched yet; "": there is no sysroot. Once set, the pointer never changes. */
static _Atomic(const char *) sysroot_path;

static bool is_sysroot(const char *path)
{
	char probe[SYSFS_PATH_MAX];
	struct stat st;
	int n = snprintf(probe, sizeof(probe), "%s/sys/class/infiniband_verbs/abi_version", path);

	return n < (int)sizeof(probe) && !libc_fstatat(AT_FDCWD, probe, &st, 0);
}

/* Writes the path of a directory without symbolic links, as getcwd() and realpath() return it. */
static bool physical_path(const char *dir, char *buf, size_t len)
{
	char link[64];
	ssize_t n;
	int fd = libc_open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, len - 1);
	libc_close(fd);
	if (n <= 0 || buf[0] != '/') {
		snprintf(buf, len, "%s", dir); /* the host has no /proc */
		return true;
	}
	buf[n] = '\0';
	return true;
}

/*
 * Returns the directory of $SCTPIW_SYSROOT, or the tree in the directory of this library. Returns
 * NULL if neither is a sysroot.
 */
static const char *sysroot_find(char *buf, size_t len)
{
	const char *env = secure_getenv("SCTPIW_SYSROOT");
	char dir[SYSFS_PATH_MAX], candidate[SYSFS_PATH_MAX + 64];

	if (env && *env)
		return is_sysroot(env) && physical_path(env, buf, len) ? buf : NULL;
	if (rnic_library_dir(dir, sizeof(dir)))
		return NULL;
	snprintf(candidate, sizeof(candidate), "%s/sysroot", dir);
	return is_sysroot(candidate) && physical_path(candidate, buf, len) ? buf : NULL;
}

/*
 * Returns the sysroot, or NULL if there is none; no path is then redirected. If two threads search
 * at the same time, one of them leaks its copy of the path.
 */
static const char *sysroot(void)
{
	const char *path = atomic_load(&sysroot_path), *none = NULL;
	char buf[SYSFS_PATH_MAX];
	int saved = errno;

	if (!path) {
		path = sysroot_find(buf, sizeof(buf));
		path = path ? strdup(path) : "";
		if (!path)
			path = "";
		if (!atomic_compare_exchange_strong(&sysroot_path, &none, path))
			path = none;
		errno = saved;
	}
	return *path ? path : NULL;
}

/*
 * Removes //, . and .. from an absolute path without access to the disk. Returns 0 or
 * -ENAMETOOLONG.
 */
static int normalize(char *out, size_t len, const char *path)
{
	size_t used = 0;

	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (!n)
			break;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (used && out[--used] != '/')
				;
		} else if (n != 1 || path[0] != '.') {
			if (used + n + 2 > len)
				return -ENAMETOOLONG;
			out[used++] = '/';
			memcpy(out + used, path, n);
			used += n;
		}
		path += n;
	}
	if (!used)
		out[used++] = '/';
	out[used] = '\0';
	return 0;
}

/*
 * Returns the part of path after prefix, or NULL if path does not begin with prefix. prefix must
 * end at a slash or at the end of path.
 */
static const char *after_prefix(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return !strncmp(path, prefix, n) && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

static bool in_our_trees(const char *path)
{
	for (size_t i = 0; i < sizeof(our_trees) / sizeof(our_trees[0]); i++)
		if (after_prefix(path, our_trees[i]))
			return true;
	return false;
}

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len >= n && !strcmp(path + len - n, end);
}

/*
 * Returns the last component of path if the rest of path is dir. Otherwise returns NULL. dir begins
 * and ends with a slash.
 */
static const char *name_in(const char *path, const char *dir)
{
	const char *name = strrchr(path, '/') + 1;
	size_t len = strlen(dir);

	return (size_t)(name - path) >= len && !strncmp(name - len, dir, len) ? name : NULL;
}

/* True if path is .../dir/N. N must be the number of a slot of the GID table. */
static bool is_numbered(const char *path, const char *dir, unsigned int *number)
{
	const char *name = name_in(path, dir);
	unsigned long n;
	char *end;

	if (!name || *name < '0' || *name > '9')
		return false;
	n = strtoul(name, &end, 10);
	*number = (unsigned int)n;
	return !*end && n < SYSFS_GIDS;
}

static const struct {
	const char *end;
	enum sysfs_kind kind;
} made_files[] = {
	{DEV_DIR "/uverbs0", SYSFS_UVERBS},
	{DEV_DIR "/rdma_cm", SYSFS_RDMA_CM},
	{"/node_guid", SYSFS_NODE_GUID},
	{"/node_type", SYSFS_NODE_TYPE},
	{"/sys_image_guid", SYSFS_NODE_GUID},
	{"/ports/1/state", SYSFS_STATE},
	{"/ports/1/phys_state", SYSFS_PHYS_STATE},
	{"/ports/1/rate", SYSFS_RATE},
	{"/ports/1/link_layer", SYSFS_LINK_LAYER},
	{"/ports/1/lid", SYSFS_LID},
	{"/device/local_cpus", SYSFS_LOCAL_CPUS},
}, made_dirs[] = {
	{"/ports/1/gids/", SYSFS_GID},
	{"/ports/1/gid_attrs/types/", SYSFS_GID_TYPE},
	{"/ports/1/gid_attrs/ndevs/", SYSFS_GID_NDEV},
};

/*
 * Sets target->kind, and gid_index, for a normalized path of the tree. The application sees the
 * file by this path.
 */
static void classify(const char *path, struct sysfs_target *target)
{
	target->kind = SYSFS_FILE;
	for (size_t i = 0; i < sizeof(made_files) / sizeof(made_files[0]); i++)
		if (ends_with(path, made_files[i].end))
			target->kind = made_files[i].kind;
	for (size_t i = 0; i < sizeof(made_dirs) / sizeof(made_dirs[0]); i++)
		if (is_numbered(path, made_dirs[i].end, &target->gid_index))
			target->kind = made_dirs[i].kind;
	if (name_in(path, "/ports/1/counters/") || name_in(path, "/ports/1/hw_counters/"))
		target->kind = SYSFS_COUNTER;
}

/*
 * Writes the directory to which a relative path is relative, as the application sees it. Returns
 * false if this directory is not in the tree.
 */
static bool base_of(int dirfd, const char *root, char *buf, size_t len)
{
	const char *inside;
	struct kfile *kf;
	bool found;

	if (dirfd == AT_FDCWD) {
		if (!getcwd(buf, len))
			return false;
		inside = after_prefix(buf, root);
		if (!inside)
			return false;
		memmove(buf, inside, strlen(inside) + 1);
		return true;
	}
	kf = fdtable_get(dirfd);
	found = kf && kf->path && snprintf(buf, len, "%s", kf->path) < (int)len;
	if (kf)
		kfile_put(kf);
	return found;
}

bool sysfs_lookup(int dirfd, const char *path, struct sysfs_target *target)
{
	char joined[SYSFS_PATH_MAX], clean[SYSFS_PATH_MAX];
	const char *root;
	size_t len, n;
	int saved = errno;
	bool relative = path[0] != '/';

	/* This fast test excludes nearly all paths that are not in the tree. */
	if (!*path || (!relative && !strstr(path, "infiniband") && !strstr(path, "rdma_cm")))
		return false;
	if (!relative && normalize(clean, sizeof(clean), path))
		return false;
	if (!relative && !in_our_trees(clean) && !in_our_trees(path))
		return false;
	root = sysroot();
	if (!root)
		return false;
	if (relative) {
		if (!base_of(dirfd, root, joined, sizeof(joined))) {
			errno = saved;
			return false;
		}
		len = strlen(joined);
		if (snprintf(joined + len, sizeof(joined) - len, "/%s", path) >=
			    (int)(sizeof(joined) - len) ||
		    normalize(clean, sizeof(clean), joined))
			return false;
	}
	len = strlen(root);
	n = strlen(clean);
	if (len + n + 2 > sizeof(target->path))
		return false;
	if (!in_our_trees(clean)) {
		target->kind = SYSFS_OUTSIDE;
		memcpy(target->path, clean, n + 1);
		target->known_as = target->path;
		return true;
	}
	classify(clean, target);
	memcpy(target->path, root, len);
	memcpy(target->path + len, clean, n + 1);
	target->known_as = target->path + len;
	/* If the path ends with a slash, it must be a directory. */
	if (path[strlen(path) - 1] == '/')
		memcpy(target->path + len + n, "/", 2);
	return true;
}

int sysfs_open(const struct sysfs_target *target, int flags)
{
	int fd;

	if (flags & O_PATH)
		return libc_open(target->path, flags);
	switch (target->kind) {
	case SYSFS_UVERBS:
		return flags & O_DIRECTORY ? -ENOTDIR : uverbs_open(flags);
	case SYSFS_RDMA_CM:
		return flags & O_DIRECTORY ? -ENOTDIR : ucma_open(flags);
	default:
		break;
	}
	/* All programs use the same tree, so not even its owner may change it through /sys. */
	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC))
		return -EACCES;
	if (!(flags & O_DIRECTORY) && !ends_with(target->path, "/") && target->kind != SYSFS_FILE) {
		fd = attr_open(target, flags);
		if (fd != -ENOENT)
			return fd;
	}
	fd = libc_open(target->path, flags);
	if (fd >= 0)
		sysfs_opened_dir(target, fd);
	return fd;
}

int sysfs_access(const struct sysfs_target *target, int mode)
{
	struct stat st;
	int ret = libc_fstatat(AT_FDCWD, target->path, &st, 0);

	if (ret)
		return ret;
	if (target->kind == SYSFS_UVERBS || target->kind == SYSFS_RDMA_CM)
		return mode & X_OK ? -EACCES : 0;
	return mode & W_OK || (mode & X_OK && !S_ISDIR(st.st_mode)) ? -EACCES : 0;
}

/*
 * Returns the number of seconds to add to the modification time of a directory of the device. It is
 * the number of forks between the first process with the device and this process. libibverbs
 * compares this time to check if a device is already in its list. In the child of a fork(), the
 * device then counts as new, and librdmacm does not use the device of the parent.
 */
static uint32_t seconds_younger(const struct sysfs_target *target, mode_t mode)
{
	const struct sctpiw_rnic_api *api = rnic_get();

	return api && S_ISDIR(mode) && after_prefix(target->known_as, our_trees[0]) ? api->forks() :
										      0;
}

void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st)
{
	st->st_mtim.tv_sec += seconds_younger(target, st->st_mode);
	if (target->kind != SYSFS_UVERBS && target->kind != SYSFS_RDMA_CM)
		return;
	st->st_mode = S_IFCHR | 0666;
	st->st_size = 0;
	st->st_rdev = target->kind == SYSFS_UVERBS ? makedev(UVERBS_MAJOR, UVERBS_MINOR) :
						     makedev(RDMA_CM_MAJOR, RDMA_CM_MINOR);
}

void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx)
{
	struct stat st = { 0 };

	stx->stx_mtime.tv_sec += seconds_younger(target, stx->stx_mode);
	if (target->kind != SYSFS_UVERBS && target->kind != SYSFS_RDMA_CM)
		return;
	sysfs_fix_stat(target, &st);
	stx->stx_mode = (uint16_t)st.st_mode;
	stx->stx_size = 0;
	stx->stx_rdev_major = major(st.st_rdev);
	stx->stx_rdev_minor = minor(st.st_rdev);
}

static void dir_release(struct kfile *kf)
{
	free(kf->path);
}

static const struct kfile_ops dir_ops = { .release = dir_release };

void sysfs_opened_dir(const struct sysfs_target *target, int fd)
{
	struct stat st;
	char *path;

	if (target->kind != SYSFS_FILE || libc_fstat(fd, &st) || !S_ISDIR(st.st_mode))
		return;
	path = strdup(target->known_as);
	if (path && fdtable_install(fd, &dir_ops, NULL, path))
		free(path);
}

void sysfs_unmap(char *path)
{
	const char *root = sysroot(), *inside = root ? after_prefix(path, root) : NULL;

	if (inside && *inside)
		memmove(path, inside, strlen(inside) + 1);
}

void sysfs_entered(void)
{
	atomic_store(&sysfs_cwd_inside, true);
}

void sysfs_init(void)
{
	char cwd[SYSFS_PATH_MAX];
	int saved = errno;

	/*
	 * This function runs in every program. To save time, it looks for the sysroot only if the
	 * working directory may be in one.
	 */
	if (getcwd(cwd, sizeof(cwd)) && strstr(cwd, "/sysroot/") && sysroot() &&
	    after_prefix(cwd, sysroot()))
		sysfs_entered();
	errno = saved;
}
