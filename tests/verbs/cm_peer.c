/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peer-to-peer connections (RFC 6581 9.2), as requested by the setting peer-to-peer. */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDR(ss) ((struct sockaddr *)&(ss))
#define LEN 64
#define A_WHILE 200 /* ms after which no event is expected any more */

static void ask_for(const char *kind)
{
	CHECK_EQ(setenv("SCTPIW_PEER_TO_PEER", kind, 1), 0);
}

/* A link whose passive side accepts on request */

struct end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	uint8_t in[LEN], out[LEN];
	struct ibv_mr *in_mr, *out_mr;
};

struct peers {
	struct rdma_event_channel *listening;
	struct rdma_cm_id *listener;
	struct end a, b;
};

static void end_open(struct end *e, struct rdma_cm_id *id, uint8_t seed)
{
	e->id = id;
	fill(e->out, LEN, seed);
	e->in_mr = rdma_reg_msgs(id, e->in, LEN);
	e->out_mr = rdma_reg_msgs(id, e->out, LEN);
	CHECK(e->in_mr && e->out_mr);
	CHECK_EQ(rdma_post_recv(id, e, e->in, LEN, e->in_mr), 0);
}

static void end_close(struct end *e)
{
	CHECK_EQ(rdma_dereg_mr(e->in_mr), 0);
	CHECK_EQ(rdma_dereg_mr(e->out_mr), 0);
	if (e->id)
		cm_destroy(e->id);
	rdma_destroy_event_channel(e->channel);
}

static void say(struct end *e)
{
	CHECK_EQ(rdma_post_send(e->id, e, e->out, LEN, e->out_mr, IBV_SEND_SIGNALED), 0);
}

/* Checks that a message of the peer has arrived in the only receive. */
static void came(struct end *to, uint8_t seed)
{
	struct ibv_wc wc;

	expect_wc(to->id->qp->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, (uintptr_t)to);
	CHECK_EQ(wc.byte_len, LEN);
	CHECK(filled(to->in, LEN, seed));
}

/* Checks the same, and that the sender's work request has completed. */
static void heard(struct end *to, struct end *from, uint8_t seed)
{
	struct ibv_wc wc;

	expect_wc(from->id->qp->send_cq, IBV_WC_SUCCESS, &wc);
	came(to, seed);
}

static void peers_listen(struct peers *p)
{
	memset(p, 0, sizeof(*p));
	p->listening = cm_channel();
	p->listener = cm_listener(p->listening, AF_INET, 8);
}

/* Connects a to b. b has a QP with a receive, and does not accept yet. */
static void peers_call(struct peers *p, struct rdma_conn_param *param)
{
	struct sockaddr_storage to = cm_address_of(p->listener, AF_INET);

	p->a.channel = cm_channel();
	p->b.channel = cm_channel();
	end_open(&p->a, cm_resolved(p->a.channel, &to), 1);
	CHECK_EQ(rdma_connect(p->a.id, param), 0);
	p->b.id = cm_request(p->listening);
	CHECK_EQ(rdma_migrate_id(p->b.id, p->b.channel), 0);
	cm_add_qp(p->b.id);
	end_open(&p->b, p->b.id, 2);
}

static void peers_hang_up(struct peers *p)
{
	end_close(&p->a);
	end_close(&p->b);
}

static void peers_close(struct peers *p)
{
	CHECK_EQ(rdma_destroy_id(p->listener), 0);
	rdma_destroy_event_channel(p->listening);
}

static void both_established(struct peers *p)
{
	cm_expect(p->a.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(p->b.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
}

/* Data */

/*
 * The accepting side sends at once, and each side has one receive. The RTR indication takes no
 * receive, and causes no completion on either side.
 */
static void passive_first(const char *kind)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .rnr_retry_count = 7 };
	struct peers p;

	ask_for(kind);
	peers_listen(&p);
	for (int i = 0; i < 20; i++) {
		param.initiator_depth = param.responder_resources = i & 1; /* also without Reads */
		peers_call(&p, &param);
		CHECK_EQ(rdma_accept(p.b.id, &param), 0);
		say(&p.b);
		heard(&p.a, &p.b, 2);
		both_established(&p);
		say(&p.a);
		heard(&p.b, &p.a, 1);
		expect_no_wc(p.a.id->qp->send_cq, 1);
		expect_no_wc(p.a.id->qp->recv_cq, 1);
		expect_no_wc(p.b.id->qp->send_cq, 1);
		expect_no_wc(p.b.id->qp->recv_cq, 1);
		CHECK_EQ(rdma_disconnect(i & 2 ? p.a.id : p.b.id), 0);
		cm_expect(p.a.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect(p.b.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
		expect_no_async(p.a.id->verbs, 1);
		peers_hang_up(&p);
	}
	peers_close(&p);
}

static void test_send(void)
{
	passive_first("send");
}

static void test_write(void)
{
	passive_first("write");
}

static void test_read(void)
{
	passive_first("read");
}

static void test_any(void)
{
	passive_first("any");
}

static void test_off(void)
{
	passive_first("off");
}

/* Many connections at the same time, with both sides at full speed. */
static void test_many(void)
{
	enum { MANY = 50 };
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	static struct peers p[MANY];

	ask_for("send");
	peers_listen(&p[0]);
	for (int i = 0; i < MANY; i++) {
		p[i].listening = p[0].listening;
		p[i].listener = p[0].listener;
		peers_call(&p[i], &param);
	}
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(rdma_accept(p[i].b.id, &param), 0);
		say(&p[i].b);
	}
	for (int i = 0; i < MANY; i++) {
		both_established(&p[i]);
		heard(&p[i].a, &p[i].b, 2);
		say(&p[i].a);
		heard(&p[i].b, &p[i].a, 1);
		peers_hang_up(&p[i]);
	}
	peers_close(&p[0]);
}

/* A lost RTR indication */

/*
 * A relay between the two sides. While holds is set, it drops the client's packets, which SCTP
 * retransmits later.
 */
struct relay {
	int fd;
	struct sockaddr_storage addr, listener;
	socklen_t addr_len;
	_Atomic bool holds;
	pthread_t thread;
};

/* An empty datagram ends the relay. */
static void *relay_run(void *arg)
{
	struct relay *r = arg;
	struct sockaddr_storage from, client = { 0 };
	static char data[65536];

	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(r->fd, data, sizeof(data), 0, ADDR(from), &len);

		if (n <= 0)
			return NULL;
		if (!memcmp(&from, &r->listener, r->addr_len)) {
			sendto(r->fd, data, n, 0, ADDR(client), r->addr_len);
		} else {
			client = from;
			if (!r->holds)
				sendto(r->fd, data, n, 0, ADDR(r->listener), r->addr_len);
		}
	}
}

static void relay_open(struct relay *r, struct peers *p, const char *kind)
{
	char port[8];

	memset(r, 0, sizeof(*r));
	r->addr = cm_loopback(AF_INET, 0);
	r->addr_len = sizeof(struct sockaddr_in);
	r->fd = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(r->fd >= 0);
	CHECK_EQ(bind(r->fd, ADDR(r->addr), r->addr_len), 0);
	CHECK_EQ(getsockname(r->fd, ADDR(r->addr), &r->addr_len), 0);
	snprintf(port, sizeof(port), "%u", ntohs(((struct sockaddr_in *)&r->addr)->sin_port));
	CHECK_EQ(setenv("SCTPIW_ENCAP_PORT", port, 1), 0);
	CHECK_EQ(setenv("SCTPIW_SILENT_LIMIT", "120", 1), 0);
	ask_for(kind);
	peers_listen(p);
	r->listener = cm_address_of(p->listener, AF_INET);
	CHECK_EQ(pthread_create(&r->thread, NULL, relay_run, r), 0);
}

static struct rdma_conn_param usual = { .rnr_retry_count = 7 };

/* b has the request. From now on, no packet of a arrives. */
static void accept_held(struct relay *r, struct peers *p)
{
	r->holds = true;
	CHECK_EQ(rdma_accept(p->b.id, &usual), 0);
	say(&p->b);
	/* Once the Accept has arrived, any data after it would have arrived, too. */
	cm_expect(p->a.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
}

static void hold(struct relay *r, struct peers *p, const char *kind)
{
	relay_open(r, p, kind);
	peers_call(p, &usual);
	accept_held(r, p);
}

static void relay_close(struct relay *r)
{
	CHECK_EQ(sendto(r->fd, "", 0, 0, ADDR(r->addr), r->addr_len), 0);
	pthread_join(r->thread, NULL);
	close(r->fd);
}

/* Neither the event nor data comes before the RTR indication. */
static void waits(const char *kind)
{
	struct relay r;
	struct peers p;

	hold(&r, &p, kind);
	expect_qp_state(p.b.id->qp, IBV_QPS_RTS);
	cm_expect_none(p.b.channel, A_WHILE);
	expect_no_wc(p.a.id->qp->recv_cq, A_WHILE);
	expect_no_wc(p.b.id->qp->send_cq, 1);
	r.holds = false;
	cm_expect(p.b.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	heard(&p.a, &p.b, 2);
	say(&p.a);
	heard(&p.b, &p.a, 1);
	peers_hang_up(&p);
	peers_close(&p);
	relay_close(&r);
}

static void test_waits_for_send(void)
{
	waits("send");
}

static void test_waits_for_write(void)
{
	waits("write");
}

static void test_waits_for_read(void)
{
	waits("read");
}

/* Without the setting, no side waits, with the same relay and the same lost packets. */
static void test_waits_for_nothing(void)
{
	struct ibv_wc wc;
	struct relay r;
	struct peers p;

	hold(&r, &p, "off");
	cm_expect(p.b.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	came(&p.a, 2);
	expect_no_wc(p.b.id->qp->send_cq, A_WHILE); /* a's packets do not arrive yet */
	r.holds = false;
	expect_wc(p.b.id->qp->send_cq, IBV_WC_SUCCESS, &wc);
	peers_hang_up(&p);
	peers_close(&p);
	relay_close(&r);
}

static void flushed(struct end *e)
{
	struct ibv_wc wc;

	expect_wc(e->id->qp->send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_wc(e->id->qp->recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, (uintptr_t)e);
}

/* The accepting side ends the connection before it is established. */
static void test_disconnect(void)
{
	struct relay r;
	struct peers p;

	hold(&r, &p, "write");
	CHECK_EQ(rdma_disconnect(p.b.id), 0);
	cm_expect(p.b.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	flushed(&p.b);
	r.holds = false;
	cm_expect(p.a.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect_none(p.b.channel, A_WHILE);
	CHECK_EQ(rdma_disconnect(p.b.id), 0);
	peers_hang_up(&p);
	peers_close(&p);
	relay_close(&r);
}

static void test_destroy(void)
{
	struct relay r;
	struct peers p;

	hold(&r, &p, "read");
	cm_destroy(p.b.id);
	p.b.id = NULL;
	r.holds = false;
	cm_expect(p.a.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	peers_hang_up(&p);
	peers_close(&p);
	relay_close(&r);
}

/* The active side ends the connection right after its RTR indication: both arrive. */
static void test_end_of_active(void)
{
	struct relay r;
	struct peers p;

	hold(&r, &p, "send");
	CHECK_EQ(rdma_disconnect(p.a.id), 0);
	cm_expect(p.a.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect_none(p.b.channel, A_WHILE);
	r.holds = false;
	cm_expect(p.b.channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(p.b.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	peers_hang_up(&p);
	peers_close(&p);
	relay_close(&r);
}

/*
 * The wait for an RTR indication ends after half a minute, like the wait for an Accept. Connections
 * that do not wait, or no longer wait, are not affected.
 */
static void test_never(void)
{
	struct peers p, connected, over;
	struct relay r;

	relay_open(&r, &p, "write");
	connected = over = p;
	peers_call(&connected, &usual);
	CHECK_EQ(rdma_accept(connected.b.id, &usual), 0);
	both_established(&connected);
	peers_call(&over, &usual);
	peers_call(&p, &usual);
	accept_held(&r, &over);
	CHECK_EQ(rdma_disconnect(over.b.id), 0);
	cm_expect(over.b.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	accept_held(&r, &p);
	cm_expect(p.b.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	flushed(&p.b);
	expect_no_async(p.b.id->verbs, 1);
	r.holds = false;
	cm_expect(p.a.channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect_none(p.b.channel, A_WHILE);
	cm_expect_none(over.b.channel, 1);
	say(&connected.a);
	heard(&connected.b, &connected.a, 1);
	cm_expect_none(connected.a.channel, 1);
	cm_expect_none(connected.b.channel, 1);
	peers_hang_up(&p);
	peers_hang_up(&over);
	peers_hang_up(&connected);
	peers_close(&p);
	relay_close(&r);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "send", test_send },
		{ "write", test_write },
		{ "read", test_read },
		{ "any", test_any },
		{ "off", test_off },
		{ "many", test_many },
		{ "waits_for_send", test_waits_for_send },
		{ "waits_for_write", test_waits_for_write },
		{ "waits_for_read", test_waits_for_read },
		{ "waits_for_nothing", test_waits_for_nothing },
		{ "disconnect", test_disconnect },
		{ "destroy", test_destroy },
		{ "end_of_active", test_end_of_active },
		{ "never", test_never },
	};

	/*
	 * The tests check the connection manager's behaviour for iWARP devices, as RFC 6581 is
	 * about iWARP.
	 */
	CHECK_EQ(setenv("SCTPIW_PERSONALITY", "iwarp", 1), 0);
	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
