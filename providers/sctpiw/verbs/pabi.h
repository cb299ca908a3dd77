/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private ABI between libibverbs and its providers: structs and functions that the headers of
 * libibverbs-dev do not declare. The structs below have the layout of private ABI 34 (rdma-core v36
 * to v56). Newer ABIs insert operations, and have a longer struct verbs_context.
 *
 * The provider may be built with the headers of another version than the libibverbs that loads it.
 * In these headers, struct verbs_context may have other fields before its ibv_context. So the code
 * does not depend on these fields.
 *
 * The functions of libibverbs are looked up when this library is loaded. So a libibverbs of an
 * unknown version can load the library. It then logs one clear message, and offers no device.
 */
#ifndef SCTPIW_VERBS_PABI_H
#define SCTPIW_VERBS_PABI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

enum verbs_match_kind {
	VERBS_MATCH_SENTINEL = 0,
	/* a pattern that is compared with modalias, and with "rdma_device:N<name>" */
	VERBS_MATCH_MODALIAS = 2,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

struct verbs_sysfs_dev; /* defined by libibverbs */
struct verbs_device;

struct verbs_device_ops {
	const char *name;
	/* minimum of /sys/class/infiniband_verbs/uverbsN/abi_version */
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	/* Takes over cmd_fd, and closes it on failure, too. */
	struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd,
					       void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

struct verbs_device { /* zeroed by the provider, filled by libibverbs */
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	atomic_int refcount;
	void *entry[2];
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/* libibverbs counts only the pages of ordinary MRs for ibv_fork_init(). */
enum verbs_mr_type { VERBS_MR_ORDINARY, VERBS_MR_NULL, VERBS_MR_IMPORTED, VERBS_MR_DMABUF };

struct verbs_mr {
	struct ibv_mr ibv_mr;
	int mr_type; /* enum verbs_mr_type */
	int access;
};

/*
 * After struct ibv_qp_ex, libibverbs has fields of its own. The size of struct ibv_qp_ex differs
 * between versions, so `room` stands for both. All these fields must be 0, except for the mark of
 * pabi_mark_qp_ex().
 */
struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
		uint8_t room[sizeof(struct ibv_qp_ex) + 128];
	};
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
		uint8_t room[sizeof(struct ibv_cq_ex) + 128];
	};
};

/* An operation without an implementation: libibverbs reports that it is not supported. */
#define PABI_DEFAULT(name) void (*name)(void)

/* The operations are in libibverbs's order, which is alphabetical. */
struct verbs_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			 struct ibv_sge *sg_list, uint32_t num_sge);
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *(*alloc_parent_domain)(struct ibv_context *context,
					      struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context, struct ibv_td_init_attr *attr);
	PABI_DEFAULT(async_event);
	PABI_DEFAULT(attach_counters_point_flow);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	PABI_DEFAULT(cq_event);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	PABI_DEFAULT(create_counters);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel, int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	PABI_DEFAULT(create_flow);
	PABI_DEFAULT(create_flow_action_esp);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	PABI_DEFAULT(create_rwq_ind_table);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	PABI_DEFAULT(create_wq);
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *mr);
	int (*destroy_ah)(struct ibv_ah *ah);
	PABI_DEFAULT(destroy_counters);
	int (*destroy_cq)(struct ibv_cq *cq);
	PABI_DEFAULT(destroy_flow);
	PABI_DEFAULT(destroy_flow_action);
	int (*destroy_qp)(struct ibv_qp *qp);
	PABI_DEFAULT(destroy_rwq_ind_table);
	int (*destroy_srq)(struct ibv_srq *srq);
	PABI_DEFAULT(destroy_wq);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
	void (*free_context)(struct ibv_context *context);
	int (*free_dm)(struct ibv_dm *dm);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	PABI_DEFAULT(import_dm);
	PABI_DEFAULT(import_mr);
	PABI_DEFAULT(import_pd);
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	PABI_DEFAULT(modify_flow_action_esp);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
	PABI_DEFAULT(modify_qp_rate_limit);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
	PABI_DEFAULT(modify_wq);
	struct ibv_qp *(*open_qp)(struct ibv_context *context, struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	PABI_DEFAULT(post_srq_ops);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t attr_size);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *port_attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			struct ibv_qp_init_attr *init_attr);
	int (*query_qp_data_in_order)(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
	int (*query_rt_values)(struct ibv_context *context, struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	PABI_DEFAULT(read_counters);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				    size_t length, unsigned int access);
	PABI_DEFAULT(reg_dmabuf_mr);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
				 int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
			size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	PABI_DEFAULT(unimport_dm);
	PABI_DEFAULT(unimport_mr);
	PABI_DEFAULT(unimport_pd);
};

#undef PABI_DEFAULT

#define PABI_OPS (sizeof(struct verbs_context_ops) / sizeof(void (*)(void)))
/* more operations than any known layout has; an unknown, longer layout reads zeros */
#define PABI_MAX_OPS 160

_Static_assert(PABI_OPS == 76, "operations of private ABI 34");

/* Number of pointers before the ibv_context in the longest known struct verbs_context. */
#define PABI_MAX_FRONT 48

/* A known layout, described by its differences from layout 34. */
struct pabi_layout {
	const char *register_driver; /* a symbol that libibverbs exports if it has this layout */
	const char *marker;	     /* a second symbol of this kind, or NULL */
	/* number of pointers before the ibv_context in struct verbs_context */
	uint8_t front;
	uint8_t inserted; /* number of operations that this layout inserts */
	/*
	 * For each inserted operation, in ascending order: the index in struct verbs_context_ops of
	 * the operation that follows it.
	 */
	uint8_t before[20];
};

/*
 * Space for the struct verbs_context of any known layout. The struct always ends with its
 * ibv_context. Newer versions of libibverbs add fields at the beginning.
 */
struct pabi_context {
	void *front[PABI_MAX_FRONT];
	struct ibv_context context;
};

/*
 * The known layouts. The first one whose symbols libibverbs exports is used. The last entry has
 * NULL as register_driver.
 */
extern const struct pabi_layout pabi_layouts[];

/* Writes the operations to `slots` in the order of the layout. Writes NULL to all other slots. */
void pabi_spread_ops(const struct pabi_layout *layout, const struct verbs_context_ops *ops,
		     void (*slots[PABI_MAX_OPS])(void));

/*
 * Finds the functions and the layout of the libibverbs in this process. Returns false if its
 * version is unknown.
 */
bool pabi_init(void);

/* Call the functions below only after pabi_init() has returned true. */

/* Registers the driver with libibverbs. */
void pabi_register_driver(const struct verbs_device_ops *ops);

/*
 * Allocates a struct of `size` zero bytes that begins with a pabi_context. libibverbs initialises
 * the pabi_context, and takes over cmd_fd. On failure, closes cmd_fd, returns NULL and sets errno.
 */
void *pabi_alloc_context(struct ibv_device *device, int cmd_fd, size_t size);

/* Returns the verbs_context of the context. alloc_context() returns it to libibverbs. */
struct verbs_context *pabi_full_context(struct pabi_context *context);

/* Closes cmd_fd and async_fd. The caller then frees the memory. */
void pabi_uninit_context(struct pabi_context *context);

/*
 * Marks qp, so that ibv_qp_to_qp_ex() returns its struct ibv_qp_ex. Returns false if pabi_init()
 * did not find the offset of the mark.
 */
bool pabi_mark_qp_ex(struct verbs_qp *qp);

/*
 * Sets the operations of the context. Returns false if the check finds an operation at a wrong
 * place. Do not use the context then.
 */
bool pabi_set_ops(struct pabi_context *context, const struct verbs_context_ops *ops);

#endif
