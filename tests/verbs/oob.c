/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band: states and attributes, either side first, refused peers, and ends of
 * connections.
 */
#include "out_of_band.h"

#include <sys/wait.h>
#include <unistd.h>

static void test_data(void)
{
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_wc wc;

	oob_connect_pair(&a, &b);
	exchange(&a, &b, 10);
	fill(b.buf, LEN, 5);
	sge = sge_of(a.mr, a.buf + LEN, LEN);
	CHECK_EQ(post_rdma(&a, IBV_WR_RDMA_READ, 1, &sge, 1, (uintptr_t)b.buf, b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(a.buf + LEN, LEN, 5));
	close_pair(&a, &b);
}

/* All attributes that were set can be queried. */
static void test_query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct where at_b;
	struct side a, b;

	oob_connect_pair(&a, &b);
	at_b = where_is(&b);
	CHECK_EQ(ibv_query_qp(a.qp, &attr, RTR_MASK | RTS_MASK, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
	CHECK_EQ(attr.path_mtu, IBV_MTU_1024);
	CHECK_EQ(attr.path_mig_state, IBV_MIG_MIGRATED);
	CHECK_EQ(attr.dest_qp_num, b.qp->qp_num);
	CHECK_EQ(attr.rq_psn, 0x123456);
	CHECK_EQ(attr.sq_psn, 0x654321);
	CHECK_EQ(attr.qp_access_flags, ALL_RIGHTS);
	CHECK_EQ(attr.max_rd_atomic, 3);
	CHECK_EQ(attr.max_dest_rd_atomic, 4);
	CHECK_EQ(attr.min_rnr_timer, 12);
	CHECK_EQ(attr.timeout, 10);
	CHECK_EQ(attr.retry_cnt, 0);
	CHECK_EQ(attr.rnr_retry, 7);
	CHECK_EQ(attr.ah_attr.is_global, 1);
	CHECK_EQ(attr.ah_attr.port_num, 1);
	CHECK_EQ(attr.ah_attr.grh.sgid_index, gid_index);
	CHECK(!memcmp(&attr.ah_attr.grh.dgid, &at_b.gid, sizeof(at_b.gid)));
	close_pair(&a, &b);
}

static void test_bad_addresses(void)
{
	static const uint8_t multicast[16] = { 0xff, 2, [15] = 1 };
	static const uint8_t broadcast[16] = { [10] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct ibv_qp_attr attr;
	struct where to;
	struct side a, b;

	open_pair(&a, &b);
	CHECK_EQ(to_init(&a), 0);
	to = where_is(&b);
	memset(&to.gid, 0, sizeof(to.gid));
	CHECK_EQ(to_rtr(&a, &to), EINVAL);
	memcpy(&to.gid, multicast, 16);
	CHECK_EQ(to_rtr(&a, &to), EINVAL);
	memcpy(&to.gid, broadcast, 16);
	CHECK_EQ(to_rtr(&a, &to), EINVAL);
	to = where_is(&b);
	to.qp_num = 2; /* no port has this number, so no QP has it */
	CHECK_EQ(to_rtr(&a, &to), EINVAL);
	to.qp_num = 1 << 24;
	CHECK_EQ(to_rtr(&a, &to), EINVAL);
	to = where_is(&b);
	attr = rtr_attr(&to);
	attr.ah_attr.grh.sgid_index = 126; /* the index is empty; the last index is not */
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	attr = rtr_attr(&to);
	attr.ah_attr.is_global = 0;
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	/* The refusals have changed nothing. */
	expect_qp_state(a.qp, IBV_QPS_INIT);
	oob_connect(&a, &to);
	to = where_is(&a);
	oob_connect(&b, &to);
	exchange(&a, &b, 1);
	close_pair(&a, &b);
}

/* One side is in RTS, and has sent, before the other side starts. */
static void either_first(bool larger)
{
	struct where at_first, at_second;
	struct side a, b, *first = &a, *second = &b;

	open_pair(&a, &b);
	if ((a.qp->qp_num > b.qp->qp_num) != larger) {
		first = &b;
		second = &a;
	}
	at_first = where_is(first);
	at_second = where_is(second);
	oob_connect(first, &at_second);
	CHECK_EQ(send_from(first, 7), 0);
	/* By then both sides have tried to connect. */
	expect_no_wc(first->send_cq, 800);
	CHECK_EQ(to_init(second), 0);
	recv_at(second, 8);
	expect_no_wc(second->recv_cq, 300);
	CHECK_EQ(to_rtr(second, &at_first), 0);
	expect_received(second, 8, 7);
	expect_sent(first, 7);
	expect_qp_state(second->qp, IBV_QPS_RTR);
	CHECK_EQ(to_rts(second), 0);
	exchange(first, second, 20);
	expect_no_wc(first->send_cq, 0);
	close_pair(&a, &b);
}

static void test_larger_first(void)
{
	either_first(true);
}

static void test_smaller_first(void)
{
	either_first(false);
}

/* The peer does not answer: the oldest WR fails, the others are flushed, and there is no event. */
static void expect_given_up(struct side *s)
{
	struct ibv_wc wc;

	recv_at(s, 3);
	CHECK_EQ(send_from(s, 1), 0);
	CHECK_EQ(send_from(s, 2), 0);
	expect_wc(s->send_cq, IBV_WC_RETRY_EXC_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_wc(s->send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_wc(s->recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 3);
	expect_qp_state(s->qp, IBV_QPS_ERR);
	expect_no_async(ctx, 50);
}

static void test_peer_never_comes(void)
{
	struct where to;
	struct side a, b;

	open_pair(&a, &b);
	to = where_is(&b);
	oob_connect(&a, &to);
	expect_given_up(&a);
	close_pair(&a, &b);
}

static void test_no_such_qp(void)
{
	struct where to;
	struct side a, b;

	oob_connect_pair(&a, &b); /* their block of QP numbers now has an open socket */
	CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
	to = where_is(&b);
	to.qp_num = (to.qp_num & 0xffff00) | ((to.qp_num + 100) & 0xff);
	oob_connect(&a, &to);
	expect_given_up(&a);
	close_pair(&a, &b);
}

/* A QP that is connected to another peer refuses others, but its own peer can come later. */
static void test_stranger(void)
{
	struct where at_a, at_b;
	struct side a, b, c;

	open_pair(&a, &b);
	open_side(&c);
	at_a = where_is(&a);
	at_b = where_is(&b);
	oob_connect(&b, &at_a);
	oob_connect(&c, &at_b);
	expect_given_up(&c);
	oob_connect(&a, &at_b);
	exchange(&a, &b, 30);
	close_side(&c);
	close_pair(&a, &b);
}

/* When the peer ends, there is no event, and receives do not complete. A Send fails. */
static void peer_ends(int how)
{
	struct side a, b;
	struct ibv_wc wc;

	oob_connect_pair(&a, &b);
	exchange(&a, &b, 1);
	recv_at(&b, 50);
	if (how < 0) {
		CHECK_EQ(ibv_destroy_qp(a.qp), 0);
		a.qp = NULL;
	} else {
		CHECK_EQ(to_state(&a, (enum ibv_qp_state)how), 0);
	}
	expect_no_wc(b.recv_cq, 200);
	expect_qp_state(b.qp, IBV_QPS_RTS);
	CHECK_EQ(send_from(&b, 51), 0);
	expect_wc(b.send_cq, IBV_WC_RETRY_EXC_ERR, &wc);
	CHECK_EQ(wc.wr_id, 51);
	expect_wc(b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 50);
	expect_qp_state(b.qp, IBV_QPS_ERR);
	expect_no_async(ctx, 50);
	close_pair(&a, &b);
}

static void test_peer_ends(void)
{
	peer_ends(-1);
	peer_ends(IBV_QPS_ERR);
	peer_ends(IBV_QPS_RESET);
}

/*
 * The same two QPs are connected many times, in either order. The peer may or may not have noticed
 * the end of the old session.
 */
static void test_again(void)
{
	struct where at_a, at_b;
	struct side a, b;

	oob_connect_pair(&a, &b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	for (int i = 0; i < 20; i++) {
		exchange(&a, &b, (uint64_t)i * 10);
		CHECK_EQ(to_state(i & 1 ? &a : &b, IBV_QPS_RESET), 0);
		if (i & 1)
			oob_connect(&a, &at_b);
		else
			oob_connect(&b, &at_a);
		if (i & 2)
			sleep_ms(5);
		CHECK_EQ(to_state(i & 1 ? &b : &a, IBV_QPS_RESET), 0);
		if (i & 1)
			oob_connect(&b, &at_a);
		else
			oob_connect(&a, &at_b);
	}
	exchange(&a, &b, 500);
	close_pair(&a, &b);
}

/* QPs of rdma_cm are like new QPs after a reset: they no longer belong to a connection. */
static void test_after_connection(void)
{
	struct where at_a, at_b;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(to_state(&p.a, IBV_QPS_RESET), 0);
	CHECK_EQ(to_state(&p.b, IBV_QPS_RESET), 0);
	at_a = where_is(&p.a);
	at_b = where_is(&p.b);
	oob_connect(&p.a, &at_b);
	oob_connect(&p.b, &at_a);
	exchange(&p.a, &p.b, 100);
	pair_close(&p);
}

static void test_drained(void)
{
	struct side a, b;

	oob_connect_pair(&a, &b);
	exchange(&a, &b, 1);
	CHECK_EQ(to_state(&a, IBV_QPS_SQD), 0);
	recv_at(&b, 60);
	CHECK_EQ(send_from(&a, 61), 0);
	expect_no_wc(b.recv_cq, 100);
	/* Data in the other direction continues. */
	recv_at(&a, 62);
	CHECK_EQ(send_from(&b, 63), 0);
	expect_sent(&b, 63);
	expect_received(&a, 62, 63);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), 0);
	expect_sent(&a, 61);
	close_pair(&a, &b);
}

/* QP numbers are unique on the host, and are not used again soon. */
static void test_numbers(void)
{
	uint32_t seen[60];
	struct side a;

	open_side(&a);
	for (int i = 0; i < 60; i++) {
		struct ibv_qp *qp = new_qp(&a);

		seen[i] = qp->qp_num;
		for (int k = 0; k < i; k++)
			CHECK(seen[k] != seen[i]);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	close_side(&a);
}

/*
 * The other process answers messages until the pipe is closed, and then dies without cleaning up.
 */
static void child(int in, int out)
{
	struct where me, to;
	struct side s;
	char c;

	ctx = open_device();
	open_side(&s);
	me = where_is(&s);
	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	CHECK((to.qp_num ^ me.qp_num) >> 8); /* each process has its own ports */
	oob_connect(&s, &to);
	recv_at(&s, 1);
	put(out, "r", 1);
	expect_received(&s, 1, 2);
	CHECK_EQ(send_from(&s, 3), 0);
	expect_sent(&s, 3);
	recv_at(&s, 4);
	get(in, &c, 1);
	_exit(read(in, &c, 1) ? 1 : 0);
}

static void test_two_processes(void)
{
	struct where me, to;
	int down[2], up[2], status;
	struct ibv_wc wc;
	struct side s;
	pid_t pid;
	char c;

	CHECK_EQ(pipe(down), 0);
	CHECK_EQ(pipe(up), 0);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(down[1]);
		close(up[0]);
		child(down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	open_side(&s);
	get(up[0], &to, sizeof(to));
	me = where_is(&s);
	CHECK_EQ(to_init(&s), 0);
	recv_at(&s, 5);
	CHECK_EQ(to_rtr(&s, &to), 0);
	CHECK_EQ(to_rts(&s), 0);
	CHECK_EQ(send_from(&s, 2), 0);
	put(down[1], &me, sizeof(me));
	get(up[0], &c, 1);
	expect_sent(&s, 2);
	expect_received(&s, 5, 3);
	put(down[1], "x", 1);
	/* The other process is killed: a Send fails. */
	recv_at(&s, 6);
	close(down[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	for (int i = 0; i < 500; i++) {
		CHECK_EQ(send_from(&s, 7), 0);
		wait_wc(s.send_cq, &wc);
		if (wc.status)
			break;
		sleep_ms(20);
	}
	CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
	expect_wc(s.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 6);
	close(up[0]);
	close_side(&s);
}

/* With IPv6 addresses, and with addresses of both families. */
static void test_families(void)
{
	int v4 = gid_index;
	union ibv_gid gid;

	for (int i = 0; i < 128; i++) {
		struct side a, b;

		if (ibv_query_gid(ctx, 1, i, &gid) || !gid.global.interface_id)
			continue;
		gid_index = i;
		oob_connect_pair(&a, &b);
		exchange(&a, &b, 1);
		close_pair(&a, &b);
	}
	gid_index = v4;
}

/*
 * A QP with an SRQ: an early Send waits for a receive. After the peer's end, posted receives are
 * for other QPs. In the error state, the QP reports that it takes no more receives.
 */
static void test_shared_receives(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	struct ibv_recv_wr wr = { .wr_id = 9, .num_sge = 1 }, *bad;
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 0, 1, 0, 0 } };
	struct where at_a, at_b;
	struct side a, b;
	struct ibv_sge sge;

	open_pair(&a, &b);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	init.send_cq = b.send_cq;
	init.recv_cq = b.recv_cq;
	init.srq = ibv_create_srq(b.pd, &srq_attr);
	CHECK(init.srq);
	b.qp = ibv_create_qp(b.pd, &init);
	CHECK(b.qp);
	at_a = where_is(&a);
	at_b = where_is(&b);
	oob_connect(&a, &at_b);
	oob_connect(&b, &at_a);
	CHECK_EQ(send_from(&a, 1), 0);
	expect_no_wc(a.send_cq, 50);
	sge = sge_of(b.mr, b.buf + LEN, LEN);
	wr.sg_list = &sge;
	CHECK_EQ(ibv_post_srq_recv(init.srq, &wr, &bad), 0);
	expect_sent(&a, 1);
	expect_received(&b, 9, 1);
	CHECK_EQ(ibv_post_srq_recv(init.srq, &wr, &bad), 0);
	CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
	expect_no_wc(b.recv_cq, 50);
	expect_qp_state(b.qp, IBV_QPS_RTS);
	CHECK_EQ(to_state(&b, IBV_QPS_ERR), 0);
	EXPECT_ASYNC(ctx, { IBV_EVENT_QP_LAST_WQE_REACHED, b.qp });
	expect_no_wc(b.recv_cq, 10);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(init.srq), 0);
	close_pair(&a, &b);
}

/* Refused calls change nothing */

struct refusal {
	enum ibv_qp_state from;
	int mask;
	int error;
	void (*poison)(struct ibv_qp_attr *attr);
};

static void no_sgid(struct ibv_qp_attr *attr)
{
	attr->ah_attr.grh.sgid_index = 126; /* the index is empty; the last index is not */
}

static void multicast_dgid(struct ibv_qp_attr *attr)
{
	memset(&attr->ah_attr.grh.dgid, 0xff, sizeof(attr->ah_attr.grh.dgid));
}

static void no_port_of_peer(struct ibv_qp_attr *attr)
{
	attr->dest_qp_num = 2;
}

static void no_mtu(struct ibv_qp_attr *attr)
{
	attr->path_mtu = 0;
}

static void many_reads(struct ibv_qp_attr *attr)
{
	attr->max_rd_atomic = attr->max_dest_rd_atomic = 255;
}

static void long_timeout(struct ibv_qp_attr *attr)
{
	attr->timeout = 32;
}

static void rearm(struct ibv_qp_attr *attr)
{
	attr->path_mig_state = IBV_MIG_REARM;
}

static void armed(struct ibv_qp_attr *attr)
{
	attr->path_mig_state = IBV_MIG_ARMED;
}

static void no_alt_port(struct ibv_qp_attr *attr)
{
	attr->alt_port_num = 2;
}

static void no_alt_gid(struct ibv_qp_attr *attr)
{
	attr->alt_ah_attr.grh.sgid_index = 200;
}

static void wrong_current(struct ibv_qp_attr *attr)
{
	attr->cur_qp_state = IBV_QPS_SQD;
}

static void no_such_right(struct ibv_qp_attr *attr)
{
	attr->qp_access_flags = 1 << 10;
}

static void backwards(struct ibv_qp_attr *attr)
{
	attr->qp_state = IBV_QPS_INIT;
}

static void as_it_is(struct ibv_qp_attr *attr)
{
}

/*
 * Each wrong attribute comes with right ones, above all with all access rights, which must not be
 * set.
 */
#define NO_SECOND_PATH (-1) /* EINVAL; EOPNOTSUPP on an iWARP device, which never has such a path */
static const struct refusal refusals[] = {
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, no_sgid },
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, multicast_dgid },
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, no_port_of_peer },
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, no_mtu },
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, many_reads },
	{ IBV_QPS_INIT, RTR_MASK, EINVAL, no_such_right },
	{ IBV_QPS_INIT, RTR_MASK & ~IBV_QP_DEST_QPN, EINVAL, as_it_is },
	{ IBV_QPS_INIT, RTR_MASK | IBV_QP_PATH_MIG_STATE, EINVAL, as_it_is },
	{ IBV_QPS_INIT, RTR_MASK | IBV_QP_ALT_PATH, EINVAL, no_alt_port },
	{ IBV_QPS_RTR, RTS_MASK, EINVAL, long_timeout },
	{ IBV_QPS_RTR, RTS_MASK, EINVAL, many_reads },
	{ IBV_QPS_RTR, RTS_MASK, EINVAL, no_such_right },
	{ IBV_QPS_RTR, RTS_MASK | IBV_QP_CUR_STATE, EINVAL, wrong_current },
	{ IBV_QPS_RTR, RTS_MASK & ~IBV_QP_RETRY_CNT, EINVAL, as_it_is },
	{ IBV_QPS_RTR, RTS_MASK | IBV_QP_ALT_PATH, EINVAL, no_alt_port },
	{ IBV_QPS_RTR, RTS_MASK | IBV_QP_PATH_MIG_STATE, NO_SECOND_PATH, rearm },
	{ IBV_QPS_RTR, RTS_MASK | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, EINVAL, armed },
	{ IBV_QPS_RTS, IBV_QP_STATE, EINVAL, backwards },
	{ IBV_QPS_RTS, 0, EINVAL, no_such_right },
	{ IBV_QPS_RTS, IBV_QP_PATH_MTU, EINVAL, as_it_is },
	{ IBV_QPS_RTS, IBV_QP_ALT_PATH, NO_SECOND_PATH, no_alt_gid },
	{ IBV_QPS_RTS, IBV_QP_PATH_MIG_STATE, NO_SECOND_PATH, rearm },
	{ IBV_QPS_SQD, IBV_QP_AV, EOPNOTSUPP, as_it_is },
	{ IBV_QPS_SQD, IBV_QP_ALT_PATH, EINVAL, no_alt_port },
	{ IBV_QPS_SQD, IBV_QP_PATH_MIG_STATE, EINVAL, armed },
};

static struct ibv_qp_attr queried(struct side *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(ibv_query_qp(s->qp, &attr, RTR_MASK | RTS_MASK, &init), 0);
	return attr;
}

static bool has_second_paths(void)
{
	return ctx->device->node_type != IBV_NODE_RNIC;
}

static int error_of(const struct refusal *r)
{
	if (r->error != NO_SECOND_PATH)
		return r->error;
	return has_second_paths() ? EINVAL : EOPNOTSUPP;
}

static void refuse_all(struct side *s, enum ibv_qp_state state, const struct where *to)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		struct ibv_qp_attr before = queried(s), after, attr = rtr_attr(to);

		if (r->from != state)
			continue;
		attr.alt_ah_attr = attr.ah_attr;
		attr.alt_port_num = 1;
		attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE;
		attr.min_rnr_timer = 31;
		attr.qp_state = state == IBV_QPS_RTR  ? IBV_QPS_RTS :
				state == IBV_QPS_INIT ? IBV_QPS_RTR :
							state;
		attr.cur_qp_state = state;
		r->poison(&attr);
		CHECK_EQ(ibv_modify_qp(s->qp, &attr, r->mask | IBV_QP_ACCESS_FLAGS), error_of(r));
		after = queried(s);
		CHECK(!memcmp(&before, &after, sizeof(before)));
	}
	expect_qp_state(s->qp, state);
}

static void read_from(struct side *s, const struct where *to)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + LEN, LEN);
	struct ibv_wc wc;

	CHECK_EQ(post_rdma(s, IBV_WR_RDMA_READ, 1, &sge, 1, to->addr, to->rkey, IBV_SEND_SIGNALED),
		 0);
	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
}

static void test_refused(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };
	struct ibv_device_attr dev;
	struct where at_a, at_b;
	struct side a, b;

	CHECK_EQ(ibv_query_device(ctx, &dev), 0);
	CHECK_EQ(!!(dev.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG), has_second_paths());
	open_pair(&a, &b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	CHECK_EQ(to_init(&a), 0);
	refuse_all(&a, IBV_QPS_INIT, &at_b);
	CHECK_EQ(to_rtr(&a, &at_b), 0);
	refuse_all(&a, IBV_QPS_RTR, &at_b);
	CHECK_EQ(to_rts(&a), 0);
	oob_connect(&b, &at_a);
	exchange(&a, &b, 10);
	refuse_all(&a, IBV_QPS_RTS, &at_b);
	/* The current path is the only path. */
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_PATH_MIG_STATE), 0);
	exchange(&a, &b, 20);
	CHECK_EQ(to_state(&a, IBV_QPS_SQD), 0);
	refuse_all(&a, IBV_QPS_SQD, &at_b);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), 0);
	exchange(&a, &b, 30);
	/* The QP still has all access rights. */
	read_from(&b, &at_a);
	read_from(&a, &at_b);
	close_pair(&a, &b);
}

static const struct test tests[] = {
	{ "two_processes", test_two_processes }, /* first: it forks */
	{ "data", test_data },
	{ "shared_receives", test_shared_receives },
	{ "query", test_query },
	{ "bad_addresses", test_bad_addresses },
	{ "refused", test_refused },
	{ "larger_first", test_larger_first },
	{ "smaller_first", test_smaller_first },
	{ "peer_never_comes", test_peer_never_comes },
	{ "no_such_qp", test_no_such_qp },
	{ "stranger", test_stranger },
	{ "peer_ends", test_peer_ends },
	{ "again", test_again },
	{ "after_connection", test_after_connection },
	{ "drained", test_drained },
	{ "numbers", test_numbers },
	{ "families", test_families },
};

int main(int argc, char **argv)
{
	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
