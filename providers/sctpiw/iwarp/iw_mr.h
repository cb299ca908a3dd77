/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection domains, memory regions and memory windows. Everything here needs the shard's lock. */
#ifndef SCTPIW_IWARP_IW_MR_H
#define SCTPIW_IWARP_IW_MR_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

struct iw_rnic;
struct iw_pd;
struct iw_mr;
struct iw_mw;

/* ctx is the verbs layer's. NULL: out of memory, or IW_MAX_PD reached. */
struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx);
/* -EBUSY: an MR, a window, an SRQ or a QP belongs to it. */
int iw_pd_free(struct iw_pd *pd);

/*
 * Registers length bytes at addr, which work requests and peers address from iova on. The caller
 * has checked that the process may access the range as asked. lkey and rkey are the same STag,
 * never 0: a random 24-bit index and an 8-bit key (RFC 5042 6.2.1). ctx is the verbs layer's.
 * -EINVAL: remote write or atomic without local write, a length above the limit, or a range that
 * wraps; -ENOMEM.
 */
int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **mr);
/*
 * The null MR of a PD (ibv_alloc_null_mr): at any address, local work requests and the peers of the
 * PD's QPs read zeros from it, and what they write to it is lost. It has no atomics, cannot be
 * changed, and no window can be bound to it. -ENOMEM.
 */
int iw_mr_new_null(struct iw_pd *pd, void *ctx, struct iw_mr **mr);
uint32_t iw_mr_stag(const struct iw_mr *mr);

/* What iw_mr_new() was told; access: IW_ACCESS_*. */
struct iw_mr_attr {
	struct iw_pd *pd;
	uint64_t addr, length, iova;
	uint32_t access;
	bool checked; /* the memory was checked anew: earlier losses do not count */
};

void iw_mr_get(const struct iw_mr *mr, struct iw_mr_attr *attr);
/*
 * Registers mr anew as attr says. The STag stays if only pd and access change. Another range, or an
 * MR that was invalidated, gets a new STag, so that a peer's old STag does not open other memory.
 * Errors as of iw_mr_new(), or -EBUSY: windows are bound to it; then nothing has changed.
 */
int iw_mr_change(struct iw_mr *mr, const struct iw_mr_attr *attr);
/*
 * Finds out where the len bytes from addr on are in the process's memory, for advice about them: 0
 * and *memory. write: the advice is about writing.
 * -ENOENT: no such MR; -EINVAL: a window; -EPERM: an MR of another PD, or one that must not be
 * written; -EFAULT: out of bounds, or a null MR, which has no memory.
 */
int iw_mr_locate(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, bool write,
		 uint64_t *memory);
/* Once it returns 0 nothing touches the memory any more. -EBUSY: windows are bound to it. */
int iw_mr_free(struct iw_mr *mr);

/*
 * Prepares for the unmapping of regions' memory. After the return, no code reads any region's
 * memory until the caller gives up the locks of all shards.
 */
void iw_mr_before_loss(struct iw_rnic *rnic);
/*
 * Removes the memory [start, end) from all regions without IW_ACCESS_ON_DEMAND. These addresses are
 * then out of the bounds of such regions and of their windows, even if other memory is mapped there
 * later.
 */
void iw_mr_lose(struct iw_rnic *rnic, uint64_t start, uint64_t end);

/*
 * A memory window is a part of an MR that peers may use by an STag of its own, from a WR that binds
 * it on. A type 1 window is open to every stream of the PD, and is bound anew, or to nothing
 * (length 0), by further WRs. A type 2 window is open only to the stream of the QP that the WR was
 * posted to (the DDP Stream association of RFC 5041 8.2); it is given up by a LOCAL_INV on that QP,
 * by the peer's Send with Invalidate, or when the QP's session ends. Each bind brings another
 * key, the low 8 bits of the STag, which its WR names.
 */
enum iw_mw_type { IW_MW_TYPE_1 = 1, IW_MW_TYPE_2 = 2 }; /* ibv_mw_type */

/* -EINVAL: no such type; -ENOMEM. The window is not bound. */
int iw_mw_new(struct iw_pd *pd, enum iw_mw_type type, struct iw_mw **mw);
/* The index never changes; the key is that of the last bind, or the one it was created with. */
uint32_t iw_mw_stag(const struct iw_mw *mw);
/* Whether it is bound or not. */
void iw_mw_free(struct iw_mw *mw);

#endif
