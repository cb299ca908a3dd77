/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: peer_to_peer.srq --peer-to-peer send -- */
/* Shared receive queues: the calls and their errors, several connections on one queue, events. */
#include "fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 64
#define ENDS 4
#define SLOT 256u

static struct ibv_srq *new_srq(struct ibv_pd *pd, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);

	CHECK(srq);
	CHECK(init.attr.max_wr >= max_wr && init.attr.max_sge >= 2);
	return srq;
}

static int post(struct ibv_srq *srq, uint64_t wr_id, const struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = (struct ibv_sge *)sge, .num_sge = n };
	struct ibv_recv_wr *bad = NULL;
	int err = ibv_post_srq_recv(srq, &wr, &bad);

	CHECK(bad == (err ? &wr : NULL));
	return err;
}

static void test_create(void)
{
	static const struct ibv_srq_attr bad[] = {
		{ 0, 1, 0 }, { UINT32_MAX, 1, 0 }, { 1, UINT32_MAX, 0 } };
	struct ibv_srq_init_attr init = { .srq_context = &init, .attr = { 10, 3, 99 } };
	struct ibv_srq_init_attr_ex ex = { .attr = { 4, 1, 0 },
					   .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
							IBV_SRQ_INIT_ATTR_PD,
					   .srq_type = IBV_SRQT_BASIC };
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_device_attr device;
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	CHECK(pd);
	CHECK_EQ(ibv_query_device(ctx, &device), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ibv_srq_init_attr a = { .attr = bad[i] };

		CHECK_FAILS(ibv_create_srq(pd, &a), EINVAL);
	}
	srq = ibv_create_srq(pd, &init);
	CHECK(srq);
	CHECK(srq->context == ctx && srq->srq_context == &init && srq->pd == pd);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.max_wr, init.attr.max_wr);
	CHECK_EQ(attr.max_sge, init.attr.max_sge);
	CHECK_EQ(attr.srq_limit, 0); /* it means nothing when one is made */
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_destroy_srq(srq), 0);

	ex.pd = pd;
	srq = ibv_create_srq_ex(ctx, &ex);
	CHECK(srq);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	ex.srq_type = IBV_SRQT_XRC;
	CHECK_FAILS(ibv_create_srq_ex(ctx, &ex), EOPNOTSUPP);
	ex.srq_type = IBV_SRQT_TM;
	CHECK_FAILS(ibv_create_srq_ex(ctx, &ex), EOPNOTSUPP);
	/* The largest that the device says it has. */
	init.attr = (struct ibv_srq_attr){ device.max_srq_wr, device.max_srq_sge, 0 };
	srq = ibv_create_srq(pd, &init);
	CHECK(srq);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_modify(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_srq *srq = new_srq(pd, 10);
	struct ibv_srq_attr attr = { .max_wr = 20, .srq_limit = 15 }, now;

	CHECK_EQ(ibv_modify_srq(srq, &attr, 0), 0);
	CHECK_EQ(ibv_modify_srq(srq, &attr, 1 << 2), EINVAL);
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL); /* there are ten */
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), 0);
	CHECK_EQ(ibv_query_srq(srq, &now), 0);
	CHECK(now.max_wr == 20 && now.srq_limit == 15);
	attr.max_wr = 12;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* below the limit */
	attr.srq_limit = 13;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), EINVAL);
	attr = (struct ibv_srq_attr){ .max_wr = UINT32_MAX, .srq_limit = 1 };
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), EINVAL);
	CHECK_EQ(ibv_query_srq(srq, &now), 0);
	CHECK(now.max_wr == 20 && now.srq_limit == 15); /* nothing of it was done */
	attr = (struct ibv_srq_attr){ .max_wr = 3, .srq_limit = 0 };
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(post(srq, i, NULL, 0), 0);
	CHECK_EQ(post(srq, 3, NULL, 0), ENOMEM);
	attr.max_wr = 2;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* three are posted */
	attr.max_wr = 100;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	for (int i = 3; i < 100; i++)
		CHECK_EQ(post(srq, i, NULL, 0), 0);
	CHECK_EQ(post(srq, 100, NULL, 0), ENOMEM);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_post(void)
{
	struct ibv_sge sge[3] = { { 0, 0x80000000, 0 }, { 0, 0x80000000, 0 }, { 0, 1, 0 } };
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_srq *srq = new_srq(pd, 4);
	struct ibv_recv_wr wr[6] = { { 0 } }, *bad = NULL;
	int status;
	pid_t pid;

	CHECK_EQ(post(srq, 1, sge, 3), EINVAL);
	CHECK_EQ(post(srq, 1, sge, -1), EINVAL);
	CHECK_EQ(post(srq, 1, sge, 2), EINVAL); /* 4 GiB */
	/* What stands before the bad one in a chain is posted. */
	for (int i = 0; i < 5; i++)
		wr[i].next = &wr[i + 1];
	wr[2].num_sge = 3;
	wr[2].sg_list = sge;
	CHECK_EQ(ibv_post_srq_recv(srq, wr, &bad), EINVAL);
	CHECK(bad == &wr[2]);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr[3], &bad), ENOMEM);
	CHECK(bad == &wr[5]);
	CHECK_EQ(ibv_post_srq_recv(srq, NULL, &bad), 0);
	/* A child's SRQ is its parent's. */
	pid = fork();
	if (!pid) {
		struct ibv_srq_attr attr;

		CHECK_EQ(ibv_post_srq_recv(srq, wr, &bad), EIO);
		CHECK_EQ(ibv_query_srq(srq, &attr), EIO);
		CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EIO);
		CHECK_EQ(ibv_destroy_srq(srq), 0);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_qp(void)
{
	struct ibv_context *ctx = open_device(), *other = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *pd2 = ibv_alloc_pd(ctx);
	struct ibv_pd *far = ibv_alloc_pd(other);
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
					 .cap = { 4, UINT32_MAX, 1, UINT32_MAX, 0 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_srq *srq = new_srq(pd, 4), *foreign = new_srq(pd2, 4), *away = new_srq(far, 4);
	struct ibv_recv_wr wr = { 0 }, *bad = NULL;
	struct ibv_qp *qp;

	init.srq = foreign;
	CHECK_FAILS(ibv_create_qp(pd, &init), EINVAL);
	init.srq = away;
	CHECK_FAILS(ibv_create_qp(pd, &init), EINVAL);
	init.srq = srq;
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK(qp->srq == srq);
	CHECK(init.cap.max_recv_wr == 0 && init.cap.max_recv_sge == 0);
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       IBV_QP_ACCESS_FLAGS), 0);
	CHECK_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
	memset(&init, 0, sizeof(init));
	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK(init.srq == srq);
	CHECK_EQ(ibv_destroy_srq(srq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_destroy_srq(foreign), 0);
	CHECK_EQ(ibv_destroy_srq(away), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_dealloc_pd(pd2), 0);
	CHECK_EQ(ibv_dealloc_pd(far), 0);
	CHECK_EQ(ibv_close_device(other), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

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
	t->srq = o.srq = new_srq(t->pd, depth);
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

/* Into slot id, in two elements. */
static void post_slot(struct shared *t, uint64_t id)
{
	uint8_t *at = t->buf + id * SLOT;
	struct ibv_sge sge[2] = { sge_of(t->mr, at, 100), sge_of(t->mr, at + 100, SLOT - 100) };

	CHECK_EQ(post(t->srq, id, sge, 2), 0);
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
 * Each connection's messages arrive in order, all of them, and whole; receives are posted by several
 * threads at once, and by far fewer than there are messages.
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

/* Sends wait until somebody posts, and every connection gets its share of what is posted. */
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
	for (unsigned int i = 0; i < ENDS; i++)
		expect_wc(t.pair[i].a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_no_wc(t.cq, 50);
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
	shared_close(&t);
}

static bool async_waits(struct shared *t)
{
	struct pollfd pfd = { .fd = t->ctx->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
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
	CHECK(!async_waits(&t)); /* eight are left */
	receive_one(&t, 2);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, t.srq });
	CHECK_EQ(ibv_query_srq(t.srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	receive_one(&t, 3);
	CHECK(!async_waits(&t)); /* once */
	arm(&t, 6);
	receive_one(&t, 4);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, t.srq });
	arm(&t, 6);
	receive_one(&t, 5);
	CHECK(async_waits(&t));
	shared_close(&t); /* the unread one vanishes */
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

/* A QP in error takes no more: it says so, and the receives are there for the other one. */
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
	CHECK(!async_waits(&t)); /* once */
	for (unsigned int n = 0; n < 4; n++) {
		send_number(&t, 1, n, 0);
		expect_wc(t.cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, n);
	}
	CHECK_EQ(ibv_modify_qp(t.pair[1].b.qp, &attr, IBV_QP_STATE), 0);
	EXPECT_ASYNC(t.ctx, { IBV_EVENT_QP_LAST_WQE_REACHED, t.pair[1].b.qp });
	shared_close(&t);
}

/* A receive of the SRQ that cannot take the message fails with the QP that took it. */
static void test_receive_in_error(void)
{
	struct ibv_sge bad;
	struct shared t;
	struct ibv_wc wc;

	shared_open(&t, 2, DEPTH);
	bad = sge_of(t.mr, t.buf, SLOT);
	bad.lkey++;
	CHECK_EQ(post(t.srq, 70, &bad, 1), 0);
	bad = sge_of(t.mr, t.buf, SLOT - 1);
	send_number(&t, 0, 0, 0);
	expect_wc(t.cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK(wc.wr_id == 70 && wc.qp_num == t.pair[0].b.qp->qp_num);
	expect_qp_state(t.pair[0].b.qp, IBV_QPS_ERR);
	CHECK_EQ(post(t.srq, 71, &bad, 1), 0);
	send_number(&t, 1, 0, 0);
	expect_wc(t.cq, IBV_WC_LOC_LEN_ERR, &wc);
	CHECK(wc.wr_id == 71 && wc.qp_num == t.pair[1].b.qp->qp_num);
	shared_close(&t);
}

static void send_imm(struct shared *t, unsigned int end, enum ibv_wr_opcode opcode, uint32_t len,
		     uint32_t imm)
{
	struct pair *p = &t->pair[end];
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, len);
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = len ? 1 : 0, .opcode = opcode,
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

/* Of four messages of each connection, in their order: the next one is complete. */
static void expect_mixed(struct shared *t, const struct ibv_wc *wc, unsigned int end, unsigned int n)
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

/* Immediate data takes a receive as a Send does: those that are there, and those that come late. */
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
			/* From where the Writes are not. */
			fill(t.pair[i].a.buf + 8192 + n * SLOT, SLOT, i * 1000 + n + 2);
			CHECK_EQ(post_send(&t.pair[i].a, n + 2,
					   (struct ibv_sge[]){ sge_of(t.pair[i].a.mr,
								      t.pair[i].a.buf + 8192 + n * SLOT,
								      SLOT) }, 1, 0), 0);
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
	/* It counts towards the limit. */
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

/* By the calls of librdmacm: the SRQ of an id, endpoints with it, and data. */
static void test_cm(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 16 }, .sq_sig_all = 1 };
	struct rdma_conn_param param = { .srq = 1, .rnr_retry_count = 7 };
	struct rdma_cm_id *listener, *client, *server;
	struct rdma_addrinfo *info;
	uint8_t to[16] = { 0 };
	struct ibv_mr *mr;
	struct ibv_wc wc;
	char port[8];

	CHECK_EQ(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
	CHECK_EQ(rdma_create_ep(&listener, info, NULL, NULL), 0);
	rdma_freeaddrinfo(info);
	CHECK_EQ(rdma_listen(listener, 1), 0);
	snprintf(port, sizeof(port), "%u", ntohs(rdma_get_src_port(listener)));
	hints.ai_flags = 0;
	CHECK_EQ(rdma_getaddrinfo("127.0.0.1", port, &hints, &info), 0);
	CHECK_EQ(rdma_create_ep(&client, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	/* It blocks until the other side accepts: asynchronously, then. */
	CHECK_EQ(rdma_migrate_id(client, rdma_create_event_channel()), 0);
	CHECK_EQ(rdma_connect(client, &param), 0);
	CHECK_EQ(rdma_get_request(listener, &server), 0);
	CHECK_EQ(rdma_create_srq(server, NULL, &srq_init), 0);
	CHECK(server->srq && server->srq->pd == server->pd);
	init = (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 16 }, .srq = server->srq,
					   .qp_type = IBV_QPT_RC };
	CHECK_EQ(rdma_create_qp(server, NULL, &init), 0);
	CHECK(server->qp->srq == server->srq);
	mr = rdma_reg_msgs(server, to, sizeof(to));
	CHECK(mr);
	CHECK_EQ(rdma_accept(server, &param), 0);
	expect_cm_event(client->channel, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_EQ(rdma_post_send(client, NULL, "sixteen bytes..", 16, NULL, IBV_SEND_INLINE), 0);
	{
		struct ibv_sge sge = sge_of(mr, to, sizeof(to));

		CHECK_EQ(post(server->srq, 5, &sge, 1), 0);
	}
	expect_wc(server->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 5);
	CHECK(!memcmp(to, "sixteen bytes..", 16));
	CHECK_EQ(rdma_disconnect(client), 0);
	CHECK_EQ(rdma_dereg_mr(mr), 0);
	rdma_destroy_qp(server);
	rdma_destroy_srq(server);
	rdma_destroy_ep(server);
	{
		struct rdma_event_channel *channel = client->channel;

		rdma_destroy_ep(client);
		rdma_destroy_event_channel(channel);
	}
	rdma_destroy_ep(listener);
}

/* Closing the device takes what is left on it. */
static void test_close_with_leftovers(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
					 .cap = { 1, 0, 1, 0, 0 } };

	init.srq = new_srq(pd, 4);
	CHECK(ibv_create_qp(pd, &init));
	CHECK_EQ(post(init.srq, 1, NULL, 0), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "create", test_create },
		{ "modify", test_modify },
		{ "post", test_post },
		{ "qp", test_qp },
		{ "traffic", test_traffic },
		{ "held", test_held },
		{ "limit", test_limit },
		{ "destroy_waits_for_ack", test_destroy_waits_for_ack },
		{ "last_wqe", test_last_wqe },
		{ "receive_in_error", test_receive_in_error },
		{ "immediate", test_immediate },
		{ "cm", test_cm },
		{ "close_with_leftovers", test_close_with_leftovers },
	};

	return RUN_TESTS(argc, argv, tests);
}
