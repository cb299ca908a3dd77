/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Changes of the port become async events of a device context. */
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
 * From now on the source's channel gets an event (struct object_async_event, element 1, the port's
 * number) when the port becomes active or inactive, and when the GID table changes. A program that
 * does not read its events has one of each kind waiting. pe must stay where it is until
 * port_events_stop(). -errno as of progress_start(): without the thread nobody would see changes.
 * Takes the shard's lock.
 */
int port_events_start(struct shard *s, struct port_events *pe);
/* No event comes any more. Those that were not read are the caller's to purge (channel_purge()). */
void port_events_stop(struct port_events *pe);

#endif
