/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues (man ibv_create_srq). The functions of post.h post receives to them. */
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
	uint32_t generation;  /* value of sctpiw_generation when the SRQ was made */
	pthread_mutex_t lock; /* guards posting to the ring: sctpiw_srq_lock() */
	bool single_threaded; /* the SRQ is in a thread domain, so no lock is taken */
	struct object obj;    /* event channel; iw->ctx points to this field */
	/* number of posts, which chooses the shard that is woken first */
	_Atomic unsigned int rings;
	struct list_node node;	  /* node of sctpiw_context.srqs; guarded by the shard lock */
	struct sctpiw_xrcd *xrcd; /* the domain of an XRC SRQ; otherwise NULL */
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
 * Makes an SRQ. Sets *attr to the granted attributes. Sets only the handle of struct ibv_srq;
 * libibverbs sets the other fields. Errors: EINVAL for numbers beyond the device's limits; ENOMEM;
 * EIO.
 */
struct ibv_srq *sctpiw_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);

/*
 * Does the same for ibv_create_srq_ex(). Makes a basic SRQ, or an XRC SRQ, which needs a domain and
 * a CQ of this device. Errors: as sctpiw_create_srq(); EOPNOTSUPP for other types or unknown
 * attributes; EINVAL for a missing attribute.
 */
struct ibv_srq *sctpiw_create_srq_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *attr);
/* Gets the number that peers use for an XRC SRQ. Errors: EINVAL for an SRQ of another type; EIO. */
int sctpiw_get_srq_num(struct ibv_srq *srq, uint32_t *num);

/*
 * Changes the size, the limit, or both. On failure, changes nothing. Errors: EINVAL for a limit
 * greater than the size, a size smaller than the number of posted receives, or another attribute;
 * ENOMEM; EIO.
 */
int sctpiw_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int sctpiw_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);

/* Waits for acknowledgements as sctpiw_destroy_cq() does. Errors: EBUSY if a QP uses the SRQ. */
int sctpiw_destroy_srq(struct ibv_srq *srq);

/*
 * Frees the RNIC's part of an SRQ, and drops its reference to its XRC domain. Returns 0, or -EBUSY
 * if a QP uses the SRQ. Needs the shard lock.
 */
int sctpiw_srq_free_iw(struct sctpiw_srq *srq);

/* Frees an SRQ, without waiting for events. srq->iw must have been freed. */
void sctpiw_srq_release(struct sctpiw_srq *srq);

#endif
