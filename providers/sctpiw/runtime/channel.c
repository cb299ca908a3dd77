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
	struct list_node node; /* in the table; table_lock */
	_Atomic unsigned int refs;
	unsigned int generation; /* of the process that made the channel */
	unsigned int turn; /* channel_turn(), plus 1; 0: none yet. Needs the locks of all shards */
	/* Of the pipe. They identify each of its descriptors. */
	dev_t dev;
	ino_t ino;

	pthread_mutex_t lock; /* guards the fields below, and reported and unread of the sources */
	struct list_node events;
	int read_fd; /* a duplicate: the application may close its own descriptor at any time */
	int write_fd;
	unsigned int signals; /* bytes written; the application may have read some itself */
	bool each;     /* each event writes a byte, for readers that wait in epoll for edges */
	bool released; /* the application has closed its descriptor */
};

/* Maximum bytes in one pipe: enough edges for waiting events, and far from a full pipe. */
#define SIGNALS_MAX 1024

/* All channels that are not released. Do not take the lock while holding a channel's lock. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list_node table = { &table, &table };
static _Atomic unsigned int generation; /* forks between the first process and this one */
static void (*_Atomic fd_hook)(int fd, struct rnic_channel *chan);

bool channel_is_foreign(const struct rnic_channel *chan)
{
	return chan->generation != atomic_load_explicit(&generation, memory_order_relaxed);
}

/*
 * Returns false, with nothing locked, if the channel is foreign. In the child of a fork(), another
 * thread of the parent may have left the channel's lock in any state.
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
	static unsigned int last; /* locks of all shards */

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
	/* Readers of completions read until EAGAIN, so that one edge is enough. */
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
	 * Each source of an event has a reference. So the queue is empty, unless the channel is
	 * foreign.
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
 * Writes a byte into the pipe, or reads all, to keep the pipe readable only while the queue is not
 * empty.
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
		 * Gives an edge for each event to a reader that waits in epoll, and reads one event
		 * per edge.
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
	/* Both posting and migrating need the shard's lock, so that no event overtakes others. */
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

		/* The parent uses the pipe as well: close only the descriptors of this process. */
		sys_close(chan->read_fd);
		sys_close(chan->write_fd);
	}
}
