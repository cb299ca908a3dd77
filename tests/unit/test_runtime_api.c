/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: cm_bind cm_resolve_addr cm_resolve_route cm_query cm_connect cm_listen cm_accept */
/* WRAP: cm_reject cm_disconnect cm_init_qp_attr cm_set_option cm_notify */
/* WRAP: port_node_guid port_gid port_query */
/* VALGRIND: yes */
/*
 * The table of rnic_api.h, on the RNIC of the test's process: lookup of ids, the lock around conn/,
 * and the end of ids and their events.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/port.h"
#include "runtime/channel.h"
#include "runtime/rnic.h"

extern const struct sctpiw_rnic_api sctpiw_rnic_api;
static const struct sctpiw_rnic_api *const api = &sctpiw_rnic_api;

#define NOBODY 0x7fffffffu /* a handle of no id */
#define GUID 0x1122334455667788u

static struct shard *shard(void)
{
	return &rnic_get()->shard;
}

/* ---- the functions of conn/ ---- */

static const char *called; /* called since the last check; NULL: none */
static const struct cm_id *called_id;
static int result; /* of all functions */

/* The arguments of the test's calls. */
static const struct sockaddr src = { .sa_family = AF_INET }, dst = { .sa_family = AF_INET6 };
static const struct rnic_conn_param param = { .qp_num = 5 };
static struct rnic_addr_info info;
static struct rnic_qp_attr attr;

/* arguments: true if they are those of the test. The test checks `called` once the lock is free. */
static int call(const struct cm_id *id, const char *what, bool arguments)
{
	shard_assert_locked(shard());
	called = arguments && !called ? what : "something else";
	called_id = id;
	return result;
}

int __wrap_cm_bind(struct cm_id *id, const struct sockaddr *addr);
int __wrap_cm_bind(struct cm_id *id, const struct sockaddr *addr)
{
	return call(id, "bind", addr == &src);
}

int __wrap_cm_resolve_addr(struct cm_id *id, const struct sockaddr *from,
			   const struct sockaddr *to);
int __wrap_cm_resolve_addr(struct cm_id *id, const struct sockaddr *from, const struct sockaddr *to)
{
	return call(id, "resolve_addr", from == &src && to == &dst);
}

int __wrap_cm_resolve_route(struct cm_id *id);
int __wrap_cm_resolve_route(struct cm_id *id)
{
	return call(id, "resolve_route", true);
}

static uint8_t port_num; /* the result of the query */

int __wrap_cm_query(struct cm_id *id, struct rnic_addr_info *out);
int __wrap_cm_query(struct cm_id *id, struct rnic_addr_info *out)
{
	out->port_num = port_num;
	return call(id, "query", out == &info);
}

int __wrap_cm_connect(struct cm_id *id, const struct rnic_conn_param *p);
int __wrap_cm_connect(struct cm_id *id, const struct rnic_conn_param *p)
{
	return call(id, "connect", p == &param);
}

int __wrap_cm_listen(struct cm_id *id, int backlog);
int __wrap_cm_listen(struct cm_id *id, int backlog)
{
	return call(id, "listen", backlog == 11);
}

int __wrap_cm_accept(struct cm_id *id, const struct rnic_conn_param *p, bool has_uid, uint64_t uid);
int __wrap_cm_accept(struct cm_id *id, const struct rnic_conn_param *p, bool has_uid, uint64_t uid)
{
	return call(id, "accept", p == &param && has_uid && uid == 12);
}

int __wrap_cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len);
int __wrap_cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len)
{
	return call(id, "reject", reason == 35 && private_data == param.private_data && len == 13);
}

int __wrap_cm_disconnect(struct cm_id *id);
int __wrap_cm_disconnect(struct cm_id *id)
{
	return call(id, "disconnect", true);
}

int __wrap_cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *out);
int __wrap_cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *out)
{
	return call(id, "init_qp_attr", qp_state == 14 && out == &attr);
}

int __wrap_cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len);
int __wrap_cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len)
{
	return call(id, "set_option", level == 15 && name == 16 && val == &param && len == 17);
}

int __wrap_cm_notify(const struct cm_id *id);
int __wrap_cm_notify(const struct cm_id *id)
{
	return call(id, "notify", true);
}

/* ---- the functions of net/ ---- */

uint64_t __wrap_port_node_guid(void);
uint64_t __wrap_port_node_guid(void)
{
	return GUID;
}

int __wrap_port_gid(unsigned int index, struct port_gid *gid);
int __wrap_port_gid(unsigned int index, struct port_gid *gid)
{
	*gid = (struct port_gid){ 0 };
	if (index != 3)
		return -ENODATA;
	gid->raw[0] = 0xfe;
	gid->raw[15] = 3;
	gid->ifindex = 7;
	return 0;
}

void __wrap_port_query(struct port_attr *out);
void __wrap_port_query(struct port_attr *out)
{
	*out = (struct port_attr){ .active = true, .width = 2, .speed = 32 };
}

/* ---- fixtures ---- */

static int setup(void **state)
{
	called = NULL;
	result = 0;
	port_num = 1;
	return 0;
}

/*
 * Checks that the lock is free. This thread releases the lock afterwards, so that later tests do
 * not hang.
 */
static void expect_unlocked(void)
{
	bool is_free = shard_try_enter(shard());

	shard_leave(shard());
	assert_true(is_free);
}

static struct rnic_channel *new_channel(int *fd)
{
	struct rnic_channel *chan;

	assert_int_equal(api->cm_channel_create(&chan, fd), 0);
	return chan;
}

static void close_channel(struct rnic_channel *chan, int fd)
{
	close(fd);
	api->cm_channel_release(chan);
	expect_unlocked();
}

static uint32_t new_id(struct rnic_channel *chan, uint64_t uid)
{
	uint32_t handle = NOBODY;

	assert_int_equal(api->cm_create_id(chan, uid, CM_PS_TCP, CM_QPT_RC, &handle), 0);
	expect_unlocked();
	return handle;
}

static struct cm_id *id_of(uint32_t handle)
{
	return cm_id_get(&shard()->conn, handle);
}

static void post(uint32_t handle, enum cm_event_type type)
{
	shard_lock(shard());
	cm_post(id_of(handle), type, 0);
	shard_unlock(shard());
}

/* Adds a request to the listener. Returns its new id. */
static struct cm_id *request(uint32_t listener)
{
	const struct iw_session_param p = { 0 };
	struct cm_id *l = id_of(listener), *child;

	shard_lock(shard());
	child = cm_id_new(&shard()->conn, l->source.chan, l->uid);
	assert_non_null(child);
	child->request.listener = l;
	l->listening.pending++;
	list_add_tail(&l->listening.requests, &child->request.node);
	assert_int_equal(cm_post_request(l, child, &p), 0);
	shard_unlock(shard());
	return child;
}

static struct rnic_cm_event expect_event(struct rnic_channel *chan, enum cm_event_type type)
{
	struct rnic_cm_event ev;

	assert_int_equal(api->cm_get_event(chan, &ev), 0);
	assert_int_equal(ev.event, type);
	expect_unlocked();
	return ev;
}

static void expect_no_event(struct rnic_channel *chan)
{
	struct rnic_cm_event ev;

	assert_int_equal(api->cm_get_event(chan, &ev), -EAGAIN);
	expect_unlocked();
}

static void destroy(uint32_t handle, uint32_t reported)
{
	uint32_t events = 99;

	assert_int_equal(api->cm_destroy_id(handle, &events), 0);
	assert_int_equal(events, reported);
	expect_unlocked();
}

/* ---- without an RNIC ---- */

/* The settings are wrong. This test is the first, since an RNIC stays once created. */
static void test_no_rnic(void **state)
{
	struct rnic_channel *chan;
	struct rnic_cm_event ev;
	struct rnic_port port;
	uint8_t raw[16];
	uint64_t value;
	uint32_t n;
	int fd;

	setenv("SCTPIW_LLP", "pigeons", 1);
	assert_int_equal(api->node_guid(), 0);
	assert_int_equal(api->node_type(), RNIC_NODE_RNIC);
	assert_int_equal(api->query_gid(3, raw, &n), -EINVAL);
	assert_int_equal(api->query_port(&port), -EINVAL);
	assert_int_equal(api->query_counter("sessions", &value), -EINVAL);
	chan = new_channel(&fd);
	assert_int_equal(api->cm_create_id(chan, 0, CM_PS_TCP, CM_QPT_RC, &n), -EINVAL);
	assert_int_equal(api->cm_get_event(chan, &ev), -EINVAL);
	assert_int_equal(api->cm_bind(1, &src), -ENOENT);
	assert_int_equal(api->cm_destroy_id(1, &n), -ENOENT);
	close(fd);
	api->cm_channel_release(chan);
	unsetenv("SCTPIW_LLP");
}

/* ---- the device ---- */

static void test_device(void **state)
{
	struct rnic_port port = { 0 };
	unsigned int ifindex;
	uint8_t raw[16];
	uint64_t value = 5;

	assert_int_equal(api->version, SCTPIW_RNIC_API_VERSION);
	assert_int_equal(api->size, sizeof(*api));
	assert_int_equal(api->node_guid(), GUID);
	assert_int_equal(api->node_type(), RNIC_NODE_CA);
	rnic_get()->config.personality = CONFIG_IWARP;
	assert_int_equal(api->node_type(), RNIC_NODE_RNIC);
	rnic_get()->config.node_ca = true;
	assert_int_equal(api->node_type(), RNIC_NODE_CA);
	rnic_get()->config.node_ca = false;
	rnic_get()->config.personality = CONFIG_ROCE;
	assert_int_equal(api->node_type(), RNIC_NODE_CA);
	rnic_get()->config.personality = CONFIG_IWARP;
	assert_int_equal(api->query_gid(3, raw, &ifindex), 0);
	assert_memory_equal(raw, "\xfe\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3", 16);
	assert_int_equal(ifindex, 7);
	/* An empty slot returns zeros. */
	assert_int_equal(api->query_gid(4, raw, &ifindex), -ENODATA);
	assert_memory_equal(raw, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(ifindex, 0);
	assert_int_equal(api->query_port(&port), 0);
	assert_true(port.active);
	assert_int_equal(port.width, 2);
	assert_int_equal(port.speed, 32);
	assert_int_equal(api->query_counter("sessions", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(api->query_counter("pigeons", &value), -ENOENT);
	expect_unlocked();
}

/* ---- ids ---- */

/* RDMA CM has port spaces of unconnected types. Ids of these types exist, but cannot connect. */
static void test_port_spaces(void **state)
{
	static const struct {
		uint16_t ps;
		uint8_t qp_type;
		int want;
		bool connected;
	} cases[] = {
		{ CM_PS_TCP, CM_QPT_RC, 0, true }, { CM_PS_TCP, CM_QPT_UD, 0, true },
		{ CM_PS_UDP, CM_QPT_UD, 0 },	   { CM_PS_IPOIB, CM_QPT_UD, 0 },
		{ CM_PS_IB, CM_QPT_RC, 0, true },  { CM_PS_IB, CM_QPT_UD, 0 },
		{ 0x107, CM_QPT_RC, -EINVAL },
	};
	struct rnic_channel *chan;
	int fd;

	chan = new_channel(&fd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t handle = NOBODY;

		assert_int_equal(api->cm_create_id(chan, 40 + i, cases[i].ps, cases[i].qp_type,
						   &handle),
				 cases[i].want);
		expect_unlocked();
		if (cases[i].want) {
			assert_int_equal(handle, NOBODY);
			continue;
		}
		assert_int_equal(id_of(handle)->uid, 40 + i);
		assert_ptr_equal(id_of(handle)->source.chan, chan);
		assert_int_equal(id_of(handle)->connected_type, cases[i].connected);
		destroy(handle, 0);
		assert_null(id_of(handle));
	}
	close_channel(chan, fd);
}

static const char *const calls[] = {
	"bind",	  "resolve_addr", "resolve_route", "query",	   "connect",	 "listen",
	"accept", "reject",	  "disconnect",	   "init_qp_attr", "set_option", "notify",
};

/* Makes the call calls[i]. */
static int make_call(size_t i, uint32_t handle)
{
	switch (i) {
	case 0:
		return api->cm_bind(handle, &src);
	case 1:
		return api->cm_resolve_addr(handle, &src, &dst, 1000);
	case 2:
		return api->cm_resolve_route(handle, 1000);
	case 3:
		return api->cm_query(handle, &info);
	case 4:
		return api->cm_connect(handle, &param);
	case 5:
		return api->cm_listen(handle, 11);
	case 6:
		return api->cm_accept(handle, &param, true, 12);
	case 7:
		return api->cm_reject(handle, 35, param.private_data, 13);
	case 8:
		return api->cm_disconnect(handle);
	case 9:
		return api->cm_init_qp_attr(handle, 14, &attr);
	case 10:
		return api->cm_set_option(handle, 15, 16, &param, 17);
	default:
		return api->cm_notify(handle, 18);
	}
}

/* Each call reaches its function with the id, under the lock, and returns its result. */
static void test_calls(void **state)
{
	struct rnic_channel *chan;
	uint32_t other, handle;
	int fd;

	chan = new_channel(&fd);
	other = new_id(chan, 1);
	handle = new_id(chan, 2);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		result = i % 2 ? 0 : -EADDRINUSE;
		called = NULL;
		assert_int_equal(make_call(i, handle), result);
		assert_string_equal(called, calls[i]);
		assert_ptr_equal(called_id, id_of(handle));
		expect_unlocked();
		called = NULL;
		assert_int_equal(make_call(i, NOBODY), -ENOENT);
		assert_null(called);
		expect_unlocked();
	}
	destroy(other, 0);
	destroy(handle, 0);
	assert_int_equal(make_call(0, handle), -ENOENT);
	close_channel(chan, fd);
}

/* Returns the GUID from a query for which conn/ returns these values. */
static uint64_t queried(uint32_t handle, int ret, uint8_t port)
{
	info.node_guid = 0;
	result = ret;
	port_num = port;
	called = NULL;
	assert_int_equal(api->cm_query(handle, &info), ret);
	expect_unlocked();
	return info.node_guid;
}

/* The GUID is the device's if the id is bound. */
static void test_query(void **state)
{
	struct rnic_channel *chan;
	uint32_t handle;
	int fd;

	chan = new_channel(&fd);
	handle = new_id(chan, 1);
	assert_int_equal(queried(handle, -EINVAL, 1), 0);
	assert_int_equal(queried(handle, 0, 0), 0);
	assert_int_equal(queried(handle, 0, 1), GUID);
	close_channel(chan, fd);
}

/* ---- events ---- */

static void test_destroy(void **state)
{
	uint32_t handle, other, events;
	struct rnic_channel *chan;
	int fd;

	chan = new_channel(&fd);
	handle = new_id(chan, 1);
	other = new_id(chan, 2);
	post(handle, CM_EVENT_ADDR_RESOLVED);
	post(other, CM_EVENT_ADDR_ERROR);
	assert_int_equal(expect_event(chan, CM_EVENT_ADDR_RESOLVED).uid, 1);
	post(handle, CM_EVENT_ROUTE_RESOLVED);
	/* One event was read; the other event is removed with the id. */
	destroy(handle, 1);
	assert_int_equal(api->cm_destroy_id(handle, &events), -ENOENT);
	expect_unlocked();
	assert_int_equal(expect_event(chan, CM_EVENT_ADDR_ERROR).uid, 2);
	expect_no_event(chan);
	close_channel(chan, fd);
}

/*
 * Once its event was read, the id of a request belongs to the application, and has left the
 * backlog.
 */
static void test_request(void **state)
{
	uint32_t listener;
	struct rnic_channel *chan;
	struct cm_id *first, *second;
	int fd;

	chan = new_channel(&fd);
	listener = new_id(chan, 1);
	first = request(listener);
	second = request(listener);
	post(listener, CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(id_of(listener)->listening.pending, 2);
	assert_int_equal(expect_event(chan, CM_EVENT_CONNECT_REQUEST).id, first->handle);
	assert_int_equal(id_of(listener)->listening.pending, 1);
	assert_null(first->request.listener);
	assert_ptr_equal(second->request.listener, id_of(listener));
	assert_int_equal(expect_event(chan, CM_EVENT_CONNECT_REQUEST).id, second->handle);
	assert_int_equal(id_of(listener)->listening.pending, 0);
	expect_event(chan, CM_EVENT_ADDR_RESOLVED);
	expect_no_event(chan);
	close_channel(chan, fd);
}

/* A listener moves with its unread requests. The ids of read requests stay. */
static void test_migrate(void **state)
{
	struct rnic_channel *from, *to;
	struct cm_id *taken, *waiting;
	uint32_t listener, other, events;
	int from_fd, to_fd;

	from = new_channel(&from_fd);
	to = new_channel(&to_fd);
	listener = new_id(from, 1);
	other = new_id(from, 2);
	taken = request(listener);
	expect_event(from, CM_EVENT_CONNECT_REQUEST);
	waiting = request(listener);
	post(other, CM_EVENT_ADDR_ERROR);
	assert_int_equal(api->cm_migrate_id(listener, to, &events), 0);
	expect_unlocked();
	assert_int_equal(events, 1);
	assert_ptr_equal(id_of(listener)->source.chan, to);
	assert_ptr_equal(waiting->source.chan, to);
	assert_ptr_equal(taken->source.chan, from);
	assert_int_equal(expect_event(to, CM_EVENT_CONNECT_REQUEST).id, waiting->handle);
	expect_no_event(to);
	assert_int_equal(expect_event(from, CM_EVENT_ADDR_ERROR).uid, 2);
	expect_no_event(from);
	assert_int_equal(api->cm_migrate_id(NOBODY, to, &events), -ENOENT);
	expect_unlocked();
	close_channel(from, from_fd);
	close_channel(to, to_fd);
}

/* ---- channels ---- */

/* Releasing a channel frees its remaining ids. */
static void test_release(void **state)
{
	struct rnic_channel *a, *b;
	uint32_t on_a[2], on_b;
	int a_fd, b_fd;

	a = new_channel(&a_fd);
	b = new_channel(&b_fd);
	on_a[0] = new_id(a, 1);
	on_b = new_id(b, 2);
	on_a[1] = new_id(a, 3);
	post(on_a[0], CM_EVENT_ADDR_RESOLVED);
	post(on_b, CM_EVENT_ADDR_RESOLVED);
	close_channel(a, a_fd);
	assert_null(id_of(on_a[0]));
	assert_null(id_of(on_a[1]));
	assert_non_null(id_of(on_b));
	assert_int_equal(expect_event(b, CM_EVENT_ADDR_RESOLVED).uid, 2);
	close_channel(b, b_fd);
}

/*
 * The descriptor holds the channel. channel_by_fd() takes no reference; valgrind would detect a
 * reference.
 */
static void test_by_fd(void **state)
{
	struct rnic_channel *chan;
	int fd;

	assert_int_equal(api->comp_channel_create(&chan, &fd), 0);
	assert_ptr_equal(api->channel_by_fd(fd), chan);
	assert_null(api->channel_by_fd(STDIN_FILENO));
	close(fd);
	api->channel_release(chan);
}

/* A child of fork() cannot use its parent's channels. */
static void test_foreign(void **state)
{
	uint32_t handle = NOBODY, events;
	struct rnic_channel *foreign, *chan;
	int foreign_fd, fd;

	foreign = new_channel(&foreign_fd);
	channel_forget_all();
	chan = new_channel(&fd);
	assert_int_equal(api->cm_create_id(foreign, 1, CM_PS_TCP, CM_QPT_RC, &handle), -EIO);
	assert_int_equal(handle, NOBODY);
	handle = new_id(chan, 1);
	assert_int_equal(api->cm_migrate_id(handle, foreign, &events), -EIO);
	assert_ptr_equal(id_of(handle)->source.chan, chan);
	expect_unlocked();
	close_channel(chan, fd);
	close_channel(foreign, foreign_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_no_rnic, setup),
		cmocka_unit_test_setup(test_device, setup),
		cmocka_unit_test_setup(test_port_spaces, setup),
		cmocka_unit_test_setup(test_calls, setup),
		cmocka_unit_test_setup(test_query, setup),
		cmocka_unit_test_setup(test_destroy, setup),
		cmocka_unit_test_setup(test_request, setup),
		cmocka_unit_test_setup(test_migrate, setup),
		cmocka_unit_test_setup(test_release, setup),
		cmocka_unit_test_setup(test_by_fd, setup),
		cmocka_unit_test_setup(test_foreign, setup),
	};

	/* Only default settings. */
	setenv("SCTPIW_CONFIG", "/dev/null", 1);
	unsetenv("SCTPIW_LLP");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
