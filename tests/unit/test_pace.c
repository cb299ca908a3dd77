/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* VALGRIND: yes */
/*
 * A sender of datagrams and its receivers (conn/pace.h): datagrams before a receiver reports its
 * room, datagrams that wait, and valid replies; and the replies of a receiver.
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

/* ---- receivers that report their room ---- */

#define PACKET (WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN)
/* The number of packets without payload for a receiver of unknown room. */
#define COST (2 * PACKET + 2304)
#define FIRST ((PACE_FIRST + COST - 1) / COST)

/* Retries the waiting datagrams, after this time in ns. */
static void go_on(uint64_t ns)
{
	conn.now += ns;
	datagram_retry(&conn);
	datagram_output(&conn);
}

static void input_room(struct endpoint *ep, uint8_t from, uint16_t port, unsigned int kind,
		       const struct wire_room *said)
{
	uint8_t packet[WIRE_SCTP_COMMON_LEN + WIRE_ROOM_REQUEST_LEN];
	struct path_addr path = { .local = address(1),
				  .remote = address(from),
				  .udp_port = PORT + 2 };
	size_t len = WIRE_SCTP_COMMON_LEN;

	wire_sctp_common_put(packet, &(struct wire_sctp_common){ .sport = port, .dport = PORT });
	len += wire_room_put(packet + len, kind, said);
	wire_sctp_checksum_put(packet, len);
	datagram_input(ep, &path, packet, len);
}

/* A receiver replies to a request with this room. */
static void answer(struct iw_qp *qp, uint8_t from, uint64_t nonce, uint32_t bytes)
{
	input_room(qp_num_endpoint(&conn, qp->num), from, PORT, WIRE_DATAGRAM_ROOM_REPLY,
		   &(struct wire_room){ .nonce = nonce, .room = bytes });
	go_on(0);
}

/* A reply to the last request. */
static void tell(struct iw_qp *qp, uint8_t from, uint32_t bytes)
{
	answer(qp, from, latest.room.nonce, bytes);
}

static unsigned int packets_to(uint8_t to)
{
	struct ip_addr ip = address(to);
	unsigned int n = 0;

	for (unsigned int i = 0; i < batches; i++)
		n += ip_addr_equal(&sent[i].to, &ip) ? sent[i].packets : 0;
	return n;
}

/*
 * The first packets leave before the receiver replies. The rest waits for the reply, while other
 * QPs continue.
 */
static void first_room(void **state)
{
	struct iw_qp *a = qp_new(), *b = qp_new();

	post(a, 7, 100);
	post(b, 8, 1);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), FIRST);
	assert_int_equal(packets_to(8), 1);
	assert_int_equal(asked, 1);
	assert_int_equal(latest.kind, WIRE_DATAGRAM_ROOM_REQUEST);
	assert_int_equal(latest.to.remote.b[15], 7);
	assert_int_equal(latest.to.udp_port, PORT);
	datagram_output(&conn);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(datagram_next_timeout(&conn), conn.now + PACE_RETRY);
	assert_int_equal(a->sq.head, FIRST);
	tell(a, 7, BUFFER);
	assert_int_equal(packets_to(7), 100);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(datagram_next_timeout(&conn), TIME_NEVER);
	qp_end(a);
	qp_end(b);
}

/* A lost request is repeated, after ever longer times. A reply to any of them counts. */
static void asked_again(void **state)
{
	uint64_t pause = PACE_ASK_FIRST, nonce;
	struct iw_qp *qp = qp_new();

	post(qp, 7, 100);
	datagram_output(&conn);
	nonce = latest.room.nonce;
	for (unsigned int n = 2; n < 6; n++, pause *= 2) {
		go_on(pause - 1);
		assert_int_equal(asked, n - 1);
		go_on(1);
		assert_int_equal(asked, n);
		assert_int_equal(latest.room.nonce, nonce);
	}
	tell(qp, 7, BUFFER);
	assert_int_equal(packets_to(7), 100);
	qp_end(qp);
}

/*
 * A request leaves with half of the permitted bytes, so that quick replies avoid any wait. Packets
 * after the request may still be in the buffer when the reply comes.
 */
static void under_way(void **state)
{
	struct iw_qp *qp = qp_new();

	post(qp, 7, FIRST);
	datagram_output(&conn);
	tell(qp, 7, 100 * COST);
	asked = 0;
	post(qp, 7, 49);
	datagram_output(&conn);
	assert_int_equal(asked, 0);
	post(qp, 7, 1);
	datagram_output(&conn);
	assert_int_equal(asked, 1);
	post(qp, 7, 30);
	datagram_output(&conn);
	tell(qp, 7, 50 * COST);
	/* 30 of 50 are outstanding, so the next packet brings the next request. */
	post(qp, 7, 100);
	datagram_output(&conn);
	assert_int_equal(asked, 2);
	assert_int_equal(packets_to(7), FIRST + 80 + 20);
	qp_end(qp);
}

/*
 * A receiver has room for n packets. Half of them are sent, and then the other half; 10 more wait.
 */
static void fill(struct iw_qp *qp, unsigned int n, uint64_t nonce[2])
{
	post(qp, 7, FIRST);
	datagram_output(&conn);
	tell(qp, 7, n * COST);
	batches = asked = 0;
	post(qp, 7, n / 2);
	datagram_output(&conn);
	assert_int_equal(asked, 1);
	nonce[0] = latest.room.nonce;
	post(qp, 7, n / 2 + 10);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), n);
	assert_int_equal(asked, 2);
	nonce[1] = latest.room.nonce;
	assert_true(nonce[0] != nonce[1]);
}

/*
 * A second request follows all permitted packets. Each of the two replies is about the packets
 * before its request.
 */
static void two_requests(void **state)
{
	struct iw_qp *qp = qp_new();
	uint64_t nonce[2];

	fill(qp, 100, nonce);
	go_on(2 * PACE_ASK_FIRST - 1);
	assert_int_equal(asked, 2);
	go_on(1);
	assert_int_equal(asked, 3);
	assert_true(latest.room.nonce == nonce[1]);
	answer(qp, 7, nonce[0], 100 * COST);
	assert_int_equal(packets_to(7), 110);
	assert_int_equal(asked, 3); /* the other request is still outstanding */
	answer(qp, 7, nonce[1], 100 * COST);
	post(qp, 7, 100);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), 200);
	qp_end(qp);
}

/* The reply to the second request replaces the reply to the first. */
static void second_reply(void **state)
{
	struct iw_qp *qp = qp_new();
	uint64_t nonce[2];

	fill(qp, 100, nonce);
	answer(qp, 7, nonce[1], 20 * COST);
	answer(qp, 7, nonce[0], 100 * COST);
	assert_int_equal(packets_to(7), 110);
	post(qp, 7, 20);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), 120);
	qp_end(qp);
}

/*
 * Within the host, the kernel passes a batch as one piece, with a single overhead, unless the
 * route's MTU is too small.
 */
static void own_host(void **state)
{
	struct iw_qp *qp = qp_new();

	own = 7;
	post(qp, 7, TURNS * TURN);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), TURNS * TURN);
	assert_int_equal(asked, 0);
	post(qp, 8, 100);
	datagram_output(&conn);
	assert_int_equal(packets_to(8), FIRST);
	qp_end(qp);
}

static void own_host_narrow(void **state)
{
	struct iw_qp *qp = qp_new();

	own = 7;
	mtu = PACKET;
	post(qp, 7, 100);
	datagram_output(&conn);
	assert_int_equal(packets_to(7), FIRST);
	assert_false(sent[0].df);
	qp_end(qp);
}

/* Only the reply of the right receiver, to the outstanding request, counts. */
static void forged_replies(void **state)
{
	struct iw_qp *qp = qp_new();
	struct endpoint *ep = qp_num_endpoint(&conn, qp->num);
	struct wire_room reply = { .room = BUFFER };

	post(qp, 7, 100);
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	datagram_output(&conn);
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	reply.nonce = latest.room.nonce ^ 1;
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	reply.nonce = latest.room.nonce;
	input_room(ep, 8, PORT, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	input_room(ep, 7, PORT + 1, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	go_on(0);
	assert_int_equal(packets_to(7), FIRST);
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REPLY, &reply);
	go_on(0);
	assert_int_equal(packets_to(7), 100);
	assert_int_equal(iw_ud_stats(conn.iw)->malformed, 0);
	qp_end(qp);
}

/* Posts more than may leave. Returns how long it waits, in ns. */
static uint64_t wait_of(struct iw_qp *qp, uint8_t to, unsigned int n)
{
	uint64_t begin = conn.now;

	post(qp, to, n);
	datagram_output(&conn);
	while (qp->sq.head != iw_ring_tail(&qp->sq)) {
		assert_in_range(conn.now, begin, begin + SEC);
		go_on(PACE_RETRY);
	}
	return conn.now - begin;
}

/*
 * A receiver that never replies gets all packets after a while. From then on, it gets few requests.
 */
static void old_version(void **state)
{
	struct iw_qp *qp = qp_new();
	uint32_t head;

	assert_int_equal(wait_of(qp, 7, 100), PACE_PATIENCE);
	asked = batches = 0;
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(wait_of(qp, 7, 1), 0);
	assert_int_equal(asked, 0);
	go_on(PACE_ASK_LAST);
	assert_int_equal(wait_of(qp, 7, 20), 0);
	assert_int_equal(asked, 1);
	/* The receiver starts to reply: its replies count again. */
	tell(qp, 7, PACKET);
	head = qp->sq.head;
	post(qp, 7, 100);
	datagram_output(&conn);
	assert_int_equal(qp->sq.head, head);
	tell(qp, 7, PACKET);
	assert_int_equal(qp->sq.head, head + 1);
	qp_end(qp);
}

/*
 * Of many receivers that do not read, the first causes the full wait. For a second, the others
 * cause short waits.
 */
static void deaf_receivers(void **state)
{
	struct iw_qp *qp = qp_new();

	for (uint8_t to = 20; to < 30; to++) {
		post(qp, to, FIRST);
		datagram_output(&conn);
		tell(qp, to, PACKET);
	}
	batches = 0;
	assert_int_equal(wait_of(qp, 20, 2), PACE_PATIENCE);
	for (uint8_t to = 21; to < 29; to++)
		assert_int_equal(wait_of(qp, to, 2), PACE_PATIENCE_SHORT);
	assert_int_equal(wait_of(qp, 20, 2), 0);
	conn.now += PACE_IMPATIENT;
	assert_int_equal(wait_of(qp, 29, 2), PACE_PATIENCE);
	qp_end(qp);
}

/*
 * A receiver without room gets further requests soon. The sender waits no longer than for a silent
 * receiver.
 */
static void no_room(void **state)
{
	struct iw_qp *qp = qp_new();
	uint64_t begin = conn.now;

	post(qp, 7, 100);
	datagram_output(&conn);
	while (packets_to(7) == FIRST) {
		unsigned int before = asked;

		tell(qp, 7, 0);
		assert_int_equal(asked, before);
		go_on(PACE_ASK_FIRST);
		assert_int_equal(asked, before + 1);
	}
	assert_int_equal(conn.now - begin, PACE_PATIENCE);
	qp_end(qp);
}

/* A multicast group gets no request. */
static void groups(void **state)
{
	struct iw_qp *qp = qp_new();

	post_freely(qp, 4 * TURN);
	datagram_output(&conn);
	assert_int_equal(qp->sq.head, 4 * TURN);
	assert_int_equal(asked, 0);
	qp_end(qp);
}

/* Of receivers in the same set, the last used ones are remembered. */
static void many_receivers(void **state)
{
	struct iw_ud_dest dest[PACE_WAYS + 1];
	struct iw_qp *qp = qp_new();

	for (unsigned int i = 0; i <= PACE_WAYS; i++) {
		dest[i] = (struct iw_ud_dest){ .remote = address(7),
					       .qp_num = (PORT + i * PACE_SETS) << 8 };
		post_to(qp, &dest[i], 10);
		conn.now++;
		datagram_output(&conn);
	}
	for (unsigned int i = PACE_WAYS; i > 0; i--) {
		post_to(qp, &dest[i], 20);
		datagram_output(&conn);
	}
	assert_int_equal(asked, PACE_WAYS);
	post_to(qp, &dest[0], 20);
	datagram_output(&conn);
	assert_int_equal(asked, PACE_WAYS);
	qp_end(qp);
}

/* ---- the receiver ---- */

static void answers(void **state)
{
	static const struct {
		uint32_t used, room;
	} cases[] = {
		{ 0, BUFFER / 4 },
		{ 100000, (BUFFER - 100000) / 4 },
		{ BUFFER / 2, BUFFER / 8 },
		{ BUFFER / 2 + 1, 0 },
	};
	struct iw_qp *qp = qp_new();
	struct endpoint *ep = qp_num_endpoint(&conn, qp->num);
	struct wire_room request = { .nonce = 0x1122334455667788 };

	for (unsigned int i = 0; i < 4; i++) {
		used = cases[i].used;
		input_room(ep, 7, PORT + 1, WIRE_DATAGRAM_ROOM_REQUEST, &request);
		assert_int_equal(answered, i + 1);
		assert_int_equal(latest.kind, WIRE_DATAGRAM_ROOM_REPLY);
		assert_in_range(latest.len, 1, WIRE_SCTP_COMMON_LEN + WIRE_ROOM_REQUEST_LEN - 1);
		assert_int_equal(latest.to.remote.b[15], 7);
		assert_int_equal(latest.to.local.b[15], 1);
		assert_int_equal(latest.to.udp_port, PORT + 2);
		assert_int_equal(latest.dport, PORT + 1);
		assert_true(latest.room.nonce == request.nonce);
		assert_int_equal(latest.room.room, cases[i].room);
	}
	used = UINT32_MAX; /* unknown */
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REQUEST, &request);
	assert_int_equal(answered, 4);
	qp_end(qp);
}

/*
 * A flood of requests gets a limited number of replies. Requests to a group, or without a UD QP,
 * get none.
 */
static void not_answered(void **state)
{
	struct iw_qp *qp = qp_new();
	struct endpoint *ep = qp_num_endpoint(&conn, qp->num);
	struct wire_room request = { .nonce = 1 };
	struct datagram_out *out = conn.datagrams.out;

	for (unsigned int i = 0; i < 3 * PACE_ANSWERS; i++)
		input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REQUEST, &request);
	assert_int_equal(answered, PACE_ANSWERS);
	conn.now += PACE_ANSWERS_TIME;
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REQUEST, &request);
	assert_int_equal(answered, PACE_ANSWERS + 1);
	ep->bound.multicast = true;
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REQUEST, &request);
	assert_int_equal(iw_ud_stats(conn.iw)->malformed, 1);
	ep->bound.multicast = false;
	conn.datagrams.out = NULL;
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REQUEST, &request);
	input_room(ep, 7, PORT, WIRE_DATAGRAM_ROOM_REPLY, &request);
	conn.datagrams.out = out;
	assert_int_equal(answered, PACE_ANSWERS + 1);
	qp_end(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_room, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(asked_again, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(under_way, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(two_requests, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(second_reply, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(own_host, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(own_host_narrow, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(forged_replies, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(old_version, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(deaf_receivers, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(no_room, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(groups, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(many_receivers, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(answers, sender_setup, sender_teardown),
		cmocka_unit_test_setup_teardown(not_answered, sender_setup, sender_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
