/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* PDs and MRs: the memory and access rights of STags. */
#include "iwarp/mr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "iwarp/iw_qp.h"
#include "iwarp/mw.h"
#include "iwarp/xrc.h"
#include "iwarp/zcopy.h"
#include "util/alloc.h"

static uint32_t windows(const struct iw_mr *mr)
{
	return atomic_load_explicit(&mr->windows, memory_order_relaxed);
}

struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx)
{
	struct iw_pd *pd;

	if (rnic->pds >= IW_MAX_PD)
		return NULL;
	pd = alloc_lines(sizeof(*pd));
	if (!pd)
		return NULL;
	pd->rnic = rnic;
	pd->ctx = ctx;
	rnic->pds++;
	return pd;
}

int iw_pd_free(struct iw_pd *pd)
{
	if (pd->refs)
		return -EBUSY;
	pd->rnic->pds--;
	free(pd);
	return 0;
}

static uint32_t mix(uint64_t v)
{
	v *= UINT64_C(0xff51afd7ed558ccd);
	v ^= v >> 33;
	v *= UINT64_C(0xc4ceb9fe1a85ec53);
	v ^= v >> 29;
	return (uint32_t)v & 0xffff;
}

/*
 * Makes an STag by a keyed permutation of the counter n. Without the keys, STags are unpredictable,
 * and they spread over all 32 bits (RFC 5040 8.1.1). There are two kinds of STags: for reads
 * (iw_mr_read_stag()), and for all other uses. The kinds differ in the parity of two index bits. An
 * STag recurs only after 2^31 other STags of its kind (RFC 5042 6.1.1).
 */
static uint32_t make_stag(const struct iw_rnic *rnic, uint32_t n, bool of_read)
{
	uint32_t l = n >> 16 & 0x7fff, r = n & 0xffff;

	for (unsigned int i = 0; i < 6; i += 2) {
		l ^= mix(r ^ rnic->stag_keys[i]) & 0x7fff;
		r ^= mix(l ^ rnic->stag_keys[i + 1]);
	}
	return ((r >> 8 & 1) ^ of_read) << 31 | l << 16 | r;
}

uint32_t iw_mr_read_stag(const struct iw_rnic *rnic, uint32_t n)
{
	return make_stag(rnic, n, true);
}

int iw_mr_enter(struct iw_rnic *rnic, struct iw_mr *mr)
{
	uint32_t stag;
	int err;

	do
		stag = make_stag(rnic, rnic->stag_counter++, false);
	while (stag >> 8 == 0 || iw_table_find(&rnic->mrs, stag >> 8));
	err = iw_table_insert(&rnic->mrs, stag >> 8, mr);
	if (!err)
		mr->stag = stag;
	return err;
}

static int check_attr(const struct iw_mr_attr *a)
{
	if ((a->access & IW_ACCESS_REMOTE_CHANGE) && !(a->access & IW_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (a->length > IW_MAX_MR_LENGTH || (a->length && (a->addr + (a->length - 1) < a->addr ||
							   a->iova + (a->length - 1) < a->iova)))
		return -EINVAL;
	return 0;
}

static void set_attr(struct iw_mr *mr, const struct iw_mr_attr *a)
{
	mr->access = a->access | IW_MR_LOCAL;
	mr->pd = a->pd;
	mr->scope = a->pd;
	mr->iova = a->iova;
	mr->length = a->length;
	mr->addr = (uint8_t *)(uintptr_t)a->addr;
	if (a->checked)
		iw_lost_clear(&mr->lost);
	mr->plain = iw_lost_any(&mr->lost) || (a->access & IW_ACCESS_ON_DEMAND) ? 0 : a->length;
}

static int new_mr(const struct iw_mr_attr *attr, enum iw_mr_kind kind, void *ctx,
		  struct iw_mr **out)
{
	struct iw_rnic *rnic = attr->pd->rnic;
	struct iw_mr *mr;
	int err;

	if (rnic->mrs.count - rnic->mws >= IW_MAX_MR)
		return -ENOMEM;
	mr = alloc_lines(sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	set_attr(mr, attr);
	mr->kind = (uint8_t)kind;
	mr->ctx = ctx;
	err = iw_mr_enter(rnic, mr);
	if (err) {
		free(mr);
		return err;
	}
	mr->pd->refs++;
	list_add_tail(&rnic->all_mrs, &mr->all);
	*out = mr;
	return 0;
}

int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **mr)
{
	struct iw_mr_attr attr = { pd, addr, length, iova, access, true };
	int err = check_attr(&attr);

	return err ? err : new_mr(&attr, IW_MR_REGION, ctx, mr);
}

int iw_mr_new_null(struct iw_pd *pd, void *ctx, struct iw_mr **mr)
{
	/*
	 * A null MR has length 0, so iw_mr_covers() is never true. Lookups of an address then check
	 * for IW_MR_NULL before they fail.
	 */
	struct iw_mr_attr attr = { .pd = pd,
				   .access = IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
					     IW_ACCESS_REMOTE_READ };
	struct iw_rnic *rnic = pd->rnic;

	if (!rnic->null_memory)
		rnic->null_memory = calloc(2, IW_SEGMENT_MAX);
	return rnic->null_memory ? new_mr(&attr, IW_MR_NULL, ctx, mr) : -ENOMEM;
}

uint32_t iw_mr_stag(const struct iw_mr *mr)
{
	return mr->stag;
}

void iw_mr_get(const struct iw_mr *mr, struct iw_mr_attr *attr)
{
	*attr = (struct iw_mr_attr){
		.pd = mr->pd,
		.addr = (uintptr_t)mr->addr,
		.length = mr->length,
		.iova = mr->iova,
		.access = mr->access & ~IW_MR_LOCAL,
	};
}

int iw_mr_change(struct iw_mr *mr, const struct iw_mr_attr *attr)
{
	uint32_t old = mr->stag;
	int err = mr->kind == IW_MR_REGION ? check_attr(attr) : -EINVAL;

	if (err)
		return err;
	if (windows(mr))
		return -EBUSY;
	iw_zcopy_copy_out_all(mr->pd->rnic);
	if (iw_mr_is_invalid(mr) || mr->addr != (uint8_t *)(uintptr_t)attr->addr ||
	    mr->length != attr->length || mr->iova != attr->iova) {
		err = iw_mr_enter(mr->pd->rnic, mr);
		if (err)
			return err;
		iw_table_remove(&mr->pd->rnic->mrs, old >> 8);
		iw_mr_set_invalid(mr, false);
	}
	mr->pd->refs--;
	set_attr(mr, attr);
	mr->pd->refs++;
	return 0;
}

int iw_mr_locate(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, bool write,
		 uint64_t *memory)
{
	const struct iw_mr *mr = iw_mr_find(pd->rnic, lkey);

	if (mr && !(mr->access & IW_MR_LOCAL))
		return -EINVAL;
	if (!mr)
		return -ENOENT;
	if (mr->pd != pd || (write && !(mr->access & IW_ACCESS_LOCAL_WRITE)))
		return -EPERM;
	if (!iw_mr_covers(mr, addr, len))
		return -EFAULT;
	*memory = (uintptr_t)iw_mr_at(mr, addr);
	return 0;
}

int iw_mr_free(struct iw_mr *mr)
{
	if (windows(mr))
		return -EBUSY;
	/* The STag is looked up for each segment, so only zero-copy references remain. */
	iw_zcopy_copy_out_all(mr->pd->rnic);
	iw_table_remove(&mr->pd->rnic->mrs, mr->stag >> 8);
	list_del(&mr->all);
	mr->pd->refs--;
	iw_lost_clear(&mr->lost);
	free(mr);
	return 0;
}

/* Returns the region that contains mr's memory: mr itself, or the region of a window. */
static const struct iw_mr *region_of(const struct iw_mr *mr)
{
	if (mr->kind == IW_MR_WINDOW_1 || mr->kind == IW_MR_WINDOW_2)
		return list_entry(mr, const struct iw_mw, key)->region;
	return mr;
}

bool iw_mr_has(const struct iw_mr *mr, uint64_t to, uint64_t len)
{
	uint64_t offset = to - mr->iova, memory;
	const struct iw_rnic_ops *ops;

	if (to < mr->iova || offset > mr->length || len > mr->length - offset)
		return false;
	memory = (uintptr_t)iw_mr_at(mr, to);
	mr = region_of(mr);
	if (!mr || iw_lost_touches(&mr->lost, memory, memory + len))
		return false;
	ops = &mr->pd->rnic->ops;
	return !(mr->access & IW_ACCESS_ON_DEMAND) || !ops->is_own ||
	       !ops->is_own((const void *)(uintptr_t)memory, len);
}

void iw_mr_before_loss(struct iw_rnic *rnic)
{
	iw_zcopy_copy_out_all(rnic);
}

static void say_lost(const struct iw_rnic *rnic, const struct iw_mr *mr, uint64_t start,
		     uint64_t end)
{
	char line[256];

	if (!rnic->ops.say || !rnic->ops.hears(IW_SAY_INFO))
		return;
	snprintf(
		line, sizeof(line),
		"the program has unmapped or freed 0x%llx to 0x%llx of a memory region (%llu bytes at 0x%llx, "
		"key 0x%x): accesses there fail. Deregister the region first",
		(unsigned long long)start, (unsigned long long)end, (unsigned long long)mr->length,
		(unsigned long long)(uintptr_t)mr->addr, mr->stag);
	rnic->ops.say(IW_SAY_INFO, line);
}

/* Returns true if mr loses a part of its memory. */
static bool lose(const struct iw_rnic *rnic, struct iw_mr *mr, uint64_t start, uint64_t end)
{
	uint64_t first = (uintptr_t)mr->addr, behind = first + mr->length;

	if (mr->kind != IW_MR_REGION || (mr->access & IW_ACCESS_ON_DEMAND) || start >= behind ||
	    end <= first)
		return false;
	if (start < first)
		start = first;
	if (end > behind)
		end = behind;
	if (!iw_lost_any(&mr->lost))
		say_lost(rnic, mr, start, end);
	iw_lost_add(&mr->lost, start, end);
	mr->plain = 0;
	return true;
}

void iw_mr_lose(struct iw_rnic *rnic, uint64_t start, uint64_t end)
{
	const struct iw_table *t = &rnic->mrs;
	bool any = false;

	for (uint32_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].value)
			any |= lose(rnic, t->slots[i].value, start, end);
	/* Make the windows of regions with lost memory use the complete check, too. */
	for (uint32_t i = 0; any && i <= t->mask; i++) {
		struct iw_mr *mr = t->slots[i].value;

		if (mr && region_of(mr) && !region_of(mr)->plain)
			mr->plain = 0;
	}
}

/*
 * Returns the zeros of null MRs, or the buffer for discarded writes. Either has IW_SEGMENT_MAX
 * bytes, and no copy is longer than a segment.
 */
static uint8_t *null_at(const struct iw_rnic *rnic, bool write)
{
	return rnic->null_memory + (write ? IW_SEGMENT_MAX : 0);
}

uint8_t *iw_mr_of_pd(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len,
		     uint32_t access)
{
	const struct iw_mr *mr = iw_mr_find(pd->rnic, lkey);

	access |= IW_MR_LOCAL;
	if (!mr || (mr->access & access) != access || mr->pd != pd)
		return NULL;
	if (iw_mr_covers(mr, addr, len))
		return iw_mr_at(mr, addr);
	return mr->kind == IW_MR_NULL ? null_at(pd->rnic, access & IW_ACCESS_LOCAL_WRITE) : NULL;
}

enum iw_remote iw_mr_remote(const struct iw_qp *qp, uint32_t stag, uint64_t to, uint32_t len,
			    uint32_t access, uint8_t **ptr)
{
	const struct iw_mr *mr = iw_mr_find(qp->shard->rnic, stag);

	if (!mr)
		return IW_REMOTE_STAG;
	if (mr->scope != qp->pd && mr->scope != qp &&
	    (mr->scope != mr->pd || !iw_xrc_reaches(qp, mr->pd)))
		return IW_REMOTE_PD;
	if (!(mr->access & access) || !(qp->access & access))
		return IW_REMOTE_ACCESS;
	if (to + (len - 1) < to)
		return IW_REMOTE_WRAP;
	if (iw_mr_covers(mr, to, len))
		*ptr = iw_mr_at(mr, to);
	else if (mr->kind == IW_MR_NULL)
		*ptr = null_at(qp->shard->rnic, access & IW_ACCESS_REMOTE_WRITE);
	else
		return IW_REMOTE_BOUNDS;
	return IW_REMOTE_OK;
}

int iw_mr_invalidate_local(const struct iw_qp *qp, uint32_t stag)
{
	struct iw_mr *mr = iw_table_find(&qp->shard->rnic->mrs, stag >> 8);

	if (!mr || mr->stag != stag || mr->pd != qp->pd)
		return -EINVAL;
	if (mr->kind == IW_MR_WINDOW_2) {
		if (!iw_mr_is_invalid(mr) && mr->scope != qp)
			return -EINVAL;
		iw_mw_unbind(list_entry(mr, struct iw_mw, key));
		return 0;
	}
	if (iw_mr_is_invalid(mr) || mr->kind != IW_MR_REGION)
		return -EINVAL;
	if (windows(mr))
		return -EBUSY;
	/* The caller holds the locks of all shards, or the lock of the only shard. */
	iw_zcopy_copy_out_all(qp->shard->rnic);
	iw_mr_set_invalid(mr, true);
	return 0;
}

int iw_mr_invalidate_remote(const struct iw_qp *qp, uint32_t stag)
{
	struct iw_mr *mr = iw_mr_find(qp->shard->rnic, stag);

	if (mr && mr->scope == qp) {
		iw_mw_unbind(list_entry(mr, struct iw_mw, key));
		return 0;
	}
	if (!mr || mr->scope != qp->pd || mr->kind != IW_MR_REGION)
		return -EINVAL;
	if (mr->pd->qps > 1 || mr->pd->xrc_srqs || windows(mr) || !(mr->access & IW_ACCESS_REMOTE))
		return -EACCES;
	/* The PD has no other QP, so only messages of this shard can reference the MR's memory. */
	iw_zcopy_copy_out(qp->shard);
	iw_mr_set_invalid(mr, true);
	return 0;
}
