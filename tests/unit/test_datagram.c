/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* VALGRIND: yes */
/*
 * Datagrams of UD queue pairs (conn/datagram.h): whose turn it is to send, what waits for a port that is full or
 * for a receiver of this host that has no room, behind which UDP port the peer is, how long a route's MTU is known,
 * and what of a stranger's is not looked at.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "conn/carrier.h"
#include "conn/conn.h"
#include "conn/pace.h"
#include "fixture/clock.h"
#include "iwarp/rnic.h"
#include "iwarp/sq.h"
#include "sctp/sctp.h"
#include "util/sockaddr.h"
#include "wire/datagram.h"

#define PORT 40000
#define QKEY 0x11
#define DEPTH 512 /* of the send queues */
#define BATCHES_MAX 64u
#define TURN 64	 /* datagrams that a QP sends in its turn */
#define TURNS 4u /* of QPs in one output */
#define MTU 1500

struct batch {
	struct ip_addr to;
	uint16_t udp_port;
	uint32_t src_qp;
	unsigned int packets;
	bool df;
};

static struct conn conn;
static struct config config = { .personality = CONFIG_ROCE };
static struct iw_pd *pd;
static struct iw_cq *cq;
static struct batch sent[BATCHES_MAX];
static unsigned int batches;
static unsigned int room; /* batches that the port takes yet */
static unsigned int lookups;
/* What the kernel says of the sockets of this host: address(OWN) and address(OWN + 1) are its own. */
#define OWN 100
#define BUFFER 1000000u
static uint32_t used[2]; /* UINT32_MAX: there is no socket */
static unsigned int asked;

static struct ip_addr address(uint8_t last)
{
	const uint8_t v4[4] = { 192, 0, 2, last };

	return ip_addr_from_v4(v4);
}

/* ---- the host ---- */

static int fake_start(struct conn *c, struct config_error *why)
{
	return 0;
}

static void fake_nothing(struct conn *c)
{
}

static int fake_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	ep->bound.port = PORT;
	ep->bound.family = addr->sa_family;
	return 0;
}

static void fake_no_endpoint(struct endpoint *ep)
{
}

static int fake_watch(struct endpoint *ep)
{
	return 0;
}

static void fake_quiet(struct endpoint *ep, uint64_t until)
{
}

static int fake_progress(struct conn *c)
{
	return 0;
}

static bool fake_output(struct conn *c)
{
	return false;
}

static bool fake_events(struct conn *c)
{
	return false;
}

static unsigned int rounds;  /* of receiving */
static struct iw_qp *low_qp; /* which runs low of receives in each */

static enum conn_received fake_receive(struct conn *c, enum conn_depth depth)
{
	rounds++;
	if (low_qp)
		c->rnic->shard.ud_low =
			(struct iw_ud_low){ .is = true, .qp = low_qp->num, .want = 1 };
	return CONN_SOME;
}

static const struct transport transport = {
	.start = fake_start,
	.stop = fake_nothing,
	.output = fake_output,
	.open = fake_open,
	.watch = fake_watch,
	.set_quiet = fake_quiet,
	.close = fake_no_endpoint,
	.set_tos = fake_no_endpoint,
	.events = fake_events,
	.receive = fake_receive,
};

static int fake_send(struct endpoint *ep, struct sctp_batch *b)
{
	struct wire_ud u = { .len = 0 };

	if (!room)
		return -EAGAIN;
	room--;
	assert_true(wire_ud_get(&u, b->data + WIRE_SCTP_COMMON_LEN));
	assert_in_range(batches, 0, BATCHES_MAX - 1);
	sent[batches++] =
		(struct batch){ .to = b->to.remote,
				.udp_port = b->to.udp_port,
				.src_qp = u.src_qp,
				.packets = (unsigned int)((b->len + b->segment - 1) / b->segment),
				.df = b->df };
	return 0;
}

static void fake_await(struct endpoint *ep, bool on)
{
}

static bool fake_room(const struct endpoint *ep, const struct path_addr *to,
		      struct carrier_room *out)
{
	uint32_t bytes = used[to->remote.b[15] - OWN];

	asked++;
	*out = (struct carrier_room){ .used = bytes, .size = BUFFER };
	return bytes != UINT32_MAX;
}

static const struct carrier carrier = { .send = fake_send,
					.await_room = fake_await,
					.room = fake_room };

static bool is_own_address(struct conn *c, const struct ip_addr *ip)
{
	return ip->b[15] == OWN || ip->b[15] == OWN + 1;
}

static uint32_t route_mtu(struct conn *c, const struct path_addr *to)
{
	lookups++;
	return MTU;
}

static const struct conn_ops conn_ops = { .start_progress = fake_progress,
					  .route_mtu = route_mtu,
					  .is_own_address = is_own_address };

static void fill_random(struct random_source *r, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	return 0;
}

static int setup(void **state)
{
	static const struct iw_rnic_ops ops = { .copy = copy, .place = copy };
	static const struct iw_config iw_config = { 0 };
	static struct random_source random_source = { .fill = fill_random,
						      .used = sizeof(random_source.pool) };
	struct conn_param param = {
		.ops = &conn_ops,
		.config = &config,
		.transport = &transport,
		.carrier = &carrier,
		.random = &random_source,
		.rnic = iw_rnic_new(&iw_config, &ops, &random_source),
		.ids = cm_id_table_new(),
	};

	memset(&conn, 0, sizeof(conn));
	config.encap_port = CONFIG_ENCAP_SAME;
	assert_int_equal(conn_start(&conn, &param, NULL), 0);
	conn.now = SEC;
	pd = iw_pd_new(conn.rnic, NULL);
	cq = iw_cq_new(conn.rnic, 4 * DEPTH, NULL);
	assert_true(pd && cq);
	batches = lookups = asked = 0;
	memset(used, 0, sizeof(used));
	room = BATCHES_MAX;
	return 0;
}

static int teardown(void **state)
{
	struct cm_id_table *ids = conn.cm.ids;
	struct iw_rnic *rnic = conn.rnic;

	conn_stop(&conn);
	cm_id_table_free(ids, &conn_ops.events);
	assert_int_equal(iw_cq_free(cq), 0);
	assert_int_equal(iw_pd_free(pd), 0);
	iw_rnic_free(rnic);
	return 0;
}

static struct iw_qp *qp_new(void)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .pd = pd,
				   .send_cq = cq,
				   .recv_cq = cq,
				   .max_send_wr = DEPTH,
				   .max_recv_wr = 1,
				   .max_send_sge = 1,
				   .max_recv_sge = 1,
				   .max_inline = 16 };
	struct iw_qp *qp;

	assert_int_equal(qp_num_get(&conn, &attr.num), 0);
	assert_int_equal(iw_qp_new(conn.rnic, &attr, &qp), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	assert_int_equal(datagram_start(&conn, qp), 0);
	return qp;
}

static void qp_end(struct iw_qp *qp)
{
	uint32_t num = qp->num;

	iw_qp_free(qp);
	qp_num_put(&conn, num);
}

/* So many datagrams without payload. */
static void post_to(struct iw_qp *qp, const struct iw_ud_dest *dest, unsigned int n)
{
	while (n--) {
		struct iw_send_wqe *w = iw_sq_slot(qp);

		assert_non_null(w);
		memset(w, 0, sizeof(*w));
		w->opcode = IW_WR_SEND;
		*iw_ud_dest(qp, w) = *dest;
		iw_sq_publish(qp);
	}
	iw_qp_doorbell(qp);
}

/* The same to a QP at this address. */
static void post(struct iw_qp *qp, uint8_t to, unsigned int n)
{
	post_to(qp, &(struct iw_ud_dest){ .remote = address(to), .qp_num = PORT << 8 | 1 }, n);
}

static void expect_batch(unsigned int i, const struct iw_qp *qp, unsigned int packets)
{
	assert_in_range(i, 0, batches - 1);
	assert_int_equal(sent[i].src_qp, qp->num);
	assert_int_equal(sent[i].packets, packets);
}

/* ---- tests ---- */

/* QPs send in turns of a bounded length, and one output takes a bounded number of turns. */
static void turns(void **state)
{
	struct iw_qp *a = qp_new(), *b = qp_new();

	/* They came to RTS, and might have had something to send. */
	datagram_output(&conn);
	assert_false(datagram_is_pending(&conn));
	post(a, 7, 300);
	post(b, 7, 70);
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
	assert_int_equal(iw_ud_stats(conn.rnic)->sent, 370);
	qp_end(a);
	qp_end(b);
}

/* What the port does not take waits for it, and nobody is called meanwhile. */
static void full_port(void **state)
{
	struct iw_qp *qp = qp_new();

	room = 1;
	post(qp, 7, 3 * TURN);
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
	assert_int_equal(iw_ud_stats(conn.rnic)->sent, 3 * TURN);
	qp_end(qp);
}

/* The kernel is asked for the MTU of each route once a second, in whatever order they are used. */
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
	/* Two addresses that share a place do not take each other's. */
	post(qp, 8, 1);
	post(qp, 8 + 64, 1);
	datagram_output(&conn);
	assert_int_equal(lookups, 5);
	qp_end(qp);
}

/*
 * A peer is behind the UDP port of the QP number, behind the one of the setting, or behind none. Then QPs of
 * several ports at one address are reached by one batch. A group has the port of its number alone.
 */
static void encapsulation(void **state)
{
	static const struct {
		int setting;
		uint16_t port[2];
		unsigned int batches;
	} cases[] = {
		{ CONFIG_ENCAP_SAME, { PORT, PORT + 1 }, 2 },
		{ 9899, { 9899, 9899 }, 1 },
		{ CONFIG_ENCAP_NONE, { 0, 0 }, 1 },
	};
	struct iw_ud_dest peer = { .remote = address(7), .qp_num = PORT << 8 };
	struct iw_ud_dest other = { .remote = address(7), .qp_num = (PORT + 1) << 8 };
	struct iw_ud_dest group = { .remote = { .b = { 0xff, 0x02, [15] = 9 } },
				    .qp_num = IW_MCAST_QPN };
	struct iw_qp *qp = qp_new();

	for (unsigned int i = 0; i < 3; i++) {
		config.encap_port = cases[i].setting;
		batches = 0;
		post_to(qp, &peer, 1);
		post_to(qp, &other, 1);
		post_to(qp, &group, 1);
		datagram_output(&conn);
		assert_int_equal(batches, cases[i].batches + 1);
		assert_int_equal(sent[0].udp_port, cases[i].port[0]);
		assert_int_equal(sent[cases[i].batches - 1].udp_port, cases[i].port[1]);
		assert_int_equal(sent[cases[i].batches].udp_port, MULTICAST_PORT);
	}
	qp_end(qp);
}

/* ---- receivers of this host ---- */

/* Runs what waits for its receivers once more, after so many ns. */
static void ask_again(uint64_t ns)
{
	conn.now += ns;
	datagram_retry(&conn);
	datagram_output(&conn);
}

/* What waits is not complete, and is asked about now and then; other QPs go on. */
static void full_receiver(void **state)
{
	struct iw_qp *a = qp_new(), *b = qp_new();

	used[0] = BUFFER / 8 + 1;
	post(a, OWN, 2 * TURN);
	post(b, OWN + 1, 1);
	datagram_output(&conn);
	assert_int_equal(batches, 1);
	expect_batch(0, b, 1);
	assert_int_equal(iw_ring_head(&a->sq), 0);
	datagram_output(&conn);
	assert_int_equal(asked, 2);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(datagram_next_timeout(&conn), conn.now + PACE_ASK_AGAIN);
	conn.now += PACE_ASK_AGAIN - 1;
	assert_false(datagram_retry(&conn));
	used[0] = BUFFER / 8;
	conn.now++;
	assert_true(datagram_retry(&conn));
	assert_true(datagram_is_pending(&conn));
	datagram_output(&conn);
	assert_int_equal(asked, 3);
	assert_int_equal(batches, 3);
	expect_batch(1, a, TURN);
	expect_batch(2, a, TURN);
	assert_false(datagram_is_pending(&conn));
	assert_int_equal(datagram_next_timeout(&conn), TIME_NEVER);
	qp_end(a);
	qp_end(b);
}

/* One question is enough for an eighth of the buffer, in which each batch counts 2 KiB more than its packets. */
static void credit(void **state)
{
	const size_t batch = 2048 + TURN * (WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN);
	unsigned int n = (unsigned int)((BUFFER / 8 + batch - 1) / batch);
	struct iw_qp *qp = qp_new();

	assert_in_range(n, 4, BATCHES_MAX - 1);
	for (unsigned int i = 0; i < n; i++) {
		post(qp, OWN, TURN);
		datagram_output(&conn);
		assert_int_equal(asked, 1);
	}
	used[0] = BUFFER;
	post(qp, OWN, TURN);
	datagram_output(&conn);
	assert_int_equal(asked, 2);
	assert_int_equal(batches, n);
	/* Credit is kept for each port alone. */
	ask_again(0);
	post(qp, OWN + 1, 1);
	ask_again(PACE_ASK_AGAIN);
	assert_int_equal(batches, n);
	qp_end(qp);
}

/* Who does not read gets what it is sent after a while, and once more when it has begun to read. */
static void deaf_receiver(void **state)
{
	struct iw_qp *qp = qp_new();
	uint64_t begin = conn.now;

	used[0] = BUFFER;
	post(qp, OWN, 1);
	datagram_output(&conn);
	while (conn.now + PACE_ASK_AGAIN < begin + PACE_PATIENCE) {
		ask_again(PACE_ASK_AGAIN);
		assert_int_equal(batches, 0);
	}
	ask_again(PACE_ASK_AGAIN);
	assert_int_equal(batches, 1);
	asked = 0;
	post(qp, OWN, 1);
	datagram_output(&conn);
	conn.now += PACE_UNKNOWN;
	post(qp, OWN, 1);
	datagram_output(&conn);
	assert_int_equal(asked, 1);
	assert_int_equal(batches, 3);
	conn.now += PACE_UNKNOWN;
	used[0] = 0;
	post(qp, OWN, DEPTH / 2);
	datagram_output(&conn);
	assert_int_equal(batches, 3 + TURNS);
	used[0] = BUFFER;
	for (unsigned int i = 0; i < 3; i++)
		post(qp, OWN, 1);
	qp_end(qp);
}

/* Two that do not read get what they are sent, too, if they share a place among the receivers that are known. */
static void deaf_receivers_of_one_place(void **state)
{
	struct iw_ud_dest first = { .remote = address(OWN), .qp_num = PORT << 8 };
	struct iw_ud_dest second = { .remote = address(OWN + 1),
				     .qp_num = (PORT ^ OWN ^ (OWN + 1)) << 8 };
	struct iw_qp *a = qp_new(), *b = qp_new();
	uint64_t begin = conn.now;

	used[0] = used[1] = BUFFER;
	post_to(a, &first, 1);
	post_to(b, &second, 1);
	datagram_output(&conn);
	while (conn.now < begin + PACE_PATIENCE)
		ask_again(PACE_ASK_AGAIN);
	assert_int_equal(batches, 2);
	/* Once they are known not to read, neither waits again. */
	post_to(b, &second, 1);
	post_to(a, &first, 1);
	datagram_output(&conn);
	assert_int_equal(batches, 4);
	/* Who is asked for no more gives up the place. */
	conn.now += 2 * PACE_UNKNOWN;
	post_to(b, &second, 1);
	datagram_output(&conn);
	assert_int_equal(batches, 4);
	used[1] = 0;
	ask_again(PACE_ASK_AGAIN);
	assert_int_equal(batches, 5);
	qp_end(a);
	qp_end(b);
}

/* Nothing waits for a receiver of which nothing is known, and it is not asked about all the time. */
static void unknown_receiver(void **state)
{
	struct iw_qp *qp = qp_new();

	used[0] = UINT32_MAX;
	for (unsigned int i = 0; i < 5; i++) {
		post(qp, OWN, 1);
		post(qp, 7, 1);
		datagram_output(&conn);
	}
	assert_int_equal(batches, 10);
	assert_int_equal(asked, 1);
	conn.now += PACE_UNKNOWN;
	used[0] = BUFFER;
	post(qp, OWN, 1);
	datagram_output(&conn);
	assert_int_equal(batches, 10);
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

/* What comes stays in the sockets while a QP that has run low of receives is given time to post more. */
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
	/* What comes for an association does not wait for the program. */
	conn.n_assocs = 1;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
		assert_false(conn.datagrams.low);
	}
	conn.n_assocs = 0;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_NOTHING);
	assert_true(conn.datagrams.low);
	assert_int_equal(rounds, 4);
	assert_non_null(iw_rq_slot(qp));
	iw_rq_publish(qp);
	low_qp = NULL;
	assert_int_equal(conn_receive(&conn, CONN_QUICK), CONN_SOME);
	assert_false(conn.datagrams.low);
	assert_int_equal(rounds, 5);
	qp_end(qp);
}

/* No UD queue pair sends more than the largest MTU that there is, whatever receive is posted. */
static void longer_than_any(void **state)
{
	struct iw_qp *qp = qp_new();
	const struct iw_ud_stats *stats = iw_ud_stats(conn.rnic);

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
		cmocka_unit_test_setup_teardown(turns, setup, teardown),
		cmocka_unit_test_setup_teardown(full_port, setup, teardown),
		cmocka_unit_test_setup_teardown(full_receiver, setup, teardown),
		cmocka_unit_test_setup_teardown(credit, setup, teardown),
		cmocka_unit_test_setup_teardown(deaf_receiver, setup, teardown),
		cmocka_unit_test_setup_teardown(deaf_receivers_of_one_place, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_receiver, setup, teardown),
		cmocka_unit_test_setup_teardown(mtus, setup, teardown),
		cmocka_unit_test_setup_teardown(encapsulation, setup, teardown),
		cmocka_unit_test_setup_teardown(few_receives, setup, teardown),
		cmocka_unit_test_setup_teardown(longer_than_any, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
