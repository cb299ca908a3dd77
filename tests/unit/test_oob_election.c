/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * QPs connected out of band: which side initiates the session, and the effect of crossing
 * Initiates.
 */
#include "fixture/oob_host.h"

static struct oob_host *const h = &oob_host;

static void test_larger_initiates(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();
	struct oob_message m;
	uint16_t sid;

	oob_host_connect(qp, OOB_PEER_SMALLER);
	assert_non_null(h->opened);
	assert_int_equal(h->peer_port, OOB_PEER_SMALLER >> 8);
	assert_int_equal(h->path.udp_port, OOB_PEER_SMALLER >> 8);
	assert_true(conn_assoc_up(h->opened, true, 64, 1400));
	sid = oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, &m);
	assert_int_equal(m.src, qp->num);
	assert_int_equal(m.dst, OOB_PEER_SMALLER);
	assert_int_equal(m.token, 0);
	/* The peer's Initiate crosses the local one, and does not count. */
	oob_peer_says(h->opened, 1, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_SMALLER, qp->num);
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_REJECT, &m), 1);
	assert_int_equal(m.reason, OOB_CROSSED);
	oob_peer_says(h->opened, sid, 0, SESSION_ENHANCED_ACCEPT, OOB_PEER_SMALLER, qp->num);
	assert_int_equal(qp->state, IW_QPS_RTR);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	oob_peer_hears_nothing(h->opened);
	oob_peer_vanishes(h->opened);
	assert_int_equal(qp->state, IW_QPS_RTS);
	oob_host_qp_free(qp);
}

static void test_smaller_waits_and_yields(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();
	struct oob_message m;

	oob_host_connect(qp, OOB_PEER_LARGER);
	assert_null(h->opened);
	oob_host_wait(499);
	assert_null(h->opened);
	oob_host_wait(2);
	assert_non_null(h->opened);
	assert_true(conn_assoc_up(h->opened, true, 64, 1400));
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, &m), 0);
	/*
	 * The peer's Initiate crosses the local one, and counts. The local Initiate is withdrawn.
	 */
	oob_peer_says(h->opened, 1, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_says(h->opened, 0, 0, SESSION_ENHANCED_REJECT, OOB_PEER_LARGER, qp->num);
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_ACCEPT, &m), 1);
	assert_int_equal(m.src, qp->num);
	assert_int_equal(m.dst, OOB_PEER_LARGER);
	oob_peer_hears_nothing(h->opened);
	oob_peer_vanishes(h->opened);
	oob_host_qp_free(qp);
}

/*
 * Both Initiates use one stream, since neither SCTP knows which side opened the association. Both
 * sides then try once more, on separate streams.
 */
static void test_one_stream(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();
	struct oob_message m;

	oob_host_connect(qp, OOB_PEER_SMALLER);
	assert_true(conn_assoc_up(h->opened, true, 64, 1400));
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, NULL), 0);
	oob_peer_says(h->opened, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_SMALLER, qp->num);
	assert_int_equal(oob_peer_hears(h->opened, SESSION_TERMINATE, NULL), 0);
	oob_peer_says(h->opened, 0, 1, SESSION_TERMINATE, 0, 0);
	assert_int_equal(qp->state, IW_QPS_RTR);
	oob_host_wait(11);
	/* The peer's Initiate is on another stream now. */
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, &m) % 2, 0);
	assert_int_equal(m.src, qp->num);
	oob_peer_says(h->opened, 1, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_SMALLER, qp->num);
	assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_REJECT, &m), 1);
	assert_int_equal(m.reason, OOB_CROSSED);
	oob_peer_vanishes(h->opened);
	oob_host_qp_free(qp);
}

/*
 * If both QPs have the same number, the side that leaves the even streams yields; the other side
 * does not.
 */
static void test_one_stream_one_number(void **state)
{
	bool stayed = false, yielded = false;

	for (int i = 0; i < 200 && !(stayed && yielded); i++) {
		struct iw_qp *qp = oob_host_qp_new();
		struct oob_peer w = {
			.dest_qp_num = qp->num,
			.local = oob_host_address(8),
			.remote = oob_host_address(7),
			.ird = 1,
		};
		struct oob_message m;
		uint16_t sid;

		random_bytes(h->conn->random, &(uint8_t[3]){ 0 }, 1 + i % 3);
		assert_int_equal(oob_connect(h->conn, qp, &w), 0);
		assert_true(conn_assoc_up(h->opened, true, 64, 1400));
		assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, NULL), 0);
		oob_peer_says(h->opened, 0, 0, SESSION_ENHANCED_INITIATE, qp->num, qp->num);
		assert_int_equal(oob_peer_hears(h->opened, SESSION_TERMINATE, NULL), 0);
		oob_peer_says(h->opened, 0, 1, SESSION_TERMINATE, 0, 0);
		oob_host_wait(11);
		sid = oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, NULL);
		oob_peer_says(h->opened, !(sid % 2), 0, SESSION_ENHANCED_INITIATE, qp->num,
			      qp->num);
		if (sid % 2) {
			oob_peer_says(h->opened, sid, 0, SESSION_ENHANCED_REJECT, qp->num, qp->num);
			assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_ACCEPT, &m), 0);
			yielded = true;
		} else {
			assert_int_equal(oob_peer_hears(h->opened, SESSION_ENHANCED_REJECT, &m), 1);
			assert_int_equal(m.reason, OOB_CROSSED);
			stayed = true;
		}
		oob_peer_vanishes(h->opened);
		oob_host_qp_free(qp);
	}
	assert_true(stayed && yielded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_larger_initiates, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_smaller_waits_and_yields, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_one_stream, oob_host_setup, oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_one_stream_one_number, oob_host_setup,
						oob_host_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
