/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interface to event channels, which runtime/channel.h or a test implements. An object that has
 * events embeds a struct event_source.
 */
#ifndef SCTPIW_CONN_EVENTS_H
#define SCTPIW_CONN_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct rnic_channel; /* declared in rnic_api.h */

struct event_source {
	struct rnic_channel *chan; /* holds a reference; NULL: events are dropped */
	uint32_t reported;	   /* events of this source that the application has read */
	uint32_t unread; /* events of this source in the queue; guarded by the channel's lock */
};

struct conn_events_ops {
	/* Queues a copy of an event of len bytes. Does not block. Returns 0 or -ENOMEM. */
	int (*post)(struct event_source *src, const void *event, size_t len);
	/*
	 * Removes the source's unread events from the queue. Returns the number of events that the
	 * application has read.
	 */
	uint32_t (*purge)(struct event_source *src);
	/* Acquires and releases a reference on a channel. */
	void (*ref)(struct rnic_channel *chan);
	void (*put)(struct rnic_channel *chan);
};

#endif
