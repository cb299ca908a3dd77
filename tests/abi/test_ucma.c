/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The commands of /dev/infiniband/rdma_cm: their effects and errors. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>

#include "check.h"
#include "fake_rnic.h"

#define CONNECT_REQUEST 4

static struct fake_control *ctl;
static int cm;

/* Writes a command after its header. Returns the result of write(). */
static ssize_t command_len(int fd, uint32_t cmd, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		char in[600];
	} req = { .hdr = { .cmd = cmd, .in = (uint16_t)in_len, .out = (uint16_t)out_len } };
	ssize_t n;

	memcpy(req.in, in, in_len);
	n = write(fd, &req, sizeof(req.hdr) + in_len);
	if (n < 0)
		return -1;
	check(n == (ssize_t)(sizeof(req.hdr) + in_len));
	return 0;
}

#define command(fd, name, in, out_len)                                                             \
	command_len(fd, RDMA_USER_CM_CMD_##name, &(in), sizeof(in), out_len)

static uint32_t create_id(int fd, uint64_t uid)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct rdma_ucm_create_id in = { .uid = uid,
					 .response = (uintptr_t)&resp,
					 .ps = RDMA_PS_TCP };

	check(!command(fd, CREATE_ID, in, sizeof(resp)));
	check(resp.id);
	return resp.id;
}

static uint32_t destroy_id(int fd, uint32_t id)
{
	struct rdma_ucm_destroy_id_resp resp = { .events_reported = 999 };
	struct rdma_ucm_destroy_id in = { .response = (uintptr_t)&resp, .id = id };

	check(!command(fd, DESTROY_ID, in, sizeof(resp)));
	return resp.events_reported;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void bind_id(int fd, uint32_t id)
{
	struct sockaddr_in addr = loopback(7471);
	struct rdma_ucm_bind_ip in = { .id = id };

	memcpy(&in.addr, &addr, sizeof(addr));
	check(!command(fd, BIND_IP, in, 0));
	check(!memcmp(&ctl->last_addr, &addr, sizeof(addr)));
}

/*
 * The commands of <rdma/rdma_user_cm.h> of Linux 6.17, by number. No kernel has GET_OPTION
 * (ENOSYS). RESOLVE_IB_SERVICE fails as without a subnet administrator (EOPNOTSUPP).
 */
static const char *const commands[] = {
	"CREATE_ID",	  "DESTROY_ID",	  "BIND_IP",	"RESOLVE_IP",
	"RESOLVE_ROUTE",  "QUERY_ROUTE",  "CONNECT",	"LISTEN",
	"ACCEPT",	  "REJECT",	  "DISCONNECT", "INIT_QP_ATTR",
	"GET_EVENT",	  "GET_OPTION",	  "SET_OPTION", "NOTIFY",
	"JOIN_IP_MCAST",  "LEAVE_MCAST",  "MIGRATE_ID", "QUERY",
	"BIND",		  "RESOLVE_ADDR", "JOIN_MCAST", "RESOLVE_IB_SERVICE",
	"WRITE_CM_EVENT",
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
_Static_assert(COMMANDS == 25, "one for each number");

static void test_headers(void)
{
	struct rdma_ucm_create_id in = { .ps = RDMA_PS_TCP };
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_cmd_hdr hdr = { .cmd = RDMA_USER_CM_CMD_CREATE_ID, .in = 100 };
	char many[16] = { 0 };

	check_fails(write(cm, &hdr, 4), EINVAL);
	check_fails(write(cm, &hdr, sizeof(hdr)), EINVAL); /* too little was written */
	hdr.in = 0;
	for (uint32_t cmd = 0; cmd < COMMANDS; cmd++)
		check_fails(command_len(cm, cmd, many, 3, 4096),
			    strcmp(commands[cmd], "GET_OPTION") ? EINVAL : ENOSYS);
	hdr.cmd = COMMANDS;
	check_fails(write(cm, &hdr, sizeof(hdr)), EINVAL);
	hdr.cmd = UINT32_MAX;
	check_fails(write(cm, &hdr, sizeof(hdr)), EINVAL);

	in.response = (uintptr_t)&resp;
	check_fails(command(cm, CREATE_ID, in, sizeof(resp) - 1), ENOSPC);
	in.ps = 12345;
	check_fails(command(cm, CREATE_ID, in, sizeof(resp)), EINVAL);
	in.ps = RDMA_PS_TCP;
	in.response = 8;
	check_fails(command(cm, CREATE_ID, in, sizeof(resp)), EFAULT);
	check(ctl->ids == 0);
	check_fails(read(cm, many, sizeof(many)), EINVAL);
}

/*
 * Tries every command on an id with an id that does not exist, and with an id of another channel.
 */
static void test_bad_ids(void)
{
	int other = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	struct rdma_ucm_bind_ip bind_ip = { .addr.sin6_family = AF_INET6 };
	struct rdma_ucm_resolve_ip resolve_ip = { .dst_addr.sin6_family = AF_INET6 };
	struct rdma_ucm_connect connect = { .conn_param.valid = 1 };
	struct rdma_ucm_bind bind = { .addr_size = sizeof(struct sockaddr_in6) };
	struct rdma_ucm_resolve_addr resolve_addr = { .dst_size = sizeof(struct sockaddr_in6) };
	uint32_t id = create_id(other, 1), ids[] = { 0, UINT32_MAX, id + 1, id };
	char resp[1024];

	bind.addr.ss_family = AF_INET6;
	resolve_addr.dst_addr.ss_family = AF_INET6;
	for (int i = 0; i < 4; i++) {
		int err = i == 3 ? EINVAL : ENOENT;
		struct rdma_ucm_destroy_id destroy = { (uintptr_t)resp, ids[i], 0 };
		struct rdma_ucm_resolve_route route = { .id = ids[i] };
		struct rdma_ucm_query query = { (uintptr_t)resp, ids[i], 0 };
		struct rdma_ucm_listen listen = { .id = ids[i] };
		struct rdma_ucm_accept accept = { .id = ids[i] };
		struct rdma_ucm_reject reject = { .id = ids[i] };
		struct rdma_ucm_disconnect disconnect = { .id = ids[i] };
		struct rdma_ucm_init_qp_attr qp_attr = { (uintptr_t)resp, ids[i], 1 };
		struct rdma_ucm_set_option option = { .id = ids[i] };
		struct rdma_ucm_notify notify = { .id = ids[i] };
		struct rdma_ucm_join_ip_mcast join = { .id = ids[i], .addr.sin6_family = AF_INET6 };
		struct rdma_ucm_migrate_id migrate = { (uintptr_t)resp, ids[i], (uint32_t)cm };

		bind_ip.id = resolve_ip.id = connect.id = bind.id = resolve_addr.id = ids[i];
		check_fails(command(cm, DESTROY_ID, destroy, sizeof(resp)), err);
		check_fails(command(cm, BIND_IP, bind_ip, 0), err);
		check_fails(command(cm, RESOLVE_IP, resolve_ip, 0), err);
		check_fails(command(cm, RESOLVE_ROUTE, route, 0), err);
		check_fails(command(cm, QUERY_ROUTE, query, sizeof(resp)), err);
		check_fails(command(cm, CONNECT, connect, 0), err);
		check_fails(command(cm, LISTEN, listen, 0), err);
		check_fails(command(cm, ACCEPT, accept, 0), err);
		check_fails(command(cm, REJECT, reject, 0), err);
		check_fails(command(cm, DISCONNECT, disconnect, 0), err);
		check_fails(command(cm, INIT_QP_ATTR, qp_attr, sizeof(resp)), err);
		check_fails(command(cm, SET_OPTION, option, 0), err);
		check_fails(command(cm, NOTIFY, notify, 0), err);
		check_fails(command(cm, JOIN_IP_MCAST, join, sizeof(resp)), err);
		check_fails(command(cm, QUERY, query, sizeof(resp)), err);
		check_fails(command(cm, BIND, bind, 0), err);
		check_fails(command(cm, RESOLVE_ADDR, resolve_addr, 0), err);
		check_fails(command(cm, MIGRATE_ID, migrate, sizeof(resp)), err);
	}
	/* Closing a channel destroys its ids. */
	check(!close(other));
	check(ctl->ids == 0 && ctl->channels == 1);
	bind_ip.id = id;
	check_fails(command(cm, BIND_IP, bind_ip, 0), ENOENT);
}

static void test_addresses(void)
{
	struct sockaddr_in addr = loopback(1234);
	struct rdma_ucm_resolve_addr ra = { .dst_size = sizeof(addr) };
	struct rdma_ucm_resolve_ip ri = { 0 };
	struct rdma_ucm_bind bind = { .addr_size = 48 };
	uint32_t id = create_id(cm, 1);
	struct rdma_ucm_bind_ip bip = { .id = id };

	check_fails(command(cm, BIND_IP, bip, 0), EINVAL);
	/* librdmacm binds to an address of AF_IB to detect support, which is missing here. */
	bind.id = id;
	bind.addr.ss_family = 27;
	check_fails(command(cm, BIND, bind, 0), EAFNOSUPPORT);
	bind.addr_size = 47;
	check_fails(command(cm, BIND, bind, 0), EINVAL);
	bind.addr_size = sizeof(addr);
	memcpy(&bind.addr, &addr, sizeof(addr));
	bind.reserved = 1;
	check_fails(command(cm, BIND, bind, 0), EINVAL);
	bind.reserved = 0;
	check(!command(cm, BIND, bind, 0));

	ri.id = ra.id = id;
	check_fails(command(cm, RESOLVE_IP, ri, 0), EINVAL);
	memcpy(&ri.dst_addr, &addr, sizeof(addr));
	ri.src_addr.sin6_family = AF_UNIX;
	check_fails(command(cm, RESOLVE_IP, ri, 0), EINVAL);
	ri.src_addr.sin6_family = AF_UNSPEC;
	check(!command(cm, RESOLVE_IP, ri, 0) && !ctl->last_had_src);
	memcpy(&ra.dst_addr, &addr, sizeof(addr));
	ra.src_size = 7;
	check_fails(command(cm, RESOLVE_ADDR, ra, 0), EINVAL);
	ra.src_size = sizeof(addr);
	memcpy(&ra.src_addr, &addr, sizeof(addr));
	check(!command(cm, RESOLVE_ADDR, ra, 0) && ctl->last_had_src);
	destroy_id(cm, id);
}

static void test_queries(void)
{
	struct rdma_ucm_query_route_resp route = { 0 };
	struct rdma_ucm_query_addr_resp addr = { 0 };
	struct rdma_ucm_query_path_resp path = { .num_paths = 5 };
	uint32_t id = create_id(cm, 1);
	struct rdma_ucm_query in = { .id = id, .response = (uintptr_t)&route };
	struct rdma_ucm_disconnect unbound = { .id = id };

	check(!command(cm, QUERY_ROUTE, in, sizeof(route)) && !route.node_guid);
	check_fails(command(cm, DISCONNECT, unbound, 0), EINVAL);
	bind_id(cm, id);
	check(!command(cm, QUERY_ROUTE, in, sizeof(route)));
	check(route.node_guid && route.port_num == 1 && !route.num_paths);
	check(route.ibdev_index == UINT32_MAX && route.ib_route[0].sgid[5] == 0x51);
	check(((struct sockaddr_in *)&route.src_addr)->sin_port == htons(7471));
	check_fails(command(cm, QUERY_ROUTE, in, offsetof(__typeof__(route), ibdev_index) - 1),
		    ENOSPC);
	/* An older librdmacm has less room. No byte after it may be written. */
	memset(&route, 0x77, sizeof(route));
	check(!command(cm, QUERY_ROUTE, in, offsetof(__typeof__(route), ibdev_index)));
	check(route.port_num == 1 && route.ibdev_index == 0x77777777);

	in.option = RDMA_USER_CM_QUERY_ADDR;
	in.response = (uintptr_t)&addr;
	check(!command(cm, QUERY, in, sizeof(addr)));
	check(addr.node_guid == route.node_guid && addr.src_size == 16 && !addr.dst_size);
	in.option = RDMA_USER_CM_QUERY_GID;
	check(!command(cm, QUERY, in, sizeof(addr)));
	check(addr.src_addr.ss_family == 27 && addr.src_size == 48);
	check(((unsigned char *)&addr.src_addr)[8] == 0x51 &&
	      ((unsigned char *)&addr.dst_addr)[8] == 0xd1);
	in.option = RDMA_USER_CM_QUERY_PATH;
	in.response = (uintptr_t)&path;
	check(!command(cm, QUERY, in, sizeof(path)) && !path.num_paths);
	check_fails(command(cm, QUERY, in, sizeof(path) - 1), ENOSPC);
	in.option = 3; /* RDMA_USER_CM_QUERY_IB_SERVICE */
	check_fails(command(cm, QUERY, in, 8), ENODATA);
	check_fails(command(cm, QUERY, in, 7), ENOSPC);
	in.option = 4;
	check_fails(command(cm, QUERY, in, sizeof(path)), ENOSYS);
	in.option = 0;
	in.response = 1;
	check_fails(command(cm, QUERY, in, sizeof(addr)), EFAULT);
	destroy_id(cm, id);
}

static void test_options(void)
{
	uint32_t id = create_id(cm, 1);
	unsigned char tos = 0x20;
	struct rdma_ucm_set_option in = { .id = id, .optval = (uintptr_t)&tos, .optlen = 1 };
	struct rdma_ucm_init_qp_attr qa = { .id = id, .qp_state = 2 };
	struct ib_uverbs_qp_attr attr = { 0 };

	check(!command(cm, SET_OPTION, in, 0));
	check(ctl->last_option_len == 1 && ctl->last_option[0] == 0x20);
	in.optval = 16;
	check_fails(command(cm, SET_OPTION, in, 0), EFAULT);
	in.optlen = 1u << 31;
	check_fails(command(cm, SET_OPTION, in, 0), EINVAL);
	in.optlen = 0;
	in.level = 1;
	check_fails(command(cm, SET_OPTION, in, 0), ENOSYS);

	qa.response = (uintptr_t)&attr;
	check_fails(command(cm, INIT_QP_ATTR, qa, sizeof(attr)), EINVAL); /* the id is not bound */
	bind_id(cm, id);
	check(!command(cm, INIT_QP_ATTR, qa, sizeof(attr)));
	check(attr.qp_state == 2 && attr.qp_attr_mask == 9 && attr.qp_access_flags == 7 &&
	      attr.max_rd_atomic == 9 && attr.port_num == 1);
	check(attr.ah_attr.is_global && attr.ah_attr.port_num == 1 && attr.ah_attr.dlid == 0x123);
	check(attr.ah_attr.grh.dgid[0] == 0xfd && attr.ah_attr.grh.dgid[15] == 6 &&
	      attr.ah_attr.grh.sgid_index == 3 && attr.ah_attr.grh.hop_limit == 64);
	check(attr.dest_qp_num == 0x445566 && attr.rq_psn == 0x11 && attr.sq_psn == 0x12);
	check(attr.path_mtu == 4 && attr.min_rnr_timer == 13 && attr.timeout == 14 &&
	      attr.retry_cnt == 5 && attr.rnr_retry == 6);
	qa.qp_state = 7;
	check_fails(command(cm, INIT_QP_ATTR, qa, sizeof(attr)), EINVAL);
	destroy_id(cm, id);
}

/* A group by the old command, by the new one, and by a GID instead of an IP address. */
static void test_multicast(void)
{
	struct rdma_ucm_leave_mcast {
		uint64_t response;
		uint32_t id, reserved;
	} leave = { .id = FAKE_GROUP };
	uint32_t id = create_id(cm, 1);
	struct rdma_ucm_create_id_resp joined = { 0 };
	struct rdma_ucm_destroy_id_resp left = { 0 };
	struct rdma_ucm_join_ip_mcast old = { .response = (uintptr_t)&joined, .uid = 5, .id = id };
	struct rdma_ucm_join_mcast join = { .response = (uintptr_t)&joined, .uid = 6, .id = id };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&join.addr;
	unsigned char gid[16] = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 9 };

	leave.response = (uintptr_t)&left;
	old.addr.sin6_family = AF_INET6;
	old.addr.sin6_addr.s6_addr[0] = 0xff;
	check_fails(command(cm, JOIN_IP_MCAST, old, sizeof(joined)),
		    EINVAL); /* the id is not bound */
	bind_id(cm, id);
	check_fails(command(cm, JOIN_IP_MCAST, old, sizeof(joined) - 1), ENOSPC);
	check(!command(cm, JOIN_IP_MCAST, old, sizeof(joined)));
	check(joined.id == FAKE_GROUP && ctl->last_uid == 5 && !ctl->last_send_only);
	check(ctl->last_addr.ss_family == AF_INET6);
	check_fails(command(cm, LEAVE_MCAST, leave, sizeof(left) - 1), ENOSPC);
	check(!command(cm, LEAVE_MCAST, leave, sizeof(left)));
	check(left.events_reported == 3 && ctl->groups == 0);
	check_fails(command(cm, LEAVE_MCAST, leave, sizeof(left)), ENOENT);

	v4->sin_family = AF_INET;
	check_fails(command(cm, JOIN_MCAST, join, sizeof(joined)), EINVAL); /* addr_size */
	join.addr_size = sizeof(*v4);
	join.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	check_fails(command(cm, JOIN_MCAST, join, sizeof(joined)), EINVAL);
	join.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	check(!command(cm, JOIN_MCAST, join, sizeof(joined)));
	check(ctl->last_send_only && ctl->last_addr.ss_family == AF_INET && ctl->last_uid == 6);
	join.addr_size = 48;
	join.addr.ss_family = 27; /* AF_IB */
	memcpy((char *)&join.addr + 8, gid, sizeof(gid));
	check(!command(cm, JOIN_MCAST, join, sizeof(joined)));
	check(ctl->last_addr.ss_family == AF_INET &&
	      !memcmp(&((struct sockaddr_in *)&ctl->last_addr)->sin_addr, gid + 12, 4));
	/* If the program cannot get the handle of its group, the join is undone. */
	join.response = 8;
	check_fails(command(cm, JOIN_MCAST, join, sizeof(joined)), EFAULT);
	check(ctl->groups == 2);
	check(!command(cm, LEAVE_MCAST, leave, sizeof(left)));
	check(!command(cm, LEAVE_MCAST, leave, sizeof(left)));
	destroy_id(cm, id);
}

static void get_event(int fd, struct rdma_ucm_event_resp *ev)
{
	struct rdma_ucm_get_event in = { .response = (uintptr_t)ev };

	check(!command(fd, GET_EVENT, in, sizeof(*ev)));
}

static void test_connections(void)
{
	int other = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	uint32_t listener = create_id(cm, 0xabc), id;
	struct rdma_ucm_listen listen = { .id = listener };
	struct rdma_ucm_accept accept = { .uid = 0xdef };
	struct rdma_ucm_connect connect = { 0 };
	struct rdma_ucm_reject reject = { .reason = 5 };
	struct rdma_ucm_migrate_resp moved = { 99 };
	struct rdma_ucm_migrate_id migrate = { (uintptr_t)&moved, 0, 0 };
	struct rdma_ucm_event_resp ev;
	struct rdma_ucm_get_event bad = { .response = 32 };

	bind_id(cm, listener);
	check(!command(cm, LISTEN, listen, 0) && ctl->last_backlog == 1024);
	listen.backlog = 3;
	check(!command(cm, LISTEN, listen, 0) && ctl->last_backlog == 3);

	id = ctl->connect_request(listener);
	accept.id = connect.id = reject.id = migrate.id = id;
	check_fails(command(cm, ACCEPT, accept, 0), ENOENT); /* the event has not been read yet */
	check_fails(command(cm, GET_EVENT, bad, sizeof(ev)), EFAULT);
	bad.response = (uintptr_t)&ev;
	check_fails(command(cm, GET_EVENT, bad, 200), ENOSPC);
	get_event(cm, &ev); /* the failed reads have not lost the event */
	check(ev.event == CONNECT_REQUEST && ev.uid == 0xabc && ev.id == id);
	check(ev.param.conn.private_data_len == 3 && !memcmp(ev.param.conn.private_data, "abc", 3));
	check(ev.param.conn.qp_num == 77);
	check(!ev.ece.vendor_id && !ev.ece.attr_mod); /* the wire does not carry ECE */

	check_fails(command(cm, CONNECT, connect, 0), EINVAL); /* without parameters */
	connect.conn_param.valid = 1;
	connect.conn_param.qp_num = 0x123456;
	connect.conn_param.private_data_len = 255;
	memset(connect.conn_param.private_data, 0x5a, 255);
	connect.ece.vendor_id = accept.ece.vendor_id = 0x1234; /* any value is accepted */
	connect.ece.attr_mod = accept.ece.attr_mod = UINT32_MAX;
	check(!command_len(cm, RDMA_USER_CM_CMD_CONNECT, &connect,
			   offsetof(struct rdma_ucm_connect, ece), 0)); /* without ECE */
	check(!command(cm, CONNECT, connect, 0));
	check(ctl->last_param.qp_num == 0x123456 && ctl->last_param.private_data_len == 255 &&
	      ctl->last_param.private_data[254] == 0x5a);
	check_fails(command(cm, REJECT, reject, 0), EINVAL);
	reject.reason = 0;
	check(!command(cm, REJECT, reject, 0) && ctl->last_reason == 0);
	reject.reason = 35;
	check(!command(cm, REJECT, reject, 0) && ctl->last_reason == 35);
	accept.conn_param.valid = 1;
	check(!command_len(cm, RDMA_USER_CM_CMD_ACCEPT, &accept,
			   offsetof(struct rdma_ucm_accept, ece), 0)); /* without ECE */
	check(!command(cm, ACCEPT, accept, 0));
	check(ctl->last_uid == 0xdef);

	migrate.fd = 1000;
	check_fails(command(other, MIGRATE_ID, migrate, sizeof(moved)), ENOENT);
	migrate.fd = 2;
	check_fails(command(other, MIGRATE_ID, migrate, sizeof(moved)), EINVAL);
	migrate.fd = (uint32_t)cm;
	check(!command(other, MIGRATE_ID, migrate, sizeof(moved)) && moved.events_reported == 0);
	check_fails(command(cm, ACCEPT, accept, 0), EINVAL);
	check(!command(other, ACCEPT, accept, 0));
	check(destroy_id(cm, listener) == 1);
	check(!close(other) && !ctl->ids);
}

static void *resolve_later(void *arg)
{
	struct rdma_ucm_resolve_ip in = { .id = *(uint32_t *)arg,
					  .dst_addr.sin6_family = AF_INET6 };

	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	check(!command(cm, RESOLVE_IP, in, 0));
	return NULL;
}

/* The event has a status and an argument of 8 bytes; other bytes of the union are not read. */
static ssize_t write_event(uint32_t id, uint32_t event)
{
	const uint32_t in[84] = { id, 0, event, (uint32_t)-5, 0x9abcdef0, 0x12345678 };

	return command_len(cm, 24, in, sizeof(in), 0);
}

/* Events that a program writes return to the program, with status and argument. */
static void test_written_events(void)
{
	int other = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	uint32_t id = create_id(cm, 0xabc), elsewhere = create_id(other, 1);
	static const uint32_t arg[] = { 0x9abcdef0, 0x12345678 };
	uint32_t service[22] = { id };
	struct rdma_ucm_event_resp ev;

	for (uint32_t event = 0; event < 22; event++) {
		if (event != 18 && event != 19) { /* USER and INTERNAL */
			check_fails(write_event(id, event), EINVAL);
			continue;
		}
		check(!write_event(id, event));
		get_event(cm, &ev);
		check(ev.event == event && ev.status == (uint32_t)-5 && ev.uid == 0xabc &&
		      ev.id == id);
		check(!memcmp(&ev.param, arg, sizeof(arg)) && !ev.param.conn.private_data_len);
	}
	check_fails(write_event(elsewhere, 18), EINVAL);
	check_fails(write_event(UINT32_MAX, 18), ENOENT);

	check_fails(command_len(cm, 23, service, sizeof(service), 0), EINVAL); /* not bound */
	bind_id(cm, id);
	check_fails(command_len(cm, 23, service, sizeof(service), 0), EOPNOTSUPP);
	service[0] = elsewhere;
	check_fails(command_len(cm, 23, service, sizeof(service), 0), EINVAL);
	service[0] = UINT32_MAX;
	check_fails(command_len(cm, 23, service, sizeof(service), 0), ENOENT);
	check(destroy_id(cm, id) == 2);
	check(!close(other));
}

static void *blocked_get_event(void *arg)
{
	struct rdma_ucm_event_resp ev;

	get_event(*(int *)arg, &ev);
	return NULL;
}

static void test_waiting(void)
{
	struct pollfd pfd = { .fd = cm, .events = POLLIN };
	struct rdma_ucm_event_resp ev;
	struct rdma_ucm_get_event in = { .response = (uintptr_t)&ev };
	uint32_t id = create_id(cm, 0x11);
	int other = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK), before;
	pthread_t thread;

	check(other >= 0 && fcntl(other, F_GETFL) & O_NONBLOCK);
	check_fails(command(other, GET_EVENT, in, sizeof(ev)), EAGAIN);
	check(poll(&pfd, 1, 0) == 0);
	check(!pthread_create(&thread, NULL, resolve_later, &id));
	get_event(cm, &ev);
	check(ev.event == 0 && ev.uid == 0x11 && ev.id == id);
	pthread_join(thread, NULL);
	check(destroy_id(cm, id) == 1);

	/* rping ends in this way: it cancels the thread that waits for events. */
	before = ctl->channels;
	check(!fcntl(other, F_SETFL, 0));
	check(!pthread_create(&thread, NULL, blocked_get_event, &other));
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	check(!pthread_cancel(thread) && !pthread_join(thread, NULL));
	check(!close(other) && ctl->channels == before - 1);
}

/* Requests an event that does not come. Only the signal of end_by_signal() ends the call. */
static void *ask_in_vain(void *arg)
{
	struct rdma_ucm_event_resp ev;
	struct rdma_ucm_get_event in = { .response = (uintptr_t)&ev };

	check_fails(command(*(int *)arg, GET_EVENT, in, sizeof(ev)), EINTR);
	return NULL;
}

static void on_signal(int sig)
{
}

/* Ends the call. After a cancellation, AddressSanitizer may report the stack as poisoned. */
static void end_by_signal(pthread_t thread)
{
	struct sigaction act = { .sa_handler = on_signal };

	check(!sigaction(SIGUSR1, &act, NULL));
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	check(pthread_tryjoin_np(thread, NULL) == EBUSY);
	do { /* repeats, since the thread may not wait yet */
		pthread_kill(thread, SIGUSR1);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	} while (pthread_tryjoin_np(thread, NULL));
}

static int closing, close_write_end;
static _Atomic int asked_after_close;

static void count_asked(void)
{
	asked_after_close++;
}

/* Does another thread's work: closes the channel, whose number becomes a readable pipe. */
static void close_and_reuse(void)
{
	int ends[2];

	check(!pipe(ends) && write(ends[1], "x", 1) == 1);
	check(!close(closing) && dup2(ends[0], closing) == closing);
	check(!close(ends[0]));
	close_write_end = ends[1];
	ctl->on_no_event = count_asked;
}

/*
 * rping may also end in this way: it closes the channel while the other thread is in the call, but
 * does not wait yet. That thread then waits for ever, as on a file of the kernel.
 */
static void test_closed_in_call(void)
{
	int before = ctl->channels;
	pthread_t thread;

	closing = open("/dev/infiniband/rdma_cm", O_RDWR);
	check(closing >= 0);
	ctl->on_no_event = close_and_reuse;
	check(!pthread_create(&thread, NULL, ask_in_vain, &closing));
	while (ctl->on_no_event != count_asked)
		sched_yield();
	end_by_signal(thread);
	check(!asked_after_close); /* the new file is not waited for */
	ctl->on_no_event = NULL;
	check(ctl->channels == before && !close(closing) && !close(close_write_end));
}

static _Atomic int taken, is_closing;

/* Takes an event, and requests the next one a while after the other thread begins to close. */
static void *take_two(void *arg)
{
	struct timespec begin, now;

	blocked_get_event(arg);
	taken = 1;
	while (!is_closing)
		continue;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 300000);
	return ask_in_vain(arg);
}

/* rping mostly ends in this way: the channel is closed between two requests for events. */
static void closed_before_call(bool with_proc)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR), before = ctl->channels;
	uint32_t id = create_id(fd, 1);
	struct rdma_ucm_resolve_ip in = { .id = id, .dst_addr.sin6_family = AF_INET6 };
	pthread_t thread;

	taken = is_closing = 0;
	check(!command(fd, RESOLVE_IP, in, 0));
	check(!pthread_create(&thread, NULL, take_two, &fd));
	while (!taken)
		sched_yield();
	check(destroy_id(fd, id) == 1);
	check(with_proc || !mount("none", "/proc", "tmpfs", 0, NULL));
	is_closing = 1;
	check(!close(fd) && ctl->channels == before);
	check(with_proc || !umount("/proc"));
	end_by_signal(thread);
	check(ctl->channels == before - 1);

	/* A thread that has ended requests no event. */
	fd = open("/dev/infiniband/rdma_cm", O_RDWR);
	in.id = create_id(fd, 1);
	check(!command(fd, RESOLVE_IP, in, 0));
	check(!pthread_create(&thread, NULL, blocked_get_event, &fd) &&
	      !pthread_join(thread, NULL));
	check(destroy_id(fd, in.id) == 1);
	errno = 1234;
	check(!close(fd) && errno == 1234);
}

/* A sandbox may have no /proc, which shows if a thread runs. */
static void test_closed_before_call(void)
{
	int refused;

	closed_before_call(true);
	/* unshare() needs one thread; the kernel may list a joined thread for a moment. */
	for (int tries = 100;
	     (refused = unshare(CLONE_NEWUSER | CLONE_NEWNS)) && errno == EINVAL && tries; tries--)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (refused || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		perror("SKIP closing without /proc, which cannot be hidden");
	else
		closed_before_call(false);
}

/* Makes more ids than the map has room for at first. Each must be found. */
static void test_many(void)
{
	uint32_t ids[200];

	for (int i = 0; i < 200; i++)
		ids[i] = create_id(cm, 1);
	for (int i = 0; i < 200; i++)
		bind_id(cm, ids[i]);
	for (int i = 0; i < 200; i++)
		destroy_id(cm, ids[i]);
	check(!ctl->ids);
}

int main(void)
{
	alarm(60);
	cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	check(cm >= 0);
	ctl = fake();
	check(ctl);
	test_headers();
	test_bad_ids();
	test_addresses();
	check(!close(cm)); /* two of its events have not been read */
	cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	test_queries();
	test_options();
	test_multicast();
	test_connections();
	test_written_events();
	test_waiting();
	test_closed_in_call();
	test_closed_before_call();
	test_many();
	check(!close(cm));
	check(!ctl->channels);
	return 0;
}
