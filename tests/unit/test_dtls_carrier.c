/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* WRAP: udp_start udp_stop udp_open_port udp_send udp_send_one carrier_port_of carrier_port_free user_sctp_input */
/*
 * Batches of packets through the carrier dtls (net/dtls_carrier.c). The sockets of this test may be
 * full at any packet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "fixture/written.h"
#include "net/carrier_port.h"
#include "net/carriers.h"
#include "net/dtls_record.h"
#include "net/udp.h"
#include "sctp/sctp.h"
#include "util/bytes.h"

#define PACKETS 64u
#define PACKET 1500u
#define FLIGHT 128u
#define REFERENCED_AT 100u /* offset in a packet, in bytes */
#define REFERENCED 1000u   /* bytes */

static struct side {
	struct net net;
	struct conn conn;
	struct endpoint ep;
	struct carrier_port port;
	uint64_t last_seq; /* of the data records that were sent */
	unsigned int received;
} a, b;

static struct config config;

static struct {
	struct endpoint *from;
	size_t len;
	uint8_t data[PACKET + DTLS_OVERHEAD];
} flight[FLIGHT];
static unsigned int in_flight;

static unsigned int room; /* packets that the socket takes before it is full */
static bool whole;	  /* the socket accepts a whole batch, or nothing */

/* The data to send. */
static uint8_t data[PACKETS * PACKET], memory[SCTP_BATCH_REFS][REFERENCED];
static struct sctp_ref refs[SCTP_BATCH_REFS];
static size_t segment, last_len; /* length of each packet but the last; of the last */
static unsigned int packets;

/* ---- the sockets ---- */

int __wrap_udp_start(struct conn *c, struct config_error *why);
int __wrap_udp_start(struct conn *c, struct config_error *why)
{
	return 0;
}

void __wrap_udp_stop(struct conn *c);
void __wrap_udp_stop(struct conn *c)
{
}

struct carrier_port *__wrap_carrier_port_of(const struct endpoint *ep);
struct carrier_port *__wrap_carrier_port_of(const struct endpoint *ep)
{
	return ep->state;
}

void __wrap_carrier_port_free(struct endpoint *ep);
void __wrap_carrier_port_free(struct endpoint *ep)
{
}

int __wrap_udp_open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only,
			 size_t *rcvbuf, const struct carrier_port_ops *ops);
int __wrap_udp_open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only,
			 size_t *rcvbuf, const struct carrier_port_ops *ops)
{
	carrier_port_of(ep)->ops = ops;
	return 0;
}

static void put(struct endpoint *ep, const uint8_t *record, size_t len)
{
	struct side *side = ep == &a.ep ? &a : &b;

	assert_true(in_flight < FLIGHT && len <= sizeof(flight[0].data));
	if (record[0] == DTLS_DATA) {
		uint64_t seq = get_be64(record + 3);

		assert_true(seq > side->last_seq);
		side->last_seq = seq;
	}
	flight[in_flight].from = ep;
	flight[in_flight].len = len;
	memcpy(flight[in_flight++].data, record, len);
}

void __wrap_udp_send_one(struct endpoint *ep, const struct path_addr *to, const uint8_t *record,
			 size_t len);
void __wrap_udp_send_one(struct endpoint *ep, const struct path_addr *to, const uint8_t *record,
			 size_t len)
{
	put(ep, record, len);
}

/*
 * Like the real one, removes each packet that was sent alone from the batch, and leaves a batch
 * that was sent whole.
 */
int __wrap_udp_send(struct endpoint *ep, struct sctp_batch *batch);
int __wrap_udp_send(struct endpoint *ep, struct sctp_batch *batch)
{
	struct sctp_batch rest = *batch;

	if (whole && batch->len > room * batch->segment)
		return -EAGAIN;
	for (; rest.len && room; room--) {
		size_t len = rest.len < rest.segment ? rest.len : rest.segment;

		put(ep, rest.data, len);
		rest.data += len;
		rest.len -= len;
	}
	if (!whole)
		*batch = rest;
	return rest.len ? -EAGAIN : 0;
}

/* ---- what arrives ---- */

static uint8_t octet(unsigned int packet, size_t i)
{
	return (uint8_t)(packet * 7 + i);
}

void __wrap_user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d);
void __wrap_user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d)
{
	unsigned int n = b.received++;

	assert_ptr_equal(ep, &b.ep);
	assert_true(n < packets);
	assert_int_equal(d->len, n + 1 == packets ? last_len : segment);
	for (size_t i = 0; i < d->len; i++)
		assert_int_equal(d->data[i], octet(n, i));
}

static struct path_addr address(const struct endpoint *ep)
{
	static const uint8_t v4[] = { 10, 0, 0, 1 };

	return (struct path_addr){ .local = ip_addr_from_v4(v4),
				   .remote = ip_addr_from_v4(v4),
				   .udp_port = ep->bound.port };
}

static void settle(void)
{
	/* Replies sent meanwhile are appended. */
	for (unsigned int i = 0; i < in_flight; i++) {
		const struct carrier_datagram d = {
			.data = flight[i].data,
			.len = flight[i].len,
			.segment = flight[i].len,
			.from = address(flight[i].from),
		};
		struct endpoint *to = flight[i].from == &a.ep ? &b.ep : &a.ep;

		carrier_port_of(to)->ops->input(to, &d);
	}
	in_flight = 0;
}

/* ---- the scene ---- */

static void start(struct side *side, uint16_t port)
{
	const struct sockaddr any = { .sa_family = AF_INET };
	struct config_error why;
	size_t rcvbuf;

	memset(side, 0, sizeof(*side));
	side->conn.net = &side->net;
	side->conn.config = &config;
	side->conn.now = 1000000000;
	side->ep.conn = &side->conn;
	side->ep.bound.port = port;
	side->ep.state = &side->port;
	assert_int_equal(carrier_dtls.start(&side->conn, &why), 0);
	assert_int_equal(carrier_dtls.open(&side->ep, &any, false, &rcvbuf), 0);
}

static void make_batch(unsigned int n, size_t len, size_t last, struct sctp_batch *batch)
{
	packets = n;
	segment = len;
	last_len = last;
	b.received = 0;
	for (unsigned int i = 0; i < n; i++) {
		for (size_t j = 0; j < len; j++)
			data[i * len + j] = octet(i, j);
	}
	*batch = (struct sctp_batch){
		.data = data,
		.len = (n - 1) * len + last,
		.segment = len,
		.to = address(&b.ep),
		.df = true,
	};
}

/* Replaces a part of each packet by a reference to other memory. */
static void refer(struct sctp_batch *batch)
{
	assert_true(packets <= SCTP_BATCH_REFS);
	for (unsigned int i = 0; i < packets; i++) {
		uint8_t *at = data + i * segment + REFERENCED_AT;

		memcpy(memory[i], at, REFERENCED);
		memset(at, 0xee, REFERENCED);
		refs[i] = (struct sctp_ref){ at, memory[i], REFERENCED };
	}
	batch->refs = refs;
	batch->n_refs = packets;
}

static int setup(void **state)
{
	struct config_error why;
	struct sctp_batch batch;

	int fd;

	strcpy(config.key, "/tmp/test_dtls_carrier.XXXXXX");
	fd = mkstemp(config.key); /* accessible only to this user */
	assert_true(fd >= 0);
	close(fd);
	write_file(config.key, "lab 00112233445566778899aabbccddeeff\n");
	assert_true(carrier_dtls.check(&why));
	in_flight = 0;
	whole = false;
	start(&a, 1000);
	start(&b, 2000);
	unlink(config.key);
	/* The packet waits for the session. */
	make_batch(1, 40, 40, &batch);
	assert_int_equal(carrier_dtls.send(&a.ep, &batch), 0);
	settle();
	assert_int_equal(b.received, 1);
	return 0;
}

static void stop(struct side *side)
{
	carrier_dtls.close(&side->ep);
	carrier_dtls.stop(&side->conn);
}

static int teardown(void **state)
{
	stop(&a);
	stop(&b);
	return 0;
}

/* The port is full after it sent this number of packets. Later it has room for the rest. */
static void send_in_two(struct sctp_batch *batch, unsigned int gone)
{
	const uint8_t *rest = data + (whole ? 0 : gone * segment);
	size_t left = batch->len - (size_t)(rest - data);

	room = gone;
	assert_int_equal(carrier_dtls.send(&a.ep, batch), -EAGAIN);
	assert_ptr_equal(batch->data, rest);
	assert_int_equal(batch->len, left);
	room = PACKETS;
	assert_int_equal(carrier_dtls.send(&a.ep, batch), 0);
	settle();
	assert_int_equal(b.received, packets);
	assert_int_equal(b.conn.traffic.dtls.replays + b.conn.traffic.dtls.bad_records, 0);
}

static void fill_at_each(void)
{
	struct sctp_batch batch;

	for (unsigned int gone = 0; gone < 12; gone++) {
		make_batch(12, 1400, 700, &batch);
		send_in_two(&batch, gone);
	}
}

static void test_full(void **state)
{
	fill_at_each();
}

static void test_full_whole(void **state)
{
	whole = true;
	fill_at_each();
}

/* Once sealed, the last packets of the batch are too long for a common call with the others. */
static void test_full_long(void **state)
{
	struct sctp_batch batch;

	for (unsigned int gone = 0; gone < 46; gone++) {
		make_batch(46, 1408, 8, &batch);
		send_in_two(&batch, gone);
	}
}

static void test_full_referenced(void **state)
{
	struct sctp_batch batch;

	for (unsigned int gone = 0; gone < SCTP_BATCH_REFS; gone++) {
		make_batch(SCTP_BATCH_REFS, 1400, 1200, &batch);
		refer(&batch);
		send_in_two(&batch, gone);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_full),
		TEST(test_full_whole),
		TEST(test_full_long),
		TEST(test_full_referenced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
