/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/dm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iw_mr.h"
#include "log/log.h"
#include "verbs/context.h"
#include "verbs/domain.h"
#include "verbs/mr.h"

#define MIN_ALIGN 64 /* bytes; a cache line, which is more than an atomic operation needs */

static _Atomic uint64_t allocated; /* bytes in use, at most SCTPIW_MAX_DM */

/* bytes; offsets and lengths of copies are multiples of it, as rdma-core's tests require */
#define COPY_UNIT 4

static bool is_inside(const struct sctpiw_dm *dm, uint64_t offset, uint64_t length)
{
	return offset <= dm->length && length <= dm->length - offset;
}

static int check_copy(const struct sctpiw_dm *dm, uint64_t offset, uint64_t length)
{
	if (!is_inside(dm, offset, length))
		return EFAULT;
	return offset % COPY_UNIT || length % COPY_UNIT ? EINVAL : 0;
}

static int memcpy_to_dm(struct ibv_dm *ibdm, uint64_t dm_offset, const void *host_addr,
			size_t length)
{
	struct sctpiw_dm *dm = to_dm(ibdm);
	int err;

	err = check_copy(dm, dm_offset, length);
	if (!err && length)
		memcpy(dm->memory + dm_offset, host_addr, length);
	return err;
}

static int memcpy_from_dm(void *host_addr, struct ibv_dm *ibdm, uint64_t dm_offset, size_t length)
{
	struct sctpiw_dm *dm = to_dm(ibdm);
	int err;

	err = check_copy(dm, dm_offset, length);
	if (!err && length)
		memcpy(host_addr, dm->memory + dm_offset, length);
	return err;
}

static bool reserve(uint64_t length)
{
	uint64_t before = atomic_load(&allocated);

	do {
		if (length > SCTPIW_MAX_DM - before)
			return false;
	} while (!atomic_compare_exchange_weak(&allocated, &before, before + length));
	return true;
}

static struct sctpiw_dm *new_dm(uint64_t length, size_t align)
{
	struct sctpiw_dm *dm;
	void *memory;

	if (!reserve(length))
		return NULL;
	dm = calloc(1, sizeof(*dm));
	if (!dm || posix_memalign(&memory, align, length)) {
		atomic_fetch_sub(&allocated, length);
		free(dm);
		return NULL;
	}
	memset(memory, 0, length); /* otherwise a peer could read old contents of the heap */
	dm->memory = memory;
	dm->length = length;
	return dm;
}

struct ibv_dm *sctpiw_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_dm *dm;
	size_t align = MIN_ALIGN;

	if (attr->comp_mask || !attr->length || attr->length > SCTPIW_MAX_DM ||
	    attr->log_align_req > 31 || 1u << attr->log_align_req > SCTPIW_MAX_DM) {
		log_debug("alloc_dm: length %zu, alignment 2^%u: %s", attr->length,
			  attr->log_align_req, strerror(EINVAL));
		errno = EINVAL;
		return NULL;
	}
	if (1u << attr->log_align_req > align)
		align = 1u << attr->log_align_req;
	dm = new_dm(attr->length, align);
	if (!dm) {
		errno = ENOMEM;
		return NULL;
	}
	dm->ibv.context = context;
	dm->ibv.memcpy_to_dm = memcpy_to_dm;
	dm->ibv.memcpy_from_dm = memcpy_from_dm;
	dm->ibv.handle = sctpiw_new_handle();
	sctpiw_lock(ctx);
	list_add_tail(&ctx->dms, &dm->node);
	sctpiw_unlock(ctx);
	return &dm->ibv;
}

void sctpiw_dm_release(struct sctpiw_dm *dm)
{
	atomic_fetch_sub(&allocated, dm->length);
	free(dm->memory);
	free(dm);
}

int sctpiw_free_dm(struct ibv_dm *ibdm)
{
	struct sctpiw_context *ctx = to_ctx(ibdm->context);
	struct sctpiw_dm *dm = to_dm(ibdm);
	bool busy;

	sctpiw_lock(ctx);
	busy = dm->mrs;
	if (!busy)
		list_del(&dm->node);
	sctpiw_unlock(ctx);
	if (busy)
		return EBUSY;
	sctpiw_dm_release(dm);
	return 0;
}

static int check_reg(const struct sctpiw_dm *dm, uint64_t offset, size_t length,
		     unsigned int access)
{
	const unsigned int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_ZERO_BASED | IBV_ACCESS_OPTIONAL_RANGE;

	if ((access & ~known) || !(access & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	return is_inside(dm, offset, length) ? 0 : EINVAL;
}

struct ibv_mr *sctpiw_reg_dm_mr(struct ibv_pd *ibpd, struct ibv_dm *ibdm, uint64_t dm_offset,
				size_t length, unsigned int access)
{
	struct sctpiw_dm *dm = to_dm(ibdm);
	struct iw_mr_attr attr = { .length = length,
				   .access = access & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE };
	struct sctpiw_mr *mr;
	int err = EINVAL;

	if (ibdm->context == ibpd->context)
		err = check_reg(dm, dm_offset, length, access);
	if (err) {
		log_debug("reg_dm_mr: offset %llu, length %zu of %llu, access 0x%x: %s",
			  (unsigned long long)dm_offset, length, (unsigned long long)dm->length,
			  access, strerror(err));
		errno = err;
		return NULL;
	}
	attr.addr = (uintptr_t)(dm->memory + dm_offset);
	mr = sctpiw_new_mr(to_pd(ibpd), &attr, (int)access, dm);
	if (!mr)
		return NULL;
	/* Keeps libibverbs from changing pages that the application did not provide. */
	mr->vmr.mr_type = VERBS_MR_DMABUF;
	mr->vmr.ibv_mr.length = length;
	return &mr->vmr.ibv_mr;
}
