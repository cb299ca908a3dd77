/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/port_events.h"

#include "runtime/channel.h"
#include "runtime/object.h"
#include "runtime/rnic.h"

static void changed(struct port_watcher *w, enum port_change change)
{
	static const enum object_async_type types[] = {
		[PORT_CHANGE_DOWN] = OBJECT_ASYNC_PORT_ERR,
		[PORT_CHANGE_GIDS] = OBJECT_ASYNC_GID_CHANGE,
		[PORT_CHANGE_UP] = OBJECT_ASYNC_PORT_ACTIVE,
	};
	struct object_async_event ev = { .element = 1, .event_type = types[change] };

	channel_post_latest(&list_entry(w, struct port_events, watcher)->source, &ev, sizeof(ev));
}

int port_events_start(struct shard *s, struct port_events *pe)
{
	int ret = 0;

	/*
	 * Starts the threads of all shards. This must happen before the first CQ exists, since
	 * pollers of a CQ read fields that the start sets.
	 */
	rnic_lock(s->rnic);
	for (unsigned int i = 0; !ret && i < s->rnic->n_shards; i++)
		ret = progress_start(rnic_shard(s->rnic, i));
	rnic_unlock(s->rnic);
	if (ret)
		return ret;
	pe->watcher.changed = changed;
	port_watch(&pe->watcher);
	/* The thread may be sleeping without waiting for the port's descriptor, which is new. */
	progress_wake(s);
	return 0;
}

void port_events_stop(struct port_events *pe)
{
	port_unwatch(&pe->watcher);
}
