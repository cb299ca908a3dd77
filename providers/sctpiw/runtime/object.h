/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the verbs layer hangs on a CQ, SRQ or QP (iw_cq.ctx, ...) begins with this, so that the
 * engine finds the event channels without knowing the verbs objects.
 *
 * The owner fills it before the object is made and takes a reference on each channel. To
 * destroy: under the engine lock free the object, then channel_purge() both sources (the counts
 * are what libibverbs waits for), then channel_put() the channels.
 */
#ifndef SCTPIW_ENGINE_OBJECT_H
#define SCTPIW_ENGINE_OBJECT_H

#include <stdint.h>

#include "runtime/channel.h"

struct engine_object {
	struct channel_source comp;  /* CQ: completion channel; else unused */
	struct channel_source async; /* the context's async channel */
	uint64_t user_handle;	     /* of the events: cq_handle, element */
};

/* Numbers of enum ibv_event_type. */
enum engine_async_type {
	ENGINE_ASYNC_CQ_ERR = 0,
	ENGINE_ASYNC_QP_FATAL = 1,
	ENGINE_ASYNC_QP_REQ_ERR = 2,
	ENGINE_ASYNC_QP_ACCESS_ERR = 3,
	ENGINE_ASYNC_COMM_EST = 4,
	ENGINE_ASYNC_SQ_DRAINED = 5,
	ENGINE_ASYNC_PORT_ACTIVE = 9,
	ENGINE_ASYNC_PORT_ERR = 10,
	ENGINE_ASYNC_SRQ_LIMIT_REACHED = 15,
	ENGINE_ASYNC_QP_LAST_WQE_REACHED = 16,
	ENGINE_ASYNC_GID_CHANGE = 18,
};

/* As the kernel's struct ib_uverbs_async_event_desc; a completion event is the 8-byte handle. */
struct engine_async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

#endif
