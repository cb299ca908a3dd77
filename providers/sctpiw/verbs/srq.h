/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues (man ibv_create_srq). post.h posts to them. */
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
	pthread_mutex_t lock;	    /* guards the ring's producer end: sctpiw_srq_lock() */
	bool single_threaded;	    /* it is in a thread domain: no lock is taken */
	struct object obj;	    /* event channel; iw->ctx */
	_Atomic unsigned int rings; /* chooses the shard that is woken first */
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
 * Sets *attr to the granted attributes. EINVAL for numbers beyond the device's limits, ENOMEM, EIO.
 * Sets only the handle of struct ibv_srq; libibverbs sets the other fields.
 */
struct ibv_srq *sctpiw_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/*
 * The same for ibv_create_srq_ex(): a basic SRQ, or an XRC SRQ, which needs a domain and a CQ of
 * this device. EOPNOTSUPP for other types or unknown attributes, EINVAL for a missing attribute.
 */
struct ibv_srq *sctpiw_create_srq_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *attr);
/* Gets the number by which peers name an XRC SRQ. EINVAL for another SRQ; EIO. */
int sctpiw_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/*
 * Changes the size, the limit, or both, completely or not at all. EINVAL for a limit above the
 * size, a size below the number of posted receives, or another attribute; ENOMEM; EIO.
 */
int sctpiw_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int sctpiw_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);

/* Waits for acknowledgements as sctpiw_destroy_cq() does. EBUSY if a QP uses the SRQ. */
int sctpiw_destroy_srq(struct ibv_srq *srq);

/*
 * Frees the RNIC's part of an SRQ, and leaves its domain. Returns 0, or -EBUSY if a QP uses the
 * SRQ. Needs the shard lock.
 */
int sctpiw_srq_free_iw(struct sctpiw_srq *srq);

/* Frees an SRQ whose iw was freed, without waiting for events. */
void sctpiw_srq_release(struct sctpiw_srq *srq);

#endif
