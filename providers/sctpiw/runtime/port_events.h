/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Changes of the port, as async events of a device context. */
#ifndef SCTPIW_RUNTIME_PORT_EVENTS_H
#define SCTPIW_RUNTIME_PORT_EVENTS_H

#include "conn/events.h"
#include "net/port.h"

struct shard;

struct port_events {
	struct port_watcher watcher;
	struct event_source source; /* the async channel; the caller fills it before the start */
};

/*
 * From now on an event of the source's channel (object_async_event, element 1) says when the port becomes
 * active or inactive, or the GID table changes. A program that does not read its events is told of each kind
 * once. pe must stay where it is until port_events_stop(). -errno: there is no thread to look out.
 */
int port_events_start(struct shard *s, struct port_events *pe);
/* No event comes any more. The caller purges the source. */
void port_events_stop(struct port_events *pe);

#endif
