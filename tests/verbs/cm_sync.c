/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: peer_to_peer.cm_sync --peer-to-peer send -- */
/* The layers of librdmacm above its events: endpoints, synchronous ids, and rsockets. */
#include "cm.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

/* Endpoints */

static struct rdma_addrinfo *getaddrinfo_of(const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res;

	CHECK_EQ(rdma_getaddrinfo("127.0.0.1", port, &hints, &res), 0);
	return res;
}

static struct ibv_qp_init_attr endpoint_qp(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 0 },
					  .sq_sig_all = 1,
					  .qp_type = IBV_QPT_RC };
}

#define TEXT "hello, endpoint"

static void *passive(void *arg)
{
	struct rdma_cm_id *listener = arg, *id;
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	char buf[32] = "", again[32] = TEXT;
	struct ibv_mr *mr, *again_mr;
	struct ibv_wc wc;

	CHECK_EQ(rdma_get_request(listener, &id), 0);
	CHECK(id->qp && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK_EQ(id->event->param.conn.private_data_len, 56); /* as in a REQ */
	CHECK(!strcmp(id->event->param.conn.private_data, TEXT));
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	again_mr = rdma_reg_msgs(id, again, sizeof(again));
	CHECK(mr && again_mr);
	CHECK_EQ(rdma_post_recv(id, buf, buf, sizeof(buf), mr), 0);
	CHECK_EQ(rdma_accept(id, &param), 0);
	CHECK_EQ(rdma_get_recv_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(wc.wr_id == (uintptr_t)buf && !strcmp(buf, TEXT));
	CHECK_EQ(rdma_post_send(id, NULL, again, sizeof(again), again_mr, 0), 0);
	CHECK_EQ(rdma_get_send_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	/* The passive side disconnects. */
	CHECK_EQ(rdma_disconnect(id), 0);
	CHECK_EQ(rdma_dereg_mr(mr), 0);
	CHECK_EQ(rdma_dereg_mr(again_mr), 0);
	rdma_destroy_ep(id);
	return NULL;
}

static void test_endpoints(void)
{
	struct ibv_qp_init_attr attr = endpoint_qp();
	struct rdma_conn_param param = { .private_data = TEXT,
					 .private_data_len = sizeof(TEXT),
					 .responder_resources = 1,
					 .initiator_depth = 1 };
	struct rdma_addrinfo *res = getaddrinfo_of("0", RAI_PASSIVE);
	struct rdma_cm_id *listener, *id;
	char port[8], buf[32] = TEXT, got[32] = "";
	struct ibv_mr *mr, *got_mr;
	struct ibv_wc wc;
	pthread_t thread;

	CHECK_EQ(rdma_create_ep(&listener, res, NULL, &attr), 0);
	rdma_freeaddrinfo(res);
	CHECK_EQ(rdma_listen(listener, 1), 0);
	snprintf(port, sizeof(port), "%u", ntohs(rdma_get_src_port(listener)));
	CHECK_EQ(pthread_create(&thread, NULL, passive, listener), 0);

	res = getaddrinfo_of(port, 0);
	attr = endpoint_qp();
	CHECK_EQ(rdma_create_ep(&id, res, NULL, &attr), 0);
	rdma_freeaddrinfo(res);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	got_mr = rdma_reg_msgs(id, got, sizeof(got));
	CHECK(mr && got_mr);
	CHECK_EQ(rdma_post_recv(id, NULL, got, sizeof(got), got_mr), 0);
	CHECK_EQ(rdma_connect(id, &param), 0);
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	CHECK_EQ(rdma_post_send(id, NULL, buf, sizeof(buf), mr, 0), 0);
	CHECK_EQ(rdma_get_send_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(rdma_get_recv_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(!strcmp(got, TEXT));
	CHECK_EQ(rdma_disconnect(id), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(rdma_dereg_mr(mr), 0);
	CHECK_EQ(rdma_dereg_mr(got_mr), 0);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

/* An id without a channel waits for the outcome itself. */
static void test_synchronous(void)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, htons(1));
	struct ibv_qp_init_attr attr = endpoint_qp();
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *id;

	CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000), 0);
	CHECK(id->verbs && id->event->event == RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_EQ(rdma_resolve_route(id, 2000), 0);
	CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
	errno = 0;
	CHECK_EQ(rdma_connect(id, &param), -1);
	CHECK_EQ(errno, ECONNREFUSED);
	rdma_destroy_qp(id);
	CHECK_EQ(rdma_destroy_id(id), 0);
}

/* Rsockets */

#define STREAM (1 << 20)

static uint8_t *pattern_of(unsigned int seed)
{
	uint8_t *buf = malloc(STREAM);

	CHECK(buf);
	fill(buf, STREAM, seed);
	return buf;
}

static void send_all(int s, unsigned int seed)
{
	uint8_t *buf = pattern_of(seed);

	for (size_t done = 0; done < STREAM;) {
		ssize_t n = rsend(s, buf + done, STREAM - done, 0);

		CHECK(n > 0);
		done += n;
	}
	free(buf);
}

static void recv_all(int s, unsigned int seed)
{
	uint8_t *buf = calloc(1, STREAM);

	CHECK(buf);
	for (size_t done = 0; done < STREAM;) {
		ssize_t n = rrecv(s, buf + done, STREAM - done, 0);

		CHECK(n > 0);
		done += n;
	}
	CHECK(filled(buf, STREAM, seed));
	free(buf);
}

static int listening(struct sockaddr_storage *addr)
{
	socklen_t len = sizeof(*addr);
	int s = rsocket(addr->ss_family, SOCK_STREAM, 0);

	CHECK(s >= 0);
	CHECK_EQ(rbind(s, (struct sockaddr *)addr,
		       addr->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
						    sizeof(struct sockaddr_in6)),
		 0);
	CHECK_EQ(rlisten(s, 4), 0);
	CHECK_EQ(rgetsockname(s, (struct sockaddr *)addr, &len), 0);
	return s;
}

/*
 * librdmacm has one thread for all pending connections of a process. That thread may wait for a
 * sending socket, while raccept() of the peer's end waits for the thread. Then that end would never
 * receive.
 */
static pthread_barrier_t accepted;

static void *echo_side(void *arg)
{
	int s = raccept(*(int *)arg, NULL, NULL);
	char byte;

	CHECK(s >= 0);
	pthread_barrier_wait(&accepted);
	recv_all(s, 1);
	send_all(s, 2);
	CHECK_EQ(rrecv(s, &byte, 1, 0), 0); /* the end of the stream */
	rshutdown(s, SHUT_RDWR);
	CHECK_EQ(rclose(s), 0);
	return NULL;
}

static void stream(int family, bool nonblocking)
{
	struct sockaddr_storage addr = cm_loopback(family, 0);
	int l = listening(&addr), s = rsocket(family, SOCK_STREAM, 0), one = 1;
	socklen_t len = sizeof(one);
	pthread_t thread;

	CHECK(s >= 0);
	CHECK_EQ(pthread_barrier_init(&accepted, NULL, 2), 0);
	CHECK_EQ(pthread_create(&thread, NULL, echo_side, &l), 0);
	CHECK_EQ(rsetsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), 0);
	if (nonblocking) {
		struct pollfd pfd = { .fd = s, .events = POLLOUT };

		CHECK_EQ(rfcntl(s, F_SETFL, O_NONBLOCK), 0);
		/* rconnect() returns at once if the events came before the call. */
		if (rconnect(s, (struct sockaddr *)&addr, sizeof(addr)))
			CHECK_EQ(errno, EINPROGRESS);
		CHECK_EQ(rpoll(&pfd, 1, WAIT_SECONDS * 1000), 1);
		CHECK_EQ(rgetsockopt(s, SOL_SOCKET, SO_ERROR, &one, &len), 0);
		CHECK_EQ(one, 0);
		CHECK_EQ(rfcntl(s, F_SETFL, 0), 0);
	} else {
		CHECK_EQ(rconnect(s, (struct sockaddr *)&addr, sizeof(addr)), 0);
	}
	pthread_barrier_wait(&accepted);
	send_all(s, 1);
	recv_all(s, 2);
	CHECK_EQ(rshutdown(s, SHUT_RDWR), 0);
	CHECK_EQ(rclose(s), 0);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&accepted);
	CHECK_EQ(rclose(l), 0);
}

static void test_rsocket(void)
{
	stream(AF_INET, false);
}

static void test_rsocket_nonblocking(void)
{
	stream(AF_INET, true);
}

#define SOCKETS 3

static void *accept_sockets(void *arg)
{
	static struct sockaddr_in peer[SOCKETS];

	for (int i = 0; i < SOCKETS; i++) {
		socklen_t len = sizeof(peer[i]);
		int s = raccept(*(int *)arg, NULL, NULL);

		CHECK_EQ(rgetpeername(s, (struct sockaddr *)&peer[i], &len), 0);
		CHECK_EQ(rclose(s), 0);
	}
	return peer;
}

/* A server can distinguish clients of one process by their addresses and ports. */
static void test_rsocket_names(void)
{
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	int l = listening(&addr), s[SOCKETS];
	struct sockaddr_in *peer, own;
	socklen_t len = sizeof(own);
	pthread_t thread;
	void *names;

	CHECK_EQ(pthread_create(&thread, NULL, accept_sockets, &l), 0);
	for (int i = 0; i < SOCKETS; i++) {
		s[i] = rsocket(AF_INET, SOCK_STREAM, 0);
		CHECK_EQ(rconnect(s[i], (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	}
	pthread_join(thread, &names);
	peer = names;
	for (int i = 0; i < SOCKETS; i++) {
		CHECK_EQ(rgetsockname(s[i], (struct sockaddr *)&own, &len), 0);
		CHECK_EQ(peer[i].sin_port, own.sin_port);
		for (int k = 0; k < i; k++)
			CHECK_EQ(peer[k].sin_port != peer[i].sin_port, cm_is_extended());
	}
	for (int i = 0; i < SOCKETS; i++)
		CHECK_EQ(rclose(s[i]), 0);
	CHECK_EQ(rclose(l), 0);
}

static void test_rsocket_refused(void)
{
	struct sockaddr_storage addr = cm_loopback(AF_INET, htons(1));
	int s = rsocket(AF_INET, SOCK_STREAM, 0);

	CHECK(s >= 0);
	errno = 0;
	CHECK_EQ(rconnect(s, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), -1);
	CHECK_EQ(errno, ECONNREFUSED);
	CHECK_EQ(rclose(s), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "endpoints", test_endpoints },
		{ "synchronous", test_synchronous },
		{ "rsocket", test_rsocket },
		{ "rsocket_nonblocking", test_rsocket_nonblocking },
		{ "rsocket_names", test_rsocket_names },
		{ "rsocket_refused", test_rsocket_refused },
	};

	return RUN_TESTS(argc, argv, tests);
}
