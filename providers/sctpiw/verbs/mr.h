/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions (man ibv_reg_mr, ibv_rereg_mr, ibv_alloc_null_mr, ibv_advise_mr). */
#ifndef SCTPIW_VERBS_MR_H
#define SCTPIW_VERBS_MR_H

#include "net/regions.h"
#include "util/list.h"
#include "verbs/pabi.h"

/*
 * The access flags that are taken for MRs, windows and QPs. Those beyond rights are for devices that
 * pin memory, order its writes or flush it, and are taken as other drivers take them: nothing is
 * pinned here, a program hears of no write before it is in memory, and no peer can ask for a flush.
 * Bits 8 and 9 are IBV_ACCESS_FLUSH_GLOBAL and IBV_ACCESS_FLUSH_PERSISTENT, which older headers do
 * not name.
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
	struct sctpiw_dm *dm;  /* the device memory that it shows, or NULL */
	struct list_node node; /* of sctpiw_context.mrs; sctpiw_lock() */
	/* Its memory, except with on-demand paging or for memory of the device. */
	struct regions_entry region;
};

/*
 * Makes an MR on pd. attr says what of memory it shows (attr->pd is not looked at), or is NULL for
 * a null MR; dm: the device memory that it is part of, or NULL. access: the IBV_ACCESS_* that the
 * application gave, for sctpiw_rereg_mr(). NULL and errno on failure: what iw_mr_new() says, or
 * ENOMEM.
 */
struct sctpiw_mr *sctpiw_new_mr(struct sctpiw_pd *pd, const struct iw_mr_attr *attr, int access,
				struct sctpiw_dm *dm);

/* Frees an MR whose iw is freed, and which is not on a list any more. */
void sctpiw_forget_mr(struct sctpiw_mr *mr);

/*
 * Registers length bytes at addr; peers see the first one at address hca_va, or at 0 with
 * IBV_ACCESS_ZERO_BASED. EINVAL for wrong flags, an empty range, or another place in the page, EFAULT if the process itself may
 * not access the memory so (RFC 5041 8.3), ENOMEM.
 */
struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access);

/*
 * Changes what flags (IBV_REREG_MR_*) name; the others of the arguments are not looked at. All of
 * it is changed, or nothing. Errors as sctpiw_reg_mr(), and EBUSY if memory windows are bound to
 * the MR.
 */
int sctpiw_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access);

/*
 * Once it returns 0 nobody reads or writes the memory by this MR any more. EBUSY if memory windows
 * are bound to it.
 */
int sctpiw_dereg_mr(struct verbs_mr *vmr);

/*
 * A null MR: reads by its key give zeros, writes are dropped. ibv_alloc_null_mr() promises an lkey
 * alone, but programs give it to their peers as well (perftest --use-null-mr); so it is an rkey, too.
 * ENOMEM.
 */
struct ibv_mr *sctpiw_alloc_null_mr(struct ibv_pd *pd);

/*
 * Populates the pages of all elements, but for IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT; also those of
 * MRs without IBV_ACCESS_ON_DEMAND, as no memory is pinned. EOPNOTSUPP for an unknown advice, EINVAL
 * for wrong flags, or what iw_mr_locate() says of an element, or EFAULT if it has no such pages.
 */
int sctpiw_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge);

#endif
