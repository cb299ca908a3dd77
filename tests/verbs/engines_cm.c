/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.engines_cm --engines 3 -- */
/*
 * Connections of rdma_cm with one engine and with several. With several engines, ids of different
 * event channels are on different engines, and so are the requests of a listener.
 */
#include "cm.h"
#include "out_of_band.h"

#include <rdma/rdma_verbs.h>

#define THREADS 4
#define ROUNDS 300
#define SHORT 64u /* bytes */

/*
 * QPs that rdma_cm connects are on the engines of their ids, and may later be connected by their
 * numbers.
 */
static void test_by_cm(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct pair p;
		struct side a, b;

		pair_open(&p, NULL);
		ctx = p.a.pd->context;
		exchange(&p.a, &p.b, 1);
		a = p.a;
		b = p.b;
		CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
		CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
		oob_connect_both(&a, &b);
		exchange(&a, &b, 2);
		oob_open();
		pair_close(&p);
	}
}

/* The number of engines in this run. */
static unsigned int engines(void)
{
	const char *setting = getenv("SCTPIW_ENGINES");

	return setting ? (unsigned int)atoi(setting) : 1;
}

struct cm_end {
	struct sockaddr_storage to;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	pthread_t thread;
	uint8_t out[SHORT], in[SHORT];
	struct ibv_mr *out_mr, *in_mr;
};

static void prepare(struct cm_end *e)
{
	e->out_mr = rdma_reg_msgs(e->id, e->out, SHORT);
	e->in_mr = rdma_reg_msgs(e->id, e->in, SHORT);
	CHECK(e->out_mr && e->in_mr);
	CHECK_EQ(rdma_post_recv(e->id, NULL, e->in, SHORT, e->in_mr), 0);
}

static void close_end(struct cm_end *e)
{
	cm_destroy(e->id);
	rdma_destroy_event_channel(e->channel);
}

static void hang_up(struct cm_end *e)
{
	CHECK_EQ(rdma_dereg_mr(e->out_mr), 0);
	CHECK_EQ(rdma_dereg_mr(e->in_mr), 0);
	close_end(e);
}

static void say_number(struct cm_end *e, unsigned int n)
{
	struct ibv_wc wc;

	fill(e->out, SHORT, n);
	CHECK_EQ(rdma_post_send(e->id, NULL, e->out, SHORT, e->out_mr, IBV_SEND_SIGNALED), 0);
	expect_wc(e->id->qp->send_cq, IBV_WC_SUCCESS, &wc);
}

static void hear_number(struct cm_end *e, unsigned int n)
{
	struct ibv_wc wc;

	expect_wc(e->id->qp->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(e->in, SHORT, n));
	CHECK_EQ(rdma_post_recv(e->id, NULL, e->in, SHORT, e->in_mr), 0);
}

/* Connects, sends messages, and checks each answer. */
static void *call(void *arg)
{
	struct cm_end *e = arg;

	e->channel = cm_channel();
	e->id = cm_resolved(e->channel, &e->to);
	prepare(e);
	CHECK_EQ(cm_connect(e->id), 0);
	cm_expect(e->channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		say_number(e, i);
		hear_number(e, i + 1);
	}
	return NULL;
}

static void *be_called(void *arg)
{
	struct cm_end *e = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		hear_number(e, i);
		say_number(e, i + 1);
	}
	return NULL;
}

static void accept_in_thread(struct rdma_event_channel *listening, struct cm_end *e)
{
	e->id = cm_request(listening);
	e->channel = cm_channel();
	CHECK_EQ(rdma_migrate_id(e->id, e->channel), 0);
	cm_add_qp(e->id);
	prepare(e);
	CHECK_EQ(cm_accept(e->id), 0);
	cm_expect(e->channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(pthread_create(&e->thread, NULL, be_called, e), 0);
}

/* Counts the different ports, and their different remainders modulo the number of engines. */
static void count_ports(const struct cm_end *ends, unsigned int *differ, unsigned int *remainders)
{
	uint32_t seen = 0;

	*differ = *remainders = 0;
	for (int i = 0; i < THREADS; i++) {
		uint16_t port = ntohs(rdma_get_src_port(ends[i].id));
		bool again = false;

		for (int k = 0; k < i; k++)
			again |= ntohs(rdma_get_src_port(ends[k].id)) == port;
		*differ += !again;
		seen |= 1u << port % engines();
	}
	*remainders = (unsigned int)__builtin_popcount(seen);
}

/*
 * Threads with their own event channels connect to one listener. Their ids are on different
 * engines. The remainders of their ports select the engines of the listener's ids.
 */
static void test_cm_threads(void)
{
	struct rdma_event_channel *listening = cm_channel();
	struct rdma_cm_id *listener = cm_listener(listening, AF_INET, THREADS);
	unsigned int all = engines() < THREADS ? engines() : THREADS, differ, remainders;
	static struct cm_end caller[THREADS], called[THREADS];

	for (int i = 0; i < THREADS; i++) {
		caller[i].to = cm_address_of(listener, AF_INET);
		CHECK_EQ(pthread_create(&caller[i].thread, NULL, call, &caller[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		accept_in_thread(listening, &called[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(caller[i].thread, NULL);
		pthread_join(called[i].thread, NULL);
	}
	count_ports(caller, &differ, &remainders);
	CHECK_EQ(differ, THREADS);
	CHECK_EQ(remainders, all);
	for (int i = 0; i < THREADS; i++) {
		hang_up(&caller[i]);
		hang_up(&called[i]);
	}
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(listening);
}

/* Connects to the listener at `to`, on a new channel, whose id is on the next engine. */
static struct cm_end calling(const struct sockaddr_storage *to)
{
	struct cm_end e = { .to = *to, .channel = cm_channel() };

	e.id = cm_resolved(e.channel, to);
	CHECK_EQ(cm_connect(e.id), 0);
	return e;
}

/* Accepts a request. Its events come to the listener's channel. */
static void accept_one(struct rdma_cm_id *asked)
{
	cm_add_qp(asked);
	CHECK_EQ(cm_accept(asked), 0);
	cm_expect(asked->channel, RDMA_CM_EVENT_ESTABLISHED, 0);
}

/* A port with a present or past listener, and with one connection. */
struct server {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct sockaddr_storage at;
	struct cm_end known;
	struct rdma_cm_id *first; /* the passive end of this connection */
};

/* Connects s->known to a listener, which then ends. */
static void serve_one(struct server *s)
{
	s->channel = cm_channel();
	s->listener = cm_listener(s->channel, AF_INET, THREADS);
	s->at = cm_address_of(s->listener, AF_INET);
	s->known = calling(&s->at);
	s->first = cm_request(s->channel);
	accept_one(s->first);
	cm_expect(s->known.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(rdma_destroy_id(s->listener), 0);
}

static void listen_again(struct server *s)
{
	s->listener = cm_id(s->channel);
	CHECK_EQ(rdma_bind_addr(s->listener, (struct sockaddr *)&s->at), 0);
	CHECK_EQ(rdma_listen(s->listener, THREADS), 0);
}

static void end_server(struct server *s)
{
	close_end(&s->known);
	cm_destroy(s->first);
	CHECK_EQ(rdma_destroy_id(s->listener), 0);
	rdma_destroy_event_channel(s->channel);
}

/*
 * A server with connections is without a listener for longer than other servers may be. Then it
 * listens again, as perftest does. A request that came in between waits for the listener, from any
 * engine of the peer.
 */
static void test_listen_again(void)
{
	struct rdma_cm_id *asked[2];
	struct cm_end other[2];
	struct server s;

	serve_one(&s);
	sleep_ms(1100);
	for (int i = 0; i < 2; i++)
		other[i] = calling(&s.at);
	sleep_ms(50);
	listen_again(&s);
	for (int i = 0; i < 2; i++)
		asked[i] = cm_request(s.channel);
	for (int i = 0; i < 2; i++)
		accept_one(asked[i]);
	for (int i = 0; i < 2; i++) {
		cm_expect(other[i].channel, RDMA_CM_EVENT_ESTABLISHED, 0);
		close_end(&other[i]);
		cm_destroy(asked[i]);
	}
	end_server(&s);
}

/*
 * The same for a peer with its own association that connects right after the listener's end: its
 * INIT waits.
 */
static void test_listen_soon(void)
{
	struct sockaddr_storage from = cm_loopback(AF_INET, 0);
	struct cm_end other = { .channel = cm_channel() };
	struct rdma_cm_id *asked;
	struct server s;

	serve_one(&s);
	other.id = cm_id(other.channel);
	CHECK_EQ(rdma_bind_addr(other.id, (struct sockaddr *)&from), 0);
	cm_resolve(other.id, &s.at);
	CHECK_EQ(cm_connect(other.id), 0);
	sleep_ms(50);
	listen_again(&s);
	asked = cm_request(s.channel);
	accept_one(asked);
	cm_expect(other.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	close_end(&other);
	cm_destroy(asked);
	end_server(&s);
}

static struct rdma_cm_id *bound_to_shared(struct rdma_event_channel *channel,
					  const struct sockaddr_storage *at)
{
	struct rdma_cm_id *id = cm_id(channel);
	int on = 1;

	CHECK_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)at), 0);
	return id;
}

/*
 * A listening port, on all engines, also connects. The peer's packets come to the engine of the
 * peer's port. The last connection is made without a listener.
 */
static void test_call_from_listener(void)
{
	struct rdma_event_channel *channel = cm_channel(), *theirs = cm_channel();
	struct sockaddr_storage at = cm_loopback(AF_INET, 0), to;
	struct rdma_cm_id *listener = bound_to_shared(channel, &at), *other, *a, *b;

	at = cm_loopback(AF_INET, rdma_get_src_port(listener));
	CHECK_EQ(rdma_listen(listener, 4), 0);
	for (int i = 0; i < 2 * THREADS; i++) {
		other = cm_listener(theirs, AF_INET, 4);
		to = cm_address_of(other, AF_INET);
		a = bound_to_shared(channel, &at);
		if (i == 2 * THREADS - 1)
			CHECK_EQ(rdma_destroy_id(listener), 0);
		cm_resolve(a, &to);
		CHECK_EQ(cm_connect(a), 0);
		b = cm_request(theirs);
		accept_one(b);
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
		CHECK_EQ(rdma_get_src_port(a), rdma_get_dst_port(b));
		cm_transfer(a, b);
		cm_transfer(b, a);
		cm_destroy(a);
		cm_destroy(b);
		CHECK_EQ(rdma_destroy_id(other), 0);
	}
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(theirs);
}

/* A request that is accepted with a connected QP is rejected, whatever engine the QP is on. */
static void test_accept_refused(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
		struct rdma_event_channel *listening = cm_channel(), *active = cm_channel();
		struct rdma_cm_id *listener = cm_listener(listening, AF_INET, 1), *asking, *asked;
		struct sockaddr_storage to = cm_address_of(listener, AF_INET);
		struct side a, b;

		oob_connect_pair(&a, &b);
		asking = cm_resolved(active, &to);
		CHECK_EQ(cm_connect(asking), 0);
		asked = cm_request(listening);
		param.qp_num = (i % 2 ? &a : &b)->qp->qp_num; /* on different engines */
		CHECK_ERRNO(rdma_accept(asked, &param), EINVAL);
		cm_expect(active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
		exchange(&a, &b, 1);
		close_pair(&a, &b);
		CHECK_EQ(rdma_destroy_id(asked), 0);
		cm_destroy(asking);
		CHECK_EQ(rdma_destroy_id(listener), 0);
		rdma_destroy_event_channel(listening);
		rdma_destroy_event_channel(active);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "cm_threads", test_cm_threads },
		{ "listen_again", test_listen_again },
		{ "listen_soon", test_listen_soon },
		{ "call_from_listener", test_call_from_listener },
		{ "by_cm", test_by_cm },
		{ "accept_refused", test_accept_refused },
	};

	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
