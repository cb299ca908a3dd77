/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The context of an open device, and what all objects of the verbs have in common.
 *
 * An object of the verbs is what libibverbs hands to the application, with the RNIC's object (iw_*)
 * behind it. This room checks arguments and translates; errors are positive errnos here, as the
 * verbs return them. A function that returns a pointer returns NULL and sets errno if it fails.
 *
 * The child of a fork() may go on using a context that its parent has opened, and the objects of it
 * that are memory alone: PDs, thread and parent domains, MRs, windows and device memory. They are
 * copies, as all of the child's memory is. QPs, CQs and SRQs stay with the parent: their functions
 * return EIO there (sctpiw_inherited()), but those that destroy them free memory, and return 0.
 *
 * Locks, in the order in which they are taken: sctpiw_cq.lock, sctpiw_srq.lock, the shard lock.
 * Nobody takes one of the first two with the shard lock held. An application holds the lock of an
 * extended CQ while it looks at completions. "The shard lock" is that of an object's shard; what several shards may
 * look at is made and destroyed under the locks of all of them. sq_lock and rq_lock of a QP are leaves: no other lock
 * is taken while they are held.
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
	struct pabi_context vctx; /* comes first: see pabi_alloc_context() */
	struct shard *shard;	  /* the first one */
	uint32_t generation;	  /* sctpiw_generation when the device was opened */
	uint64_t node_guid;	  /* of the device when it was opened, in network byte order */
	struct port_events port;  /* reports events of the port on the async channel */
	struct list_node all;	  /* of faults_verbs.c, unless a parent has opened it; shard lock */
	/*
	 * The objects that the application has not destroyed. Guarded by sctpiw_lock().
	 */
	struct list_node pds, tds, mrs, mws, dms, cqs, srqs, qps, xrcds;
};

/*
 * Counts the forks that lie behind this process. A context, CQ, SRQ or QP notes the generation in
 * which it was made. If that is over, it belongs to the parent process.
 */
extern uint32_t sctpiw_generation;

/* To be called once, before the first fork() that matters. */
void sctpiw_handle_forks(void);

static inline struct sctpiw_context *to_ctx(struct ibv_context *context)
{
	return list_entry(context, struct sctpiw_context, vctx.context);
}

/* Whether this process has opened the device, and not a parent of it. */
static inline bool sctpiw_alive(const struct sctpiw_context *ctx)
{
	return ctx->generation == sctpiw_generation;
}

/*
 * The lock of PDs, domains, MRs, windows and device memory. It is the locks of all shards in the process that
 * has opened the device. In its children, where that shard must not run, it is a lock apart.
 */
void sctpiw_lock(struct sctpiw_context *ctx);
void sctpiw_unlock(struct sctpiw_context *ctx);

/*
 * EIO, for what a child of fork() cannot do with what its parent has opened. The first time, a line
 * of the log says so.
 */
int sctpiw_inherited(void);

/* verbs_device_ops.alloc_context(): opens the device. cmd_fd is closed if that fails. */
struct verbs_context *sctpiw_alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data);

/* Prints the line that says that this libibverbs is not known. */
void sctpiw_complain_about_abi(void);

/* A number for ibv_*.handle that no other object has. */
uint32_t sctpiw_new_handle(void);

/*
 * A reference to the channel of the context's asynchronous events, to be channel_put(). It drops them if the
 * application has closed its descriptor.
 */
struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx);

/*
 * Waits until the application has acknowledged as many events of an object that is destroyed as it
 * has read; `reported` is what channel_purge() says of that. libibverbs counts them in *completed,
 * under mutex and with cond. The shard lock is not held.
 */
void sctpiw_wait_for_acks(const uint32_t *completed, uint32_t reported, pthread_mutex_t *mutex,
			  pthread_cond_t *cond);

/*
 * Makes an adaptive mutex, which spins for a moment before it sleeps: critical sections are short
 * here, but two threads may well share a processor.
 */
void sctpiw_lock_init(pthread_mutex_t *lock);

#endif
