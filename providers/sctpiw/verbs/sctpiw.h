/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider's objects: what libibverbs hands to the application, with the
 * RNIC's object behind it. This layer checks arguments and translates; errors are positive errnos here,
 * as the verbs return them.
 *
 * Locks, in the order in which they are taken: sctpiw_cq.lock (consumer end of the CQ), then the
 * shard lock. Nobody takes a CQ's lock with the shard lock held: an extended CQ's is held while the
 * application looks at completions. sq_lock and rq_lock are leaves;
 * sctpiw_srq.lock (its producer end) is taken before the shard lock, where both are.
 */
#ifndef SCTPIW_VERBS_SCTPIW_H
#define SCTPIW_VERBS_SCTPIW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/channel.h"
#include "runtime/rnic.h"
#include "runtime/object.h"
#include "runtime/port_events.h"
#include "iwarp/iwarp.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_context {
	struct pabi_headroom headroom; /* first, then vctx: pabi_alloc_context() */
	struct verbs_context vctx;
	struct shard *shard;
	uint32_t generation;
	struct port_events port; /* on the async channel */
	/* What the application has not destroyed when it closes the device; shard lock. */
	struct list_node pds, tds, mrs, mws, dms, cqs, srqs, qps;
};

/*
 * A protection domain, or a parent domain: that has the RNIC's PD of the one it was made of, and stands
 * for it wherever a PD is asked for.
 */
struct sctpiw_pd {
	struct ibv_pd ibv;
	struct iw_pd *iw;
	struct list_node node;
	struct sctpiw_pd *parent; /* of a parent domain: the protection domain it was made of */
	struct sctpiw_td *td;	  /* of a parent domain, or NULL */
	uint32_t users; /* parent domains on it; of a parent domain: all objects. Engine lock */
};

/* Says that one thread at a time uses what is made in it. */
struct sctpiw_td {
	struct ibv_td ibv;
	struct list_node node;
	uint32_t users; /* parent domains; shard lock */
};

struct sctpiw_mr {
	struct verbs_mr vmr;
	struct iw_mr *iw;
	struct sctpiw_dm *dm; /* that it is part of, or NULL */
	struct list_node node;
};

struct sctpiw_mw {
	struct ibv_mw ibv;
	struct iw_mw *iw;
	struct list_node node;
};

/* "Device memory": plain memory of the process. */
struct sctpiw_dm {
	struct ibv_dm ibv;
	uint8_t *memory;
	uint64_t length;
	unsigned int mrs; /* shard lock */
	struct list_node node;
};

struct sctpiw_cq {
	struct verbs_cq vcq;
	struct iw_cq *iw;
	struct shard *shard;
	uint32_t generation;
	pthread_mutex_t lock; /* the consumer end: sctpiw_cq_lock() */
	bool single_threaded; /* says the application, or its thread domain: lock is left out */
	struct object obj;
	struct list_node node;
	struct sctpiw_pd *pd; /* a parent domain, held; or NULL */
	struct iw_cqe current; /* of the extended CQ's start_poll and next_poll */
	uint64_t stamp;	       /* of current, ns, where it was asked for */
};

struct sctpiw_srq {
	struct ibv_srq ibv;
	struct iw_srq *iw;
	struct shard *shard;
	uint32_t generation;
	pthread_mutex_t lock; /* the producer end: sctpiw_srq_lock() */
	bool single_threaded; /* in a thread domain: lock is left out */
	struct object obj;
	struct list_node node;
};

/* Work requests between ibv_wr_start() and ibv_wr_complete(); sq_lock is held meanwhile. */
struct sctpiw_batch {
	struct ibv_send_wr wr; /* while open: the one that waits for its data */
	uint64_t bytes;
	uint32_t count; /* slots that are filled */
	int err;
	bool open;
};

struct sctpiw_qp {
	struct verbs_qp vqp;
	struct iw_qp *iw;
	struct shard *shard;
	uint32_t generation;
	bool single_threaded; /* in a thread domain: sq_lock and rq_lock are left out */
	bool by_cm;	       /* brought to INIT or RTR with the connection manager's mask */
	pthread_spinlock_t sq_lock, rq_lock; /* the producer ends */
	struct object obj;
	struct list_node node;
	struct ibv_qp_attr attr; /* as modify_qp set it; shard lock */
	struct ibv_qp_cap cap;
	struct sctpiw_batch batch;
};

/*
 * Counts forks. The objects of a generation that is over belong to the parent process: in
 * the child they answer EIO, and destroying them frees memory only.
 */
extern uint32_t sctpiw_generation;

static inline struct sctpiw_context *to_ctx(struct ibv_context *context)
{
	return list_entry(context, struct sctpiw_context, vctx.context);
}

static inline struct sctpiw_pd *to_pd(struct ibv_pd *pd)
{
	return list_entry(pd, struct sctpiw_pd, ibv);
}

static inline struct sctpiw_mw *to_mw(struct ibv_mw *mw)
{
	return list_entry(mw, struct sctpiw_mw, ibv);
}

static inline struct sctpiw_dm *to_dm(struct ibv_dm *dm)
{
	return list_entry(dm, struct sctpiw_dm, ibv);
}

static inline struct sctpiw_cq *to_cq(struct ibv_cq *cq)
{
	return list_entry(cq, struct sctpiw_cq, vcq.cq);
}

static inline struct sctpiw_srq *to_srq(struct ibv_srq *srq)
{
	return list_entry(srq, struct sctpiw_srq, ibv);
}

static inline struct sctpiw_qp *to_qp(struct ibv_qp *qp)
{
	return list_entry(qp, struct sctpiw_qp, vqp.qp);
}

static inline struct sctpiw_td *to_td(struct ibv_td *td)
{
	return list_entry(td, struct sctpiw_td, ibv);
}

static inline void sctpiw_sq_lock(struct sctpiw_qp *qp)
{
	if (!qp->single_threaded)
		pthread_spin_lock(&qp->sq_lock);
}

static inline void sctpiw_sq_unlock(struct sctpiw_qp *qp)
{
	if (!qp->single_threaded)
		pthread_spin_unlock(&qp->sq_lock);
}

static inline void sctpiw_rq_lock(struct sctpiw_qp *qp)
{
	if (!qp->single_threaded)
		pthread_spin_lock(&qp->rq_lock);
}

static inline void sctpiw_rq_unlock(struct sctpiw_qp *qp)
{
	if (!qp->single_threaded)
		pthread_spin_unlock(&qp->rq_lock);
}

static inline bool sctpiw_alive(const struct sctpiw_context *ctx)
{
	return ctx->generation == sctpiw_generation;
}

/* A number for ibv_*.handle, unique among all objects. */
uint32_t sctpiw_new_handle(void);

/* A reference to the channel of ctx's asynchronous events; NULL if its descriptor was closed. */
struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx);

/*
 * As sctpiw_destroy_cq() does for its events: of a QP or an SRQ that is destroyed, whose events libibverbs
 * counts in *completed, under mutex and with cond, when they are acknowledged.
 */
void sctpiw_wait_for_acks(struct event_source *async, const uint32_t *completed,
			  pthread_mutex_t *mutex, pthread_cond_t *cond);

/* Adaptive: short critical sections, but two threads may well share a core. */
void sctpiw_lock_init(pthread_mutex_t *lock);

/* pd_mr.c */
struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context);
int sctpiw_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access);
int sctpiw_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access);
int sctpiw_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *sctpiw_alloc_null_mr(struct ibv_pd *pd);
int sctpiw_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge);
/*
 * An MR of pd (attr->pd is not looked at), of dm if that is not NULL; attr NULL: a null MR. access:
 * as the application says it. NULL and errno on failure.
 */
struct sctpiw_mr *sctpiw_new_mr(struct sctpiw_pd *pd, const struct iw_mr_attr *attr, int access,
				struct sctpiw_dm *dm);

/* mw.c */
struct ibv_mw *sctpiw_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int sctpiw_dealloc_mw(struct ibv_mw *mw);
int sctpiw_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
/*
 * The part of a send WQE that is particular to IBV_WR_BIND_MW. EINVAL, or EOPNOTSUPP for MRs that
 * have no windows (null, device memory); then the WQE is not to be published.
 */
int sctpiw_put_bind(struct iw_send_wqe *wqe, const struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *info);

/* dm.c */
#define SCTPIW_MAX_DM (16u << 20) /* bytes, of a process */
struct ibv_dm *sctpiw_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int sctpiw_free_dm(struct ibv_dm *dm);
/* The RNIC has no MR of it any more: free ours. */
void sctpiw_dm_release(struct sctpiw_dm *dm);
struct ibv_mr *sctpiw_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access);

/* cq.c */
struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);
int sctpiw_resize_cq(struct ibv_cq *cq, int cqe);
int sctpiw_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int sctpiw_destroy_cq(struct ibv_cq *cq);
/* The RNIC's part of a CQ is gone: free ours, without waiting for events. */
void sctpiw_cq_release(struct sctpiw_cq *cq);

static inline void sctpiw_cq_lock(struct sctpiw_cq *cq)
{
	if (!cq->single_threaded)
		pthread_mutex_lock(&cq->lock);
}

static inline void sctpiw_cq_unlock(struct sctpiw_cq *cq)
{
	if (!cq->single_threaded)
		pthread_mutex_unlock(&cq->lock);
}

/* poll.c */
int sctpiw_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int sctpiw_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* Sets the polling functions of an extended CQ, those that wc_flags asks for. */
void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags);

/* srq.c */
struct ibv_srq *sctpiw_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int sctpiw_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int sctpiw_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int sctpiw_destroy_srq(struct ibv_srq *srq);
/* As sctpiw_cq_release(). */
void sctpiw_srq_release(struct sctpiw_srq *srq);

static inline void sctpiw_srq_lock(struct sctpiw_srq *srq)
{
	if (!srq->single_threaded)
		pthread_mutex_lock(&srq->lock);
}

static inline void sctpiw_srq_unlock(struct sctpiw_srq *srq)
{
	if (!srq->single_threaded)
		pthread_mutex_unlock(&srq->lock);
}

/* qp.c */
struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int sctpiw_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr);
int sctpiw_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int sctpiw_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
/*
 * Enhanced connection establishment (man ibv_set_ece): the options that two QPs of one vendor agree on. There
 * are none: of what set_ece is asked for nothing is accepted, which is no error. EINVAL: another vendor's, or a
 * comp_mask, of which no bit is defined.
 */
int sctpiw_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int sctpiw_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int sctpiw_destroy_qp(struct ibv_qp *qp);
/* Under the shard lock: the RNIC's part, with its number, off the context's list. */
void sctpiw_qp_free_iw(struct sctpiw_qp *qp);
/* As sctpiw_cq_release(). */
void sctpiw_qp_release(struct sctpiw_qp *qp);

/* qp_attr.c */
/*
 * May a QP in state cur be given these attributes? 0, EINVAL, or EOPNOTSUPP for another path (there is
 * but one). by_cm: it was brought to INIT or RTR by sctpiw_is_cm_mask(), or has a connection. iWARP's
 * connection manager has masks of its own, all others are those of InfiniBand.
 */
int sctpiw_check_qp_attr(enum ibv_qp_state cur, bool by_cm, const struct ibv_qp_attr *attr,
			 int mask);
/* The mask with which the connection manager brings a QP to INIT and to RTR. */
bool sctpiw_is_cm_mask(int mask);
/*
 * The connection manager was quicker: who moves a QP of its own step by step (rping -q) asks for
 * INIT and RTR when it is in RTS, and rdma_disconnect() for SQD when the peer has ended the
 * connection. Granted, and the state stays.
 */
bool sctpiw_is_behind(enum ibv_qp_state cur, bool by_cm, unsigned int next);
/* Copies what mask names from one to the other. */
void sctpiw_merge_qp_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask);

/* domain.c */
struct ibv_td *sctpiw_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int sctpiw_dealloc_td(struct ibv_td *td);
struct ibv_pd *sctpiw_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr);
/* Frees what a protection or parent domain is to the RNIC; -EBUSY while it is in use. Engine lock. */
int sctpiw_release_pd(struct sctpiw_pd *pd);
/*
 * Every object that is made on a PD holds it, and lets it go when it is destroyed: a parent domain does not go
 * before them. Engine lock.
 */
static inline void sctpiw_pd_hold(struct sctpiw_pd *pd)
{
	pd->users++;
}

static inline void sctpiw_pd_drop(struct sctpiw_pd *pd)
{
	pd->users--;
}

/* wr.c */
/*
 * Makes qp one for ibv_wr_*, with the operations of flags (IBV_QP_EX_WITH_*). EOPNOTSUPP: one of them is not
 * offered.
 */
int sctpiw_set_send_ops(struct sctpiw_qp *qp, uint64_t flags);

/* post.c */
/* Sum of the lengths, or more than IW_MAX_MSG. At most IW_MAX_SGE elements: no overflow. */
static inline uint64_t sctpiw_sge_total(const struct ibv_sge *sge, uint32_t n)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < n; i++)
		total += sge[i].length;
	return total;
}

static inline void sctpiw_copy_sges(struct iw_sge *to, const struct ibv_sge *sge, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		to[i].addr = sge[i].addr;
		to[i].length = sge[i].length;
		to[i].lkey = sge[i].lkey;
	}
}

/*
 * Judges a work request with total bytes of data and takes the slot that ahead unpublished ones precede: all of
 * it is filled but the data, which goes to wqe->sge: num_sge elements, or total bytes where its flags say
 * IW_SEND_INLINE. wr->sg_list is not looked at; num_sge is within the QP's limit. EINVAL, EOPNOTSUPP, ENOMEM
 * (the queue is full). The caller holds sq_lock and publishes.
 */
int sctpiw_begin_send(struct iw_qp *iw, uint32_t ahead, const struct ibv_send_wr *wr,
		      uint64_t total, struct iw_send_wqe **slot);
int sctpiw_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int sctpiw_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int sctpiw_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* query.c */
int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);
int sctpiw_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
