/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify conn_sctp_stats iw_stats port_query */
/* WRAP: iw_ud_stats */
/* WRAP: port_gid_find route_lookup route_mtu memory_copy memory_crc32c iw_poison */
/* WRAP: progress_start */
/* VALGRIND: yes */
/* The port's counters by name, and what conn/ asks of its host. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/fake_shard.h"
#include "net/port.h"
#include "runtime/channel.h"
#include "runtime/counters.h"
#include "runtime/host.h"
#include "sctp/sctp.h"
#include "wire/rdmap.h"

static struct shard *const s = &fake.shard;
static struct iw_stats stats;
static struct iw_ud_stats ud_stats;
static struct sctp_stats sctp;
static struct port_attr port;
static int fault, result;

/* ---- the rooms to the left ---- */

void __wrap_conn_sctp_stats(const struct conn *c, struct sctp_stats *out);
void __wrap_conn_sctp_stats(const struct conn *c, struct sctp_stats *out)
{
	shard_assert_locked(s);
	*out = sctp;
}

const struct iw_stats *__wrap_iw_stats(const struct iw_rnic *rnic);
const struct iw_stats *__wrap_iw_stats(const struct iw_rnic *rnic)
{
	shard_assert_locked(s);
	return &stats;
}

struct iw_ud_stats *__wrap_iw_ud_stats(struct iw_rnic *rnic);
struct iw_ud_stats *__wrap_iw_ud_stats(struct iw_rnic *rnic)
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

int __wrap_route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
			struct sockaddr_storage *source, uint32_t *mtu);
int __wrap_route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
			struct sockaddr_storage *source, uint32_t *mtu)
{
	assert_null(src);
	assert_null(mtu);
	source->ss_family = dst->sa_family;
	return result;
}

uint32_t __wrap_route_mtu(const struct path_addr *to);
uint32_t __wrap_route_mtu(const struct path_addr *to)
{
	return 1400;
}

int __wrap_memory_copy(void *dst, const void *src, size_t len);
int __wrap_memory_copy(void *dst, const void *src, size_t len)
{
	/* Half of it, and then the memory is gone. */
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

/* Each source has a value of its own; a name shows that of one. */
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
		{ "sctp_aborts_sent", 20 },
	};

	port.downs = 1;
	/* Bytes are counted in words of four. */
	s->conn.traffic = (struct conn_traffic){
		.packets_in = 2, .packets_out = 3, .waits = 4, .bytes_in = 103, .bytes_out = 200
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

/* All four kinds of Sends, and nothing else, are Sends. */
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
	struct sockaddr_storage dst = { .ss_family = AF_INET6 }, source = { 0 };
	struct ip_addr own = { .b[15] = 7 }, other = { .b[15] = 8 };
	struct path_addr to = { 0 };

	assert_int_equal(host_conn_ops.route(&s->conn, NULL, (struct sockaddr *)&dst, &source), 0);
	assert_int_equal(source.ss_family, AF_INET6);
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
	/* The memory is gone: nothing of it is sent, and the peer must refuse the message. */
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
		cmocka_unit_test_setup(test_memory, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
