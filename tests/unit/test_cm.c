/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The connection manager through the table of rnic_api.h, over real sockets: both ends in this
 * process, or one in a child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "runtime/channel.h"
#include "net/memory.h"
#include "runtime/rnic.h"
#include "runtime/object.h"
#include "sys/sys.h"
#include "iwarp/iwarp.h"
#include "iwarp/cq.h"
#include "iwarp/mr.h"
#include "rnic_api.h"

extern const struct sctpiw_rnic_api sctpiw_rnic_api;
static const struct sctpiw_rnic_api *api = &sctpiw_rnic_api;

enum { ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4, UNREACHABLE = 7,
       REJECTED = 8, ESTABLISHED = 9, DISCONNECTED = 10 };
enum { PS_TCP = 0x0106, PS_UDP = 0x0111, RC = 2, UD = 4 };

#define WAIT_MS 10000

/* ---- channels, ids, events ---- */

struct chan {
	struct rnic_channel *rnic;
	int fd;
};

static void chan_open(struct chan *c)
{
	assert_int_equal(api->cm_channel_create(&c->rnic, &c->fd), 0);
}

static void chan_close(struct chan *c)
{
	close(c->fd);
	api->cm_channel_release(c->rnic);
}

static uint32_t new_id(struct chan *c, uint64_t uid)
{
	uint32_t id = 0;

	assert_int_equal(api->cm_create_id(c->rnic, uid, PS_TCP, RC, &id), 0);
	assert_true(id > 0 && id <= INT32_MAX);
	return id;
}

static void destroy_id(uint32_t id, uint32_t reported)
{
	uint32_t n = 0;

	assert_int_equal(api->cm_destroy_id(id, &n), 0);
	assert_int_equal(n, reported);
}

static bool next_event(struct chan *c, struct rnic_cm_event *ev, int ms)
{
	struct pollfd pfd = {.fd = c->fd, .events = POLLIN};

	if (poll(&pfd, 1, ms) != 1)
		return false;
	assert_int_equal(api->cm_get_event(c->rnic, ev), 0);
	return true;
}

static struct rnic_cm_event expect(struct chan *c, uint32_t event, int status)
{
	struct rnic_cm_event ev;

	if (!next_event(c, &ev, WAIT_MS))
		fail_msg("no event %u", event);
	assert_int_equal(ev.event, event);
	assert_int_equal(ev.status, status);
	return ev;
}

static void expect_silence(struct chan *c, int ms)
{
	struct rnic_cm_event ev;

	assert_false(next_event(c, &ev, ms));
	assert_int_equal(api->cm_get_event(c->rnic, &ev), -EAGAIN);
}

static struct sockaddr_storage loopback(int family, uint16_t port)
{
	struct sockaddr_storage ss = {0};

	if (family == AF_INET) {
		struct sockaddr_in *sin = (struct sockaddr_in *)&ss;

		sin->sin_family = AF_INET;
		sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		sin->sin_port = htons(port);
	} else {
		struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&ss;

		sin6->sin6_family = AF_INET6;
		sin6->sin6_addr = in6addr_loopback;
		sin6->sin6_port = htons(port);
	}
	return ss;
}

static struct sockaddr_storage any(int family, uint16_t port)
{
	struct sockaddr_storage ss = loopback(family, port);

	if (family == AF_INET)
		((struct sockaddr_in *)&ss)->sin_addr.s_addr = 0;
	else
		((struct sockaddr_in6 *)&ss)->sin6_addr = in6addr_any;
	return ss;
}

static uint16_t port_of(uint32_t id)
{
	struct rnic_addr_info info;

	assert_int_equal(api->cm_query(id, &info), 0);
	return ntohs(((struct sockaddr_in *)&info.src)->sin_port);
}

static int bind_to(uint32_t id, struct sockaddr_storage ss)
{
	return api->cm_bind(id, (struct sockaddr *)&ss);
}

static uint32_t listen_on(struct chan *c, struct sockaddr_storage ss, int backlog)
{
	uint32_t id = new_id(c, 1000);

	assert_int_equal(bind_to(id, ss), 0);
	assert_int_equal(api->cm_listen(id, backlog), 0);
	return id;
}

/* ---- a QP and its CQ ---- */

struct end {
	struct iw_pd *pd;
	struct iw_mr *mr;
	struct iw_cq *cq;
	struct iw_qp *qp;
	uint8_t *buf; /* buf_size bytes */
};

#define SMALL 256
#define LARGE (8u << 20)
static uint32_t buf_size = SMALL;

static void qp_open(struct end *end)
{
	struct shard *s = &rnic_get()->shard;
	struct iw_qp_attr attr = {
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.sq_sig_all = true,
	};

	assert_non_null(rnic_get());
	assert_int_equal(memory_guard(), 0);
	end->buf = calloc(1, buf_size);
	assert_non_null(end->buf);
	shard_lock(s);
	end->pd = iw_pd_new(s->conn.rnic, NULL);
	end->cq = iw_cq_new(s->conn.rnic, 64, NULL);
	assert_non_null(end->pd);
	assert_non_null(end->cq);
	assert_int_equal(iw_mr_new(end->pd, (uintptr_t)end->buf, buf_size, (uintptr_t)end->buf,
				   IW_ACCESS_LOCAL_WRITE, NULL, &end->mr),
			 0);
	attr.pd = end->pd;
	attr.send_cq = attr.recv_cq = end->cq;
	assert_int_equal(iw_qp_new(s->conn.rnic, &attr, &end->qp), 0);
	assert_int_equal(iw_qp_modify(end->qp, IW_QPS_INIT), 0);
	shard_unlock(s);
}

static void qp_close(struct end *end)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	assert_int_equal(iw_qp_free(end->qp), 0);
	assert_int_equal(iw_cq_free(end->cq), 0);
	assert_int_equal(iw_mr_free(end->mr), 0);
	assert_int_equal(iw_pd_free(end->pd), 0);
	shard_unlock(s);
	free(end->buf);
}

static void post_recv(struct end *end)
{
	struct iw_recv_wqe *wqe = iw_rq_slot(end->qp);

	assert_non_null(wqe);
	wqe->wr_id = 1;
	wqe->num_sge = 1;
	wqe->length = buf_size;
	wqe->sge[0] = (struct iw_sge){(uintptr_t)end->buf, buf_size, iw_mr_stag(end->mr)};
	iw_rq_publish(end->qp);
	burst_post(&rnic_get()->shard, &end->qp->doorbell, BURST_AT_ONCE);
}

static void post_send_bytes(struct end *end, uint32_t len)
{
	struct iw_send_wqe *wqe = iw_sq_slot(end->qp);

	assert_non_null(wqe);
	wqe->wr_id = 2;
	wqe->opcode = IW_WR_SEND;
	wqe->flags = IW_SEND_SIGNALED;
	wqe->num_sge = 1;
	wqe->length = len;
	wqe->sge[0] = (struct iw_sge){(uintptr_t)end->buf, len, iw_mr_stag(end->mr)};
	iw_sq_publish(end->qp);
	burst_post(&rnic_get()->shard, &end->qp->doorbell, BURST_AT_ONCE);
}

static void post_send(struct end *end, const char *text)
{
	strcpy((char *)end->buf, text);
	post_send_bytes(end, (uint32_t)strlen(text) + 1);
}

static struct iw_cqe wait_cqe(struct end *end, bool polling)
{
	struct iw_cqe cqe;

	for (int i = 0; i < WAIT_MS * 10; i++) {
		if (iw_cq_poll(end->cq, 1, &cqe) == 1)
			return cqe;
		if (polling)
			poller_progress(&rnic_get()->shard);
		else
			usleep(100);
	}
	fail_msg("no completion");
	return cqe;
}

static void transfer(struct end *from, struct end *to, const char *text, bool polling)
{
	struct iw_cqe cqe;

	post_recv(to);
	post_send(from, text);
	cqe = wait_cqe(from, polling);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	cqe = wait_cqe(to, polling);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.byte_len, strlen(text) + 1);
	assert_string_equal((char *)to->buf, text);
}

/* ---- connections ---- */

static struct rnic_conn_param param_of(const struct end *end, const char *data)
{
	struct rnic_conn_param p = {
		.qp_num = end ? end->qp->num : 0,
		.responder_resources = 3,
		.initiator_depth = 2,
		.rnr_retry_count = 7,
		.private_data_len = data ? (uint8_t)strlen(data) : 0,
	};

	if (data)
		memcpy(p.private_data, data, p.private_data_len);
	return p;
}

static uint32_t resolve(struct chan *c, uint64_t uid, struct sockaddr_storage to)
{
	uint32_t id = new_id(c, uid);
	struct rnic_cm_event ev;

	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	ev = expect(c, ADDR_RESOLVED, 0);
	assert_int_equal(ev.uid, uid);
	assert_int_equal(ev.id, id);
	assert_int_equal(api->cm_resolve_route(id, 1000), 0);
	expect(c, ROUTE_RESOLVED, 0);
	return id;
}

struct pair {
	struct chan cc, sc;
	struct end c, s;
	uint32_t listener, cid, sid;
};

static void pair_open(struct pair *p, int family)
{
	struct rnic_conn_param cp, sp;
	struct rnic_cm_event ev;

	chan_open(&p->cc);
	chan_open(&p->sc);
	qp_open(&p->c);
	qp_open(&p->s);
	p->listener = listen_on(&p->sc, any(family, 0), 0);
	p->cid = resolve(&p->cc, 1, loopback(family, port_of(p->listener)));
	cp = param_of(&p->c, "hello");
	assert_int_equal(api->cm_connect(p->cid, &cp), 0);
	ev = expect(&p->sc, CONNECT_REQUEST, 0);
	assert_int_equal(ev.uid, 1000);
	assert_int_equal(ev.param.private_data_len, 5);
	assert_memory_equal(ev.param.private_data, "hello", 5);
	/* The peer's: what it can take, what it wants to issue. */
	assert_int_equal(ev.param.initiator_depth, 3);
	assert_int_equal(ev.param.responder_resources, 2);
	p->sid = ev.id;
	sp = param_of(&p->s, "welcome");
	assert_int_equal(api->cm_accept(p->sid, &sp, true, 2), 0);
	ev = expect(&p->sc, ESTABLISHED, 0);
	assert_int_equal(ev.uid, 2);
	assert_int_equal(ev.id, p->sid);
	ev = expect(&p->cc, ESTABLISHED, 0);
	assert_int_equal(ev.uid, 1);
	assert_int_equal(ev.param.private_data_len, 7);
	assert_memory_equal(ev.param.private_data, "welcome", 7);
}

static void pair_close(struct pair *p)
{
	qp_close(&p->c);
	qp_close(&p->s);
	chan_close(&p->cc);
	chan_close(&p->sc);
}

static void connect_over(int family)
{
	struct rnic_addr_info ci, si;
	struct pair p;

	pair_open(&p, family);
	assert_int_equal(p.c.qp->state, IW_QPS_RTS);
	assert_int_equal(p.s.qp->state, IW_QPS_RTS);
	assert_int_equal(api->cm_query(p.cid, &ci), 0);
	assert_int_equal(api->cm_query(p.sid, &si), 0);
	assert_memory_equal(&ci.src, &si.dst, sizeof(struct sockaddr_in6));
	assert_memory_equal(&ci.dst, &si.src, sizeof(struct sockaddr_in6));
	assert_int_not_equal(ci.node_guid, 0);
	assert_int_equal(ci.port_num, 1);
	transfer(&p.c, &p.s, "ping", false);
	transfer(&p.s, &p.c, "pong", true);
	assert_int_equal(api->cm_disconnect(p.cid), 0);
	expect(&p.cc, DISCONNECTED, 0);
	expect(&p.sc, DISCONNECTED, 0);
	assert_int_equal(api->cm_disconnect(p.cid), 0);
	assert_int_equal(api->cm_disconnect(p.sid), 0);
	expect_silence(&p.sc, 20);
	expect_silence(&p.cc, 0);
	destroy_id(p.cid, 4);
	destroy_id(p.sid, 2);
	destroy_id(p.listener, 1);
	pair_close(&p);
}

static void test_connect_v4(void **state)
{
	ROWS("5043-5.2.3-13 5043-6.4-02 6581-9.1-05");
	connect_over(AF_INET);
}

static void test_connect_v6(void **state)
{
	connect_over(AF_INET6);
}

static void test_dual_stack(void **state)
{
	struct rnic_conn_param param;
	struct rnic_addr_info info;
	struct rnic_cm_event ev;
	struct chan c;
	struct end end;
	uint32_t listener, id;
	int on = 1;
	uint16_t port;

	chan_open(&c);
	qp_open(&end);
	listener = listen_on(&c, any(AF_INET6, 0), 0);
	port = port_of(listener);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_connect(id, &param), 0);
	ev = expect(&c, CONNECT_REQUEST, 0);
	assert_int_equal(api->cm_query(ev.id, &info), 0);
	assert_int_equal(info.dst.ss_family, AF_INET6);
	assert_true(IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&info.dst)->sin6_addr));
	assert_int_equal(api->cm_reject(ev.id, NULL, 0), 0);
	expect(&c, REJECTED, -ECONNREFUSED);
	destroy_id(ev.id, 0);
	destroy_id(id, 3);
	destroy_id(listener, 1);
	/* For IPv6 alone, the option coming before or after the bind. */
	for (int late = 0; late < 2; late++) {
		uint32_t v4 = new_id(&c, 2);

		listener = new_id(&c, 3);
		if (!late)
			assert_int_equal(api->cm_set_option(listener, 0, 2, &on, sizeof(on)), 0);
		assert_int_equal(bind_to(listener, any(AF_INET6, 0)), 0);
		if (late) {
			assert_int_equal(bind_to(v4, any(AF_INET, port_of(listener))), -EADDRINUSE);
			assert_int_equal(api->cm_set_option(listener, 0, 2, &on, sizeof(on)), 0);
		}
		assert_int_equal(bind_to(v4, any(AF_INET, port_of(listener))), 0);
		destroy_id(v4, 0);
		destroy_id(listener, 0);
	}
	qp_close(&end);
	chan_close(&c);
}

static void test_passive_disconnect(void **state)
{
	struct pair p;

	pair_open(&p, AF_INET);
	/* Destroying an id ends its connection. */
	destroy_id(p.sid, 1);
	expect(&p.cc, DISCONNECTED, 0);
	pair_close(&p);

	/* So does destroying a QP. */
	pair_open(&p, AF_INET);
	qp_close(&p.s);
	expect(&p.cc, DISCONNECTED, 0);
	qp_open(&p.s);
	pair_close(&p);
}

/*
 * The peer hangs up right behind a Send. The application hears of the Send first, for it may destroy the QP
 * when it hears of the end; if it does not poll, it hears of the end all the same.
 */
static void farewell(struct pair *p)
{
	pair_open(p, AF_INET);
	post_recv(&p->s);
	post_send(&p->c, "farewell");
	for (int i = 0; i < WAIT_MS * 10 && iw_cq_is_empty(p->s.cq); i++)
		usleep(100);
	assert_false(iw_cq_is_empty(p->s.cq));
	assert_int_equal(api->cm_disconnect(p->cid), 0);
	expect(&p->cc, DISCONNECTED, 0);
}

static void wait_end(struct end *end)
{
	for (int i = 0; i < WAIT_MS * 10 && end->qp->state != IW_QPS_ERR; i++)
		usleep(100);
	assert_int_equal(end->qp->state, IW_QPS_ERR);
}

/* Completions of another QP on the same CQ, which goes: what stays moves. */
static void purge_another(struct end *end)
{
	struct iw_cqe cqe = {.qp_num = ~end->qp->num};
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	for (int i = 0; i < 3; i++)
		assert_true(iw_cq_push(end->cq, &cqe, false));
	iw_cq_purge(end->cq, cqe.qp_num);
	shard_unlock(s);
}

static void unpolled_end(bool purged)
{
	struct rnic_cm_event ev;
	struct iw_cqe cqe;
	struct pair p;
	bool early, slow;
	uint64_t begin;

	do {
		begin = sys_now();
		farewell(&p);
		if (purged) {
			wait_end(&p.s);
			purge_another(&p.s);
		}
		early = next_event(&p.sc, &ev, 20);
		/* A machine that takes its time makes it look as if nobody was going to poll. */
		slow = sys_now() - begin >= NSEC_PER_SEC / 20;
		assert_true(slow || !early);
		assert_int_equal(iw_cq_poll(p.s.cq, 1, &cqe), 1);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		if (!early)
			expect(&p.sc, DISCONNECTED, 0);
		pair_close(&p);
	} while (slow);
}

static void test_unpolled_end(void **state)
{
	struct rnic_cm_event ev;
	struct pair p;

	unpolled_end(false);
	unpolled_end(true);

	farewell(&p);
	expect(&p.sc, DISCONNECTED, 0);
	pair_close(&p);

	/* Who hangs up has heard all it wants to. */
	farewell(&p);
	wait_end(&p.s);
	assert_int_equal(api->cm_disconnect(p.sid), 0);
	assert_true(next_event(&p.sc, &ev, 0));
	assert_int_equal(ev.event, DISCONNECTED);
	assert_int_equal(api->cm_disconnect(p.sid), 0);
	expect_silence(&p.sc, 1);
	pair_close(&p);

	/* Nor does it keep an id, or a QP, from going. */
	farewell(&p);
	qp_close(&p.s);
	/* Of either side's doing, as the Terminate may still be under way. */
	assert_true(next_event(&p.sc, &ev, WAIT_MS));
	assert_int_equal(ev.event, DISCONNECTED);
	qp_open(&p.s);
	pair_close(&p);
	farewell(&p);
	destroy_id(p.sid, 1);
	pair_close(&p);
}

static void test_refused(void **state)
{
	struct rnic_conn_param param;
	struct timespec t0, t1;
	struct chan c;
	struct end end;
	uint32_t id, listener;
	uint16_t port;

	chan_open(&c);
	qp_open(&end);
	/* Nobody has the port. */
	listener = listen_on(&c, any(AF_INET, 0), 0);
	port = port_of(listener);
	destroy_id(listener, 0);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert_int_equal(api->cm_connect(id, &param), 0);
	expect(&c, REJECTED, -ECONNREFUSED);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_true(t1.tv_sec - t0.tv_sec <= 2);
	destroy_id(id, 3);
	qp_close(&end);

	/* It is bound, but not listening. */
	qp_open(&end);
	listener = new_id(&c, 5);
	assert_int_equal(bind_to(listener, any(AF_INET, 0)), 0);
	id = resolve(&c, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_connect(id, &param), 0);
	expect(&c, REJECTED, -ECONNREFUSED);
	destroy_id(id, 3);
	destroy_id(listener, 0);
	qp_close(&end);
	chan_close(&c);
}

static void test_reject(void **state)
{
	ROWS("5043-5.2.3-13 6581-7-13");
	struct rnic_conn_param param;
	struct rnic_cm_event ev;
	struct chan cc, sc;
	struct end end;
	uint32_t id, listener;

	chan_open(&cc);
	chan_open(&sc);
	qp_open(&end);
	listener = listen_on(&sc, any(AF_INET, 0), 0);
	id = resolve(&cc, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_connect(id, &param), 0);
	ev = expect(&sc, CONNECT_REQUEST, 0);
	assert_int_equal(api->cm_reject(ev.id, "go away", 7), 0);
	assert_int_equal(api->cm_reject(ev.id, NULL, 0), -EINVAL);
	assert_int_equal(api->cm_accept(ev.id, &param, false, 0), -EINVAL);
	destroy_id(ev.id, 0);
	ev = expect(&cc, REJECTED, -ECONNREFUSED);
	assert_int_equal(ev.param.private_data_len, 7);
	assert_memory_equal(ev.param.private_data, "go away", 7);
	destroy_id(id, 3);
	qp_close(&end);

	/* A request that nobody read goes with its listener. */
	qp_open(&end);
	id = resolve(&cc, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_connect(id, &param), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = sc.fd, .events = POLLIN}, 1, WAIT_MS), 1);
	destroy_id(listener, 1);
	expect(&cc, REJECTED, -ECONNREFUSED);
	expect_silence(&sc, 0);
	qp_close(&end);
	chan_close(&cc);
	chan_close(&sc);
}

static void test_backlog(void **state)
{
	ROWS("5043-5.2.3-15");
	ROWS("5042-6.4.1-02");
	struct rnic_conn_param param;
	struct rnic_cm_event ev;
	struct chan cc, sc;
	struct end end[3];
	uint32_t id[3], listener;
	unsigned int refused;

	chan_open(&cc);
	chan_open(&sc);
	listener = listen_on(&sc, any(AF_INET, 0), 2);
	for (int i = 0; i < 3; i++) {
		qp_open(&end[i]);
		id[i] = resolve(&cc, (uint64_t)i, loopback(AF_INET, port_of(listener)));
		param = param_of(&end[i], NULL);
		assert_int_equal(api->cm_connect(id[i], &param), 0);
	}
	ev = expect(&cc, REJECTED, -ECONNREFUSED);
	refused = (unsigned int)ev.uid;
	expect(&sc, CONNECT_REQUEST, 0);
	expect(&sc, CONNECT_REQUEST, 0);
	expect_silence(&sc, 20);
	/* Those that were read count no longer. */
	qp_close(&end[refused]);
	qp_open(&end[refused]);
	id[0] = resolve(&cc, 9, loopback(AF_INET, port_of(listener)));
	param = param_of(&end[refused], NULL);
	assert_int_equal(api->cm_connect(id[0], &param), 0);
	expect(&sc, CONNECT_REQUEST, 0);
	for (int i = 0; i < 3; i++)
		qp_close(&end[i]);
	chan_close(&cc);
	chan_close(&sc);
}

static void test_states(void **state)
{
	struct sockaddr_storage lo = loopback(AF_INET, 7000), bad = {0};
	struct rnic_conn_param param;
	struct rnic_qp_attr attr;
	struct rnic_channel *rnic;
	uint32_t id, other, n;
	struct chan c;
	uint8_t tos = 1;
	int on = 1, fd;

	chan_open(&c);
	id = new_id(&c, 1);
	memset(&param, 0, sizeof(param));
	assert_int_equal(api->cm_create_id(c.rnic, 1, 0x999, RC, &other), -EINVAL);
	assert_int_equal(api->cm_connect(id, &param), -EINVAL);
	assert_int_equal(api->cm_accept(id, &param, false, 0), -EINVAL);
	assert_int_equal(api->cm_accept(id, NULL, false, 0), -EINVAL);
	assert_int_equal(api->cm_reject(id, NULL, 0), -EINVAL);
	assert_int_equal(api->cm_disconnect(id), -EINVAL);
	assert_int_equal(api->cm_resolve_route(id, 1), -EINVAL);
	assert_int_equal(api->cm_init_qp_attr(id, 1, &attr), -EINVAL);
	/* librdmacm's probe for AF_IB */
	bad.ss_family = 27;
	assert_int_equal(bind_to(id, bad), -EAFNOSUPPORT);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&bad, 1), -EAFNOSUPPORT);
	/* An address of somebody else */
	((struct sockaddr_in *)&bad)->sin_family = AF_INET;
	((struct sockaddr_in *)&bad)->sin_addr.s_addr = htonl(0xc0000201);
	assert_int_equal(bind_to(id, bad), -EADDRNOTAVAIL);
	assert_int_equal(api->cm_resolve_addr(id, (struct sockaddr *)&bad,
					      (struct sockaddr *)&lo, 1),
			 -EADDRNOTAVAIL);

	assert_int_equal(api->cm_set_option(id, 0, 0, &tos, 1), 0);
	assert_int_equal(api->cm_set_option(id, 0, 99, &tos, 1), -ENOSYS);
	assert_int_equal(api->cm_set_option(id, 1, 1, &tos, 1), -ENOSYS);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), 0);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), -EINVAL);
	/* No device yet. */
	assert_int_equal(api->cm_init_qp_attr(id, 1, &attr), -EINVAL);
	other = resolve(&c, 3, loopback(AF_INET, 9));
	/* The masks of the kernel's iWARP CM: STATE 1, ACCESS_FLAGS 8, PORT 32 */
	assert_int_equal(api->cm_init_qp_attr(other, 1, &attr), 0);
	assert_int_equal(attr.mask, 1 | 8 | 32);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(api->cm_init_qp_attr(other, 3, &attr), 0);
	assert_int_equal(attr.mask, 32);
	destroy_id(other, 2);

	other = new_id(&c, 2);
	lo = loopback(AF_INET, port_of(id));
	assert_int_equal(bind_to(other, lo), -EADDRINUSE);
	assert_int_equal(api->cm_set_option(id, 0, 1, &on, sizeof(on)), 0);
	assert_int_equal(bind_to(other, lo), -EADDRINUSE);
	assert_int_equal(api->cm_set_option(other, 0, 1, &on, sizeof(on)), 0);
	assert_int_equal(bind_to(other, lo), 0);
	assert_int_equal(api->cm_listen(id, 5), 0);
	assert_int_equal(api->cm_listen(other, 5), -EADDRINUSE);
	assert_int_equal(api->cm_listen(id, 5), -EINVAL);
	assert_int_equal(api->cm_disconnect(id), -EINVAL);
	destroy_id(id, 0);
	assert_int_equal(api->cm_destroy_id(id, &n), -ENOENT);
	assert_int_equal(api->cm_listen(other, 5), 0);
	destroy_id(other, 0);

	/* Without a QP there is no connection. */
	id = resolve(&c, 1, lo);
	assert_int_equal(api->cm_connect(id, &param), -EINVAL);
	param.qp_num = 0xfffff0;
	assert_int_equal(api->cm_connect(id, &param), -EINVAL);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&lo, 1), -EINVAL);
	destroy_id(id, 2);

	/* Datagrams are not served. */
	assert_int_equal(api->cm_create_id(c.rnic, 1, PS_UDP, UD, &id), 0);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), -ENODEV);
	destroy_id(id, 0);

	/* Events move with their id. */
	id = new_id(&c, 1);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&lo, 1), 0);
	assert_int_equal(api->cm_channel_create(&rnic, &fd), 0);
	assert_int_equal(api->cm_migrate_id(id, rnic, &n), 0);
	assert_int_equal(n, 0);
	expect_silence(&c, 0);
	expect(&(struct chan){rnic, fd}, ADDR_RESOLVED, 0);
	close(fd);
	api->cm_channel_release(rnic);
	assert_int_equal(api->cm_destroy_id(id, &n), -ENOENT);
	chan_close(&c);
}

static void test_unroutable(void **state)
{
	struct sockaddr_storage to = {0};
	struct chan c;
	uint32_t id;

	/* Multicast has no connections. */
	chan_open(&c);
	id = new_id(&c, 1);
	((struct sockaddr_in *)&to)->sin_family = AF_INET;
	((struct sockaddr_in *)&to)->sin_addr.s_addr = htonl(0xe0000001);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1), -EADDRNOTAVAIL);
	/* The id can be used for another address. */
	to = loopback(AF_INET, 1);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1), 0);
	expect(&c, ADDR_RESOLVED, 0);
	chan_close(&c);
}

#define MANY 200

/* They share one association; every second one is closed by the passive side. */
static void test_many(void **state)
{
	ROWS("5043-8-03");
	static struct end c[MANY], s[MANY];
	static uint32_t cid[MANY], sid[MANY];
	struct rnic_conn_param param;
	struct rnic_cm_event ev;
	struct chan cc, sc;
	uint32_t listener;

	chan_open(&cc);
	chan_open(&sc);
	listener = listen_on(&sc, any(AF_INET, 0), 0);
	for (int i = 0; i < MANY; i++) {
		qp_open(&c[i]);
		qp_open(&s[i]);
		cid[i] = resolve(&cc, (uint64_t)i, loopback(AF_INET, port_of(listener)));
	}
	for (int i = 0; i < MANY; i++) {
		param = param_of(&c[i], NULL);
		param.private_data_len = 1;
		param.private_data[0] = (uint8_t)i;
		assert_int_equal(api->cm_connect(cid[i], &param), 0);
	}
	for (int accepted = 0, established = 0; established < MANY;) {
		int k;

		assert_true(next_event(&sc, &ev, WAIT_MS));
		if (ev.event == ESTABLISHED) {
			established++;
			assert_true(established <= accepted);
			continue;
		}
		assert_int_equal(ev.event, CONNECT_REQUEST);
		assert_int_equal(ev.param.private_data_len, 1);
		k = ev.param.private_data[0];
		sid[k] = ev.id;
		param = param_of(&s[k], NULL);
		assert_int_equal(api->cm_accept(ev.id, &param, true, (uint64_t)k), 0);
		accepted++;
	}
	for (int i = 0; i < MANY; i++)
		expect(&cc, ESTABLISHED, 0);
	for (int i = 0; i < MANY; i++) {
		transfer(&c[i], &s[i], "many", i & 2);
		assert_int_equal(api->cm_disconnect(i & 1 ? cid[i] : sid[i]), 0);
	}
	for (int i = 0; i < MANY; i++) {
		expect(&cc, DISCONNECTED, 0);
		expect(&sc, DISCONNECTED, 0);
	}
	for (int i = 0; i < MANY; i++) {
		qp_close(&c[i]);
		qp_close(&s[i]);
	}
	chan_close(&cc);
	chan_close(&sc);
}

/* ---- other processes ---- */

/* A child connects, tells so by a byte, and ends in this way. */
enum ending { BY_EXIT, BY_SIGNAL, AFTER_SEND };

static void child_main(uint16_t port, enum ending ending, int ready)
{
	struct rnic_conn_param param;
	static struct chan c;
	static struct end end;
	uint32_t id;

	/* A child makes an RNIC of its own. */
	chan_open(&c);
	qp_open(&end);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_connect(id, &param), 0);
	expect(&c, ESTABLISHED, 0);
	/* More than goes out at once. */
	if (ending == AFTER_SEND) {
		strcpy((char *)end.buf + LARGE - SMALL, "last words");
		post_send_bytes(&end, LARGE);
	}
	if (write(ready, "r", 1) != 1)
		_exit(1);
	if (ending == BY_SIGNAL)
		pause();
	exit(0);
}

static double seconds_since(const struct timespec *t0)
{
	struct timespec t1;

	clock_gettime(CLOCK_MONOTONIC, &t1);
	return (double)(t1.tv_sec - t0->tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0->tv_nsec);
}

static void with_child(enum ending ending, double limit)
{
	struct rnic_conn_param param;
	struct rnic_cm_event ev;
	struct timespec t0;
	struct iw_cqe cqe;
	struct chan c;
	struct end end;
	uint32_t listener;
	int ready[2], status;
	uint16_t port;
	char byte;
	pid_t pid;

	chan_open(&c);
	qp_open(&end);
	listener = listen_on(&c, any(AF_INET, 0), 0);
	port = port_of(listener);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		child_main(port, ending, ready[1]);
	ev = expect(&c, CONNECT_REQUEST, 0);
	post_recv(&end);
	param = param_of(&end, NULL);
	assert_int_equal(api->cm_accept(ev.id, &param, true, 7), 0);
	expect(&c, ESTABLISHED, 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	if (ending == BY_SIGNAL)
		kill(pid, SIGKILL);
	assert_true(next_event(&c, &ev, WAIT_MS));
	assert_int_equal(ev.event, DISCONNECTED);
	assert_true(seconds_since(&t0) < limit);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (ending != BY_SIGNAL)
		assert_int_equal(status, 0);
	cqe = wait_cqe(&end, false);
	if (ending == AFTER_SEND) {
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.byte_len, LARGE);
		assert_string_equal((char *)end.buf + LARGE - SMALL, "last words");
	} else {
		assert_int_equal(cqe.status, IW_WC_WR_FLUSH_ERR);
	}
	close(ready[0]);
	close(ready[1]);
	qp_close(&end);
	chan_close(&c);
}

static void test_exit(void **state)
{
	with_child(BY_EXIT, 1);
}

static void test_exit_after_send(void **state)
{
	buf_size = LARGE;
	with_child(AFTER_SEND, 2);
	buf_size = SMALL;
}

static void test_killed(void **state)
{
	with_child(BY_SIGNAL, 3);
}

/* A child that inherits an RNIC, and never uses it, harms neither. */
static void test_fork_idle(void **state)
{
	struct rnic_cm_event ev;
	struct pair p;
	int status;
	pid_t pid;

	pair_open(&p, AF_INET);
	pid = fork();
	if (!pid) {
		uint32_t n;

		/* What was the parent's is not here. */
		if (api->cm_get_event(p.cc.rnic, &ev) != -EIO ||
		    api->cm_destroy_id(p.cid, &n) != -ENOENT)
			_exit(1);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	transfer(&p.c, &p.s, "still here", false);
	transfer(&p.s, &p.c, "so am I", true);
	expect_silence(&p.cc, 50);
	pair_close(&p);
}

static struct end *posts_in_fork;

/* Registered before the one of the RNIC, which has run when this is called: it holds the lock. */
static void while_forking(void)
{
	if (posts_in_fork)
		post_send(posts_in_fork, "meanwhile");
}

/* What is posted while some thread is in fork() leaves, although nobody polls. */
static void test_fork_and_post(void **state)
{
	struct iw_cqe cqe;
	struct pair p;
	int status;
	pid_t pid;

	pair_open(&p, AF_INET);
	post_recv(&p.s);
	usleep(50000); /* else the progress thread waits for the lock, and serves it */
	posts_in_fork = &p.c;
	pid = fork();
	if (!pid)
		_exit(0);
	posts_in_fork = NULL;
	assert_false(atomic_load(&p.c.qp->doorbell.pending));
	cqe = wait_cqe(&p.s, false);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	cqe = wait_cqe(&p.c, false);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pair_close(&p);
}

/* A socket of this test's at a port of the RNIC, once that is free. */
static int take_port(uint16_t port)
{
	struct sockaddr_storage ss = any(AF_INET, port);
	int ret = -1, fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	for (int i = 0; ret && i < WAIT_MS; i++) {
		usleep(1000);
		ret = bind(fd, (struct sockaddr *)&ss, sizeof(struct sockaddr_in));
	}
	assert_int_equal(ret, 0);
	return fd;
}

/* An association without sessions goes after some seconds; connecting then makes a new one. */
static void test_idle(void **state)
{
	ROWS("5040-7-04 5041-3-13");
	struct pair p;
	uint16_t port;
	int fd;

	pair_open(&p, AF_INET);
	port = port_of(p.cid);
	assert_int_equal(api->cm_disconnect(p.cid), 0);
	expect(&p.sc, DISCONNECTED, 0);
	pair_close(&p);
	/* The clients' common port goes with its last association. */
	fd = take_port(port);
	pair_open(&p, AF_INET);
	pair_close(&p);
	close(fd);
}

/* Armed CQ, sleeping application: the notification comes through the channel. */
static void test_notify(void **state)
{
	struct object obj = {.user_handle = 0x1234567890};
	struct rnic_channel *chan;
	struct iw_cqe cqe;
	struct pair p;
	uint64_t handle = 0;
	int fd;

	pair_open(&p, AF_INET);
	assert_int_equal(api->comp_channel_create(&chan, &fd), 0);
	assert_ptr_equal(api->channel_by_fd(fd), chan);
	obj.comp.chan = chan;
	channel_ref(chan);
	p.s.cq->ctx = &obj;
	for (int i = 0; i < 3; i++) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};

		/* Once without, then after heavy polling, as the parked thread knows it. */
		for (int k = 0; k < i * 100000; k++)
			poller_progress(&rnic_get()->shard);
		post_recv(&p.s);
		iw_cq_arm(p.s.cq, false);
		poller_armed(&rnic_get()->shard);
		assert_int_equal(poll(&pfd, 1, 0), 0);
		post_send(&p.c, "wake up");
		assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
		assert_int_equal(api->channel_read(chan, &handle, sizeof(handle)), 8);
		assert_int_equal(handle, obj.user_handle);
		cqe = wait_cqe(&p.s, false);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		cqe = wait_cqe(&p.c, false);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
	}
	p.s.cq->ctx = NULL;
	assert_int_equal(channel_purge(&obj.comp), 3);
	channel_put(chan);
	close(fd);
	api->channel_release(chan);
	pair_close(&p);
}

static void test_idle_cpu(void **state)
{
	struct timespec t0, t1;
	struct pair p;
	double used;

	pair_open(&p, AF_INET);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	usleep(1500000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	used = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
	/* 0.5 % */
	assert_true(used < 1.5 * 0.005);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_unroutable),
		cmocka_unit_test(test_connect_v4),
		cmocka_unit_test(test_connect_v6),
		cmocka_unit_test(test_dual_stack),
		cmocka_unit_test(test_passive_disconnect),
		cmocka_unit_test(test_unpolled_end),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_notify),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_exit_after_send),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_fork_idle),
		cmocka_unit_test(test_fork_and_post),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_idle_cpu),
	};

	if (pthread_atfork(while_forking, NULL, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
