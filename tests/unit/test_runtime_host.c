/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify conn_sctp_stats iw_stats port_query */
/* WRAP: iw_ud_stats */
/* WRAP: port_gid_find port_ways route_lookup route_mtu memory_copy memory_crc32c iw_poison */
/* WRAP: progress_start route_source */
/* VALGRIND: yes */
/* The port's counters by name, and the functions that conn/ calls on its host. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "fixture/fake_shard.h"
#include "net/port.h"
#include "runtime/channel.h"
#include "runtime/counters.h"
#include "runtime/host.h"
#include "sctp/sctp.h"
#include "util/sockaddr.h"
#include "wire/rdmap.h"

static struct shard *const s = &fake.rnic.shard;
static struct iw_stats stats;
static struct iw_ud_stats ud_stats;
static struct sctp_stats sctp;
static struct port_attr port;
static struct port_way ways[PORT_WAYS_MAX];
static unsigned int n_ways;
static struct ip_addr routed; /* the local address that routing selects */
static int fault, result;

/* ---- the lower rooms ---- */

void __wrap_conn_sctp_stats(const struct conn *c, struct sctp_stats *out);
void __wrap_conn_sctp_stats(const struct conn *c, struct sctp_stats *out)
{
	shard_assert_locked(s);
	*out = sctp;
}

const struct iw_stats *__wrap_iw_stats(const struct iw_shard *shard);
const struct iw_stats *__wrap_iw_stats(const struct iw_shard *shard)
{
	shard_assert_locked(s);
	return &stats;
}

struct iw_ud_stats *__wrap_iw_ud_stats(struct iw_shard *shard);
struct iw_ud_stats *__wrap_iw_ud_stats(struct iw_shard *shard)
{
	shard_assert_locked(s);
	return &ud_stats;
}

void __wrap_port_query(struct port_attr *attr);
void __wrap_port_query(struct port_attr *attr)
{
	*attr = port;
}

int __wrap_port_gid_find(const uint8_t gid[16], unsigned int ifindex);
int __wrap_port_gid_find(const uint8_t gid[16], unsigned int ifindex)
{
	assert_int_equal(ifindex, 0);
	return gid[15] == 7 ? 3 : -ENOENT;
}

static bool lookup_with_source; /* true if the next route_lookup() has a source */

int __wrap_route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
			struct sockaddr_storage *source, uint32_t *mtu);
int __wrap_route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
			struct sockaddr_storage *source, uint32_t *mtu)
{
	assert_int_equal(src != NULL, lookup_with_source);
	assert_null(mtu);
	source->ss_family = dst->sa_family;
	if (!result)
		sockaddr_make_natural(source, &routed, 0);
	return result;
}

int __wrap_route_source(struct route_probe *p, const struct sockaddr *dst,
			struct sockaddr_storage *source);
int __wrap_route_source(struct route_probe *p, const struct sockaddr *dst,
			struct sockaddr_storage *source)
{
	assert_ptr_equal(p, &s->net.routes);
	source->ss_family = dst->sa_family;
	return result;
}

unsigned int __wrap_port_ways(struct port_way way[PORT_WAYS_MAX]);
unsigned int __wrap_port_ways(struct port_way way[PORT_WAYS_MAX])
{
	memcpy(way, ways, sizeof(ways));
	return n_ways;
}

uint32_t __wrap_route_mtu(const struct path_addr *to);
uint32_t __wrap_route_mtu(const struct path_addr *to)
{
	return 1400;
}

int __wrap_memory_copy(void *dst, const void *src, size_t len);
int __wrap_memory_copy(void *dst, const void *src, size_t len)
{
	/* Copies half of it if the memory faults. */
	memcpy(dst, src, fault ? len / 2 : len);
	return fault;
}

int __wrap_memory_crc32c(uint32_t *crc, const void *src, size_t len);
int __wrap_memory_crc32c(uint32_t *crc, const void *src, size_t len)
{
	*crc = 99;
	return fault;
}

void __wrap_iw_poison(uint8_t *message);
void __wrap_iw_poison(uint8_t *message)
{
	fake_shard_note("poison:%d", message[0]);
}

int __wrap_progress_start(struct shard *shard);
int __wrap_progress_start(struct shard *shard)
{
	assert_ptr_equal(shard, s);
	return result;
}

static int setup(void **state)
{
	fake_shard_reset();
	memset(&stats, 0, sizeof(stats));
	memset(&sctp, 0, sizeof(sctp));
	memset(&port, 0, sizeof(port));
	memset(&routed, 0, sizeof(routed));
	memset(ways, 0, sizeof(ways));
	n_ways = 0;
	fault = result = 0;
	return 0;
}

/* ---- counters ---- */

static const char *const names[] = {
	"link_downed",
	"port_rcv_data",
	"port_rcv_errors",
	"port_rcv_packets",
	"port_xmit_data",
	"port_xmit_packets",
	"port_xmit_wait",
	"unicast_rcv_packets",
	"unicast_xmit_packets",
	"rcvd_pkts",
	"sent_pkts",
	"iwInRdmaReads",
	"iwInRdmaSends",
	"iwInRdmaWrites",
	"iwOutRdmaReads",
	"iwOutRdmaSends",
	"iwOutRdmaWrites",
	"sessions",
	"sends_held",
	"uc_dropped_access",
	"uc_dropped_no_receive",
	"uc_dropped_opcode",
	"uc_dropped_too_long",
	"ud_bad_qkey",
	"ud_malformed",
	"ud_no_qp",
	"ud_no_receive",
	"ud_received",
	"ud_sent",
	"ud_too_long",
	"path_sockets",
	"path_sends",
	"terminates_rcvd",
	"terminates_sent",
	"sctp_aborts_rcvd",
	"sctp_aborts_sent",
	"sctp_associations",
	"sctp_bad_packets",
	"sctp_duplicates",
	"sctp_probes",
	"sctp_retransmissions",
	"sctp_timeouts",
};

static uint64_t get(const char *name)
{
	uint64_t value = ~0ull;

	assert_int_equal(counters_get(s, name, &value), 0);
	return value;
}

static void test_names(void **state)
{
	uint64_t value = 5;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(get(names[i]), 0);
	assert_int_equal(counters_get(s, "port_rcv", &value), -ENOENT);
	assert_int_equal(counters_get(s, "", &value), -ENOENT);
	assert_int_equal(value, 5);
}

/* Each source has its own value. Each name shows the value of one source. */
static void test_values(void **state)
{
	static const struct {
		const char *name;
		uint64_t value;
	} wants[] = {
		{ "link_downed", 1 },	      { "port_rcv_packets", 2 },
		{ "unicast_rcv_packets", 2 }, { "rcvd_pkts", 2 },
		{ "port_xmit_packets", 3 },   { "unicast_xmit_packets", 3 },
		{ "sent_pkts", 3 },	      { "port_xmit_wait", 4 },
		{ "port_rcv_data", 25 },      { "port_xmit_data", 50 },
		{ "iwInRdmaReads", 5 },	      { "iwOutRdmaReads", 6 },
		{ "iwInRdmaWrites", 7 },      { "iwOutRdmaWrites", 8 },
		{ "terminates_rcvd", 9 },     { "terminates_sent", 10 },
		{ "sessions", 11 },	      { "sends_held", 12 },
		{ "port_rcv_errors", 13 },    { "sctp_bad_packets", 13 },
		{ "sctp_duplicates", 14 },    { "sctp_retransmissions", 15 },
		{ "sctp_probes", 16 },	      { "sctp_timeouts", 17 },
		{ "sctp_associations", 18 },  { "sctp_aborts_rcvd", 19 },
		{ "sctp_aborts_sent", 20 },   { "path_sockets", 21 },
		{ "path_sends", 22 },
	};

	port.downs = 1;
	/* Bytes are counted in units of 4. */
	s->conn.traffic = (struct conn_traffic){
		.packets_in = 2,
		.packets_out = 3,
		.waits = 4,
		.bytes_in = 103,
		.bytes_out = 200,
		.path_sockets = 21,
		.path_sends = 22,
	};
	stats.in[RDMAP_READ_REQUEST] = 5;
	stats.out[RDMAP_READ_REQUEST] = 6;
	stats.in[RDMAP_WRITE] = 7;
	stats.out[RDMAP_WRITE] = 8;
	stats.in[RDMAP_TERMINATE] = 9;
	stats.out[RDMAP_TERMINATE] = 10;
	stats.sessions = 11;
	stats.unexpected = 12;
	sctp = (struct sctp_stats){ .bad_packets = 13,
				    .duplicates = 14,
				    .resent = 15,
				    .probes = 16,
				    .timeouts = 17,
				    .up = 18,
				    .aborts_in = 19,
				    .aborts_out = 20 };
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		assert_int_equal(get(wants[i].name), wants[i].value);
}

/* The four kinds of Sends count as Sends, and no other opcode does. */
static void test_sends(void **state)
{
	uint64_t bit = 1;

	for (int i = 0; i < IW_OPCODES; i++, bit <<= 2) {
		stats.in[i] = bit;
		stats.out[i] = 2 * bit;
	}
	/* Opcodes 3 to 6. */
	assert_int_equal(get("iwInRdmaSends"), 0x1540);
	assert_int_equal(get("iwOutRdmaSends"), 0x2a80);
}

/* ---- the host ---- */

static void test_asked(void **state)
{
	struct sockaddr_storage dst = { .ss_family = AF_INET6 }, source = { 0 }, any;
	struct ip_addr own = { .b[15] = 7 }, other = { .b[15] = 8 };
	struct path_addr to = { 0 };

	s->conn.net = &s->net;
	assert_int_equal(host_conn_ops.route(&s->conn, NULL, (struct sockaddr *)&dst, &source), 0);
	assert_int_equal(source.ss_family, AF_INET6);
	/* The wildcard address is no source. */
	sockaddr_any(&any, AF_INET6, 0);
	assert_int_equal(host_conn_ops.route(&s->conn, (struct sockaddr *)&any,
					     (struct sockaddr *)&dst, &source),
			 0);
	lookup_with_source = true;
	sockaddr_loopback(&any, AF_INET6, 0);
	assert_int_equal(host_conn_ops.route(&s->conn, (struct sockaddr *)&any,
					     (struct sockaddr *)&dst, &source),
			 0);
	lookup_with_source = false;
	result = -ENETUNREACH;
	assert_int_equal(host_conn_ops.route(&s->conn, NULL, (struct sockaddr *)&dst, &source),
			 -ENETUNREACH);
	assert_int_equal(host_conn_ops.start_progress(&s->conn), -ENETUNREACH);
	assert_int_equal(host_conn_ops.route_mtu(&s->conn, &to), 1400);
	assert_true(host_conn_ops.is_own_address(&s->conn, &own));
	assert_false(host_conn_ops.is_own_address(&s->conn, &other));
	assert_ptr_equal(host_conn_ops.events.post, channel_post);
	assert_ptr_equal(host_conn_ops.events.purge, channel_purge);
	assert_ptr_equal(host_conn_ops.events.ref, channel_ref);
	assert_ptr_equal(host_conn_ops.events.put, channel_put);
}

static struct ip_addr v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	const uint8_t bytes[4] = { a, b, c, d };

	return ip_addr_from_v4(bytes);
}

static void add_way(struct ip_addr ip, const char *interface, bool running)
{
	ways[n_ways].ip = ip;
	strcpy(ways[n_ways].interface, interface);
	ways[n_ways++].running = running;
}

/* Returns the number of local addresses for a peer, and writes the first one to *first. */
static unsigned int told(const char *paths, struct ip_addr remote, struct ip_addr *first)
{
	struct config config = { 0 };
	struct path_addr to = { .local = v4(10, 0, 0, 1), .remote = remote };
	struct ip_addr addr[7] = { 0 };
	unsigned int n;

	assert_true(config_paths_parse(&config.paths, paths));
	s->conn.config = &config;
	n = host_conn_ops.addresses(&s->conn, &to, addr, 7);
	s->conn.config = NULL;
	*first = addr[0];
	return n;
}

static void test_addresses(void **state)
{
	const struct ip_addr peer = v4(192, 0, 2, 1);
	struct ip_addr v6 = { .b = { 0x20, 1, 0x0d, 0xb8, [15] = 1 } }, first;
	const struct ip_addr link = { .b = { 0xfe, 0x80, [15] = 1 } }, loop = { .b[15] = 1 };

	add_way(v4(10, 0, 0, 1), "eth0", true);
	add_way(v4(10, 0, 1, 1), "eth1", false);
	add_way(v4(169, 254, 3, 1), "eth2", true);
	add_way(v4(10, 0, 2, 1), "eth2", true);
	add_way(v6, "eth1", true);
	/*
	 * All addresses of the peer's family except the one in use. A link without carrier may come
	 * back.
	 */
	assert_int_equal(told("auto", peer, &first), 2);
	assert_true(ip_addr_equal(&first, &ways[1].ip));
	assert_int_equal(told("off", peer, &first), 0);
	assert_int_equal(told("eth2", peer, &first), 1);
	assert_true(ip_addr_equal(&first, &ways[3].ip));
	assert_int_equal(told("10.0.0.0/23", peer, &first), 1);
	assert_int_equal(told("::/0", peer, &first), 0);
	assert_int_equal(told("eth9,10.0.1.1,10.0.2.1", peer, &first), 2);
	v6.b[15] = 2;
	assert_int_equal(told("auto", v6, &first), 1);
	assert_int_equal(told("0.0.0.0/0", v6, &first), 0);
	/* Peers on this host, and peers on a link-local address, get none. */
	assert_int_equal(told("auto", v4(127, 0, 0, 2), &first), 0);
	assert_int_equal(told("auto", loop, &first), 0);
	assert_int_equal(told("auto", v4(10, 9, 9, 7), &first), 0); /* is_own_address() */
	assert_int_equal(told("auto", link, &first), 0);
	assert_int_equal(told("auto", v4(169, 254, 1, 1), &first), 0);
	/* No more addresses than fit. */
	for (uint8_t i = 10; i < 30; i++)
		add_way(v4(10, 0, i, 1), "eth1", true);
	assert_int_equal(told("auto", peer, &first), 7);
}

static void test_source(void **state)
{
	static const int no_way[] = { -ENETUNREACH, -EHOSTUNREACH, -ENETDOWN, -EADDRNOTAVAIL };
	static const int unknown[] = { -EMFILE, -ENFILE, -ENOMEM, -ENOBUFS };
	const struct ip_addr peer = v4(192, 0, 2, 1);
	struct ip_addr local = v4(10, 0, 0, 99);

	add_way(v4(10, 0, 0, 1), "eth0", true);
	add_way(v4(10, 0, 1, 1), "eth1", false);
	for (int i = 0; i < 4; i++) {
		result = no_way[i];
		assert_false(host_conn_ops.source(&s->conn, &peer, &local));
		result = unknown[i]; /* a process without descriptors still has ways */
		assert_true(host_conn_ops.source(&s->conn, &peer, &local));
		assert_int_equal(local.b[15], 99);
	}
	result = 0;
	routed = ways[0].ip;
	assert_true(host_conn_ops.source(&s->conn, &peer, &local));
	assert_true(ip_addr_equal(&local, &routed));
	routed = ways[1].ip;
	assert_false(host_conn_ops.source(&s->conn, &peer, &local));
	/* An address outside the table, such as a deprecated one, or the 33rd. */
	routed = v4(10, 0, 2, 1);
	assert_true(host_conn_ops.source(&s->conn, &peer, &local));
	assert_true(ip_addr_equal(&local, &routed));
}

static void test_memory(void **state)
{
	static const uint8_t from[4] = { 1, 2, 3, 4 }, zero[4];
	uint8_t msg[8] = { 42 };
	uint32_t crc = 0;

	assert_true(host_conn_ops.checksum(&crc, from, 4));
	assert_int_equal(crc, 99);
	host_conn_ops.copy_out(msg, msg + 4, from, 4);
	assert_memory_equal(msg + 4, from, 4);
	fake_shard_expect("");
	/* The memory faults: none of it is sent, and the peer must refuse the message. */
	fault = -EFAULT;
	assert_false(host_conn_ops.checksum(&crc, from, 4));
	host_conn_ops.copy_out(msg, msg + 4, from, 4);
	assert_memory_equal(msg + 4, zero, 4);
	fake_shard_expect("poison:42");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, setup),
		cmocka_unit_test_setup(test_values, setup),
		cmocka_unit_test_setup(test_sends, setup),
		cmocka_unit_test_setup(test_asked, setup),
		cmocka_unit_test_setup(test_addresses, setup),
		cmocka_unit_test_setup(test_source, setup),
		cmocka_unit_test_setup(test_memory, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
