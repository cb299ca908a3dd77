/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each CQ, SRQ and QP of iwarp/ has a context (iw_cq.ctx and so on) that begins with a struct
 * object. So loop.c finds the event channels without the headers of verbs/.
 *
 * The owner of the struct fills it before it makes the object of iwarp/, and takes a reference to
 * each channel. To destroy an object, the owner first frees the object of iwarp/ under the shard's
 * lock. Then it calls channel_purge() for both sources, which returns the number of
 * acknowledgements that libibverbs must wait for. Finally it calls channel_put() for both channels.
 */
#ifndef SCTPIW_RUNTIME_OBJECT_H
#define SCTPIW_RUNTIME_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/channel.h"

struct shard;

struct object {
	/*
	 * The shard whose lock guards the object. The shard of a CQ is the shard of the CQ's first
	 * queue. An SRQ belongs to no shard, so this is any shard. A QP may move to another shard
	 * before it is connected, under the locks of all shards. A thread that rings the QP's
	 * doorbell may therefore read the old shard.
	 */
	struct shard *_Atomic shard;
	/*
	 * For a CQ: a bit 1 << struct shard.index for each other shard whose queues complete on the
	 * CQ.
	 */
	_Atomic uint32_t others;
	/* the completion channel of a CQ; no channel for other objects */
	struct event_source comp;
	struct event_source async; /* the context's async channel */
	uint64_t user_handle;	   /* the name of the object in its events: cq_handle, or element */
	/*
	 * Another handle of the same QP, or NULL. It receives the QP's async events, too. Guarded
	 * by the shard lock.
	 */
	struct object *next;
};

static inline struct shard *object_shard(const struct object *obj)
{
	return atomic_load_explicit(&obj->shard, memory_order_relaxed);
}

/* Needs the locks of all shards, unless no other thread has a pointer to the object yet. */
static inline void object_set_shard(struct object *obj, struct shard *s)
{
	atomic_store_explicit(&obj->shard, s, memory_order_relaxed);
}

/* Lock and unlock the object's shard (shard_lock(), shard_unlock()). */
void object_lock(struct object *obj);
void object_unlock(struct object *obj);
/* Lock and unlock all shards (rnic_lock(), rnic_unlock()). */
void object_lock_all(const struct object *obj);
void object_unlock_all(const struct object *obj);

/* The values are those of enum ibv_event_type. */
enum object_async_type {
	OBJECT_ASYNC_CQ_ERR = 0,
	OBJECT_ASYNC_QP_FATAL = 1,
	OBJECT_ASYNC_QP_REQ_ERR = 2,
	OBJECT_ASYNC_QP_ACCESS_ERR = 3,
	OBJECT_ASYNC_COMM_EST = 4,
	OBJECT_ASYNC_SQ_DRAINED = 5,
	OBJECT_ASYNC_PATH_MIG = 6,
	OBJECT_ASYNC_PORT_ACTIVE = 9,
	OBJECT_ASYNC_PORT_ERR = 10,
	OBJECT_ASYNC_SRQ_LIMIT_REACHED = 15,
	OBJECT_ASYNC_QP_LAST_WQE_REACHED = 16,
	OBJECT_ASYNC_GID_CHANGE = 18,
};

/*
 * An async event, laid out as the kernel's struct ib_uverbs_async_event_desc. A completion event,
 * in contrast, consists only of user_handle.
 */
struct object_async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

#endif
