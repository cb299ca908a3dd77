/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Completion queues: making, changing and destroying them (man ibv_create_cq). Polling is in
 * poll.h.
 */
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
	uint32_t generation;	   /* sctpiw_generation when it was made */
	pthread_mutex_t lock;	   /* guards the ring's consumer end: sctpiw_cq_lock() */
	bool single_threaded;	   /* only one thread at a time uses it: no lock is taken */
	struct object obj;	   /* event channels; iw->ctx */
	struct list_node node;	   /* of sctpiw_context.cqs; shard lock */
	struct sctpiw_pd *pd;	   /* the parent domain that it holds, or NULL */
	struct iw_cqe current;	   /* the completion taken by start_poll or next_poll */
	uint64_t stamp;		   /* time of `current`, ns; valid if requested */
	uint64_t wallclock_offset; /* ns to add to stamp, measured by start_poll, if requested */
	_Atomic(struct cq_faults *) faults; /* for faults_cq.c; NULL without faults */
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
 * cqe: number of entries. EINVAL for too few or too many entries, or a wrong vector or channel;
 * ENOMEM; EIO. Sets only cqe and handle of struct ibv_cq; libibverbs sets the other fields.
 */
struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector);

/*
 * As sctpiw_create_cq(). Also EOPNOTSUPP for unknown attributes or wc_flags. All known wc_flags are
 * accepted: a field that a connected iWARP QP does not have reads 0.
 */
struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);

/* EINVAL for a wrong number of entries, or if more completions wait; ENOMEM; EIO. */
int sctpiw_resize_cq(struct ibv_cq *cq, int cqe);

/*
 * Sets the number of completions, or microseconds, that an event waits for. EOPNOTSUPP for other
 * attributes.
 */
int sctpiw_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/*
 * As the kernel does, waits until the application has acknowledged the events it read, since they
 * name the CQ. Unread events vanish. EBUSY if a QP uses the CQ.
 */
int sctpiw_destroy_cq(struct ibv_cq *cq);

/* Frees a CQ whose iw was freed, without waiting for events. */
void sctpiw_cq_release(struct sctpiw_cq *cq);

#endif
