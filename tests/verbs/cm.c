/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm --engines 3 -- */
/* ALSO: iwarp.cm --personality iwarp -- */
/* ALSO: peer_to_peer.cm --peer-to-peer send -- */
/* The connection manager: its calls, in valid and invalid order, and the event of each outcome. */
#include "cm.h"

#include "conformance/rows.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static size_t addr_len(int family)
{
	return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static bool same_host(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	if (a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((struct sockaddr_in *)b)->sin_addr.s_addr;
	return !memcmp(&((struct sockaddr_in6 *)a)->sin6_addr,
		       &((struct sockaddr_in6 *)b)->sin6_addr, 16);
}

/* Checks the addresses and ports of the two ids. */
static void check_identity(struct rdma_cm_id *a, struct rdma_cm_id *b,
			   const struct sockaddr_storage *host)
{
	uint8_t tos = 8;
	int on = 1;

	CHECK(same_host(rdma_get_local_addr(a), host) && same_host(rdma_get_peer_addr(a), host));
	CHECK(same_host(rdma_get_local_addr(b), host) && same_host(rdma_get_peer_addr(b), host));
	CHECK_EQ(rdma_get_src_port(a), rdma_get_dst_port(b));
	CHECK_EQ(rdma_get_dst_port(a), rdma_get_src_port(b));
	CHECK(rdma_get_src_port(a));
	CHECK(a->verbs && a->verbs == b->verbs);
	CHECK_EQ(a->port_num, 1);
	CHECK_EQ(b->port_num, 1);
	CHECK_EQ(a->ps, RDMA_PS_TCP);
	CHECK_EQ(b->ps, RDMA_PS_TCP);
	CHECK_EQ(rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)), 0);
	CHECK_ERRNO(rdma_set_option(a, RDMA_OPTION_ID, 99, &on, sizeof(on)), ENOSYS);
	CHECK_ERRNO(rdma_set_option(a, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, 1), EINVAL);
	CHECK_EQ(rdma_notify(a, IBV_EVENT_COMM_EST), 0);
}

static void check_qp_attr(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask = 0;

	CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	CHECK_EQ(mask & (IBV_QP_STATE | IBV_QP_PORT), IBV_QP_STATE | IBV_QP_PORT);
	CHECK_EQ(attr.qp_state, IBV_QPS_INIT);
	CHECK_EQ(attr.port_num, 1);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	/* The connection of an iWARP device has moved the QP already. */
	CHECK_EQ(!(mask & IBV_QP_STATE), is_iwarp(id->verbs));
}

/* The attributes of InfiniBand have the peer's QP number. */
static void check_peer(struct rdma_cm_id *id, uint32_t qp_num)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask = 0;

	CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	CHECK_EQ(!(mask & IBV_QP_DEST_QPN), is_iwarp(id->verbs));
	if (!is_iwarp(id->verbs))
		CHECK_EQ(attr.dest_qp_num, cm_is_extended() ? qp_num : 1);
}

static void connect_over(int family)
{
	struct sockaddr_storage host = cm_loopback(family, 0), to;
	struct rdma_event_channel *listening = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(listening, family, 0), *a, *b;
	struct rdma_cm_event *event;

	to = cm_address_of(listener, family);
	a = cm_id(active);
	a->context = &to;
	CHECK_EQ(rdma_resolve_addr(a, NULL, (struct sockaddr *)&to, 2000), 0);
	event = cm_event(active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK(event->id == a && !event->listen_id);
	rdma_ack_cm_event(event);
	CHECK_EQ(rdma_resolve_route(a, 2000), 0);
	cm_expect(active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	cm_add_qp(a);
	check_qp_attr(a);
	CHECK_EQ(cm_connect(a), 0);

	event = cm_event(listening, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	CHECK(event->listen_id == listener && event->id != listener);
	CHECK_EQ(event->param.conn.qp_num, cm_is_extended() ? a->qp->qp_num : 0);
	b = event->id;
	rdma_ack_cm_event(event);
	check_identity(a, b, &host);
	cm_add_qp(b);
	check_peer(b, a->qp->qp_num);
	CHECK_EQ(cm_accept(b), 0);
	event = cm_event(listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK(event->id == b);
	rdma_ack_cm_event(event);
	event = cm_event(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK(event->id == a);
	CHECK_EQ(event->param.conn.qp_num, cm_is_extended() ? b->qp->qp_num : 0);
	rdma_ack_cm_event(event);
	check_peer(a, b->qp->qp_num);
	check_peer(b, a->qp->qp_num);
	cm_transfer(a, b);
	cm_transfer(b, a);

	CHECK_EQ(rdma_disconnect(a), 0);
	cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
	event = cm_event(listening, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK(event->id == b);
	rdma_ack_cm_event(event);
	rdma_disconnect(b);
	cm_expect_none(active, 100); /* iWARP has no TIMEWAIT_EXIT */
	cm_expect_none(listening, 100);
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

static void test_ipv4(void)
{
	ROWS("5043-5.2.3-13 5043-6.4-02");
	connect_over(AF_INET);
}

static bool have_ipv6(void)
{
	struct sockaddr_storage addr = cm_loopback(AF_INET6, 0);
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	bool ok = fd >= 0 && !bind(fd, (struct sockaddr *)&addr, addr_len(AF_INET6));

	close(fd);
	return ok;
}

static void test_ipv6(void)
{
	if (have_ipv6())
		connect_over(AF_INET6);
}

/* Private data and parameters of a connection */

/* The given private data, followed by zeros. */
static void check_private(const struct rdma_cm_event *event, unsigned int len, unsigned int room,
			  unsigned int seed)
{
	const uint8_t *data = event->param.conn.private_data;

	CHECK_EQ(event->param.conn.private_data_len, cm_private(len, room));
	CHECK(!len || filled(data, len, seed));
	for (unsigned int i = len; i < event->param.conn.private_data_len; i++)
		CHECK_EQ(data[i], 0);
}

static void private_data(struct cm_link *l, unsigned int len)
{
	struct rdma_cm_id *a = cm_link_another(l), *b;
	struct rdma_conn_param param = { .private_data_len = len };
	struct rdma_cm_event *event;
	uint8_t data[256];

	param.private_data = data;
	fill(data, sizeof(data), 1);
	CHECK_EQ(rdma_connect(a, &param), 0);
	event = cm_event(l->listening, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	check_private(event, len, 56, 1);
	b = event->id;
	rdma_ack_cm_event(event);
	cm_add_qp(b);
	fill(data, sizeof(data), 2);
	CHECK_EQ(rdma_accept(b, &param), 0);
	event = cm_event(l->listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(event->param.conn.private_data_len, 0);
	rdma_ack_cm_event(event);
	event = cm_event(l->active, RDMA_CM_EVENT_ESTABLISHED, 0);
	check_private(event, len, 196, 2);
	rdma_ack_cm_event(event);
	cm_destroy(a);
	cm_expect(l->listening, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_destroy(b);
}

static void test_private_data(void)
{
	ROWS("5043-5.2.3-09 5043-5.2.3-14 6581-7-14");
	static const unsigned int lengths[] = { 0, 1, 3, 4, 56, 92, 196, 251, 252, 255 };
	struct cm_link l;

	cm_link_open(&l);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (is_iwarp(l.a->verbs) || lengths[i] <= 56)
			private_data(&l, lengths[i]);
	cm_link_close(&l);
}

/*
 * Private data too long for InfiniBand's message is refused; the id can connect or reject with
 * less.
 */
static void test_too_much_private_data(void)
{
	struct rdma_conn_param param = { .private_data_len = 57 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *a, *b;
	uint8_t data[256];
	struct cm_link l;

	cm_link_open(&l);
	if (is_iwarp(l.a->verbs))
		return cm_link_close(&l);
	fill(data, sizeof(data), 4);
	param.private_data = data;
	a = cm_link_another(&l);
	CHECK_ERRNO(rdma_connect(a, &param), EINVAL);
	param.private_data_len = 56;
	CHECK_EQ(rdma_connect(a, &param), 0);
	b = cm_request(l.listening);
	CHECK_ERRNO(rdma_reject(b, data, 149), EINVAL);
	cm_add_qp(b);
	param.private_data_len = 197;
	CHECK_ERRNO(rdma_accept(b, &param), EINVAL); /* rejects the request */
	event = cm_event(l.active, RDMA_CM_EVENT_REJECTED, BY_PROGRAM);
	check_private(event, 0, 148, 0);
	rdma_ack_cm_event(event);
	cm_destroy(b);
	cm_destroy(a);
	a = cm_link_another(&l);
	param.private_data_len = 0;
	CHECK_EQ(rdma_connect(a, &param), 0);
	b = cm_request(l.listening);
	cm_add_qp(b);
	param.private_data_len = 196;
	CHECK_EQ(rdma_accept(b, &param), 0);
	cm_expect(l.listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	event = cm_event(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	check_private(event, 196, 196, 4);
	rdma_ack_cm_event(event);
	cm_destroy(b);
	cm_destroy(a);
	cm_link_close(&l);
}

static void reject(struct cm_link *l, unsigned int len)
{
	struct rdma_cm_id *a = cm_link_another(l), *b;
	struct rdma_cm_event *event;
	uint8_t data[256];

	fill(data, sizeof(data), 3);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(l->listening);
	CHECK_EQ(rdma_reject(b, data, len), 0);
	event = cm_event(l->active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
	CHECK(event->id == a);
	check_private(event, len, 148, 3);
	rdma_ack_cm_event(event);
	expect_qp_state(a->qp, IBV_QPS_ERR);
	CHECK_ERRNO(rdma_reject(b, NULL, 0), EINVAL);
	CHECK(cm_accept(b));
	cm_expect_none(l->listening, 20);
	CHECK_EQ(rdma_destroy_id(b), 0);
	cm_destroy(a);
}

static void test_reject(void)
{
	ROWS("5043-5.2.3-13 6581-7-13");
	struct cm_link l;

	cm_link_open(&l);
	reject(&l, 0);
	reject(&l, 1);
	reject(&l, 148);
	if (is_iwarp(l.a->verbs))
		reject(&l, 255);
	cm_link_close(&l);
}

/*
 * Each side's ORD is limited to the peer's IRD. The accepting side raises its IRD if that is too
 * small.
 */
static void test_ird_ord(void)
{
	ROWS("6581-9.1-03 6581-9.1-04 6581-9.1-05 6581-9.1-06");
	ROWS("5040-6.1-02");
	struct rdma_conn_param param = { .responder_resources = 3, .initiator_depth = 5 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *a, *b;
	struct cm_link l;

	cm_link_open(&l);
	a = cm_link_another(&l);
	CHECK_EQ(rdma_connect(a, &param), 0);
	event = cm_event(l.listening, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	/* the values for the side that gets the event: rdma_get_cm_event(3) */
	CHECK_EQ(event->param.conn.responder_resources, 5);
	CHECK_EQ(event->param.conn.initiator_depth, 3);
	b = event->id;
	rdma_ack_cm_event(event);
	cm_add_qp(b);
	param.responder_resources = 2;
	param.initiator_depth = 9;
	CHECK_EQ(rdma_accept(b, &param), 0);
	cm_expect(l.listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	event = cm_event(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(event->param.conn.responder_resources, 3);
	CHECK_EQ(event->param.conn.initiator_depth, 5);
	rdma_ack_cm_event(event);
	cm_destroy(a);
	cm_destroy(b);
	cm_link_close(&l);
}

/* The counts of an event, and of the id's QP in RTS. */
static void check_counts(const struct rdma_cm_event *event, const struct rdma_conn_param *want,
			 int retry_cnt)
{
	const struct rdma_conn_param *got = &event->param.conn;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	bool none = is_iwarp(event->id->verbs);
	int mask = 0;

	CHECK_EQ(got->retry_count, none ? 0 : want->retry_count);
	CHECK_EQ(got->rnr_retry_count, none ? 0 : want->rnr_retry_count);
	CHECK_EQ(got->flow_control, none ? 0 : want->flow_control);
	CHECK_EQ(rdma_init_qp_attr(event->id, &attr, &mask), 0);
	if (none)
		return;
	CHECK_EQ(attr.retry_cnt, retry_cnt);
	CHECK_EQ(attr.rnr_retry, want->rnr_retry_count);
}

/*
 * Each side gets its peer's values of the fields in InfiniBand's REQ and REP, up to 7. A REP has no
 * retry_count.
 */
static void counts(struct rdma_conn_param gives, struct rdma_conn_param accepts)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *a, *b;
	struct cm_link l;

	cm_link_open(&l);
	a = cm_link_another(&l);
	CHECK_EQ(rdma_connect(a, &gives), 0);
	gives.retry_count = gives.retry_count > 7 ? 7 : gives.retry_count;
	gives.rnr_retry_count = gives.rnr_retry_count > 7 ? 7 : gives.rnr_retry_count;
	event = cm_event(l.listening, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	check_counts(event, &gives, gives.retry_count);
	b = event->id;
	rdma_ack_cm_event(event);
	cm_add_qp(b);
	CHECK_EQ(rdma_accept(b, &accepts), 0);
	cm_expect(l.listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	event = cm_event(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	accepts.retry_count = 0;
	check_counts(event, &accepts, gives.retry_count);
	rdma_ack_cm_event(event);
	cm_destroy(a);
	cm_destroy(b);
	cm_link_close(&l);
}

static void test_counts(void)
{
	counts((struct rdma_conn_param){ .retry_count = 5, .rnr_retry_count = 6 },
	       (struct rdma_conn_param){
		       .retry_count = 4, .rnr_retry_count = 2, .flow_control = 1 });
	counts((struct rdma_conn_param){ .retry_count = 15,
					 .rnr_retry_count = 8,
					 .flow_control = 1 },
	       (struct rdma_conn_param){ .rnr_retry_count = 7 });
}

/* Connections that fail */

static void connect_to(const struct sockaddr_storage *to, enum rdma_cm_event_type type, int status)
{
	struct rdma_event_channel *active = cm_channel();
	struct rdma_cm_id *id = cm_resolved(active, to);
	double start = now_seconds();

	CHECK_EQ(cm_connect(id), 0);
	cm_expect(active, type, status);
	fprintf(stderr, "%s after %.2f s\n", rdma_event_str(type), now_seconds() - start);
	cm_expect_none(active, 20);
	cm_destroy(id);
	rdma_destroy_event_channel(active);
}

static void test_nobody_listens(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 0);
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	double start = now_seconds();
	struct cm_link l;

	CHECK_EQ(rdma_destroy_id(listener), 0);
	connect_to(&to, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	/* The port is bound, but not listening. */
	listener = cm_id(channel);
	to = cm_loopback(AF_INET, 0);
	CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&to), 0);
	to = cm_address_of(listener, AF_INET);
	connect_to(&to, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	/* The listener has gone, but the association still exists. */
	cm_link_open(&l);
	to = cm_address_of(l.listener, AF_INET);
	CHECK_EQ(rdma_destroy_id(l.listener), 0);
	connect_to(&to, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	cm_transfer(l.a, l.b);
	l.listener = cm_id(l.listening);
	cm_link_close(&l);
	CHECK(now_seconds() - start < 5);
}

static int udp_socket(struct sockaddr_storage *addr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*addr);

	*addr = cm_loopback(AF_INET, 0);
	CHECK(fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)addr, addr_len(AF_INET)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)addr, &len), 0);
	return fd;
}

/* Calls that must fail */

static void test_wrong_states(void)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, htons(9));
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);
	struct sockaddr_storage any = cm_loopback(AF_INET, 0);
	struct rdma_conn_param param = { .qp_num = 1 };

	CHECK_ERRNO(rdma_reject(id, NULL, 0), EINVAL);
	/*
	 * Calls that come too early. Omits calls in which librdmacm follows a null pointer if the
	 * id has no device.
	 */
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	CHECK_ERRNO(rdma_reject(id, NULL, 0), EINVAL);
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_ERRNO(rdma_connect(id, &param), EINVAL);
	CHECK_ERRNO(rdma_accept(id, &param), EINVAL);
	CHECK_ERRNO(rdma_disconnect(id), EINVAL);
	CHECK_ERRNO(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100), EINVAL);
	CHECK_ERRNO(rdma_listen(id, 1), EINVAL);
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&to), EINVAL);
	CHECK_EQ(rdma_resolve_route(id, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	CHECK_ERRNO(rdma_resolve_route(id, 100), EINVAL);
	param.qp_num = 0xffffff;
	/* No such QP exists. InfiniBand's connection manager ignores this. */
	if (is_iwarp(id->verbs))
		CHECK_ERRNO(rdma_connect(id, &param), EINVAL);
	cm_add_qp(id);
	CHECK_EQ(cm_connect(id), 0);
	CHECK_EQ(cm_connect(id), EINVAL);
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	CHECK_EQ(cm_connect(id), EINVAL);
	cm_destroy(id);
	rdma_destroy_event_channel(channel);
}

static void test_bind_errors(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1), *id = cm_id(channel);
	struct sockaddr_storage addr;
	int fd;

	addr = cm_address_of(listener, AF_INET);
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&addr), EADDRINUSE);
	fd = udp_socket(&addr);
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&addr), EADDRINUSE);
	close(fd);
	((struct sockaddr_in *)&addr)->sin_addr.s_addr = htonl(0xc6336401); /* 198.51.100.1 */
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&addr), EADDRNOTAVAIL);
	addr.ss_family = AF_UNIX;
	CHECK(rdma_bind_addr(id, (struct sockaddr *)&addr));
	CHECK_ERRNO(rdma_listen(listener, 1), EINVAL);
	addr = cm_loopback(AF_INET, 0);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	CHECK_ERRNO(rdma_bind_addr(id, (struct sockaddr *)&addr), EINVAL);
	/* A port can be bound again at once. */
	addr = cm_address_of(listener, AF_INET);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	listener = cm_id(channel);
	CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* Backlog */

#define CLIENTS 3

static void connect_all(struct cm_link *l, struct rdma_cm_id *listener, struct rdma_cm_id **id,
			int n)
{
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);

	for (int i = 0; i < n; i++) {
		id[i] = cm_resolved(l->active, &to);
		CHECK_EQ(cm_connect(id[i]), 0);
	}
}

/* The backlog limits unread requests. A request that was read does not count. */
static void test_backlog(void)
{
	ROWS("5043-5.2.3-15");
	struct rdma_cm_id *listener, *id[CLIENTS], *more, *b[CLIENTS];
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage to;
	struct cm_link l;

	cm_link_open(&l);
	listener = cm_listener(channel, AF_INET, 2);
	to = cm_address_of(listener, AF_INET);
	connect_all(&l, listener, id, CLIENTS);
	cm_expect(l.active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	b[0] = cm_request(channel);
	more = cm_resolved(l.active, &to);
	CHECK_EQ(cm_connect(more), 0);
	b[1] = cm_request(channel);
	b[2] = cm_request(channel);
	for (int i = 0; i < CLIENTS; i++) {
		cm_add_qp(b[i]);
		CHECK_EQ(cm_accept(b[i]), 0);
		cm_expect(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		cm_destroy(b[i]);
		cm_destroy(id[i]);
	}
	cm_destroy(more);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	cm_link_close(&l);
}

/* Unread requests end with the listener. A request that was read belongs to the application. */
static void test_destroy_listener(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener, *id[CLIENTS], *b;
	struct cm_link l;

	cm_link_open(&l);
	listener = cm_listener(channel, AF_INET, 8);
	connect_all(&l, listener, id, 1);
	b = cm_request(channel);
	connect_all(&l, listener, id + 1, CLIENTS - 1);
	sleep_ms(100);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	for (int i = 1; i < CLIENTS; i++)
		cm_expect(l.active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	cm_expect_none(channel, 20);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(l.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_transfer(id[0], b);
	for (int i = 0; i < CLIENTS; i++)
		cm_destroy(id[i]);
	cm_destroy(b);
	rdma_destroy_event_channel(channel);
	cm_link_close(&l);
}

static void test_destroy_while_connecting(void)
{
	struct rdma_cm_id *id[CLIENTS], *b;
	struct cm_link l;
	int err;

	cm_link_open(&l);
	/* The client ends at once, or after its request has arrived. */
	connect_all(&l, l.listener, id, 1);
	cm_destroy(id[0]);
	connect_all(&l, l.listener, id, 1);
	sleep_ms(50);
	cm_destroy(id[0]);
	sleep_ms(50);
	for (;;) {
		struct pollfd pfd = { .fd = l.listening->fd, .events = POLLIN };

		if (poll(&pfd, 1, 100) == 0)
			break;
		b = cm_request(l.listening);
		cm_add_qp(b);
		err = cm_accept(b);
		CHECK_EQ(err, ECONNRESET);
		cm_destroy(b);
	}
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "ipv4", test_ipv4 },
		{ "ipv6", test_ipv6 },
		{ "private_data", test_private_data },
		{ "too_much_private_data", test_too_much_private_data },
		{ "reject", test_reject },
		{ "ird_ord", test_ird_ord },
		{ "counts", test_counts },
		{ "nobody_listens", test_nobody_listens },
		{ "wrong_states", test_wrong_states },
		{ "bind_errors", test_bind_errors },
		{ "backlog", test_backlog },
		{ "destroy_listener", test_destroy_listener },
		{ "destroy_while_connecting", test_destroy_while_connecting },
	};

	return RUN_TESTS(argc, argv, tests);
}
