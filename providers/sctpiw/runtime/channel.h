/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event channels: completion channels, the async event channel of a context, RDMA CM channels.
 * A queue without a limit here, and a pipe of which the application holds the reading end; one
 * byte lies in the pipe while the queue is not empty. So posting never blocks, nothing is lost, and
 * events of a destroyed object vanish unread, as the kernel's do.
 *
 * Each channel has its own lock; it may be taken under the shard lock, never the other way round.
 */
#ifndef SCTPIW_RUNTIME_CHANNEL_H
#define SCTPIW_RUNTIME_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conn/events.h"

enum channel_kind { CHANNEL_COMP, CHANNEL_ASYNC, CHANNEL_CM };

/*
 * -errno. *fd is the application's end; channels are reference-counted: one for the descriptor.
 * The descriptor of a CHANNEL_ASYNC is announced to the kernel-ABI stand-in (set_fd_hooks) here.
 */
int channel_create(enum channel_kind kind, struct rnic_channel **chan, int *fd);
/* The application's descriptor was closed: events are dropped from now on. */
void channel_release(struct rnic_channel *chan);
/* A referenced channel whose descriptor is fd, or NULL; channel_put() it. */
struct rnic_channel *channel_get_by_fd(int fd);
void channel_ref(struct rnic_channel *chan);
void channel_put(struct rnic_channel *chan); /* NULL is fine */
bool channel_is_foreign(const struct rnic_channel *chan); /* the parent process's, after fork */

/* Queue an event of len bytes (at most CHANNEL_EVENT_MAX), copied. Never blocks; -ENOMEM. */
#define CHANNEL_EVENT_MAX 384
int channel_post(struct event_source *src, const void *event, size_t len);
/*
 * The same for an event that says no more than how things are: an equal one of this source that nobody
 * has read yet goes. So who never reads holds few, and what is read last is true.
 */
int channel_post_latest(struct event_source *src, const void *event, size_t len);
/* Remove the source's unread events; returns how many were read before (for the ack wait). */
uint32_t channel_purge(struct event_source *src);
/* Move the source and its unread events to another channel (rdma_migrate_id). */
uint32_t channel_migrate(struct event_source *src, struct rnic_channel *to);
/*
 * One event into buf: its length; -EAGAIN: none; -EINVAL: buf too small; -EIO: the channel belongs
 * to the parent process (fork).
 */
ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len);

/* Who wants to know of descriptors made here for the application (rnic_api.h, set_fd_hooks). */
void channel_set_fd_hook(void (*opened)(int fd, struct rnic_channel *chan));
/* In the child of a fork: the channels that were made before are the parent's. */
void channel_forget_all(void);
/* Around fork(): keeps the table of channels consistent in the child. */
void channel_fork_prepare(void);
void channel_fork_done(void);

#endif
