/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The context of a CQ, SRQ or QP (iw_cq.ctx and so on) begins with a struct object, so that loop.c
 * finds the event channels without the headers of verbs/.
 *
 * The owner fills the struct before it makes the object of iwarp/, and takes a reference to each
 * channel. To destroy an object, the owner first frees the object of iwarp/ under the shard's lock.
 * It then calls channel_purge() for both sources, which returns the numbers of acknowledgements
 * that libibverbs must wait for. Finally it calls channel_put() for both channels.
 */
#ifndef SCTPIW_RUNTIME_OBJECT_H
#define SCTPIW_RUNTIME_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/channel.h"

struct shard;

struct object {
	/*
	 * The shard whose lock guards the object. A CQ has the shard of its first queue. An SRQ
	 * belongs to no shard: any will do. A QP may change shards before it is connected, under
	 * the locks of all shards. A thread that rings its doorbell may read an old shard.
	 */
	struct shard *_Atomic shard;
	/* Of a CQ: the other shards whose queues complete on it, as bits of struct shard.index. */
	_Atomic uint32_t others;
	struct event_source comp;  /* of a CQ: its completion channel; otherwise none */
	struct event_source async; /* the context's async channel */
	uint64_t user_handle;	   /* the object's name in events: cq_handle, or element */
	/*
	 * Another handle of the same QP, which also receives its async events, or NULL. Shard lock.
	 */
	struct object *next;
};

static inline struct shard *object_shard(const struct object *obj)
{
	return atomic_load_explicit(&obj->shard, memory_order_relaxed);
}

/* Needs the locks of all shards, unless no other thread knows the object yet. */
static inline void object_set_shard(struct object *obj, struct shard *s)
{
	atomic_store_explicit(&obj->shard, s, memory_order_relaxed);
}

/* Call shard_lock() and shard_unlock() for the object's shard. */
void object_lock(struct object *obj);
void object_unlock(struct object *obj);
/* Call rnic_lock() and rnic_unlock(). */
void object_lock_all(const struct object *obj);
void object_unlock_all(const struct object *obj);

/* Values of enum ibv_event_type. */
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
 * An async event, as the kernel's struct ib_uverbs_async_event_desc. A completion event is only the
 * user_handle.
 */
struct object_async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

#endif
