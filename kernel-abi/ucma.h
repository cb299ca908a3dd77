/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/rdma_cm, by which librdmacm speaks to the connection manager. A program writes
 * commands of <rdma/rdma_user_cm.h>, each a header and a request; the answer is stored at an
 * address that the request names. The commands themselves are in ucma_cmd.h.
 */
#ifndef KERNEL_ABI_UCMA_H
#define KERNEL_ABI_UCMA_H

/*
 * Opens a channel with the flags of an open(): a descriptor, or -errno. Loads the RNIC if need be.
 */
int ucma_open(int flags);

#endif
