/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * PDs, MRs and windows as this room sees them: what an STag stands for, and who may use it.
 * Needs the shard's lock.
 */
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
	void *ctx;     /* the verbs layer's */
	uint32_t refs; /* MRs, windows, SRQs and QPs */
	uint32_t qps;
	uint32_t xrc_srqs; /* by which QPs of XRC domains reach it */
};

enum iw_mr_kind { IW_MR_REGION, IW_MR_NULL, IW_MR_WINDOW_1, IW_MR_WINDOW_2 };

/*
 * Beside the IW_ACCESS_* in iw_mr.access: local work requests may name this STag. Windows do not
 * have it; they are for peers.
 */
#define IW_MR_LOCAL (1u << 31)

/* What an STag stands for: a region, or the part of one that a window shows. */
struct iw_mr {
	uint32_t stag;
	uint32_t access;   /* IW_ACCESS_*, IW_MR_LOCAL */
	const void *scope; /* the PD whose streams may use it, or the one QP (RFC 5041 8.2) */
	uint64_t iova;	   /* the TO of its first byte */
	uint64_t length;   /* bytes */
	/* length, or 0 if bounds alone do not decide: iw_mr_has() */
	uint64_t plain;
	uint8_t *addr; /* of its first byte in the application's memory */
	/*
	 * By LOCAL_INV or a Send with Invalidate; or a window that is not bound. Any shard may look; who else could use
	 * the STag is the caller's to know.
	 */
	_Atomic bool invalid;
	uint8_t kind; /* enum iw_mr_kind */
	_Atomic uint32_t
		windows; /* bound to this region: a shard may let go of one while another does */
	struct iw_pd *pd;
	void *ctx;	      /* the verbs layer's */
	struct list_node all; /* iw_rnic.all_mrs */
	struct iw_lost lost;  /* of a region */
};

/* Gives mr an STag with a free index, and enters it into the table. -ENOMEM. */
int iw_mr_enter(struct iw_rnic *rnic, struct iw_mr *mr);

static inline bool iw_mr_is_invalid(const struct iw_mr *mr)
{
	return atomic_load_explicit(&mr->invalid, memory_order_relaxed);
}

static inline void iw_mr_set_invalid(struct iw_mr *mr, bool invalid)
{
	atomic_store_explicit(&mr->invalid, invalid, memory_order_relaxed);
}

/* NULL: there is no such STag, it has another key, or it is invalid. */
static inline struct iw_mr *iw_mr_find(const struct iw_rnic *rnic, uint32_t stag)
{
	struct iw_mr *mr = iw_table_find(&rnic->mrs, stag >> 8);

	return mr && mr->stag == stag && !iw_mr_is_invalid(mr) ? mr : NULL;
}

/* As iw_mr_covers(), for any mr. */
bool iw_mr_has(const struct iw_mr *mr, uint64_t to, uint64_t len);

/* Whether the len > 0 bytes from `to` on lie inside mr, and mr has lost none of them. */
static inline bool iw_mr_covers(const struct iw_mr *mr, uint64_t to, uint64_t len)
{
	uint64_t offset = to - mr->iova;

	return (to >= mr->iova && offset <= mr->plain && len <= mr->plain - offset) ||
	       iw_mr_has(mr, to, len);
}

/* Where the byte at TO to, which mr covers, is in memory. */
static inline uint8_t *iw_mr_at(const struct iw_mr *mr, uint64_t to)
{
	return mr->addr + (to - mr->iova);
}

/*
 * An STag that no MR and no window ever has, for the sink of one RDMA Read into several SGEs.
 * Nothing but the responses to that read, on its own session, while it is outstanding, reaches
 * memory by it. n: a counter (iw_reads.stag); two values of it less than 2^31 apart give different
 * STags.
 */
uint32_t iw_mr_read_stag(const struct iw_rnic *rnic, uint32_t n);

/*
 * Where the len > 0 bytes of an SGE are in memory, for what was posted to a queue of this PD; NULL: it
 * may not use them. access: IW_ACCESS_LOCAL_WRITE if they are going to be written, else 0.
 */
uint8_t *iw_mr_of_pd(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len,
		     uint32_t access);
/* The same for a QP's own queues. */
static inline uint8_t *iw_mr_local(const struct iw_qp *qp, uint32_t lkey, uint64_t addr,
				   uint32_t len, uint32_t access)
{
	return iw_mr_of_pd(qp->pd, lkey, addr, len, access);
}

/* Why a peer may not access memory: RFC 5041 7.1, RFC 5040 7.2. */
enum iw_remote {
	IW_REMOTE_OK,
	IW_REMOTE_STAG,	  /* no such STag */
	IW_REMOTE_PD,	  /* not one of this stream */
	IW_REMOTE_ACCESS, /* the right is missing */
	IW_REMOTE_WRAP,	  /* TO and length wrap; this is looked at before the bounds */
	IW_REMOTE_BOUNDS,
};

/*
 * A peer's access to len > 0 bytes from TO to on. access: the one right of IW_ACCESS_REMOTE_* that
 * it needs. IW_REMOTE_OK: *ptr is where the bytes are.
 */
enum iw_remote iw_mr_remote(const struct iw_qp *qp, uint32_t stag, uint64_t to, uint32_t len,
			    uint32_t access, uint8_t **ptr);
/*
 * LOCAL_INV. A type 2 window that is not bound is fine: the peer may have been quicker. -EINVAL:
 * not a valid STag of this PD, a type 1 window, or a type 2 window of another QP; -EBUSY: windows
 * are bound to it.
 */
int iw_mr_invalidate_local(const struct iw_qp *qp, uint32_t stag);
/*
 * Send with Invalidate (RFC 5040 5.3, 8.1.1). An MR is open to its whole PD, so a peer may
 * invalidate one only if no other QP could lose it. -EACCES: the PD has several QPs, or an XRC SRQ, or
 * the MR has no remote rights, or windows; -EINVAL: not a valid STag of this stream, or that of a type 1
 * window.
 */
int iw_mr_invalidate_remote(const struct iw_qp *qp, uint32_t stag);

#endif
