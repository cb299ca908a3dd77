/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD, for a server whose peer is always quicker: each listener starts 200 ms
 * late.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define LATE 200000 /* us */

__attribute__((visibility("default"))) int rdma_bind_addr(struct rdma_cm_id *id,
							  struct sockaddr *addr)
{
	int (*next)(struct rdma_cm_id *, struct sockaddr *) =
		(int (*)(struct rdma_cm_id *, struct sockaddr *))dlsym(RTLD_NEXT, "rdma_bind_addr");

	usleep(LATE);
	return next(id, addr);
}
