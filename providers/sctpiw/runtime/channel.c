/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/channel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/log.h"
#include "sys/sys.h"
#include "util/list.h"

struct channel_event {
	struct list_node node;
	struct event_source *src;
	size_t len;
	uint8_t data[];
};

struct rnic_channel {
	struct list_node node; /* node of the table of channels; guarded by table_lock */
	_Atomic unsigned int refs;
	unsigned int generation; /* value of `generation` in the process that made the channel */
	/* result of channel_turn() plus 1, or 0 before its first call; locks of all shards */
	unsigned int turn;
	/* Device and inode of the pipe. They identify each descriptor of the pipe. */
	dev_t dev;
	ino_t ino;

	/* guards the fields below, and the fields reported and unread of the event sources */
	pthread_mutex_t lock;
	struct list_node events;
	/* a duplicate of the application's descriptor, which the application may close */
	int read_fd;
	int write_fd;
	/* number of bytes written; the application may have read some of them itself */
	unsigned int signals;
	bool each;     /* write one byte per event, for readers that use edge-triggered epoll */
	bool released; /* the application has closed its descriptor */
};

/*
 * Maximum number of bytes in one pipe. It is far below the capacity of a pipe, and gives enough
 * edges to epoll.
 */
#define SIGNALS_MAX 1024

/* Guards all channels that are not released. Do not take it while holding a channel's lock. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list_node table = { &table, &table };
static _Atomic unsigned int generation; /* number of forks from the first process to this one */
static void (*_Atomic fd_hook)(int fd, struct rnic_channel *chan);

bool channel_is_foreign(const struct rnic_channel *chan)
{
	return chan->generation != atomic_load_explicit(&generation, memory_order_relaxed);
}

/*
 * Locks the channel. Returns false, without locking, if the channel belongs to a parent process.
 * The lock of a parent's channel is unusable after fork(): another thread of the parent may have
 * held it.
 */
static bool channel_lock(struct rnic_channel *chan)
{
	if (channel_is_foreign(chan))
		return false;
	pthread_mutex_lock(&chan->lock);
	return true;
}

static void channel_unlock(struct rnic_channel *chan)
{
	pthread_mutex_unlock(&chan->lock);
}

unsigned int channel_turn(struct rnic_channel *chan)
{
	/* last number that channel_turn() returned, plus 1; guarded by the locks of all shards */
	static unsigned int last;

	if (!chan->turn)
		chan->turn = ++last;
	return chan->turn - 1;
}

int channel_create(enum channel_kind kind, struct rnic_channel **out, int *fd)
{
	void (*hook)(int, struct rnic_channel *);
	struct rnic_channel *chan;
	struct stat st;
	int fds[2], ret;

	chan = calloc(1, sizeof(*chan));
	if (!chan)
		return -ENOMEM;
	ret = sys_pipe(fds);
	if (ret)
		goto err_free;
	ret = sys_stat_fd(fds[0], &st);
	if (ret)
		goto err_close;
	chan->read_fd = ret = sys_keep(sys_dup(fds[0]));
	if (ret < 0)
		goto err_close;
	chan->write_fd = sys_keep(fds[1]);
	chan->dev = st.st_dev;
	chan->ino = st.st_ino;
	chan->generation = atomic_load_explicit(&generation, memory_order_relaxed);
	/* Readers of completion events read until EAGAIN, so one edge is enough. */
	chan->each = kind == CHANNEL_CM;
	atomic_init(&chan->refs, 1);
	list_init(&chan->events);
	pthread_mutex_init(&chan->lock, NULL);
	pthread_mutex_lock(&table_lock);
	list_add_tail(&table, &chan->node);
	pthread_mutex_unlock(&table_lock);
	*out = chan;
	*fd = fds[0];
	hook = atomic_load(&fd_hook);
	if (kind == CHANNEL_ASYNC && hook)
		hook(fds[0], chan);
	return 0;

err_close:
	sys_close(fds[0]);
	sys_close(fds[1]);
err_free:
	free(chan);
	log_error("no channel for events: %s", log_reason(-ret));
	return ret;
}

void channel_ref(struct rnic_channel *chan)
{
	atomic_fetch_add_explicit(&chan->refs, 1, memory_order_relaxed);
}

static void drop_events(struct rnic_channel *chan)
{
	struct list_node *node;

	while ((node = list_pop(&chan->events))) {
		struct channel_event *ev = list_entry(node, struct channel_event, node);

		ev->src->unread--;
		free(ev);
	}
}

void channel_put(struct rnic_channel *chan)
{
	struct list_node *node;

	if (!chan || atomic_fetch_sub_explicit(&chan->refs, 1, memory_order_acq_rel) != 1)
		return;
	/*
	 * Each source of an event holds a reference to the channel. So the queue is empty here,
	 * unless the channel belongs to a parent process.
	 */
	while ((node = list_pop(&chan->events)))
		free(list_entry(node, struct channel_event, node));
	pthread_mutex_destroy(&chan->lock);
	free(chan);
}

void channel_release(struct rnic_channel *chan)
{
	pthread_mutex_lock(&table_lock);
	list_del(&chan->node);
	pthread_mutex_unlock(&table_lock);
	if (channel_lock(chan)) {
		if (chan->released) {
			channel_unlock(chan);
			return;
		}
		chan->released = true;
		drop_events(chan);
		sys_close(chan->read_fd);
		sys_close(chan->write_fd);
		channel_unlock(chan);
	}
	channel_put(chan);
}

struct rnic_channel *channel_get_by_fd(int fd)
{
	struct rnic_channel *found = NULL;
	struct stat st;

	if (sys_stat_fd(fd, &st))
		return NULL;
	pthread_mutex_lock(&table_lock);
	list_for_each(node, &table) {
		struct rnic_channel *chan = list_entry(node, struct rnic_channel, node);

		if (chan->ino == st.st_ino && chan->dev == st.st_dev) {
			channel_ref(chan);
			found = chan;
			break;
		}
	}
	pthread_mutex_unlock(&table_lock);
	return found;
}

static void add_signal(struct rnic_channel *chan)
{
	char byte = 0;

	chan->signals += sys_write(chan->write_fd, &byte, 1) == 1;
}

/*
 * Writes a byte into the pipe, or reads all bytes from it. The pipe is then readable if and only if
 * the queue is not empty.
 */
static void update_signal(struct rnic_channel *chan)
{
	bool wanted = !list_empty(&chan->events);
	char bytes[SIGNALS_MAX];

	if (chan->released || wanted == (chan->signals > 0))
		return;
	if (wanted) {
		add_signal(chan);
		return;
	}
	/* A read() would block if the application has read the bytes itself. */
	sys_read_pipe(chan->read_fd, bytes, chan->signals);
	chan->signals = 0;
}

/* Removes the unread events of src with this content. Needs the channel's lock. */
static void drop_equal(struct rnic_channel *chan, struct event_source *src, const void *event,
		       size_t len)
{
	list_for_each_safe(node, &chan->events) {
		struct channel_event *ev = list_entry(node, struct channel_event, node);

		if (ev->src == src && ev->len == len && !memcmp(ev->data, event, len)) {
			list_del(&ev->node);
			free(ev);
			src->unread--;
		}
	}
}

static int post(struct event_source *src, const void *event, size_t len, bool latest)
{
	struct rnic_channel *chan = src->chan;
	struct channel_event *ev;

	if (!chan || channel_is_foreign(chan))
		return 0;
	if (len > CHANNEL_EVENT_MAX)
		return -EINVAL;
	ev = malloc(sizeof(*ev) + len);
	if (!ev)
		return -ENOMEM;
	ev->src = src;
	ev->len = len;
	memcpy(ev->data, event, len);
	if (!channel_lock(chan)) {
		free(ev);
		return 0;
	}
	if (chan->released) {
		free(ev);
	} else {
		if (latest && src->unread)
			drop_equal(chan, src, event, len);
		list_add_tail(&chan->events, &ev->node);
		src->unread++;
		/*
		 * Some readers wait in edge-triggered epoll, and read one event per edge. A byte
		 * for each event gives them an edge for each event.
		 */
		if (chan->each && chan->signals && chan->signals < SIGNALS_MAX)
			add_signal(chan);
		else
			update_signal(chan);
	}
	channel_unlock(chan);
	return 0;
}

int channel_post(struct event_source *src, const void *event, size_t len)
{
	return post(src, event, len, false);
}

int channel_post_latest(struct event_source *src, const void *event, size_t len)
{
	return post(src, event, len, true);
}

uint32_t channel_purge(struct event_source *src)
{
	struct rnic_channel *chan = src->chan;
	uint32_t reported;

	if (!chan || !channel_lock(chan))
		return src->reported;
	if (src->unread) {
		list_for_each_safe(node, &chan->events) {
			struct channel_event *ev = list_entry(node, struct channel_event, node);

			if (ev->src == src) {
				list_del(&ev->node);
				free(ev);
			}
		}
		src->unread = 0;
		update_signal(chan);
	}
	reported = src->reported;
	channel_unlock(chan);
	return reported;
}

uint32_t channel_migrate(struct event_source *src, struct rnic_channel *to)
{
	struct rnic_channel *from = src->chan;
	struct list_node moved;
	uint32_t reported;

	if (from == to)
		return src->reported;
	list_init(&moved);
	if (from && channel_lock(from)) {
		list_for_each_safe(node, &from->events) {
			struct channel_event *ev = list_entry(node, struct channel_event, node);

			if (ev->src == src) {
				list_del(&ev->node);
				list_add_tail(&moved, &ev->node);
			}
		}
		update_signal(from);
		channel_unlock(from);
	}
	/* The caller's shard lock excludes posters, so no event can overtake others. */
	reported = src->reported;
	src->chan = to;
	channel_ref(to);
	if (channel_lock(to)) {
		struct list_node *node;

		while ((node = list_pop(&moved)))
			list_add_tail(&to->events, node);
		if (to->released)
			drop_events(to);
		update_signal(to);
		channel_unlock(to);
	}
	channel_put(from);
	return reported;
}

ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len)
{
	ssize_t ret = -EAGAIN;

	if (!channel_lock(chan))
		return -EIO;
	if (!list_empty(&chan->events)) {
		struct channel_event *ev =
			list_entry(chan->events.next, struct channel_event, node);

		if (len < ev->len) {
			ret = -EINVAL;
		} else {
			memcpy(buf, ev->data, ev->len);
			ret = (ssize_t)ev->len;
			ev->src->reported++;
			ev->src->unread--;
			list_del(&ev->node);
			free(ev);
			update_signal(chan);
		}
	}
	channel_unlock(chan);
	return ret;
}

void channel_set_fd_hook(void (*opened)(int fd, struct rnic_channel *chan))
{
	atomic_store(&fd_hook, opened);
}

void channel_fork_prepare(void)
{
	pthread_mutex_lock(&table_lock);
}

void channel_fork_done(void)
{
	pthread_mutex_unlock(&table_lock);
}

void channel_forget_all(void)
{
	struct list_node *node;

	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
	while ((node = list_pop(&table))) {
		struct rnic_channel *chan = list_entry(node, struct rnic_channel, node);

		/* The parent still uses the pipe. Close only this process's descriptors. */
		sys_close(chan->read_fd);
		sys_close(chan->write_fd);
	}
}
