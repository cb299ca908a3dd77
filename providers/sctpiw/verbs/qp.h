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
 * Work requests begun after ibv_wr_start(), until ibv_wr_complete(). sq_lock is held for that time.
 */
struct sctpiw_batch {
	struct ibv_send_wr wr; /* if open: the current work request */
	uint64_t length;       /* if open: bytes of its data */
	bool has_data;	       /* if open: its data is in the slot after the filled slots */
	bool open;
	int err;	 /* the first error, or 0 */
	uint32_t count;	 /* number of filled slots that are not published */
	uint64_t bytes;	 /* bytes of data in them */
	bool ends_batch; /* for burst_post() */
};

struct sctpiw_qp {
	struct verbs_qp vqp;
	struct iw_qp *iw;
	struct shard *home;   /* the shard that owns the port of its number */
	uint32_t generation;  /* sctpiw_generation when it was made */
	bool single_threaded; /* it is in a thread domain: no lock is taken */
	bool by_cm;	      /* sctpiw_is_by_cm() was true when it entered INIT or RTR */
	pthread_spinlock_t sq_lock, rq_lock; /* for the rings' producer ends */
	/*
	 * For tuning_ends_batch(). Also counts work requests that ibv_wr_abort() dropped. sq_lock.
	 */
	uint32_t unasked;
	struct object obj;	 /* event channel; iw->ctx */
	struct list_node node;	 /* of sctpiw_context.qps; shard lock */
	struct ibv_qp_attr attr; /* attributes set by modify_qp; shard lock */
	struct ibv_qp_cap cap;	 /* granted capabilities; never change */
	struct sctpiw_batch batch;
	struct sctpiw_xrcd
		/*
		 * Of an XRC_RECV: the XRC domain's handle that made it; NULL once this handle is
		 * closed.
		 */
		*xrcd;
	struct sctpiw_xrc_domain
		*domain; /* of an XRC_RECV: the domain that it holds; NULL in other handles */
	struct sctpiw_qp *real; /* of a handle of ibv_open_qp(): its QP; else NULL */
	uint32_t opened;	/* number of handles of ibv_open_qp(); shard lock */
	bool gone;		/* destroyed by the application, but such handles are left */
};

static inline struct sctpiw_qp *to_qp(struct ibv_qp *qp)
{
	return list_entry(qp, struct sctpiw_qp, vqp.qp);
}

/* Returns the QP of a handle: its own, except for handles of ibv_open_qp(). */
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
 * Counts a posted work request with these flags. Returns true if it is the last one of a batch, for
 * burst_post(). Needs sq_lock.
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
 * Allocates a handle without a QP. single_threaded: as in the struct. Returns NULL if out of
 * memory.
 */
struct sctpiw_qp *sctpiw_qp_alloc(struct sctpiw_context *ctx, bool single_threaded);

/*
 * Sets attr->cap to the granted capabilities. EOPNOTSUPP for an unsupported type; EINVAL for
 * numbers beyond the device's limits, or objects of another device; ENOMEM; EIO; or the error of
 * qp_num_get().
 */
struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/* As sctpiw_create_qp(). Also EOPNOTSUPP for unsupported attributes, flags and operations. */
struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* Fills all attributes, and ignores attr_mask. EIO. */
int sctpiw_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr);

/*
 * Returns 0, or bits of ibv_query_qp_data_in_order() if the local data of `op` becomes visible in
 * order. 1 means whole messages. For RDMA Reads, this is the data that the local side requests.
 */
int sctpiw_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

/*
 * Enhanced connection establishment (man ibv_set_ece): options on which two QPs of one vendor
 * agree. This device has none. So set_ece() reports that it accepted no option, which is no error.
 * EINVAL for options of another vendor, or a nonzero comp_mask (no bit is defined); EIO.
 */
int sctpiw_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int sctpiw_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/*
 * Waits for acknowledgements as sctpiw_destroy_cq() does. EBUSY if the QP is attached to a
 * multicast group.
 */
int sctpiw_destroy_qp(struct ibv_qp *qp);

/*
 * Removes the completions of a QP in RESET from its CQs, which may be NULL. Do not hold the shard
 * lock.
 */
void sctpiw_qp_purge(struct sctpiw_qp *qp, struct ibv_cq *send_cq, struct ibv_cq *recv_cq);

/*
 * Ends a QP that the application destroys, and that is on no list. Returns true if the RNIC's part
 * and the number were freed, and the caller must free the rest. Returns false if handles of
 * ibv_open_qp() are left: the QP lives until the last of them ends. Needs the shard lock.
 */
bool sctpiw_qp_end(struct sctpiw_qp *qp);

/* Frees a QP whose iw was freed, without waiting for events. */
void sctpiw_qp_release(struct sctpiw_qp *qp);

#endif
