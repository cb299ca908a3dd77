/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The context of an open device, and functions for all objects of the verbs.
 *
 * An object of the verbs is the struct that libibverbs passes to the application. It points to an
 * object of the RNIC (iw_*). The functions of this directory check arguments and convert them. They
 * return 0, or a positive errno as the verbs do. A function that returns a pointer returns NULL and
 * sets errno on failure. Comments list the possible errnos after "Errors:".
 *
 * The child of a fork() may continue to use a context of its parent. It may also use objects that
 * consist of memory alone: PDs, thread and parent domains, MRs, windows and device memory. The
 * child has copies of them, as of all memory. QPs, CQs and SRQs stay with the parent. In the child,
 * functions on QPs, CQs and SRQs return EIO (sctpiw_inherited()). Functions that destroy them free
 * the memory, and return 0.
 *
 * Locks, in the order in which they are taken: sctpiw_cq.lock, sctpiw_srq.lock, the shard lock.
 * Never take one of the first two with the shard lock held. An application holds the lock of an
 * extended CQ while it reads completions. "The shard lock" is the lock of the object's shard.
 * Objects that several shards read are made and destroyed under the locks of all shards. A thread
 * that holds sq_lock or rq_lock of a QP takes no other lock.
 */
#ifndef SCTPIW_VERBS_CONTEXT_H
#define SCTPIW_VERBS_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/channel.h"
#include "runtime/port_events.h"
#include "runtime/rnic.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_context {
	struct pabi_context vctx; /* must be the first member: see pabi_alloc_context() */
	struct shard *shard;	  /* the first shard of the RNIC */
	uint32_t generation;	  /* value of sctpiw_generation when the context was made */
	/* node GUID of the device when the context was made, in network byte order */
	uint64_t node_guid;
	struct port_events port; /* posts the port's events to the async channel */
	/*
	 * node of the list in faults_verbs.c; unused in a child of fork(); guarded by the shard
	 * lock
	 */
	struct list_node all;
	/* Objects that the application has not destroyed. Guarded by sctpiw_lock(). */
	struct list_node pds, tds, mrs, mws, dms, cqs, srqs, qps, xrcds;
};

/*
 * Number of forks between the first process and this one. A context, CQ, SRQ or QP stores the
 * generation in which it was made. An object with an older generation belongs to the parent
 * process.
 */
extern uint32_t sctpiw_generation;

/* Registers the handlers of fork(). Call this once, before the first device is opened. */
void sctpiw_handle_forks(void);

static inline struct sctpiw_context *to_ctx(struct ibv_context *context)
{
	return list_entry(context, struct sctpiw_context, vctx.context);
}

/* True if this process opened the device, and not a parent process. */
static inline bool sctpiw_alive(const struct sctpiw_context *ctx)
{
	return ctx->generation == sctpiw_generation;
}

/*
 * Take and release the lock of PDs, domains, MRs, windows and device memory. In the process that
 * opened the device, this lock is the locks of all shards. In its children, which must not run
 * these shards, it is a separate lock.
 */
void sctpiw_lock(struct sctpiw_context *ctx);
void sctpiw_unlock(struct sctpiw_context *ctx);

/*
 * Returns EIO, for functions that a child of fork() cannot perform on objects of its parent. Logs
 * only the first call.
 */
int sctpiw_inherited(void);

/* verbs_device_ops.alloc_context(): opens the device. Closes cmd_fd on failure. */
struct verbs_context *sctpiw_alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data);

/* Logs that this version of libibverbs is unknown. */
void sctpiw_complain_about_abi(void);

/* Returns a unique number for ibv_*.handle. */
uint32_t sctpiw_new_handle(void);

/*
 * Returns a reference to the channel of asynchronous events. The caller releases it by
 * channel_put(). After the application has closed its descriptor, the channel drops all events.
 */
struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx);

/*
 * Waits until the application has acknowledged all events that it has read about an object. Call
 * this while the object is being destroyed. reported: the number of these events, from
 * channel_purge(). libibverbs counts acknowledgements in *completed, which mutex guards, and
 * signals cond. Do not hold the shard lock.
 */
void sctpiw_wait_for_acks(const uint32_t *completed, uint32_t reported, pthread_mutex_t *mutex,
			  pthread_cond_t *cond);

/*
 * Makes an adaptive mutex, which spins for a short time before it sleeps. Critical sections are
 * short here, but the two threads may share a processor, and spinning for long would block the
 * holder.
 */
void sctpiw_lock_init(pthread_mutex_t *lock);

#endif
