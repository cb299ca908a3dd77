/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of the device in sysfs whose contents are made when they are opened: GUIDs, the GID
 * table, the state of the port, counters. They read as the kernel prints them.
 */
#ifndef KERNEL_ABI_ATTR_H
#define KERNEL_ABI_ATTR_H

#include "sysfs.h"

/*
 * Opens a file of which target->kind says that it is made: a descriptor of its contents as they are
 * now. -ENOENT if the contents are those of the file on disk, or another -errno. flags are those of
 * open(), of which only O_CLOEXEC counts. Loads the RNIC if need be.
 */
int attr_open(const struct sysfs_target *target, int flags);

#endif
