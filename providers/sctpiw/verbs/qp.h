/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes, queries and destroys queue pairs (man ibv_create_qp). The functions of qp_modify.h change
 * them, those of post.h and wr.h post to them.
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
 * The work requests that were begun since ibv_wr_start(). ibv_wr_complete() posts them. The thread
 * holds sq_lock between these two calls.
 */
struct sctpiw_batch {
	struct ibv_send_wr wr; /* the current work request; valid if `open` */
	uint64_t length;       /* bytes of its data; valid if `open` */
	bool has_data;	       /* its data is in the slot after the filled slots; valid if `open` */
	bool open;
	int err;	 /* the first error of the batch, or 0 */
	uint32_t count;	 /* number of slots that are filled, but not published */
	uint64_t bytes;	 /* bytes of data in these slots */
	bool ends_batch; /* argument of burst_post() */
};

struct sctpiw_qp {
	struct verbs_qp vqp;
	struct iw_qp *iw;
	struct shard *home;   /* the shard that owns the port that belongs to the QP's number */
	uint32_t generation;  /* value of sctpiw_generation when the QP was made */
	bool single_threaded; /* the QP is in a thread domain, so no lock is taken */
	bool by_cm;	      /* result of sctpiw_is_by_cm() when the QP entered INIT or RTR */
	pthread_spinlock_t sq_lock, rq_lock; /* guard posting to the rings */
	/*
	 * State of tuning_ends_batch(). Also counts work requests that ibv_wr_abort() dropped.
	 * Guarded by sq_lock.
	 */
	uint32_t unasked;
	struct object obj;	 /* event channel; iw->ctx points to this field */
	struct list_node node;	 /* node of sctpiw_context.qps; guarded by the shard lock */
	struct ibv_qp_attr attr; /* attributes that modify_qp has set; guarded by the shard lock */
	struct ibv_qp_cap cap;	 /* granted capabilities, which never change */
	struct sctpiw_batch batch;
	struct sctpiw_xrcd
		/*
		 * Of an XRC_RECV: the handle of the XRC domain with which the QP was made, or NULL
		 * once this handle is closed.
		 */
		*xrcd;
	/* the XRC domain that an XRC_RECV holds; NULL in handles of ibv_open_qp() */
	struct sctpiw_xrc_domain *domain;
	struct sctpiw_qp *real; /* the QP of a handle of ibv_open_qp(); NULL otherwise */
	uint32_t opened;	/* number of handles of ibv_open_qp(); guarded by the shard lock */
	/* the application has destroyed the first handle, but not all others */
	bool gone;
};

static inline struct sctpiw_qp *to_qp(struct ibv_qp *qp)
{
	return list_entry(qp, struct sctpiw_qp, vqp.qp);
}

/* Returns the QP of a handle. For a handle of ibv_open_qp(), this is the QP that was opened. */
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
 * Counts a posted work request with these flags. Returns true if it ends a batch, for burst_post().
 * Needs sq_lock.
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

/*
 * Allocates a handle without a QP of the RNIC. single_threaded: as in the struct. Returns NULL if
 * out of memory.
 */
struct sctpiw_qp *sctpiw_qp_alloc(struct sctpiw_context *ctx, bool single_threaded);

/*
 * Makes a QP. Sets attr->cap to the granted capabilities. Errors: EOPNOTSUPP for an unsupported
 * type; EINVAL for numbers beyond the device's limits, or objects of another device; ENOMEM; EIO;
 * or the error of qp_num_get().
 */
struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/* Errors: as sctpiw_create_qp(); EOPNOTSUPP for unsupported attributes, flags and operations. */
struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* Fills all attributes, and ignores attr_mask. Errors: EIO. */
int sctpiw_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr);

/*
 * Returns the bits of ibv_query_qp_data_in_order() if the local data of the operation `op` becomes
 * visible in order, or 0. The value 1 means that this is true of whole messages. For RDMA Reads,
 * this is the data of Reads that the local side posts.
 */
int sctpiw_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

/*
 * Enhanced connection establishment (man ibv_set_ece): options that two QPs of one vendor can
 * negotiate. This device has no options. So set_ece() accepts none of them and reports this, which
 * is not an error. Errors: EINVAL for options of another vendor, or if comp_mask is not 0, since no
 * bit is defined; EIO.
 */
int sctpiw_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int sctpiw_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/*
 * Waits for acknowledgements as sctpiw_destroy_cq() does. Errors: EBUSY if the QP is attached to a
 * multicast group.
 */
int sctpiw_destroy_qp(struct ibv_qp *qp);

/*
 * Removes the completions of a QP in state RESET from its CQs, each of which may be NULL. Do not
 * hold the shard lock.
 */
void sctpiw_qp_purge(struct sctpiw_qp *qp, struct ibv_cq *send_cq, struct ibv_cq *recv_cq);

/*
 * Ends a QP that is on no list. Returns true if it has freed the RNIC's part and the number of the
 * QP; the caller must then free the rest. Returns false if handles of ibv_open_qp() exist; the QP
 * is then freed with the last of them. Needs the shard lock.
 */
bool sctpiw_qp_end(struct sctpiw_qp *qp);

/* Frees a QP, without waiting for events. qp->iw must have been freed. */
void sctpiw_qp_release(struct sctpiw_qp *qp);

#endif
