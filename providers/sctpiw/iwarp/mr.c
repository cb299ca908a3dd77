/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "iwarp/private.h"

#define MR_MAX_LENGTH (UINT64_C(1) << 47) /* the address space of a process */

static uint32_t mix(uint64_t v)
{
	v *= UINT64_C(0xff51afd7ed558ccd);
	v ^= v >> 33;
	v *= UINT64_C(0xc4ceb9fe1a85ec53);
	v ^= v >> 29;
	return (uint32_t)v & 0xffff;
}

/*
 * STags are a keyed permutation of a counter: unpredictable without the keys and spread over
 * all 32 bits (RFC 5040 8.1.1), and none comes back before 2^32 others (RFC 5042 6.1.1).
 */
static uint32_t next_stag(struct iw_rnic *rnic)
{
	uint32_t v = rnic->stag_counter++;
	uint32_t l = v >> 16, r = v & 0xffff;

	for (unsigned int i = 0; i < 6; i++) {
		uint32_t t = l ^ mix(r ^ rnic->stag_keys[i]);

		l = r;
		r = t;
	}
	return l << 16 | r;
}

uint32_t iw_mr_unused_stag(struct iw_rnic *rnic)
{
	uint32_t stag;

	do
		stag = next_stag(rnic);
	while (stag >> 8 == 0 || iw_table_find(&rnic->mrs, stag >> 8));
	return stag;
}

int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **out)
{
	const uint32_t needs_write = IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_ATOMIC;
	struct iw_rnic *rnic = pd->rnic;
	struct iw_mr *mr;
	uint32_t stag;
	int err;

	if ((access & needs_write) && !(access & IW_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (length > MR_MAX_LENGTH ||
	    (length && (addr + (length - 1) < addr || iova + (length - 1) < iova)))
		return -EINVAL;
	if (rnic->mrs.count >= IW_MAX_MR)
		return -ENOMEM;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	stag = iw_mr_unused_stag(rnic);
	err = iw_table_insert(&rnic->mrs, stag >> 8, mr);
	if (err) {
		free(mr);
		return err;
	}
	mr->stag = stag;
	mr->access = access;
	mr->pd = pd;
	mr->iova = iova;
	mr->length = length;
	mr->addr = (uint8_t *)(uintptr_t)addr;
	mr->ctx = ctx;
	pd->refs++;
	*out = mr;
	return 0;
}

uint32_t iw_mr_stag(const struct iw_mr *mr)
{
	return mr->stag;
}

int iw_mr_free(struct iw_mr *mr)
{
	/* Whoever touches memory looks the STag up anew for each segment. */
	iw_table_remove(&mr->pd->rnic->mrs, mr->stag >> 8);
	mr->pd->refs--;
	free(mr);
	return 0;
}

uint8_t *iw_mr_local(const struct iw_qp *qp, uint32_t lkey, uint64_t addr, uint32_t len,
		     uint32_t access)
{
	const struct iw_mr *mr = iw_mr_find(qp->rnic, lkey);

	if (!mr || mr->pd != qp->pd || (mr->access & access) != access ||
	    !iw_mr_covers(mr, addr, len))
		return NULL;
	return iw_mr_at(mr, addr);
}

enum iw_remote iw_mr_remote(const struct iw_qp *qp, uint32_t stag, uint64_t to, uint32_t len,
			    uint32_t access, uint8_t **ptr)
{
	const struct iw_mr *mr = iw_mr_find(qp->rnic, stag);

	if (!mr)
		return IW_REMOTE_STAG;
	if (mr->pd != qp->pd)
		return IW_REMOTE_PD;
	if (!(mr->access & access) || !(qp->access & access))
		return IW_REMOTE_ACCESS;
	if (to + (len - 1) < to)
		return IW_REMOTE_WRAP;
	if (!iw_mr_covers(mr, to, len))
		return IW_REMOTE_BOUNDS;
	*ptr = iw_mr_at(mr, to);
	return IW_REMOTE_OK;
}

int iw_mr_invalidate_local(const struct iw_qp *qp, uint32_t stag)
{
	struct iw_mr *mr = iw_mr_find(qp->rnic, stag);

	if (!mr || mr->pd != qp->pd)
		return -EINVAL;
	mr->invalid = true;
	return 0;
}

int iw_mr_invalidate_remote(const struct iw_qp *qp, uint32_t stag)
{
	const uint32_t remote = IW_ACCESS_REMOTE_READ | IW_ACCESS_REMOTE_WRITE |
				IW_ACCESS_REMOTE_ATOMIC;
	struct iw_mr *mr = iw_mr_find(qp->rnic, stag);

	if (!mr || mr->pd != qp->pd)
		return -EINVAL;
	if (mr->pd->qps > 1 || !(mr->access & remote))
		return -EACCES;
	mr->invalid = true;
	return 0;
}
