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
	pthread_mutex_t lock;	   /* of the ring's consumer end: sctpiw_cq_lock() */
	bool single_threaded;	   /* one thread at a time uses it, so no lock is taken */
	struct object obj;	   /* its event channels; iw->ctx */
	struct list_node node;	   /* of sctpiw_context.cqs; shard lock */
	struct sctpiw_pd *pd;	   /* the parent domain that it holds, or NULL */
	struct iw_cqe current;	   /* the completion that start_poll or next_poll has taken */
	uint64_t stamp;		   /* when `current` came, ns; valid if it was asked for */
	uint64_t wallclock_offset; /* ns to add to stamp, as start_poll found it, if asked for */
	_Atomic(struct cq_faults *) faults; /* verbs/faults_cq.c's; NULL without them */
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
 * cqe: entries. EINVAL for too few or too many entries, or a wrong vector or channel; ENOMEM; EIO.
 * libibverbs fills what struct ibv_cq has beside cqe and handle.
 */
struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector);

/*
 * As sctpiw_create_cq(), and EOPNOTSUPP for attributes and wc_flags that are not known. All wc_flags
 * that are known are taken: a field that a connected QP of iWARP has nothing for reads 0.
 */
struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);

/* EINVAL for a wrong number, or if more entries wait in the queue; ENOMEM; EIO. */
int sctpiw_resize_cq(struct ibv_cq *cq, int cqe);

/*
 * Sets how many completions, or microseconds, an event waits for. EOPNOTSUPP for other attributes.
 */
int sctpiw_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/*
 * As the kernel does, waits until events that the application has read are acknowledged, since they
 * name the CQ; those that it has not read vanish. EBUSY if a QP uses it.
 */
int sctpiw_destroy_cq(struct ibv_cq *cq);

/* Frees a CQ of which the RNIC's part is gone, without waiting for events. */
void sctpiw_cq_release(struct sctpiw_cq *cq);

#endif
