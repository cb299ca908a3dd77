/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Local messages: the bytes of every RDMA Message, and their order (RFC 5040 4, 5, 5.5). */
#include "fixture/iw_script.h"

#define KEY 0x11223344
#define TO UINT64_C(0x0123456789abcdef)

/* Every work request has an Invalidate STag, but only two messages have a field for it. */
static void every_opcode(void **state)
{
	ROWS("5040-3.1-01 5040-3.2-01 5040-4-01 5040-4.1-01 5040-4.1-02 5040-4.1-03"
	     " 5040-4.1-04 5040-4.1-05 5040-4.1-07 5040-4.1-09 5040-4.1-11 5040-4.1-12"
	     " 5040-4.1-13 5040-4.1-14 5040-4.1-15 5040-4.1-16 5040-4.1-17 5040-4.1-18"
	     " 5040-4.2-01 5040-4.2-02 5040-4.2-03 5040-4.4-01 5040-4.4-02 5040-4.4-03"
	     " 5040-4.8-01 5040-5.1-01 5040-5.2-01 5040-5.2.1-01 5040-5.2.1-06 5040-5.2.2-01"
	     " 5040-5.3-01 5040-5.3-08 5040-5.3-12 5040-5.4-01 5040-5.4-02 5040-A-01 5040-A-02");
	struct fx x;

	open_session(&x, 4, 4);
	memcpy(x.mem, "payload", 7);
	fx_post(&x, 1, IW_WR_SEND, x.base, 7, KEY, TO, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000 'payload'");
	fx_post(&x, 2, IW_WR_SEND, x.base, 7, KEY, TO, IW_SEND_SOLICITED);
	out(&x, "41 45 00000000  00000000 00000002 00000000 'payload'");
	fx_post(&x, 3, IW_WR_SEND_WITH_INV, x.base, 7, KEY, TO, 0);
	out(&x, "41 44 11223344  00000000 00000003 00000000 'payload'");
	fx_post(&x, 4, IW_WR_SEND_WITH_INV, x.base, 7, KEY, TO, IW_SEND_SOLICITED);
	out(&x, "41 46 11223344  00000000 00000004 00000000 'payload'");
	fx_post(&x, 5, IW_WR_RDMA_WRITE, x.base, 7, KEY, TO, 0);
	out(&x, "C1 40 11223344 0123456789ABCDEF 'payload'");
	fx_post(&x, 6, IW_WR_RDMA_READ, x.base + 100, 7, KEY, TO, 0);
	out(&x,
	    "41 41 00000000  00000001 00000001 00000000"
	    "  %w %q 00000007 11223344 0123456789ABCDEF",
	    x.stag, x.base + 100);
	in(&x,
	   "41 41 00000000  00000001 00000001 00000000"
	   "  DEADBEEF FEDCBA9876543210 00000007 %w %q",
	   x.stag, x.base);
	out(&x, "C1 42 DEADBEEF FEDCBA9876543210 'payload'");
	silent(&x);
	in(&x, "41 4C 55667788  00000000 00000001 00000000 'x'");
	out(&x, "41 47 00000000  00000002 00000001 00000000"
		"  0206C000 0013 41 4C 55667788  00000000 00000001 00000000");
	out_end(&x);
	fx_stop(&x);
}

/* A packet of 518 bytes has 496 bytes of payload untagged, and 500 tagged. */
static void every_opcode_in_segments(void **state)
{
	ROWS("5040-3.1-03 5040-3.1-05 5040-4.4-03 5040-4.5-01 5040-4.7-01 5040-5.1-01 5040-5.1-08"
	     " 5040-5.2-01 5040-5.2.2-07 5040-5.3-01 5040-5.3-12 5040-5.5-13");
	struct fx x;

	open_session(&x, 4, 4);
	iw_assoc_set_max_msg(x.assoc, 518);
	for (unsigned int i = 0; i < 1200; i++)
		x.mem[i] = (uint8_t)(i * 7 + i / 256);
	fx_post(&x, 1, IW_WR_SEND_WITH_INV, x.base, 1200, KEY, 0, IW_SEND_SOLICITED);
	out(&x, "01 46 11223344  00000000 00000001 00000000 %b", x.mem, (size_t)496);
	out(&x, "01 46 11223344  00000000 00000001 000001F0 %b", x.mem + 496, (size_t)496);
	no_completion(&x); /* not before DDP has all of it */
	out(&x, "41 46 11223344  00000000 00000001 000003E0 %b", x.mem + 992, (size_t)208);
	completions(&x, { 1, IW_WC_SUCCESS });
	fx_post(&x, 2, IW_WR_SEND, x.base, 500, 0, 0, 0);
	out(&x, "01 43 00000000  00000000 00000002 00000000 %b", x.mem, (size_t)496);
	out(&x, "41 43 00000000  00000000 00000002 000001F0 %b", x.mem + 496, (size_t)4);
	completions(&x, { 2, IW_WC_SUCCESS });
	fx_post(&x, 3, IW_WR_RDMA_WRITE, x.base, 1200, KEY, 0xfffffff0, 0);
	out(&x, "81 40 11223344 00000000FFFFFFF0 %b", x.mem, (size_t)500);
	out(&x, "81 40 11223344 00000001000001E4 %b", x.mem + 500, (size_t)500);
	no_completion(&x);
	out(&x, "C1 40 11223344 00000001000003D8 %b", x.mem + 1000, (size_t)200);
	completions(&x, { 3, IW_WC_SUCCESS });
	in(&x,
	   "41 41 00000000  00000001 00000001 00000000"
	   "  DEADBEEF 00000000FFFFFFF0 000004B0 %w %q",
	   x.stag, x.base);
	out(&x, "81 42 DEADBEEF 00000000FFFFFFF0 %b", x.mem, (size_t)500);
	out(&x, "81 42 DEADBEEF 00000001000001E4 %b", x.mem + 500, (size_t)500);
	out(&x, "C1 42 DEADBEEF 00000001000003D8 %b", x.mem + 1000, (size_t)200);
	silent(&x);
	no_completion(&x);
	fx_stop(&x);
}

static void nothing_is_a_message_too(void **state)
{
	ROWS("5040-1.1-01 5040-5.2.1-12 5040-5.2.1-14 5040-5.2.1-15 5040-5.3-10");
	struct fx x;

	open_session(&x, 4, 4);
	fx_post(&x, 1, IW_WR_SEND, 0, 0, 0, 0, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000");
	fx_post(&x, 2, IW_WR_SEND_WITH_INV, 0, 0, KEY, 0, 0);
	out(&x, "41 44 11223344  00000000 00000002 00000000");
	fx_post(&x, 3, IW_WR_RDMA_WRITE, 0, 0, KEY, TO, 0);
	out(&x, "C1 40 11223344 0123456789ABCDEF");
	fx_post(&x, 4, IW_WR_RDMA_READ, 0, 0, KEY, TO, 0);
	out(&x, "41 41 00000000  00000001 00000001 00000000"
		"  00000000 0000000000000000 00000000 11223344 0123456789ABCDEF");
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS }, { 3, IW_WC_SUCCESS });
	in(&x, "C1 42 00000000 0000000000000000");
	completions(&x, { 4, IW_WC_SUCCESS });
	in(&x, "41 41 00000000  00000001 00000001 00000000"
	       "  DEADBEEF 0123456789ABCDEF 00000000 FFFFFFFF FFFFFFFFFFFFFFFF");
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF");
	silent(&x);
	fx_no_event(&x);
	fx_stop(&x);
}

/* Four SGEs form one message. */
static void gathered_write(void **state)
{
	ROWS("5040-5.1-05");
	struct iw_send_wqe *w;
	struct fx x;

	open_session(&x, 0, 1);
	memcpy(x.mem, "abcdefghij", 10);
	w = fx_sq_slot(x.qp);
	*w = (struct iw_send_wqe){ .wr_id = 1,
				   .opcode = IW_WR_RDMA_WRITE,
				   .num_sge = 4,
				   .length = 7,
				   .rkey = KEY,
				   .remote_to = TO,
				   .flags = IW_SEND_SIGNALED };
	w->sge[0] = (struct iw_sge){ x.base + 8, 2, x.stag };
	w->sge[1] = (struct iw_sge){ x.base, 1, x.stag };
	w->sge[2] = (struct iw_sge){ x.base + 3, 3, x.stag };
	w->sge[3] = (struct iw_sge){ x.base + 1, 1, x.stag };
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	out(&x, "C1 40 11223344 0123456789ABCDEF 'ijadefb'");
	silent(&x);
	completions(&x, { 1, IW_WC_SUCCESS });
	fx_stop(&x);
}

/* Memory changes during a transfer. Lengths and offsets do not change. */
static void source_changes_under_way(void **state)
{
	ROWS("5040-5.5-05");
	uint8_t first[500];
	struct fx x;

	open_session(&x, 4, 0);
	iw_assoc_set_max_msg(x.assoc, 518);
	memset(x.mem, 'a', 600);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 600, KEY, TO, 0);
	out(&x, "81 40 11223344 0123456789ABCDEF %b", x.mem, (size_t)500);
	memcpy(first, x.out + 16, 500);
	memset(x.mem, 'b', 600);
	out(&x, "C1 40 11223344 %q %b", TO + 500, x.mem + 500, (size_t)100);
	for (unsigned int i = 0; i < 500; i++)
		assert_int_equal(first[i], 'a');
	/* a Write and the application write to the same sink */
	memset(x.mem, 0, FX_MEM);
	in(&x, "81 40 %w %q 'new'", x.stag, x.base + 100);
	memset(x.mem + 100, 'z', 6);
	in(&x, "C1 40 %w %q 'new'", x.stag, x.base + 103);
	assert_memory_equal(x.mem + 99, "\0zzznew\0", 8);
	fx_stop(&x);
}

/*
 * All programmes of four Sends, Writes and Reads, one of which or none is fenced, with an ORD of 1
 * and 2. The peer answers a read whenever nothing else arrives. A model gives the messages and
 * completions. Nothing is ever acknowledged.
 */
enum { STEPS = 4 };

struct programme {
	enum iw_wr_opcode op[STEPS];
	unsigned int fence; /* STEPS: none */
	unsigned int ord;
	/* the model */
	unsigned int sent, completed, sends, reads, outstanding, first_read;
	bool done[STEPS];
};

static bool may_leave(const struct programme *p)
{
	if (p->sent == STEPS)
		return false;
	if (p->fence == p->sent && p->outstanding)
		return false;
	return p->op[p->sent] != IW_WR_RDMA_READ || p->outstanding < p->ord;
}

static void leave(struct programme *p, struct fx *x)
{
	unsigned int i = p->sent++;

	p->done[i] = p->op[i] != IW_WR_RDMA_READ;
	switch (p->op[i]) {
	case IW_WR_SEND:
		out(x, "41 43 00000000  00000000 %w 00000000 %b", ++p->sends, x->mem + i,
		    (size_t)1);
		break;
	case IW_WR_RDMA_WRITE:
		out(x, "C1 40 11223344 %q %b", (uint64_t)i, x->mem + i, (size_t)1);
		break;
	default:
		p->outstanding++;
		out(x, "41 41 00000000  00000001 %w 00000000  %w %q 00000001 11223344 %q",
		    ++p->reads, x->stag, x->base + 100 + i, (uint64_t)i);
	}
}

static void answer(struct programme *p, struct fx *x)
{
	while (p->op[p->first_read] != IW_WR_RDMA_READ)
		p->first_read++;
	in(x, "C1 42 %w %q %b", x->stag, x->base + 100 + p->first_read, "r", (size_t)1);
	p->done[p->first_read++] = true;
	p->outstanding--;
}

static void expect_completed(struct programme *p, struct fx *x)
{
	for (; p->completed < STEPS && p->done[p->completed]; p->completed++) {
		struct iw_cqe cqe = fx_cqe(x);

		assert_int_equal(cqe.wr_id, p->completed);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
	}
	no_completion(x);
}

static void run_programme(struct programme *p)
{
	struct fx x;

	open_session(&x, 0, p->ord);
	memcpy(x.mem, "0123", STEPS);
	for (unsigned int i = 0; i < STEPS; i++) {
		bool read = p->op[i] == IW_WR_RDMA_READ;

		fx_post(&x, i, (uint8_t)p->op[i], x.base + i + (read ? 100 : 0), 1, KEY, i,
			p->fence == i ? IW_SEND_FENCE : 0);
	}
	do {
		while (may_leave(p)) {
			leave(p, &x);
			expect_completed(p, &x);
		}
		silent(&x);
		if (p->outstanding) {
			answer(p, &x);
			expect_completed(p, &x);
		}
	} while (p->completed < STEPS);
	silent(&x);
	iw_session_close(x.session);
	x.session = NULL;
	fx_ack(&x, STEPS);
	out_end(&x);
	fx_stop(&x);
}

static void posting_order(void **state)
{
	ROWS("5040-5.1-06 5040-5.2-01 5040-5.2.1-02 5040-5.2.1-07 5040-5.2.2-03 5040-5.3-09"
	     " 5040-5.5-06 5040-5.5-11 5040-5.5-12 5040-5.5-14 5040-5.5-20 5040-6.1-01 5040-6.1-04"
	     " 5040-6.1-05 5040-B-04");
	static const enum iw_wr_opcode kinds[] = { IW_WR_SEND, IW_WR_RDMA_WRITE, IW_WR_RDMA_READ };

	for (unsigned int n = 0; n < 3 * 3 * 3 * 3; n++) {
		for (unsigned int fence = 0; fence <= STEPS; fence++) {
			for (unsigned int ord = 1; ord <= 2; ord++) {
				struct programme p = { .fence = fence, .ord = ord };

				for (unsigned int i = 0, v = n; i < STEPS; i++, v /= 3)
					p.op[i] = kinds[v % 3];
				run_programme(&p);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode),
		cmocka_unit_test(every_opcode_in_segments),
		cmocka_unit_test(nothing_is_a_message_too),
		cmocka_unit_test(gathered_write),
		cmocka_unit_test(source_changes_under_way),
		cmocka_unit_test(posting_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
