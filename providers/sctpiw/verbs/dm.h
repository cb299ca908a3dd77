/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "Device memory" (man ibv_alloc_dm): the device's processor is the application's, and so this is
 * plain memory of the process.
 */
#ifndef SCTPIW_VERBS_DM_H
#define SCTPIW_VERBS_DM_H

#include "util/list.h"
#include "verbs/pabi.h"

#define SCTPIW_MAX_DM (16u << 20) /* bytes of device memory that a process can have */

struct sctpiw_dm {
	struct ibv_dm ibv;
	uint8_t *memory;
	uint64_t length;       /* of memory, bytes */
	unsigned int mrs;      /* that show parts of it; sctpiw_lock() */
	struct list_node node; /* of sctpiw_context.dms; sctpiw_lock() */
};

static inline struct sctpiw_dm *to_dm(struct ibv_dm *dm)
{
	return list_entry(dm, struct sctpiw_dm, ibv);
}

/* EINVAL for a length or alignment beyond SCTPIW_MAX_DM, ENOMEM if that much is not left. */
struct ibv_dm *sctpiw_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);

/* EBUSY if an MR shows a part of it. */
int sctpiw_free_dm(struct ibv_dm *dm);

/*
 * Registers length bytes from dm_offset on; their addresses count from 0. EINVAL for wrong flags,
 * or if the range is not inside; ENOMEM.
 */
struct ibv_mr *sctpiw_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access);

/* Frees device memory of which the RNIC has no MR any more. */
void sctpiw_dm_release(struct sctpiw_dm *dm);

#endif
