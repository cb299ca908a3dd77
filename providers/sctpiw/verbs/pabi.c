/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "verbs/pabi.h"

#include <dlfcn.h>
#include <string.h>

/* CMakeLists.txt finds the supported versions of the private ABI by the names of these symbols. */
const struct pabi_layout pabi_layouts[] = {
	{ .register_driver = "verbs_register_driver_34", /* rdma-core v36 to v56 */
	  .marker = "ibv_query_qp_data_in_order",
	  .front = 40 },
	{ .register_driver = "verbs_register_driver_57", /* rdma-core v57 and v58 */
	  .front = 40 },
	{ .register_driver = "verbs_register_driver_59", /* rdma-core v62 and v63 */
	  .marker = "ibv_dm_export_dmabuf_fd",
	  .front = 44,
	  .inserted = 5,
	  .before = { 2, 25, 39, 61, 69 } },
	{ .register_driver = "verbs_register_driver_59", /* rdma-core v59 to v61 */
	  .front = 43,
	  .inserted = 3,
	  .before = { 2, 25, 69 } },
	{ .register_driver = "verbs_register_driver_64", /* rdma-core v64 */
	  .front = 46,
	  .inserted = 7,
	  .before = { 1, 2, 25, 39, 39, 61, 69 } },
	{ .register_driver = "verbs_register_driver_65", /* rdma-core v65 */
	  .front = 46,
	  .inserted = 17,
	  .before = { 1, 2, 14, 25, 30, 39, 39, 45, 45, 58, 58, 61, 65, 66, 69, 72, 73 } },
	{ NULL },
};

/* The results of pabi_init(). */
static struct {
	const struct pabi_layout *layout;
	void (*register_driver)(const struct verbs_device_ops *ops);
	void *(*alloc_context)(struct ibv_device *device, int cmd_fd, size_t size,
			       struct verbs_context *offset, uint32_t driver_id);
	void (*uninit_context)(struct verbs_context *context);
	void (*set_ops)(struct verbs_context *context, const void *ops);
	/* offset in struct verbs_qp of the mark that pabi_mark_qp_ex() sets; 0: not found */
	size_t qp_mark;
} pabi;

/* the mark: a bit in a field of libibverbs that follows struct ibv_qp_ex */
#define VERBS_QP_EX UINT32_C(2)

/*
 * Stores the address of a symbol in the function pointer at `function`. ISO C does not convert void
 * * to a function pointer, but POSIX requires that both have the same representation. Returns false
 * for an unknown symbol.
 */
static bool find_symbol(void *lib, const char *name, void *function)
{
	void *address = dlsym(lib, name);

	memcpy(function, &address, sizeof(address));
	return address != NULL;
}

/*
 * Finds the offset of the mark: calls libibverbs's ibv_qp_to_qp_ex() with the mark at each possible
 * offset. The version of the private ABI does not determine the offset, since struct ibv_qp_ex has
 * grown independently of it.
 */
static size_t find_qp_mark(struct ibv_qp_ex *(*qp_to_qp_ex)(struct ibv_qp *qp))
{
	size_t at = offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *);
	struct verbs_qp probe;

	for (; at + sizeof(uint32_t) <= sizeof(probe); at += sizeof(uint64_t)) {
		memset(&probe, 0, sizeof(probe));
		memcpy(probe.room + at, &(uint32_t){ VERBS_QP_EX }, sizeof(uint32_t));
		if (qp_to_qp_ex(&probe.qp) == &probe.qp_ex)
			return at;
	}
	return 0;
}

bool pabi_mark_qp_ex(struct verbs_qp *qp)
{
	if (!pabi.qp_mark)
		return false;
	memcpy(qp->room + pabi.qp_mark, &(uint32_t){ VERBS_QP_EX }, sizeof(uint32_t));
	return true;
}

bool pabi_init(void)
{
	/*
	 * Look the symbols up in libibverbs itself. If the program has opened libibverbs by
	 * dlopen(), its symbols may not be in the global scope.
	 */
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	struct ibv_qp_ex *(*qp_to_qp_ex)(struct ibv_qp * qp);
	const struct pabi_layout *l;

	if (!lib)
		return false;
	for (l = pabi_layouts; l->register_driver; l++)
		if (find_symbol(lib, l->register_driver, &pabi.register_driver) &&
		    (!l->marker || dlsym(lib, l->marker)))
			break;
	if (!l->register_driver ||
	    !find_symbol(lib, "_verbs_init_and_alloc_context", &pabi.alloc_context) ||
	    !find_symbol(lib, "verbs_uninit_context", &pabi.uninit_context) ||
	    !find_symbol(lib, "verbs_set_ops", &pabi.set_ops)) {
		dlclose(lib);
		return false;
	}
	if (find_symbol(lib, "ibv_qp_to_qp_ex", &qp_to_qp_ex))
		pabi.qp_mark = find_qp_mark(qp_to_qp_ex);
	pabi.layout = l;
	return true;
}

void pabi_spread_ops(const struct pabi_layout *layout, const struct verbs_context_ops *ops,
		     void (*slots[PABI_MAX_OPS])(void))
{
	const char *from = (const char *)ops;
	unsigned int skipped = 0;

	memset(slots, 0, PABI_MAX_OPS * sizeof(slots[0]));
	for (unsigned int i = 0; i < PABI_OPS; i++) {
		while (skipped < layout->inserted && layout->before[skipped] == i)
			skipped++;
		memcpy(&slots[i + skipped], from + i * sizeof(slots[0]), sizeof(slots[0]));
	}
}

void pabi_register_driver(const struct verbs_device_ops *ops)
{
	pabi.register_driver(ops);
}

struct verbs_context *pabi_full_context(struct pabi_context *context)
{
	return (void *)((void **)&context->context - pabi.layout->front);
}

void *pabi_alloc_context(struct ibv_device *device, int cmd_fd, size_t size)
{
	size_t offset = (PABI_MAX_FRONT - pabi.layout->front) * sizeof(void *);

	return pabi.alloc_context(device, cmd_fd, size, (void *)offset, 0);
}

void pabi_uninit_context(struct pabi_context *context)
{
	pabi.uninit_context(pabi_full_context(context));
}

bool pabi_set_ops(struct pabi_context *context, const struct verbs_context_ops *ops)
{
	const struct ibv_context_ops *set = &context->context.ops;
	/* The same context, as programs see it that were built with the installed headers. */
	const struct verbs_context *seen = verbs_get_ctx(&context->context);
	void (*slots[PABI_MAX_OPS])(void);

	pabi_spread_ops(pabi.layout, ops, slots);
	pabi.set_ops(pabi_full_context(context), slots);

	/*
	 * The operations are in alphabetical order. If libibverbs has one more or one less than
	 * expected, all later operations are at wrong places. So the check compares some operations
	 * from the beginning, the middle and the end.
	 */
#define SAME(a, b) ((void (*)(void))(a) == (void (*)(void))(b))
	return SAME(set->_compat_alloc_pd, ops->alloc_pd) && SAME(set->alloc_mw, ops->alloc_mw) &&
	       SAME(set->bind_mw, ops->bind_mw) && SAME(set->dealloc_mw, ops->dealloc_mw) &&
	       SAME(seen->alloc_null_mr, ops->alloc_null_mr) &&
	       SAME(seen->reg_dm_mr, ops->reg_dm_mr) &&
	       SAME(set->_compat_create_cq, ops->create_cq) &&
	       SAME(set->_compat_create_qp, ops->create_qp) &&
	       SAME(seen->create_qp_ex, ops->create_qp_ex) &&
	       SAME(set->_compat_dealloc_pd, ops->dealloc_pd) &&
	       SAME(set->_compat_dereg_mr, ops->dereg_mr) &&
	       SAME(set->_compat_destroy_cq, ops->destroy_cq) &&
	       SAME(set->_compat_destroy_qp, ops->destroy_qp) &&
	       SAME(set->_compat_modify_qp, ops->modify_qp) && SAME(set->poll_cq, ops->poll_cq) &&
	       SAME(set->post_srq_recv, ops->post_srq_recv) &&
	       SAME(set->post_recv, ops->post_recv) && SAME(set->post_send, ops->post_send) &&
	       SAME(seen->query_device_ex, ops->query_device_ex) &&
	       SAME(seen->alloc_td, ops->alloc_td) && SAME(seen->dealloc_td, ops->dealloc_td) &&
	       SAME(seen->alloc_parent_domain, ops->alloc_parent_domain) &&
	       SAME(set->_compat_query_qp, ops->query_qp) &&
	       SAME(set->_compat_reg_mr, ops->reg_mr) &&
	       SAME(set->req_notify_cq, ops->req_notify_cq) &&
	       SAME(set->_compat_resize_cq, ops->resize_cq);
#undef SAME
}
