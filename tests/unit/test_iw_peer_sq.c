/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* A scripted peer: messages in, messages and completions out (RFC 5040, 5041). */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rc_rx.h"
#include "iwarp/mr.h"
#include "iwarp/session.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"
#include "fixture/iw_peer.h"

static void our_reads(void **state)
{
	ROWS("5040-5.5-18 5040-6.1-05");
	uint8_t m[300];
	struct fx x;

	fx_passive(&x, 0, 2, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 10, 4, 0x99, 2000, 0);
	fx_post(&x, 3, IW_WR_RDMA_READ, x.base + 20, 4, 0x99, 3000, 0);
	fx_post(&x, 4, IW_WR_SEND, x.base, 1, 0, 0, IW_SEND_FENCE);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out, "\0\1\x41\x41\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0", 20);
	assert_int_equal(get_be32(x.out + 20), x.stag);
	assert_true(get_be64(x.out + 24) == x.base);
	assert_int_equal(get_be32(x.out + 32), 10);
	assert_int_equal(get_be32(x.out + 36), 0x99);
	assert_true(get_be64(x.out + 40) == 1000);
	assert_true(fx_pull(&x));
	assert_int_equal(get_be32(x.out + 12), 2); /* MSN */
	assert_false(fx_pull(&x));		   /* ORD 2 */
	/* Responses in two segments: the last byte arrives first. */
	fx_feed(&x, 16, 2, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base + 8, "89", 2));
	fx_feed(&x, 16, 3, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base + 10, "abcd", 4));
	assert_true(iw_cq_is_empty(x.cq));
	fx_feed(&x, 16, 1, m, fx_make_tagged(m, 0x81, 0x42, x.stag, x.base, "01234567", 8));
	assert_memory_equal(x.mem, "0123456789abcd", 14);
	assert_int_equal(fx_cqe(&x).wr_id, 1);
	assert_int_equal(fx_cqe(&x).wr_id, 2);
	assert_true(fx_pull(&x));
	assert_false(fx_pull(&x)); /* fenced */
	fx_feed(&x, 16, 4, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base + 20, "wxyz", 4));
	assert_true(fx_pull(&x));
	assert_int_equal(x.out[3], 0x43);
	assert_int_equal(fx_cqe(&x).wr_id, 3);
	assert_int_equal(fx_cqe(&x).wr_id, 4);
	fx_no_event(&x);
	fx_stop(&x);
}

/* Each segment lies inside the sink, but their total length exceeds it. */
static void response_of_too_much(void **state)
{
	ROWS("5040-5.2.2-06");
	uint8_t m[100];
	struct fx x;
	size_t n;

	fx_passive(&x, 0, 2, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	assert_true(fx_pull(&x));
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0x81, 0x42, x.stag, x.base, "01234567", 8));
	n = fx_make_tagged(m, 0x81, 0x42, x.stag, x.base + 2, "01234567", 8);
	fx_feed(&x, 16, x.ssn++, m, n);
	fx_expect_terminate(&x, 0x1101, m, n, NULL);
	assert_int_equal(fx_cqe(&x).status, IW_WC_REM_OP_ERR);
	fx_stop(&x);
}

static void receive_into_read_only_memory(void **state)
{
	ROWS("5041-7.2-02");
	struct iw_mr *ro;
	struct fx x;

	fx_passive(&x, 0, 2, 7);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, 0, NULL, &ro), 0);
	fx_post_recv(&x, 1, x.base, 16, iw_mr_stag(ro));
	fx_send(&x, 1, "oops", 4);
	assert_int_equal(x.mem[0], 0);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	fx_expect_terminate(&x, 0x1000, NULL, 0, NULL);
	iw_mr_free(ro);
	fx_stop(&x);

	/* The sink of a read. */
	fx_passive(&x, 0, 2, 7);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &ro), 0);
	x.stag = iw_mr_stag(ro);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	fx_expect_terminate(&x, 0x0000, NULL, 0, NULL);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	iw_mr_free(ro);
	fx_stop(&x);
}

static void wrong_responses(void **state)
{
	ROWS("5040-5.2.2-04 5040-5.2.2-06");
	/* offset in the sink of 10 bytes, length, last flag, error */
	static const struct {
		int32_t stag_xor, at;
		uint32_t len;
		uint8_t control;
		uint16_t error;
	} cases[] = {
		{ 0x100, 0, 10, 0xc1, 0x1100 }, { 0, 10, 1, 0xc1, 0x1101 },
		{ 0, 0, 11, 0xc1, 0x1101 },	{ 0, -1, 5, 0xc1, 0x1101 },
		{ 0, 0, 9, 0xc1, 0x1101 },	{ 0, 0, 0, 0xc1, 0x1101 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t m[100];
		struct iw_cqe cqe;
		struct fx x;
		size_t n;

		fx_passive(&x, 0, 2, 7);
		fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 100, 10, 0x99, 1000, 0);
		fx_post(&x, 2, IW_WR_SEND, x.base, 1, 0, 0, 0);
		assert_true(fx_pull(&x));
		n = fx_make_tagged(m, cases[i].control, 0x42, x.stag ^ (uint32_t)cases[i].stag_xor,
				   x.base + 100 + (uint64_t)(int64_t)cases[i].at, "0123456789ab",
				   cases[i].len);
		fx_feed(&x, 16, x.ssn++, m, n);
		fx_expect_terminate(&x, cases[i].error, m, n, NULL);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.status, IW_WC_REM_OP_ERR);
		assert_int_equal(cqe.vendor_err, cases[i].error);
		assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
		assert_int_equal(x.mem[99] | x.mem[110], 0);
		fx_event(&x, IW_EVENT_QP_ACCESS);
		fx_event(&x, IW_EVENT_CLOSED);
		fx_stop(&x);
	}
}

static void read_sink_goes_away(void **state)
{
	ROWS("5041-8.3.1-07 5042-6.2.2-01");
	uint8_t m[100];
	struct fx x;
	size_t n;

	fx_passive(&x, 0, 2, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	assert_true(fx_pull(&x));
	iw_mr_free(x.mr);
	x.mr = NULL;
	n = fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "0123456789", 10);
	fx_feed(&x, 16, x.ssn++, m, n);
	assert_int_equal(x.mem[0], 0);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	fx_expect_terminate(&x, 0x1100, m, n, NULL);
	fx_stop(&x);
}

static void local_faults_at_the_sq(void **state)
{
	ROWS("5040-7.1-01 5040-7.1-02");
	struct iw_send_wqe *w;
	struct fx x;

	/* With an ORD of 0 a read fails, and does not wait forever. */
	fx_passive(&x, 0, 0, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	fx_expect_terminate(&x, 0x0000, NULL, 0, NULL);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_QP_OP_ERR);
	fx_stop(&x);

	/* wrong lkey */
	fx_passive(&x, 0, 1, 7);
	w = fx_sq_slot(x.qp);
	*w = (struct iw_send_wqe){
		.wr_id = 9, .opcode = IW_WR_RDMA_WRITE, .num_sge = 1, .length = 4
	};
	w->sge[0] = (struct iw_sge){ x.base, 4, x.stag ^ 1 };
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	fx_expect_terminate(&x, 0x0000, NULL, 0, NULL);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	/* Posting in error state flushes. */
	fx_post(&x, 10, IW_WR_SEND, x.base, 1, 0, 0, 0);
	fx_post_recv(&x, 11, x.base, 1, x.stag);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);

	/* LOCAL_INV of an invalid STag. */
	fx_passive(&x, 0, 1, 7);
	fx_post(&x, 1, IW_WR_LOCAL_INV, 0, 0, x.stag ^ 1, 0, 0);
	fx_expect_terminate(&x, 0x0000, NULL, 0, NULL);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_QP_OP_ERR);
	fx_stop(&x);
}

static void local_invalidate(void **state)
{
	ROWS("5041-8.3-03 5042-6.3.3-01");
	uint8_t m[100];
	struct fx x;
	size_t n;

	fx_passive(&x, 0, 1, 7);
	/* LOCAL_INV waits for an earlier read. */
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 0x99, 0, 0);
	fx_post(&x, 2, IW_WR_LOCAL_INV, 0, 0, x.stag, 0, 0);
	assert_true(fx_pull(&x));
	assert_false(fx_pull(&x));
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "abcd", 4));
	assert_false(fx_pull(&x));
	assert_int_equal(fx_cqe(&x).wr_id, 1);
	assert_int_equal(fx_cqe(&x).opcode, IW_WC_LOCAL_INV);
	n = fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base, "x", 1);
	expect_refusal(&x, 0x1100, m, n, NULL, IW_EVENT_QP_ACCESS);
	fx_stop(&x);
}

static void terminate_of_the_peer(void **state)
{
	ROWS("5040-5.4-04 5040-5.4-06");
	struct term_message t = {
		.error = 0x0100, .has_header = true, .has_read_request = true, .segment_len = 46
	};
	uint8_t m[200], body[TERM_MAX_LEN];
	struct iw_cqe cqe;
	struct fx x;
	size_t n;

	fx_passive(&x, 0, 2, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1000, 0);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 10, 0x98, 1000, 0);
	fx_post(&x, 3, IW_WR_SEND, x.base, 10, 0, 0, 0);
	fx_post_recv(&x, 4, x.base, 10, x.stag);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(fx_pull(&x));
	/* The Terminate is about the second read. */
	ddp_put_untagged(t.header, true, 0x41, 0, 1, 2, 0);
	n = term_encode(&t, body);
	fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, body, n));
	/* No async event: the work request reports the error. */
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNRESET);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.status, IW_WC_REM_ACCESS_ERR);
	assert_int_equal(cqe.vendor_err, 0x0100);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	/* The answer is a session Terminate, not an RDMAP Terminate. */
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.ppid, 17);
	assert_int_equal(get_be16(x.out + 2), SESSION_TERMINATE);
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

static void terminate_about_a_write_under_way(void **state)
{
	struct term_message t = { .error = 0x1101, .has_header = true, .segment_len = 1450 };
	uint8_t m[200], body[TERM_MAX_LEN];
	struct fx x;
	size_t n;

	fx_passive(&x, 0, 2, 7);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, 0x99, 1000, 0);
	fx_post(&x, 2, IW_WR_SEND, x.base, 10, 0, 0, 0);
	assert_true(fx_pull(&x));
	assert_true(fx_pull(&x));
	memcpy(t.header, x.out + 2, 14);
	n = term_encode(&t, body);
	fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, body, n));
	assert_int_equal(fx_cqe(&x).status, IW_WC_REM_ACCESS_ERR);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);

	/* An invalid Terminate is an error as well, but gets no Terminate in return. */
	fx_passive(&x, 0, 2, 7);
	fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, "ab", 2));
	fx_event(&x, IW_EVENT_QP_FATAL);
	fx_event(&x, IW_EVENT_CLOSED);
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.ppid, 17);
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

static void held_sends(void **state)
{
	ROWS("5040-B-02 5041-7.1-05");
	uint8_t m[200];
	struct iw_cqe cqe;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	assert_false(iw_rq_is_awaited(x.qp));
	fx_feed(&x, 16, 3, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 2, 0, "second", 6));
	fx_feed(&x, 16, 1, m, fx_make_untagged(m, 0x01, 0x43, 0, 0, 1, 0, "fir", 3));
	fx_feed(&x, 16, 2, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 3, "st", 2));
	/* A read after these Sends waits for them; a Write does not. */
	fx_feed(&x, 16, 4, m, make_request(m, 1, 5, x.stag, x.base));
	fx_feed(&x, 16, 5, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 50, "w", 1));
	assert_int_equal(x.mem[50], 'w');
	assert_false(fx_pull(&x));
	x.now += 3600 * 1000 * MSEC;
	iw_timers(x.iw, x.now); /* 7: no limit */
	fx_no_event(&x);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.wr_id, 1);
	assert_int_equal(cqe.byte_len, 5);
	assert_memory_equal(x.mem, "first", 5);
	assert_false(fx_pull(&x));
	fx_post_recv(&x, 2, x.base + 16, 16, x.stag);
	assert_int_equal(fx_cqe(&x).byte_len, 6);
	assert_memory_equal(x.mem + 16, "second", 6);
	iw_qp_doorbell(x.qp);
	assert_false(iw_rq_is_awaited(x.qp));
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out + 16, "first", 5);
	/* A Send too long for the receive that is posted next. */
	x.ssn = 6;
	fx_send(&x, 3, "seventeen letters", 17);
	fx_post_recv(&x, 3, x.base, 16, x.stag);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_LEN_ERR);
	fx_make_untagged(m, 0x41, 0x43, 0, 0, 3, 0, "seventeen letters", 17);
	fx_expect_terminate(&x, 0x1205, m, 35, NULL);
	fx_stop(&x);
}

static void receive_comes_too_late(void **state)
{
	ROWS("5040-4.8-20 5040-5.3-07 5041-7.1-03 5041-7.2-09");
	uint8_t m[200];
	struct fx x;
	size_t n;

	fx_passive(&x, 2, 2, 3);
	fx_send(&x, 1, "one", 3);
	assert_true(iw_next_timeout(x.iw) == x.now + IW_RNR_GRACE + 3 * 655 * MSEC);
	x.now += 1900 * MSEC;
	iw_timers(x.iw, x.now);
	iw_set_now(x.iw, x.now);
	fx_send(&x, 2, "two", 3);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	assert_int_equal(fx_cqe(&x).status, 0);
	/* The next Send has its own time. */
	x.now += 1900 * MSEC;
	iw_timers(x.iw, x.now);
	fx_no_event(&x);
	x.now += 100 * MSEC + IW_RNR_GRACE;
	iw_timers(x.iw, x.now);
	n = fx_make_untagged(m, 0x41, 0x43, 0, 0, 2, 0, "two", 3);
	fx_expect_terminate(&x, 0x1202, m, n, NULL);
	fx_event(&x, IW_EVENT_QP_REQUEST);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_stop(&x);
}

static void held_bytes_are_limited(void **state)
{
	ROWS("5041-7.1-06");
	uint8_t data[1400] = { 0 };
	unsigned int n;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	for (n = 1; n < 1000 && !fx_pull(&x); n++)
		fx_send(&x, n, data, sizeof(data));
	assert_in_range(n, 40, 50); /* 64 KiB */
	assert_int_equal(get_be16(x.out + 20), 0x1202);
	fx_stop(&x);

	/* Empty segments use up the budget as well. */
	fx_passive(&x, 2, 2, 7);
	for (n = 1; n < 10000 && !fx_pull(&x); n++)
		fx_send(&x, n, NULL, 0);
	assert_in_range(n, 100, 1000);
	fx_stop(&x);
}

static void window_and_wrap(void **state)
{
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	/* Pairs of messages in swapped order, across DDP-SSN 65535. */
	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t v = i;

		fx_feed(&x, 16, (uint16_t)(x.ssn + 1), m,
			fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 8, &v, 4));
		fx_feed(&x, 16, x.ssn, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base, &v, 4));
		x.ssn += 2;
	}
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	/* 32767 ahead is later, 32768 ahead is earlier. */
	fx_feed(&x, 16, (uint16_t)(x.ssn + 32767), m,
		fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 20, "far", 3));
	assert_memory_equal(x.mem + 20, "far", 3);
	fx_feed(&x, 16, (uint16_t)(x.ssn + 32768), m,
		fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 30, "old", 3));
	assert_int_equal(x.mem[30], 0);
	for (uint32_t i = 0; i < 32767; i++)
		fx_write(&x, x.stag, x.base + 40, "f", 1);
	x.ssn++;
	fx_send(&x, 1, "end", 3);
	assert_int_equal(fx_cqe(&x).status, 0);
	fx_no_event(&x);
	fx_stop(&x);
}

/* Long reordering takes memory, which is freed once order is restored. */
static void order_is_forgotten(void **state)
{
	const unsigned int n = 5000;
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	for (unsigned int i = n; i-- > 0;) {
		size_t len = fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + i, "x", 1);

		assert_int_equal(fx_feed(&x, 16, (uint16_t)(x.ssn + i), m, len), 0);
		if (i)
			assert_true(x.session->rx.order.size >= n - i);
	}
	assert_int_equal(x.session->rx.ssn, x.ssn + n);
	assert_null(x.session->rx.order.slots);
	assert_int_equal(x.session->rx.order.size, 0);
	fx_stop(&x);
}

static void cq_overflow(void **state)
{
	ROWS("5042-6.4.6-01");
	struct iw_qp_attr attr;
	struct iw_cq *small;
	struct iw_qp *qp;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_qp_free(x.qp);
	x.qp = NULL;
	small = iw_cq_new(x.iw, 2, NULL);
	attr = (struct iw_qp_attr){ .pd = x.pd,
				    .send_cq = small,
				    .recv_cq = x.cq,
				    .max_send_wr = 8,
				    .max_recv_wr = 8,
				    .max_send_sge = 1,
				    .max_recv_sge = 1 };
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	iw_qp_modify(qp, IW_QPS_INIT);
	fx_event(&x, IW_EVENT_CLOSED);
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	x.session = fx_event(&x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x.session, qp, &(struct iw_session_param){ .ord = 1 }),
			 0);
	x.qp = qp;
	fx_post_recv(&x, 9, x.base, 16, x.stag);
	for (unsigned int i = 0; i < 3; i++)
		fx_post(&x, i, IW_WR_SEND, x.base, 1, 0, 0, 0);
	while (fx_pull(&x))
		;
	assert_ptr_equal(fx_event(&x, IW_EVENT_CQ_ERROR).cq, small);
	assert_ptr_equal(fx_event(&x, IW_EVENT_QP_FATAL).qp, qp);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_no_event(&x);
	assert_int_equal(atomic_load(&qp->state), IW_QPS_ERR);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(iw_cq_poll(small, 1, &(struct iw_cqe){ 0 }), 1);
	iw_qp_free(qp);
	x.qp = NULL;
	iw_cq_free(small);
	fx_stop(&x);
}

/* RFC 5043 11.3: if one session fails, other sessions continue. */
static void one_session_fails_the_other_lives(void **state)
{
	ROWS("5040-1.1-02 5041-1.1-01 5042-6.1.1-01");
	struct iw_qp *second, *first;
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	first = x.qp;
	second = fx_qp_sized(&x, x.pd, x.cq, 8);
	x.sid = 7;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second,
					   &(struct iw_session_param){ .ord = 1 }),
			 0);
	assert_true(fx_pull(&x));
	x.sid = FX_SID;
	x.ssn = 1;
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x40, 5, 5, "x", 1));
	fx_event(&x, IW_EVENT_QP_ACCESS);
	x.sid = 7;
	x.ssn = 1;
	x.qp = second;
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_send(&x, 1, "alive", 5);
	assert_int_equal(fx_cqe(&x).status, 0);
	assert_int_equal(iw_assoc_sessions(x.assoc), 2);
	iw_qp_free(second);
	x.qp = first;
	fx_stop(&x);
}

/* Garbage of all kinds: no crash, no access outside the buffer, and a limited answer. */
static void fuzz(void **state)
{
	uint64_t seed = 99;

	for (unsigned int i = 0; i < 3000; i++) {
		uint8_t m[400];
		struct fx x;

		fx_passive(&x, 4, 4, 7);
		x.msg.more = false;
		for (unsigned int k = 0; k < 3; k++)
			fx_post_recv(&x, k, x.base + k * 64, 64, x.stag);
		fx_post(&x, 9, IW_WR_RDMA_READ, x.base + 1000, 100, 1, 1, 0);
		fx_pull(&x);
		for (unsigned int k = 0; k < 30; k++) {
			uint64_t r = fx_next(&seed);
			uint8_t op = (uint8_t)(0x40 | (r >> 8) % 9);
			uint16_t ssn = (uint16_t)(x.ssn + (r >> 16) % 4);
			size_t n;

			if (r & 1)
				n = fx_make_tagged(m, r & 2 ? 0xc1 : 0x81, op & 0x42,
						   r & 4 ? x.stag : (uint32_t)r,
						   x.base + 1000 + (r >> 20) % 120, m + 200,
						   (r >> 28) % 100);
			else
				n = fx_make_untagged(m, r & 2 ? 0x41 : 0x01, op, r & 4 ? x.stag : 0,
						     (r >> 36) % 3, 1 + (r >> 40) % 4,
						     (r >> 44) % 70, m + 200, (r >> 52) % 70);
			if ((r >> 60) == 0)
				m[fx_next(&seed) % n] ^= (uint8_t)fx_next(&seed);
			if ((r >> 60) == 1)
				n = fx_next(&seed) % (n + 1);
			fx_feed(&x,
				(r >> 60) == 2 ? 17 :
				(r >> 60) == 3 ? (uint32_t)r :
						 16,
				ssn, m, n);
			if (k % 3 == 0)
				x.ssn++;
			if (r >> 63)
				fx_pull(&x);
		}
		assert_int_equal(x.mem[4000], 0);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_reads),
		cmocka_unit_test(wrong_responses),
		cmocka_unit_test(response_of_too_much),
		cmocka_unit_test(receive_into_read_only_memory),
		cmocka_unit_test(read_sink_goes_away),
		cmocka_unit_test(local_faults_at_the_sq),
		cmocka_unit_test(local_invalidate),
		cmocka_unit_test(terminate_of_the_peer),
		cmocka_unit_test(terminate_about_a_write_under_way),
		cmocka_unit_test(held_sends),
		cmocka_unit_test(receive_comes_too_late),
		cmocka_unit_test(held_bytes_are_limited),
		cmocka_unit_test(window_and_wrap),
		cmocka_unit_test(order_is_forgotten),
		cmocka_unit_test(cq_overflow),
		cmocka_unit_test(one_session_fails_the_other_lives),
		cmocka_unit_test(fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
