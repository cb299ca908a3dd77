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

/* ctx belongs to the verbs layer. Returns NULL if out of memory, or if IW_MAX_PD PDs exist. */
struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx);
/* Returns 0, or -EBUSY if an MR, a memory window, an SRQ or a QP uses the PD. */
int iw_pd_free(struct iw_pd *pd);

/*
 * Registers length bytes at addr. Work requests and peers address these bytes from iova on. The
 * caller has checked that the process may access the range. The MR's STag is both lkey and rkey. An
 * STag is never 0, and consists of a random 24-bit index and an 8-bit key (RFC 5042 6.2.1). ctx
 * belongs to the verbs layer. Returns 0 or: -EINVAL if access has remote write or remote atomic
 * without local write, if length exceeds IW_MAX_MR_LENGTH, or if a range wraps; -ENOMEM.
 */
int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **mr);
/*
 * Creates the null MR of a PD (ibv_alloc_null_mr). Local work requests, and peers of the PD's QPs,
 * read zeros from the null MR at any address, and their writes are discarded. Atomics,
 * iw_mr_change() and memory windows are not supported. Returns 0, or -ENOMEM.
 */
int iw_mr_new_null(struct iw_pd *pd, void *ctx, struct iw_mr **mr);
uint32_t iw_mr_stag(const struct iw_mr *mr);

/* Parameters of iw_mr_new(); access: IW_ACCESS_*. */
struct iw_mr_attr {
	struct iw_pd *pd;
	uint64_t addr, length, iova;
	uint32_t access;
	/* the caller has checked the memory: discard earlier losses (iw_mr_lose()) */
	bool checked;
};

void iw_mr_get(const struct iw_mr *mr, struct iw_mr_attr *attr);
/*
 * Re-registers mr with attr. The STag stays if only pd and access change. The MR gets a new STag if
 * the range changes, or if the MR was invalidated. A peer may still have the old STag, which must
 * not give access to other memory. Returns 0, an error of iw_mr_new(), or -EBUSY if windows are
 * bound. An error leaves mr unchanged.
 */
int iw_mr_change(struct iw_mr *mr, const struct iw_mr_attr *attr);
/*
 * Finds the process's memory for len bytes of an MR from addr on, for ibv_advise_mr(). write: the
 * advice concerns writes. Returns 0 and sets *memory, or returns: -ENOENT: no such MR; -EINVAL:
 * lkey is a window's; -EPERM: the MR belongs to another PD or is not writable; -EFAULT: out of
 * bounds, or a null MR, which has no memory.
 */
int iw_mr_locate(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, bool write,
		 uint64_t *memory);
/* Frees mr. Returns 0 (its memory is no longer accessed), or -EBUSY if windows are bound. */
int iw_mr_free(struct iw_mr *mr);

/*
 * Prepares for the unmapping of memory that regions contain. From the return until the caller
 * releases the locks of all shards, the RNIC reads no region's memory.
 */
void iw_mr_before_loss(struct iw_rnic *rnic);
/*
 * Removes the memory [start, end) from all regions that lack IW_ACCESS_ON_DEMAND. The addresses are
 * then out of bounds for these regions and their windows, even if the program maps other memory
 * there later.
 */
void iw_mr_lose(struct iw_rnic *rnic, uint64_t start, uint64_t end);

/*
 * A memory window has an STag of its own, and opens a part of an MR to peers. A BIND_MW work
 * request binds the window to that part. A type 1 window is open to the peers of all QPs of the PD.
 * Further work requests bind a type 1 window anew, or unbind it (length 0). A type 2 window is open
 * only to the peer of the QP that executed the work request (the DDP Stream association of RFC 5041
 * 8.2). A LOCAL_INV on that QP, the peer's Send with Invalidate, or the end of the QP's session
 * unbinds a type 2 window. Each BIND_MW changes the STag's low 8 bits, the key.
 */
enum iw_mw_type { IW_MW_TYPE_1 = 1, IW_MW_TYPE_2 = 2 }; /* ibv_mw_type */

/* Creates an unbound window. Returns 0 or: -EINVAL for an unknown type; -ENOMEM. */
int iw_mw_new(struct iw_pd *pd, enum iw_mw_type type, struct iw_mw **mw);
/* Returns the window's current STag. */
uint32_t iw_mw_stag(const struct iw_mw *mw);
/* Frees a window, bound or not. */
void iw_mw_free(struct iw_mw *mw);

#endif
