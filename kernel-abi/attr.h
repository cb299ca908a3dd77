/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of the device in sysfs with generated contents, in the kernel's format: GUIDs, the GID
 * table, the state of the port, counters.
 */
#ifndef KERNEL_ABI_ATTR_H
#define KERNEL_ABI_ATTR_H

#include "sysfs.h"

/*
 * Opens a file with generated contents. Returns a descriptor of the present contents; -ENOENT if
 * the contents are on disk; or another -errno. Of the flags of open(), only O_CLOEXEC counts. Loads
 * the RNIC if necessary.
 */
int attr_open(const struct sysfs_target *target, int flags);

#endif
