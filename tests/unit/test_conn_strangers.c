/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * Associations that peers open without a session: at most CONN_STRANGERS_MAX remain, and the oldest
 * goes first.
 */
#include "conformance/rows.h"
#include "fixture/oob_host.h"

static struct oob_host *const h = &oob_host;

/* Returns a QP with a session on association *a, which is not a stranger then. */
static struct iw_qp *guest(struct conn_assoc **a)
{
	struct iw_qp *qp = oob_host_qp_new();

	oob_host_connect(qp, OOB_PEER_LARGER);
	*a = oob_peer_opens(OOB_PEER_LARGER >> 8, OOB_PEER_ADDRESS);
	oob_peer_says(*a, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num);
	oob_peer_hears(*a, SESSION_ENHANCED_ACCEPT, NULL);
	return qp;
}

/* Returns the first of n associations that the peer opens. */
static struct conn_assoc *strangers(unsigned int n)
{
	struct conn_assoc *first = oob_peer_opens(1, 8);

	while (--n)
		oob_peer_opens(1, 8);
	return first;
}

/* Checks that the oldest one is aborted before anything else happens. */
static void expect_abort(const struct conn_assoc *oldest)
{
	unsigned int before = h->aborts;

	assert_int_equal(conn_assoc_next_timeout(h->conn), h->conn->now);
	conn_assoc_timers(h->conn);
	assert_int_equal(h->aborts, before + 1);
	assert_ptr_equal(h->aborted, oldest);
	assert_int_equal(h->conn->strangers.count, CONN_STRANGERS_MAX);
	assert_true(conn_assoc_next_timeout(h->conn) > h->conn->now);
}

static void expect_no_abort(void)
{
	unsigned int before = h->aborts;

	conn_assoc_timers(h->conn);
	assert_int_equal(h->aborts, before);
}

static void finish(struct iw_qp *qp)
{
	conn_assoc_drop_all(qp_num_endpoint(h->conn, qp->num));
	oob_host_qp_free(qp);
}

static void test_without_sessions(void **state)
{
	struct conn_assoc *a, *first;
	struct iw_qp *qp = guest(&a);

	ROWS("5042-6.4.1-02 5042-6.4.2-01");
	assert_int_equal(h->conn->strangers.count, 0);
	first = strangers(CONN_STRANGERS_MAX);
	expect_no_abort();
	oob_peer_opens(1, 8);
	expect_abort(first);
	assert_true(conn_assoc_is_up(a));
	/* The session of this association ends: the association is the newest stranger now. */
	oob_peer_says(a, 0, 1, SESSION_TERMINATE, 0, 0);
	oob_peer_hears(a, SESSION_TERMINATE, NULL);
	assert_int_equal(h->conn->strangers.count, CONN_STRANGERS_MAX + 1);
	conn_assoc_timers(h->conn);
	assert_ptr_not_equal(h->aborted, a);
	finish(qp);
}

/* A live peer has time to close an idle association, or to finish its own shutdown. */
static void test_closing(void **state)
{
	struct conn_assoc *a, *first, *second;
	struct iw_qp *qp = guest(&a);

	ROWS("5042-6.4.2-01");
	first = oob_peer_opens(1, 8);
	second = oob_peer_opens(1, 8);
	conn_assoc_peer_closes(second);
	strangers(CONN_STRANGERS_MAX - 2);
	h->conn->now += 4000 * MSEC;
	expect_no_abort();
	assert_true(first->closing);
	oob_peer_opens(1, 8);
	expect_abort(first);
	oob_peer_opens(1, 8);
	expect_abort(second);
	finish(qp);
}

/*
 * A peer stays a stranger if it requests sessions, but never acknowledges their refusal or
 * rejection.
 */
static void test_turned_away(void **state)
{
	struct conn_assoc *a, *first, *second;
	struct iw_qp *qp = guest(&a);

	ROWS("5042-6.4.1-02");
	h->silent = true;
	first = oob_peer_opens(1, 8);
	second = oob_peer_opens(1, 8);
	oob_peer_says(first, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num ^ 1);
	oob_peer_hears(first, SESSION_ENHANCED_REJECT, NULL);
	oob_peer_says_enhanced(second, 0, 0, SESSION_ENHANCED_INITIATE, OOB_PEER_LARGER, qp->num,
			       &(struct session_enhanced){ .ird = 1, .peer_to_peer = true });
	/* the second peer's window even blocks the answer */
	assert_int_equal(iw_assoc_sessions(second->iw), 1);
	strangers(CONN_STRANGERS_MAX - 2);
	expect_no_abort();
	oob_peer_opens(1, 8);
	expect_abort(first);
	oob_peer_opens(1, 8);
	expect_abort(second);
	finish(qp);
}

/* If all have too many unacknowledged refusals, the one with the most goes. */
static void test_refused_too_often(void **state)
{
	struct conn_assoc *a, *worst = NULL;
	struct iw_qp *qp = guest(&a);

	ROWS("5042-6.4.1-02");
	h->silent = true;
	for (unsigned int n = 0; !iw_turned_too_many_away(h->conn->iw); n++) {
		a = oob_peer_opens(1, 8);
		if (n == 100)
			worst = a;
		for (int sid = 0; sid < 60 + (a == worst); sid++)
			oob_peer_says(a, (uint16_t)sid, 0, SESSION_ENHANCED_INITIATE,
				      OOB_PEER_LARGER, qp->num ^ 1);
	}
	assert_int_equal(conn_assoc_next_timeout(h->conn), h->conn->now);
	conn_assoc_timers(h->conn);
	assert_int_equal(h->aborts, 1);
	assert_ptr_equal(h->aborted, worst);
	assert_true(conn_assoc_next_timeout(h->conn) > h->conn->now);
	finish(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_sessions, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_closing, oob_host_setup, oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_turned_away, oob_host_setup,
						oob_host_teardown),
		cmocka_unit_test_setup_teardown(test_refused_too_often, oob_host_setup,
						oob_host_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
