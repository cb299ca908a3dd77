/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cm.h"

#include <poll.h>
#include <rdma/rdma_verbs.h>

struct rdma_cm_event *cm_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
			       int status)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	CHECK_EQ(poll(&pfd, 1, 2 * WAIT_SECONDS * 1000), 1);
	CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
	if (event->event != type || event->status != status)
		fprintf(stderr, "got %s, status %d; wanted %s, status %d\n",
			rdma_event_str(event->event), event->status, rdma_event_str(type), status);
	CHECK_EQ(event->event, type);
	CHECK_EQ(event->status, status);
	return event;
}

void cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status)
{
	CHECK_EQ(rdma_ack_cm_event(cm_event(channel, type, status)), 0);
}

void cm_expect_none(struct rdma_event_channel *channel, int ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	CHECK_EQ(poll(&pfd, 1, ms), 0);
}

struct rdma_event_channel *cm_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	CHECK(channel);
	return channel;
}

struct rdma_cm_id *cm_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	return id;
}

struct sockaddr_storage cm_loopback(int family, uint16_t port)
{
	struct sockaddr_storage ss = { .ss_family = family };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;

	if (family == AF_INET) {
		sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		sin->sin_port = port;
	} else {
		sin6->sin6_addr = in6addr_loopback;
		sin6->sin6_port = port;
	}
	return ss;
}

struct sockaddr_storage cm_any(int family, uint16_t port)
{
	struct sockaddr_storage ss = cm_loopback(family, port);

	if (family == AF_INET)
		((struct sockaddr_in *)&ss)->sin_addr.s_addr = htonl(INADDR_ANY);
	else
		((struct sockaddr_in6 *)&ss)->sin6_addr = in6addr_any;
	return ss;
}

struct sockaddr_storage cm_address_of(struct rdma_cm_id *listener, int family)
{
	return cm_loopback(family, rdma_get_src_port(listener));
}

struct rdma_cm_id *cm_listener(struct rdma_event_channel *channel, int family, int backlog)
{
	struct sockaddr_storage addr = cm_loopback(family, 0);
	struct rdma_cm_id *id = cm_id(channel);

	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_listen(id, backlog), 0);
	CHECK(rdma_get_src_port(id));
	return id;
}

void cm_add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 0 } };

	attr.send_cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	attr.recv_cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	CHECK(attr.send_cq && attr.recv_cq);
	CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

struct rdma_cm_id *cm_resolved(struct rdma_event_channel *channel,
			       const struct sockaddr_storage *to)
{
	struct rdma_cm_id *id = cm_id(channel);

	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 2000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(id, 2000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	cm_add_qp(id);
	return id;
}

static struct rdma_conn_param sensible(void)
{
	return (struct rdma_conn_param){ .responder_resources = 4, .initiator_depth = 4,
					 .retry_count = 7, .rnr_retry_count = 7 };
}

int cm_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = sensible();

	return rdma_connect(id, &param) ? errno : 0;
}

int cm_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = sensible();

	return rdma_accept(id, &param) ? errno : 0;
}

struct rdma_cm_id *cm_request(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = cm_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	struct rdma_cm_id *id = event->id;

	CHECK_EQ(rdma_ack_cm_event(event), 0);
	return id;
}

void cm_destroy(struct rdma_cm_id *id)
{
	if (id->qp) {
		struct ibv_cq *send_cq = id->qp->send_cq, *recv_cq = id->qp->recv_cq;

		rdma_destroy_qp(id);
		CHECK_EQ(ibv_destroy_cq(send_cq), 0);
		CHECK_EQ(ibv_destroy_cq(recv_cq), 0);
	}
	CHECK_EQ(rdma_destroy_id(id), 0);
}

struct rdma_cm_id *cm_link_another(const struct cm_link *l)
{
	struct sockaddr_storage to = cm_address_of(l->listener, AF_INET);

	return cm_resolved(l->active, &to);
}

void cm_link_open(struct cm_link *l)
{
	l->listening = cm_channel();
	l->active = cm_channel();
	l->passive = cm_channel();
	l->listener = cm_listener(l->listening, AF_INET, 8);
	l->a = cm_link_another(l);
	CHECK_EQ(cm_connect(l->a), 0);
	l->b = cm_request(l->listening);
	CHECK_EQ(rdma_migrate_id(l->b, l->passive), 0);
	cm_add_qp(l->b);
	CHECK_EQ(cm_accept(l->b), 0);
	cm_expect(l->passive, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(l->active, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void cm_link_close(struct cm_link *l)
{
	cm_destroy(l->a);
	cm_destroy(l->b);
	CHECK_EQ(rdma_destroy_id(l->listener), 0);
	rdma_destroy_event_channel(l->listening);
	rdma_destroy_event_channel(l->active);
	rdma_destroy_event_channel(l->passive);
}

void cm_transfer(struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	uint8_t out[64], in[64];
	struct ibv_mr *out_mr, *in_mr;
	struct ibv_wc wc;

	fill(out, sizeof(out), 5);
	memset(in, 0, sizeof(in));
	out_mr = rdma_reg_msgs(from, out, sizeof(out));
	in_mr = rdma_reg_msgs(to, in, sizeof(in));
	CHECK(out_mr && in_mr);
	CHECK_EQ(rdma_post_recv(to, NULL, in, sizeof(in), in_mr), 0);
	CHECK_EQ(rdma_post_send(from, NULL, out, sizeof(out), out_mr, IBV_SEND_SIGNALED), 0);
	expect_wc(from->qp->send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(to->qp->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, sizeof(in));
	CHECK(filled(in, sizeof(in), 5));
	CHECK_EQ(rdma_dereg_mr(out_mr), 0);
	CHECK_EQ(rdma_dereg_mr(in_mr), 0);
}
