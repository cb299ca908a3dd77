/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Thread domains and parent domains. */
#include "fixture.h"

struct domain {
	struct ibv_context *ctx;
	struct ibv_pd *pd, *parent;
	struct ibv_td *td;
};

static void domain_open(struct domain *d)
{
	struct ibv_parent_domain_init_attr attr = { 0 };
	struct ibv_td_init_attr td_attr = { 0 };

	d->ctx = open_device();
	d->pd = ibv_alloc_pd(d->ctx);
	d->td = ibv_alloc_td(d->ctx, &td_attr);
	CHECK(d->pd && d->td);
	attr.pd = d->pd;
	attr.td = d->td;
	d->parent = ibv_alloc_parent_domain(d->ctx, &attr);
	CHECK(d->parent && d->parent != d->pd && d->parent->context == d->ctx);
}

static void domain_close(struct domain *d)
{
	CHECK_EQ(ibv_dealloc_pd(d->parent), 0);
	CHECK_EQ(ibv_dealloc_td(d->td), 0);
	CHECK_EQ(ibv_dealloc_pd(d->pd), 0);
	CHECK_EQ(ibv_close_device(d->ctx), 0);
}

/* No object can be freed while another object uses it. */
static void test_order_of_destruction(void)
{
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	static uint8_t buf[64];
	struct ibv_srq *srq;
	struct ibv_cq_ex *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct domain d;

	domain_open(&d);
	CHECK_EQ(ibv_dealloc_td(d.td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(d.pd), EBUSY);

	mr = ibv_reg_mr(d.parent, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr && mr->pd == d.parent);
	CHECK_EQ(ibv_dealloc_pd(d.parent), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);

	srq = ibv_create_srq(d.parent, &srq_attr);
	CHECK(srq && srq->pd == d.parent);
	CHECK_EQ(ibv_dealloc_pd(d.parent), EBUSY);
	CHECK_EQ(ibv_destroy_srq(srq), 0);

	cq_attr.parent_domain = d.parent;
	cq = ibv_create_cq_ex(d.ctx, &cq_attr);
	CHECK(cq);
	CHECK_EQ(ibv_dealloc_pd(d.parent), EBUSY);
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(d.parent, &init);
	CHECK(qp && qp->pd == d.parent);
	CHECK_EQ(ibv_dealloc_pd(d.parent), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_dealloc_pd(d.parent), EBUSY);
	/* A PD and its parent domains count as one PD: the SRQ can use one, and the QP another. */
	init.srq = ibv_create_srq(d.pd, &srq_attr);
	CHECK(init.srq);
	qp = ibv_create_qp(d.parent, &init);
	CHECK(qp && qp->srq == init.srq);
	CHECK_EQ(ibv_destroy_srq(init.srq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(init.srq), 0);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	domain_close(&d);
}

static void *never_called(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			  uint64_t type)
{
	CHECK(!"allocators are for memory of devices");
	return NULL;
}

static void never_freed(struct ibv_pd *pd, void *context, void *ptr, uint64_t type)
{
	CHECK(!"allocators are for memory of devices");
}

static void test_arguments(void)
{
	struct ibv_parent_domain_init_attr attr = { 0 }, bad;
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_context *other = open_device();
	struct ibv_pd *parent;
	struct domain d;

	domain_open(&d);
	CHECK_FAILS(ibv_alloc_td(d.ctx, &td_attr), EINVAL);
	attr.pd = d.pd;
	bad = attr;
	bad.pd = NULL;
	CHECK_FAILS(ibv_alloc_parent_domain(d.ctx, &bad), EINVAL);
	bad.pd = d.parent; /* a parent domain is no PD */
	CHECK_FAILS(ibv_alloc_parent_domain(d.ctx, &bad), EINVAL);
	CHECK_FAILS(ibv_alloc_parent_domain(other, &attr), EINVAL);
	bad = attr;
	bad.comp_mask = 1u << 30; /* a bit of a later version of libibverbs */
	CHECK_FAILS(ibv_alloc_parent_domain(d.ctx, &bad), EOPNOTSUPP);
	td_attr.comp_mask = 0;
	bad = attr;
	bad.td = ibv_alloc_td(other, &td_attr);
	CHECK(bad.td);
	CHECK_FAILS(ibv_alloc_parent_domain(d.ctx, &bad), EINVAL);
	CHECK_FAILS(ibv_create_cq_ex(d.ctx, &cq_attr), EINVAL);
	cq_attr.parent_domain = d.pd; /* no parent domain */
	CHECK_FAILS(ibv_create_cq_ex(d.ctx, &cq_attr), EINVAL);

	/* A parent domain without a thread domain, but with allocators. */
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	attr.alloc = never_called;
	attr.free = never_freed;
	attr.pd_context = &attr;
	parent = ibv_alloc_parent_domain(d.ctx, &attr);
	CHECK(parent);
	CHECK_EQ(ibv_dealloc_pd(d.pd), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	domain_close(&d);
	/* The device frees the remaining bad.td. */
	CHECK_EQ(ibv_close_device(other), 0);
}

/*
 * In one thread, everything works with a QP of a thread domain. MRs of the PD and of the parent
 * domain count as MRs of one PD.
 */
static void test_transfer(void)
{
	const struct pair_options o = { .cap = { 32, 32, 4, 4, 64 },
					.thread_domain = true,
					.send_ops = IBV_QP_EX_WITH_SEND |
						    IBV_QP_EX_WITH_RDMA_WRITE };
	struct ibv_qp_ex *ex;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &o);
	CHECK(p.a.qp->pd == p.a.domain);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 65536, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(mr);
	ex = ibv_qp_to_qp_ex(p.a.qp);
	CHECK(ex);
	for (int i = 0; i < 100; i++) {
		fill(p.a.buf, 4000, i);
		sge = sge_of(p.b.mr, p.b.buf + 70000, 4000);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
		ibv_wr_start(ex);
		ex->wr_id = i;
		ex->wr_flags = 0;
		ibv_wr_rdma_write(ex, mr->rkey, address(p.b.buf));
		ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 4000);
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 4000);
		CHECK_EQ(ibv_wr_complete(ex), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.b.buf, 4000, i) && filled(p.b.buf + 70000, 4000, i));
		sge = sge_of(p.a.mr, p.a.buf, 8);
		CHECK_EQ(post_recv(&p.b, i, NULL, 0), 0);
		CHECK_EQ(post_send(&p.a, i, &sge, 0, IBV_SEND_SIGNALED), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	}
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

/* An SRQ and an extended CQ of a thread domain work without a lock. */
static void test_shared_receives(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 64,
					       .wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
					       .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_srq_init_attr srq_attr = { .attr = { 8, 1, 0 } };
	struct ibv_parent_domain_init_attr attr = { 0 };
	struct ibv_td_init_attr td_attr = { 0 };
	struct pair_options o = { .cap = { 16, 1, 1, 1, 64 } };
	struct ibv_cq_ex *cq;
	struct ibv_sge sge;
	struct ibv_td *td;
	struct ibv_wc wc;
	struct pair p;

	attr.pd = ibv_alloc_pd(cm_device());
	CHECK(attr.pd);
	attr.td = td = ibv_alloc_td(attr.pd->context, &td_attr);
	CHECK(td);
	cq_attr.parent_domain = ibv_alloc_parent_domain(attr.pd->context, &attr);
	CHECK(cq_attr.parent_domain);
	cq = ibv_create_cq_ex(attr.pd->context, &cq_attr);
	o.srq = ibv_create_srq(cq_attr.parent_domain, &srq_attr);
	CHECK(cq && o.srq);
	o.recv_cq = ibv_cq_ex_to_cq(cq);
	pair_open(&p, &o);
	for (int i = 0; i < 4; i++) {
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		sge = sge_of(p.b.mr, p.b.buf + 100 * i, 100);
		CHECK_EQ(ibv_post_srq_recv(o.srq, &wr, &bad), 0);
		fill(p.a.buf + 100 * i, 100, i);
		sge = sge_of(p.a.mr, p.a.buf + 100 * i, 100);
		CHECK_EQ(post_send(&p.a, i, &sge, 1, 0), 0);
	}
	wait_start_poll(cq);
	CHECK_EQ(cq->wr_id, 0);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 100);
	/* Nothing is locked during this poll. */
	for (uint64_t i = 1; i < 4; i++) {
		expect_wc(o.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	ibv_end_poll(cq);
	for (int i = 0; i < 4; i++)
		CHECK(filled(p.b.buf + 100 * i, 100, i));
	pair_close(&p);
	CHECK_EQ(ibv_destroy_srq(o.srq), 0);
	CHECK_EQ(ibv_destroy_cq(o.recv_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(cq_attr.parent_domain), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
	CHECK_EQ(ibv_dealloc_pd(attr.pd), 0);
}

/* Closing the device frees the remaining objects, whatever the order of their creation. */
static void test_left_behind(void)
{
	static uint8_t buf[64];
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	struct domain d;

	domain_open(&d);
	CHECK(ibv_reg_mr(d.parent, buf, sizeof(buf), 0));
	CHECK(ibv_create_srq(d.parent, &srq_attr));
	CHECK_EQ(ibv_close_device(d.ctx), 0);
	domain_open(&d);
	domain_close(&d);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "order_of_destruction", test_order_of_destruction },
		{ "arguments", test_arguments },
		{ "transfer", test_transfer },
		{ "shared_receives", test_shared_receives },
		{ "left_behind", test_left_behind },
	};

	return RUN_TESTS(argc, argv, tests);
}
