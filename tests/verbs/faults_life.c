/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of objects that come, change and go (docs/faults.md). Delayed completions and events end
 * with their objects, or move with them, and nothing is lost. Every test runs in a separate
 * process, as in faults_verbs.c.
 */
#include "child.h"
#include "faults_steps.h"
#include "out_of_band.h"
#include "srq.h"
#include "ud_steps.h"

#include <malloc.h>
#include <poll.h>

static void write_one(struct pair *p, uint64_t id)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 64);

	CHECK_EQ(post_rdma(&p->a, IBV_WR_RDMA_WRITE, id, &sge, 1, address(p->b.buf), p->b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
}

/* Sends 64 bytes into a receive of b. */
static void send_one(struct pair *p, uint64_t id)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 64);
	struct ibv_wc wc;

	CHECK_EQ(post_send(&p->a, id, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
}

/* ---- destroyed CQs ---- */

/*
 * CQs are destroyed while a completion and a notification are delayed. A late timer would find
 * memory that belongs to another object, or that is overwritten.
 */
static void test_destroyed(void)
{
	struct ibv_sge sge;
	struct pair p;

	mallopt(M_PERTURB, 0xa5);
	rules("writes: delay 300 ms; notifications: delay 300 ms; receives: delay 300 ms");
	pair_open(&p, NULL);
	write_one(&p, 1);
	sge = sge_of(p.b.mr, p.b.buf, 64);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	send_one(&p, 2);
	expect_no_wc(p.b.recv_cq, 50);
	/* Armed again, so that the end of the CQ would have its own event. */
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	pair_close(&p);
	/* The device continues for others. */
	pair_open(&p, NULL);
	sleep_ms(500);
	pair_close(&p);
}

/* ---- resized CQs ---- */

/* Delayed completions stay delayed in a ring of another size, and no others do. */
static void test_resized(void)
{
	struct ibv_wc wc;
	struct pair p;
	double begin;

	rules("7th write: delay 400 ms");
	pair_open(&p, NULL);
	CHECK_EQ(ibv_resize_cq(p.a.send_cq, 4), 0);
	for (uint64_t id = 1; id <= 6; id++) {
		write_one(&p, id);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	}
	begin = now_seconds();
	write_one(&p, 7);
	expect_no_wc(p.a.send_cq, 50);
	CHECK_EQ(ibv_resize_cq(p.a.send_cq, 5000), 0);
	write_one(&p, 8);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 7);
	CHECK(now_seconds() - begin >= 0.4);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 8);
	pair_close(&p);
}

/* Two connections with receives from one SRQ, which complete on one CQ with a channel. */
struct two {
	struct ibv_comp_channel *channel;
	struct pair p[2];
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
};

static uint8_t received[2][64];

static void two_open(struct two *t)
{
	struct ibv_context *device = cm_device();

	t->pd = ibv_alloc_pd(device);
	CHECK(t->pd);
	t->mr = ibv_reg_mr(t->pd, received, sizeof(received), IBV_ACCESS_LOCAL_WRITE);
	t->channel = ibv_create_comp_channel(device);
	CHECK(t->mr && t->channel);
	t->cq = ibv_create_cq(device, 16, NULL, t->channel, 0);
	CHECK(t->cq);
	t->srq = srq_new(t->pd, 16);
	for (int i = 0; i < 2; i++) {
		struct pair_options o = { .srq = t->srq, .recv_cq = t->cq };
		struct ibv_sge sge = sge_of(t->mr, received[i], sizeof(received[i]));

		pair_open(&t->p[i], &o);
		CHECK_EQ(srq_post(t->srq, 1 + (uint64_t)i, &sge, 1), 0);
	}
}

static void two_close(struct two *t)
{
	CHECK_EQ(ibv_destroy_srq(t->srq), 0);
	CHECK_EQ(ibv_destroy_cq(t->cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(t->channel), 0);
	CHECK_EQ(ibv_dereg_mr(t->mr), 0);
	CHECK_EQ(ibv_dealloc_pd(t->pd), 0);
}

/* Waits for the event of the CQ, and then for a completion, which must be available at once. */
static void expect_woken(struct two *t, uint64_t wr_id)
{
	struct pollfd fd = { .fd = t->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	CHECK_EQ(poll(&fd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(t->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.wr_id, wr_id);
}

/*
 * A QP is destroyed whose completion blocks that of another QP. The blocked completion becomes
 * available, with an event.
 */
static void test_freed(void)
{
	struct two t;

	rules("1st receive: delay 1 min");
	two_open(&t);
	send_one(&t.p[0], 1);
	send_one(&t.p[1], 2);
	expect_no_wc(t.cq, 50);
	CHECK_EQ(ibv_req_notify_cq(t.cq, 0), 0);
	pair_close(&t.p[0]);
	expect_woken(&t, 2);
	pair_close(&t.p[1]);
	two_close(&t);
}

/*
 * The QP whose completion follows another QP's is destroyed. The other completion moves in the
 * ring, but keeps its delay.
 */
static void test_moved(void)
{
	struct two t;
	double begin;

	rules("1st receive: delay 300 ms; 2nd receive: delay 1 min");
	two_open(&t);
	begin = now_seconds();
	send_one(&t.p[0], 1);
	send_one(&t.p[1], 2);
	expect_no_wc(t.cq, 50);
	pair_close(&t.p[1]);
	CHECK_EQ(ibv_req_notify_cq(t.cq, 0), 0);
	expect_no_wc(t.cq, 0);
	expect_woken(&t, 1);
	CHECK(now_seconds() - begin >= 0.3);
	pair_close(&t.p[0]);
	two_close(&t);
}

/* ---- notifications ---- */

/* A program that arms its CQ repeatedly gets the event in the end. */
static void test_starving(void)
{
	struct pollfd fd = { .events = POLLIN };
	struct ibv_cq *cq;
	struct ibv_wc wc;
	struct pair p;
	void *context;
	bool heard = false;

	rules("notifications: delay 200 ms");
	pair_open(&p, NULL);
	fd.fd = p.b.channel->fd;
	for (uint64_t id = 1; id <= 40 && !heard; id++) {
		struct ibv_sge sge = sge_of(p.b.mr, p.b.buf, 64);

		CHECK_EQ(post_recv(&p.b, id, &sge, 1), 0);
		CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
		send_one(&p, id);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		heard = poll(&fd, 1, 50) == 1;
	}
	CHECK(heard);
	while (poll(&fd, 1, 300) == 1) {
		CHECK_EQ(ibv_get_cq_event(p.b.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
	}
	pair_close(&p);
}

/* ---- removed rules ---- */

static void recv_one(struct pair *p, uint64_t id)
{
	struct ibv_sge sge = sge_of(p->b.mr, p->b.buf, 64);

	CHECK_EQ(post_recv(&p->b, id, &sge, 1), 0);
}

/* Checks that the CQ of b's receives has an event, or that none comes. */
static void expect_event(struct pair *p, bool comes)
{
	struct pollfd fd = { .fd = p->b.channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	CHECK_EQ(poll(&fd, 1, comes ? WAIT_SECONDS * 1000 : 50), comes);
	if (!comes)
		return;
	CHECK_EQ(ibv_get_cq_event(p->b.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

/*
 * Completions that a removed rule has delayed are available, with an event. Those that another rule
 * delays stay delayed.
 */
static void test_let_go(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("1st receive: delay 10 min; 2nd receive: delay 11 min");
	pair_open(&p, NULL);
	recv_one(&p, 1);
	recv_one(&p, 2);
	send_one(&p, 3);
	send_one(&p, 4);
	expect_no_wc(p.b.recv_cq, 50);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	expect_no_wc(p.b.recv_cq, 0);
	ask_faults("remove", "1");
	expect_event(&p, true);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_no_wc(p.b.recv_cq, 50);
	ask_faults("remove", "all");
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
	pair_close(&p);
}

/* The same for completions that wait for others to gather. */
static void test_ungathered(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("receives: gather 100 within 10 min");
	pair_open(&p, NULL);
	recv_one(&p, 1);
	send_one(&p, 2);
	expect_no_wc(p.b.recv_cq, 50);
	ask_faults("remove", "1");
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	pair_close(&p);
}

/* The same for notifications: the program gets all of them. */
static void test_notified(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("receives: single, probability 0; notifications: delay 10 min");
	pair_open(&p, NULL);
	recv_one(&p, 1);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	send_one(&p, 2);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	ask_faults("remove", "1");
	expect_event(&p, false);
	ask_faults("remove", "2");
	expect_event(&p, true);
	pair_close(&p);
}

/* ---- queue pairs of unreliable service ---- */

/* Sends a datagram of 64 bytes from a to b, which completes with this status. */
static void datagram(struct side *a, const struct side *b, enum ibv_wc_status status)
{
	struct ibv_ah *ah = ah_to(a, b);
	struct ibv_wc wc;

	CHECK_EQ(ud_send(a, ah, b->qp->qp_num, QKEY, 64, IBV_WR_SEND, 0), 0);
	expect_wc(a->send_cq, status, &wc);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
}

/*
 * A failed datagram is an error of only the send queue: receives continue, and sends continue after
 * a return to RTS.
 */
static void test_ud(void)
{
	struct side a, b;
	struct ibv_wc wc;

	rules("1st send: complete with loc_qp_op_err");
	oob_open();
	ud_pair(&a, &b);
	datagram(&a, &b, IBV_WC_LOC_QP_OP_ERR);
	expect_qp_state(a.qp, IBV_QPS_SQE);
	datagram(&a, &b, IBV_WC_WR_FLUSH_ERR);
	ud_recv(&a, 1, GRH + 64);
	datagram(&b, &a, IBV_WC_SUCCESS);
	expect_wc(a.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), 0);
	ud_recv(&b, 2, GRH + 64);
	datagram(&a, &b, IBV_WC_SUCCESS);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
	close_pair(&a, &b);
}

static void test_uc(void)
{
	struct side a, b;
	struct ibv_wc wc;

	rules("1st send: complete with loc_prot_err; 1st receive: complete with loc_len_err");
	oob_open();
	oob_type = IBV_QPT_UC;
	oob_connect_pair(&a, &b);
	CHECK_EQ(send_from(&a, 1), 0);
	expect_wc(a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	expect_qp_state(a.qp, IBV_QPS_SQE);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), 0);
	recv_at(&b, 2);
	CHECK_EQ(send_from(&a, 3), 0);
	expect_sent(&a, 3);
	/* A failed receive ends the QP. */
	expect_wc(b.recv_cq, IBV_WC_LOC_LEN_ERR, &wc);
	expect_qp_state(b.qp, IBV_QPS_ERR);
	close_pair(&a, &b);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "destroyed", test_destroyed },
		{ "resized", test_resized },
		{ "freed", test_freed },
		{ "moved", test_moved },
		{ "starving", test_starving },
		{ "let_go", test_let_go },
		{ "ungathered", test_ungathered },
		{ "notified", test_notified },
		{ "ud", test_ud },
		{ "uc", test_uc },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
