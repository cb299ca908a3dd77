/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's files: /sys/class/infiniband, /sys/class/infiniband_verbs, /sys/class/misc/rdma_cm
 * and /dev/infiniband. They are on disk in a directory tree, the "sysroot". A hook redirects the
 * path of a call into this tree, so every libc function works on these files as on other files. Two
 * kinds of files are different: calls on the two devices are served, and open() generates contents
 * that change or depend on the host (attr.h).
 *
 * Locks: none. All functions may be called from signal handlers, except for the first call that
 * redirects a path, since it finds the sysroot.
 */
#ifndef KERNEL_ABI_SYSFS_H
#define KERNEL_ABI_SYSFS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fdtable.h"

#define SYSFS_PATH_MAX 1024

/* The kinds of files in the tree. attr.h generates the contents of all but the first four. */
enum sysfs_kind {
	SYSFS_OUTSIDE, /* a path that leaves the tree by "..", and is not redirected */
	SYSFS_FILE,    /* a file or directory on disk, or a path that does not exist */
	SYSFS_UVERBS,
	SYSFS_RDMA_CM,
	SYSFS_NODE_GUID,
	SYSFS_NODE_TYPE,
	SYSFS_GID,
	SYSFS_GID_TYPE,
	SYSFS_GID_NDEV,
	SYSFS_STATE,
	SYSFS_PHYS_STATE,
	SYSFS_RATE,
	SYSFS_LINK_LAYER,
	SYSFS_LID,
	SYSFS_COUNTER,
	SYSFS_LOCAL_CPUS,
};

struct sysfs_target {
	enum sysfs_kind kind;
	/* number of the slot of the GID table, for the kinds SYSFS_GID* */
	unsigned int gid_index;
	const char *known_as;	   /* the path that the application sees; points into `path` */
	char path[SYSFS_PATH_MAX]; /* absolute path of the file in the sysroot */
};

/* True if the working directory may be in the tree. */
extern _Atomic bool sysfs_cwd_inside;

/* Fast test for each hooked call with a path. If it returns false, the path is not in the tree. */
static inline bool sysfs_maybe(int dirfd, const char *path)
{
	if (!path)
		return false;
	if (path[0] == '/')
		return path[1] == 's' || path[1] == 'd' || path[1] == '/' || path[1] == '.';
	if (dirfd == AT_FDCWD)
		return atomic_load_explicit(&sysfs_cwd_inside, memory_order_relaxed);
	return fdtable_maybe(dirfd);
}

/*
 * True if the call must use target->path instead of path. A relative path is relative to dirfd (or
 * AT_FDCWD). Preserves errno.
 */
bool sysfs_lookup(int dirfd, const char *path, struct sysfs_target *target);

/*
 * Opens a target of any kind except SYSFS_OUTSIDE. flags: as for open(). Returns a descriptor or
 * -errno. The errno is EACCES if the call would change the tree.
 */
int sysfs_open(const struct sysfs_target *target, int flags);

/*
 * Performs access() for a target of any kind except SYSFS_OUTSIDE. Returns 0 or -errno. Only the
 * devices are writable.
 */
int sysfs_access(const struct sysfs_target *target, int mode);

/*
 * Changes the result of stat() or statx() for a target, so that it agrees with the kernel's sysfs
 * and devtmpfs.
 */
void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st);
void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx);

/*
 * Call this after fd was opened on a target. If the target is a directory, paths relative to fd are
 * then redirected, too.
 */
void sysfs_opened_dir(const struct sysfs_target *target, int fd);

/*
 * If path is in the sysroot and contains no symbolic links, replaces it by the path that the
 * application sees.
 */
void sysfs_unmap(char *path);

/* Call this if the working directory may now be a directory of the tree. */
void sysfs_entered(void);

/* Called once at load time, since a program may be started in a directory of the tree. */
void sysfs_init(void);

#endif
