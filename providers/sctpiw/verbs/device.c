/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The driver for libibverbs, which finds and opens devices. libibverbs loads this library, and the
 * library's constructor registers the driver. No function of this file is called from another file.
 */
#include <stdlib.h>

#include "runtime/rnic.h"
#include "verbs/context.h"

/* Allocates the struct, which libibverbs then fills. */
static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *device)
{
	free(device);
}

static const struct verbs_match_ent match_table[] = {
	{ .kind = VERBS_MATCH_MODALIAS, .u.modalias = "rdma_device:*Nsctpiw*" },
	{ .kind = VERBS_MATCH_SENTINEL },
};

static const struct verbs_device_ops device_ops = {
	.name = "sctpiw",
	.match_min_abi_version = 0,
	.match_max_abi_version = 1,
	.match_table = match_table,
	.alloc_context = sctpiw_alloc_context,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
};

static __attribute__((constructor)) void register_driver(void)
{
	if (!pabi_init()) {
		sctpiw_complain_about_abi();
		return;
	}
	/*
	 * A device is unusable if its settings are wrong, or if the host does not support its
	 * carrier. An unusable device is not listed. The RNIC has logged the reason.
	 */
	if (!rnic_get())
		return;
	sctpiw_handle_forks();
	pabi_register_driver(&device_ops);
}
