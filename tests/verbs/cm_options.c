/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.cm_options --personality iwarp -- */
/* Options of rdma_cm ids, unsupported features, and rare calls. */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDR(ss) ((struct sockaddr *)&(ss))

static int set(struct rdma_cm_id *id, int name, const void *value, size_t len)
{
	return rdma_set_option(id, RDMA_OPTION_ID, name, (void *)value, len);
}

/* TOS */

/*
 * A relay between a client and a listener. Each side sees the relay as the UDP port of the other
 * side.
 */
struct relay {
	int fd;
	socklen_t addr_len;
	struct sockaddr_storage addr, listener;
	_Atomic int tos_of_client, tos_of_listener; /* of the last packet; -1: no packet yet */
};

static void relay_open(struct relay *r, int family)
{
	int on = 1;

	memset(r, 0, sizeof(*r));
	r->addr = cm_loopback(family, 0);
	r->addr_len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	r->fd = socket(family, SOCK_DGRAM, 0);
	CHECK(r->fd >= 0);
	CHECK_EQ(bind(r->fd, ADDR(r->addr), r->addr_len), 0);
	CHECK_EQ(getsockname(r->fd, ADDR(r->addr), &r->addr_len), 0);
	if (family == AF_INET)
		CHECK_EQ(setsockopt(r->fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on)), 0);
	else
		CHECK_EQ(setsockopt(r->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on)), 0);
	r->tos_of_client = r->tos_of_listener = -1;
}

static int tos_of(struct msghdr *msg)
{
	int tos = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			tos = *(uint8_t *)CMSG_DATA(c);
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)
			memcpy(&tos, CMSG_DATA(c), sizeof(tos));
	}
	return tos;
}

/* An empty datagram ends the relay. */
static void *relay_run(void *arg)
{
	struct relay *r = arg;
	struct sockaddr_storage from, client = { 0 };
	char data[65536], control[256];

	for (;;) {
		struct iovec iov = { data, sizeof(data) };
		struct msghdr msg = { &from, sizeof(from), &iov, 1, control, sizeof(control), 0 };
		ssize_t n = recvmsg(r->fd, &msg, 0);

		if (n <= 0)
			return NULL;
		if (!memcmp(&from, &r->listener, r->addr_len)) {
			r->tos_of_listener = tos_of(&msg);
			sendto(r->fd, data, n, 0, ADDR(client), r->addr_len);
		} else {
			r->tos_of_client = tos_of(&msg);
			client = from;
			sendto(r->fd, data, n, 0, ADDR(r->listener), r->addr_len);
		}
	}
}

/*
 * Packets have the TOS that was set before connecting or listening, except the ECN bits. -1: not
 * set.
 */
static void connect_with_tos(struct relay *r, int family, int of_client, int of_listener)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct sockaddr_storage addr = cm_loopback(family, 0);
	struct rdma_cm_id *listener = cm_id(channel), *a, *b;
	uint8_t tos = (uint8_t)of_listener;
	pthread_t thread;

	r->tos_of_client = r->tos_of_listener = -1;
	if (of_listener >= 0)
		CHECK_EQ(set(listener, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	CHECK_EQ(rdma_bind_addr(listener, ADDR(addr)), 0);
	CHECK_EQ(rdma_listen(listener, 1), 0);
	r->listener = cm_address_of(listener, family);
	CHECK_EQ(pthread_create(&thread, NULL, relay_run, r), 0);
	a = cm_resolved(active, &r->listener);
	tos = (uint8_t)of_client;
	if (of_client >= 0)
		CHECK_EQ(set(a, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(channel);
	/* The id may use another port now, but does not show this. */
	CHECK_EQ(rdma_get_dst_port(b), rdma_get_src_port(a));
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_transfer(a, b);
	cm_transfer(b, a);
	CHECK_EQ(r->tos_of_client, of_client < 0 ? 0 : of_client & 0xfc);
	CHECK_EQ(r->tos_of_listener, of_listener < 0 ? 0 : of_listener & 0xfc);
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
	CHECK_EQ(sendto(r->fd, "", 0, 0, ADDR(r->addr), r->addr_len), 0);
	pthread_join(thread, NULL);
}

static void tos(int family, int of_client, int of_listener)
{
	struct relay r;
	char port[8];

	relay_open(&r, family);
	snprintf(port, sizeof(port), "%u", ntohs(((struct sockaddr_in *)&r.addr)->sin_port));
	CHECK_EQ(setenv("SCTPIW_ENCAP_PORT", port, 1), 0);
	connect_with_tos(&r, family, of_client, of_listener);
	close(r.fd);
}

static void test_tos_of_client(void)
{
	tos(AF_INET, 0x28, -1);
}

static void test_tos_of_listener(void)
{
	tos(AF_INET, -1, 0xb8);
}

static void test_tos_of_both(void)
{
	tos(AF_INET, 0xff, 0x20);
}

static void test_tos_ipv6(void)
{
	tos(AF_INET6, 0x28, 0xb8);
}

/* Two connections to one listener have different TOS, and keep them. */
static void test_tos_apart(void)
{
	struct rdma_cm_id *a, *b;
	uint8_t tos = 0x48;
	struct cm_link l;

	cm_link_open(&l);
	a = cm_link_another(&l);
	CHECK_EQ(set(a, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(l.listening);
	CHECK(rdma_get_dst_port(b) != rdma_get_dst_port(l.b));
	CHECK_EQ(rdma_get_dst_port(b), rdma_get_src_port(a));
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(l.listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_transfer(a, b);
	cm_transfer(l.a, l.b);
	/* On a connection the option is accepted, and changes nothing. */
	CHECK_EQ(set(a, RDMA_OPTION_ID_TOS, &tos, 1), 0);
	cm_transfer(b, a);
	cm_destroy(a);
	cm_destroy(b);
	cm_link_close(&l);
}

/* Arguments */

static void test_wrong_options(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);
	int on = 1, two[2] = { 1, 0 };

	CHECK_ERRNO(set(id, RDMA_OPTION_ID_TOS, &on, sizeof(on)), EINVAL);
	CHECK_ERRNO(set(id, RDMA_OPTION_ID_TOS, &on, 0), EINVAL);
	CHECK_ERRNO(set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &on, sizeof(on)), EINVAL);
	CHECK_EQ(set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &on, 1), 0);
	CHECK_ERRNO(set(id, RDMA_OPTION_ID_REUSEADDR, &on, 1), EINVAL);
	CHECK_ERRNO(set(id, RDMA_OPTION_ID_AFONLY, two, sizeof(two)), EINVAL);
	CHECK_ERRNO(set(id, 99, &on, sizeof(on)), ENOSYS);
	CHECK_ERRNO(rdma_set_option(id, 7, RDMA_OPTION_ID_TOS, &on, 1), ENOSYS);
	CHECK_ERRNO(set(id, RDMA_OPTION_ID_TOS, NULL, 1), EFAULT);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* On a connection, options that only matter at its start are accepted, and others are refused. */
static void test_options_when_connected(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	uint8_t byte = 14;
	struct cm_link l;
	int on = 1, mask;

	cm_link_open(&l);
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_id *id = i ? l.b : l.a;

		CHECK_EQ(set(id, RDMA_OPTION_ID_TOS, &byte, 1), 0);
		CHECK_EQ(set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
		CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
		if (!is_iwarp(id->verbs))
			CHECK(mask & IBV_QP_TIMEOUT && attr.timeout == byte);
		CHECK_EQ(set(id, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
		CHECK_ERRNO(set(id, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), EINVAL);
		CHECK_EQ(rdma_notify(id, IBV_EVENT_COMM_EST), 0);
	}
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
}

static void test_notify(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	struct rdma_cm_id *id = cm_id(channel);

	CHECK_ERRNO(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
	CHECK_EQ(rdma_bind_addr(id, ADDR(addr)), 0);
	CHECK_ERRNO(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* Port spaces, multicast */

static void test_port_spaces(void)
{
	struct rdma_event_channel *channel = cm_channel();
	static const enum rdma_port_space datagrams[] = { RDMA_PS_UDP, RDMA_PS_IPOIB };
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0), to = cm_loopback(AF_INET, htons(9));
	struct rdma_cm_id *id;

	for (int i = 0; i < 2; i++) {
		uint8_t timeout = 14;

		CHECK_EQ(rdma_create_id(channel, &id, NULL, datagrams[i]), 0);
		/* An iWARP device has no datagrams. */
		if (is_iwarp(cm_device())) {
			CHECK_ERRNO(rdma_bind_addr(id, ADDR(addr)), ENODEV);
			CHECK_ERRNO(rdma_resolve_addr(id, NULL, ADDR(to), 100), ENODEV);
		}
		CHECK_ERRNO(set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1), EINVAL);
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	/* The port space of InfiniBand, with IP addresses. */
	CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_IB), 0);
	CHECK(rdma_bind_addr(id, ADDR(addr)) == 0 || errno == ENODEV);
	CHECK_EQ(rdma_destroy_id(id), 0);
	id = NULL;
	CHECK_ERRNO(rdma_create_id(channel, &id, NULL, 0x0abc), EINVAL);
	cm_expect_none(channel, 0);
	rdma_destroy_event_channel(channel);
}

static void test_multicast(void)
{
	struct sockaddr_storage group = cm_loopback(AF_INET, 0);
	struct cm_link l;

	((struct sockaddr_in *)&group)->sin_addr.s_addr = htonl(0xe0000101);
	cm_link_open(&l);
	CHECK_ERRNO(rdma_join_multicast(l.a, ADDR(group), NULL),
		    EINVAL); /* the id is for connections */
	CHECK(rdma_leave_multicast(l.a, ADDR(group)));
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
}

/* ECE, reject, establish */

/* A QP without an id, the use case of ECE and rdma_establish(). */
struct external {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static void external_open(struct external *x, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT };
	int mask;

	x->cq = attr.send_cq = attr.recv_cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	CHECK(x->cq);
	x->pd = ibv_alloc_pd(id->verbs);
	CHECK(x->pd);
	x->qp = ibv_create_qp(x->pd, &attr);
	CHECK(x->qp);
	CHECK_EQ(rdma_init_qp_attr(id, &init, &mask), 0);
	CHECK_EQ(ibv_modify_qp(x->qp, &init, mask), 0);
}

static void external_close(struct external *x)
{
	CHECK_EQ(ibv_destroy_qp(x->qp), 0);
	CHECK_EQ(ibv_destroy_cq(x->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(x->pd), 0);
}

/*
 * The options of the peer. No iWARP message carries them, so the id shows that the peer has none.
 */
static void exchange_ece(struct rdma_cm_id *id, struct ibv_qp *qp, bool passive)
{
	struct ibv_ece ours, remote = { 1, 1, 1 }, wrong;

	CHECK_EQ(ibv_query_ece(qp, &ours), 0);
	CHECK_EQ(rdma_set_local_ece(id, &ours), 0);
	wrong = (struct ibv_ece){ .options = 1 };
	CHECK_ERRNO(rdma_set_local_ece(id, &wrong), EINVAL);
	CHECK_ERRNO(rdma_set_local_ece(id, NULL), EINVAL);
	wrong = (struct ibv_ece){ .vendor_id = 0x1234, .options = 5 };
	CHECK_EQ(rdma_set_local_ece(id, &wrong), 0); /* librdmacm passes on any value */
	CHECK_ERRNO(rdma_get_remote_ece(id, NULL), EINVAL);
	if (!passive)
		return;
	CHECK_EQ(rdma_get_remote_ece(id, &remote), 0);
	CHECK_EQ(remote.vendor_id, 0);
	CHECK_EQ(remote.options, 0);
	CHECK_EQ(remote.comp_mask, 0);
	CHECK_EQ(ibv_set_ece(qp, &remote), EOPNOTSUPP);
}

/*
 * As in the manual: query the QP, set the id's options, connect, read the peer's options, set them.
 * They are not in the private data.
 */
static void test_ece(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1), *a = cm_id(active), *b;
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	bool iwarp = is_iwarp(cm_device());
	struct rdma_conn_param param = { .rnr_retry_count = 7,
					 .private_data = "hello",
					 .private_data_len = 5 };
	struct ibv_ece remote = { 1, 1, 1 };
	struct rdma_cm_event *event;
	struct external xa, xb;

	CHECK_EQ(rdma_resolve_addr(a, NULL, ADDR(to), 100), 0);
	cm_expect(active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(a, 100), 0);
	cm_expect(active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	external_open(&xa, a);
	exchange_ece(a, xa.qp, false);
	param.qp_num = xa.qp->qp_num;
	CHECK_EQ(rdma_connect(a, &param), 0);
	event = cm_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	b = event->id;
	CHECK_EQ(event->param.conn.private_data_len, cm_private(5, 56));
	CHECK(!memcmp(event->param.conn.private_data, "hello", 5));
	rdma_ack_cm_event(event);
	external_open(&xb, b);
	exchange_ece(b, xb.qp, true);
	param.qp_num = xb.qp->qp_num;
	CHECK_EQ(rdma_accept(b, &param), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	/* An iWARP connection is complete after the answer, so rdma_establish() has no effect. */
	event = cm_event(active, iwarp ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE,
			 0);
	CHECK_EQ(event->param.conn.private_data_len, cm_private(5, 196));
	rdma_ack_cm_event(event);
	CHECK_EQ(rdma_get_remote_ece(a, &remote), 0);
	CHECK_EQ(remote.vendor_id, 0);
	CHECK_EQ(remote.options, 0);
	expect_qp_state(xa.qp, IBV_QPS_RTS);
	expect_qp_state(xb.qp, IBV_QPS_RTS);
	CHECK_EQ(rdma_establish(a), 0);
	CHECK_EQ(rdma_disconnect(b), 0);
	cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
	if (iwarp)
		CHECK_ERRNO(rdma_establish(a), EINVAL);
	external_close(&xa);
	external_close(&xb);
	CHECK_EQ(rdma_destroy_id(a), 0);
	CHECK_EQ(rdma_destroy_id(b), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/* If the id has a QP, librdmacm does this, and the application's call is refused. */
static void test_ece_of_ids(void)
{
	struct ibv_ece ece = { .vendor_id = 0x1234 };
	struct cm_link l;

	cm_link_open(&l);
	CHECK_ERRNO(rdma_set_local_ece(l.a, &ece), EINVAL);
	CHECK_ERRNO(rdma_get_remote_ece(l.b, &ece), EINVAL);
	CHECK_ERRNO(rdma_establish(l.b), EINVAL);
	CHECK_EQ(ibv_query_ece(l.a->qp, &ece), 0);
	CHECK_EQ(ece.options, 0);
	CHECK_EQ(ibv_set_ece(l.b->qp, &ece), 0);
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
}

static void test_reject_ece(void)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *a, *b;
	struct cm_link l;

	cm_link_open(&l);
	a = cm_link_another(&l);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(l.listening);
	CHECK_EQ(rdma_reject_ece(b, "why", 4), 0);
	event = cm_event(l.active, RDMA_CM_EVENT_REJECTED, cm_status(FOR_ECE));
	CHECK_EQ(event->param.conn.private_data_len, cm_private(4, 148));
	CHECK(!memcmp(event->param.conn.private_data, "why", 4));
	rdma_ack_cm_event(event);
	CHECK_EQ(rdma_destroy_id(b), 0);
	cm_destroy(a);
	cm_link_close(&l);
}

/* The end of a connection */

/*
 * One side ends the connection twice, or both sides end it: a second end is no error, and causes no
 * event.
 */
static void test_disconnect_twice(void)
{
	struct cm_link l;

	cm_link_open(&l);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	cm_expect(l.active, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	cm_expect(l.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK_EQ(rdma_disconnect(l.b), 0);
	CHECK_EQ(rdma_disconnect(l.b), 0);
	cm_expect_none(l.active, 50);
	cm_expect_none(l.passive, 50);
	cm_link_close(&l);
}

static void test_disconnect_both(void)
{
	for (int i = 0; i < 20; i++) {
		struct cm_link l;

		cm_link_open(&l);
		CHECK_EQ(rdma_disconnect(l.a), 0);
		CHECK_EQ(rdma_disconnect(l.b), 0);
		cm_expect(l.active, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect(l.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
		expect_qp_state(l.a->qp, IBV_QPS_ERR);
		expect_qp_state(l.b->qp, IBV_QPS_ERR);
		cm_expect_none(l.active, 1);
		cm_expect_none(l.passive, 1);
		cm_link_close(&l);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "tos_of_client", test_tos_of_client },
		{ "tos_of_listener", test_tos_of_listener },
		{ "tos_of_both", test_tos_of_both },
		{ "tos_ipv6", test_tos_ipv6 },
		{ "tos_apart", test_tos_apart },
		{ "wrong_options", test_wrong_options },
		{ "options_when_connected", test_options_when_connected },
		{ "notify", test_notify },
		{ "port_spaces", test_port_spaces },
		{ "multicast", test_multicast },
		{ "ece", test_ece },
		{ "ece_of_ids", test_ece_of_ids },
		{ "reject_ece", test_reject_ece },
		{ "disconnect_twice", test_disconnect_twice },
		{ "disconnect_both", test_disconnect_both },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
