/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* QPs connected out of band against a scripted peer: the transport is this file, which hands over messages one by one. */
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
#include "conn/conn.h"
#include "conn/oob_early.h"
#include "conn/oob_message.h"
#include "util/sockaddr.h"
#include "wire/session.h"

#define MSEC 1000000ull
#define PORT 40000
#define SMALLER ((uint32_t)(PORT - 1) << 8 | 5)
#define LARGER ((uint32_t)(PORT + 1) << 8 | 5)

static struct conn *c;
static struct conn_assoc *opened; /* by conn/, with connect */
static struct conn_assoc *shut;	  /* the last one that conn/ has closed */
static struct path_addr path;
static uint16_t peer_port;
static struct iw_pd *pd;
static struct iw_cq *cq;

/* ---- the transport ---- */

static int fake_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	ep->bound.port = PORT;
	ep->bound.family = addr->sa_family;
	ep->bound.wildcard = true;
	sockaddr_copy(&ep->bound.local, addr);
	return 0;
}

static int accept_error;

static int fake_accept_at(struct endpoint *ep, const struct ip_addr *local)
{
	return accept_error;
}

static int fake_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
{
	opened = a;
	path = *to;
	peer_port = port;
	return 0;
}

static void fake_doorbell(struct conn_assoc *a)
{
}

static uint32_t fake_acked(struct conn_assoc *a)
{
	return UINT32_MAX / 2; /* all */
}

static void fake_abort(struct conn_assoc *a)
{
}

static void fake_shutdown(struct conn_assoc *a)
{
	shut = a;
}

static const struct path_addr *fake_addr(const struct conn_assoc *a)
{
	return &path;
}

static uint16_t fake_remote_port(const struct conn_assoc *a)
{
	return peer_port;
}

static int fake_start(struct conn *conn, struct config_error *why)
{
	return 0;
}

static bool fake_events(struct conn *conn)
{
	return false;
}

static const struct transport fake = {
	.start = fake_start,
	.events = fake_events,
	.open = fake_open,
	.accept_at = fake_accept_at,
	.connect = fake_connect,
	.doorbell = fake_doorbell,
	.acked = fake_acked,
	.abort = fake_abort,
	.shutdown = fake_shutdown,
	.addr = fake_addr,
	.remote_port = fake_remote_port,
};

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	return 0;
}

static void fill_random(struct random_source *r, void *buf, size_t len)
{
	static uint8_t next;
	uint8_t *p = buf;

	while (len--)
		*p++ = next++ * 37;
}

/* ---- conn/ alone ---- */

static int start_progress(struct conn *conn)
{
	return 0;
}

static bool is_own_address(struct conn *conn, const struct ip_addr *ip)
{
	return false;
}

static const struct conn_ops conn_ops = {
	.start_progress = start_progress,
	.is_own_address = is_own_address,
};

static struct random_source random_source;
static struct config config;

static int setup(void **state)
{
	static const struct iw_rnic_ops ops = { .copy = copy };
	static const struct iw_config iw_config = { .unexpected_bytes_per_qp = 1 << 20 };
	struct conn_param param = {
		.ops = &conn_ops,
		.config = &config,
		.transport = &fake,
		.random = &random_source,
		.ids = cm_id_table_new(),
	};

	random_source.fill = fill_random;
	random_source.used = sizeof(random_source.pool);
	config.share = true;
	config.encap_port = CONFIG_ENCAP_SAME;
	c = calloc(1, sizeof(*c));
	param.rnic = iw_rnic_new(&iw_config, &ops, &random_source);
	assert_int_equal(conn_start(c, &param, NULL), 0);
	c->now = 1000 * MSEC;
	iw_set_now(c->rnic, c->now);
	pd = iw_pd_new(c->rnic, NULL);
	cq = iw_cq_new(c->rnic, 64, NULL);
	opened = shut = NULL;
	memset(&path, 0, sizeof(path));
	return 0;
}

static void free_endpoint(struct list_node *node)
{
	struct endpoint *ep = list_entry(node, struct endpoint, node);

	free(ep->locals.addr);
	free(ep);
}

static int teardown(void **state)
{
	struct list_node *node;

	iw_cq_free(cq);
	iw_pd_free(pd);
	iw_rnic_free(c->rnic);
	while ((node = list_pop(&c->qp_nums.blocks)))
		free(node); /* the first of the block's members */
	while ((node = list_pop(&c->endpoints.dormant)))
		free_endpoint(node);
	while ((node = list_pop(&c->endpoints.open)))
		free_endpoint(node);
	timerq_fini(&c->oob.timers);
	cm_id_table_free(c->cm.ids, &conn_ops.events);
	free(c);
	return 0;
}

static struct ip_addr address(uint8_t last)
{
	return (struct ip_addr){ .b = { [10] = 0xff, 0xff, 192, 0, 2, last } };
}

static struct iw_qp *new_qp(void)
{
	struct iw_qp_attr attr = { .pd = pd,
				   .send_cq = cq,
				   .recv_cq = cq,
				   .max_send_wr = 4,
				   .max_recv_wr = 4,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };
	struct iw_qp *qp;

	assert_int_equal(qp_num_get(c, &attr.num), 0);
	assert_int_equal(iw_qp_new(c->rnic, &attr, &qp), 0);
	assert_int_equal(qp->num >> 8, PORT);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	return qp;
}

static void raise_event(void *ctx, const struct iw_event *ev)
{
}

static void run(void)
{
	while (conn_events(c, raise_event, NULL))
		;
}

static void free_qp(struct iw_qp *qp)
{
	uint32_t num = qp->num;

	iw_qp_modify(qp, IW_QPS_RESET);
	oob_disconnect(qp);
	iw_qp_free(qp);
	qp_num_put(c, num);
	run();
}

static int try_connect(struct iw_qp *qp, uint32_t dest, uint8_t last)
{
	struct oob_peer peer = {
		.dest_qp_num = dest,
		.local = address(1),
		.remote = address(last),
		.ird = 1,
	};

	return oob_connect(c, qp, &peer);
}

static void connect_oob(struct iw_qp *qp, uint32_t dest)
{
	assert_int_equal(try_connect(qp, dest, 7), 0);
}

/* An association that the peer has opened. */
static struct conn_assoc *peer_opens(uint16_t port, uint8_t from)
{
	struct conn_assoc *a = conn_assoc_new(qp_num_endpoint(c, (uint32_t)PORT << 8));

	assert_non_null(a);
	path.remote = address(from);
	peer_port = port;
	assert_true(conn_assoc_up(a, false, 64, 1400));
	return a;
}

static void say_enhanced(struct conn_assoc *a, uint16_t sid, uint16_t ssn, uint16_t function,
			 uint32_t src, uint32_t dst, const struct session_enhanced *enhanced)
{
	struct oob_message m = { .rnr_retry = 7, .src = src, .dst = dst };
	uint8_t data[OOB_MESSAGE_LEN], buf[600];
	struct session_control control = { .ssn = ssn,
					   .function = function,
					   .enhanced = *enhanced };
	size_t n;

	if (function != SESSION_TERMINATE) {
		control.private_len = (uint16_t)oob_message_encode(&m, data);
		control.private_data = data;
	}
	n = session_encode(&control, buf, sizeof(buf));
	assert_int_equal(iw_assoc_receive(a->iw, sid, SESSION_PPID_CONTROL, buf, n), 0);
	run();
}

static void say(struct conn_assoc *a, uint16_t sid, uint16_t ssn, uint16_t function, uint32_t src,
		uint32_t dst)
{
	static const struct session_enhanced enhanced = { .ird = 1 };

	say_enhanced(a, sid, ssn, function, src, dst, &enhanced);
}

/* The next message must be this one; returns its stream. */
static uint16_t expect(struct conn_assoc *a, uint16_t function, struct oob_message *m)
{
	struct session_control control;
	struct iw_msg msg = { 0 };
	uint8_t buf[1500];
	size_t n = iw_assoc_pull(a->iw, buf, sizeof(buf), &msg);

	assert_true(n > 0);
	assert_int_equal(msg.ppid, SESSION_PPID_CONTROL);
	assert_int_equal(session_decode(&control, buf, n), 0);
	assert_int_equal(control.function, function);
	if (m)
		assert_true(oob_message_decode(m, control.private_data, control.private_len));
	run();
	return msg.sid;
}

static void expect_nothing(struct conn_assoc *a)
{
	struct iw_msg msg = { 0 };
	uint8_t buf[1500];

	assert_int_equal(iw_assoc_pull(a->iw, buf, sizeof(buf), &msg), 0);
}

static void over(struct conn_assoc *a)
{
	conn_assoc_over(a, -ECONNRESET, false);
	run();
}

/* ---- tests ---- */

static void test_message(void **state)
{
	struct oob_message m = { .reason = OOB_STRANGER,
				 .rnr_retry = 3,
				 .src = 0x123456,
				 .dst = 0xfedcba,
				 .token = 0x0102030405060708 };
	struct oob_message got;
	uint8_t buf[OOB_MESSAGE_LEN + 1] = { 0 };

	assert_int_equal(oob_message_encode(&m, buf), OOB_MESSAGE_LEN);
	assert_true(oob_message_decode(&got, buf, OOB_MESSAGE_LEN));
	assert_int_equal(got.reason, m.reason);
	assert_int_equal(got.rnr_retry, m.rnr_retry);
	assert_int_equal(got.src, m.src);
	assert_int_equal(got.dst, m.dst);
	assert_int_equal(got.token, m.token);
	assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN - 1));
	assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN + 1));
	assert_false(oob_message_decode(&got, buf, 0));
	for (int i = 0; i < 9; i++) {
		buf[i] ^= 1;
		assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN));
		buf[i] ^= 1;
	}
}

static void test_larger_initiates(void **state)
{
	struct iw_qp *qp = new_qp();
	struct oob_message m;
	uint16_t sid;

	connect_oob(qp, SMALLER);
	assert_non_null(opened);
	assert_int_equal(peer_port, SMALLER >> 8);
	assert_int_equal(path.udp_port, SMALLER >> 8);
	assert_true(conn_assoc_up(opened, true, 64, 1400));
	sid = expect(opened, SESSION_ENHANCED_INITIATE, &m);
	assert_int_equal(m.src, qp->num);
	assert_int_equal(m.dst, SMALLER);
	assert_int_equal(m.token, 0);
	/* Theirs crosses it, and does not count. */
	say(opened, 1, 0, SESSION_ENHANCED_INITIATE, SMALLER, qp->num);
	assert_int_equal(expect(opened, SESSION_ENHANCED_REJECT, &m), 1);
	assert_int_equal(m.reason, OOB_CROSSED);
	say(opened, sid, 0, SESSION_ENHANCED_ACCEPT, SMALLER, qp->num);
	assert_int_equal(qp->state, IW_QPS_RTR);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	expect_nothing(opened);
	over(opened);
	assert_int_equal(qp->state, IW_QPS_RTS);
	free_qp(qp);
}

static void test_smaller_waits_and_yields(void **state)
{
	struct iw_qp *qp = new_qp();
	struct oob_message m;

	connect_oob(qp, LARGER);
	assert_null(opened);
	c->now += 499 * MSEC;
	oob_timers(c);
	assert_null(opened);
	c->now += 2 * MSEC;
	oob_timers(c);
	assert_non_null(opened);
	assert_true(conn_assoc_up(opened, true, 64, 1400));
	assert_int_equal(expect(opened, SESSION_ENHANCED_INITIATE, &m), 0);
	/* Theirs crosses it, and counts; ours is taken back. */
	say(opened, 1, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	say(opened, 0, 0, SESSION_ENHANCED_REJECT, LARGER, qp->num);
	assert_int_equal(expect(opened, SESSION_ENHANCED_ACCEPT, &m), 1);
	assert_int_equal(m.src, qp->num);
	assert_int_equal(m.dst, LARGER);
	expect_nothing(opened);
	over(opened);
	free_qp(qp);
}

/* Both Initiates go on one stream, as the two SCTPs do not know who has opened the association: once more. */
static void test_one_stream(void **state)
{
	struct iw_qp *qp = new_qp();
	struct oob_message m;

	connect_oob(qp, SMALLER);
	assert_true(conn_assoc_up(opened, true, 64, 1400));
	assert_int_equal(expect(opened, SESSION_ENHANCED_INITIATE, NULL), 0);
	say(opened, 0, 0, SESSION_ENHANCED_INITIATE, SMALLER, qp->num);
	assert_int_equal(expect(opened, SESSION_TERMINATE, NULL), 0);
	say(opened, 0, 1, SESSION_TERMINATE, 0, 0);
	assert_int_equal(qp->state, IW_QPS_RTR);
	c->now += 11 * MSEC;
	oob_timers(c);
	/* Theirs is on another one now. */
	assert_int_equal(expect(opened, SESSION_ENHANCED_INITIATE, &m) % 2, 0);
	assert_int_equal(m.src, qp->num);
	say(opened, 1, 0, SESSION_ENHANCED_INITIATE, SMALLER, qp->num);
	assert_int_equal(expect(opened, SESSION_ENHANCED_REJECT, &m), 1);
	assert_int_equal(m.reason, OOB_CROSSED);
	over(opened);
	free_qp(qp);
}

/* Where both QPs have one number, the side that leaves the even streams yields, and the other one does not. */
static void test_one_stream_one_number(void **state)
{
	bool stayed = false, yielded = false;

	for (int i = 0; i < 200 && !(stayed && yielded); i++) {
		struct iw_qp *qp = new_qp();
		struct oob_peer w = {
			.dest_qp_num = qp->num,
			.local = address(8),
			.remote = address(7),
			.ird = 1,
		};
		struct oob_message m;
		uint16_t sid;

		random_bytes(c->random, &(uint8_t[3]){ 0 }, 1 + i % 3);
		assert_int_equal(oob_connect(c, qp, &w), 0);
		assert_true(conn_assoc_up(opened, true, 64, 1400));
		assert_int_equal(expect(opened, SESSION_ENHANCED_INITIATE, NULL), 0);
		say(opened, 0, 0, SESSION_ENHANCED_INITIATE, qp->num, qp->num);
		assert_int_equal(expect(opened, SESSION_TERMINATE, NULL), 0);
		say(opened, 0, 1, SESSION_TERMINATE, 0, 0);
		c->now += 11 * MSEC;
		oob_timers(c);
		sid = expect(opened, SESSION_ENHANCED_INITIATE, NULL);
		say(opened, !(sid % 2), 0, SESSION_ENHANCED_INITIATE, qp->num, qp->num);
		if (sid % 2) {
			say(opened, sid, 0, SESSION_ENHANCED_REJECT, qp->num, qp->num);
			assert_int_equal(expect(opened, SESSION_ENHANCED_ACCEPT, &m), 0);
			yielded = true;
		} else {
			assert_int_equal(expect(opened, SESSION_ENHANCED_REJECT, &m), 1);
			assert_int_equal(m.reason, OOB_CROSSED);
			stayed = true;
		}
		over(opened);
		free_qp(qp);
	}
	assert_true(stayed && yielded);
}

static void expect_untouched(const struct iw_qp *qp)
{
	assert_int_equal(qp->state, IW_QPS_INIT);
	assert_null(qp->oob);
	assert_int_equal(c->oob.n, 0);
	assert_true(qp_num_endpoint(c, qp->num)->dormant);
	assert_int_equal(oob_next_timeout(c), TIME_NEVER);
}

/* A QP that cannot be connected is as it was, and so is its port. */
static void test_refused(void **state)
{
	struct iw_qp *qp = new_qp();

	accept_error = -EMFILE;
	assert_int_equal(try_connect(qp, LARGER, 7), -EMFILE);
	expect_untouched(qp);
	accept_error = 0;
	assert_int_equal(try_connect(qp, 5, 7), -EINVAL); /* no port */
	expect_untouched(qp);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RESET), 0);
	assert_int_equal(try_connect(qp, LARGER, 7), -EINVAL);
	assert_int_equal(qp->state, IW_QPS_RESET);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	expect_untouched(qp);
	connect_oob(qp, LARGER);
	assert_int_equal(qp->state, IW_QPS_RTR);
	free_qp(qp);
}

static void test_strangers(void **state)
{
	struct iw_qp *qp = new_qp();
	struct oob_message m;
	struct conn_assoc *a;

	connect_oob(qp, LARGER);
	/* Another address; another port; another QP of that port; and a QP that there is not. */
	a = peer_opens(LARGER >> 8, 8);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	over(a);
	a = peer_opens((LARGER >> 8) + 1, 7);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	over(a);
	a = peer_opens(LARGER >> 8, 7);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER + 1, qp->num);
	expect(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	say(a, 2, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num ^ 1);
	expect(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_NO_QP);
	/* Its own, but with an RTR indication to come: none of us. */
	say_enhanced(
		a, 4, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num,
		&(struct session_enhanced){ .ird = 1, .peer_to_peer = true, .rtr_write = true });
	expect(a, SESSION_TERMINATE, NULL);
	/* Nor where it names no kind of it. */
	say_enhanced(a, 6, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num,
		     &(struct session_enhanced){ .ird = 1, .peer_to_peer = true });
	expect(a, SESSION_TERMINATE, NULL);
	/* And it is still to be had by its own. */
	say(a, 8, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect(a, SESSION_ENHANCED_ACCEPT, &m);
	over(a);
	free_qp(qp);
}

static void test_early_ones_are_kept(void **state)
{
	struct iw_qp *first = new_qp(), *qp = new_qp();
	struct oob_message m;
	struct conn_assoc *a;

	connect_oob(first, LARGER + 1); /* so that the port is open */
	a = peer_opens(LARGER >> 8, 7);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect_nothing(a);
	assert_int_equal(c->oob.n_early, 1);
	/* Taken back, and said again. */
	say(a, 0, 1, SESSION_TERMINATE, 0, 0);
	assert_int_equal(c->oob.n_early, 0);
	expect(a, SESSION_TERMINATE, NULL);
	for (uint16_t i = 0; i < OOB_EARLY_PER_QP; i++)
		say(a, (uint16_t)(2 * i + 2), 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect_nothing(a);
	say(a, 20, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	assert_int_equal(expect(a, SESSION_ENHANCED_REJECT, &m), 20);
	connect_oob(qp, LARGER);
	assert_int_equal(expect(a, SESSION_ENHANCED_ACCEPT, &m), 2);
	/* The others may be for the time after this session; then there is no QP any more. */
	assert_int_equal(c->oob.n_early, OOB_EARLY_PER_QP - 1);
	free_qp(qp);
	assert_int_equal(c->oob.n_early, 0);
	over(a);
	free_qp(first);
}

static void send_one(struct iw_qp *qp)
{
	struct iw_send_wqe *wqe = iw_sq_slot(qp);

	*wqe = (struct iw_send_wqe){ .wr_id = 77, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED };
	iw_sq_publish(qp);
	iw_qp_doorbell(qp);
	oob_doorbell(qp);
}

static void test_peer_comes_too_late(void **state)
{
	struct oob_attr attr = { .rnr_retry = 7, .limit = 5000 * MSEC };
	struct iw_qp *qp = new_qp();
	struct iw_cqe cqe;

	connect_oob(qp, LARGER);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	oob_set_attr(qp, &attr);
	c->now += 60000 * MSEC; /* nobody has asked for anything */
	oob_timers(c);
	over(opened);
	assert_int_equal(qp->state, IW_QPS_RTS);
	send_one(qp);
	c->now += 4999 * MSEC;
	oob_timers(c);
	assert_int_equal(qp->state, IW_QPS_RTS);
	c->now += 2 * MSEC;
	oob_timers(c);
	assert_int_equal(qp->state, IW_QPS_ERR);
	assert_int_equal(iw_cq_poll(cq, 1, &cqe), 1);
	assert_int_equal(cqe.wr_id, 77);
	assert_int_equal(cqe.status, IW_WC_RETRY_EXC_ERR);
	free_qp(qp);
	over(opened);
}

/*
 * The peer ends the session: who sends afterwards, or has been sending, is told, but not at once; also who waits
 * in SQD for that to end.
 */
static void test_peer_has_gone(void **state)
{
	struct oob_attr attr = { .rnr_retry = 7, .limit = 5000 * MSEC, .gone = 100 * MSEC };

	for (int turn = 0; turn < 3; turn++) {
		enum iw_qp_state at = turn == 2 ? IW_QPS_SQD : IW_QPS_RTS;
		bool early = turn > 0;
		struct iw_qp *qp = new_qp();
		struct oob_message m;
		struct iw_cqe cqe;
		struct conn_assoc *a;

		connect_oob(qp, LARGER);
		a = peer_opens(LARGER >> 8, 7);
		say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
		expect(a, SESSION_ENHANCED_ACCEPT, &m);
		assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
		oob_set_attr(qp, &attr);
		if (early)
			send_one(qp);
		assert_int_equal(iw_qp_modify(qp, at), 0);
		say(a, 0, 1, SESSION_TERMINATE, 0, 0);
		c->now += 60000 * MSEC * (uint64_t)!early;
		oob_timers(c);
		assert_int_equal(qp->state, at);
		if (!early)
			send_one(qp);
		c->now += 99 * MSEC;
		oob_timers(c);
		assert_int_equal(qp->state, at);
		assert_int_equal(iw_cq_poll(cq, 1, &cqe), 0);
		c->now += 2 * MSEC;
		oob_timers(c);
		assert_int_equal(qp->state, IW_QPS_ERR);
		assert_int_equal(iw_cq_poll(cq, 1, &cqe), 1);
		assert_int_equal(cqe.status, IW_WC_RETRY_EXC_ERR);
		assert_int_equal(oob_next_timeout(c), TIME_NEVER);
		free_qp(qp);
		over(a);
	}
}

/* A QP in error asks for nobody, and an Initiate is for the time after its reset. */
static void test_in_error_it_rests(void **state)
{
	struct iw_qp *qp = new_qp(), *other = new_qp();
	struct oob_message m;
	struct conn_assoc *a;

	connect_oob(other, LARGER + 1); /* so that the port is open */
	connect_oob(qp, LARGER);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_ERR), 0);
	a = peer_opens(LARGER >> 8, 7);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect_nothing(a);
	assert_int_equal(c->oob.n_early, 1);
	over(a);
	free_qp(other);
	c->now += 60000 * MSEC;
	oob_timers(c);
	assert_null(opened);
	assert_int_equal(oob_next_timeout(c), TIME_NEVER);
	a = peer_opens(LARGER >> 8, 7);
	say(a, 0, 0, SESSION_ENHANCED_INITIATE, LARGER, qp->num);
	expect_nothing(a);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RESET), 0);
	oob_disconnect(qp);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	connect_oob(qp, LARGER);
	expect(a, SESSION_ENHANCED_ACCEPT, &m);
	over(a);
	free_qp(qp);
}

/* The port stays with the process: what has lost its last session is kept for the next QP. */
static void test_association_is_kept(void **state)
{
	struct iw_qp *qp = new_qp();
	uint16_t sid;

	connect_oob(qp, SMALLER);
	assert_true(conn_assoc_up(opened, true, 64, 1400));
	sid = expect(opened, SESSION_ENHANCED_INITIATE, NULL);
	say(opened, sid, 0, SESSION_ENHANCED_ACCEPT, SMALLER, qp->num);
	say(opened, sid, 1, SESSION_TERMINATE, 0, 0);
	expect(opened, SESSION_TERMINATE, NULL);
	assert_int_equal(iw_assoc_sessions(opened->iw), 0);
	c->now += 1999 * MSEC;
	conn_assoc_timers(c);
	assert_null(shut);
	c->now += 2 * MSEC;
	conn_assoc_timers(c);
	assert_ptr_equal(shut, opened);
	over(opened);
	free_qp(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test_setup_teardown(test_larger_initiates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_smaller_waits_and_yields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_stream_one_number, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_early_ones_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_comes_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_has_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_error_it_rests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_association_is_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
