/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* VALGRIND: yes */
/*
 * Datagrams of UD queue pairs (conn/datagram.h): turns to send, a full port, MTUs of routes, UDP
 * ports, few receives, and datagrams that are too long.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/clock.h"
#include "fixture/datagram_sender.h"

#define QKEY 0x11

static void expect_batch(unsigned int i, const struct iw_qp *qp, unsigned int packets)
{
	assert_in_range(i, 0, batches - 1);
	assert_int_equal(sent[i].src_qp, qp->num);
	assert_int_equal(sent[i].packets, packets);
}

/* ---- tests ---- */

/*
 * QPs send in turns of limited length, and one call of datagram_output() has a limited number of
 * turns.
 */
static void turns(void **state)
{
	struct iw_qp *a = qp_new(), *b = qp_new();

	/* Both came to RTS, so they might have had something to send. */
	datagram_output(&conn);
	assert_false(datagram_is_pending(&conn));
	post_freely(a, 300);
	post_freely(b, 70);
	assert_true(datagram_is_pending(&conn));
	datagram_output(&conn);
	assert_true(datagram_is_pending(&conn));
	assert_int_equal(batches, TURNS);
	expect_batch(0, a, TURN);
	expect_batch(1, b, TURN);
	expect_batch(2, a, TURN);
	expect_batch(3, b, 70 - TURN);
	datagram_output(&conn);
	datagram_output(&conn);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(iw_ud_stats(conn.iw)->sent, 370);
	qp_end(a);
	qp_end(b);
}

/* Packets wait while the port is full. Meanwhile, no QP is called. */
static void full_port(void **state)
{
	struct iw_qp *qp = qp_new();

	room = 1;
	post_freely(qp, 3 * TURN);
	datagram_output(&conn);
	assert_int_equal(batches, 1);
	assert_false(datagram_is_pending(&conn));
	assert_false(datagram_retry(&conn));
	room = BATCHES_MAX;
	assert_true(datagram_retry(&conn));
	assert_true(datagram_is_pending(&conn));
	datagram_output(&conn);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(batches, 3);
	assert_int_equal(iw_ud_stats(conn.iw)->sent, 3 * TURN);
	qp_end(qp);
}

/* The device requests each route's MTU from the kernel once a second, in any order of use. */
static void mtus(void **state)
{
	struct iw_qp *qp = qp_new();

	for (unsigned int round = 0; round < 5; round++) {
		for (uint8_t to = 7; to < 10; to++)
			post(qp, to, 1);
		datagram_output(&conn);
		conn.now += SEC / 10;
	}
	assert_int_equal(batches, 15);
	assert_int_equal(lookups, 3);
	assert_true(sent[0].df);
	conn.now += SEC;
	post(qp, 8, 1);
	datagram_output(&conn);
	assert_int_equal(lookups, 4);
	/* Addresses in the same hash slot do not use each other's MTU. */
	post(qp, 8, 1);
	post(qp, 8 + 64, 1);
	datagram_output(&conn);
	assert_int_equal(lookups, 5);
	qp_end(qp);
}

/*
 * A peer's UDP port is its QP's port, the port of the setting, or none. A multicast group uses only
 * its number's port.
 */
static void encapsulation(void **state)
{
	static const struct {
		int setting;
		uint16_t port[2];
	} cases[] = {
		{ CONFIG_ENCAP_SAME, { PORT, PORT + 1 } },
		{ 9899, { 9899, 9899 } },
		{ CONFIG_ENCAP_NONE, { 0, 0 } },
	};
	struct iw_ud_dest peer = { .remote = address(7), .qp_num = PORT << 8 };
	struct iw_ud_dest other = { .remote = address(7), .qp_num = (PORT + 1) << 8 };
	struct iw_qp *qp = qp_new();

	for (unsigned int i = 0; i < 3; i++) {
		sender_config.encap_port = cases[i].setting;
		batches = 0;
		post_to(qp, &peer, 1);
		post_to(qp, &other, 1);
		post_freely(qp, 1);
		datagram_output(&conn);
		assert_int_equal(batches, 3);
		assert_int_equal(sent[0].udp_port, cases[i].port[0]);
		assert_int_equal(sent[1].udp_port, cases[i].port[1]);
		assert_int_equal(sent[2].udp_port, MULTICAST_PORT);
	}
	qp_end(qp);
}

/* ---- receiving ---- */

static void input(const struct iw_qp *qp, size_t payload)
{
	static uint8_t packet[WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + IW_UD_MAX_MSG + 8];
	struct path_addr from = { .local = address(1), .remote = address(7), .udp_port = PORT };
	struct wire_ud u = { .dst_qp = qp->num, .src_qp = qp->num, .qkey = QKEY, .len = payload };

	wire_sctp_common_put(packet, &(struct wire_sctp_common){ .sport = PORT, .dport = PORT });
	wire_ud_put(packet + WIRE_SCTP_COMMON_LEN, &u);
	wire_sctp_checksum_put(packet, WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + payload);
	datagram_input(qp_num_endpoint(&conn, qp->num), &from, packet,
		       WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + payload);
}

/* Received packets stay in the sockets while a QP with few receives has time to post more. */
static void few_receives(void **state)
{
	struct iw_qp *qp = qp_new();

	rounds = 0;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
	assert_false(conn.datagrams.low);
	low_qp = qp;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
	assert_true(conn.datagrams.low);
	assert_int_equal(rounds, 2);
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_NOTHING);
	assert_true(conn.datagrams.low);
	assert_int_equal(rounds, 2);
	/* With associations, this wait is shorter. */
	iw_set_now(conn.iw, 1);
	conn.n_assocs = 1;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_NOTHING);
	iw_set_now(conn.iw, 1 + IW_UD_LOW_SHARED);
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
	conn.n_assocs = 0;
	assert_int_equal(rounds, 3);
	assert_non_null(iw_rq_slot(qp));
	iw_rq_publish(qp);
	low_qp = NULL;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
	assert_false(conn.datagrams.low);
	assert_int_equal(rounds, 4);
	qp_end(qp);
}

/* A datagram longer than the largest MTU is malformed, whatever receive is posted. */
static void longer_than_any(void **state)
{
	struct iw_qp *qp = qp_new();
	const struct iw_ud_stats *stats = iw_ud_stats(conn.iw);

	iw_ud_set_qkey(qp, QKEY);
	input(qp, IW_UD_MAX_MSG);
	assert_int_equal(stats->no_receive, 1);
	assert_int_equal(stats->malformed, 0);
	input(qp, IW_UD_MAX_MSG + 4);
	assert_int_equal(stats->no_receive, 1);
	assert_int_equal(stats->malformed, 1);
	qp_end(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(turns, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(full_port, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(mtus, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(encapsulation, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(few_receives, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(longer_than_any, sender_setup, sender_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
