/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/rdma_cm: the commands of <rdma/rdma_user_cm.h>, each a write() of a header and a
 * request, with the result stored at an address inside the request. Checks and errors are the kernel's.
 */
#ifndef KERNEL_ABI_UCMA_H
#define KERNEL_ABI_UCMA_H

/* A descriptor, or -errno; flags of open(). */
int ucma_open(int flags);

#endif
