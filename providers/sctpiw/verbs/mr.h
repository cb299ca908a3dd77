/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions (man ibv_reg_mr, ibv_rereg_mr, ibv_alloc_null_mr, ibv_advise_mr). */
#ifndef SCTPIW_VERBS_MR_H
#define SCTPIW_VERBS_MR_H

#include "net/regions.h"
#include "util/list.h"
#include "verbs/pabi.h"

/*
 * The access flags that are accepted for MRs, windows and QPs. Some of them are no rights, but are
 * for devices that pin memory, order writes to it, or flush it. They are accepted and ignored, as
 * in other drivers: no memory is pinned here, no write is reported before it is in memory, and no
 * peer can request a flush. Bits 8 and 9 are IBV_ACCESS_FLUSH_GLOBAL and
 * IBV_ACCESS_FLUSH_PERSISTENT, which older headers do not define.
 */
#define SCTPIW_KNOWN_ACCESS                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |                   \
	 IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | 1 << 8 | 1 << 9 | IBV_ACCESS_OPTIONAL_RANGE)

struct iw_mr;
struct iw_mr_attr;
struct sctpiw_dm;
struct sctpiw_pd;

struct sctpiw_mr {
	struct verbs_mr vmr;
	struct iw_mr *iw;
	struct sctpiw_dm *dm;  /* the device memory of this MR, or NULL */
	struct list_node node; /* node of sctpiw_context.mrs; guarded by sctpiw_lock() */
	/* The MR's memory, for the hooks. Unused for device memory and on-demand paging. */
	struct regions_entry region;
};

/*
 * Makes an MR on pd. attr: the memory and the access rights (attr->pd is ignored), or NULL for a
 * null MR. dm: the device memory that contains the range, or NULL. access: the application's
 * IBV_ACCESS_*, for sctpiw_rereg_mr(). On failure, returns NULL, and sets errno to the error of
 * iw_mr_new(), or to ENOMEM.
 */
struct sctpiw_mr *sctpiw_new_mr(struct sctpiw_pd *pd, const struct iw_mr_attr *attr, int access,
				struct sctpiw_dm *dm);

/* Frees an MR that is on no list, and whose iw_mr was freed. */
void sctpiw_forget_mr(struct sctpiw_mr *mr);

/*
 * Registers `length` bytes at addr. Peers see the first byte at address hca_va, or at 0 with
 * IBV_ACCESS_ZERO_BASED. Errors: EINVAL for wrong flags, an empty range, or different offsets of
 * addr and hca_va within a page; EFAULT if the process itself does not have this access to the
 * memory (RFC 5041 8.3); ENOMEM.
 */
struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access);

/*
 * Changes all attributes that flags (IBV_REREG_MR_*) name, or none of them. Ignores the arguments
 * of other attributes. Errors: as sctpiw_reg_mr(), and EBUSY if memory windows are bound to the MR.
 */
int sctpiw_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access);

/*
 * Frees an MR. After this function has returned 0, this MR no longer gives access to the memory.
 * Errors: EBUSY if memory windows are bound to the MR.
 */
int sctpiw_dereg_mr(struct verbs_mr *vmr);

/*
 * Makes a null MR: reads with its key return zeros, and data written with its key is dropped.
 * ibv_alloc_null_mr() only guarantees that the key is an lkey. Here it is also an rkey, since
 * programs give it to their peers (perftest --use-null-mr). Errors: ENOMEM.
 */
struct ibv_mr *sctpiw_alloc_null_mr(struct ibv_pd *pd);

/*
 * Populates the pages of all elements, except with IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT. Also
 * does this for MRs without IBV_ACCESS_ON_DEMAND, since their memory is not pinned. Errors:
 * EOPNOTSUPP for an unknown advice; EINVAL for wrong flags; the error of iw_mr_locate() for an
 * element; EFAULT if the pages of an element cannot be populated.
 */
int sctpiw_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge);

#endif
