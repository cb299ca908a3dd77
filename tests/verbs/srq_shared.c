/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: peer_to_peer.srq_shared --peer-to-peer send -- */
/* Several connections on one shared receive queue: shares of the receives, events, errors. */
#include "srq.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#define DEPTH 64  /* work requests of a send queue */
#define ENDS 4	  /* connections */
#define SLOT 256u /* bytes of a receive */

/* Connections whose receiving ends share an SRQ, with memory for all of its receives. */
struct shared {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint8_t *buf;
	struct ibv_mr *mr;
	struct pair pair[ENDS];
	unsigned int ends;
};

static void shared_open(struct shared *t, unsigned int ends, uint32_t depth)
{
	struct pair_options o = { .cap = { DEPTH, 1, 2, 1, 0 } };

	memset(t, 0, sizeof(*t));
	t->ctx = cm_device();
	t->pd = ibv_alloc_pd(t->ctx);
	CHECK(t->pd);
	t->cq = ibv_create_cq(t->ctx, 1024, t, NULL, 0);
	CHECK(t->cq);
	t->srq = o.srq = srq_new(t->pd, depth);
	o.recv_cq = t->cq;
	t->buf = calloc(depth, SLOT);
	t->mr = ibv_reg_mr(t->pd, t->buf, (size_t)depth * SLOT, IBV_ACCESS_LOCAL_WRITE);
	CHECK(t->mr);
	for (t->ends = 0; t->ends < ends; t->ends++)
		pair_open(&t->pair[t->ends], &o);
}

static void shared_close(struct shared *t)
{
	for (unsigned int i = 0; i < t->ends; i++)
		pair_close(&t->pair[i]);
	CHECK_EQ(ibv_destroy_srq(t->srq), 0);
	CHECK_EQ(ibv_destroy_cq(t->cq), 0);
	CHECK_EQ(ibv_dereg_mr(t->mr), 0);
	CHECK_EQ(ibv_dealloc_pd(t->pd), 0);
	free(t->buf);
}

/* Posts the receive `id`, into two elements of its slot. */
static void post_slot(struct shared *t, uint64_t id)
{
	uint8_t *at = t->buf + id * SLOT;
	struct ibv_sge sge[2] = { sge_of(t->mr, at, 100), sge_of(t->mr, at + 100, SLOT - 100) };

	CHECK_EQ(srq_post(t->srq, id, sge, 2), 0);
}

static void send_number(struct shared *t, unsigned int end, unsigned int number, unsigned int flags)
{
	struct side *s = &t->pair[end].a;
	uint8_t *at = s->buf + number % DEPTH * SLOT;
	struct ibv_sge sge = sge_of(s->mr, at, SLOT);

	fill(at, SLOT, end * 1000 + number);
	CHECK_EQ(post_send(s, number, &sge, 1, flags), 0);
}

static unsigned int end_of(const struct shared *t, uint32_t qp_num)
{
	unsigned int i = 0;

	while (i < t->ends && t->pair[i].b.qp->qp_num != qp_num)
		i++;
	CHECK(i < t->ends);
	return i;
}

/*
 * The messages of each connection arrive whole, in order, and completely. Several threads post
 * receives at once, far fewer than messages.
 */
enum { POSTERS = 3, MESSAGES = 2000 };

struct poster {
	struct shared *t;
	pthread_mutex_t lock;
	uint64_t free[DEPTH];
	unsigned int n;
	bool over;
};

static void *keep_posting(void *arg)
{
	struct poster *p = arg;

	for (;;) {
		uint64_t id = 0;
		bool any, over;

		pthread_mutex_lock(&p->lock);
		over = p->over;
		any = p->n > 0;
		if (any)
			id = p->free[--p->n];
		pthread_mutex_unlock(&p->lock);
		if (any)
			post_slot(p->t, id);
		else if (over)
			return NULL;
		else
			sched_yield();
	}
}

static void test_traffic(void)
{
	unsigned int sent[ENDS] = { 0 }, out[ENDS] = { 0 }, got[ENDS] = { 0 }, total = 0;
	struct poster p = { .lock = PTHREAD_MUTEX_INITIALIZER };
	double end = now_seconds() + 60;
	pthread_t threads[POSTERS];
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, ENDS, DEPTH);
	p.t = &t;
	for (p.n = 0; p.n < DEPTH; p.n++)
		p.free[p.n] = p.n;
	for (int i = 0; i < POSTERS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, keep_posting, &p), 0);
	while (total < ENDS * MESSAGES) {
		CHECK(now_seconds() < end);
		for (unsigned int i = 0; i < ENDS; i++) {
			while (sent[i] < MESSAGES && out[i] < DEPTH && sent[i] - got[i] < DEPTH) {
				send_number(&t, i, sent[i]++, IBV_SEND_SIGNALED);
				out[i]++;
			}
			while (ibv_poll_cq(t.pair[i].a.send_cq, 1, &wc) > 0) {
				CHECK_EQ(wc.status, IBV_WC_SUCCESS);
				out[i]--;
			}
		}
		while (ibv_poll_cq(t.cq, 1, &wc) > 0) {
			unsigned int i = end_of(&t, wc.qp_num);

			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
			CHECK_EQ(wc.byte_len, SLOT);
			CHECK(filled(t.buf + wc.wr_id * SLOT, SLOT, i * 1000 + got[i]));
			got[i]++;
			total++;
			pthread_mutex_lock(&p.lock);
			p.free[p.n++] = wc.wr_id;
			pthread_mutex_unlock(&p.lock);
		}
	}
	pthread_mutex_lock(&p.lock);
	p.over = true;
	pthread_mutex_unlock(&p.lock);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(threads[i], NULL);
	shared_close(&t);
}

/* Sends wait until receives are posted, and every connection gets its share of them. */
static void test_held(void)
{
	unsigned int got[ENDS] = { 0 };
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, ENDS, DEPTH);
	for (unsigned int n = 0; n < 5; n++)
		for (unsigned int i = 0; i < ENDS; i++)
			send_number(&t, i, n, 0);
	for (unsigned int i = 0; i < ENDS; i++)
		send_number(&t, i, 5, IBV_SEND_SIGNALED);
	expect_no_wc(t.cq, 50);
	for (unsigned int i = 0; i < ENDS; i++)
		expect_no_wc(t.pair[i].a.send_cq, 1);
	for (unsigned int n = 0; n < 6 * ENDS; n++) {
		unsigned int i;

		post_slot(&t, n);
		expect_wc(t.cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, n);
		i = end_of(&t, wc.qp_num);
		CHECK(filled(t.buf + n * SLOT, SLOT, i * 1000 + got[i]));
		got[i]++;
		if (n % ENDS == ENDS - 1)
			for (unsigned int k = 0; k < ENDS; k++)
				CHECK_EQ(got[k], n / ENDS + 1);
	}
	expect_no_wc(t.cq, 20);
	for (unsigned int i = 0; i < ENDS; i++)
		expect_wc(t.pair[i].a.send_cq, IBV_WC_SUCCESS, &wc);
	shared_close(&t);
}

static bool async_waits(struct shared *t)
{
	struct pollfd pfd = { .fd = t->ctx->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* The event comes together with the completion, not before. */
static bool async_comes(struct shared *t)
{
	struct pollfd pfd = { .fd = t->ctx->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 10000) == 1;
}

static void arm(struct shared *t, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	CHECK_EQ(ibv_modify_srq(t->srq, &attr, IBV_SRQ_LIMIT), 0);
}

static void receive_one(struct shared *t, unsigned int number)
{
	struct ibv_wc wc;

	send_number(t, 0, number, 0);
	expect_wc(t->cq, IBV_WC_SUCCESS, &wc);
}

static void test_limit(void)
{
	ROWS("5041-8.3.2-07 5042-6.4.3.1-01");
	struct ibv_srq_attr attr;
	struct shared t;

	shared_open(&t, 1, DEPTH);
	for (uint64_t id = 0; id < 10; id++)
		post_slot(&t, id);
	arm(&t, 8);
	receive_one(&t, 0);
	receive_one(&t, 1);
	CHECK(!async_waits(&t)); /* eight receives are left */
	receive_one(&t, 2);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, t.srq });
	CHECK_EQ(ibv_query_srq(t.srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	receive_one(&t, 3);
	CHECK(!async_waits(&t)); /* the event comes once */
	arm(&t, 6);
	receive_one(&t, 4);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, t.srq });
	arm(&t, 6);
	receive_one(&t, 5);
	CHECK(async_comes(&t));
	shared_close(&t); /* the unread event vanishes */
	CHECK(!async_waits(&t));
}

struct late_ack {
	struct ibv_async_event event;
	_Atomic bool acked;
};

static void *ack_later(void *arg)
{
	struct late_ack *late = arg;

	sleep_ms(200);
	late->acked = true;
	ibv_ack_async_event(&late->event);
	return NULL;
}

static void test_destroy_waits_for_ack(void)
{
	struct late_ack late = { .acked = false };
	pthread_t thread;
	struct shared t;

	shared_open(&t, 1, DEPTH);
	post_slot(&t, 0);
	arm(&t, 1);
	receive_one(&t, 0);
	CHECK_EQ(ibv_get_async_event(t.ctx, &late.event), 0);
	CHECK_EQ(late.event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(late.event.element.srq == t.srq);
	CHECK_EQ(pthread_create(&thread, NULL, ack_later, &late), 0);
	shared_close(&t);
	CHECK(late.acked);
	pthread_join(thread, NULL);
}

/*
 * A QP in the error state reports that it takes no more receives. The remaining receives are for
 * the other QP.
 */
static void test_last_wqe(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, 2, DEPTH);
	for (uint64_t id = 0; id < 4; id++)
		post_slot(&t, id);
	CHECK_EQ(rdma_disconnect(t.pair[0].a.id), 0);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_QP_LAST_WQE_REACHED, t.pair[0].b.qp });
	expect_qp_state(t.pair[0].b.qp, IBV_QPS_ERR);
	expect_no_wc(t.cq, 20);
	CHECK_EQ(ibv_modify_qp(t.pair[0].b.qp, &attr, IBV_QP_STATE), 0);
	CHECK(!async_waits(&t)); /* the event comes once */
	for (unsigned int n = 0; n < 4; n++) {
		send_number(&t, 1, n, 0);
		expect_wc(t.cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, n);
	}
	CHECK_EQ(ibv_modify_qp(t.pair[1].b.qp, &attr, IBV_QP_STATE), 0);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_QP_LAST_WQE_REACHED, t.pair[1].b.qp });
	shared_close(&t);
}

/* If a receive of the SRQ cannot take a message, the receive fails, and so does its QP. */
static void test_receive_in_error(void)
{
	struct ibv_sge bad;
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, 2, DEPTH);
	bad = sge_of(t.mr, t.buf, SLOT);
	bad.lkey++;
	CHECK_EQ(srq_post(t.srq, 70, &bad, 1), 0);
	bad = sge_of(t.mr, t.buf, SLOT - 1);
	send_number(&t, 0, 0, 0);
	expect_wc(t.cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK(wc.wr_id == 70 && wc.qp_num == t.pair[0].b.qp->qp_num);
	expect_wc(t.pair[0].a.send_cq, IBV_WC_REM_OP_ERR, &wc);
	expect_qp_state(t.pair[0].b.qp, IBV_QPS_ERR);
	CHECK_EQ(srq_post(t.srq, 71, &bad, 1), 0);
	send_number(&t, 1, 0, 0);
	expect_wc(t.cq, IBV_WC_LOC_LEN_ERR, &wc);
	CHECK(wc.wr_id == 71 && wc.qp_num == t.pair[1].b.qp->qp_num);
	expect_wc(t.pair[1].a.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	shared_close(&t);
}

static void send_imm(struct shared *t, unsigned int end, enum ibv_wr_opcode opcode, uint32_t len,
		     uint32_t imm)
{
	struct pair *p = &t->pair[end];
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, len);
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = len ? 1 : 0,
				  .opcode = opcode,
				  .imm_data = htonl(imm),
				  .wr.rdma = { (uintptr_t)p->b.buf, p->b.mr->rkey } };
	struct ibv_send_wr *bad;

	CHECK_EQ(ibv_post_send(p->a.qp, &wr, &bad), 0);
}

static void expect_imm(struct shared *t, const struct ibv_wc *wc, enum ibv_wc_opcode opcode,
		       uint32_t len, uint32_t imm)
{
	CHECK_EQ(wc->opcode, opcode);
	CHECK_EQ(wc->wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(wc->byte_len, len);
	CHECK_EQ(ntohl(wc->imm_data), imm);
}

/* Waits for the next of four messages of each connection, which come in order. */
static void expect_mixed(struct shared *t, const struct ibv_wc *wc, unsigned int end,
			 unsigned int n)
{
	switch (n % 4) {
	case 0:
		expect_imm(t, wc, IBV_WC_RECV_RDMA_WITH_IMM, 5000 + end, 100 * end + n);
		CHECK(filled(t->pair[end].b.buf, 5000 + end, end));
		break;
	case 1:
		expect_imm(t, wc, IBV_WC_RECV, 0, 100 * end + n);
		break;
	case 2:
		CHECK_EQ(wc->opcode, IBV_WC_RECV);
		CHECK_EQ(wc->wc_flags, 0);
		CHECK_EQ(wc->byte_len, SLOT);
		CHECK(filled(t->buf + wc->wr_id * SLOT, SLOT, end * 1000 + n));
		break;
	default:
		expect_imm(t, wc, IBV_WC_RECV_RDMA_WITH_IMM, 0, 100 * end + n);
	}
}

/* Immediate data takes a receive as a Send does, whether the receive is posted before or later. */
static void test_immediate(void)
{
	ROWS("7306-6-01 7306-6.3-02 7306-6.3-03");
	unsigned int got[ENDS] = { 0 };
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, ENDS, DEPTH);
	for (uint64_t id = 0; id < 20; id++)
		post_slot(&t, id);
	for (unsigned int i = 0; i < ENDS; i++)
		fill(t.pair[i].a.buf, 5000 + i, i);
	for (unsigned int n = 0; n < 12; n += 4)
		for (unsigned int i = 0; i < ENDS; i++) {
			send_imm(&t, i, IBV_WR_RDMA_WRITE_WITH_IMM, 5000 + i, 100 * i + n);
			send_imm(&t, i, IBV_WR_SEND_WITH_IMM, 0, 100 * i + n + 1);
			/* The Writes come from other memory. */
			fill(t.pair[i].a.buf + 8192 + n * SLOT, SLOT, i * 1000 + n + 2);
			CHECK_EQ(post_send(&t.pair[i].a, n + 2,
					   (struct ibv_sge[]){ sge_of(
						   t.pair[i].a.mr,
						   t.pair[i].a.buf + 8192 + n * SLOT, SLOT) },
					   1, 0),
				 0);
			send_imm(&t, i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100 * i + n + 3);
		}
	for (uint64_t id = 0; id < 12 * ENDS; id++) {
		unsigned int i;

		if (id >= 20)
			post_slot(&t, id);
		expect_wc(t.cq, IBV_WC_SUCCESS, &wc);
		i = end_of(&t, wc.qp_num);
		expect_mixed(&t, &wc, i, got[i]++);
	}
	expect_no_wc(t.cq, 10);
	/* Immediate data counts towards the limit. */
	post_slot(&t, 0);
	post_slot(&t, 1);
	arm(&t, 2);
	send_imm(&t, 0, IBV_WR_RDMA_WRITE_WITH_IMM, 10, 5);
	expect_wc(t.cq, IBV_WC_SUCCESS, &wc);
	expect_imm(&t, &wc, IBV_WC_RECV_RDMA_WITH_IMM, 10, 5);
	CHECK_EQ(wc.wr_id, 0);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, t.srq });
	shared_close(&t);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "traffic", test_traffic },
		{ "held", test_held },
		{ "limit", test_limit },
		{ "destroy_waits_for_ack", test_destroy_waits_for_ack },
		{ "last_wqe", test_last_wqe },
		{ "receive_in_error", test_receive_in_error },
		{ "immediate", test_immediate },
	};

	return RUN_TESTS(argc, argv, tests);
}
