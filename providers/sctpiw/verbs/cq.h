/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Makes, changes and destroys completion queues (man ibv_create_cq). poll.h polls them. */
#ifndef SCTPIW_VERBS_CQ_H
#define SCTPIW_VERBS_CQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_cq.h"
#include "runtime/object.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct cq_faults;
struct sctpiw_pd;

struct sctpiw_cq {
	struct verbs_cq vcq;
	struct iw_cq *iw;
	uint32_t generation; /* value of sctpiw_generation when the CQ was made */
	/* serializes polling, and all other use of the ring's tail: sctpiw_cq_lock() */
	pthread_mutex_t lock;
	/* no lock is taken, since only one thread at a time uses the CQ */
	bool single_threaded;
	struct object obj;     /* event channels; iw->ctx points to this field */
	struct list_node node; /* node of sctpiw_context.cqs; guarded by the shard lock */
	struct sctpiw_pd *pd;  /* the parent domain that the CQ holds, or NULL */
	struct iw_cqe current; /* the completion that start_poll or next_poll has taken */
	/* time of `current`, ns; valid if the program requested time stamps */
	uint64_t stamp;
	/* ns to add to stamp, measured by start_poll if the program requested the time of day */
	uint64_t wallclock_offset;
	_Atomic(struct cq_faults *) faults; /* state of faults_cq.c; NULL without faults */
};

static inline struct sctpiw_cq *to_cq(struct ibv_cq *cq)
{
	return list_entry(cq, struct sctpiw_cq, vcq.cq);
}

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

/*
 * Makes a CQ for cqe completions. Sets only cqe and handle of struct ibv_cq; libibverbs sets the
 * other fields. Errors: EINVAL for too few or too many entries, or a wrong vector or channel;
 * ENOMEM; EIO.
 */
struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector);

/*
 * Does the same as sctpiw_create_cq(). Accepts all known wc_flags: a field that a connected iWARP
 * QP does not have reads 0. Errors: as sctpiw_create_cq(), and EOPNOTSUPP for unknown attributes or
 * wc_flags.
 */
struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);

/*
 * Errors: EINVAL for a wrong number of entries, or if the CQ contains more completions than fit;
 * ENOMEM; EIO.
 */
int sctpiw_resize_cq(struct ibv_cq *cq, int cqe);

/*
 * Sets the number of completions, or the time in microseconds, after which an event is posted.
 * Errors: EOPNOTSUPP for other attributes.
 */
int sctpiw_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/*
 * As the kernel does, waits until the application has acknowledged the events that it has read,
 * since these events contain a pointer to the CQ. Removes unread events. Errors: EBUSY if a QP uses
 * the CQ.
 */
int sctpiw_destroy_cq(struct ibv_cq *cq);

/* Frees a CQ, without waiting for events. cq->iw must have been freed. */
void sctpiw_cq_release(struct sctpiw_cq *cq);

#endif
