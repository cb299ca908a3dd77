/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event channels: completion channels, the async event channel of a context, RDMA CM channels. A
 * channel is an unlimited queue in this process, and a pipe whose read end belongs to the
 * application. The pipe contains a byte while the queue is not empty. So posting never blocks, and
 * no event is lost. Unread events of a destroyed object are removed, as in the kernel.
 *
 * Each channel has a lock. A thread that holds a shard's lock may take a channel's lock; the
 * opposite order is forbidden. The channel's lock also guards `unread` and `reported` of the
 * sources of its events.
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
 * Makes a channel. Sets *fd to the read end, which the application closes. The caller owns one
 * reference on behalf of this descriptor, until it calls channel_release(). For a CHANNEL_ASYNC,
 * calls the function that channel_set_fd_hook() has set. Returns 0, -errno of pipe() or fstat(), or
 * -ENOMEM.
 */
int channel_create(enum channel_kind kind, struct rnic_channel **chan, int *fd);
/*
 * Returns 0 for the first channel that is passed here, 1 for the second, and so on. A channel keeps
 * its number. Needs the locks of all shards.
 */
unsigned int channel_turn(struct rnic_channel *chan);
/*
 * Call this when the application has closed its descriptor. Drops the reference of this descriptor,
 * and all unread and later events.
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

#define CHANNEL_EVENT_MAX 384 /* maximum size of an event in bytes */
/*
 * Queues a copy of an event of len bytes. Never blocks. Drops the event if the source has no
 * channel, or if its channel is released or belongs to a parent process. Returns 0, -EINVAL if the
 * event is too long, or -ENOMEM.
 */
int channel_post(struct event_source *src, const void *event, size_t len);
/*
 * Works as channel_post(), but first removes equal unread events of this source. Use it for an
 * event that only reports a current state. The queue of a program that never reads then stays
 * short, and the last event in the queue is up to date.
 */
int channel_post_latest(struct event_source *src, const void *event, size_t len);
/*
 * Removes the source's unread events. Returns the number of events of the source that were read
 * earlier. libibverbs waits for as many acknowledgements before it destroys the object.
 */
uint32_t channel_purge(struct event_source *src);
/*
 * Moves the source, its unread events and its reference to another channel. Returns the number of
 * events of the source that were read earlier. Needs the shard's lock, so that no event is posted
 * meanwhile.
 */
uint32_t channel_migrate(struct event_source *src, struct rnic_channel *to);
/*
 * Moves the oldest event into buf. Returns its length, -EAGAIN if the queue is empty, -EINVAL if
 * len is too small, or -EIO if the channel belongs to a parent process.
 */
ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len);

/*
 * Sets a function that is called with each new descriptor for the application. It is not called for
 * descriptors that the preload library requested (rnic_api.h, set_fd_hooks). NULL: call no
 * function.
 */
void channel_set_fd_hook(void (*opened)(int fd, struct rnic_channel *chan));
/*
 * In the child of a fork(): makes all existing channels those of a parent process
 * (channel_is_foreign()), and closes the child's copies of internal descriptors.
 */
void channel_forget_all(void);
/*
 * Call these before a fork(), and after the fork() in both processes. The table of channels must
 * not be locked during the fork(), since the child could not unlock it.
 */
void channel_fork_prepare(void);
void channel_fork_done(void);

#endif
