/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.objects --personality iwarp -- */
/* Objects without a connection: attributes, limits, every errno, states, leftovers, fork. */
#define _GNU_SOURCE
#include "fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static char mem[65536];

struct kit {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
};

static bool no_threads;

/* Replaces libc's function, for the libraries too. */
__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		dlsym(RTLD_NEXT, "pthread_create");

	return no_threads ? EAGAIN : real(thread, attr, start, arg);
}

/*
 * If the process cannot have another thread for now, the device does not open. Later it opens. This
 * test must be first.
 */
static void test_no_thread(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	CHECK(list && list[0]);
	no_threads = true;
	CHECK(!ibv_open_device(list[0]));
	CHECK_EQ(errno, EAGAIN);
	no_threads = false;
	ctx = ibv_open_device(list[0]);
	CHECK(ctx);
	CHECK_EQ(ibv_close_device(ctx), 0);
	ibv_free_device_list(list);
}

static struct ibv_qp_init_attr init_attr(const struct kit *k)
{
	return (struct ibv_qp_init_attr){ .send_cq = k->cq,
					  .recv_cq = k->cq,
					  .cap = { 16, 8, 4, 2, 128 },
					  .qp_type = IBV_QPT_RC };
}

static void kit_open(struct kit *k)
{
	struct ibv_qp_init_attr attr;

	k->ctx = open_device();
	k->pd = ibv_alloc_pd(k->ctx);
	CHECK(k->pd);
	k->cq = ibv_create_cq(k->ctx, 64, k, NULL, 0);
	CHECK(k->cq);
	k->mr = ibv_reg_mr(k->pd, mem, sizeof(mem), ALL);
	CHECK(k->mr);
	attr = init_attr(k);
	attr.qp_context = k;
	k->qp = ibv_create_qp(k->pd, &attr);
	CHECK(k->qp);
}

static void kit_close(struct kit *k)
{
	CHECK_EQ(ibv_destroy_qp(k->qp), 0);
	CHECK_EQ(ibv_dereg_mr(k->mr), 0);
	CHECK_EQ(ibv_destroy_cq(k->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(k->pd), 0);
	CHECK_EQ(ibv_close_device(k->ctx), 0);
}

static void test_attributes(void)
{
	ROWS("5040-1.1-01 5040-5.2.1-09 7306-1.1-01 5041-1.2-01");
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	CHECK_EQ(ctx->device->node_type, is_iwarp(ctx) ? IBV_NODE_RNIC : IBV_NODE_CA);
	CHECK(ctx->num_comp_vectors >= 1);
	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK(attr.max_qp >= 1024 && attr.max_cq >= 1024 && attr.max_mr >= 1024);
	CHECK(attr.max_qp_wr >= 16384 && attr.max_cqe >= 65536);
	CHECK(attr.max_sge >= 16);
	CHECK_EQ(attr.max_sge_rd, attr.max_sge);
	CHECK_EQ(attr.atomic_cap, is_iwarp(ctx) ? IBV_ATOMIC_GLOB : IBV_ATOMIC_HCA);
	CHECK(attr.max_srq >= 1024 && attr.max_srq_wr >= 16384 && attr.max_srq_sge >= 16);
	CHECK(attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	CHECK(attr.max_qp_rd_atom > 0 && attr.max_qp_init_rd_atom > 0);
	CHECK_EQ(attr.phys_port_cnt, 1);
	CHECK(attr.node_guid);
	CHECK(attr.node_guid == ibv_get_device_guid(ctx->device));
	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &ex), 0);
	CHECK(!memcmp(&ex.orig_attr, &attr, sizeof(attr)));

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	CHECK_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	CHECK(port.active_mtu <= port.max_mtu && port.max_mtu == IBV_MTU_4096);
	CHECK_EQ(port.max_msg_sz, 0x80000000);
	CHECK(port.gid_tbl_len >= 1 && port.pkey_tbl_len == 1);
	CHECK_EQ(ibv_query_port(ctx, 0, &port), EINVAL);
	CHECK_EQ(ibv_query_port(ctx, 2, &port), EINVAL);
	CHECK_EQ(ibv_query_gid(ctx, 1, 0, &gid), 0);
	CHECK(gid.global.interface_id);
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_mr(void)
{
	ROWS("5041-8.3-05 5041-8.3.2-05 5042-2.2.2-01 5042-7.3-01");
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	long page = sysconf(_SC_PAGESIZE);
	struct ibv_mr *mr, *other;
	char *map;

	CHECK(pd);
	mr = ibv_reg_mr(pd, mem, sizeof(mem), ALL);
	CHECK(mr);
	CHECK(mr->lkey && mr->lkey == mr->rkey);
	CHECK(mr->addr == mem && mr->length == sizeof(mem) && mr->pd == pd && mr->context == ctx);
	other = ibv_reg_mr(pd, mem, sizeof(mem), 0);
	CHECK(other && other->lkey != mr->lkey);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_dereg_mr(other), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);

	mr = ibv_reg_mr(pd, mem, 100, ALL | IBV_ACCESS_ZERO_BASED);
	CHECK(mr && !ibv_dereg_mr(mr));
	mr = ibv_reg_mr(pd, mem, 100, ALL | IBV_ACCESS_RELAXED_ORDERING);
	CHECK(mr && !ibv_dereg_mr(mr));
	mr = ibv_reg_mr_iova(pd, mem, 100,
			     (uint64_t)sysconf(_SC_PAGESIZE) +
				     (uintptr_t)mem % (uint64_t)sysconf(_SC_PAGESIZE),
			     ALL);
	CHECK(mr && !ibv_dereg_mr(mr));
	mr = ibv_reg_mr(pd, mem, 100, ALL | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND);
	CHECK(mr && !ibv_dereg_mr(mr));

	CHECK_FAILS(ibv_reg_mr(pd, mem, 0, ALL), EINVAL);
	CHECK_FAILS(ibv_reg_mr(pd, mem, 100, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	CHECK_FAILS(ibv_reg_mr(pd, mem, 100, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	CHECK_FAILS(ibv_reg_mr(pd, mem, 100, 1 << 18), EINVAL);
	CHECK_FAILS(ibv_reg_mr(pd, mem, SIZE_MAX - 100, ALL), EINVAL);

	map = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	CHECK_FAILS(ibv_reg_mr(pd, map, page, ALL), EFAULT);
	mr = ibv_reg_mr(pd, map, 4 * page, IBV_ACCESS_REMOTE_READ);
	CHECK(mr && !ibv_dereg_mr(mr));
	take_away(map + page, page);
	CHECK_FAILS(ibv_reg_mr(pd, map, 4 * page, IBV_ACCESS_REMOTE_READ), EFAULT);
	take_away(map, 4 * page);
	CHECK_FAILS(ibv_reg_mr(pd, map, page, IBV_ACCESS_REMOTE_READ), EFAULT);

	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_cq(void)
{
	ROWS("5042-6.4.3.2-01");
	struct ibv_context *ctx = open_device();
	struct ibv_comp_channel *channel;
	struct ibv_device_attr attr;
	struct ibv_cq *cq, *other;
	struct ibv_wc wc;

	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK_FAILS(ibv_create_cq(ctx, 0, NULL, NULL, 0), EINVAL);
	CHECK_FAILS(ibv_create_cq(ctx, -1, NULL, NULL, 0), EINVAL);
	CHECK_FAILS(ibv_create_cq(ctx, attr.max_cqe + 1, NULL, NULL, 0), EINVAL);
	CHECK_FAILS(ibv_create_cq(ctx, 1, NULL, NULL, ctx->num_comp_vectors), EINVAL);
	CHECK_FAILS(ibv_create_cq(ctx, 1, NULL, NULL, -1), EINVAL);
	channel = ibv_create_comp_channel(ctx);
	CHECK(channel);
	cq = ibv_create_cq(ctx, 100, mem, channel, 0);
	CHECK(cq && cq->cqe >= 100 && cq->cq_context == mem && cq->channel == channel);
	other = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	CHECK(other && other->handle != cq->handle);
	CHECK_EQ(ibv_destroy_comp_channel(channel), EBUSY);
	CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 0);
	CHECK_EQ(ibv_poll_cq(cq, 0, &wc), 0);
	CHECK(ibv_poll_cq(cq, -1, &wc) < 0);
	CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
	CHECK_EQ(ibv_resize_cq(cq, 0), EINVAL);
	CHECK_EQ(ibv_resize_cq(cq, attr.max_cqe + 1), EINVAL);
	CHECK_EQ(ibv_resize_cq(cq, 1000), 0);
	CHECK(cq->cqe >= 1000);
	CHECK_EQ(ibv_resize_cq(cq, 10), 0);
	CHECK_EQ(ibv_destroy_cq(other), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_cq_ex(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_cq_init_attr_ex attr = { .cqe = 10, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);
	static const uint64_t absent[] = { IBV_CREATE_CQ_SUP_WC_FLAGS + 1, UINT64_C(1) << 40 };

	CHECK(cq);
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), ENOENT);
	poll_attr.comp_mask = 1;
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), EINVAL);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		attr.wc_flags = absent[i];
		CHECK_FAILS(ibv_create_cq_ex(ctx, &attr), EOPNOTSUPP);
	}
	attr.wc_flags = 0;
	attr.flags = 1 << 2; /* ignored, as its bit in the mask is not set */
	cq = ibv_create_cq_ex(ctx, &attr);
	CHECK(cq);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	CHECK_FAILS(ibv_create_cq_ex(ctx, &attr), EOPNOTSUPP);
	attr.flags = 0;
	attr.comp_mask = 1 << 2;
	CHECK_FAILS(ibv_create_cq_ex(ctx, &attr), EOPNOTSUPP);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_create_qp(void)
{
	ROWS("5041-8.3.2-03 5042-3-02 5042-7.1-01");
	struct ibv_context *ctx = open_device();
	struct ibv_qp_init_attr attr;
	struct ibv_qp_init_attr_ex ex;
	struct ibv_device_attr dev;
	struct ibv_cq *other;
	struct ibv_qp *qp;
	struct kit k;

	kit_open(&k);
	CHECK(k.qp->context == k.ctx && k.qp->pd == k.pd && k.qp->qp_context == &k);
	CHECK_EQ(k.qp->state, IBV_QPS_RESET);
	CHECK(k.qp->qp_num && k.qp->qp_num < 1 << 24);
	CHECK(!ibv_qp_to_qp_ex(k.qp));
	CHECK_EQ(ibv_query_device(k.ctx, &dev), 0);

#define REFUSED(field, value, error)                                                               \
	do {                                                                                       \
		attr = init_attr(&k);                                                              \
		attr.field = value;                                                                \
		CHECK_FAILS(ibv_create_qp(k.pd, &attr), error);                                    \
	} while (0)
	REFUSED(cap.max_send_wr, dev.max_qp_wr + 1, EINVAL);
	REFUSED(cap.max_recv_wr, dev.max_qp_wr + 1, EINVAL);
	REFUSED(cap.max_send_sge, dev.max_sge + 1, EINVAL);
	REFUSED(cap.max_recv_sge, dev.max_sge + 1, EINVAL);
	REFUSED(cap.max_inline_data, 1 << 20, EINVAL);
	REFUSED(send_cq, NULL, EINVAL);
	REFUSED(recv_cq, NULL, EINVAL);
	other = ibv_create_cq(ctx, 1, NULL, NULL, 0); /* of another context */
	CHECK(other);
	REFUSED(send_cq, other, EINVAL);
	REFUSED(recv_cq, other, EINVAL);
	CHECK_EQ(ibv_destroy_cq(other), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
	REFUSED(qp_type, IBV_QPT_RAW_PACKET, EOPNOTSUPP);
	REFUSED(qp_type, 77, EINVAL);
#undef REFUSED

	attr = init_attr(&k);
	attr.cap = (struct ibv_qp_cap){ dev.max_qp_wr, dev.max_qp_wr, dev.max_sge, dev.max_sge, 0 };
	qp = ibv_create_qp(k.pd, &attr);
	CHECK(qp);
	CHECK(attr.cap.max_send_wr >= (uint32_t)dev.max_qp_wr);
	CHECK_EQ(ibv_destroy_qp(qp), 0);

	attr = init_attr(&k);
	attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
	qp = ibv_create_qp(k.pd, &attr);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(qp), 0);

	ex = (struct ibv_qp_init_attr_ex){ .send_cq = k.cq,
					   .recv_cq = k.cq,
					   .cap = { 1, 1, 1, 1, 0 },
					   .qp_type = IBV_QPT_RC,
					   .pd = k.pd,
					   .comp_mask = IBV_QP_INIT_ATTR_PD };
	qp = ibv_create_qp_ex(k.ctx, &ex);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	kit_close(&k);
}

static void test_not_supported(void)
{
	union ibv_gid gid = { .raw = { 0xff } };
	struct kit k;

	kit_open(&k);
	CHECK_EQ(ibv_attach_mcast(k.qp, &gid, 0), EINVAL); /* the QP has a connected type */
	kit_close(&k);
}

static int modify(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state,
				    .port_num = 1,
				    .qp_access_flags = IBV_ACCESS_REMOTE_READ };

	return ibv_modify_qp(qp, &attr, mask);
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)

static void test_modify_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct kit k;

	kit_open(&k);
	CHECK_EQ(modify(k.qp, IBV_QPS_RTS, IBV_QP_STATE), EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_RTR, IBV_QP_STATE), EINVAL);
	/* An RNIC's QP is in INIT already, and needs no attributes. */
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, IBV_QP_STATE), is_iwarp(k.ctx) ? 0 : EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK & ~IBV_QP_PORT),
		 is_iwarp(k.ctx) ? 0 : EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);
	CHECK_EQ(k.qp->state, IBV_QPS_INIT);
	CHECK_EQ(ibv_query_qp(k.qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_INIT);
	CHECK_EQ(attr.cur_qp_state, IBV_QPS_INIT);
	CHECK_EQ(attr.port_num, 1);
	CHECK_EQ(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	CHECK(attr.cap.max_send_wr >= 16 && attr.cap.max_recv_sge >= 2);
	CHECK(init.send_cq == k.cq && init.recv_cq == k.cq && init.qp_context == &k);
	CHECK_EQ(init.qp_type, IBV_QPT_RC);
	CHECK_EQ(init.sq_sig_all, 0);

	/* A QP cannot be connected out of band without a GID. The refusal changes nothing. */
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
				     .path_mtu = IBV_MTU_1024,
				     .dest_qp_num = 1,
				     .ah_attr = { .port_num = 1 } };
	CHECK_EQ(ibv_modify_qp(k.qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER),
		 EINVAL);
	expect_qp_state(k.qp, IBV_QPS_INIT);
	CHECK_EQ(modify(k.qp, IBV_QPS_RTS, IBV_QP_STATE), EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_SQD, IBV_QP_STATE), EINVAL);
	CHECK_EQ(modify(k.qp, 99, IBV_QP_STATE), EINVAL);

	CHECK_EQ(modify(k.qp, IBV_QPS_ERR, IBV_QP_STATE), 0);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_SQD, IBV_QP_STATE), EINVAL);
	CHECK_EQ(modify(k.qp, IBV_QPS_RESET, IBV_QP_STATE), 0);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);
	kit_close(&k);
}

static void test_busy(void)
{
	struct kit k;

	kit_open(&k);
	CHECK_EQ(ibv_destroy_cq(k.cq), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(k.pd), EBUSY);
	CHECK_EQ(ibv_dereg_mr(k.mr), 0);
	CHECK_EQ(ibv_dealloc_pd(k.pd), EBUSY);
	k.mr = ibv_reg_mr(k.pd, mem, 10, 0);
	CHECK(k.mr);
	kit_close(&k);
}

static void test_post_send_needs_rts(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad = NULL;
	struct ibv_wc wc;
	struct kit k;

	kit_open(&k);
	sge = sge_of(k.mr, mem, 8);
	CHECK_EQ(ibv_post_send(k.qp, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);
	CHECK_EQ(ibv_post_send(k.qp, &wr, &bad), EINVAL);
	/* In the error state it is accepted, and flushed. */
	CHECK_EQ(modify(k.qp, IBV_QPS_ERR, IBV_QP_STATE), 0);
	wr.wr_id = 77;
	CHECK_EQ(ibv_post_send(k.qp, &wr, &bad), 0);
	expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 77);
	CHECK_EQ(wc.qp_num, k.qp->qp_num);
	kit_close(&k);
}

static void test_post_recv(void)
{
	struct ibv_recv_wr wr[12], *bad = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge[3];
	struct ibv_wc wc;
	struct kit k;
	int limit;

	kit_open(&k);
	for (int i = 0; i < 3; i++)
		sge[i] = sge_of(k.mr, mem, 8);
	for (int i = 0; i < 12; i++)
		wr[i] = (struct ibv_recv_wr){ .wr_id = i, .sg_list = sge, .num_sge = 1 };

	CHECK_EQ(modify(k.qp, IBV_QPS_RESET, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_post_recv(k.qp, wr, &bad), EINVAL);
	CHECK(bad == wr);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);

	/* The second of three work requests is bad: the first stays, and the third is ignored. */
	CHECK_EQ(ibv_query_qp(k.qp, &attr, IBV_QP_CAP, &init), 0);
	limit = attr.cap.max_recv_wr;
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[1].num_sge = attr.cap.max_recv_sge + 1;
	CHECK_EQ(ibv_post_recv(k.qp, wr, &bad), EINVAL);
	CHECK(bad == &wr[1]);
	wr[1].num_sge = -1;
	CHECK_EQ(ibv_post_recv(k.qp, &wr[1], &bad), EINVAL);
	wr[1].num_sge = 0;
	wr[1].next = NULL;
	CHECK_EQ(ibv_post_recv(k.qp, &wr[1], &bad), 0);

	for (int i = 2; i < limit; i++) {
		wr[2].wr_id = i;
		CHECK_EQ(ibv_post_recv(k.qp, &wr[2], &bad), 0);
	}
	CHECK_EQ(ibv_post_recv(k.qp, &wr[3], &bad), ENOMEM);
	CHECK(bad == &wr[3]);

	CHECK_EQ(modify(k.qp, IBV_QPS_ERR, IBV_QP_STATE), 0);
	for (int i = 0; i < limit; i++) {
		expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	CHECK_EQ(ibv_post_recv(k.qp, &wr[3], &bad), 0);
	expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 3);
	kit_close(&k);
}

/* Completions of a destroyed QP vanish. Those of another QP on the same CQ stay. */
static void test_destroy_qp_purges_its_completions(void)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_qp_init_attr attr;
	struct ibv_qp *other;
	struct ibv_wc wc;
	struct kit k;

	kit_open(&k);
	attr = init_attr(&k);
	other = ibv_create_qp(k.pd, &attr);
	CHECK(other && other->qp_num != k.qp->qp_num);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);
	CHECK_EQ(modify(other, IBV_QPS_INIT, INIT_MASK), 0);
	CHECK_EQ(ibv_post_recv(k.qp, &wr, &bad), 0);
	wr.wr_id = 2;
	CHECK_EQ(ibv_post_recv(other, &wr, &bad), 0);
	CHECK_EQ(modify(k.qp, IBV_QPS_ERR, IBV_QP_STATE), 0);
	CHECK_EQ(modify(other, IBV_QPS_ERR, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_resize_cq(k.cq, 1), EINVAL); /* the CQ has two completions */
	CHECK_EQ(ibv_resize_cq(k.cq, 2), 0);
	CHECK_EQ(ibv_destroy_qp(other), 0);
	expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	CHECK_EQ(ibv_poll_cq(k.cq, 1, &wc), 0);
	kit_close(&k);
}

static void test_close_with_leftovers(void)
{
	struct kit k;

	for (int i = 0; i < 50; i++) {
		kit_open(&k);
		CHECK(ibv_alloc_pd(k.ctx));
		CHECK_EQ(ibv_close_device(k.ctx), 0);
	}
}

static void test_async_fd(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_async_event event;

	CHECK(ctx->async_fd >= 0);
	CHECK_EQ(fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	errno = 0;
	CHECK_EQ(ibv_get_async_event(ctx, &event), -1);
	CHECK_EQ(errno, EAGAIN);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * The child's copies of the parent's queues do not work, and return errors. The child's own context
 * works. inherited.c has the objects that still work.
 */
static void test_fork(void)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_wc wc;
	struct kit k, own;
	int status;
	pid_t pid;

	kit_open(&k);
	CHECK_EQ(modify(k.qp, IBV_QPS_INIT, INIT_MASK), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(ibv_poll_cq(k.cq, 1, &wc) < 0);
		CHECK_EQ(ibv_post_recv(k.qp, &wr, &bad), EIO);
		CHECK_EQ(ibv_req_notify_cq(k.cq, 0), EIO);
		kit_close(&k);
		kit_open(&own);
		kit_close(&own);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(ibv_post_recv(k.qp, &wr, &bad), 0);
	CHECK_EQ(modify(k.qp, IBV_QPS_ERR, IBV_QP_STATE), 0);
	expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
	kit_close(&k);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "no_thread", test_no_thread },
		{ "attributes", test_attributes },
		{ "mr", test_mr },
		{ "cq", test_cq },
		{ "cq_ex", test_cq_ex },
		{ "create_qp", test_create_qp },
		{ "not_supported", test_not_supported },
		{ "modify_qp", test_modify_qp },
		{ "busy", test_busy },
		{ "post_send_needs_rts", test_post_send_needs_rts },
		{ "post_recv", test_post_recv },
		{ "destroy_qp_purges_its_completions", test_destroy_qp_purges_its_completions },
		{ "close_with_leftovers", test_close_with_leftovers },
		{ "async_fd", test_async_fd },
		{ "fork", test_fork },
	};

	return RUN_TESTS(argc, argv, tests);
}
