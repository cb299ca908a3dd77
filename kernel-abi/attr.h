/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of the device in sysfs with generated contents, in the kernel's format: GUIDs, the GID
 * table, the state of the port, counters.
 */
#ifndef KERNEL_ABI_ATTR_H
#define KERNEL_ABI_ATTR_H

#include "sysfs.h"

/*
 * Opens a file whose contents are generated. Returns a descriptor of the current contents; -ENOENT
 * if the file of this target exists on disk instead; or another -errno. Ignores all flags of open()
 * except O_CLOEXEC. Loads the RNIC if necessary.
 */
int attr_open(const struct sysfs_target *target, int flags);

#endif
