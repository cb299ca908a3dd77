/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs: making, querying and destroying them (man ibv_create_qp). qp_modify.h changes them,
 * post.h and wr.h post to them.
 */
#ifndef SCTPIW_VERBS_QP_H
#define SCTPIW_VERBS_QP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_qp.h"
#include "runtime/object.h"
#include "runtime/tuning.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_context;
struct sctpiw_xrc_domain;
struct sctpiw_xrcd;
struct shard;
struct iw_qp;

/*
 * Work requests that were begun since ibv_wr_start(), until ibv_wr_complete(); sq_lock is held so
 * long.
 */
struct sctpiw_batch {
	struct ibv_send_wr wr; /* if open: the work request that is being built */
	uint64_t length;       /* the same: bytes of its data */
	bool has_data;	       /* the same: its data is in the slot after those that are filled */
	bool open;
	int err;	 /* the first error, or 0 */
	uint32_t count;	 /* of slots that are filled, and not published */
	uint64_t bytes;	 /* of data in them */
	bool ends_batch; /* as of burst_post() */
};

struct sctpiw_qp {
	struct verbs_qp vqp;
	struct iw_qp *iw;
	struct shard *home;		     /* the shard whose port its number is of */
	uint32_t generation;		     /* sctpiw_generation when it was made */
	bool single_threaded;		     /* it is in a thread domain: no lock is taken */
	bool by_cm;			     /* sctpiw_is_by_cm() brought it to INIT or RTR */
	pthread_spinlock_t sq_lock, rq_lock; /* of the rings' producer ends */
	uint32_t unasked; /* as of tuning_ends_batch(); ibv_wr_abort() leaves what was begun in it; sq_lock */
	struct object obj;	 /* its event channel; iw->ctx */
	struct list_node node;	 /* of sctpiw_context.qps; shard lock */
	struct ibv_qp_attr attr; /* what modify_qp has set; shard lock */
	struct ibv_qp_cap cap;	 /* what was granted; never changes */
	struct sctpiw_batch batch;
	struct sctpiw_xrcd
		*xrcd; /* XRC_RECV: the handle that it was made by; NULL once it is closed */
	struct sctpiw_xrc_domain *domain; /* the same: what it holds; of the QP itself only */
	struct sctpiw_qp *real; /* of a handle that ibv_open_qp() has made: the QP; else NULL */
	uint32_t opened;	/* such handles; shard lock */
	bool gone;		/* the application has destroyed it, and such handles are left */
};

static inline struct sctpiw_qp *to_qp(struct ibv_qp *qp)
{
	return list_entry(qp, struct sctpiw_qp, vqp.qp);
}

/* The QP that a handle stands for: its own, but for one of ibv_open_qp(). */
static inline struct sctpiw_qp *real_qp(struct ibv_qp *qp)
{
	return to_qp(qp)->real ? to_qp(qp)->real : to_qp(qp);
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

/*
 * Counts a work request that is posted with these flags. Whether it is the last one of a batch, as of
 * burst_post(). sq_lock.
 */
static inline bool sctpiw_ends_batch(struct sctpiw_qp *qp, unsigned int send_flags)
{
	return tuning_ends_batch(qp->iw->sq_sig_all || send_flags & IBV_SEND_SIGNALED,
				 &qp->unasked);
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

/* A handle with nothing behind it yet. single_threaded: as in the struct. NULL: out of memory. */
struct sctpiw_qp *sctpiw_qp_alloc(struct sctpiw_context *ctx, bool single_threaded);

/*
 * Writes into attr->cap what was granted. EOPNOTSUPP for a type that is not offered; EINVAL for numbers
 * beyond the device's limits, or objects of another device; ENOMEM; EIO; or what qp_num_get() says.
 */
struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/*
 * As sctpiw_create_qp(), and EOPNOTSUPP for attributes, flags and operations that are not offered.
 */
struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* All attributes are filled, whatever attr_mask says. EIO. */
int sctpiw_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr);

/*
 * Whether the data that `op` brings to this side becomes visible in its order (of RDMA Reads, the
 * data that this side has asked for): the bits of ibv_query_qp_data_in_order(), of which 1 stands
 * for whole messages; 0: no.
 */
int sctpiw_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

/*
 * Enhanced connection establishment (man ibv_set_ece): options that two QPs of one vendor agree on.
 * There are none here, so set_ece writes that of what it was asked for nothing is accepted, which
 * is no error. EINVAL for another vendor's options, or a comp_mask, of which no bit is defined.
 * EIO.
 */
int sctpiw_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int sctpiw_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* Waits for acknowledgements as sctpiw_destroy_cq() does. EBUSY: it is attached to a multicast group. */
int sctpiw_destroy_qp(struct ibv_qp *qp);

/* Takes the completions of a QP in RESET out of its CQs, which may be NULL. The shard lock must not be held. */
void sctpiw_qp_purge(struct sctpiw_qp *qp, struct ibv_cq *send_cq, struct ibv_cq *recv_cq);

/*
 * The application destroys a QP that is on no list. false: handles of ibv_open_qp() are left, so it
 * lives on until the last of them ends. Else the RNIC's part is free, and its number, and the caller
 * frees the rest. Needs the shard lock.
 */
bool sctpiw_qp_end(struct sctpiw_qp *qp);

/* Frees a QP of which the RNIC's part is gone, without waiting for events. */
void sctpiw_qp_release(struct sctpiw_qp *qp);

#endif
