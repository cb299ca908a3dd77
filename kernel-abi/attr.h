/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of the device whose contents are made when they are opened, in the form in which the kernel
 * prints them: GUIDs, the GID table, the state of the port, counters.
 */
#ifndef KERNEL_ABI_ATTR_H
#define KERNEL_ABI_ATTR_H

#include "sysfs.h"

/*
 * A descriptor of the contents as they are now; -ENOENT: the file on disk has them; or another -errno.
 * Loads the RNIC if need be.
 */
int attr_open(const struct sysfs_target *target, int flags);

#endif
