/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "Device memory" (man ibv_alloc_dm) is plain memory of the process: the device has no processor
 * but the application's.
 */
#ifndef SCTPIW_VERBS_DM_H
#define SCTPIW_VERBS_DM_H

#include "util/list.h"
#include "verbs/pabi.h"

#define SCTPIW_MAX_DM (16u << 20) /* maximum bytes of device memory of a process */

struct sctpiw_dm {
	struct ibv_dm ibv;
	uint8_t *memory;
	uint64_t length;       /* of memory, bytes */
	unsigned int mrs;      /* MRs of its parts; sctpiw_lock() */
	struct list_node node; /* of sctpiw_context.dms; sctpiw_lock() */
};

static inline struct sctpiw_dm *to_dm(struct ibv_dm *dm)
{
	return list_entry(dm, struct sctpiw_dm, ibv);
}

/* EINVAL for a length or alignment beyond SCTPIW_MAX_DM, ENOMEM if less is left. */
struct ibv_dm *sctpiw_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);

/* EBUSY while it has an MR. */
int sctpiw_free_dm(struct ibv_dm *dm);

/*
 * Registers length bytes from dm_offset on. Addresses of the MR count from 0. EINVAL for wrong
 * flags, or a range beyond the memory; ENOMEM.
 */
struct ibv_mr *sctpiw_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access);

/* Frees device memory without MRs. */
void sctpiw_dm_release(struct sctpiw_dm *dm);

#endif
