/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.uc --personality iwarp -- */
/* ALSO: ib.uc --personality ib -- */
/* ALSO: shared.uc -- shared */
/*
 * Unreliable connections (IBV_QPT_UC): their messages, the silent drops of the receiver, and QPs
 * whose peer has gone. With "shared" as the first argument, the QPs have SRQs.
 */
#include <arpa/inet.h>

#include "out_of_band.h"

#define REMOTE (4 * LEN) /* target of Writes in the peer's buffer */

static void uc_pair(struct side *a, struct side *b)
{
	oob_type = IBV_QPT_UC;
	oob_connect_pair(a, b);
}

/* Checks that the next message is whole, and the first to arrive: all earlier ones were dropped. */
static void expect_next(struct side *a, struct side *b, uint64_t recv_id, uint64_t send_id)
{
	CHECK_EQ(send_from(a, send_id), 0);
	expect_sent(a, send_id);
	expect_received(b, recv_id, (unsigned int)send_id);
	expect_qp_state(a->qp, IBV_QPS_RTS);
	expect_qp_state(b->qp, IBV_QPS_RTS);
}

static int post_imm(struct side *s, enum ibv_wr_opcode opcode, uint64_t id, uint32_t len,
		    const struct where *to, uint32_t rkey)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf, len);
	struct ibv_send_wr *bad, wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)id),
		.wr.rdma = { to->addr + REMOTE, rkey },
	};

	fill(s->buf, len, (unsigned int)id);
	return ibv_post_send(s->qp, &wr, &bad);
}

static void expect_imm(struct side *s, uint64_t recv_id, enum ibv_wc_opcode opcode, uint64_t id,
		       uint32_t len)
{
	struct ibv_wc wc;

	expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, recv_id);
	CHECK_EQ(wc.opcode, opcode);
	CHECK_EQ(wc.byte_len, len);
	CHECK_EQ(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
	CHECK_EQ(ntohl(wc.imm_data), id);
}

/* Returns a counter of the device. */
static uint64_t counter(const char *name)
{
	char path[256];
	unsigned long long n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(ctx->device), name);
	f = fopen(path, "r");
	CHECK(f);
	CHECK_EQ(fscanf(f, "%llu", &n), 1);
	fclose(f);
	return n;
}

static void test_messages(void)
{
	struct side a, b;
	struct where to;

	uc_pair(&a, &b);
	to = where_is(&b);
	for (uint64_t i = 0; i < 50; i++)
		exchange(&a, &b, 10 * i);
	recv_at(&b, 1);
	CHECK_EQ(post_imm(&a, IBV_WR_SEND_WITH_IMM, 2, LEN, &to, to.rkey), 0);
	expect_sent(&a, 2);
	expect_imm(&b, 1, IBV_WC_RECV, 2, LEN);
	CHECK(filled(b.buf + LEN, LEN, 2));
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE, 3, 9 * LEN, &to, to.rkey), 0);
	expect_sent(&a, 3);
	recv_at(&b, 4);
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 5, 10 * LEN, &to, to.rkey), 0);
	expect_sent(&a, 5);
	expect_imm(&b, 4, IBV_WC_RECV_RDMA_WITH_IMM, 5, 10 * LEN);
	CHECK(filled(b.buf + REMOTE, 10 * LEN, 5));
	close_pair(&a, &b);
}

/* More Sends than the window for unexpected Sends would hold, and messages of several packets. */
static void test_no_receive(void)
{
	struct side a, b;
	struct where to;
	uint64_t before;

	uc_pair(&a, &b);
	to = where_is(&b);
	before = counter("uc_dropped_no_receive");
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK_EQ(send_from(&a, i), 0);
		expect_sent(&a, i);
	}
	/* The immediate data finds no receive. The Write before it has its effect. */
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 2000, LEN, &to, to.rkey), 0);
	expect_sent(&a, 2000);
	CHECK_EQ(counter("uc_dropped_no_receive"), before + 1001);
	CHECK(filled(b.buf + REMOTE, LEN, 2000));
	recv_at(&b, 1);
	expect_next(&a, &b, 1, 3000);
	expect_no_wc(b.recv_cq, 0);
	close_pair(&a, &b);
}

/*
 * A receive that is too short for a message is used for the next message, even if it is partly
 * filled.
 */
static void test_too_long(void)
{
	static const uint32_t lengths[] = { LEN + 1, 2 * LEN, 50 * LEN };
	struct ibv_sge sge;
	struct side a, b;
	uint64_t before;

	uc_pair(&a, &b);
	before = counter("uc_dropped_too_long");
	recv_at(&b, 1);
	for (size_t i = 0; i < 3; i++) {
		sge = sge_of(a.mr, a.buf, lengths[i]);
		CHECK_EQ(post_send(&a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
		expect_sent(&a, i);
	}
	CHECK_EQ(counter("uc_dropped_too_long"), before + 3);
	expect_next(&a, &b, 1, 4);
	close_pair(&a, &b);
}

/* A Write without permission. Its immediate data is dropped, too. */
static void test_access(void)
{
	struct side a, b;
	struct where to;
	uint64_t before;

	uc_pair(&a, &b);
	to = where_is(&b);
	before = counter("uc_dropped_access");
	recv_at(&b, 1);
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE, 2, 9 * LEN, &to, to.rkey + 1), 0);
	expect_sent(&a, 2);
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 3, 9 * LEN, &to, to.rkey + 1), 0);
	expect_sent(&a, 3);
	to.addr += SIDE_BUF - REMOTE - LEN;
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 4, 9 * LEN, &to, to.rkey), 0);
	expect_sent(&a, 4);
	CHECK_EQ(counter("uc_dropped_access"), before + 3);
	expect_no_wc(b.recv_cq, 0);
	CHECK(!filled(b.buf + REMOTE, LEN, 2));
	expect_next(&a, &b, 1, 5);
	recv_at(&b, 6);
	to = where_is(&b);
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_WRITE_WITH_IMM, 7, LEN, &to, to.rkey), 0);
	expect_sent(&a, 7);
	expect_imm(&b, 6, IBV_WC_RECV_RDMA_WITH_IMM, 7, LEN);
	close_pair(&a, &b);
}

/* The peer ends: messages to it are lost, but complete with success. */
static void test_peer_goes(void)
{
	struct side a, b;
	struct where at_a, at_b;

	uc_pair(&a, &b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	exchange(&a, &b, 10);
	CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(send_from(&a, i), 0);
		expect_sent(&a, i);
	}
	expect_qp_state(a.qp, IBV_QPS_RTS);
	/* The same QP returns, and gets all messages from then on. */
	oob_connect(&b, &at_a);
	exchange(&b, &a, 20);
	exchange(&a, &b, 30);
	CHECK_EQ(at_b.qp_num, b.qp->qp_num);
	close_pair(&a, &b);
}

/* A QP of another type is no peer. */
static void test_types(void)
{
	struct where at_a, at_b;
	struct side a, b;

	oob_type = IBV_QPT_UC;
	open_side(&a);
	oob_type = IBV_QPT_RC;
	open_side(&b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	oob_connect(&a, &at_b);
	oob_connect(&b, &at_a);
	recv_at(&b, 1);
	recv_at(&a, 1);
	CHECK_EQ(send_from(&a, 2), 0);
	expect_sent(&a, 2); /* after a long enough wait */
	expect_no_wc(b.recv_cq, 0);
	expect_no_wc(a.recv_cq, 0);
	expect_qp_state(a.qp, IBV_QPS_RTS);
	close_pair(&a, &b);
}

/* Sends until a message has arrived. Messages at the end of a session are lost. */
static void send_until_received(struct side *from, struct side *to, uint64_t id)
{
	struct ibv_wc wc;

	do {
		CHECK_EQ(send_from(from, ++id), 0);
		expect_sent(from, id);
	} while (!ibv_poll_cq(to->recv_cq, 1, &wc));
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static int leave_sqe(struct side *s, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .cur_qp_state = IBV_QPS_SQE,
				    .port_num = 1 };

	return ibv_modify_qp(s->qp, &attr, mask);
}

/*
 * Work requests after the failing one are flushed. Nothing else happens to the QP, nor to its peer.
 */
static void test_local_error(void)
{
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_wc wc;

	uc_pair(&a, &b);
	exchange(&a, &b, 10);
	sge = sge_of(a.mr, a.buf, LEN);
	sge.lkey++;
	recv_at(&b, 1);
	recv_at(&a, 2);
	CHECK_EQ(post_send(&a, 3, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 3);
	expect_qp_state(a.qp, IBV_QPS_SQE);
	send_until_received(&b, &a, 100);
	expect_qp_state(a.qp, IBV_QPS_SQE);
	for (uint64_t i = 4; i < 10; i++) {
		CHECK_EQ(send_from(&a, i), 0);
		expect_wc(a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	expect_no_wc(b.recv_cq, 0);
	expect_qp_state(b.qp, IBV_QPS_RTS);
	CHECK_EQ(leave_sqe(&a, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), EINVAL);
	CHECK_EQ(leave_sqe(&a, IBV_QP_PORT), EINVAL);
	CHECK_EQ(leave_sqe(&a, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	expect_qp_state(a.qp, IBV_QPS_RTS);
	expect_no_wc(a.send_cq, 0);
	expect_next(&a, &b, 1, 20);
	exchange(&b, &a, 30);
	close_pair(&a, &b);
}

/* The QP may return to RTS at once. The next session begins with its next message. */
static void test_local_error_again(void)
{
	struct ibv_sge sge;
	struct side a, b;
	struct ibv_wc wc;

	uc_pair(&a, &b);
	for (uint64_t i = 0; i < 3; i++) {
		sge = sge_of(a.mr, a.buf, 20 * LEN);
		sge.lkey++;
		CHECK_EQ(send_from(&a, 1), 0);
		CHECK_EQ(post_send(&a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
		expect_sent(&a, 1);
		expect_wc(a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		CHECK_EQ(leave_sqe(&a, IBV_QP_STATE), 0);
		recv_at(&b, 1);
		send_until_received(&a, &b, 100 * i);
	}
	exchange(&a, &b, 30);
	exchange(&b, &a, 40);
	close_pair(&a, &b);
}

static void test_refused(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = 14 };
	struct side a, b;
	struct where at_a, to;

	oob_type = IBV_QPT_UC;
	open_pair(&a, &b);
	at_a = where_is(&a);
	to = where_is(&b);
	CHECK_EQ(to_init(&a), 0);
	attr = rtr_attr(&to);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, (RTR_MASK & ~RC_ONLY) | IBV_QP_MIN_RNR_TIMER), EINVAL);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK & ~RC_ONLY & ~IBV_QP_DEST_QPN), EINVAL);
	CHECK_EQ(to_rtr(&a, &to), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTS_MASK), EINVAL);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT), EINVAL);
	CHECK_EQ(to_rts(&a), 0);
	CHECK_EQ(post_imm(&a, IBV_WR_RDMA_READ, 1, LEN, &to, to.rkey), EINVAL);
	CHECK_EQ(post_imm(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, &to, to.rkey), EINVAL);
	CHECK_EQ(post_imm(&a, IBV_WR_SEND_WITH_INV, 1, LEN, &to, to.rkey), EINVAL);
	oob_connect(&b, &at_a);
	exchange(&a, &b, 10);
	close_pair(&a, &b);
}

static void test_self(void)
{
	struct side s;
	struct where me;

	oob_type = IBV_QPT_UC;
	open_side(&s);
	me = where_is(&s);
	oob_connect(&s, &me);
	CHECK_EQ(send_from(&s, 1), 0);
	expect_sent(&s, 1);
	expect_no_wc(s.recv_cq, 20);
	recv_at(&s, 2);
	CHECK_EQ(send_from(&s, 3), 0);
	expect_sent(&s, 3);
	expect_received(&s, 2, 3);
	close_side(&s);
}

static const struct test tests[] = {
	{ "messages", test_messages },	     { "no_receive", test_no_receive },
	{ "too_long", test_too_long },	     { "access", test_access },
	{ "peer_goes", test_peer_goes },     { "types", test_types },
	{ "local_error", test_local_error }, { "local_error_again", test_local_error_again },
	{ "refused", test_refused },	     { "self", test_self },
};

int main(int argc, char **argv)
{
	oob_open();
	if (argc > 1 && !strcmp(argv[1], "shared")) {
		oob_shared = true;
		argc--;
		argv++;
	}
	return RUN_TESTS(argc, argv, tests);
}
