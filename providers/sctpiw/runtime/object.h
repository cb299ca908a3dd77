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

#include <stdint.h>

#include "runtime/channel.h"

struct object {
	struct event_source comp;  /* a CQ's completion channel; of other objects, none */
	struct event_source async; /* the context's async channel */
	uint64_t user_handle;	   /* what events name the object by: cq_handle, or element */
	/* A further handle of the same QP, to which its async events go as well; NULL: none. Shard lock. */
	struct object *next;
};

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
