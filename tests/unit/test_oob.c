/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * QPs connected out of band: refused connections, Initiates of strangers, early Initiates, late or
 * lost peers, and unused associations.
 */
#include "fixture/oob_host.h"

static struct oob_host *const h = &oob_host;

static void expect_untouched(const struct iw_qp *qp)
{
	assert_int_equal(qp->state, IW_QPS_INIT);
	assert_null(qp->oob);
	assert_int_equal(h->conn->oob.n, 0);
	assert_true(qp_num_endpoint(h->conn, qp->num)->dormant);
	assert_int_equal(oob_next_timeout(h->conn), TIME_NEVER);
}

/* A QP that cannot be connected keeps its state, and so does its port. */
static void test_refused(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();

	h->accept_error = -EMFILE;
	assert_int_equal(oob_host_try_connect(qp, OOB_PEER_LARGER), -EMFILE);
	expect_untouched(qp);
	h->accept_error = 0;
	assert_int_equal(oob_host_try_connect(qp, 5), -EINVAL); /* no port */
	expect_untouched(qp);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RESET), 0);
	assert_int_equal(oob_host_try_connect(qp, OOB_PEER_LARGER), -EINVAL);
	assert_int_equal(qp->state, IW_QPS_RESET);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	expect_untouched(qp);
	oob_host_connect(qp, OOB_PEER_LARGER);
	assert_int_equal(qp->state, IW_QPS_RTR);
	oob_host_qp_free(qp);
}

static void test_strangers(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();
	struct oob_message m;
	struct conn_assoc *a;

	oob_host_connect(qp, OOB_PEER_LARGER);
	/* The sender has another address, another port, or another QP of that port. */
	a = oob_peer_opens(OOB_PEER_LARGER >> 8, 8);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	oob_peer_vanishes(a);
	a = oob_peer_opens((OOB_PEER_LARGER >> 8) + 1, OOB_PEER_ADDRESS);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	oob_peer_vanishes(a);
	a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER + 1, qp->num);
	oob_peer_hears(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_STRANGER);
	/* The QP does not exist. */
	oob_peer_says(a, 2, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num ^ 1);
	oob_peer_hears(a, SESSION_ENHANCED_REJECT, &m);
	assert_int_equal(m.reason, OOB_NO_QP);
	/* The sender is the right one, but announces an RTR indication, which sctpiw never does. */
	oob_peer_says_enhanced(
		a, 4, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num,
		&(struct session_enhanced){ .ird = 1, .peer_to_peer = true, .rtr_write = true });
	oob_peer_hears(a, SESSION_TERMINATE, NULL);
	/* The sender announces an indication of no kind. */
	oob_peer_says_enhanced(a, 6, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num,
			       &(struct session_enhanced){ .ird = 1, .peer_to_peer = true });
	oob_peer_hears(a, SESSION_TERMINATE, NULL);
	/* After all this, the right peer still gets the QP. */
	oob_peer_says(a, 8, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears(a, SESSION_ENHANCED_ACCEPT, &m);
	oob_peer_vanishes(a);
	oob_host_qp_free(qp);
}

static void test_early_ones_are_kept(void **state)
{
	struct iw_qp *first = oob_host_qp_new(), *qp = oob_host_qp_new();
	struct oob_message m;
	struct conn_assoc *a;

	oob_host_connect(first, OOB_PEER_LARGER + 1); /* opens the port */
	a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears_nothing(a);
	assert_int_equal(h->conn->oob.n_early, 1);
	/* The peer withdraws the Initiate, and then sends more than are kept. */
	oob_peer_says(a, 0, 1, SESSION_TERMINATE, 0, 0);
	assert_int_equal(h->conn->oob.n_early, 0);
	oob_peer_hears(a, SESSION_TERMINATE, NULL);
	for (uint16_t i = 0; i < OOB_EARLY_PER_QP; i++)
		oob_peer_says(a, (uint16_t)(2 * i + 2), 0, SESSION_ENHANCED_INITIATE,
			      OOB_PEER_LARGER, qp->num);
	oob_peer_hears_nothing(a);
	oob_peer_says(a, 20, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	assert_int_equal(oob_peer_hears(a, SESSION_ENHANCED_REJECT, &m), 20);
	oob_host_connect(qp, OOB_PEER_LARGER);
	assert_int_equal(oob_peer_hears(a, SESSION_ENHANCED_ACCEPT, &m), 2);
	/* The other Initiates may be for a later session, and are freed with the QP. */
	assert_int_equal(h->conn->oob.n_early, OOB_EARLY_PER_QP - 1);
	oob_host_qp_free(qp);
	assert_int_equal(h->conn->oob.n_early, 0);
	oob_peer_vanishes(a);
	oob_host_qp_free(first);
}

static void send_one(struct iw_qp *qp)
{
	struct iw_send_wqe *wqe = iw_sq_slot(qp);

	*wqe = (struct iw_send_wqe){ .wr_id = 77, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED };
	iw_sq_publish(qp);
	iw_qp_doorbell(qp);
	oob_doorbell(qp);
}

static void test_peer_comes_too_late(void **state)
{
	struct oob_attr attr = { .rnr_retry = 7, .limit = 5000 * MSEC };
	struct iw_qp *qp = oob_host_qp_new();
	struct iw_cqe cqe;

	oob_host_connect(qp, OOB_PEER_LARGER);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	oob_set_attr(qp, &attr);
	oob_host_wait(60000); /* no WR was posted */
	oob_peer_vanishes(h->opened);
	assert_int_equal(qp->state, IW_QPS_RTS);
	send_one(qp);
	oob_host_wait(4999);
	assert_int_equal(qp->state, IW_QPS_RTS);
	oob_host_wait(2);
	assert_int_equal(qp->state, IW_QPS_ERR);
	assert_int_equal(iw_cq_poll(h->cq, 1, &cqe), 1);
	assert_int_equal(cqe.wr_id, 77);
	assert_int_equal(cqe.status, IW_WC_RETRY_EXC_ERR);
	oob_host_qp_free(qp);
	oob_peer_vanishes(h->opened);
}

/*
 * The peer ends the session. WRs posted later fail, but not at once. Outstanding WRs fail as well,
 * even if the QP is in SQD.
 */
static void test_peer_has_gone(void **state)
{
	struct oob_attr attr = { .rnr_retry = 7, .limit = 5000 * MSEC, .gone = 100 * MSEC };

	for (int turn = 0; turn < 3; turn++) {
		enum iw_qp_state at = turn == 2 ? IW_QPS_SQD : IW_QPS_RTS;
		bool early = turn > 0;
		struct iw_qp *qp = oob_host_qp_new();
		struct oob_message m;
		struct iw_cqe cqe;
		struct conn_assoc *a;

		oob_host_connect(qp, OOB_PEER_LARGER);
		a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
		oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
		oob_peer_hears(a, SESSION_ENHANCED_ACCEPT, &m);
		assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
		oob_set_attr(qp, &attr);
		if (early)
			send_one(qp);
		assert_int_equal(iw_qp_modify(qp, at), 0);
		oob_peer_says(a, 0, 1, SESSION_TERMINATE, 0, 0);
		oob_host_wait(60000 * (uint64_t)!early);
		assert_int_equal(qp->state, at);
		if (!early)
			send_one(qp);
		oob_host_wait(99);
		assert_int_equal(qp->state, at);
		assert_int_equal(iw_cq_poll(h->cq, 1, &cqe), 0);
		oob_host_wait(2);
		assert_int_equal(qp->state, IW_QPS_ERR);
		assert_int_equal(iw_cq_poll(h->cq, 1, &cqe), 1);
		assert_int_equal(cqe.status, IW_WC_RETRY_EXC_ERR);
		assert_int_equal(oob_next_timeout(h->conn), TIME_NEVER);
		oob_host_qp_free(qp);
		oob_peer_vanishes(a);
	}
}

/* A QP in error state initiates nothing. An Initiate waits for the QP's reset. */
static void test_in_error_it_rests(void **state)
{
	struct iw_qp *qp = oob_host_qp_new(), *other = oob_host_qp_new();
	struct oob_message m;
	struct conn_assoc *a;

	oob_host_connect(other, OOB_PEER_LARGER + 1); /* opens the port */
	oob_host_connect(qp, OOB_PEER_LARGER);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_ERR), 0);
	a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears_nothing(a);
	assert_int_equal(h->conn->oob.n_early, 1);
	oob_peer_vanishes(a);
	oob_host_qp_free(other);
	oob_host_wait(60000);
	assert_null(h->opened);
	assert_int_equal(oob_next_timeout(h->conn), TIME_NEVER);
	a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
	oob_peer_says(a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears_nothing(a);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RESET), 0);
	oob_disconnect(qp);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	oob_host_connect(qp, OOB_PEER_LARGER);
	oob_peer_hears(a, SESSION_ENHANCED_ACCEPT, &m);
	oob_peer_vanishes(a);
	oob_host_qp_free(qp);
}

/* The port stays open. An association without sessions is kept for the next QP, for two seconds. */
static void test_association_is_kept(void **state)
{
	struct iw_qp *qp = oob_host_qp_new();
	uint16_t sid;

	oob_host_connect(qp, OOB_PEER_SMALLER);
	assert_true(conn_assoc_up(h->opened, true, 64, 1400));
	sid = oob_peer_hears(h->opened, SESSION_ENHANCED_INITIATE, NULL);
	oob_peer_says(h->opened, sid, 0, SESSION_ENHANCED_ACCEPT, OOB_PEER_SMALLER, qp->num);
	oob_peer_says(h->opened, sid, 1, SESSION_TERMINATE, 0, 0);
	oob_peer_hears(h->opened, SESSION_TERMINATE, NULL);
	assert_int_equal(iw_assoc_sessions(h->opened->iw), 0);
	h->conn->now += 1999 * MSEC;
	conn_assoc_timers(h->conn);
	assert_null(h->shut);
	h->conn->now += 2 * MSEC;
	conn_assoc_timers(h->conn);
	assert_ptr_equal(h->shut, h->opened);
	oob_peer_vanishes(h->opened);
	oob_host_qp_free(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, oob_host_setup, oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_strangers, oob_host_setup, oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_early_ones_are_kept, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_peer_comes_too_late, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_peer_has_gone, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_in_error_it_rests, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_association_is_kept, oob_host_setup,
						oob_host_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
