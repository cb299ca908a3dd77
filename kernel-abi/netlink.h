/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The netlink answers of the kernel's RDMA drivers. libibverbs queries whether a child of fork()
 * has copies of registered memory. Without that answer, ibv_fork_init() takes the memory away from
 * children. All other requests are refused, so that libibverbs and librdmacm use sysfs. The program
 * gets a socket of NETLINK_USERSOCK, and a second such socket sends the answers.
 */
#ifndef KERNEL_ABI_NETLINK_H
#define KERNEL_ABI_NETLINK_H

#include "fdtable.h"

extern const struct kfile_ops netlink_ops;

/*
 * True if the program has libibverbs. Other programs, such as the tool rdma, would report the
 * refusals as a broken system.
 */
bool netlink_is_wanted(void);

#endif
