/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Payload that the LLP reads from the application's memory instead of a copy (iwarp/zcopy.c): which
 * payload, and when its WQE is complete.
 */
#include "fixture/iw_zcopy.h"

/* ---- what is referenced ---- */

static void what_is_referenced(void **state)
{
	static const struct {
		uint32_t len, window;
		unsigned int behind;
		bool mapped;
		uint32_t ref;
	} cases[] = {
		{ 1000, WINDOW, 4, true, 1000 }, /* as little behind it as may be, and as short */
		{ 999, WINDOW, 20, true, 0 },	   { 1000, WINDOW, 3, true, 0 },
		{ 1000, WINDOW + 1, 4, true, 0 },  { 1000, WINDOW - 1, 4, true, 1000 },
		{ 1000, 0, 20, true, 0 },	   { 1000, 1, 0, true, 0 },
		{ 1000, UINT32_MAX, 20, true, 0 }, { 1436, WINDOW, 3, true, 1436 },
		{ 5000, WINDOW, 1, true, CUT },	   { 5000, WINDOW, 0, true, 0 },
		{ 1000, WINDOW, 4, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		zcopy_start(&x);
		x.msg.zcopy_window = cases[i].window;
		if (!cases[i].mapped) {
			fx_hole = x.mem + 999;
			fx_hole_len = 1;
		}
		zcopy_post_some(&x, 1, 1 + cases[i].behind, cases[i].len);
		if (!cases[i].mapped) {
			assert_false(x.rnic->shard.zcopy_qps);
			assert_true(fx_pull(&x)); /* the Terminate: it cannot be copied either */
			assert_int_equal(x.out[3], 0x47);
			zcopy_expect(&x, 1, IW_WC_LOC_PROT_ERR);
			zcopy_expect_some(&x, 2, 4, IW_WC_WR_FLUSH_ERR);
		} else {
			assert_int_equal(zcopy_pull(&x), cases[i].ref);
			assert_ptr_equal(x.msg.ref, cases[i].ref ? x.mem : NULL);
			assert_int_equal(x.rnic->shard.zcopy_qps, cases[i].ref ? 1 : 0);
			assert_memory_equal(x.out + 16, x.mem, x.out_len - 16);
		}
		fx_hole = NULL;
		zcopy_stop(&x);
	}
}

static int probe_nothing(const void *src, size_t len)
{
	return -EFAULT;
}

/* Memory that can be copied and not be referenced is copied: the WQE is complete at once. */
static void copied_instead(void **state)
{
	struct fx x;

	zcopy_start(&x);
	x.rnic->ops.probe = probe_nothing;
	zcopy_post_some(&x, 1, 5, 1000);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_memory_equal(x.out + 16, x.mem, 1000);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

static void inline_data(void **state)
{
	struct iw_send_wqe *w;
	struct fx x;

	zcopy_start(&x);
	x.rnic->config.zcopy_min = 10;
	x.msg.zcopy_window = 100;
	probes = 0;
	for (unsigned int i = 0; i < 10; i++) {
		w = fx_begin(&x, i, IW_WR_SEND, 0, 0, 0, 0, IW_SEND_INLINE);
		w->length = 60;
		memset(w->sge, 'i', 60);
		fx_publish(&x);
	}
	assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(x.out[20 + 59], 'i');
	zcopy_expect(&x, 0, IW_WC_SUCCESS);
	assert_int_equal(probes, 0);
	zcopy_stop(&x);
}

/* WQEs that wait for their fence do not keep the window full, so they do not count. */
static void fenced_behind(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 3, 1000);
	fx_post(&x, 4, IW_WR_RDMA_WRITE, x.base, 1000, 0x1234, 0x10000, IW_SEND_FENCE);
	zcopy_post_some(&x, 5, 20, 1000);
	for (int i = 0; i < 3; i++)
		assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect_some(&x, 1, 3, IW_WC_SUCCESS);
	assert_int_equal(zcopy_pull(&x),
			 1000); /* the fenced one itself, with nothing to wait for */
	zcopy_stop(&x);
}

/* In SQD no WQE behind the current one is begun, so the rest of the current one is copied. */
static void draining(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 3, LONG);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 1);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	zcopy_expect_nothing(&x);
	zcopy_stop(&x);
}

/* The RNIC has seen one WQE behind the current one; WQEs posted since count as well. */
static void posted_since(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 2, 1000);
	assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	zcopy_post_some(&x, 3, 4, 1000);
	assert_int_equal(zcopy_pull(&x), 1000);
	assert_int_equal(zcopy_pull(&x), 0); /* but for those that have gone */
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 2);
	zcopy_expect_some(&x, 2, 2, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

/*
 * WQEs behind the current one count by their own length, but for reads; of many, the first eight
 * say how long they are.
 */
static void as_long_as_they_are(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
		unsigned int n;
		bool references;
	} cases[] = {
		{ IW_WR_RDMA_WRITE, 10, 60, false },
		{ IW_WR_RDMA_WRITE, 400, 9, false },
		{ IW_WR_SEND, 400, 10, true },
		{ IW_WR_RDMA_WRITE, LONG, 1, true },
		{ IW_WR_RDMA_READ, LONG, 10, false },
		{ IW_WR_SEND, 3999, 1, false },
		{ IW_WR_RDMA_WRITE_WITH_IMM, 500, 8, true },
		{ IW_WR_RDMA_WRITE_WITH_IMM, 500, 7, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		zcopy_start(&x);
		zcopy_post(&x, 1, 1000);
		for (unsigned int k = 0; k < cases[i].n; k++)
			fx_post(&x, 2, cases[i].opcode, x.base, cases[i].len, 1, 1, 0);
		assert_int_equal(zcopy_pull(&x), cases[i].references ? 1000 : 0);
		zcopy_stop(&x);
	}
}

/* Each segment is judged by itself; the WQE waits for the last one that references. */
static void long_message(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post(&x, 1, LONG);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	zcopy_post(&x, 2, LONG);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_ptr_equal(x.msg.ref, x.mem + CUT);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_ptr_equal(x.msg.ref, x.mem + 2 * CUT);
	zcopy_ack(&x, 2); /* the first that referenced: the QP still references */
	assert_int_equal(x.rnic->shard.zcopy_qps, 1);
	assert_int_equal(zcopy_pull(&x), 0); /* less than ZCOPY_MIN */
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 1);
	zcopy_expect(&x, 1, IW_WC_SUCCESS); /* and not for the last */
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect(&x, 2, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

/*
 * All that the WQE references is acknowledged before its last segment is pulled: then it has
 * nothing to wait for.
 */
static void acked_while_under_way(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 2, LONG);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(zcopy_pull(&x), CUT);
	zcopy_ack(&x, 3);
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	zcopy_expect_nothing(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	iw_qp_notify_drained(x.qp);
	fx_no_event(&x);
	assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	fx_event(&x, IW_EVENT_SQ_DRAINED);
	zcopy_stop(&x);
}

static void post_gathered(struct fx *x, uint64_t wr_id, const uint32_t *lens, uint8_t n)
{
	struct iw_send_wqe *w = fx_begin(x, wr_id, IW_WR_RDMA_WRITE, 0, 0, 1, 1, 0);
	uint64_t at = x->base;

	w->num_sge = n;
	for (uint8_t i = 0; i < n; i++) {
		w->sge[i] = (struct iw_sge){ at, lens[i], x->stag };
		at += lens[i];
		w->length += lens[i];
	}
	fx_publish(x);
}

/* Only the end of a message can be referenced: nothing may stand behind the gap. */
static void several_sges(void **state)
{
	static const struct {
		uint32_t lens[4];
		uint8_t n;
		uint32_t ref[2]; /* of each cut */
		uint32_t offset[2];
	} cases[] = {
		{ { 436, 1000 }, 2, { 1000 }, { 436 } },
		{ { 1000, 436 }, 2, { 0 }, { 0 } },
		{ { 1000, 0 }, 2, { 1000 }, { 0 } },
		{ { 0, 200, 0, 1236 }, 4, { 1236 }, { 200 } },
		{ { 2000, 872 }, 2, { CUT, 0 }, { 0, 0 } },
		{ { 436, 2000 }, 2, { 1000, 1000 }, { 436, CUT } },
		{ { 437, 2000 }, 2, { 0, 1001 }, { 0, CUT } },
		{ { 1437, 1400 }, 2, { CUT, 1400 }, { 0, 1437 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int at = 0, cut = 0;
		struct fx x;

		zcopy_start(&x);
		for (uint64_t id = 0; id < 6; id++)
			post_gathered(&x, id, cases[i].lens, cases[i].n);
		do {
			uint32_t ref = zcopy_pull(&x);

			assert_int_equal(ref, cases[i].ref[cut]);
			if (ref)
				assert_ptr_equal(x.msg.ref, x.mem + cases[i].offset[cut]);
			assert_memory_equal(x.out + 16, x.mem + at, x.out_len - 16);
			at += (unsigned int)x.out_len - 16;
			cut++;
		} while (!(x.out[2] & DDP_LAST));
		assert_int_equal(iw_cq_is_empty(x.cq), cases[i].ref[0] || cases[i].ref[1]);
		zcopy_stop(&x);
	}
}

/* ---- the messages are those of a copy ---- */

#define DUMP 40000

/*
 * Dumps its messages, one after the other, from an RNIC that references within this window. Returns
 * how many reference.
 */
static unsigned int dump(uint8_t *to, size_t *len, uint8_t opcode, uint32_t window)
{
	struct rdmap_read_request r = { .sink_stag = 0x77, .sink_to = 0x1234, .size = LONG };
	unsigned int ref = 0;
	uint8_t request[28], m[64];
	struct fx x;

	zcopy_start(&x);
	x.msg.zcopy_window = window;
	r.src_stag = x.stag;
	r.src_to = x.base + 3;
	*len = 0;
	for (uint32_t i = 1; i <= 3; i++) {
		if (opcode != IW_WR_RDMA_READ) {
			fx_post(&x, i, opcode, x.base + i, LONG, 0x1234, 0x10000, 0);
			continue;
		}
		rdmap_put_read_request(request, &r);
		fx_feed(&x, 16, x.ssn++, m,
			fx_make_untagged(m, 0x41, 0x41, 0, 1, i, 0, request, 28));
	}
	for (size_t room = 1452; iw_rc_tx_find_work(iw_rc_of(x.qp));
	     room = room == 1452 ? 1300 : 1452) {
		ref += zcopy_pull_in(&x, room) != 0;
		assert_true(*len + x.out_len <= DUMP);
		memcpy(to + *len, x.out, x.out_len);
		*len += x.out_len;
	}
	zcopy_stop(&x);
	return ref;
}

static void same_bytes(void **state)
{
	/*
	 * A Read Response is the peer's, and references whatever stands behind it; of three Writes
	 * and Sends the first two do.
	 */
	static const struct {
		uint8_t opcode;
		unsigned int ref;
	} cases[] = {
		{ IW_WR_RDMA_WRITE, 6 },    { IW_WR_SEND, 6 },
		{ IW_WR_SEND_WITH_INV, 6 }, { IW_WR_RDMA_WRITE_WITH_IMM, 6 },
		{ IW_WR_RDMA_READ, 9 },
	};
	static uint8_t copied[DUMP], ref[DUMP];
	size_t copied_len, ref_len;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(dump(copied, &copied_len, cases[i].opcode, 0), 0);
		assert_int_equal(dump(ref, &ref_len, cases[i].opcode, WINDOW), cases[i].ref);
		assert_int_equal(copied_len, ref_len);
		assert_true(copied_len > 3 * LONG);
		assert_memory_equal(copied, ref, ref_len);
	}
}

/* ---- when it is complete ---- */

/* Both counts are modulo 2^32, and the last acknowledgement may be long ago. */
static void complete_when_acked(void **state)
{
	static const uint64_t pulled[] = { 1,		0x7ffffffe, 0x80000000, 0x80000005,
					   0xfffffffd,	0xfffffffe, 0xffffffff, 0x100000000,
					   0x180000000, 0x380000007 };

	for (size_t i = 0; i < sizeof(pulled) / sizeof(pulled[0]); i++) {
		struct fx x;

		zcopy_start(&x);
		x.assoc->pulled = pulled[i]; /* of them nothing was referenced */
		x.acked = (uint32_t)pulled[i];
		zcopy_post_some(&x, 1, 6, 1000);
		assert_int_equal(zcopy_pull(&x), 1000);
		assert_int_equal(zcopy_pull(&x), 1000);
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(zcopy_pull(&x), 0);
		zcopy_expect_nothing(&x);
		zcopy_ack(&x, 0);
		zcopy_expect_nothing(&x);
		zcopy_ack(&x, 1);
		zcopy_expect(&x, 1, IW_WC_SUCCESS);
		zcopy_expect_nothing(&x);
		assert_int_equal(x.rnic->shard.zcopy_qps, 1);
		zcopy_ack(&x, 1);
		zcopy_expect_some(&x, 2, 5, IW_WC_SUCCESS); /* those behind it were copied */
		assert_int_equal(x.rnic->shard.zcopy_qps, 0);
		zcopy_ack(&x, 4);
		zcopy_expect_nothing(&x);
		assert_int_equal(n_copy_outs, 0);
		zcopy_stop(&x);
	}
}

/*
 * The WQE stands behind a read: its memory is released, and the QP references nothing, long before
 * its turn to complete comes.
 */
static void behind_a_read(void **state)
{
	uint8_t m[64];
	struct fx x;

	zcopy_start(&x);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	zcopy_post_some(&x, 2, 5, 1000);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(zcopy_pull(&x), 1000);
	zcopy_ack(&x, 2);
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	zcopy_expect_nothing(&x);
	assert_int_equal(zcopy_pull(&x), 0);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "1234", 4));
	zcopy_expect_some(&x, 1, 3, IW_WC_SUCCESS);
	zcopy_expect_nothing(&x);
	zcopy_stop(&x);
}

/*
 * Whatever stands behind it waits: WQEs that were copied, a read that is answered, WQEs without a
 * completion.
 */
static void in_posting_order(void **state)
{
	struct iw_send_wqe *w;
	uint8_t m[64];
	struct fx x;

	zcopy_start(&x);
	for (uint64_t id = 1; id <= 4; id++) {
		w = fx_begin(&x, id, IW_WR_RDMA_WRITE, x.base, 2000, 1, 1, 0);
		if (id == 1 || id == 3)
			w->flags = 0;
		fx_publish(&x);
	}
	fx_post(&x, 5, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	fx_post(&x, 6, IW_WR_SEND, x.base, 4, 0, 0, 0);
	assert_int_equal(zcopy_pull(&x), CUT);
	while (iw_rc_tx_find_work(iw_rc_of(x.qp)))
		zcopy_pull(&x);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "1234", 4));
	zcopy_expect_nothing(&x);
	assert_int_equal(atomic_load(&x.qp->sq.head), 0);
	zcopy_ack(&x, 1);
	zcopy_expect_nothing(&x); /* unsignaled, but its slot is free again */
	assert_int_equal(atomic_load(&x.qp->sq.head), 1);
	zcopy_ack(&x, 1); /* the short cut of the first */
	assert_int_equal(atomic_load(&x.qp->sq.head), 1);
	zcopy_ack(&x, 1); /* the second referenced, too, and nothing behind it */
	assert_int_equal(atomic_load(&x.qp->sq.head), 6);
	zcopy_expect(&x, 2, IW_WC_SUCCESS);
	zcopy_expect(&x, 4, IW_WC_SUCCESS);
	zcopy_expect(&x, 5, IW_WC_SUCCESS);
	zcopy_expect(&x, 6, IW_WC_SUCCESS);
	zcopy_expect_nothing(&x);
	zcopy_stop(&x);
}

static void immediate_data(void **state)
{
	struct fx x;

	zcopy_start(&x);
	for (uint64_t id = 1; id <= 4; id++)
		fx_post(&x, id, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 1400, 1, 1, 0);
	assert_int_equal(zcopy_pull(&x), 1400);
	zcopy_ack(&x, 1);
	zcopy_expect_nothing(&x); /* its other message is to come */
	assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	zcopy_stop(&x);

	zcopy_start(&x);
	for (uint64_t id = 1; id <= 4; id++)
		fx_post(&x, id, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 1400, 1, 1, 0);
	assert_int_equal(zcopy_pull(&x), 1400);
	assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 1); /* the one without payload does not matter */
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

static void two_streams(void **state)
{
	struct fx x, y;

	zcopy_start(&x);
	zcopy_start_second(&y, &x);
	zcopy_post_some(&y, 11, 5, 1000);
	assert_int_equal(zcopy_pull(&y), 1000);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(zcopy_pull(&y), 0);
	zcopy_post_some(&x, 1, 5, 1000);
	assert_int_equal(zcopy_pull(&x), 1000);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(x.rnic->shard.zcopy_qps, 2);
	zcopy_ack(&x, 1);
	assert_int_equal(x.rnic->shard.zcopy_qps, 1);
	zcopy_expect_some(&x, 11, 5, IW_WC_SUCCESS);
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 4);
	zcopy_expect_nothing(&x);
	zcopy_ack(&x, 1);
	zcopy_expect_some(&x, 1, 5, IW_WC_SUCCESS);
	iw_qp_free(y.qp);
	zcopy_stop(&x);
}

static void drained(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 6, 1000);
	zcopy_pull(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	assert_false(fx_pull(&x));
	assert_true(iw_qp_is_draining(x.qp));
	iw_qp_notify_drained(x.qp);
	fx_no_event(&x);
	zcopy_ack(&x, 1);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	assert_false(iw_qp_is_draining(x.qp));
	fx_event(&x, IW_EVENT_SQ_DRAINED);
	fx_no_event(&x);
	zcopy_stop(&x);
}

/* A Read Response references although nothing stands behind it. */
static void read_response(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 21, 5, 1000);
	assert_int_equal(zcopy_pull(&x), 1000);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(zcopy_pull(&x), 0);
	zcopy_ack(&x, 5);
	zcopy_expect_some(&x, 21, 5, IW_WC_SUCCESS);
	zcopy_ask(&x, 1, 999);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	zcopy_ask(&x, 2, 2 * CUT);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_int_equal(zcopy_pull(&x), CUT);
	zcopy_ack(&x, 2);
	assert_int_equal(x.rnic->shard.zcopy_qps, 1);
	/* What is copied beside it is complete at once. */
	zcopy_post(&x, 1, 1000);
	assert_int_equal(zcopy_pull(&x), 0);
	zcopy_expect(&x, 1, IW_WC_SUCCESS);
	assert_int_equal(x.rnic->shard.zcopy_qps, 1);
	zcopy_ack(&x, 1);
	assert_int_equal(x.rnic->shard.zcopy_qps, 0);
	x.msg.zcopy_window = 0;
	zcopy_ask(&x, 3, 1400);
	assert_int_equal(zcopy_pull(&x), 0);
	x.msg.zcopy_window = 1;
	fx_hole = x.mem + 1000;
	fx_hole_len = 1;
	zcopy_ask(&x, 4, 1400);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out[3], 0x47); /* Terminate */
	assert_int_equal(get_be16(x.out + 20), TERM_RDMAP_BOUNDS);
	fx_hole = NULL;
	zcopy_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_referenced),
		cmocka_unit_test(copied_instead),
		cmocka_unit_test(inline_data),
		cmocka_unit_test(fenced_behind),
		cmocka_unit_test(draining),
		cmocka_unit_test(posted_since),
		cmocka_unit_test(as_long_as_they_are),
		cmocka_unit_test(long_message),
		cmocka_unit_test(acked_while_under_way),
		cmocka_unit_test(several_sges),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(complete_when_acked),
		cmocka_unit_test(behind_a_read),
		cmocka_unit_test(in_posting_order),
		cmocka_unit_test(immediate_data),
		cmocka_unit_test(two_streams),
		cmocka_unit_test(drained),
		cmocka_unit_test(read_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
