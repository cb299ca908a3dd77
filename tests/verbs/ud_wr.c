/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: ud_wr_ca --node-type ca -- */
/* ALSO: ib.ud_wr --personality ib -- */
/* ibv_wr_* of UD queue pairs: each work request has its own address. */
#include <arpa/inet.h>

#include "ud_steps.h"

/* Sets n bytes of the buffer as the data of a work request, in one of four ways. */
static void set_data(struct ibv_qp_ex *ex, struct side *s, unsigned int way, uint32_t n)
{
	struct ibv_data_buf bufs[2] = { { s->buf, n / 2 }, { s->buf + n / 2, n - n / 2 } };
	struct ibv_sge list[2] = { sge_of(s->mr, s->buf, n / 2),
				   sge_of(s->mr, s->buf + n / 2, n - n / 2) };

	switch (way) {
	case 0:
		ibv_wr_set_sge(ex, s->mr->lkey, address(s->buf), n);
		break;
	case 1:
		ibv_wr_set_sge_list(ex, 2, list);
		break;
	case 2:
		ibv_wr_set_inline_data(ex, s->buf, n);
		break;
	case 3:
		ibv_wr_set_inline_data_list(ex, 2, bufs);
		break;
	}
}

/* Data and address may be set in any order. Each work request keeps its own address. */
static void test_any_order(void)
{
	struct ibv_ah *ah[2];
	struct side a, b[2];
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;

	ud_open(&a, NULL, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	ud_ready(&a);
	ex = ibv_qp_to_qp_ex(a.qp);
	CHECK(ex);
	fill(a.buf, 200, 9);
	for (int i = 0; i < 2; i++) {
		ud_open(&b[i], NULL, 0);
		ud_ready(&b[i]);
		ah[i] = ah_to(&a, &b[i]);
		for (uint64_t id = 0; id < 8; id++)
			ud_recv(&b[i], id, GRH + 200);
	}
	ibv_wr_start(ex);
	for (unsigned int i = 0; i < 16; i++) {
		ex->wr_id = i;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send_imm(ex, htonl(i));
		if (i / 8)
			set_data(ex, &a, i / 2 % 4, 20 + i);
		/* The last address counts. */
		ibv_wr_set_ud_addr(ex, ah[(i + 1) % 2], b[(i + 1) % 2].qp->qp_num, 0);
		ibv_wr_set_ud_addr(ex, ah[i % 2], b[i % 2].qp->qp_num, QKEY);
		if (!(i / 8))
			set_data(ex, &a, i / 2 % 4, 20 + i);
	}
	CHECK_EQ(ibv_wr_complete(ex), 0);
	for (unsigned int i = 0; i < 16; i++) {
		expect_sent(&a, i);
		expect_wc(b[i % 2].recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.byte_len, GRH + 20 + i);
		CHECK_EQ(ntohl(wc.imm_data), i);
		CHECK(filled(b[i % 2].buf + SIDE_BUF / 2 + GRH, 20 + i, 9));
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_destroy_ah(ah[i]), 0);
	close_side(&b[1]);
	close_pair(&a, &b[0]);
}

/* A work request without its own address is refused, with the whole list. */
static void test_without_address(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_ah *ah;
	struct side a, b;

	ud_open(&a, NULL, IBV_QP_EX_WITH_SEND);
	ud_ready(&a);
	ud_open(&b, NULL, 0);
	ud_ready(&b);
	ex = ibv_qp_to_qp_ex(a.qp);
	for (unsigned int i = 0; i < 12; i++) {
		ah = ah_to(&a, &b);
		ud_recv(&b, i, GRH + 200);
		ibv_wr_start(ex);
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		ibv_wr_set_ud_addr(ex, ah, b.qp->qp_num, QKEY);
		if (i / 4 == 0) { /* the previous work request has an address */
			ibv_wr_send(ex);
		} else if (i / 4 == 1) { /* that address was set in another list */
			CHECK_EQ(ibv_wr_complete(ex), 0);
			expect_sent(&a, 0);
			CHECK_EQ(ibv_destroy_ah(ah), 0);
			ibv_wr_start(ex);
			ibv_wr_send(ex);
		} else {
			ibv_wr_set_ud_addr(ex, NULL, b.qp->qp_num, QKEY);
		}
		set_data(ex, &a, i % 4, 20);
		if (i / 4 == 2 && i % 2)
			ibv_wr_send(ex);
		CHECK_EQ(ibv_wr_complete(ex), EINVAL);
		if (i / 4 != 1)
			CHECK_EQ(ibv_destroy_ah(ah), 0);
	}
	/* An address needs a work request. */
	ibv_wr_start(ex);
	ibv_wr_set_ud_addr(ex, NULL, b.qp->qp_num, QKEY);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	ibv_wr_set_ud_addr(ex, NULL, b.qp->qp_num, QKEY);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	expect_no_wc(a.send_cq, 20);
	close_pair(&a, &b);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "any_order", test_any_order },
		{ "without_address", test_without_address },
	};

	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
