/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Payload that the LLP reads from the application's memory, without a copy (iwarp/zcopy.c): which
 * payload, and when its WQE completes.
 */
#include "fixture/iw_zcopy.h"

/* ---- referenced payload ---- */

static void what_is_referenced(void **state)
{
	static const struct {
		uint32_t len;
		bool may, mapped;
		uint32_t ref;
	} cases[] = {
		{ 1000, true, true, 1000 }, { 999, true, true, 0 },   { 0, true, true, 0 },
		{ 1000, false, true, 0 },   { CUT, true, true, CUT }, { LONG, true, true, CUT },
		{ LONG, false, true, 0 },   { 1000, true, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		zcopy_start(&x);
		x.msg.may_reference = cases[i].may;
		if (!cases[i].mapped) {
			fx_hole = x.mem + 999;
			fx_hole_len = 1;
		}
		zcopy_post_some(&x, 1, 2, cases[i].len);
		if (!cases[i].mapped) {
			assert_true(fx_pull(&x)); /* the Terminate: memory cannot be copied */
			assert_int_equal(x.out[3], 0x47);
			fx_expect_cqe(&x, 1, IW_WC_LOC_PROT_ERR);
			fx_expect_cqe(&x, 2, IW_WC_WR_FLUSH_ERR);
		} else {
			assert_int_equal(zcopy_pull(&x), cases[i].ref);
			assert_ptr_equal(x.msg.ref, cases[i].ref ? x.mem : NULL);
			assert_memory_equal(x.out + 16, x.mem, x.out_len - 16);
			fx_no_cqe(&x);
		}
		assert_int_equal(zcopy_references(&x), cases[i].ref != 0);
		fx_hole = NULL;
		zcopy_stop(&x);
	}
}

static int probe_nothing(const void *src, size_t len)
{
	return -EFAULT;
}

/* Memory that cannot be referenced is copied, and the WQE still waits. */
static void copied_instead(void **state)
{
	struct fx x;

	zcopy_start(&x);
	x.rnic->ops.probe = probe_nothing;
	zcopy_post(&x, 1, 1000);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_memory_equal(x.out + 16, x.mem, 1000);
	assert_false(zcopy_references(&x));
	fx_no_cqe(&x);
	zcopy_ack(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

static void inline_data(void **state)
{
	struct iw_send_wqe *w;
	struct fx x;

	zcopy_start(&x);
	x.rnic->config.zcopy_min = 10;
	probes = 0;
	w = fx_begin(&x, 1, IW_WR_SEND, 0, 0, 0, 0, IW_SEND_INLINE);
	w->length = 60;
	memset(w->sge, 'i', 60);
	fx_publish(&x);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_int_equal(x.out[20 + 59], 'i');
	assert_int_equal(probes, 0);
	zcopy_ack(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	zcopy_stop(&x);
}

/* Each segment is referenced or copied. The WQE waits for the last one, which was copied. */
static void long_message(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post(&x, 1, LONG);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(zcopy_pull(&x), CUT);
		assert_ptr_equal(x.msg.ref, x.mem + (size_t)i * CUT);
	}
	assert_int_equal(zcopy_pull(&x), 0); /* less than ZCOPY_MIN */
	zcopy_ack(&x, 3);		     /* all referenced segments */
	fx_no_cqe(&x);
	zcopy_ack(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	assert_int_equal(n_copy_outs, 0);
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

/* Only the end of a message can be referenced: no bytes may follow the reference. */
static void several_sges(void **state)
{
	static const struct {
		uint32_t lens[4];
		uint8_t n;
		uint32_t ref[2]; /* of each segment */
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
		post_gathered(&x, 1, cases[i].lens, cases[i].n);
		do {
			uint32_t ref = zcopy_pull(&x);

			assert_int_equal(ref, cases[i].ref[cut]);
			if (ref)
				assert_ptr_equal(x.msg.ref, x.mem + cases[i].offset[cut]);
			assert_memory_equal(x.out + 16, x.mem + at, x.out_len - 16);
			at += (unsigned int)x.out_len - 16;
			cut++;
		} while (!(x.out[2] & DDP_LAST));
		fx_no_cqe(&x);
		zcopy_ack(&x, cut);
		fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
		zcopy_stop(&x);
	}
}

/* ---- the messages equal those of a copy ---- */

#define DUMP 40000

/* Dumps the messages of an RNIC that may reference or not. Returns how many do. */
static unsigned int dump(uint8_t *to, size_t *len, uint8_t opcode, bool may_reference)
{
	struct rdmap_read_request r = { .sink_stag = 0x77, .sink_to = 0x1234, .size = LONG };
	unsigned int ref = 0;
	uint8_t request[28], m[64];
	struct fx x;

	zcopy_start(&x);
	x.msg.may_reference = may_reference;
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
	static const uint8_t opcodes[] = { IW_WR_RDMA_WRITE, IW_WR_SEND, IW_WR_SEND_WITH_INV,
					   IW_WR_RDMA_WRITE_WITH_IMM, IW_WR_RDMA_READ };
	static uint8_t copied[DUMP], ref[DUMP];
	size_t copied_len, ref_len;

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		assert_int_equal(dump(copied, &copied_len, opcodes[i], false), 0);
		assert_int_equal(dump(ref, &ref_len, opcodes[i], true), 9);
		assert_int_equal(copied_len, ref_len);
		assert_true(copied_len > 3 * LONG);
		assert_memory_equal(copied, ref, ref_len);
	}
}

/* ---- completion ---- */

/* Both counts are modulo 2^32, and the last acknowledgement may be long ago. */
static void complete_when_placed(void **state)
{
	static const uint64_t pulled[] = { 1,		0x7ffffffe, 0x80000000, 0x80000005,
					   0xfffffffd,	0xfffffffe, 0xffffffff, 0x100000000,
					   0x180000000, 0x380000007 };

	for (size_t i = 0; i < sizeof(pulled) / sizeof(pulled[0]); i++) {
		struct fx x;

		zcopy_start(&x);
		x.assoc->pulled = x.assoc->placed = x.acked = (uint32_t)pulled[i];
		zcopy_post_some(&x, 1, 6, 1000);
		for (unsigned int k = 0; k < 6; k++)
			assert_int_equal(zcopy_pull(&x), 1000);
		fx_no_cqe(&x);
		zcopy_ack(&x, 0);
		fx_no_cqe(&x);
		for (unsigned int k = 1; k <= 4; k++) {
			zcopy_ack(&x, 1);
			fx_expect_cqe(&x, k, IW_WC_SUCCESS);
			fx_no_cqe(&x);
		}
		zcopy_ack(&x, 2);
		fx_expect_cqes(&x, 5, 2, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		assert_int_equal(n_copy_outs, 0);
		zcopy_stop(&x);
	}
}

/* Later WQEs wait, whether they reference or not; so do answered reads. */
static void in_posting_order(void **state)
{
	uint8_t m[64];
	struct fx x;

	zcopy_start(&x);
	zcopy_post(&x, 1, 2000);
	zcopy_post(&x, 2, 10);
	fx_post(&x, 3, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	fx_post(&x, 4, IW_WR_SEND, x.base, 4, 0, 0, 0);
	assert_int_equal(zcopy_pull(&x), CUT);
	while (iw_rc_tx_find_work(iw_rc_of(x.qp)))
		zcopy_pull(&x);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "1234", 4));
	fx_no_cqe(&x);
	assert_int_equal(x.qp->sq.head, 0);
	zcopy_ack(&x, 1);
	fx_no_cqe(&x);
	zcopy_ack(&x, 1); /* the short segment of the first WQE */
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	zcopy_ack(&x, 1);
	fx_expect_cqes(&x, 2, 2, IW_WC_SUCCESS); /* a read request need not be placed */
	fx_no_cqe(&x);
	zcopy_ack(&x, 2);
	fx_expect_cqe(&x, 4, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	zcopy_stop(&x);
}

/* The Write with Immediate Data waits for its second message, which references nothing. */
static void immediate_data(void **state)
{
	for (unsigned int early = 0; early < 2; early++) {
		struct fx x;

		zcopy_start(&x);
		fx_post(&x, 1, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 1400, 1, 1, 0);
		assert_int_equal(zcopy_pull(&x), 1400);
		zcopy_ack(&x, early);
		fx_no_cqe(&x);
		assert_int_equal(zcopy_pull(&x), 0);
		fx_no_cqe(&x);
		zcopy_ack(&x, 1 - early);
		fx_no_cqe(&x);
		zcopy_ack(&x, 1);
		fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
		zcopy_stop(&x);
	}
}

/* In SQD the current WQE continues, and waits as usual. */
static void drained(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 2, LONG);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	iw_qp_notify_drained(x.qp);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(zcopy_pull(&x), i < 2 ? CUT : 0);
	assert_false(fx_pull(&x));
	assert_true(iw_qp_is_draining(x.qp));
	zcopy_ack(&x, 3);
	fx_no_event(&x);
	zcopy_ack(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_false(iw_qp_is_draining(x.qp));
	fx_event(&x, IW_EVENT_SQ_DRAINED);
	fx_no_event(&x);
	zcopy_stop(&x);
}

/* A Read Response may reference as well, and no WQE waits for it. */
static void read_response(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_ask(&x, 1, 999);
	assert_int_equal(zcopy_pull(&x), 0);
	assert_false(zcopy_references(&x));
	zcopy_ask(&x, 2, 2 * CUT);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_int_equal(zcopy_pull(&x), CUT);
	assert_true(zcopy_references(&x));
	x.msg.may_reference = false;
	zcopy_ask(&x, 3, 1400);
	assert_int_equal(zcopy_pull(&x), 0);
	x.msg.may_reference = true;
	zcopy_ack(&x, 4);
	fx_no_cqe(&x);
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
		cmocka_unit_test(what_is_referenced),	cmocka_unit_test(copied_instead),
		cmocka_unit_test(inline_data),		cmocka_unit_test(long_message),
		cmocka_unit_test(several_sges),		cmocka_unit_test(same_bytes),
		cmocka_unit_test(complete_when_placed), cmocka_unit_test(in_posting_order),
		cmocka_unit_test(immediate_data),	cmocka_unit_test(drained),
		cmocka_unit_test(read_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
