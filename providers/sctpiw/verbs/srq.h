/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues (man ibv_create_srq). Posting is in post.h. */
#ifndef SCTPIW_VERBS_SRQ_H
#define SCTPIW_VERBS_SRQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/object.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_xrcd;
struct shard;
struct iw_srq;

struct sctpiw_srq {
	struct ibv_srq ibv;
	struct iw_srq *iw;
	uint32_t generation;	    /* sctpiw_generation when it was made */
	pthread_mutex_t lock;	    /* of the ring's producer end: sctpiw_srq_lock() */
	bool single_threaded;	    /* it is in a thread domain: no lock is taken */
	struct object obj;	    /* its event channel; iw->ctx */
	_Atomic unsigned int rings; /* whose turn it is to be woken first */
	struct list_node node;	    /* of sctpiw_context.srqs; shard lock */
	struct sctpiw_xrcd *xrcd;   /* of an XRC SRQ; else NULL */
};

static inline struct sctpiw_srq *to_srq(struct ibv_srq *srq)
{
	return list_entry(srq, struct sctpiw_srq, ibv);
}

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

/*
 * Writes into *attr what was granted. EINVAL for numbers beyond the device's limits, ENOMEM, EIO.
 * libibverbs fills what struct ibv_srq has beside the handle.
 */
struct ibv_srq *sctpiw_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/*
 * The same for ibv_create_srq_ex(): a basic SRQ, or one of XRC, which needs a domain and a CQ of this
 * device. EOPNOTSUPP for other types, EINVAL for an attribute that is missing or not known.
 */
struct ibv_srq *sctpiw_create_srq_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *attr);
/* The number by which peers name an XRC SRQ. EINVAL for another SRQ; EIO. */
int sctpiw_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/*
 * Changes the size, the limit, or both; all of it, or nothing. EINVAL for a limit above the size, a
 * size that the posted receives do not fit, or another attribute; ENOMEM; EIO.
 */
int sctpiw_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int sctpiw_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);

/* Waits for acknowledgements as sctpiw_destroy_cq() does. EBUSY if a QP uses it. */
int sctpiw_destroy_srq(struct ibv_srq *srq);

/*
 * Frees the RNIC's part of an SRQ, and leaves its domain. -EBUSY if a QP uses it. Needs the shard lock.
 */
int sctpiw_srq_free_iw(struct sctpiw_srq *srq);

/* Frees an SRQ of which the RNIC's part is gone, without waiting for events. */
void sctpiw_srq_release(struct sctpiw_srq *srq);

#endif
