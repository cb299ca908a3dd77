/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The context of an open device, and functions for all objects of the verbs.
 *
 * An object of the verbs is the struct that libibverbs passes to the application. It refers to an
 * object of the RNIC (iw_*). This directory checks arguments and converts them. Errors are positive
 * errnos here, as the verbs return them. A function that returns a pointer returns NULL and sets
 * errno on failure.
 *
 * The child of a fork() may go on using a context of its parent. It may also use objects that are
 * memory alone: PDs, thread and parent domains, MRs, windows and device memory. They are copies, as
 * is all memory of the child. QPs, CQs and SRQs stay with the parent. In the child their functions
 * return EIO (sctpiw_inherited()), but functions that destroy them free memory, and return 0.
 *
 * Locks, in the order in which they are taken: sctpiw_cq.lock, sctpiw_srq.lock, the shard lock.
 * Never take one of the first two with the shard lock held. An application holds the lock of an
 * extended CQ while it reads completions. "The shard lock" is the lock of the object's shard.
 * Objects that several shards read are made and destroyed under the locks of all shards. sq_lock
 * and rq_lock of a QP are leaves: no other lock is taken while they are held.
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
	struct pabi_context vctx; /* must be first: see pabi_alloc_context() */
	struct shard *shard;	  /* the first one */
	uint32_t generation;	  /* sctpiw_generation when it was opened */
	uint64_t node_guid;	  /* of the device when it was opened, in network byte order */
	struct port_events port;  /* posts the port's events to the async channel */
	struct list_node all;	  /* for faults_verbs.c, unless a parent opened it; shard lock */
	/* The objects that the application has not destroyed. Guarded by sctpiw_lock(). */
	struct list_node pds, tds, mrs, mws, dms, cqs, srqs, qps, xrcds;
};

/*
 * Number of forks between the first process and this one. A context, CQ, SRQ or QP stores the
 * generation in which it was made. An object of an earlier generation belongs to the parent
 * process.
 */
extern uint32_t sctpiw_generation;

/* Registers the handlers of fork(). Call this once, before a device is opened. */
void sctpiw_handle_forks(void);

static inline struct sctpiw_context *to_ctx(struct ibv_context *context)
{
	return list_entry(context, struct sctpiw_context, vctx.context);
}

/* True if this process, and not a parent, opened the device. */
static inline bool sctpiw_alive(const struct sctpiw_context *ctx)
{
	return ctx->generation == sctpiw_generation;
}

/*
 * The lock of PDs, domains, MRs, windows and device memory. In the process that opened the device,
 * it is the locks of all shards. In its children, which must not run these shards, it is a separate
 * lock.
 */
void sctpiw_lock(struct sctpiw_context *ctx);
void sctpiw_unlock(struct sctpiw_context *ctx);

/*
 * Returns EIO, for functions that a child of fork() cannot perform on objects of its parent. Logs
 * the first call.
 */
int sctpiw_inherited(void);

/* verbs_device_ops.alloc_context(): opens the device. Closes cmd_fd on failure. */
struct verbs_context *sctpiw_alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data);

/* Logs that this libibverbs is unknown. */
void sctpiw_complain_about_abi(void);

/* Returns a unique number for ibv_*.handle. */
uint32_t sctpiw_new_handle(void);

/*
 * Returns a reference to the channel of asynchronous events, for channel_put(). The channel drops
 * events after the application has closed its descriptor.
 */
struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx);

/*
 * Waits until the application has acknowledged all events it read of an object that is being
 * destroyed. `reported`: their number, from channel_purge(). libibverbs counts acknowledgements in
 * *completed, under mutex and with cond. Do not hold the shard lock.
 */
void sctpiw_wait_for_acks(const uint32_t *completed, uint32_t reported, pthread_mutex_t *mutex,
			  pthread_cond_t *cond);

/*
 * Makes an adaptive mutex, which spins for a moment before it sleeps. Critical sections are short
 * here, but two threads may share a processor.
 */
void sctpiw_lock_init(pthread_mutex_t *lock);

#endif
