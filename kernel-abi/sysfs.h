/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's files: /sys/class/infiniband, /sys/class/infiniband_verbs, /sys/class/misc/rdma_cm
 * and /dev/infiniband. They exist on disk in a tree, the "sysroot", so that every function of libc
 * does with them what it does with files: a hook redirects the path. Only the two devices, and the
 * files whose contents depend on the host or change (attr.h), are made when they are opened.
 *
 * Locks: none. All functions may be called from signal handlers, but for the first one that
 * redirects a path, which finds the sysroot.
 */
#ifndef KERNEL_ABI_SYSFS_H
#define KERNEL_ABI_SYSFS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fdtable.h"

#define SYSFS_PATH_MAX 1024

/* What is at a path. All but the first four kinds are files that attr.h makes. */
enum sysfs_kind {
	SYSFS_OUTSIDE, /* reached by .. from a directory of the tree: an ordinary path after all */
	SYSFS_FILE,    /* a file or directory on disk, or nothing */
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
	unsigned int gid_index;	   /* the slot of the GID table, for the kinds SYSFS_GID* */
	const char *known_as;	   /* the path as the application knows it; points into path */
	char path[SYSFS_PATH_MAX]; /* where the file is; absolute */
};

/* Whether the working directory may be in the tree. */
extern _Atomic bool sysfs_cwd_inside;

/*
 * The test that each hooked call on a path makes: if false, the path is certainly not in the tree.
 */
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
 * Whether path, relative to dirfd (or AT_FDCWD), is to be redirected: true if target->path is to be
 * used in its place. errno stays as it is.
 */
bool sysfs_lookup(int dirfd, const char *path, struct sysfs_target *target);

/*
 * Opens a target that is not SYSFS_OUTSIDE with the flags of an open(): a descriptor or -errno,
 * -EACCES for what would change the tree.
 */
int sysfs_open(const struct sysfs_target *target, int flags);

/*
 * access() for a target that is not SYSFS_OUTSIDE: 0 or -errno. Nothing but the devices is
 * writable.
 */
int sysfs_access(const struct sysfs_target *target, int mode);

/*
 * Changes what stat() or statx() said of a target into what the kernel's sysfs and devtmpfs would
 * show.
 */
void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st);
void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx);

/*
 * To be called when fd is open on a target: if that is a directory, paths relative to it are looked
 * up, too.
 */
void sysfs_opened_dir(const struct sysfs_target *target, int fd);

/*
 * If path is a resolved path in the sysroot, turns it in place into the one that the application
 * knows.
 */
void sysfs_unmap(char *path);

/* To be called when the working directory may have become one of the tree. */
void sysfs_entered(void);

/* Called once when the library is loaded; a program may be started in a directory of the tree. */
void sysfs_init(void);

#endif
