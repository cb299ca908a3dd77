/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An RNIC without a network, for the tests of the kernel ABI. It has ids and channels, and obeys a
 * test through fake_rnic.h.
 */
#define _GNU_SOURCE
#include "fake_rnic.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define EVENTS 16
#define CHANNELS 64
#define IDS 256

struct event {
	size_t len;
	char bytes[sizeof(struct rnic_cm_event)];
};

struct rnic_channel {
	bool used;
	int write_fd;
	dev_t dev;
	ino_t ino;
	unsigned int head, count;
	struct event events[EVENTS];
};

struct id {
	bool used, bound;
	uint64_t uid;
	uint32_t reported;
	struct rnic_channel *chan;
	struct sockaddr_storage src, dst;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rnic_channel channels[CHANNELS];
static struct id ids[IDS];
static void (*opened_hook)(int fd, struct rnic_channel *chan);
extern struct fake_control fake_control;

static int create_locked(struct rnic_channel **out, int *fd)
{
	struct stat st;
	int fds[2];

	for (int i = 0; i < CHANNELS; i++) {
		struct rnic_channel *chan = &channels[i];

		if (chan->used)
			continue;
		if (pipe2(fds, O_CLOEXEC))
			return -errno;
		memset(chan, 0, sizeof(*chan));
		chan->used = true;
		chan->write_fd = fds[1];
		fstat(fds[0], &st);
		chan->dev = st.st_dev;
		chan->ino = st.st_ino;
		fake_control.channels++;
		*out = chan;
		*fd = fds[0];
		return 0;
	}
	return -ENFILE;
}

static int channel_create(struct rnic_channel **out, int *fd)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = create_locked(out, fd);
	pthread_mutex_unlock(&lock);
	return ret;
}

static void post_locked(struct rnic_channel *chan, const void *event, size_t len)
{
	struct event *ev = &chan->events[(chan->head + chan->count) % EVENTS];

	if (chan->count == EVENTS)
		abort();
	ev->len = len;
	memcpy(ev->bytes, event, len);
	if (!chan->count++ && write(chan->write_fd, "", 1) != 1)
		abort();
}

static struct rnic_channel *by_fd(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	for (int i = 0; i < CHANNELS; i++)
		if (channels[i].used && channels[i].ino == st.st_ino &&
		    channels[i].dev == st.st_dev)
			return &channels[i];
	return NULL;
}

/*
 * The application has the reading end of the pipe, so the fake opens it through /proc to read the
 * byte.
 */
static ssize_t channel_read(struct rnic_channel *chan, void *buf, size_t len)
{
	struct event *ev;
	char path[64], byte;
	ssize_t n = -EAGAIN;
	int fd;

	pthread_mutex_lock(&lock);
	ev = &chan->events[chan->head];
	if (chan->count && len < ev->len) {
		n = -EINVAL;
	} else if (chan->count) {
		memcpy(buf, ev->bytes, ev->len);
		n = (ssize_t)ev->len;
		chan->head = (chan->head + 1) % EVENTS;
		if (!--chan->count) {
			snprintf(path, sizeof(path), "/proc/self/fd/%d", chan->write_fd);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0 || read(fd, &byte, 1) != 1)
				abort();
			close(fd);
		}
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static void channel_release(struct rnic_channel *chan)
{
	pthread_mutex_lock(&lock);
	if (!chan->used)
		abort();
	chan->used = false;
	close(chan->write_fd);
	fake_control.channels--;
	pthread_mutex_unlock(&lock);
}

static void control_post(int fd, const void *event, size_t len)
{
	pthread_mutex_lock(&lock);
	post_locked(by_fd(fd), event, len);
	pthread_mutex_unlock(&lock);
}

static int control_open_async(void)
{
	struct rnic_channel *chan;
	int fd;

	if (channel_create(&chan, &fd))
		return -1;
	opened_hook(fd, chan);
	return fd;
}

static void set_fd_hooks(void (*opened)(int fd, struct rnic_channel *chan))
{
	opened_hook = opened;
	errno = EXFULL; /* loading libraries changes errno, as do the two calls below */
}

static int own_fd(unsigned int first, unsigned int last)
{
	int fd = fake_control.own_fd;

	return fd > 0 && (unsigned int)fd >= first && (unsigned int)fd <= last ? fd : -1;
}

static int guard(void)
{
	errno = EXFULL;
	return 0;
}

/* Copies with the kernel's protection against bad addresses, which suffices for these programs. */
static int copy(void *dst, const void *src, size_t len)
{
	int fds[2], ret = -EFAULT;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds))
		abort();
	if (send(fds[0], src, len, MSG_DONTWAIT) == (ssize_t)len &&
	    recv(fds[1], dst, len, MSG_DONTWAIT) == (ssize_t)len)
		ret = 0;
	close(fds[0]);
	close(fds[1]);
	return ret;
}

static uint32_t forks(void)
{
	return fake_control.forks;
}

static int node_type(void)
{
	return 4;
}

static uint64_t node_guid(void)
{
	static const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t guid;

	memcpy(&guid, bytes, sizeof(guid));
	errno = EXFULL;
	return guid;
}

static int query_gid(unsigned int index, uint8_t gid[16], unsigned int *ifindex)
{
	static const uint8_t loopback[16] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1
	};

	memset(gid, 0, 16);
	*ifindex = 0;
	if (index && index != RNIC_GIDS - 1) /* only the first and the last slot have a GID */
		return -ENODATA;
	memcpy(gid, loopback, sizeof(loopback));
	*ifindex = if_nametoindex("lo");
	return 0;
}

static int query_port(struct rnic_port *port)
{
	*port = (struct rnic_port){ .active = true, .width = 2, .speed = 1 };
	errno = EXFULL;
	return 0;
}

static int query_counter(const char *name, uint64_t *value)
{
	*value = 12345678901ull;
	return strcmp(name, "port_xmit_data") ? -ENOENT : 0;
}

/* Handles are far apart, like the RNIC's, which have a generation in their upper bits. */
static uint32_t handle_of(uint32_t index)
{
	return (index + 1) << 16;
}

static struct id *id_of(uint32_t handle)
{
	uint32_t index = (handle >> 16) - 1;

	return index < IDS && handle == handle_of(index) && ids[index].used ? &ids[index] : NULL;
}

static void post_cm(struct id *id, uint32_t event, uint32_t handle)
{
	struct rnic_cm_event ev = { .event = event, .uid = id->uid, .id = handle };

	ev.param.private_data_len = 3;
	memcpy(ev.param.private_data, "abc", 3);
	ev.param.qp_num = 77;
	post_locked(id->chan, &ev, sizeof(ev));
}

static int cm_create_id(struct rnic_channel *chan, uint64_t uid, uint16_t ps, uint8_t qp_type,
			uint32_t *out)
{
	for (uint32_t i = 0; i < IDS; i++) {
		if (ids[i].used)
			continue;
		ids[i] = (struct id){ .used = true, .uid = uid, .chan = chan };
		fake_control.ids++;
		*out = handle_of(i);
		return 0;
	}
	return -ENOMEM;
}

static int cm_destroy_id(uint32_t handle, uint32_t *reported)
{
	struct id *id = id_of(handle);

	if (!id)
		return -ENOENT;
	*reported = id->reported;
	id->used = false;
	fake_control.ids--;
	return 0;
}

static void cm_channel_release(struct rnic_channel *chan)
{
	uint32_t reported;

	for (uint32_t i = 0; i < IDS; i++)
		if (ids[i].used && ids[i].chan == chan)
			cm_destroy_id(handle_of(i), &reported);
	channel_release(chan);
}

static int cm_get_event(struct rnic_channel *chan, struct rnic_cm_event *ev)
{
	ssize_t n = channel_read(chan, ev, sizeof(*ev));
	void (*on_no_event)(void) = fake_control.on_no_event;

	if (n < 0 && on_no_event)
		on_no_event();
	if (n < 0)
		return (int)n;
	for (uint32_t i = 0; i < IDS; i++)
		if (ids[i].used && ids[i].uid == ev->uid)
			ids[i].reported++;
	return 0;
}

static int cm_migrate_id(uint32_t handle, struct rnic_channel *to, uint32_t *reported)
{
	struct id *id = id_of(handle);

	if (!id)
		return -ENOENT;
	id->chan = to;
	*reported = id->reported;
	return 0;
}

static void remember_addr(struct sockaddr_storage *to, const struct sockaddr *addr)
{
	memcpy(to, addr,
	       addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
					    sizeof(struct sockaddr_in6));
	fake_control.last_addr = *to;
}

static int cm_bind(uint32_t handle, const struct sockaddr *addr)
{
	struct id *id = id_of(handle);

	remember_addr(&id->src, addr);
	id->bound = true;
	return 0;
}

static int cm_resolve_addr(uint32_t handle, const struct sockaddr *src, const struct sockaddr *dst,
			   uint32_t timeout_ms)
{
	struct id *id = id_of(handle);

	fake_control.last_had_src = src != NULL;
	if (src)
		remember_addr(&id->src, src);
	remember_addr(&id->dst, dst);
	id->bound = true;
	pthread_mutex_lock(&lock);
	post_cm(id, 0, handle);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Returns 0, or -EINVAL if the id has no device. */
static int check_bound(uint32_t handle)
{
	return id_of(handle)->bound ? 0 : -EINVAL;
}

static int cm_resolve_route(uint32_t handle, uint32_t timeout_ms)
{
	return check_bound(handle);
}

static int cm_query(uint32_t handle, struct rnic_addr_info *info)
{
	struct id *id = id_of(handle);

	if (!id)
		return -ENOENT;
	memset(info, 0, sizeof(*info));
	info->src = id->src;
	info->dst = id->dst;
	if (id->bound) {
		info->node_guid = node_guid();
		info->port_num = 1;
		memset(info->sgid, 0x51, 16);
		memset(info->dgid, 0xd1, 16);
	}
	return 0;
}

static int cm_connect(uint32_t handle, const struct rnic_conn_param *param)
{
	if (check_bound(handle))
		return -EINVAL;
	fake_control.last_param = *param;
	return 0;
}

static int cm_listen(uint32_t handle, int backlog)
{
	fake_control.last_backlog = backlog;
	return 0;
}

static int cm_accept(uint32_t handle, const struct rnic_conn_param *param, bool has_uid,
		     uint64_t uid)
{
	if (check_bound(handle))
		return -EINVAL;
	if (has_uid)
		id_of(handle)->uid = uid;
	fake_control.last_uid = uid;
	return 0;
}

static int cm_reject(uint32_t handle, uint8_t reason, const void *data, uint8_t len)
{
	if (check_bound(handle))
		return -EINVAL;
	fake_control.last_reason = reason;
	memcpy(fake_control.last_param.private_data, data, len);
	return 0;
}

static int cm_disconnect(uint32_t handle)
{
	return check_bound(handle);
}

static int cm_init_qp_attr(uint32_t handle, uint32_t state, struct rnic_qp_attr *attr)
{
	if (check_bound(handle))
		return -EINVAL;
	attr->mask = 1 | 1 << 3;
	attr->qp_access_flags = 7;
	attr->port_num = 1;
	attr->max_rd_atomic = 9;
	attr->ah = (struct rnic_ah){ .dgid = { 0xfd, [15] = 6 }, .sgid_index = 3, .dlid = 0x123 };
	attr->dest_qp_num = 0x445566;
	attr->rq_psn = 0x11;
	attr->sq_psn = 0x12;
	attr->path_mtu = 4;
	attr->min_rnr_timer = 13;
	attr->timeout = 14;
	attr->retry_cnt = 5;
	attr->rnr_retry = 6;
	return 0;
}

static int cm_set_option(uint32_t handle, int level, int name, const void *val, size_t len)
{
	if (level)
		return -ENOSYS;
	memcpy(fake_control.last_option, val,
	       len < sizeof(fake_control.last_option) ? len : sizeof(fake_control.last_option));
	fake_control.last_option_len = len;
	return 0;
}

static int cm_notify(uint32_t handle, uint32_t event)
{
	return 0;
}

static int cm_join_mcast(uint32_t id, const struct sockaddr *group, uint64_t uid, bool send_only,
			 uint32_t *handle)
{
	memset(&fake_control.last_addr, 0, sizeof(fake_control.last_addr));
	memcpy(&fake_control.last_addr, group,
	       group->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
					     sizeof(struct sockaddr_in6));
	fake_control.last_uid = uid;
	fake_control.last_send_only = send_only;
	*handle = FAKE_GROUP;
	fake_control.groups++;
	return 0;
}

static int cm_write_event(uint32_t handle, uint32_t event, int32_t status, uint64_t arg)
{
	struct id *id = id_of(handle);
	struct rnic_cm_event ev = {
		.event = event, .status = status, .uid = id->uid, .id = handle, .arg = arg
	};

	pthread_mutex_lock(&lock);
	post_locked(id->chan, &ev, sizeof(ev));
	pthread_mutex_unlock(&lock);
	return 0;
}

static int cm_leave_mcast(struct rnic_channel *chan, uint32_t handle, uint32_t *events_reported)
{
	if (handle != FAKE_GROUP || !fake_control.groups)
		return -ENOENT;
	fake_control.groups--;
	*events_reported = 3;
	return 0;
}

static uint32_t control_connect_request(uint32_t listener)
{
	struct id *id = id_of(listener);
	uint32_t handle;

	cm_create_id(id->chan, 0, 0, 0, &handle);
	id_of(handle)->bound = true;
	pthread_mutex_lock(&lock);
	post_cm(id, 4, handle);
	pthread_mutex_unlock(&lock);
	return handle;
}

static bool unmap_begin(uint64_t addr, uint64_t len)
{
	uint64_t end = addr + len < addr ? UINT64_MAX : addr + len;

	if (addr >= fake_control.region + fake_control.region_len || end <= fake_control.region)
		return false;
	fake_control.begun++;
	return true;
}

static void unmap_lose(uint64_t addr, uint64_t len)
{
	fake_control.lost = addr;
	fake_control.lost_len = len;
	fake_control.lost_unmapped = false;
}

static void unmap_lose_unmapped(uint64_t addr, uint64_t len)
{
	unmap_lose(addr, len);
	fake_control.lost_unmapped = true;
}

static void unmap_end(void)
{
	fake_control.ended++;
}

static __attribute__((destructor)) void unload(void)
{
	if (fake_control.on_unload)
		fake_control.on_unload();
}

static void control_claim(int sig, bool (*handler)(int, siginfo_t *, void *))
{
	int (*claim)(int, bool (*)(int, siginfo_t *, void *)) =
		dlsym(RTLD_DEFAULT, "sctpiw_sigchain_claim");

	if (!claim || claim(sig, handler))
		abort();
}

EXPORT struct fake_control fake_control = {
	.post = control_post,
	.connect_request = control_connect_request,
	.open_async = control_open_async,
	.claim = control_claim,
};

extern const struct sctpiw_rnic_api sctpiw_rnic_api;
EXPORT const struct sctpiw_rnic_api sctpiw_rnic_api = {
#ifdef FAKE_VERSION
	.version = FAKE_VERSION,
#else
	.version = SCTPIW_RNIC_API_VERSION,
#endif
	.size = sizeof(struct sctpiw_rnic_api),
	.comp_channel_create = channel_create,
	.channel_read = channel_read,
	.channel_release = channel_release,
	.channel_by_fd = by_fd,
	.set_fd_hooks = set_fd_hooks,
	.own_fd = own_fd,
	.guard = guard,
	.copy = copy,
	.unmap_begin = unmap_begin,
	.unmap_lose = unmap_lose,
	.unmap_lose_unmapped = unmap_lose_unmapped,
	.unmap_end = unmap_end,
	.node_guid = node_guid,
	.forks = forks,
	.node_type = node_type,
	.query_gid = query_gid,
	.query_port = query_port,
	.query_counter = query_counter,
	.cm_channel_create = channel_create,
	.cm_channel_release = cm_channel_release,
	.cm_get_event = cm_get_event,
	.cm_create_id = cm_create_id,
	.cm_destroy_id = cm_destroy_id,
	.cm_migrate_id = cm_migrate_id,
	.cm_bind = cm_bind,
	.cm_resolve_addr = cm_resolve_addr,
	.cm_resolve_route = cm_resolve_route,
	.cm_query = cm_query,
	.cm_connect = cm_connect,
	.cm_listen = cm_listen,
	.cm_accept = cm_accept,
	.cm_reject = cm_reject,
	.cm_disconnect = cm_disconnect,
	.cm_init_qp_attr = cm_init_qp_attr,
	.cm_set_option = cm_set_option,
	.cm_notify = cm_notify,
	.cm_join_mcast = cm_join_mcast,
	.cm_leave_mcast = cm_leave_mcast,
	.cm_write_event = cm_write_event,
};
