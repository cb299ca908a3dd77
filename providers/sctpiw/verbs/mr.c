/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/mr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iwarp/iw_mr.h"
#include "log/log.h"
#include "net/arena.h"
#include "net/memory.h"
#include "verbs/context.h"
#include "verbs/dm.h"
#include "verbs/domain.h"

_Static_assert((int)IW_ACCESS_LOCAL_WRITE == IBV_ACCESS_LOCAL_WRITE, "");
_Static_assert((int)IW_ACCESS_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE, "");
_Static_assert((int)IW_ACCESS_REMOTE_READ == IBV_ACCESS_REMOTE_READ, "");
_Static_assert((int)IW_ACCESS_REMOTE_ATOMIC == IBV_ACCESS_REMOTE_ATOMIC, "");
_Static_assert((int)IW_ACCESS_MW_BIND == IBV_ACCESS_MW_BIND, "");
_Static_assert((int)IW_ACCESS_ZERO_BASED == IBV_ACCESS_ZERO_BASED, "");
_Static_assert((int)IW_ACCESS_ON_DEMAND == IBV_ACCESS_ON_DEMAND, "");

/*
 * Refuses unknown flags, and remote rights without the local right to write. The kernel's drivers
 * do the same.
 */
static int check_access(int access)
{
	if (access & ~SCTPIW_KNOWN_ACCESS)
		return EINVAL;
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return 0;
}

/* Returns the access flags that iwarp/ knows. It does not need the others. */
static uint32_t rights_of(int access)
{
	return (uint32_t)access & (IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE | IW_ACCESS_MW_BIND |
				   IW_ACCESS_ZERO_BASED | IW_ACCESS_ON_DEMAND);
}

#define FIRST_ADDRESS 4096 /* lowest address of memory, so that no MR contains a null pointer */

/*
 * Checks that the process itself has this access to the memory. Returns 0 or an errno. With
 * on-demand paging, checks only the range, since the pages may be mapped later. The range must then
 * be within the address space, since a fault outside it would not report its address.
 */
static int check_memory(uint64_t addr, uint64_t length, int access)
{
	int err;

	err = memory_guard();
	if (err)
		return -err;
	if (access & IBV_ACCESS_ON_DEMAND)
		return addr >= FIRST_ADDRESS && length <= IW_MAX_MR_LENGTH &&
				       addr <= IW_MAX_MR_LENGTH - length ?
			       0 :
			       EFAULT;
	/* Programs must not register memory that this library uses itself. */
	if (arena_has((const void *)(uintptr_t)addr, length))
		return EFAULT;
	return -memory_check(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
}

/* Makes the hooks on munmap() and similar calls report each loss of mr's memory. */
static void watch(struct sctpiw_mr *mr, const struct iw_mr_attr *attr)
{
	regions_remove(&mr->region);
	if (!(attr->access & IW_ACCESS_ON_DEMAND))
		regions_add(&mr->region, attr->addr, attr->length);
}

struct sctpiw_mr *sctpiw_new_mr(struct sctpiw_pd *pd, const struct iw_mr_attr *attr, int access,
				struct sctpiw_dm *dm)
{
	struct sctpiw_context *ctx = to_ctx(pd->ibv.context);
	struct sctpiw_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr) {
		errno = ENOMEM;
		return NULL;
	}
	sctpiw_lock(ctx);
	if (attr)
		err = iw_mr_new(pd->iw, attr->addr, attr->length, attr->iova, attr->access, mr,
				&mr->iw);
	else
		err = iw_mr_new_null(pd->iw, mr, &mr->iw);
	if (!err) {
		sctpiw_pd_hold(pd);
		list_add_tail(&ctx->mrs, &mr->node);
		if (dm)
			dm->mrs++;
		else if (attr)
			watch(mr, attr);
	}
	sctpiw_unlock(ctx);
	if (err) {
		free(mr);
		errno = -err;
		return NULL;
	}
	mr->dm = dm;
	mr->vmr.access = access;
	mr->vmr.ibv_mr.context = pd->ibv.context;
	mr->vmr.ibv_mr.pd = &pd->ibv;
	mr->vmr.ibv_mr.handle = sctpiw_new_handle();
	mr->vmr.ibv_mr.lkey = iw_mr_stag(mr->iw);
	mr->vmr.ibv_mr.rkey = mr->vmr.ibv_mr.lkey;
	return mr;
}

/*
 * True for implicit on-demand paging: the MR is the whole address space, including memory that is
 * mapped later.
 */
static bool is_implicit(uint64_t addr, size_t length, int access)
{
	return (access & IBV_ACCESS_ON_DEMAND) && !addr && length == SIZE_MAX;
}

/*
 * True if an address and its iova have different offsets within a page. RDMA devices cannot
 * translate such addresses, since they translate whole pages.
 */
static bool is_misplaced(uint64_t addr, uint64_t hca_va)
{
	return (addr ^ hca_va) % (uint64_t)sysconf(_SC_PAGESIZE);
}

struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length, uint64_t hca_va,
			     int access)
{
	struct iw_mr_attr attr = {
		.addr = (uintptr_t)addr,
		.length = length,
		.iova = access & IBV_ACCESS_ZERO_BASED ? 0 : hca_va,
		.access = rights_of(access),
	};
	struct sctpiw_mr *mr;
	int err;

	err = check_access(access);
	if (err)
		goto fail;
	err = EINVAL;
	if (is_implicit(attr.addr, length, access)) {
		if (hca_va)
			goto fail;
		attr.addr = attr.iova = FIRST_ADDRESS;
		attr.length = IW_MAX_MR_LENGTH - FIRST_ADDRESS;
	} else if (!length || attr.addr + length < attr.addr || is_misplaced(attr.addr, hca_va)) {
		goto fail;
	}
	err = check_memory(attr.addr, attr.length, access);
	if (err)
		goto fail;
	mr = sctpiw_new_mr(to_pd(ibpd), &attr, access, NULL);
	return mr ? &mr->vmr.ibv_mr : NULL;
fail:
	log_debug("reg_mr: address %p, length %zu, access 0x%x: %s", addr, length,
		  (unsigned int)access, strerror(err));
	errno = err;
	return NULL;
}

/*
 * Sets *attr to the attributes that mr will have after the change. As for a new MR, its addresses
 * start at addr, or at 0. Returns 0 or an errno.
 */
static int change_of(struct sctpiw_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		     int access, struct iw_mr_attr *attr)
{
	struct ibv_mr *ibmr = &mr->vmr.ibv_mr;
	int err;

	if (!flags || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED))
		return EINVAL;
	if (!(flags & IBV_REREG_MR_CHANGE_PD))
		pd = ibmr->pd;
	if (!pd || pd->context != ibmr->context)
		return EINVAL;
	if (!(flags & IBV_REREG_MR_CHANGE_ACCESS))
		access = mr->vmr.access;
	err = check_access(access);
	if (err)
		return err;
	iw_mr_get(mr->iw, attr);
	attr->pd = to_pd(pd)->iw;
	attr->access = rights_of(access);
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		attr->addr = (uintptr_t)addr;
		attr->length = length;
		attr->iova = attr->addr;
		if (!length || attr->addr + length < attr->addr)
			return EINVAL;
	}
	if (access & IBV_ACCESS_ZERO_BASED)
		attr->iova = 0;
	else if (mr->vmr.access & IBV_ACCESS_ZERO_BASED)
		attr->iova = attr->addr;
	attr->checked = flags != IBV_REREG_MR_CHANGE_PD;
	return attr->checked ? check_memory(attr->addr, attr->length, access) : 0;
}

int sctpiw_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access)
{
	struct sctpiw_mr *mr = list_entry(vmr, struct sctpiw_mr, vmr);
	struct sctpiw_context *ctx = to_ctx(vmr->ibv_mr.context);
	struct iw_mr_attr attr;
	int err;

	err = change_of(mr, flags, pd, addr, length, access, &attr);
	if (!err) {
		sctpiw_lock(ctx);
		err = -iw_mr_change(mr->iw, &attr);
		vmr->ibv_mr.lkey = vmr->ibv_mr.rkey = iw_mr_stag(mr->iw);
		if (!err)
			watch(mr, &attr);
		if (!err && (flags & IBV_REREG_MR_CHANGE_PD)) {
			sctpiw_pd_hold(to_pd(pd));
			sctpiw_pd_drop(to_pd(vmr->ibv_mr.pd));
			vmr->ibv_mr.pd = pd;
		}
		sctpiw_unlock(ctx);
	}
	if (err) {
		log_debug("rereg_mr: flags 0x%x, address %p, length %zu, access 0x%x: %s",
			  (unsigned int)flags, addr, length, (unsigned int)access, strerror(err));
		errno = err;
	} else if (flags & IBV_REREG_MR_CHANGE_ACCESS) {
		vmr->access = access;
	}
	return err;
}

struct ibv_mr *sctpiw_alloc_null_mr(struct ibv_pd *ibpd)
{
	struct sctpiw_mr *mr;

	mr = sctpiw_new_mr(to_pd(ibpd), NULL, 0, NULL);
	if (!mr)
		return NULL;
	mr->vmr.mr_type = VERBS_MR_NULL;
	mr->vmr.ibv_mr.length = SIZE_MAX;
	return &mr->vmr.ibv_mr;
}

void sctpiw_forget_mr(struct sctpiw_mr *mr)
{
	regions_remove(&mr->region);
	free(mr);
}

int sctpiw_dereg_mr(struct verbs_mr *vmr)
{
	struct sctpiw_mr *mr = list_entry(vmr, struct sctpiw_mr, vmr);
	struct sctpiw_context *ctx = to_ctx(vmr->ibv_mr.context);
	int err;

	sctpiw_lock(ctx);
	err = iw_mr_free(mr->iw);
	/* In a child of fork(), ignore windows that QPs of the parent have bound. */
	if (!sctpiw_alive(ctx))
		err = 0;
	if (!err) {
		sctpiw_pd_drop(to_pd(vmr->ibv_mr.pd));
		list_del(&mr->node);
		if (mr->dm)
			mr->dm->mrs--;
	}
	sctpiw_unlock(ctx);
	if (err)
		return -err;
	sctpiw_forget_mr(mr);
	return 0;
}

/*
 * Checks each element. If `populate` is true, also populates the pages of each element. Returns 0
 * or an errno.
 */
static int advise_each(struct sctpiw_pd *pd, bool write, bool populate,
		       const struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct sctpiw_context *ctx = to_ctx(pd->ibv.context);
	uint64_t memory;
	int err = 0;

	for (uint32_t i = 0; i < num_sge && !err; i++) {
		const struct ibv_sge *sge = &sg_list[i];

		sctpiw_lock(ctx);
		err = iw_mr_locate(pd->iw, sge->lkey, sge->addr, sge->length, write, &memory);
		sctpiw_unlock(ctx);
		if (!err && populate)
			err = memory_populate(memory, sge->length, write);
		if (err)
			log_debug("advise_mr: key 0x%x, address 0x%llx, length %u: %s", sge->lkey,
				  (unsigned long long)sge->addr, sge->length, strerror(-err));
	}
	return -err;
}

int sctpiw_advise_mr(struct ibv_pd *ibpd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct sctpiw_pd *pd = to_pd(ibpd);
	bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	int err;

	switch (advice) {
	case IBV_ADVISE_MR_ADVICE_PREFETCH:
	case IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE:
	case IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		break;
	default:
		return EOPNOTSUPP;
	}
	if ((flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH) || !sg_list || !num_sge)
		return EINVAL;
	err = advise_each(pd, write, false, sg_list, num_sge);
	/*
	 * Check all elements before any page is populated. NO_FAULT means only pages that exist
	 * already, so there is nothing to populate.
	 */
	if (err || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return err;
	return advise_each(pd, write, true, sg_list, num_sge);
}
