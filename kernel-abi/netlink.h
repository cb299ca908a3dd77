/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel's RDMA drivers answer by netlink. libibverbs asks whether a child of fork() has copies of registered
 * memory, and would else take the memory away from children (ibv_fork_init()). All other questions are refused, so that
 * libibverbs and librdmacm look into sysfs. The socket is one between programs, and the answer comes from another one.
 */
#ifndef KERNEL_ABI_NETLINK_H
#define KERNEL_ABI_NETLINK_H

#include "fdtable.h"

extern const struct kfile_ops netlink_ops;

/* Whether the program has libibverbs: others, as the tool rdma, would take the refusals for those of a broken system. */
bool netlink_is_wanted(void);

#endif
