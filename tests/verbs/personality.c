/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: personality_iwarp --personality iwarp -- */
/* ALSO: personality_ib --personality ib -- */
/* The device for programs with each value of the setting personality. */
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

#define SYSFS "/sys/class/infiniband/sctpiw0/"

/* The setting, which the launcher puts into the environment. */
static enum { IWARP, ROCE, IB } personality;

static void expect_text(const char *name, const char *wanted)
{
	char path[128], text[64];
	FILE *f;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	f = fopen(path, "r");
	CHECK(f && fgets(text, sizeof(text), f));
	text[strcspn(text, "\n")] = '\0';
	CHECK(!strcmp(text, wanted));
	fclose(f);
}

static void test_device(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr attr;

	CHECK_EQ(ctx->device->node_type, personality == IWARP ? IBV_NODE_RNIC : IBV_NODE_CA);
	CHECK_EQ(ctx->device->transport_type,
		 personality == IWARP ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB);
	expect_text("node_type", personality == IWARP ? "4: RNIC" : "1: CA");
	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK_EQ(attr.atomic_cap, personality == IWARP ? IBV_ATOMIC_GLOB : IBV_ATOMIC_HCA);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Programs choose by the first GID, by the last GID, by its type, or by the LID. */
static void test_port(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_gid_entry first, last, table[128];
	struct ibv_port_attr port;
	char lid[16];

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.link_layer,
		 personality == IB ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET);
	CHECK_EQ(port.flags, personality == IB ? 0 : IBV_QPF_GRH_REQUIRED);
	CHECK_EQ(!(port.port_cap_flags & IBV_PORT_IP_BASED_GIDS), personality == IB);
	expect_text("ports/1/link_layer", personality == IB ? "InfiniBand" : "Ethernet");
	CHECK_EQ(ibv_query_gid_ex(ctx, 1, 0, &first, 0), 0);
	CHECK_EQ(ibv_query_gid_ex(ctx, 1, (uint32_t)port.gid_tbl_len - 1, &last, 0), 0);
	CHECK(!memcmp(first.gid.raw, last.gid.raw, sizeof(first.gid.raw)));
	CHECK(first.ndev_ifindex && first.ndev_ifindex == last.ndev_ifindex);
	/*
	 * For an InfiniBand port, ibv_query_gid_ex() of libibverbs 44 nevertheless returns RoCE v2.
	 */
	CHECK(ibv_query_gid_table(ctx, table, 128, 0) > 1);
	CHECK_EQ(table[0].gid_type, personality == IB ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2);
	if (personality != IB)
		CHECK_EQ(first.gid_type, IBV_GID_TYPE_ROCE_V2);
	expect_text("ports/1/gid_attrs/types/0", personality == IB ? "IB/RoCE v1" : "RoCE v2");
	CHECK_EQ(port.lid, personality == IB ? first.gid.raw[14] << 8 | first.gid.raw[15] : 0);
	snprintf(lid, sizeof(lid), "0x%x", port.lid);
	expect_text("ports/1/lid", lid);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* UCX checks the device's file before it opens the device. */
static void test_device_file(void)
{
	struct ibv_context *ctx = open_device();
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", ctx->device->dev_name);
	CHECK(!stat(path, &st) && S_ISCHR(st.st_mode));
	CHECK_EQ(access(path, R_OK | W_OK), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* A QP begins in RESET. It leaves RESET with InfiniBand's mask, or with that of an iWARP CM. */
static void test_masks(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	const int cm = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp *qp;

	CHECK(pd && cq);
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK_EQ(qp->state, IBV_QPS_RESET);
	CHECK_EQ(ibv_modify_qp(qp, &attr, cm), personality == IWARP ? 0 : EINVAL);
	attr.qp_state = IBV_QPS_RESET;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_INIT;
	CHECK_EQ(ibv_modify_qp(qp, &attr, cm | IBV_QP_PKEY_INDEX), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * The connection manager moves a QP by the attributes from rdma_init_qp_attr(), in each
 * personality.
 */
static void test_rdma_cm(void)
{
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(p.a.qp->state, IBV_QPS_RTS);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "device", test_device },	     { "port", test_port },
		{ "device_file", test_device_file }, { "masks", test_masks },
		{ "rdma_cm", test_rdma_cm },
	};
	const char *setting = getenv("SCTPIW_PERSONALITY");

	personality = !setting ? ROCE : strcmp(setting, "ib") ? IWARP : IB;
	return RUN_TESTS(argc, argv, tests);
}
