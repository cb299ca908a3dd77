/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/uverbs0, as far as libibverbs needs it for a provider that performs all verbs
 * itself. A program can open it, fstat() shows it as the character device of sysfs, and it makes
 * completion channels.
 */
#ifndef KERNEL_ABI_UVERBS_H
#define KERNEL_ABI_UVERBS_H

/* Opens the device. Returns a descriptor or -errno. Loads the RNIC if necessary. */
int uverbs_open(int flags);

#endif
