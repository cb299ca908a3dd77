/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's files: /sys/class/infiniband, /sys/class/infiniband_verbs, /sys/class/misc/rdma_cm and
 * /dev/infiniband. They exist on disk, in a tree ("sysroot") that a path is redirected to, so that
 * every function of libc can do with them what it does with files. Made when they are
 * opened are only the two devices and the few files whose contents depend on the host.
 */
#ifndef KERNEL_ABI_SYSFS_H
#define KERNEL_ABI_SYSFS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fdtable.h"

#define SYSFS_PATH_MAX 1024

enum sysfs_kind {
	SYSFS_OUTSIDE, /* reached through .. from our tree: an ordinary path after all */
	SYSFS_FILE,
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
	SYSFS_COUNTER,
	SYSFS_LOCAL_CPUS,
};

struct sysfs_target {
	enum sysfs_kind kind;
	unsigned int gid_index;
	const char *known_as;	   /* within path: what the application calls it */
	char path[SYSFS_PATH_MAX]; /* where it is */
};

extern _Atomic bool sysfs_cwd_inside;

/* The test that each hooked call on a path makes: false means certainly not ours. */
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

/* True: use target->path, an absolute one, in place of path. */
bool sysfs_lookup(int dirfd, const char *path, struct sysfs_target *target);

/* open() of a target that is not SYSFS_OUTSIDE; a descriptor or -errno. */
int sysfs_open(const struct sysfs_target *target, int flags);

/* access() of such a target for mode: 0 or -errno. */
int sysfs_access(const struct sysfs_target *target, int mode);

/* The tree's own files as real sysfs and devtmpfs would show them. */
void sysfs_fix_stat(const struct sysfs_target *target, struct stat *st);
void sysfs_fix_statx(const struct sysfs_target *target, struct statx *stx);

/* fd is open on a target that may be a directory: openat() relative to it is ours too. */
void sysfs_opened_dir(const struct sysfs_target *target, int fd);

/* Turn the resolved path of something in our tree into what the application knows, in place. */
void sysfs_unmap(char *path);

/* The working directory may be inside the tree now. */
void sysfs_entered(void);

/* At start: a program may be started in such a directory. */
void sysfs_init(void);

#endif
