/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's files: /sys/class/infiniband, /sys/class/infiniband_verbs, /sys/class/misc/rdma_cm
 * and /dev/infiniband. They exist on disk in a tree, the "sysroot". A hook redirects the path, so
 * every libc function works on them as on other files. Only the two devices, and the files whose
 * contents change or depend on the host (attr.h), are made by open().
 *
 * Locks: none. All functions may be called from signal handlers, except the first that redirects a
 * path, which finds the sysroot.
 */
#ifndef KERNEL_ABI_SYSFS_H
#define KERNEL_ABI_SYSFS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fdtable.h"

#define SYSFS_PATH_MAX 1024

/* Kinds of files at a path. attr.h makes all files but those of the first four kinds. */
enum sysfs_kind {
	SYSFS_OUTSIDE, /* reached by .. from a directory of the tree: not redirected */
	SYSFS_FILE,    /* a file or directory on disk, or none */
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
	unsigned int gid_index;	   /* the GID table slot, for the kinds SYSFS_GID* */
	const char *known_as;	   /* the path in the application's view; points into path */
	char path[SYSFS_PATH_MAX]; /* location of the file; absolute */
};

/* True if the working directory may be in the tree. */
extern _Atomic bool sysfs_cwd_inside;

/* Fast test of each hooked call on a path. If false, the path is certainly not in the tree. */
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
 * True if path, relative to dirfd (or AT_FDCWD), must be replaced by target->path. Preserves errno.
 */
bool sysfs_lookup(int dirfd, const char *path, struct sysfs_target *target);

/*
 * Opens a target that is not SYSFS_OUTSIDE, with the flags of open(). Returns a descriptor or
 * -errno; -EACCES if the call would change the tree.
 */
int sysfs_open(const struct sysfs_target *target, int flags);

/*
 * access() for a target that is not SYSFS_OUTSIDE. Returns 0 or -errno. Only the devices are
 * writable.
 */
int sysfs_access(const struct sysfs_target *target, int mode);

/*
 * Changes the result of stat() or statx() of a target to that of the kernel's sysfs and devtmpfs.
 */
void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st);
void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx);

/*
 * Call this when fd is open on a target. If it is a directory, paths relative to it are redirected,
 * too.
 */
void sysfs_opened_dir(const struct sysfs_target *target, int fd);

/* If path is a resolved path in the sysroot, replaces it by the path in the application's view. */
void sysfs_unmap(char *path);

/* Call this when the working directory may have become a directory of the tree. */
void sysfs_entered(void);

/* Called once at load time, since a program may be started in a directory of the tree. */
void sysfs_init(void);

#endif
