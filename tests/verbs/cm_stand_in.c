/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_stand_in --engines 3 -- */
/* ALSO: iwarp.cm_stand_in --personality iwarp -- */
/* ALSO: ib.cm_stand_in --personality ib -- */
/*
 * Connections of rdma_cm without a QP number for connections, as UCX makes them. Their private
 * data, and the addresses in rdma_init_qp_attr(), connect the program's own QPs. An iWARP device
 * refuses such connections.
 */
#include "fixture/cm.h"

#define LEN 4000
#define NOBODY 0xabcdef /* no QP has this number */

/* A program's own QP, unknown to rdma_cm. */
struct own {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp, *ud;
	struct ibv_mr *mr;
	uint8_t buf[LEN];
};

static bool setting_is(const char *personality)
{
	const char *setting = getenv("SCTPIW_PERSONALITY");

	return setting && !strcmp(setting, personality);
}

static struct ibv_qp *new_qp(struct own *o, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.send_cq = o->cq,
		.recv_cq = o->cq,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(o->pd, &attr);

	CHECK(qp);
	return qp;
}

static void own_open(struct own *o, struct rdma_cm_id *id)
{
	o->pd = ibv_alloc_pd(id->verbs);
	CHECK(o->pd);
	o->cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	CHECK(o->cq);
	o->qp = new_qp(o, IBV_QPT_RC);
	o->ud = new_qp(o, IBV_QPT_UD);
	o->mr = ibv_reg_mr(o->pd, o->buf, LEN, IBV_ACCESS_LOCAL_WRITE);
	CHECK(o->mr);
}

static void own_close(struct own *o)
{
	CHECK_EQ(ibv_dereg_mr(o->mr), 0);
	CHECK_EQ(ibv_destroy_qp(o->ud), 0);
	CHECK_EQ(ibv_destroy_qp(o->qp), 0);
	CHECK_EQ(ibv_destroy_cq(o->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(o->pd), 0);
}

static void move(struct own *o, struct rdma_cm_id *id, enum ibv_qp_state state, uint32_t peer)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	CHECK(mask & IBV_QP_STATE);
	if (peer)
		attr.dest_qp_num = peer;
	CHECK_EQ(ibv_modify_qp(o->qp, &attr, mask), 0);
}

/*
 * The masks are those of InfiniBand, so that a program only sets the number. peer 0: the number of
 * rdma_cm.
 */
static void connect_own(struct own *o, struct rdma_cm_id *id, uint32_t peer)
{
	move(o, id, IBV_QPS_INIT, 0);
	move(o, id, IBV_QPS_RTR, peer);
	move(o, id, IBV_QPS_RTS, 0);
}

static void transfer(struct own *from, struct own *to, uint8_t seed)
{
	struct ibv_sge sge = { (uintptr_t)to->buf, LEN, to->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND },
			   *bad_send;
	struct ibv_wc wc;

	memset(to->buf, 0, LEN);
	CHECK_EQ(ibv_post_recv(to->qp, &recv, &bad_recv), 0);
	for (int i = 0; i < LEN; i++)
		from->buf[i] = (uint8_t)(i * 7 + seed);
	sge = (struct ibv_sge){ (uintptr_t)from->buf, LEN, from->mr->lkey };
	CHECK_EQ(ibv_post_send(from->qp, &send, &bad_send), 0);
	expect_wc(from->cq, IBV_WC_SUCCESS, &wc);
	expect_wc(to->cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, LEN);
	for (int i = 0; i < LEN; i++)
		CHECK_EQ(to->buf[i], (uint8_t)(i * 7 + seed));
}

/* Both ends of a connection, in this process. */
struct ends {
	struct rdma_event_channel *passive, *active;
	struct rdma_cm_id *listener, *a, *b;
};

static void ends_open(struct ends *e)
{
	struct sockaddr_storage to;

	e->passive = cm_channel();
	e->active = cm_channel();
	e->listener = cm_listener(e->passive, AF_INET, 4);
	to = cm_address_of(e->listener, AF_INET);
	e->a = cm_id(e->active);
	CHECK_EQ(rdma_resolve_addr(e->a, NULL, (struct sockaddr *)&to, 1000), 0);
	cm_expect(e->active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(e->a, 1000), 0);
	cm_expect(e->active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static void ends_close(struct ends *e)
{
	CHECK_EQ(rdma_destroy_id(e->a), 0);
	if (e->b)
		CHECK_EQ(rdma_destroy_id(e->b), 0);
	CHECK_EQ(rdma_destroy_id(e->listener), 0);
	rdma_destroy_event_channel(e->passive);
	rdma_destroy_event_channel(e->active);
}

static struct rdma_conn_param param_of(uint32_t qp_num, const uint32_t *own)
{
	return (struct rdma_conn_param){
		.qp_num = qp_num, .srq = 1, .private_data = own, .private_data_len = sizeof(*own)
	};
}

/* The QP number in the peer's private data. */
static uint32_t told(struct rdma_cm_event *event)
{
	uint32_t num;

	CHECK(event->param.conn.private_data_len >= sizeof(num));
	memcpy(&num, event->param.conn.private_data, sizeof(num));
	return num;
}

static void ask(struct ends *e, const struct own *a)
{
	struct rdma_conn_param param = param_of(a->ud->qp_num, &a->qp->qp_num);
	struct rdma_cm_event *event;

	CHECK_EQ(rdma_connect(e->a, &param), 0);
	event = cm_event(e->passive, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	CHECK_EQ(event->param.conn.qp_num, a->ud->qp_num);
	CHECK_EQ(event->param.conn.srq, !is_iwarp(e->a->verbs));
	CHECK_EQ(told(event), a->qp->qp_num);
	e->b = event->id;
	rdma_ack_cm_event(event);
}

/* The passive side sends the number of a missing QP, the active side that of a UD QP. */
static void test_own_qps(void)
{
	static struct own a, b;
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	struct ends e = { 0 };

	ends_open(&e);
	own_open(&a, e.a);
	ask(&e, &a);
	own_open(&b, e.b);
	connect_own(&b, e.b, a.qp->qp_num);
	param = param_of(NOBODY, &b.qp->qp_num);
	CHECK_EQ(rdma_accept(e.b, &param), 0);

	event = cm_event(e.active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	CHECK_EQ(event->param.conn.qp_num, NOBODY);
	CHECK_EQ(told(event), b.qp->qp_num);
	rdma_ack_cm_event(event);
	connect_own(&a, e.a, b.qp->qp_num);
	CHECK_EQ(rdma_establish(e.a), 0);
	cm_expect(e.passive, RDMA_CM_EVENT_ESTABLISHED, 0);
	transfer(&a, &b, 1);
	transfer(&b, &a, 2);

	CHECK_EQ(rdma_disconnect(e.a), 0);
	cm_expect(e.active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect(e.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK_EQ(rdma_disconnect(e.b), 0);
	/* The program's own QPs are independent of rdma_cm, and continue. */
	transfer(&a, &b, 3);
	own_close(&a);
	own_close(&b);
	ends_close(&e);
}

static void check_dest(const struct own *o, uint32_t peer)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(o->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.dest_qp_num, peer);
}

/*
 * Both sides send the numbers of QPs that they move themselves, to the peer in rdma_init_qp_attr().
 */
static void test_named_qps(void)
{
	static struct own a, b;
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_event *event;
	struct ends e = { 0 };

	ends_open(&e);
	own_open(&a, e.a);
	move(&a, e.a, IBV_QPS_INIT, 0);
	param.qp_num = a.qp->qp_num;
	CHECK_EQ(rdma_connect(e.a, &param), 0);
	event = cm_event(e.passive, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	CHECK_EQ(event->param.conn.qp_num, a.qp->qp_num);
	e.b = event->id;
	rdma_ack_cm_event(event);
	own_open(&b, e.b);
	connect_own(&b, e.b, 0);
	param.qp_num = b.qp->qp_num;
	CHECK_EQ(rdma_accept(e.b, &param), 0);
	event = cm_event(e.active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	CHECK_EQ(event->param.conn.qp_num, b.qp->qp_num);
	rdma_ack_cm_event(event);
	move(&a, e.a, IBV_QPS_RTR, 0);
	move(&a, e.a, IBV_QPS_RTS, 0);
	CHECK_EQ(rdma_establish(e.a), 0);
	cm_expect(e.passive, RDMA_CM_EVENT_ESTABLISHED, 0);
	check_dest(&a, b.qp->qp_num);
	check_dest(&b, a.qp->qp_num);
	transfer(&a, &b, 1);
	transfer(&b, &a, 2);
	own_close(&a);
	own_close(&b);
	ends_close(&e);
}

static void test_rejected(void)
{
	static struct own a;
	struct ends e = { 0 };

	ends_open(&e);
	own_open(&a, e.a);
	ask(&e, &a);
	CHECK_EQ(rdma_reject(e.b, NULL, 0), 0);
	cm_expect(e.active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
	own_close(&a);
	ends_close(&e);
}

/* The peer's QP is connected by rdma_cm. A Send to it waits for a receive, which does not come. */
static void test_real_peer(void)
{
	static struct own a;
	struct ends e = { 0 };

	ends_open(&e);
	own_open(&a, e.a);
	ask(&e, &a);
	cm_add_qp(e.b);
	CHECK_EQ(cm_accept(e.b), 0);
	cm_expect(e.active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	cm_expect(e.passive, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(e.b->qp->state, IBV_QPS_RTS);
	CHECK_EQ(rdma_destroy_id(e.a), 0);
	cm_expect(e.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	own_close(&a);
	cm_destroy(e.b);
	CHECK_EQ(rdma_destroy_id(e.listener), 0);
	rdma_destroy_event_channel(e.passive);
	rdma_destroy_event_channel(e.active);
}

/* The attributes that identify the peer. */
static void test_attributes(void)
{
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct ends e = { 0 };
	union ibv_gid gid;
	int mask;

	ends_open(&e);
	CHECK_EQ(rdma_init_qp_attr(e.a, &attr, &mask), 0);
	CHECK_EQ(mask, rtr);
	CHECK(attr.ah_attr.is_global);
	CHECK_EQ(attr.ah_attr.port_num, 1);
	CHECK(attr.path_mtu >= IBV_MTU_256 && attr.path_mtu <= IBV_MTU_4096);
	/* The peer is this host. */
	CHECK_EQ(ibv_query_gid(e.a->verbs, 1, attr.ah_attr.grh.sgid_index, &gid), 0);
	CHECK(!memcmp(&gid, &attr.ah_attr.grh.dgid, sizeof(gid)));
	CHECK_EQ(attr.ah_attr.dlid, setting_is("ib") ? gid.raw[14] << 8 | gid.raw[15] : 0);
	ends_close(&e);
}

static void test_refused(void)
{
	struct rdma_conn_param param = { .qp_num = NOBODY };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct ends e = { 0 };
	int mask;

	ends_open(&e);
	CHECK_EQ(rdma_init_qp_attr(e.a, &attr, &mask), 0);
	CHECK_EQ(mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT);
	CHECK_ERRNO(rdma_connect(e.a, &param), EINVAL);
	ends_close(&e);
}

/* No number at all is an error on any device. */
static void test_no_number(void)
{
	struct rdma_conn_param param = { 0 };
	struct ends e = { 0 };

	ends_open(&e);
	CHECK_ERRNO(rdma_connect(e.a, &param), EINVAL);
	ends_close(&e);
}

int main(int argc, char **argv)
{
	static const struct test of_iwarp[] = {
		{ "refused", test_refused },
		{ "no_number", test_no_number },
	};
	static const struct test of_others[] = {
		{ "own_qps", test_own_qps },	   { "named_qps", test_named_qps },
		{ "rejected", test_rejected },	   { "real_peer", test_real_peer },
		{ "attributes", test_attributes }, { "no_number", test_no_number },
	};

	if (setting_is("iwarp"))
		return RUN_TESTS(argc, argv, of_iwarp);
	return RUN_TESTS(argc, argv, of_others);
}
