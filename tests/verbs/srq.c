/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: peer_to_peer.srq --peer-to-peer send -- */
/*
 * Shared receive queues: the calls and their errors. Connections on one queue are in srq_shared.c.
 */
#include "srq.h"

#include <rdma/rdma_verbs.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_create(void)
{
	static const struct ibv_srq_attr bad[] = { { 0, 1, 0 },
						   { UINT32_MAX, 1, 0 },
						   { 1, UINT32_MAX, 0 } };
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
	CHECK_EQ(attr.srq_limit, 0); /* ignored when an SRQ is created */
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_destroy_srq(srq), 0);

	ex.pd = pd;
	srq = ibv_create_srq_ex(ctx, &ex);
	CHECK(srq);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	ex.srq_type = IBV_SRQT_XRC; /* without a domain; xrc.c has domains */
	CHECK_FAILS(ibv_create_srq_ex(ctx, &ex), EINVAL);
	ex.srq_type = IBV_SRQT_TM;
	CHECK_FAILS(ibv_create_srq_ex(ctx, &ex), EOPNOTSUPP);
	/* The largest numbers that the device offers. */
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
	struct ibv_srq *srq = srq_new(pd, 10);
	struct ibv_srq_attr attr = { .max_wr = 20, .srq_limit = 15 }, now;

	CHECK_EQ(ibv_modify_srq(srq, &attr, 0), 0);
	CHECK_EQ(ibv_modify_srq(srq, &attr, 1 << 2), EINVAL);
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL); /* of ten receives at most */
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), 0);
	CHECK_EQ(ibv_query_srq(srq, &now), 0);
	CHECK(now.max_wr == 20 && now.srq_limit == 15);
	attr.max_wr = 12;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* less than the limit */
	attr.srq_limit = 13;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), EINVAL);
	attr = (struct ibv_srq_attr){ .max_wr = UINT32_MAX, .srq_limit = 1 };
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), EINVAL);
	CHECK_EQ(ibv_query_srq(srq, &now), 0);
	CHECK(now.max_wr == 20 && now.srq_limit == 15); /* no attribute has changed */
	attr = (struct ibv_srq_attr){ .max_wr = 3, .srq_limit = 0 };
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(srq_post(srq, i, NULL, 0), 0);
	CHECK_EQ(srq_post(srq, 3, NULL, 0), ENOMEM);
	attr.max_wr = 2;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* three are posted */
	attr.max_wr = 100;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	for (int i = 3; i < 100; i++)
		CHECK_EQ(srq_post(srq, i, NULL, 0), 0);
	CHECK_EQ(srq_post(srq, 100, NULL, 0), ENOMEM);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_post(void)
{
	struct ibv_sge sge[3] = { { 0, 0x80000000, 0 }, { 0, 0x80000000, 0 }, { 0, 1, 0 } };
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_srq *srq = srq_new(pd, 4);
	struct ibv_recv_wr wr[6] = { { 0 } }, *bad = NULL;
	int status;
	pid_t pid;

	CHECK_EQ(srq_post(srq, 1, sge, 3), EINVAL);
	CHECK_EQ(srq_post(srq, 1, sge, -1), EINVAL);
	CHECK_EQ(srq_post(srq, 1, sge, 2), EINVAL); /* 4 GiB */
	/* Work requests before the bad one in a chain are posted. */
	for (int i = 0; i < 5; i++)
		wr[i].next = &wr[i + 1];
	wr[2].num_sge = 3;
	wr[2].sg_list = sge;
	CHECK_EQ(ibv_post_srq_recv(srq, wr, &bad), EINVAL);
	CHECK(bad == &wr[2]);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr[3], &bad), ENOMEM);
	CHECK(bad == &wr[5]);
	CHECK_EQ(ibv_post_srq_recv(srq, NULL, &bad), 0);
	/* In a child of fork() the SRQ belongs to the parent. */
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
	struct ibv_qp_init_attr init = { .send_cq = cq,
					 .recv_cq = cq,
					 .qp_type = IBV_QPT_RC,
					 .cap = { 4, UINT32_MAX, 1, UINT32_MAX, 0 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_srq *srq = srq_new(pd, 4), *foreign = srq_new(pd2, 4), *away = srq_new(far, 4);
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
	CHECK_EQ(ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS),
		 0);
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

/* An SRQ by librdmacm: the SRQ of an id, endpoints with it, and data. */
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
	/* rdma_connect() would block until the peer accepts, so the id is asynchronous */
	CHECK_EQ(rdma_migrate_id(client, rdma_create_event_channel()), 0);
	CHECK_EQ(rdma_connect(client, &param), 0);
	CHECK_EQ(rdma_get_request(listener, &server), 0);
	CHECK_EQ(rdma_create_srq(server, NULL, &srq_init), 0);
	CHECK(server->srq && server->srq->pd == server->pd);
	init = (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 16 },
					  .srq = server->srq,
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

		CHECK_EQ(srq_post(server->srq, 5, &sge, 1), 0);
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

/* Closing the device frees the remaining objects. */
static void test_close_with_leftovers(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 1, 0, 1, 0, 0 }
	};

	init.srq = srq_new(pd, 4);
	CHECK(ibv_create_qp(pd, &init));
	CHECK_EQ(srq_post(init.srq, 1, NULL, 0), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "create", test_create }, { "modify", test_modify },
		{ "post", test_post },	   { "qp", test_qp },
		{ "cm", test_cm },	   { "close_with_leftovers", test_close_with_leftovers },
	};

	return RUN_TESTS(argc, argv, tests);
}
