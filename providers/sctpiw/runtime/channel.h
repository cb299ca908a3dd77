/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event channels: completion channels, the async event channel of a context, RDMA CM channels. A
 * channel is an unlimited queue in this process, and a pipe whose read end belongs to the
 * application. The pipe contains a byte while the queue is not empty. So posting never blocks, no
 * event is lost, and unread events of a destroyed object vanish, as the kernel's do.
 *
 * Each channel has its own lock, which may be taken while the shard's lock is held, but not in the
 * opposite order. It also guards `unread` and `reported` of the sources of its events.
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
 * Makes a channel. *fd is the read end for the application, which closes it. The caller holds one
 * reference for this descriptor until channel_release(). Calls the hook of channel_set_fd_hook()
 * for a CHANNEL_ASYNC. Returns 0, -errno of pipe() or fstat(), or -ENOMEM.
 */
int channel_create(enum channel_kind kind, struct rnic_channel **chan, int *fd);
/*
 * Returns 0 for the first channel that is passed here, 1 for the second, and so on. A channel keeps
 * its number. Needs the locks of all shards.
 */
unsigned int channel_turn(struct rnic_channel *chan);
/*
 * Call this when the application's descriptor was closed. Drops this descriptor's reference, and
 * all unread and later events.
 */
void channel_release(struct rnic_channel *chan);
/*
 * Returns the channel of this pipe, or NULL. fd may be any descriptor of the pipe. Release the
 * result by channel_put().
 */
struct rnic_channel *channel_get_by_fd(int fd);
void channel_ref(struct rnic_channel *chan);
void channel_put(struct rnic_channel *chan); /* accepts NULL */
/* True if the channel belongs to a parent process. */
bool channel_is_foreign(const struct rnic_channel *chan);

#define CHANNEL_EVENT_MAX 384 /* bytes */
/*
 * Queues a copy of an event of len bytes. Never blocks. Drops the event if the source has no
 * channel, or a foreign or released one. Returns 0, -EINVAL if the event is too long, or -ENOMEM.
 */
int channel_post(struct event_source *src, const void *event, size_t len);
/*
 * The same for an event that only reports a current state. It replaces equal unread events of this
 * source. So a program that never reads accumulates few events, and the last event read is true.
 */
int channel_post_latest(struct event_source *src, const void *event, size_t len);
/*
 * Removes the source's unread events. Returns the number of events read before. libibverbs waits
 * for this number of acknowledgements before it destroys the object.
 */
uint32_t channel_purge(struct event_source *src);
/*
 * Moves the source, its unread events and its reference to another channel. Returns the number of
 * events read before. Needs the shard's lock, so that no event is posted meanwhile.
 */
uint32_t channel_migrate(struct event_source *src, struct rnic_channel *to);
/*
 * Moves the oldest event into buf. Returns its length, -EAGAIN if the queue is empty, -EINVAL if
 * len is too small, or -EIO if the channel is foreign.
 */
ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len);

/*
 * Sets a function to call for each descriptor that is made for the application, unless the preload
 * library requested the descriptor (rnic_api.h, set_fd_hooks). NULL: none.
 */
void channel_set_fd_hook(void (*opened)(int fd, struct rnic_channel *chan));
/*
 * In the child of a fork(): makes all existing channels foreign, and closes the child's copies of
 * internal descriptors.
 */
void channel_forget_all(void);
/*
 * Call these before a fork(), and after it in both processes: the child needs an unlocked table of
 * channels.
 */
void channel_fork_prepare(void);
void channel_fork_done(void);

#endif
