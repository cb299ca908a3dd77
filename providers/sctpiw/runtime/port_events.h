/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reports changes of the port as async events of a device context. */
#ifndef SCTPIW_RUNTIME_PORT_EVENTS_H
#define SCTPIW_RUNTIME_PORT_EVENTS_H

#include "conn/events.h"
#include "net/port.h"

struct shard;

struct port_events {
	struct port_watcher watcher;
	/* the async channel of the context; the caller sets it before port_events_start() */
	struct event_source source;
};

/*
 * Begins to post events to the source's channel. Posts an event when the port becomes active or
 * inactive, or the GID table changes. An event is a struct object_async_event, whose element is 1,
 * the port's number. A program that never reads has at most one unread event of each kind. pe must
 * not move until port_events_stop(). Returns 0, or -errno of progress_start(), since only the
 * thread notices changes. Takes the shard's lock.
 */
int port_events_start(struct shard *s, struct port_events *pe);
/* Stops the events. The caller removes unread events (channel_purge()). */
void port_events_stop(struct port_events *pe);

#endif
