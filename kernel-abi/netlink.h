/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Answers a netlink request as the kernel's RDMA drivers do. libibverbs queries whether a child of
 * fork() has copies of registered memory. Without an answer, ibv_fork_init() would take this memory
 * away from children. All other requests are refused, so that libibverbs and librdmacm use sysfs.
 * The program gets a socket of NETLINK_USERSOCK, and a second socket of this kind sends the answers
 * to it.
 */
#ifndef KERNEL_ABI_NETLINK_H
#define KERNEL_ABI_NETLINK_H

#include "fdtable.h"

extern const struct kfile_ops netlink_ops;

/*
 * True if the program has loaded libibverbs. Other programs, such as the tool rdma, would report a
 * broken system if their requests were refused.
 */
bool netlink_is_wanted(void);

#endif
