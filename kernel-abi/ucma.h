/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /dev/infiniband/rdma_cm, the interface of librdmacm to the connection manager. A program writes
 * commands of <rdma/rdma_user_cm.h>. Each command has a header and a request, which contains the
 * address for the answer. ucma_cmd.h lists the commands.
 */
#ifndef KERNEL_ABI_UCMA_H
#define KERNEL_ABI_UCMA_H

/* Opens a channel. Returns a descriptor or -errno. Loads the RNIC if necessary. */
int ucma_open(int flags);

#endif
