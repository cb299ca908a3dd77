/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion channels and asynchronous events that are reported, acknowledged, or vanish. */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

static void send_one(struct pair *p, unsigned int flags)
{
	struct ibv_sge sge = sge_of(p->b.mr, p->b.buf, 64);
	struct ibv_wc wc;

	CHECK_EQ(post_recv(&p->b, 1, &sge, 1), 0);
	sge = sge_of(p->a.mr, p->a.buf, 64);
	CHECK_EQ(post_send(&p->a, 2, &sge, 1, IBV_SEND_SIGNALED | flags), 0);
	expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
}

static void get_event(struct side *s)
{
	struct ibv_cq *cq;
	void *context;

	CHECK(readable(s->channel->fd, WAIT_SECONDS * 1000));
	CHECK_EQ(ibv_get_cq_event(s->channel, &cq, &context), 0);
	CHECK(cq == s->recv_cq && context == s);
}

/* A CQ that is armed once raises one event. It must be armed again for the next. */
static void test_armed_once(void)
{
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	send_one(&p, 0);
	CHECK(!readable(p.b.channel->fd, 50)); /* the CQ was not armed */
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	CHECK(!readable(p.b.channel->fd, 50)); /* earlier completions do not count */
	send_one(&p, 0);
	get_event(&p.b);
	send_one(&p, 0);
	CHECK(!readable(p.b.channel->fd, 50));
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	send_one(&p, 0);
	get_event(&p.b);
	ibv_ack_cq_events(p.b.recv_cq, 2);
	for (int i = 0; i < 4; i++)
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	pair_close(&p);
}

static void test_solicited(void)
{
	ROWS("5040-5.3-06");
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	send_one(&p, 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK(!readable(p.b.channel->fd, 50));
	send_one(&p, IBV_SEND_SOLICITED);
	get_event(&p.b);
	/* An error counts as solicited. */
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	CHECK_EQ(post_recv(&p.b, 9, NULL, 0), 0);
	CHECK_EQ(rdma_disconnect(p.a.id), 0);
	get_event(&p.b);
	ibv_ack_cq_events(p.b.recv_cq, 2);
	pair_close(&p);
}

static void test_nonblocking(void)
{
	struct ibv_cq *cq;
	void *context;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(fcntl(p.b.channel->fd, F_SETFL, O_NONBLOCK), 0);
	errno = 0;
	CHECK_EQ(ibv_get_cq_event(p.b.channel, &cq, &context), -1);
	CHECK_EQ(errno, EAGAIN);
	pair_close(&p);
}

/* An unread event vanishes with its CQ. An event of another CQ on the same channel stays. */
static void test_destroy_with_unread_events(void)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_context *ctx = open_device();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_qp *qp[2];
	struct ibv_cq *cq[2], *got;
	void *context;

	CHECK(channel && pd);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

		cq[i] = ibv_create_cq(ctx, 10, NULL, channel, 0);
		CHECK(cq[i]);
		init.send_cq = init.recv_cq = cq[i];
		qp[i] = ibv_create_qp(pd, &init);
		CHECK(qp[i]);
		attr.qp_state = IBV_QPS_INIT;
		CHECK_EQ(ibv_modify_qp(qp[i], &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
			 0);
		CHECK_EQ(ibv_req_notify_cq(cq[i], 0), 0);
		CHECK_EQ(ibv_post_recv(qp[i], &wr, &bad), 0);
		attr.qp_state = IBV_QPS_ERR;
		CHECK_EQ(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE), 0);
		CHECK(readable(channel->fd, WAIT_SECONDS * 1000));
		CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
	}
	CHECK_EQ(ibv_destroy_cq(cq[0]), 0);
	CHECK_EQ(ibv_get_cq_event(channel, &got, &context), 0);
	CHECK(got == cq[1]);
	ibv_ack_cq_events(got, 1);
	CHECK(!readable(channel->fd, 0));
	CHECK_EQ(ibv_destroy_cq(cq[1]), 0);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

struct late_ack {
	struct ibv_cq *cq;
	_Atomic bool acked;
};

static void *ack_later(void *arg)
{
	struct late_ack *late = arg;

	sleep_ms(200);
	late->acked = true;
	ibv_ack_cq_events(late->cq, 1);
	return NULL;
}

/* ibv_destroy_cq() waits until the events that were read are acknowledged. */
static void test_destroy_waits_for_ack(void)
{
	struct late_ack late;
	pthread_t thread;
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	send_one(&p, 0);
	get_event(&p.b);
	qp = p.b.qp;
	CHECK(qp);
	rdma_destroy_qp(p.b.id);
	p.b.qp = NULL;
	late = (struct late_ack){ .cq = p.b.recv_cq };
	CHECK_EQ(pthread_create(&thread, NULL, ack_later, &late), 0);
	CHECK_EQ(ibv_destroy_cq(p.b.recv_cq), 0);
	CHECK(late.acked);
	pthread_join(thread, NULL);
	p.b.recv_cq = ibv_create_cq(p.b.id->verbs, 1, NULL, NULL, 0);
	CHECK(p.b.recv_cq);
	pair_close(&p);
}

/* Unread asynchronous events vanish with their QP. */
static void test_destroy_qp_with_unread_events(void)
{
	struct ibv_sge sge;
	struct ibv_context *ctx;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	ctx = p.a.qp->context;
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, &sge, 1, (uintptr_t)p.b.buf, p.b.mr->rkey + 1,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	CHECK(readable(ctx->async_fd, WAIT_SECONDS * 1000));
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	sleep_ms(50);
	rdma_destroy_qp(p.a.id);
	rdma_destroy_qp(p.b.id);
	p.a.qp = p.b.qp = NULL;
	CHECK(!readable(ctx->async_fd, 0));
	pair_close(&p);
}

/* Two threads. Each sleeps in its channel until the other thread's message comes. */
enum { TURNS = 500 };

struct player {
	struct side *s;
	bool serves;
};

static void wait_for_message(struct side *s)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(s->recv_cq, 1, &wc))) {
		CHECK_EQ(ibv_req_notify_cq(s->recv_cq, 0), 0);
		n = ibv_poll_cq(s->recv_cq, 1, &wc);
		if (n)
			break;
		get_event(s);
		ibv_ack_cq_events(s->recv_cq, 1);
	}
	CHECK_EQ(n, 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void *play(void *arg)
{
	struct player *player = arg;
	struct side *s = player->s;
	struct ibv_sge to = sge_of(s->mr, s->buf, 64), from = sge_of(s->mr, s->buf + 64, 64);
	struct ibv_wc wc;

	for (int i = 0; i < TURNS; i++) {
		if (i || !player->serves) {
			wait_for_message(s);
			CHECK_EQ(post_recv(s, i, &to, 1), 0);
		}
		CHECK_EQ(post_send(s, i, &from, 1, IBV_SEND_SIGNALED), 0);
		expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	}
	if (player->serves)
		wait_for_message(s);
	return NULL;
}

static void test_ping_pong_by_events(void)
{
	struct player players[2];
	struct ibv_sge sge;
	pthread_t thread;
	struct pair p;

	pair_open(&p, NULL);
	players[0] = (struct player){ &p.a, true };
	players[1] = (struct player){ &p.b, false };
	for (int i = 0; i < 2; i++) {
		sge = sge_of(players[i].s->mr, players[i].s->buf, 64);
		CHECK_EQ(post_recv(players[i].s, 0, &sge, 1), 0);
	}
	CHECK_EQ(pthread_create(&thread, NULL, play, &players[1]), 0);
	play(&players[0]);
	pthread_join(thread, NULL);
	pair_close(&p);
}

static void test_extended_cq(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_qp_attr qp_attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr init = { .cap = { 1, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_qp *qp;

	CHECK(pd && cq);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK_EQ(ibv_modify_qp(qp, &qp_attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS),
		 0);
	for (wr.wr_id = 10; wr.wr_id < 13; wr.wr_id++)
		CHECK_EQ(ibv_post_recv(qp, &wr, &bad), 0);
	qp_attr.qp_state = IBV_QPS_ERR;
	CHECK_EQ(ibv_modify_qp(qp, &qp_attr, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), 0);
	for (uint64_t id = 10; id < 13; id++) {
		CHECK_EQ(cq->wr_id, id);
		CHECK_EQ(cq->status, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
		CHECK_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
		CHECK_EQ(ibv_wc_read_wc_flags(cq), 0);
		CHECK_EQ(ibv_wc_read_src_qp(cq), 0);
		CHECK_EQ(ibv_next_poll(cq), id < 12 ? 0 : ENOENT);
	}
	ibv_end_poll(cq);
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), ENOENT);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "armed_once", test_armed_once },
		{ "solicited", test_solicited },
		{ "nonblocking", test_nonblocking },
		{ "destroy_with_unread_events", test_destroy_with_unread_events },
		{ "destroy_waits_for_ack", test_destroy_waits_for_ack },
		{ "destroy_qp_with_unread_events", test_destroy_qp_with_unread_events },
		{ "ping_pong_by_events", test_ping_pong_by_events },
		{ "extended_cq", test_extended_cq },
	};

	return RUN_TESTS(argc, argv, tests);
}
