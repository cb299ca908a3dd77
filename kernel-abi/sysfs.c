/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "sysfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "devnum.h"
#include "libc.h"
#include "rnic.h"
#include "ucma.h"
#include "uverbs.h"

#define DEV_DIR "/dev/infiniband"
#define GIDS_MAX 256
/* What the kernel prints for every GID that is not of RoCE v2. */
#define GID_TYPE "IB/RoCE v1"

static const char *const our_trees[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/misc/rdma_cm",
	DEV_DIR,
};

_Atomic bool sysfs_cwd_inside;

/* Once set never changed; "" when there is none. */
static _Atomic(const char *) sysroot_path;

static bool is_sysroot(const char *path)
{
	char probe[SYSFS_PATH_MAX];
	struct stat st;
	int n = snprintf(probe, sizeof(probe), "%s/sys/class/infiniband_verbs/abi_version", path);

	return n < (int)sizeof(probe) && !libc_fstatat(AT_FDCWD, probe, &st, 0);
}

/* The physical path of the directory, without symbolic links: getcwd() and realpath() show that. */
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
		snprintf(buf, len, "%s", dir); /* no /proc */
		return true;
	}
	buf[n] = '\0';
	return true;
}

/* $SCTPIW_SYSROOT, or where builds and installations have it, relative to this library. */
static const char *sysroot_find(char *buf, size_t len)
{
	static const char *const places[] = {
		"/../share/sctpiw/sysroot",
		"/../../share/sctpiw/sysroot",
		"/../../../share/sctpiw/sysroot",
	};
	const char *env = secure_getenv("SCTPIW_SYSROOT");
	char dir[SYSFS_PATH_MAX], candidate[SYSFS_PATH_MAX + 64];

	if (env && *env)
		return is_sysroot(env) && physical_path(env, buf, len) ? buf : NULL;
	if (rnic_library_dir(dir, sizeof(dir)))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(candidate, sizeof(candidate), "%s%s", dir, places[i]);
		if (is_sysroot(candidate) && physical_path(candidate, buf, len))
			return buf;
	}
	return NULL;
}

/* NULL: there is none, and nothing is redirected. Whoever is late to find it leaks a copy, once. */
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

/* Component by component without looking at the disk; 0, or -ENAMETOOLONG. */
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

/* .../dir/N, as far as a GID may have the number N. */
static bool is_numbered(const char *path, const char *dir, unsigned int *number)
{
	const char *name = strrchr(path, '/') + 1;
	size_t len = strlen(dir);
	unsigned long n;
	char *end;

	if ((size_t)(name - path) < len || strncmp(name - len, dir, len) || *name < '0' ||
	    *name > '9')
		return false;
	n = strtoul(name, &end, 10);
	*number = (unsigned int)n;
	return !*end && n < GIDS_MAX;
}

static void classify(const char *path, struct sysfs_target *target)
{
	const char *name = strrchr(path, '/') + 1;

	target->kind = SYSFS_FILE;
	if (!strcmp(path, DEV_DIR "/uverbs0")) {
		target->kind = SYSFS_UVERBS;
	} else if (!strcmp(path, DEV_DIR "/rdma_cm")) {
		target->kind = SYSFS_RDMA_CM;
	} else if (!strcmp(name, "node_guid") || !strcmp(name, "sys_image_guid")) {
		target->kind = SYSFS_NODE_GUID;
	} else if (is_numbered(path, "/gids/", &target->gid_index)) {
		target->kind = SYSFS_GID;
	} else if (is_numbered(path, "/gid_attrs/types/", &target->gid_index)) {
		target->kind = SYSFS_GID_TYPE;
	}
}

/* The application's name of the directory that a relative path starts from, if it is in our tree. */
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

	/* Nearly all paths that got this far stop here. */
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
	if (path[strlen(path) - 1] == '/') /* asks for a directory */
		memcpy(target->path + len + n, "/", 2);
	return true;
}

/* A file with text in it that need not be on any disk. */
static int open_text(const char *text, int flags)
{
	int fd = memfd_create("sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	ssize_t len = (ssize_t)strlen(text);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, (size_t)len, 0) != len) {
		libc_close(fd);
		return -EIO;
	}
	return fd;
}

/* As the kernel prints them: groups of 16 bits. */
static void print_groups(char *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 2)
		out += sprintf(out, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
	strcpy(out, "\n");
}

static int open_guid(int flags)
{
	const struct sctpiw_rnic_api *api = rnic_load();
	uint8_t bytes[8];
	uint64_t guid;
	char text[48];

	if (!api)
		return -ENODEV;
	guid = api->node_guid(); /* network byte order */
	memcpy(bytes, &guid, sizeof(bytes));
	print_groups(text, bytes, sizeof(bytes));
	return open_text(text, flags);
}

/*
 * The table on disk has so many slots, and those past the end of the RNIC's table are empty. A host
 * with more addresses has more.
 */
static int open_gid(unsigned int index, int flags, bool type)
{
	const struct sctpiw_rnic_api *api = rnic_load();
	uint8_t gid[16];
	char text[48];

	if (!api)
		return -ENODEV;
	if (api->query_gid(index, gid)) {
		if (index >= SYSFS_GIDS)
			return -ENOENT;
		memset(gid, 0, sizeof(gid));
	}
	if (type)
		return open_text(GID_TYPE "\n", flags);
	print_groups(text, gid, sizeof(gid));
	return open_text(text, flags);
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
	/* The tree is shared by all, and its owner must not change it by way of /sys. */
	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC))
		return -EACCES;
	if (!(flags & O_DIRECTORY)) {
		if (target->kind == SYSFS_NODE_GUID)
			return open_guid(flags);
		if (target->kind == SYSFS_GID)
			return open_gid(target->gid_index, flags, false);
		if (target->kind == SYSFS_GID_TYPE && target->gid_index >= SYSFS_GIDS)
			return open_gid(target->gid_index, flags, true);
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
 * By the time of its directory libibverbs knows whether a device is the one that it has in its list; by that
 * librdmacm in the child of a fork() finds the child's device, in place of the parent's.
 */
static void fix_time(const struct sysfs_target *target, struct stat *st)
{
	const struct sctpiw_rnic_api *api = rnic_get();

	if (api && S_ISDIR(st->st_mode) && after_prefix(target->known_as, our_trees[0]))
		st->st_mtim.tv_sec += api->forks();
}

void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st)
{
	fix_time(target, st);
	if (target->kind != SYSFS_UVERBS && target->kind != SYSFS_RDMA_CM)
		return;
	st->st_mode = S_IFCHR | 0666;
	st->st_size = 0;
	st->st_rdev = target->kind == SYSFS_UVERBS ? makedev(UVERBS_MAJOR, UVERBS_MINOR) :
						     makedev(RDMA_CM_MAJOR, RDMA_CM_MINOR);
}

void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx)
{
	struct stat st = {0};

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

static const struct kfile_ops dir_ops = {.release = dir_release};

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

	/* Cheap enough for every program: only a path that looks like it is looked at closer. */
	if (getcwd(cwd, sizeof(cwd)) && strstr(cwd, "/sysroot/") && sysroot() &&
	    after_prefix(cwd, sysroot()))
		sysfs_entered();
	errno = saved;
}
