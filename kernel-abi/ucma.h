/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/rdma_cm, librdmacm's interface to the connection manager. A program writes
 * commands of <rdma/rdma_user_cm.h>, each a header and a request. The answer is stored at an
 * address in the request. ucma_cmd.h has the commands.
 */
#ifndef KERNEL_ABI_UCMA_H
#define KERNEL_ABI_UCMA_H

/*
 * Opens a channel with the flags of open(). Returns a descriptor or -errno. Loads the RNIC if
 * necessary.
 */
int ucma_open(int flags);

#endif
