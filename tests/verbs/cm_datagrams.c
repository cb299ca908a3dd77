/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.cm_datagrams --personality iwarp -- */
/* ALSO: ib.cm_datagrams --personality ib -- */
/*
 * rdma_cm where devices differ: datagrams (RDMA_PS_UDP), connections of QPs without an id, and
 * calls after the end.
 */
#include "fixture/cm.h"

#include <arpa/inet.h>
#include <rdma/rdma_verbs.h>
#include <unistd.h>

#define QKEY 0x01234567
#define GRH 40
#define LEN 100

static bool roce;

static struct rdma_cm_id *datagram_id(struct rdma_event_channel *channel, enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	CHECK_EQ(rdma_create_id(channel, &id, NULL, ps), 0);
	return id;
}

static void add_ud_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr qp;

	CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
	CHECK_EQ(ibv_query_qp(id->qp, &qp, IBV_QP_STATE | IBV_QP_QKEY, &attr), 0);
	CHECK_EQ(qp.qp_state, IBV_QPS_RTS);
	CHECK_EQ(qp.qkey, QKEY);
}

/* A listener and a client with a resolved address, each on its own channel, and their QPs. */
struct datagrams {
	struct rdma_event_channel *passive, *active;
	struct rdma_cm_id *listener, *a, *b;
};

static void resolve(struct datagrams *d, struct sockaddr_storage *to)
{
	CHECK_EQ(rdma_resolve_addr(d->a, NULL, (struct sockaddr *)to, 1000), 0);
	cm_expect(d->active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(d->a, 1000), 0);
	cm_expect(d->active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	add_ud_qp(d->a);
}

static void open_datagrams(struct datagrams *d, enum rdma_port_space ps)
{
	struct sockaddr_storage any = cm_loopback(AF_INET, 0), to;

	d->passive = cm_channel();
	d->active = cm_channel();
	d->listener = datagram_id(d->passive, ps);
	CHECK_EQ(rdma_bind_addr(d->listener, (struct sockaddr *)&any), 0);
	CHECK_EQ(rdma_listen(d->listener, 4), 0);
	to = cm_address_of(d->listener, AF_INET);
	d->a = datagram_id(d->active, ps);
	resolve(d, &to);
}

static void ask(struct datagrams *d)
{
	struct rdma_conn_param param = { .private_data = "hello", .private_data_len = 6 };
	struct rdma_cm_event *event;

	CHECK_EQ(rdma_connect(d->a, &param), 0);
	event = cm_event(d->passive, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	CHECK(event->listen_id == d->listener);
	CHECK_EQ(event->param.ud.private_data_len, 180);
	CHECK(!memcmp(event->param.ud.private_data, "hello", 6));
	d->b = event->id;
	rdma_ack_cm_event(event);
}

static void close_datagrams(struct datagrams *d)
{
	rdma_destroy_qp(d->a);
	if (d->b->qp)
		rdma_destroy_qp(d->b);
	CHECK_EQ(rdma_destroy_id(d->a), 0);
	CHECK_EQ(rdma_destroy_id(d->b), 0);
	CHECK_EQ(rdma_destroy_id(d->listener), 0);
	rdma_destroy_event_channel(d->passive);
	rdma_destroy_event_channel(d->active);
}

static void wait_ud(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)))
		;
	CHECK_EQ(n, 1);
	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
}

/* Sends a datagram to the server's QP by this address. */
static void transfer(struct datagrams *d, struct ibv_ah_attr attr)
{
	static uint8_t from[LEN], into[GRH + LEN];
	struct ibv_mr *ma, *mb;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	memset(from, 0x5a, sizeof(from));
	ma = ibv_reg_mr(d->a->pd, from, sizeof(from), 0);
	mb = ibv_reg_mr(d->b->pd, into, sizeof(into), IBV_ACCESS_LOCAL_WRITE);
	CHECK(ma && mb);
	ah = ibv_create_ah(d->a->pd, &attr);
	CHECK(ah);
	CHECK_EQ(rdma_post_recv(d->b, NULL, into, sizeof(into), mb), 0);
	CHECK_EQ(rdma_post_ud_send(d->a, NULL, from, LEN, ma, IBV_SEND_SIGNALED, ah,
				   d->b->qp->qp_num),
		 0);
	wait_ud(d->a->send_cq, &wc);
	wait_ud(d->b->recv_cq, &wc);
	CHECK_EQ(wc.byte_len, GRH + LEN);
	CHECK_EQ(wc.src_qp, d->a->qp->qp_num);
	CHECK(!memcmp(into + GRH, from, LEN));
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(ibv_dereg_mr(ma), 0);
	CHECK_EQ(ibv_dereg_mr(mb), 0);
}

/* The address from the path record, as programs make it, for a GID whose index they search. */
static struct ibv_ah_attr by_path(const struct rdma_cm_id *id)
{
	const struct ibv_sa_path_rec *path = id->route.path_rec;
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = id->port_num };

	CHECK_EQ(id->route.num_paths, 1);
	CHECK(path->hop_limit > 1);
	CHECK(path->mtu >= IBV_MTU_256 && path->mtu <= IBV_MTU_4096);
	CHECK_EQ(ntohs(path->pkey), 0xffff);
	attr.grh.dgid = path->dgid;
	attr.grh.hop_limit = path->hop_limit;
	attr.dlid = ntohs(path->dlid);
	return attr;
}

static void test_accept(enum rdma_port_space ps)
{
	struct rdma_conn_param param = { .private_data = "welcome", .private_data_len = 8 };
	const struct rdma_ud_param *ud;
	struct rdma_cm_event *event;
	struct datagrams d;

	open_datagrams(&d, ps);
	ask(&d);
	add_ud_qp(d.b);
	param.qp_num = d.b->qp->qp_num;
	CHECK_EQ(rdma_accept(d.b, &param), 0);
	event = cm_event(d.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	ud = &event->param.ud;
	CHECK_EQ(ud->qp_num, d.b->qp->qp_num);
	CHECK_EQ(ud->qkey, QKEY);
	CHECK_EQ(ud->private_data_len, 136);
	CHECK(!memcmp(ud->private_data, "welcome", 8));
	CHECK_EQ(ud->ah_attr.is_global, 1);
	CHECK_EQ(ud->ah_attr.port_num, 1);
	transfer(&d, ud->ah_attr);
	transfer(&d, by_path(d.a));
	rdma_ack_cm_event(event);
	CHECK_ERRNO(rdma_reject(d.b, NULL, 0), EINVAL);
	cm_expect_none(d.passive, 20);
	close_datagrams(&d);
}

static void test_reject(void)
{
	struct rdma_cm_event *event;
	struct datagrams d;

	open_datagrams(&d, RDMA_PS_UDP);
	ask(&d);
	CHECK_EQ(rdma_reject(d.b, "no", 3), 0);
	/* InfiniBand's status: rejected by the service. */
	event = cm_event(d.active, RDMA_CM_EVENT_UNREACHABLE, 2);
	CHECK_EQ(event->param.ud.private_data_len, 136);
	CHECK(!memcmp(event->param.ud.private_data, "no", 3));
	rdma_ack_cm_event(event);
	close_datagrams(&d);
}

/* Two ids of a process have different ports, and the server sees the same ports. */
static void test_own_ports(void)
{
	struct rdma_cm_id *first_a, *first_b;
	struct sockaddr_storage to;
	struct datagrams d;

	open_datagrams(&d, RDMA_PS_UDP);
	ask(&d);
	CHECK_EQ(rdma_get_dst_port(d.b), rdma_get_src_port(d.a));
	first_a = d.a;
	first_b = d.b;
	to = cm_address_of(d.listener, AF_INET);
	d.a = datagram_id(d.active, RDMA_PS_UDP);
	resolve(&d, &to);
	ask(&d);
	CHECK_EQ(rdma_get_dst_port(d.b), rdma_get_src_port(d.a));
	CHECK(rdma_get_src_port(d.a) != rdma_get_src_port(first_a));
	rdma_destroy_qp(first_a);
	CHECK_EQ(rdma_destroy_id(first_a), 0);
	CHECK_EQ(rdma_destroy_id(first_b), 0);
	close_datagrams(&d);
}

/* The port belongs to no process, or its id does not listen, or is for connections. */
static void test_nobody_listens(void)
{
	struct sockaddr_storage to[3] = { cm_loopback(AF_INET, htons(9)), cm_loopback(AF_INET, 0) };
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *bound = datagram_id(channel, RDMA_PS_UDP), *id;
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1);
	struct rdma_conn_param param = { 0 };

	CHECK_EQ(rdma_bind_addr(bound, (struct sockaddr *)&to[1]), 0);
	to[1] = cm_address_of(bound, AF_INET);
	to[2] = cm_address_of(listener, AF_INET);
	for (int i = 0; i < 3; i++) {
		id = datagram_id(channel, RDMA_PS_UDP);
		CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to[i], 1000), 0);
		cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		CHECK_EQ(rdma_resolve_route(id, 1000), 0);
		cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
		add_ud_qp(id);
		CHECK_EQ(rdma_connect(id, &param), 0);
		/* InfiniBand's status: the service is not supported. */
		cm_expect(channel, RDMA_CM_EVENT_UNREACHABLE, 1);
		rdma_destroy_qp(id);
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	CHECK_EQ(rdma_destroy_id(bound), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * RDMA_PS_UDP and sockets have separate ports: an id may be bound to a socket's port, as by
 * rsockets for datagrams. This id sends requests, and does not listen. Other ids of its port space
 * cannot bind to its port.
 */
static void test_beside_socket(void)
{
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0), any;
	struct rdma_cm_id *id, *other;
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct datagrams d;
	uint16_t port;

	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	port = ((struct sockaddr_in *)&addr)->sin_port;
	any = cm_any(AF_INET, port);
	open_datagrams(&d, RDMA_PS_UDP);
	id = datagram_id(d.active, RDMA_PS_UDP);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_get_src_port(id), port);
	CHECK_ERRNO(rdma_listen(id, 1), EADDRINUSE);
	other = datagram_id(d.active, RDMA_PS_UDP);
	CHECK_ERRNO(rdma_bind_addr(other, (struct sockaddr *)&addr), EADDRINUSE);
	CHECK_ERRNO(rdma_bind_addr(other, (struct sockaddr *)&any), EADDRINUSE);
	CHECK_EQ(rdma_destroy_id(other), 0);

	addr = cm_address_of(d.listener, AF_INET);
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000), 0);
	cm_expect(d.active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_get_src_port(id), port);
	CHECK_EQ(rdma_resolve_route(id, 1000), 0);
	cm_expect(d.active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	rdma_destroy_qp(d.a);
	CHECK_EQ(rdma_destroy_id(d.a), 0);
	add_ud_qp(id);
	d.a = id;
	ask(&d);
	CHECK_EQ(rdma_get_dst_port(d.b), port);
	CHECK_EQ(rdma_reject(d.b, "no", 3), 0);
	cm_expect(d.active, RDMA_CM_EVENT_UNREACHABLE, 2);
	close_datagrams(&d);

	id = cm_id(NULL);
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&any), EADDRINUSE);
	CHECK_EQ(rdma_destroy_id(id), 0);
	id = datagram_id(NULL, RDMA_PS_UDP);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	close(fd);
}

static void test_no_datagrams(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = datagram_id(channel, RDMA_PS_UDP);
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);

	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&addr), ENODEV);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* A QP without an id: the program moves the QP, and calls rdma_establish(). */
static struct ibv_qp *own_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_qp *qp;

	CHECK(pd);
	attr.send_cq = attr.recv_cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	CHECK(attr.send_cq);
	qp = ibv_create_qp(pd, &attr);
	CHECK(qp);
	return qp;
}

static void free_qp(struct ibv_qp *qp)
{
	struct ibv_cq *cq = qp->send_cq;
	struct ibv_pd *pd = qp->pd;

	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

static void move_to(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	CHECK_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void test_own_qps(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 4), *a = cm_id(active), *b;
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	struct rdma_conn_param param = { 0 };
	struct ibv_qp *qa, *qb;

	CHECK_EQ(rdma_resolve_addr(a, NULL, (struct sockaddr *)&to, 1000), 0);
	cm_expect(active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(a, 1000), 0);
	cm_expect(active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	CHECK_EQ(a->route.num_paths, roce); /* a route of iWARP has none */
	qa = own_qp(a);
	move_to(a, qa, IBV_QPS_INIT);
	param.qp_num = qa->qp_num;
	CHECK_EQ(rdma_connect(a, &param), 0);
	b = cm_request(channel);
	qb = own_qp(b);
	move_to(b, qb, IBV_QPS_INIT);
	move_to(b, qb, IBV_QPS_RTR);
	param.qp_num = qb->qp_num;
	CHECK_EQ(rdma_accept(b, &param), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	if (roce) {
		cm_expect(active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
		move_to(a, qa, IBV_QPS_RTR);
		move_to(a, qa, IBV_QPS_RTS);
	} else {
		cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
	CHECK_EQ(rdma_establish(a), 0);
	cm_expect_none(active, 0);
	CHECK_EQ(state_of(qa), IBV_QPS_RTS);
	CHECK_EQ(state_of(qb), IBV_QPS_RTS);
	CHECK_EQ(rdma_disconnect(a), 0);
	cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (roce) {
		cm_expect(active, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
		cm_expect(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	}
	free_qp(qa);
	free_qp(qb);
	CHECK_EQ(rdma_destroy_id(a), 0);
	CHECK_EQ(rdma_destroy_id(b), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/* A QP with an id: librdmacm itself answers the response, and ends the QP by the error state. */
static void test_known_qps(void)
{
	struct cm_link l;

	cm_link_open(&l);
	cm_transfer(l.a, l.b);
	cm_transfer(l.b, l.a);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	cm_expect(l.active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect(l.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (roce)
		CHECK_EQ(state_of(l.a->qp), IBV_QPS_ERR);
	cm_link_close(&l);
}

/*
 * The peer ends the connection before this side has the event of its start: both events come, in
 * this order.
 */
static void test_early_end(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 4), *a, *b;
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);

	a = cm_resolved(active, &to);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(channel);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(rdma_disconnect(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	while (state_of(a->qp) != IBV_QPS_ERR)
		usleep(1000);
	cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

int main(void)
{
	roce = !is_iwarp(cm_device());
	if (roce) {
		test_accept(RDMA_PS_UDP);
		test_accept(RDMA_PS_IPOIB);
		test_reject();
		test_own_ports();
		test_nobody_listens();
		test_beside_socket();
	} else {
		test_no_datagrams();
	}
	test_own_qps();
	test_known_qps();
	test_early_end();
	return 0;
}
