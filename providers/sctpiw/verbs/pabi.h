/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private ABI between libibverbs and its providers: layouts and functions that libibverbs-dev
 * does not install. The structs below have the layout of private ABI 34 (rdma-core v36 to v56).
 * Newer ABIs insert operations, and have a longer struct verbs_context.
 *
 * The provider may be built on headers of another version than the libibverbs that loads it. So the
 * code does not depend on the fields before the ibv_context in struct verbs_context of the
 * installed verbs.h.
 *
 * The functions are looked up when the library is loaded. So an unknown libibverbs gets one clear
 * message and no device, but can load the library.
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
	VERBS_MATCH_MODALIAS = 2, /* a pattern over modalias, and over "rdma_device:N<name>" */
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
	uint32_t match_min_abi_version; /* of /sys/class/infiniband_verbs/uverbsN/abi_version */
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	/* Takes over cmd_fd, also on failure. */
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

/* libibverbs counts only the pages of ordinary MRs, for ibv_fork_init(). */
enum verbs_mr_type { VERBS_MR_ORDINARY, VERBS_MR_NULL, VERBS_MR_IMPORTED, VERBS_MR_DMABUF };

struct verbs_mr {
	struct ibv_mr ibv_mr;
	int mr_type; /* enum verbs_mr_type */
	int access;
};

/*
 * libibverbs has its own fields after struct ibv_qp_ex, whose size differs between versions. All
 * must read 0, except for the mark of pabi_mark_qp_ex().
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

/* An operation that this provider does not replace: libibverbs reports that it is not supported. */
#define PABI_DEFAULT(name) void (*name)(void)

/* In the order of the library, which is alphabetical. */
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
#define PABI_MAX_OPS 160 /* more than in all layouts: an unknown, longer one reads zeros */

_Static_assert(PABI_OPS == 76, "operations of private ABI 34");

/* Pointers before the ibv_context in the longest struct verbs_context. */
#define PABI_MAX_FRONT 48

/* A known layout, and its differences from layout 34. */
struct pabi_layout {
	const char *register_driver; /* a symbol that a libibverbs with this layout exports */
	const char *marker;	     /* another such symbol, or NULL */
	uint8_t front;		     /* pointers before the ibv_context in verbs_context */
	uint8_t inserted;	     /* number of inserted operations */
	/*
	 * For each inserted operation, ascending: the index in struct verbs_context_ops of the
	 * operation after it.
	 */
	uint8_t before[20];
};

/*
 * Room for the struct verbs_context of any known layout. Newer versions add fields at its
 * beginning. It always ends with its ibv_context.
 */
struct pabi_context {
	void *front[PABI_MAX_FRONT];
	struct ibv_context context;
};

/*
 * The known layouts. The first one that fits is used. The last entry has NULL as register_driver.
 */
extern const struct pabi_layout pabi_layouts[];

/* Writes the operations to slots in the order of the layout, and NULL to all other slots. */
void pabi_spread_ops(const struct pabi_layout *layout, const struct verbs_context_ops *ops,
		     void (*slots[PABI_MAX_OPS])(void));

/*
 * Finds the functions and the layout of the libibverbs in this process. Returns false if it is
 * unknown.
 */
bool pabi_init(void);

/* All functions below need a successful pabi_init(). */

/* Registers the driver with libibverbs. */
void pabi_register_driver(const struct verbs_device_ops *ops);

/*
 * Makes a zeroed struct of size bytes that begins with a pabi_context. libibverbs initialises the
 * pabi_context, and takes over cmd_fd. On failure, closes cmd_fd, returns NULL and sets errno.
 */
void *pabi_alloc_context(struct ibv_device *device, int cmd_fd, size_t size);

/* Returns the verbs_context for libibverbs: the result of alloc_context(). */
struct verbs_context *pabi_full_context(struct pabi_context *context);

/* Closes cmd_fd and async_fd. The caller frees the memory. */
void pabi_uninit_context(struct pabi_context *context);

/*
 * Marks qp for ibv_qp_to_qp_ex(): it has a struct ibv_qp_ex. Returns false if pabi_init() did not
 * find the place of the mark.
 */
bool pabi_mark_qp_ex(struct verbs_qp *qp);

/*
 * Sets the operations of the context. Returns false if one of them got to a wrong place: do not use
 * the context then.
 */
bool pabi_set_ops(struct pabi_context *context, const struct verbs_context_ops *ops);

#endif
