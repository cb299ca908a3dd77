/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/uverbs0, as far as libibverbs needs it for a provider that does all verbs by
 * itself: it can be opened, fstat() says that it is the character device of sysfs, and it makes
 * completion channels.
 */
#ifndef KERNEL_ABI_UVERBS_H
#define KERNEL_ABI_UVERBS_H

/*
 * Opens the device with the flags of an open(): a descriptor, or -errno. Loads the RNIC if need be.
 */
int uverbs_open(int flags);

#endif
