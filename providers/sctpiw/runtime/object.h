/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the verbs hang on a CQ, SRQ or QP (iw_cq.ctx, ...) begins with a struct object, so that the loop finds
 * the event channels without knowing the objects of verbs/.
 *
 * The owner fills it before the object is made and takes a reference on each channel. To destroy one: under
 * the shard's lock free the object, then channel_purge() both sources (the counts are what libibverbs waits
 * for), then channel_put() the channels.
 */
#ifndef SCTPIW_RUNTIME_OBJECT_H
#define SCTPIW_RUNTIME_OBJECT_H

#include <stdint.h>

#include "runtime/channel.h"

struct object {
	struct event_source comp;  /* CQ: completion channel; else unused */
	struct event_source async; /* the context's async channel */
	uint64_t user_handle;	     /* of the events: cq_handle, element */
};

/* Numbers of enum ibv_event_type. */
enum object_async_type {
	OBJECT_ASYNC_CQ_ERR = 0,
	OBJECT_ASYNC_QP_FATAL = 1,
	OBJECT_ASYNC_QP_REQ_ERR = 2,
	OBJECT_ASYNC_QP_ACCESS_ERR = 3,
	OBJECT_ASYNC_COMM_EST = 4,
	OBJECT_ASYNC_SQ_DRAINED = 5,
	OBJECT_ASYNC_PORT_ACTIVE = 9,
	OBJECT_ASYNC_PORT_ERR = 10,
	OBJECT_ASYNC_SRQ_LIMIT_REACHED = 15,
	OBJECT_ASYNC_QP_LAST_WQE_REACHED = 16,
	OBJECT_ASYNC_GID_CHANGE = 18,
};

/* As the kernel's struct ib_uverbs_async_event_desc; a completion event is the 8-byte handle. */
struct object_async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

#endif
