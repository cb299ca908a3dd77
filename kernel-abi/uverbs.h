/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/uverbs0, as far as libibverbs uses it when a provider does its verbs itself: it
 * opens, it is the character device that sysfs names, and it makes completion channels.
 */
#ifndef KERNEL_ABI_UVERBS_H
#define KERNEL_ABI_UVERBS_H

/* A descriptor, or -errno; flags of open(). */
int uverbs_open(int flags);

#endif
