/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection domains, memory regions and memory windows. All functions need the shard's lock. */
#ifndef SCTPIW_IWARP_IW_MR_H
#define SCTPIW_IWARP_IW_MR_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

struct iw_rnic;
struct iw_pd;
struct iw_mr;
struct iw_mw;

/* ctx belongs to the verbs layer. Returns NULL if out of memory, or at IW_MAX_PD. */
struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx);
/* Returns 0, or -EBUSY if an MR, a window, an SRQ or a QP uses the PD. */
int iw_pd_free(struct iw_pd *pd);

/*
 * Registers length bytes at addr, addressed from iova by work requests and peers. The caller has
 * checked the process's access to the range. lkey and rkey are the same STag, never 0: a random
 * 24-bit index and an 8-bit key (RFC 5042 6.2.1). ctx belongs to the verbs layer. Returns 0 or:
 * -EINVAL for remote write or atomic without local write, a length above the limit, or a range that
 * wraps; -ENOMEM.
 */
int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **mr);
/*
 * Creates the null MR of a PD (ibv_alloc_null_mr). At any address, local work requests and peers of
 * the PD's QPs read zeros, and their writes are discarded. Atomics, changes and windows are not
 * supported. Returns 0, or -ENOMEM.
 */
int iw_mr_new_null(struct iw_pd *pd, void *ctx, struct iw_mr **mr);
uint32_t iw_mr_stag(const struct iw_mr *mr);

/* Attributes of iw_mr_new(); access: IW_ACCESS_*. */
struct iw_mr_attr {
	struct iw_pd *pd;
	uint64_t addr, length, iova;
	uint32_t access;
	bool checked; /* the memory was checked again: ignore earlier losses */
};

void iw_mr_get(const struct iw_mr *mr, struct iw_mr_attr *attr);
/*
 * Re-registers mr with attr. The STag stays if only pd and access change. A new range, or an MR
 * that was invalidated, gets a new STag, so that an old STag of a peer cannot reach other memory.
 * Returns the errors of iw_mr_new(), or -EBUSY if windows are bound; then mr is unchanged.
 */
int iw_mr_change(struct iw_mr *mr, const struct iw_mr_attr *attr);
/*
 * Finds the process memory of len bytes from addr, for ibv_advise_mr(). Returns 0 and *memory.
 * write: the advice is about writing. Errors: -ENOENT: no such MR; -EINVAL: a window; -EPERM: an MR
 * of another PD, or not writable; -EFAULT: out of bounds, or a null MR, which has no memory.
 */
int iw_mr_locate(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, bool write,
		 uint64_t *memory);
/* Frees mr. After a return of 0, no code uses its memory. Returns -EBUSY if windows are bound. */
int iw_mr_free(struct iw_mr *mr);

/*
 * Prepares for the unmapping of regions' memory. After the return, no code reads any region's
 * memory until the caller releases the locks of all shards.
 */
void iw_mr_before_loss(struct iw_rnic *rnic);
/*
 * Removes the memory [start, end) from all regions without IW_ACCESS_ON_DEMAND. These addresses are
 * then out of bounds for such regions and their windows, even if other memory is mapped there
 * later.
 */
void iw_mr_lose(struct iw_rnic *rnic, uint64_t start, uint64_t end);

/*
 * A memory window opens a part of an MR to peers under its own STag; a WR binds it. A type 1 window
 * is open to every stream of the PD. Further WRs rebind it, or unbind it (length 0). A type 2
 * window is open only to the stream of the QP that executed the WR (the DDP Stream association of
 * RFC 5041 8.2). A LOCAL_INV on that QP, the peer's Send with Invalidate, or the end of the QP's
 * session unbinds it. Each bind WR sets another key, the low 8 bits of the STag.
 */
enum iw_mw_type { IW_MW_TYPE_1 = 1, IW_MW_TYPE_2 = 2 }; /* ibv_mw_type */

/* Creates an unbound window. Returns 0 or: -EINVAL for an unknown type; -ENOMEM. */
int iw_mw_new(struct iw_pd *pd, enum iw_mw_type type, struct iw_mw **mw);
/* Returns the STag. Its index never changes; each bind changes its key. */
uint32_t iw_mw_stag(const struct iw_mw *mw);
/* Frees a window, bound or not. */
void iw_mw_free(struct iw_mw *mw);

#endif
