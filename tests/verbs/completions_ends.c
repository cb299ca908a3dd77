/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: completions_ends_lossy -- --lossy */
/*
 * One side ends. If a sender ends after its last completion, no data is lost, whenever the receiver
 * posts its receives and polls. If the peer ends, a sender gets an error.
 */
#include "child.h"
#include "deep.h"
#include "netns.h"
#include "out_of_band.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOME "meta l4proto udp numgen random mod 100 < 2"
#define PATIENCE 20 /* for connecting: 4 s for each try */
#define SENDS 40
#define SEND_LEN 1000 /* all of this fits the first congestion window */
#define WRITE_AT (SENDS * SEND_LEN)
#define WRITE_LEN 30000
#define LATER 1000 /* ms until the receiver acts */

enum way { DESTROYS, DISCONNECTS, TO_ERROR, TO_RESET, EXITS, IS_KILLED };

/* SENDS Sends, and a Write with immediate data. Only the Write is signaled. */
static void send_all(struct side *s, uint64_t remote, uint32_t rkey)
{
	struct ibv_sge sge;
	struct ibv_wc wc;

	for (unsigned int i = 0; i < SENDS; i++) {
		fill(s->buf + (size_t)i * SEND_LEN, SEND_LEN, i);
		sge = sge_of(s->mr, s->buf + (size_t)i * SEND_LEN, SEND_LEN);
		CHECK_EQ(post_send(s, i, &sge, 1, 0), 0);
	}
	fill(s->buf + WRITE_AT, WRITE_LEN, SENDS);
	sge = sge_of(s->mr, s->buf + WRITE_AT, WRITE_LEN);
	CHECK_EQ(post_rdma(s, IBV_WR_RDMA_WRITE_WITH_IMM, SENDS, &sge, 1, remote, rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, SENDS);
}

static void post_receives(struct side *s)
{
	for (unsigned int i = 0; i <= SENDS; i++) {
		struct ibv_sge sge = sge_of(s->mr, s->buf + (size_t)i * SEND_LEN, SEND_LEN);

		CHECK_EQ(post_recv(s, i, &sge, i < SENDS), 0);
	}
}

/* Checks that everything has arrived and completed: nothing more can arrive. */
static void expect_all(struct side *s)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i <= SENDS; i++) {
		expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.byte_len, i < SENDS ? SEND_LEN : WRITE_LEN);
		if (i < SENDS)
			CHECK(filled(s->buf + (size_t)i * SEND_LEN, SEND_LEN, i));
	}
	CHECK(filled(s->buf + WRITE_AT, WRITE_LEN, SENDS));
}

/* The sender is a thread: it waits for its completion while the receives are posted. */
static void *send_and_go(void *arg)
{
	struct pair *p = ((void **)arg)[0];
	enum way way = *(enum way *)((void **)arg)[1];
	struct ibv_qp_attr attr = { .qp_state = way == TO_ERROR ? IBV_QPS_ERR : IBV_QPS_RESET };

	send_all(&p->a, address(p->b.buf) + WRITE_AT, p->b.mr->rkey);
	if (way == DESTROYS) {
		rdma_destroy_qp(p->a.id);
		p->a.qp = NULL;
	} else if (way == DISCONNECTS) {
		CHECK_EQ(rdma_disconnect(p->a.id), 0);
	} else {
		CHECK_EQ(ibv_modify_qp(p->a.qp, &attr, IBV_QP_STATE), 0);
	}
	return NULL;
}

/* Connections of the connection manager. late: receives are posted after all has been sent. */
static void goes(enum way way, bool late)
{
	struct pair_options o = { .cap = { 64, 64, 1, 1, 0 } };
	pthread_t thread;
	struct pair p;

	pair_open(&p, &o);
	if (lossy)
		lose(SOME);
	if (!late)
		post_receives(&p.b);
	CHECK_EQ(pthread_create(&thread, NULL, send_and_go, (void *[]){ &p, &way }), 0);
	if (late) {
		sleep_ms(LATER);
		post_receives(&p.b);
	}
	CHECK_EQ(pthread_join(thread, NULL), 0);
	sleep_ms(LATER);
	if (lossy)
		lose(NULL);
	expect_all(&p.b);
	pair_close(&p);
}

static void test_goes(void)
{
	static const enum way ways[] = { DESTROYS, DISCONNECTS, TO_ERROR, TO_RESET };

	for (int i = 0; i < 4; i++) {
		goes(ways[i], false);
		goes(ways[i], true);
	}
}

/* Processes with QPs that are connected out of band */

static void meet_peer(struct side *s, struct where *to, int in, int out)
{
	struct where me;

	oob_open();
	oob_timeout = PATIENCE;
	open_side(s);
	me = where_is(s);
	put(out, &me, sizeof(me));
	get(in, to, sizeof(*to));
	oob_connect(s, to);
	meet(in, out);
}

static void leave(int in, int out, bool killed)
{
	struct where to;
	struct side s;

	meet_peer(&s, &to, in, out);
	send_all(&s, to.addr + WRITE_AT, to.rkey);
	if (killed)
		kill(getpid(), SIGKILL);
	exit(0); /* the QP is not destroyed */
}

static void leave_by_exit(int in, int out)
{
	leave(in, out, false);
}

static void leave_killed(int in, int out)
{
	leave(in, out, true);
}

static void leaves(bool killed, bool late)
{
	struct child c = child_start(killed ? leave_killed : leave_by_exit);
	struct where to;
	struct side s;

	deep_cut(); /* the first packets are lost */
	meet_peer(&s, &to, c.from, c.to);
	if (late)
		sleep_ms(LATER);
	post_receives(&s);
	if (lossy)
		sleep_ms(100);
	deep_mend();
	CHECK_EQ(child_end(&c), killed ? 128 + SIGKILL : 0);
	sleep_ms(LATER);
	expect_all(&s);
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_exits(void)
{
	leaves(false, false);
}

static void test_exits_before_receives(void)
{
	leaves(false, true);
}

static void test_is_killed(void)
{
	leaves(true, false);
}

static void test_is_killed_before_receives(void)
{
	leaves(true, true);
}

/* The end of the peer */

static void be_there(int in, int out)
{
	struct where to;
	struct side s;

	meet_peer(&s, &to, in, out);
	CHECK_EQ(post_recv(&s, 0, NULL, 0), 0);
	meet(in, out);
	pause();
}

/*
 * Earlier completions stay successful. The oldest outstanding work request gets an error: the peer
 * does not answer.
 */
static void peer_goes(int signal)
{
	int status;
	struct child c;
	struct where to;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct side s;

	CHECK_EQ(setenv("SCTPIW_SILENT_LIMIT", "3", 1), 0);
	c = child_start(be_there);
	meet_peer(&s, &to, c.from, c.to);
	meet(c.from, c.to);
	CHECK_EQ(post_send(&s, 1, NULL, 0, IBV_SEND_SIGNALED), 0);
	expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(kill(c.pid, signal), 0);
	if (signal == SIGSTOP) /* until then, the peer's threads may still run */
		CHECK_EQ(waitpid(c.pid, &status, WUNTRACED), c.pid);
	if (signal == SIGKILL)
		CHECK_EQ(child_end(&c), 128 + SIGKILL);
	sge = sge_of(s.mr, s.buf, 1000);
	CHECK_EQ(post_rdma(&s, IBV_WR_RDMA_WRITE, 2, &sge, 1, to.addr, to.rkey, 0), 0);
	CHECK_EQ(post_send(&s, 3, &sge, 1, IBV_SEND_SIGNALED), 0);
	CHECK_EQ(post_rdma(&s, IBV_WR_RDMA_READ, 4, &sge, 1, to.addr, to.rkey, 0), 0);
	expect_wc(s.send_cq, IBV_WC_RETRY_EXC_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	for (unsigned int i = 3; i <= 4; i++) {
		expect_wc(s.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	expect_qp_state(s.qp, IBV_QPS_ERR);
	if (signal != SIGKILL) {
		kill(c.pid, SIGKILL);
		CHECK_EQ(child_end(&c), 128 + SIGKILL);
	}
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_peer_is_killed(void)
{
	peer_goes(SIGKILL);
}

static void test_peer_is_silent(void)
{
	peer_goes(SIGSTOP);
}

static const struct test tests[] = {
	{ "goes", test_goes },
	{ "exits", test_exits },
	{ "exits_before_receives", test_exits_before_receives },
	{ "is_killed", test_is_killed },
	{ "is_killed_before_receives", test_is_killed_before_receives },
	{ "peer_is_killed", test_peer_is_killed },
	{ "peer_is_silent", test_peer_is_silent },
};

int main(int argc, char **argv)
{
	return deep_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
