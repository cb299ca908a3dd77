/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Internals of PDs, MRs and windows: memory and rights of STags. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_MR_H
#define SCTPIW_IWARP_MR_H

#include <stdatomic.h>
#include <stddef.h>

#include "iwarp/iw_mr.h"
#include "iwarp/iw_qp.h"
#include "iwarp/lost.h"
#include "iwarp/shard.h"

struct iw_pd {
	struct iw_rnic *rnic;
	void *ctx;     /* belongs to the verbs layer */
	uint32_t refs; /* MRs, windows, SRQs and QPs */
	uint32_t qps;
	/* XRC SRQs of the PD; through them, QPs of XRC domains reach the PD's memory */
	uint32_t xrc_srqs;
};

enum iw_mr_kind { IW_MR_REGION, IW_MR_NULL, IW_MR_WINDOW_1, IW_MR_WINDOW_2 };

/*
 * An additional bit in iw_mr.access: local work requests may use the STag. Windows lack the bit,
 * because only peers use windows.
 */
#define IW_MR_LOCAL (1u << 31)

/* The memory of an STag: a region, or a window's part of a region. */
struct iw_mr {
	uint32_t stag;
	uint32_t access;   /* IW_ACCESS_*, IW_MR_LOCAL */
	const void *scope; /* PD whose streams may use the STag, or a single QP (RFC 5041 8.2) */
	uint64_t iova;	   /* tagged offset (TO) of the first byte */
	uint64_t length;   /* bytes */
	/* length; or 0 if bounds are not the only check, and iw_mr_has() must check the rest */
	uint64_t plain;
	uint8_t *addr; /* address of the first byte in the application's memory */
	/*
	 * The STag was invalidated by LOCAL_INV or Send with Invalidate, or belongs to an unbound
	 * window. Any shard may read the flag. The writer must hold the lock of each shard that
	 * could use the STag.
	 */
	_Atomic bool invalid;
	uint8_t kind; /* enum iw_mr_kind */
	/* number of windows bound to this region; several shards may unbind at once */
	_Atomic uint32_t windows;
	struct iw_pd *pd;
	void *ctx;	      /* belongs to the verbs layer */
	struct list_node all; /* iw_rnic.all_mrs */
	struct iw_lost lost;  /* parts of a region that the program has unmapped */
};

/* Gives mr an STag with a free index, and adds mr to the table. Returns 0, or -ENOMEM. */
int iw_mr_enter(struct iw_rnic *rnic, struct iw_mr *mr);

static inline bool iw_mr_is_invalid(const struct iw_mr *mr)
{
	return atomic_load_explicit(&mr->invalid, memory_order_relaxed);
}

static inline void iw_mr_set_invalid(struct iw_mr *mr, bool invalid)
{
	atomic_store_explicit(&mr->invalid, invalid, memory_order_relaxed);
}

/* Returns NULL if the STag does not exist, has another key, or is invalid. */
static inline struct iw_mr *iw_mr_find(const struct iw_rnic *rnic, uint32_t stag)
{
	struct iw_mr *mr = iw_table_find(&rnic->mrs, stag >> 8);

	return mr && mr->stag == stag && !iw_mr_is_invalid(mr) ? mr : NULL;
}

/* Does the complete check for iw_mr_covers(), slowly. */
bool iw_mr_has(const struct iw_mr *mr, uint64_t to, uint64_t len);

/* True if the len > 0 bytes at `to` are inside mr, and mr has lost none of them. */
static inline bool iw_mr_covers(const struct iw_mr *mr, uint64_t to, uint64_t len)
{
	uint64_t offset = to - mr->iova;

	return (to >= mr->iova && offset <= mr->plain && len <= mr->plain - offset) ||
	       iw_mr_has(mr, to, len);
}

/* Returns the memory address of TO `to`, which mr covers. */
static inline uint8_t *iw_mr_at(const struct iw_mr *mr, uint64_t to)
{
	return mr->addr + (to - mr->iova);
}

/*
 * Returns an STag for the sink of an RDMA Read into several SGEs. No MR or window ever has this
 * STag. The STag gives access only to the responses to that read, on the read's session, while the
 * read is outstanding. n: a counter (iw_reads.stag). Two values of n less than 2^31 apart give
 * different STags.
 */
uint32_t iw_mr_read_stag(const struct iw_rnic *rnic, uint32_t n);

/*
 * Returns the memory of an SGE's len > 0 bytes, for work requests on queues of this PD. access:
 * IW_ACCESS_LOCAL_WRITE to write, else 0. Returns NULL if access is denied.
 */
uint8_t *iw_mr_of_pd(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len,
		     uint32_t access);
/* Returns the memory of an SGE, as iw_mr_of_pd(), for work requests on the QP's own queues. */
static inline uint8_t *iw_mr_local(const struct iw_qp *qp, uint32_t lkey, uint64_t addr,
				   uint32_t len, uint32_t access)
{
	return iw_mr_of_pd(qp->pd, lkey, addr, len, access);
}

/* Reasons to deny a peer access to memory: RFC 5041 7.1, RFC 5040 7.2. */
enum iw_remote {
	IW_REMOTE_OK,
	IW_REMOTE_STAG,	  /* no such STag */
	IW_REMOTE_PD,	  /* the STag belongs to another PD or QP */
	IW_REMOTE_ACCESS, /* the right is missing */
	IW_REMOTE_WRAP,	  /* the sum of TO and length wraps; checked before the bounds */
	IW_REMOTE_BOUNDS,
};

/*
 * Checks a peer's access to len > 0 bytes from TO `to` on. access: the required right, one of
 * IW_ACCESS_REMOTE_*. With IW_REMOTE_OK, sets *ptr to the memory.
 */
enum iw_remote iw_mr_remote(const struct iw_qp *qp, uint32_t stag, uint64_t to, uint32_t len,
			    uint32_t access, uint8_t **ptr);
/*
 * Executes LOCAL_INV. Returns 0 or: -EINVAL if the STag is invalid or belongs to another PD, to a
 * type 1 window, or to a type 2 window of another QP; -EBUSY if windows are bound. An unbound type
 * 2 window is no error, because the peer may have unbound the window just before.
 */
int iw_mr_invalidate_local(const struct iw_qp *qp, uint32_t stag);
/*
 * Executes Send with Invalidate (RFC 5040 5.3, 8.1.1). All QPs of a PD may use the PD's MRs, so a
 * peer may invalidate an MR only if the PD has no other QP. Returns 0 or: -EACCES if the PD has
 * several QPs or an XRC SRQ, or if the MR has no remote rights or has windows; -EINVAL if the STag
 * is not valid on this stream, or belongs to a type 1 window.
 */
int iw_mr_invalidate_remote(const struct iw_qp *qp, uint32_t stag);

#endif
