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
#include "fixture/cm_pair.h"

#define LARGE (8u << 20)

static void test_passive_disconnect(void **state)
{
	struct pair p;

	pair_open(&p, AF_INET);
	/* Destroying an id ends its connection. */
	pair_destroy_id(p.sid, 1);
	pair_expect(&p.cc, DISCONNECTED, 0);
	pair_close(&p);

	/* Destroying a QP ends its connection. */
	pair_open(&p, AF_INET);
	pair_qp_close(&p.s);
	pair_expect(&p.cc, DISCONNECTED, 0);
	pair_qp_open(&p.s);
	pair_close(&p);
}

static void wait_any(const struct iw_cq *cq)
{
	for (int i = 0; i < WAIT_MS * 10 && iw_cq_is_empty(cq); i++)
		usleep(100);
	assert_false(iw_cq_is_empty(cq));
}

/*
 * The peer disconnects immediately after a Send. The application gets the Send first, since it may
 * destroy the QP at the disconnect event. The disconnect event arrives even if the application does
 * not poll.
 */
static void farewell(struct pair *p)
{
	pair_open(p, AF_INET);
	post_recv(&p->s);
	post_send(&p->c, "farewell");
	wait_any(p->s.cq);
	assert_int_equal(pair_api->cm_disconnect(p->cid), 0);
	pair_expect(&p->cc, DISCONNECTED, 0);
}

/*
 * The peer disconnects as soon as it has received a Send. The application first gets the completion
 * of this Send.
 */
static void last_word(struct pair *p)
{
	pair_open(p, AF_INET);
	post_recv(&p->c);
	post_send(&p->s, "last word");
	wait_any(p->c.cq);
	assert_int_equal(pair_api->cm_disconnect(p->cid), 0);
	pair_expect(&p->cc, DISCONNECTED, 0);
	wait_any(p->s.send_cq);
}

static void wait_end(struct end *end)
{
	for (int i = 0; i < WAIT_MS * 10 && end->qp->state != IW_QPS_ERR; i++)
		usleep(100);
	assert_int_equal(end->qp->state, IW_QPS_ERR);
}

/* Purges the completions of another QP from the same CQ; the remaining completions move. */
static void purge_another(struct end *end)
{
	struct iw_qp another = { .num = ~end->qp->num };
	struct iw_cqe cqe = { .qp_num = another.num, .polled = { .at = &another.sq.polled } };
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	for (int i = 0; i < 3; i++)
		assert_true(iw_cq_push(end->cq, end->cq->shard, &cqe, false));
	iw_cq_purge(end->cq, &another);
	shard_unlock(s);
}

/* One completion waits in the server's CQ, and the disconnect event waits for its poll. */
static void unpolled_end(void (*hang_up)(struct pair *), struct iw_cq **cq, struct pair *p,
			 bool purged)
{
	struct rnic_cm_event ev;
	struct iw_cqe cqe;
	bool early, slow;
	uint64_t begin;

	do {
		begin = sys_now();
		hang_up(p);
		if (purged) {
			wait_end(&p->s);
			purge_another(&p->s);
		}
		early = next_event(&p->sc, &ev, 20);
		/* On a slow machine, the event may come before the poll. */
		slow = sys_now() - begin >= NSEC_PER_SEC / 20;
		assert_true(slow || !early);
		assert_int_equal(iw_cq_poll(*cq, 1, &cqe), 1);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		if (!early)
			pair_expect(&p->sc, DISCONNECTED, 0);
		pair_close(p);
	} while (slow);
}

static void test_unpolled_end(void **state)
{
	struct rnic_cm_event ev;
	struct pair p;

	unpolled_end(farewell, &p.s.cq, &p, false);
	unpolled_end(farewell, &p.s.cq, &p, true);
	unpolled_end(last_word, &p.s.cq, &p, false);
	unpolled_end(last_word, &p.s.cq, &p, true);
	split_cqs = true;
	unpolled_end(last_word, &p.s.send_cq, &p, false);
	split_cqs = false;

	farewell(&p);
	pair_expect(&p.sc, DISCONNECTED, 0);
	pair_close(&p);

	/* An application that disconnects itself gets the event at once. */
	farewell(&p);
	wait_end(&p.s);
	assert_int_equal(pair_api->cm_disconnect(p.sid), 0);
	assert_true(next_event(&p.sc, &ev, 0));
	assert_int_equal(ev.event, DISCONNECTED);
	assert_int_equal(pair_api->cm_disconnect(p.sid), 0);
	expect_silence(&p.sc, 1);
	pair_close(&p);

	/* The waiting event does not delay the destruction of an id or a QP. */
	farewell(&p);
	pair_qp_close(&p.s);
	/* Either side may have ended the connection: the Terminate may still be in flight. */
	assert_true(next_event(&p.sc, &ev, WAIT_MS));
	assert_int_equal(ev.event, DISCONNECTED);
	pair_qp_open(&p.s);
	pair_close(&p);
	farewell(&p);
	pair_destroy_id(p.sid, 1);
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
	pair_qp_open(&end);
	/* Nobody has the port. */
	listener = listen_on(&c, pair_any(AF_INET, 0), 0);
	port = port_of(listener);
	pair_destroy_id(listener, 0);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	pair_expect(&c, REJECTED, -ECONNREFUSED);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_true(t1.tv_sec - t0.tv_sec <= 2);
	pair_destroy_id(id, 3);
	pair_qp_close(&end);

	/* The port is bound, but nobody listens. */
	pair_qp_open(&end);
	listener = new_id(&c, 5);
	assert_int_equal(bind_to(listener, pair_any(AF_INET, 0)), 0);
	id = resolve(&c, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	pair_expect(&c, REJECTED, -ECONNREFUSED);
	pair_destroy_id(id, 3);
	pair_destroy_id(listener, 0);
	pair_qp_close(&end);
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
	pair_qp_open(&end);
	listener = listen_on(&sc, pair_any(AF_INET, 0), 0);
	id = resolve(&cc, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	ev = pair_expect(&sc, CONNECT_REQUEST, 0);
	assert_int_equal(pair_api->cm_reject(ev.id, 0, "go away", 7), 0);
	assert_int_equal(pair_api->cm_reject(ev.id, 0, NULL, 0), -EINVAL);
	assert_int_equal(pair_api->cm_accept(ev.id, &param, false, 0), -EINVAL);
	pair_destroy_id(ev.id, 0);
	ev = pair_expect(&cc, REJECTED, -ECONNREFUSED);
	assert_int_equal(ev.param.private_data_len, 7);
	assert_memory_equal(ev.param.private_data, "go away", 7);
	pair_destroy_id(id, 3);
	pair_qp_close(&end);

	/* A request that nobody read is removed with its listener. */
	pair_qp_open(&end);
	id = resolve(&cc, 1, loopback(AF_INET, port_of(listener)));
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	assert_int_equal(poll(&(struct pollfd){ .fd = sc.fd, .events = POLLIN }, 1, WAIT_MS), 1);
	pair_destroy_id(listener, 1);
	pair_expect(&cc, REJECTED, -ECONNREFUSED);
	expect_silence(&sc, 0);
	pair_qp_close(&end);
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
	listener = listen_on(&sc, pair_any(AF_INET, 0), 2);
	for (int i = 0; i < 3; i++) {
		pair_qp_open(&end[i]);
		id[i] = resolve(&cc, (uint64_t)i, loopback(AF_INET, port_of(listener)));
		param = param_of(&end[i], NULL);
		assert_int_equal(pair_api->cm_connect(id[i], &param), 0);
	}
	ev = pair_expect(&cc, REJECTED, -ECONNREFUSED);
	refused = (unsigned int)ev.uid;
	pair_expect(&sc, CONNECT_REQUEST, 0);
	pair_expect(&sc, CONNECT_REQUEST, 0);
	expect_silence(&sc, 20);
	/* Requests that were read do not count any more. */
	pair_qp_close(&end[refused]);
	pair_qp_open(&end[refused]);
	id[0] = resolve(&cc, 9, loopback(AF_INET, port_of(listener)));
	param = param_of(&end[refused], NULL);
	assert_int_equal(pair_api->cm_connect(id[0], &param), 0);
	pair_expect(&sc, CONNECT_REQUEST, 0);
	for (int i = 0; i < 3; i++)
		pair_qp_close(&end[i]);
	chan_close(&cc);
	chan_close(&sc);
}

#define MANY 200

/* All connections share one association; the passive side closes every second connection. */
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
	listener = listen_on(&sc, pair_any(AF_INET, 0), 0);
	for (int i = 0; i < MANY; i++) {
		pair_qp_open(&c[i]);
		pair_qp_open(&s[i]);
		cid[i] = resolve(&cc, (uint64_t)i, loopback(AF_INET, port_of(listener)));
	}
	for (int i = 0; i < MANY; i++) {
		param = param_of(&c[i], NULL);
		param.private_data_len = 1;
		param.private_data[0] = (uint8_t)i;
		assert_int_equal(pair_api->cm_connect(cid[i], &param), 0);
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
		assert_int_equal(pair_api->cm_accept(ev.id, &param, true, (uint64_t)k), 0);
		accepted++;
	}
	for (int i = 0; i < MANY; i++)
		pair_expect(&cc, ESTABLISHED, 0);
	for (int i = 0; i < MANY; i++) {
		transfer(&c[i], &s[i], "many", i & 2);
		assert_int_equal(pair_api->cm_disconnect(i & 1 ? cid[i] : sid[i]), 0);
	}
	for (int i = 0; i < MANY; i++) {
		pair_expect(&cc, DISCONNECTED, 0);
		pair_expect(&sc, DISCONNECTED, 0);
	}
	for (int i = 0; i < MANY; i++) {
		pair_qp_close(&c[i]);
		pair_qp_close(&s[i]);
	}
	chan_close(&cc);
	chan_close(&sc);
}

/* ---- other processes ---- */

/* A child connects, reports this by a byte, and ends in this way. */
enum ending { BY_EXIT, BY_SIGNAL, AFTER_SEND };

static void child_main(uint16_t port, enum ending ending, int ready)
{
	struct rnic_conn_param param;
	static struct chan c;
	static struct end end;
	uint32_t id;

	/* A child creates its own RNIC. */
	chan_open(&c);
	pair_qp_open(&end);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	pair_expect(&c, ESTABLISHED, 0);
	/* More bytes than fit in one transmission. */
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
	pair_qp_open(&end);
	listener = listen_on(&c, pair_any(AF_INET, 0), 0);
	port = port_of(listener);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		child_main(port, ending, ready[1]);
	ev = pair_expect(&c, CONNECT_REQUEST, 0);
	post_recv(&end);
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_accept(ev.id, &param, true, 7), 0);
	pair_expect(&c, ESTABLISHED, 0);
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
	pair_qp_close(&end);
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

/* A child that inherits an RNIC, and never uses it, harms neither process. */
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

		/* The child has none of the parent's objects. */
		if (pair_api->cm_get_event(p.cc.rnic, &ev) != -EIO ||
		    pair_api->cm_destroy_id(p.cid, &n) != -ENOENT)
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

/* Work requests posted while a thread is in fork() are sent, although nobody polls. */
static void test_fork_and_post(void **state)
{
	struct iw_cqe cqe;
	struct pair p;
	int status;
	pid_t pid;

	pair_open(&p, AF_INET);
	post_recv(&p.s);
	usleep(50000); /* else the progress thread waits for the lock, and then serves the QP */
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

/* Binds a socket of this test to a port of the RNIC, once the port is free. */
static int take_port(uint16_t port)
{
	struct sockaddr_storage ss = pair_any(AF_INET, port);
	int ret = -1, fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	for (int i = 0; ret && i < WAIT_MS; i++) {
		usleep(1000);
		ret = bind(fd, (struct sockaddr *)&ss, sizeof(struct sockaddr_in));
	}
	assert_int_equal(ret, 0);
	return fd;
}

/*
 * An association without sessions ends after some seconds. A later connect opens a new association.
 */
static void test_idle(void **state)
{
	ROWS("5040-7-04 5041-3-13");
	struct pair p;
	uint16_t port;
	int fd;

	pair_open(&p, AF_INET);
	port = port_of(p.cid);
	assert_int_equal(pair_api->cm_disconnect(p.cid), 0);
	pair_expect(&p.sc, DISCONNECTED, 0);
	pair_close(&p);
	/* The clients' common port is freed with its last association. */
	fd = take_port(port);
	pair_open(&p, AF_INET);
	pair_close(&p);
	close(fd);
}

/* The CQ is armed and the application sleeps: the notification comes through the channel. */
static void test_notify(void **state)
{
	struct object obj = { .user_handle = 0x1234567890 };
	struct rnic_channel *chan;
	struct iw_cqe cqe;
	struct pair p;
	uint64_t handle = 0;
	int fd;

	pair_open(&p, AF_INET);
	assert_int_equal(pair_api->comp_channel_create(&chan, &fd), 0);
	assert_ptr_equal(pair_api->channel_by_fd(fd), chan);
	obj.comp.chan = chan;
	channel_ref(chan);
	p.s.cq->ctx = &obj;
	for (int i = 0; i < 3; i++) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		/*
		 * Without polling first, then after much polling, which the parked thread notices.
		 */
		for (int k = 0; k < i * 100000; k++)
			poller_progress(&rnic_get()->shard);
		post_recv(&p.s);
		iw_cq_arm(p.s.cq, false);
		poller_armed(&rnic_get()->shard);
		assert_int_equal(poll(&pfd, 1, 0), 0);
		post_send(&p.c, "wake up");
		assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
		assert_int_equal(pair_api->channel_read(chan, &handle, sizeof(handle)), 8);
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
	pair_api->channel_release(chan);
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
	setenv("SCTPIW_PERSONALITY", "iwarp", 1); /* the events and masks of an iWARP device */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
