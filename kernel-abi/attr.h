/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of the device in sysfs whose contents are made by open(): GUIDs, the GID table, the state
 * of the port, counters. They have the kernel's format.
 */
#ifndef KERNEL_ABI_ATTR_H
#define KERNEL_ABI_ATTR_H

#include "sysfs.h"

/*
 * Opens a file of a kind that is made by open(). Returns a descriptor of its present contents;
 * -ENOENT if the contents are on disk; or another -errno. Of flags, which are those of open(), only
 * O_CLOEXEC counts. Loads the RNIC if necessary.
 */
int attr_open(const struct sysfs_target *target, int flags);

#endif
