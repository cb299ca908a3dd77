/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The provider's objects: what libibverbs hands to the application, with the
 * RNIC's object behind it. This layer checks arguments and translates; errors are positive errnos here,
 * as the verbs return them.
 *
 * Locks, in the order in which they are taken: sctpiw_cq.lock (consumer end of the CQ), then the
 * engine lock. Nobody takes a CQ's lock with the engine lock held: an extended CQ's is held while the
 * application looks at completions. sq_lock and rq_lock are leaves.
 */
#ifndef SCTPIW_VERBS_SCTPIW_H
#define SCTPIW_VERBS_SCTPIW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/channel.h"
#include "engine/engine.h"
#include "engine/object.h"
#include "iwarp/iwarp.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_context {
	struct pabi_headroom headroom; /* first, then vctx: pabi_alloc_context() */
	struct verbs_context vctx;
	struct engine *engine;
	uint32_t generation;
	struct engine_port_watcher port; /* on the async channel */
	/* What the application has not destroyed when it closes the device; engine lock. */
	struct list_node pds, mrs, cqs, qps;
};

struct sctpiw_pd {
	struct ibv_pd ibv;
	struct iw_pd *iw;
	struct list_node node;
};

struct sctpiw_mr {
	struct verbs_mr vmr;
	struct iw_mr *iw;
	struct list_node node;
};

struct sctpiw_cq {
	struct verbs_cq vcq;
	struct iw_cq *iw;
	struct engine *engine;
	uint32_t generation;
	pthread_mutex_t lock; /* the consumer end */
	struct engine_object obj;
	struct list_node node;
	struct iw_cqe current; /* of the extended CQ's start_poll and next_poll */
};

struct sctpiw_qp {
	struct verbs_qp vqp;
	struct iw_qp *iw;
	struct engine *engine;
	uint32_t generation;
	bool by_cm;	       /* brought to INIT or RTR with the connection manager's mask */
	pthread_spinlock_t sq_lock, rq_lock; /* the producer ends */
	struct engine_object obj;
	struct list_node node;
	struct ibv_qp_attr attr; /* as modify_qp set it; engine lock */
	struct ibv_qp_cap cap;
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

static inline struct sctpiw_cq *to_cq(struct ibv_cq *cq)
{
	return list_entry(cq, struct sctpiw_cq, vcq.cq);
}

static inline struct sctpiw_qp *to_qp(struct ibv_qp *qp)
{
	return list_entry(qp, struct sctpiw_qp, vqp.qp);
}

static inline bool sctpiw_alive(const struct sctpiw_context *ctx)
{
	return ctx->generation == sctpiw_generation;
}

/* A number for ibv_*.handle, unique among all objects. */
uint32_t sctpiw_new_handle(void);

/* A reference to the channel of ctx's asynchronous events; NULL if its descriptor was closed. */
struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx);

/* Adaptive: short critical sections, but two threads may well share a core. */
void sctpiw_lock_init(pthread_mutex_t *lock);

/* pd_mr.c */
struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context);
int sctpiw_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access);
int sctpiw_dereg_mr(struct verbs_mr *vmr);

/* cq.c */
struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);
int sctpiw_resize_cq(struct ibv_cq *cq, int cqe);
int sctpiw_destroy_cq(struct ibv_cq *cq);
/* The RNIC's part of a CQ is gone: free ours, without waiting for events. */
void sctpiw_cq_release(struct sctpiw_cq *cq);

/* poll.c */
int sctpiw_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int sctpiw_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* Sets the polling functions of an extended CQ, those that wc_flags asks for. */
void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags);

/* qp.c */
struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int sctpiw_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr);
int sctpiw_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int sctpiw_destroy_qp(struct ibv_qp *qp);
/* Under the engine lock: the RNIC's part, with its number, off the context's list. */
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

/* post.c */
int sctpiw_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int sctpiw_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* query.c */
int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);
int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
