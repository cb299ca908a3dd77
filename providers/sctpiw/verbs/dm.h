/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "Device memory" (man ibv_alloc_dm). This device has no processor or memory of its own, so device
 * memory is ordinary memory of the process.
 */
#ifndef SCTPIW_VERBS_DM_H
#define SCTPIW_VERBS_DM_H

#include "util/list.h"
#include "verbs/pabi.h"

#define SCTPIW_MAX_DM (16u << 20) /* maximum bytes of device memory in a process */

struct sctpiw_dm {
	struct ibv_dm ibv;
	uint8_t *memory;
	uint64_t length;       /* length of the memory in bytes */
	unsigned int mrs;      /* number of MRs on this memory; guarded by sctpiw_lock() */
	struct list_node node; /* node of sctpiw_context.dms; guarded by sctpiw_lock() */
};

static inline struct sctpiw_dm *to_dm(struct ibv_dm *dm)
{
	return list_entry(dm, struct sctpiw_dm, ibv);
}

/* Errors: EINVAL for a length or alignment above SCTPIW_MAX_DM; ENOMEM if less is left. */
struct ibv_dm *sctpiw_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);

/* Errors: EBUSY if the device memory has an MR. */
int sctpiw_free_dm(struct ibv_dm *dm);

/*
 * Registers `length` bytes of device memory, starting at dm_offset. Addresses of the MR start at 0.
 * Errors: EINVAL for wrong flags, or a range that exceeds the device memory; ENOMEM.
 */
struct ibv_mr *sctpiw_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access);

/* Frees device memory that has no MRs. */
void sctpiw_dm_release(struct sctpiw_dm *dm);

#endif
