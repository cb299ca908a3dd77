/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event channels: completion channels, the async event channel of a context, RDMA CM channels.
 * A channel is a queue without a limit in this process, and a pipe whose reading end is the
 * application's; a byte lies in the pipe while the queue is not empty. So posting never blocks,
 * nothing is lost, and events of a destroyed object vanish unread, as the kernel's do.
 *
 * Each channel has its own lock, which may be taken under the shard's lock, never the other way
 * round. It also guards `unread` and `reported` of the sources of its events.
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
 * Makes a channel; *fd is the application's end, which the application closes. The caller holds one
 * reference on behalf of that descriptor, until channel_release(). If the kind is CHANNEL_ASYNC,
 * the hook of channel_set_fd_hook() is called. -errno of pipe() or fstat(), or -ENOMEM.
 */
int channel_create(enum channel_kind kind, struct rnic_channel **chan, int *fd);
/* How many channels were asked for this before, whichever they are: each has its turn once. Locks of all shards. */
unsigned int channel_turn(struct rnic_channel *chan);
/*
 * The application's descriptor was closed: events are dropped from now on, and the descriptor's
 * reference is given back.
 */
void channel_release(struct rnic_channel *chan);
/*
 * The channel whose pipe fd belongs to, whatever its number, or NULL. The caller gets a reference,
 * which channel_put() gives back.
 */
struct rnic_channel *channel_get_by_fd(int fd);
void channel_ref(struct rnic_channel *chan);
void channel_put(struct rnic_channel *chan); /* NULL is fine */
/* Whether the channel belongs to the process that this one was forked from. */
bool channel_is_foreign(const struct rnic_channel *chan);

#define CHANNEL_EVENT_MAX 384 /* bytes */
/*
 * Queues a copy of an event of len bytes. Never blocks. If the source has no channel, or it is
 * foreign or released, the event is dropped. 0, -EINVAL if the event is too long, or -ENOMEM.
 */
int channel_post(struct event_source *src, const void *event, size_t len);
/*
 * The same for an event that only says how things are now: equal events of this source that were
 * not read yet are removed. So a program that never reads has few of them, and the last one read is
 * true.
 */
int channel_post_latest(struct event_source *src, const void *event, size_t len);
/*
 * Removes the source's unread events. Returns how many were read before, which is the number of
 * acknowledgements that libibverbs waits for before the object may go.
 */
uint32_t channel_purge(struct event_source *src);
/*
 * Moves the source and its unread events to another channel, and its reference with them. Returns
 * how many events were read before. Shard lock, so that nothing is posted meanwhile.
 */
uint32_t channel_migrate(struct event_source *src, struct rnic_channel *to);
/*
 * Takes the oldest event out of the queue into buf, and returns its length. -EAGAIN if there is
 * none, -EINVAL if len is too small, -EIO if the channel is foreign.
 */
ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len);

/*
 * From now on opened() is called for each descriptor that is made here for the application and that
 * the preload library does not ask for itself (rnic_api.h, set_fd_hooks). NULL: nobody is called.
 */
void channel_set_fd_hook(void (*opened)(int fd, struct rnic_channel *chan));
/*
 * In the child of a fork(): from now on the channels that were made before are foreign. This
 * process's copies of our descriptors are closed.
 */
void channel_forget_all(void);
/*
 * Before a fork(), and after it in both processes: the child must find the table of channels
 * unlocked.
 */
void channel_fork_prepare(void);
void channel_fork_done(void);

#endif
