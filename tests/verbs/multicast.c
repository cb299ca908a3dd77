/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: multicast_iwarp --personality iwarp -- */
/* ALSO: ib.multicast --personality ib -- */
/*
 * UD queue pairs in multicast groups: attaching, the copies for each QP, and the errors of the
 * calls.
 */
#include <arpa/inet.h>

#include "cm.h"
#include "netns.h"

#define QKEY 0x2468
#define GRH 40
#define LEN 100
#define ADDRESS "10.83.1.1"

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[GRH + LEN];
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static union ibv_gid group = { .raw = { [10] = 0xff, 0xff, 239, 77, 1, 2 } };

static void end_open(struct end *e, uint32_t flags)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_UD,
		.cap = { 4, 4, 1, 1, 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = flags,
		.pd = pd,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	e->cq = init.send_cq = init.recv_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	CHECK(e->cq);
	e->qp = ibv_create_qp_ex(ctx, &init);
	CHECK(e->qp);
	e->mr = ibv_reg_mr(pd, e->buf, sizeof(e->buf), IBV_ACCESS_LOCAL_WRITE);
	CHECK(e->mr);
	CHECK_EQ(ibv_modify_qp(e->qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void end_close(struct end *e)
{
	CHECK_EQ(ibv_destroy_qp(e->qp), 0);
	CHECK_EQ(ibv_destroy_cq(e->cq), 0);
	CHECK_EQ(ibv_dereg_mr(e->mr), 0);
}

static void post(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, sizeof(e->buf), e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(e->buf, 0, sizeof(e->buf));
	CHECK_EQ(ibv_post_recv(e->qp, &wr, &bad), 0);
}

/* Sends LEN bytes of this value to the group, from the host's first IPv4 GID. */
static void send_group(struct end *e, uint8_t value, uint32_t qkey)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .grh.dgid = group };
	uint8_t data[LEN];
	struct ibv_mr *mr = ibv_reg_mr(pd, data, LEN, 0);
	struct ibv_sge sge = { (uintptr_t)data, LEN, mr ? mr->lkey : 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	union ibv_gid gid = { 0 };
	struct ibv_wc wc;

	memset(data, value, LEN);
	while (!ibv_query_gid(ctx, 1, attr.grh.sgid_index, &gid) && gid.raw[10] != 0xff)
		attr.grh.sgid_index++;
	CHECK(gid.raw[10] == 0xff);
	wr.wr.ud.ah = ibv_create_ah(pd, &attr);
	CHECK(wr.wr.ud.ah && mr);
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = qkey;
	CHECK_EQ(ibv_post_send(e->qp, &wr, &bad), 0);
	expect_wc(e->cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.opcode, IBV_WC_SEND);
	CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void expect_copy(struct end *e, const struct end *from, uint8_t value)
{
	struct ibv_wc wc;

	expect_wc(e->cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
	CHECK_EQ(wc.byte_len, GRH + LEN);
	CHECK_EQ(wc.src_qp, from->qp->qp_num);
	CHECK(wc.wc_flags & IBV_WC_GRH);
	CHECK(!memcmp(e->buf + GRH - 4, group.raw + 12, 4));
	for (int i = 0; i < LEN; i++)
		CHECK_EQ(e->buf[GRH + i], value);
}

static void test_copies(void)
{
	struct end sender, a, b, outside;

	end_open(&sender, 0);
	end_open(&a, 0);
	end_open(&b, 0);
	end_open(&outside, 0);
	CHECK_EQ(ibv_attach_mcast(a.qp, &group, 0), 0);
	CHECK_EQ(ibv_attach_mcast(a.qp, &group, 0), 0); /* attached only once */
	CHECK_EQ(ibv_attach_mcast(b.qp, &group, 0), 0);
	post(&a);
	post(&b);
	post(&outside);
	send_group(&sender, 1, QKEY + 1);
	send_group(&sender, 2, QKEY);
	expect_copy(&a, &sender, 2);
	expect_copy(&b, &sender, 2);
	expect_no_wc(outside.cq, 50);
	CHECK_EQ(ibv_destroy_qp(a.qp), EBUSY);
	CHECK_EQ(ibv_detach_mcast(b.qp, &group, 0), 0);
	CHECK_EQ(ibv_detach_mcast(b.qp, &group, 0), EINVAL);
	post(&a);
	post(&b);
	send_group(&sender, 3, QKEY);
	expect_copy(&a, &sender, 3);
	expect_no_wc(b.cq, 50);
	CHECK_EQ(ibv_detach_mcast(a.qp, &group, 0), 0);
	post(&a);
	send_group(&sender, 4, QKEY);
	expect_no_wc(a.cq, 50);
	end_close(&sender);
	end_close(&a);
	end_close(&b);
	end_close(&outside);
}

/* A QP receives its own messages, as with InfiniBand, unless it was created otherwise. */
static void test_own(void)
{
	struct end hears, blocks;

	end_open(&hears, 0);
	end_open(&blocks, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	CHECK_EQ(ibv_attach_mcast(hears.qp, &group, 0), 0);
	CHECK_EQ(ibv_attach_mcast(blocks.qp, &group, 0), 0);
	post(&hears);
	post(&blocks);
	send_group(&blocks, 5, QKEY);
	expect_copy(&hears, &blocks, 5);
	expect_no_wc(blocks.cq, 50);
	CHECK_EQ(ibv_detach_mcast(blocks.qp, &group, 0), 0);
	post(&hears);
	CHECK_EQ(ibv_detach_mcast(hears.qp, &group, 0), 0);
	end_close(&hears);
	end_close(&blocks);
}

static void test_errors(void)
{
	union ibv_gid unicast = { .raw = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_device_attr dev;
	struct ibv_qp *rc;
	struct end e;

	end_open(&e, 0);
	init.send_cq = init.recv_cq = e.cq;
	rc = ibv_create_qp(pd, &init);
	CHECK(rc);
	CHECK_EQ(ibv_attach_mcast(rc, &group, 0), EINVAL);
	CHECK_EQ(ibv_attach_mcast(e.qp, &unicast, 0), EINVAL);
	CHECK_EQ(ibv_detach_mcast(e.qp, &group, 0), EINVAL);
	CHECK_EQ(ibv_query_device(ctx, &dev), 0);
	CHECK(dev.max_mcast_grp > 0 && dev.max_mcast_qp_attach > 0);
	CHECK_EQ(dev.max_total_mcast_qp_attach, dev.max_mcast_grp * dev.max_mcast_qp_attach);
	CHECK_EQ(ibv_destroy_qp(rc), 0);
	end_close(&e);
}

/* Joins by rdma_cm. Its event has the data for an address handle. */
static void test_join(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_in own = { .sin_family = AF_INET };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct end sender, a;

	CHECK_EQ(inet_pton(AF_INET, ADDRESS, &own.sin_addr), 1);
	memcpy(&to.sin_addr, group.raw + 12, 4);
	CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	CHECK_EQ(rdma_join_multicast(id, (struct sockaddr *)&to, &to), 0);
	event = cm_event(channel, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	CHECK(event->param.ud.private_data == &to);
	CHECK_EQ(event->param.ud.qp_num, 0xffffff);
	CHECK_EQ(event->param.ud.ah_attr.grh.sgid_index, 0);
	CHECK(!memcmp(event->param.ud.ah_attr.grh.dgid.raw, group.raw, 16));
	CHECK_EQ(rdma_ack_cm_event(event), 0);
	end_open(&sender, 0);
	end_open(&a, 0);
	CHECK_EQ(ibv_attach_mcast(a.qp, &group, 0), 0);
	post(&a);
	send_group(&sender, 6, QKEY);
	expect_copy(&a, &sender, 6);
	/* The QP does not belong to the id, and stays in the group until it is detached. */
	CHECK_EQ(rdma_leave_multicast(id, (struct sockaddr *)&to), 0);
	post(&a);
	send_group(&sender, 7, QKEY);
	expect_copy(&a, &sender, 7);
	CHECK_EQ(ibv_detach_mcast(a.qp, &group, 0), 0);
	post(&a);
	send_group(&sender, 8, QKEY);
	expect_no_wc(a.cq, 50);
	end_close(&sender);
	end_close(&a);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

int main(void)
{
	/* Packets to a group leave by the first interface, which leads to no other host here. */
	if (!enter_namespace()) {
		printf("skipped: this user may not make network namespaces\n");
		return SKIPPED;
	}
	ip("link set lo up");
	ip("link add here type veth peer name there");
	ip("addr add " ADDRESS "/24 dev here");
	ip("link set there up");
	ip("link set here up");
	ctx = cm_device();
	pd = ibv_alloc_pd(ctx);
	CHECK(pd);
	test_copies();
	test_own();
	test_errors();
	if (!is_iwarp(ctx))
		test_join();
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	return 0;
}
