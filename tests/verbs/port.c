/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The port as programs see it: GIDs, P_Keys, state, counters, and their changes as addresses come
 * and go. The test runs in its own network namespace, where lo is down at first.
 */
#define _GNU_SOURCE
#include "cm.h"
#include "netns.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <unistd.h>

#define PORT "/sys/class/infiniband/sctpiw0/ports/1/"

static bool get_event(struct ibv_context *ctx, int ms, enum ibv_event_type *type)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (!poll(&pfd, 1, ms))
		return false;
	CHECK_EQ(ibv_get_async_event(ctx, &event), 0);
	CHECK_EQ(event.element.port_num, 1);
	*type = event.event_type;
	ibv_ack_async_event(&event);
	return true;
}

/* Waits for events. The table may change in several steps, each with an event. */
static void expect_event(struct ibv_context *ctx, enum ibv_event_type wanted)
{
	enum ibv_event_type type;

	do {
		CHECK(get_event(ctx, WAIT_SECONDS * 1000, &type));
		CHECK(type == wanted || type == IBV_EVENT_GID_CHANGE);
	} while (type != wanted);
}

/* Reads earlier events, so that none is mistaken for the next expected event. */
static void drain_events(struct ibv_context *ctx)
{
	enum ibv_event_type type;

	while (get_event(ctx, 100, &type))
		CHECK_EQ(type, IBV_EVENT_GID_CHANGE);
}

static bool is_zero(const union ibv_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* The index of the GID of an IPv4 address, or -1. */
static int gid_index(struct ibv_context *ctx, const char *address)
{
	uint8_t wanted[16] = { [10] = 0xff, [11] = 0xff };
	struct ibv_port_attr port;
	union ibv_gid gid;

	CHECK_EQ(inet_pton(AF_INET, address, wanted + 12), 1);
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	for (int i = 0; i < port.gid_tbl_len; i++) {
		CHECK_EQ(ibv_query_gid(ctx, 1, i, &gid), 0);
		if (!memcmp(gid.raw, wanted, 16))
			return i;
	}
	return -1;
}

static void read_text(const char *file, char *buf, size_t len)
{
	char path[128];
	FILE *fp;

	snprintf(path, sizeof(path), PORT "%s", file);
	fp = fopen(path, "r");
	CHECK(fp && fgets(buf, (int)len, fp));
	fclose(fp);
	buf[strcspn(buf, "\n")] = '\0';
}

/* Waits, since the kernel reports the carrier of a link late. */
static void expect_text(const char *file, const char *text)
{
	double end = now_seconds() + WAIT_SECONDS;
	char buf[64] = "";

	do {
		read_text(file, buf, sizeof(buf));
		if (!strcmp(buf, text))
			return;
		sleep_ms(1);
	} while (now_seconds() < end);
	fprintf(stderr, "%s: '%s', not '%s'\n", file, buf, text);
	CHECK(!strcmp(buf, text));
}

static uint64_t counter(const char *file)
{
	char path[128];
	uint64_t value;
	FILE *fp;

	snprintf(path, sizeof(path), PORT "%s", file);
	fp = fopen(path, "r");
	CHECK(fp && fscanf(fp, "%lu", &value) == 1);
	fclose(fp);
	return value;
}

/* This test is first, while there is no address yet. */
static void test_port_state(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_port_attr port;
	union ibv_gid gid;

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_DOWN);
	CHECK_EQ(port.phys_state, 3);
	CHECK_EQ(port.gid_tbl_len, 128);
	CHECK_EQ(ibv_query_gid(ctx, 1, 0, &gid), 0);
	CHECK(is_zero(&gid));
	expect_text("state", "1: DOWN");
	expect_text("phys_state", "3: Disabled");
	CHECK_EQ(counter("counters/link_downed"), 0);

	ip("link set lo up");
	expect_event(ctx, IBV_EVENT_PORT_ACTIVE);
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	CHECK_EQ(port.phys_state, 5);
	CHECK_EQ(port.active_mtu, IBV_MTU_4096);
	expect_text("state", "4: ACTIVE");
	expect_text("rate", "40 Gb/sec (4X FDR10)"); /* lo has no speed */

	ip("link set lo down");
	expect_event(ctx, IBV_EVENT_PORT_ERR);
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_DOWN);
	CHECK_EQ(counter("counters/link_downed"), 1);
	ip("link set lo up");
	expect_event(ctx, IBV_EVENT_PORT_ACTIVE);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_link(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_port_attr port;

	/* An IPv4 address, since the kernel would first check an IPv6 address for duplicates. */
	ip("link add veth0 type veth peer name veth1");
	ip("addr add 10.9.0.1/24 dev veth0");
	ip("link set veth1 up");
	ip("link set veth0 mtu 1500 up");
	expect_event(ctx, IBV_EVENT_GID_CHANGE);
	CHECK(gid_index(ctx, "10.9.0.1") >= 0);
	expect_text("rate", "10 Gb/sec (1X FDR10)");
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK(port.active_width == 1 && port.active_speed == 8);
	/* Without lo, the MTU is 1500, as on the other interface. */
	ip("link set lo down");
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	CHECK_EQ(port.active_mtu, IBV_MTU_1024);
	ip("link set lo up");
	ip("link del veth0");
	drain_events(ctx);
	CHECK_EQ(gid_index(ctx, "10.9.0.1"), -1);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_gid_table(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_gid_entry entries[128], entry;
	struct ibv_port_attr port;
	ssize_t n = 0, found;
	union ibv_gid gid;

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	for (int i = 0; i < port.gid_tbl_len; i++) {
		CHECK_EQ(ibv_query_gid(ctx, 1, i, &gid), 0);
		if (is_zero(&gid)) {
			CHECK_EQ(ibv_query_gid_ex(ctx, 1, i, &entry, 0), ENODATA);
			continue;
		}
		CHECK_EQ(ibv_query_gid_ex(ctx, 1, i, &entry, 0), 0);
		CHECK(!memcmp(&gid, &entry.gid, sizeof(gid)));
		CHECK_EQ(entry.gid_index, i);
		CHECK_EQ(entry.port_num, 1);
		CHECK_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
		CHECK_EQ(entry.ndev_ifindex, if_nametoindex("lo"));
		n++;
	}
	CHECK(n >= 1); /* 2 with IPv6 */
	CHECK_EQ(gid_index(ctx, "127.0.0.1"), 0);
	found = ibv_query_gid_table(ctx, entries, 128, 0);
	CHECK_EQ(found, n);
	CHECK(!memcmp(entries[0].gid.raw + 12, "\x7f\0\0\1", 4));
	CHECK(ibv_query_gid(ctx, 1, 128, &gid));
	CHECK(ibv_query_gid(ctx, 1, -1, &gid));
	CHECK(ibv_query_gid(ctx, 2, 0, &gid));
	CHECK(ibv_query_gid_ex(ctx, 1, 128, &entry, 0) > 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_pkeys(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr attr;
	__be16 pkey = 0;

	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK_EQ(attr.max_pkeys, 1);
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(pkey, 0xffff);
	CHECK(ibv_query_pkey(ctx, 1, 1, &pkey));
	CHECK_EQ(ibv_get_pkey_index(ctx, 1, htobe16(0xffff)), 0);
	CHECK(ibv_get_pkey_index(ctx, 1, htobe16(0x7fff)) < 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Indexes do not change, as programs store them. */
static void test_gids_come_and_go(void)
{
	struct ibv_context *ctx = open_device(), *other = open_device();
	int one, two;

	ip("addr add 10.1.1.1/32 dev lo");
	expect_event(ctx, IBV_EVENT_GID_CHANGE);
	expect_event(other, IBV_EVENT_GID_CHANGE);
	one = gid_index(ctx, "10.1.1.1");
	CHECK(one > 0);
	ip("addr add 10.1.1.2/32 dev lo");
	expect_event(ctx, IBV_EVENT_GID_CHANGE);
	two = gid_index(ctx, "10.1.1.2");
	CHECK(two > one);
	ip("addr del 10.1.1.1/32 dev lo");
	expect_event(ctx, IBV_EVENT_GID_CHANGE);
	CHECK_EQ(gid_index(ctx, "10.1.1.1"), -1);
	CHECK_EQ(gid_index(ctx, "10.1.1.2"), two);
	/* A change is also visible at once without waiting for its event. */
	ip("addr add 10.1.1.3/32 dev lo");
	CHECK_EQ(gid_index(ctx, "10.1.1.3"), one);
	CHECK_EQ(gid_index(other, "10.1.1.3"), one);
	ip("addr add 10.1.1.1/32 dev lo");
	CHECK(gid_index(ctx, "10.1.1.1") > two);
	for (int i = 1; i <= 3; i++)
		ip("addr del 10.1.1.%d/32 dev lo", i);
	drain_events(ctx);
	CHECK_EQ(ibv_close_device(other), 0); /* with unread events */
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* For a program that never reads events, they do not accumulate. */
static void test_unread_events(void)
{
	struct ibv_context *ctx = open_device();
	enum ibv_event_type type, last = IBV_EVENT_GID_CHANGE;
	struct ibv_port_attr port;
	unsigned int n = 0;

	for (int i = 0; i < 5; i++) {
		ip("link set lo down");
		CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
		CHECK_EQ(port.state, IBV_PORT_DOWN);
		ip("link set lo up");
		CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
		CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	}
	for (; get_event(ctx, 100, &type); n++)
		if (type != IBV_EVENT_GID_CHANGE)
			last = type;
	CHECK(n <= 3);
	CHECK_EQ(last, IBV_EVENT_PORT_ACTIVE); /* the present state */
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The same while the application spins on a CQ, and the progress thread is parked. */
static void test_events_while_polling(void)
{
	struct pollfd pfd = { .events = POLLIN };
	enum ibv_event_type type;
	struct ibv_wc wc;
	struct pair p;
	double end;

	pair_open(&p, NULL);
	drain_events(p.a.id->verbs);
	pfd.fd = p.a.id->verbs->async_fd;
	/* The application polls before the address comes. */
	CHECK_EQ(system("(sleep 0.3; ip addr add 10.1.1.1/32 dev lo) &"), 0);
	end = now_seconds() + WAIT_SECONDS;
	while (!poll(&pfd, 1, 0)) {
		CHECK(now_seconds() < end);
		for (int i = 0; i < 1000; i++)
			CHECK_EQ(ibv_poll_cq(p.a.send_cq, 1, &wc), 0);
	}
	CHECK(get_event(p.a.id->verbs, 0, &type));
	CHECK_EQ(type, IBV_EVENT_GID_CHANGE);
	ip("addr del 10.1.1.1/32 dev lo");
	pair_close(&p);
}

static const char *const counter_names[] = {
	"counters/port_xmit_data",     "counters/port_rcv_data",      "counters/port_xmit_packets",
	"counters/port_rcv_packets",   "hw_counters/iwOutRdmaWrites", "hw_counters/iwInRdmaWrites",
	"hw_counters/iwOutRdmaReads",  "hw_counters/iwInRdmaReads",   "hw_counters/iwOutRdmaSends",
	"hw_counters/iwInRdmaSends",   "hw_counters/sessions",	      "hw_counters/terminates_sent",
	"hw_counters/terminates_rcvd", "hw_counters/sends_held",
};
enum {
	XMIT,
	RCV,
	XMIT_PACKETS,
	RCV_PACKETS,
	OUT_WRITES,
	IN_WRITES,
	OUT_READS,
	IN_READS,
	OUT_SENDS,
	IN_SENDS,
	SESSIONS,
	TERM_SENT,
	TERM_RCVD,
	HELD,
	N
};

/*
 * Two Writes, of which one is refused, a Read, and two Sends, of which one waits for its receive.
 * held: the counter of such Sends before.
 */
static void count_traffic(uint64_t held)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, SIDE_BUF);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, (uintptr_t)p.b.buf, p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	sge.length = 4096;
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 2, &sge, 1, (uintptr_t)p.b.buf, p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	/* The first of two Sends must wait for its receive. */
	sge.length = 64;
	CHECK_EQ(post_send(&p.a, 3, &sge, 1, IBV_SEND_SIGNALED), 0);
	for (double end = now_seconds() + WAIT_SECONDS; counter(counter_names[HELD]) == held;)
		CHECK(now_seconds() < end);
	sge = sge_of(p.b.mr, p.b.buf, 64);
	CHECK_EQ(post_recv(&p.b, 4, &sge, 1), 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(post_recv(&p.b, 5, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_send(&p.a, 6, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	/* After a wrong key, the session ends by a Terminate from b. */
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 7, &sge, 1, (uintptr_t)p.b.buf,
			   p.b.mr->rkey ^ 1, IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

static void test_counters(void)
{
	uint64_t before[N], grown[N];

	for (int i = 0; i < N; i++)
		before[i] = counter(counter_names[i]);
	count_traffic(before[HELD]);

	for (int i = 0; i < N; i++)
		grown[i] = counter(counter_names[i]) - before[i];
	/* Both ends are in this process, which has sent and received the data once. */
	CHECK(grown[XMIT] >= SIDE_BUF / 4 && grown[XMIT] < SIDE_BUF / 4 * 2);
	CHECK(grown[RCV] >= SIDE_BUF / 4 && grown[RCV] < SIDE_BUF / 4 * 2);
	CHECK(grown[XMIT_PACKETS] >= SIDE_BUF / 65536 && grown[RCV_PACKETS] >= SIDE_BUF / 65536);
	CHECK_EQ(grown[OUT_WRITES], 2);
	CHECK_EQ(grown[IN_WRITES], 1);
	CHECK_EQ(grown[OUT_READS], 1);
	CHECK_EQ(grown[IN_READS], 1);
	CHECK_EQ(grown[OUT_SENDS], 2);
	CHECK_EQ(grown[IN_SENDS], 2);
	CHECK_EQ(grown[SESSIONS], 2);
	CHECK_EQ(grown[TERM_SENT], 1);
	CHECK_EQ(grown[TERM_RCVD], 1);
	CHECK_EQ(grown[HELD], 1);
	CHECK_EQ(counter("counters/port_rcv_errors"), 0);
	CHECK_EQ(counter("counters/symbol_error"), 0);
}

/* Address handles from completions, and no multicast. */
static void test_addresses(void)
{
	struct ibv_wc wc = { .slid = 1, .src_qp = 7 };
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };
	struct ibv_grh grh = { 0 };
	struct ibv_device_attr dev;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_device(p.a.id->verbs, &dev), 0);
	CHECK_EQ(ibv_query_gid(p.a.id->verbs, 1, 0, &attr.grh.dgid), 0);
	/* An address handle without a GID, as from a completion without a GRH, is invalid. */
	CHECK_FAILS(ibv_create_ah_from_wc(p.a.pd, &wc, &grh, 1), EINVAL);
	CHECK_EQ(ibv_init_ah_from_wc(p.a.id->verbs, 1, &wc, &grh, &attr), 0);
	CHECK_EQ(attr.dlid, 1);
	wc.wc_flags = IBV_WC_GRH; /* an address of another host */
	CHECK(ibv_init_ah_from_wc(p.a.id->verbs, 1, &wc, &grh, &attr));
	CHECK(!ibv_create_ah_from_wc(p.a.pd, &wc, &grh, 1));
	CHECK_EQ(ibv_attach_mcast(p.a.qp, &attr.grh.dgid, 0), EINVAL);
	CHECK_EQ(ibv_detach_mcast(p.a.qp, &attr.grh.dgid, 0), EINVAL);
	pair_close(&p);
}

/*
 * As in the kernel, an address of the host selects the device of an id at once. Loopback and the
 * wildcard do not, before there is a peer. Programs that bind to localhost check id->verbs.
 */
static void test_bound(void)
{
	struct sockaddr_storage addr[] = { cm_loopback(AF_INET, 0), cm_loopback(AF_INET, 0),
					   cm_loopback(AF_INET, 0), cm_loopback(AF_INET6, 0),
					   cm_any(AF_INET, 0) };
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_conn_param param = { .qp_num = 1 };
	struct rdma_cm_id *id;

	ip("addr add 10.1.1.1/32 dev lo");
	CHECK_EQ(inet_pton(AF_INET, "10.1.1.1", &((struct sockaddr_in *)&addr[0])->sin_addr), 1);
	CHECK_EQ(inet_pton(AF_INET, "127.9.9.9", &((struct sockaddr_in *)&addr[1])->sin_addr), 1);
	for (int i = 0; i < 5; i++) {
		id = cm_id(channel);
		CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr[i]), 0);
		CHECK((id->verbs != NULL) == (i == 0));
		CHECK_EQ(rdma_listen(id, 1), 0);
		CHECK((id->verbs != NULL) == (i == 0));
		CHECK(rdma_get_src_port(id));
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	/* librdmacm follows a null pointer in these calls if the id has no device. */
	id = cm_id(channel);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr[0]), 0);
	CHECK_ERRNO(rdma_connect(id, &param), EINVAL);
	CHECK_ERRNO(rdma_accept(id, &param), EINVAL);
	CHECK_ERRNO(rdma_disconnect(id), EINVAL);
	CHECK_ERRNO(rdma_resolve_route(id, 100), EINVAL);
	CHECK_EQ(rdma_destroy_id(id), 0);
	/* Once there is a peer, even on loopback, the id has the device. */
	id = cm_id(channel);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr[2]), 0);
	addr[2] = cm_loopback(AF_INET, htons(9));
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr[2], 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK(id->verbs);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	ip("addr del 10.1.1.1/32 dev lo");
}

/* An id has the slot of its address, even of an address that the host has just been given. */
static void test_slot_of_an_id(void)
{
	struct rdma_event_channel *channel = cm_channel();

	if (is_iwarp(cm_device()))
		return; /* no peer address in its QPs' attributes */
	ip("link set lo up");
	for (int i = 1; i <= 3; i++) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
		struct sockaddr_storage to = cm_loopback(AF_INET, htons(9));
		struct rdma_cm_id *id = cm_id(channel);
		char address[32];
		int mask;

		snprintf(address, sizeof(address), "10.1.2.%d", i);
		CHECK_EQ(inet_pton(AF_INET, address, &((struct sockaddr_in *)&to)->sin_addr), 1);
		ip("addr add %s/32 dev lo", address);
		CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
		cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
		CHECK(mask & IBV_QP_AV);
		CHECK_EQ(attr.ah_attr.grh.sgid_index, gid_index(id->verbs, address));
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	for (int i = 1; i <= 3; i++)
		ip("addr del 10.1.2.%d/32 dev lo", i);
	rdma_destroy_event_channel(channel);
}

static const struct test tests[] = {
	{ "port_state", test_port_state },
	{ "gid_table", test_gid_table },
	{ "pkeys", test_pkeys },
	{ "link", test_link },
	{ "gids_come_and_go", test_gids_come_and_go },
	{ "unread_events", test_unread_events },
	{ "events_while_polling", test_events_while_polling },
	{ "counters", test_counters },
	{ "addresses", test_addresses },
	{ "bound", test_bound },
	{ "slot_of_an_id", test_slot_of_an_id },
};

int main(int argc, char **argv)
{
	if (!enter_namespace()) {
		printf("skipped: this user may not make network namespaces\n");
		return SKIPPED;
	}
	return RUN_TESTS(argc, argv, tests);
}
