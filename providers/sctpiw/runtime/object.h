/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What verbs/ hangs on a CQ, SRQ or QP (iw_cq.ctx and its like) begins with a struct object, so
 * that loop.c finds the event channels without knowing the objects of verbs/.
 *
 * The owner fills the struct before it makes the object of iwarp/, and takes a reference on each
 * channel. To destroy an object, the owner frees that of iwarp/ under the shard's lock, then calls
 * channel_purge() for both sources, whose results are the counts of events that libibverbs waits to
 * be acknowledged, and then channel_put() for both channels.
 */
#ifndef SCTPIW_RUNTIME_OBJECT_H
#define SCTPIW_RUNTIME_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/channel.h"

struct shard;

struct object {
	/*
	 * Whose lock guards it. A CQ has that of its first queue; an SRQ is no shard's, and has any. That of a QP changes before it is connected, under the locks of all shards; who rings its
	 * doorbell may read an old one.
	 */
	struct shard *_Atomic shard;
	/* Of a CQ: bits of further shards (struct shard.index) whose queues complete on it. */
	_Atomic uint32_t others;
	struct event_source comp;  /* a CQ's completion channel; of other objects, none */
	struct event_source async; /* the context's async channel */
	uint64_t user_handle;	   /* what events name the object by: cq_handle, or element */
	/* A further handle of the same QP, to which its async events go as well; NULL: none. Shard lock. */
	struct object *next;
};

static inline struct shard *object_shard(const struct object *obj)
{
	return atomic_load_explicit(&obj->shard, memory_order_relaxed);
}

/* Locks of all shards, or nobody knows of the object yet. */
static inline void object_set_shard(struct object *obj, struct shard *s)
{
	atomic_store_explicit(&obj->shard, s, memory_order_relaxed);
}

/* shard_lock() and shard_unlock() of the object's shard. */
void object_lock(struct object *obj);
void object_unlock(struct object *obj);
/* The same with rnic_lock() and rnic_unlock(). */
void object_lock_all(const struct object *obj);
void object_unlock_all(const struct object *obj);

/* The numbers of enum ibv_event_type. */
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
 * An async event, as the kernel's struct ib_uverbs_async_event_desc. A completion event is the
 * user_handle alone.
 */
struct object_async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

#endif
