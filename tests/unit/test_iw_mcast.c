/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* Multicast groups: attached QPs, and the copies that they get. */
#include "fixture/iw_fixture.h"

#include "iwarp/iw_mcast.h"
#include "iwarp/shard.h"
#include "wire/datagram.h"

#define QKEY 0x77
#define RECVS 4

static const struct ip_addr group = { .b = { [10] = 0xff, 0xff, 239, 1, 2, 3 } };
/* In the same hash bucket as the first group. */
static const struct ip_addr other = { .b = { [10] = 0xff, 0xff, 239, 1, 3, 2 } };
static const struct ip_addr sender = { .b = { [10] = 0xff, 0xff, 10, 0, 0, 9 } };

static struct iw_qp *ud_new(struct fx *x, uint32_t qkey)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .pd = x->pd,
				   .send_cq = x->cq,
				   .recv_cq = x->cq,
				   .max_send_wr = 1,
				   .max_recv_wr = RECVS,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };
	struct iw_qp *qp;

	assert_int_equal(iw_qp_new(x->iw, &attr, &qp), 0);
	iw_ud_set_qkey(qp, qkey);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), 0);
	return qp;
}

static void send_to(struct fx *x, const struct ip_addr *to, uint32_t src_qp, bool own)
{
	struct wire_ud u = { .dst_qp = IW_MCAST_QPN, .src_qp = src_qp, .qkey = QKEY };

	iw_mcast_receive(x->iw, &u, to, &sender, own);
}

/*
 * Returns the number of QPs that were offered a datagram since the last call. No QP has posted a
 * receive.
 */
static uint64_t offered(struct fx *x)
{
	static uint64_t before;
	uint64_t all = iw_ud_stats(x->iw)->no_receive, n = all - before;

	before = all;
	return n;
}

static void copies(void **state)
{
	struct iw_qp *a, *b, *stranger;
	bool first, last;
	struct fx x;

	fx_start(&x, false);
	a = ud_new(&x, QKEY);
	b = ud_new(&x, QKEY);
	stranger = ud_new(&x, QKEY + 1);
	offered(&x);
	send_to(&x, &group, 5, false);
	assert_int_equal(iw_ud_stats(x.iw)->no_qp, 1);
	assert_int_equal(iw_mcast_attach(a, &group, &first), 0);
	assert_true(first);
	assert_int_equal(iw_mcast_attach(b, &group, &first), 0);
	assert_false(first);
	assert_int_equal(iw_mcast_attach(b, &group, &first), 0);
	assert_false(first);
	assert_int_equal(iw_mcast_attach(stranger, &group, &first), 0);
	assert_int_equal(iw_mcast_attach(a, &other, &first), 0);
	assert_true(first);
	send_to(&x, &group, 5, false);
	assert_int_equal(offered(&x), 2);
	assert_int_equal(iw_ud_stats(x.iw)->bad_qkey, 1);
	send_to(&x, &other, 5, false);
	assert_int_equal(offered(&x), 1);

	/*
	 * A QP gets its own datagrams, unless it blocks them. The same QP number on another host is
	 * another sender.
	 */
	send_to(&x, &other, a->num, true);
	assert_int_equal(offered(&x), 1);
	a->blocks_own = true;
	send_to(&x, &other, a->num, true);
	assert_int_equal(offered(&x), 0);
	send_to(&x, &other, a->num, false);
	assert_int_equal(offered(&x), 1);

	assert_int_equal(iw_mcast_detach(b, &other, &last), -EINVAL);
	assert_int_equal(iw_mcast_detach(b, &group, &last), 0);
	assert_false(last);
	assert_int_equal(iw_mcast_detach(b, &group, &last), -EINVAL);
	send_to(&x, &group, 5, false);
	assert_int_equal(offered(&x), 1);
	/* A QP in RESET stays attached, and gets nothing. */
	assert_int_equal(iw_qp_modify(a, IW_QPS_RESET), 0);
	send_to(&x, &group, 5, false);
	assert_int_equal(offered(&x), 0);
	assert_int_equal(a->groups, 2);
	assert_int_equal(iw_mcast_detach(stranger, &group, &last), 0);
	assert_false(last);
	for (struct ip_addr ip; iw_mcast_detach_any(a, &ip, &last);)
		assert_true(last);
	assert_int_equal(a->groups, 0);
	assert_int_equal(x.iw->mcast.groups, 0);
	iw_qp_free(a);
	iw_qp_free(b);
	iw_qp_free(stranger);
	fx_stop(&x);
}

static void limits(void **state)
{
	struct iw_qp *qps[IW_MAX_MCAST_QP_ATTACH + 1];
	struct ip_addr ip = group;
	bool first, last;
	struct fx x;

	fx_start(&x, false);
	assert_int_equal(iw_mcast_attach(x.qp, &group, &first), -EINVAL); /* a connected QP */
	for (unsigned int i = 0; i <= IW_MAX_MCAST_QP_ATTACH; i++) {
		qps[i] = ud_new(&x, QKEY);
		assert_int_equal(iw_mcast_attach(qps[i], &group, &first),
				 i < IW_MAX_MCAST_QP_ATTACH ? 0 : -ENOMEM);
	}
	for (unsigned int i = 0; i < IW_MAX_MCAST_GRP; i++) {
		ip.b[13] = 77;
		ip.b[15] = (uint8_t)i;
		assert_int_equal(iw_mcast_attach(qps[0], &ip, &first),
				 i < IW_MAX_MCAST_GRP - 1 ? 0 : -ENOMEM);
	}
	for (unsigned int i = 0; i <= IW_MAX_MCAST_QP_ATTACH; i++) {
		while (iw_mcast_detach_any(qps[i], &ip, &last))
			;
		iw_qp_free(qps[i]);
	}
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
