/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reports changes of the port as async events of a device context. */
#ifndef SCTPIW_RUNTIME_PORT_EVENTS_H
#define SCTPIW_RUNTIME_PORT_EVENTS_H

#include "conn/events.h"
#include "net/port.h"

struct shard;

struct port_events {
	struct port_watcher watcher;
	struct event_source source; /* the async channel; the caller sets it before the start */
};

/*
 * From now on, posts an event to the source's channel (struct object_async_event, element 1, the
 * port's number) when the port becomes active or inactive, or the GID table changes. A program that
 * does not read has at most one event of each kind waiting. pe must not move until
 * port_events_stop(). Returns 0, or -errno of progress_start(): without the thread, no change would
 * be noticed. Takes the shard's lock.
 */
int port_events_start(struct shard *s, struct port_events *pe);
/* Stops the events. The caller purges unread ones (channel_purge()). */
void port_events_stop(struct port_events *pe);

#endif
