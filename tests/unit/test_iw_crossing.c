/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Both sides initiate at once on the same streams, since each takes the initiator's role. The peer
 * is scripted.
 */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/assoc.h"
#include "iwarp/rnic.h"
#include "wire/session.h"

static struct iw_session *initiate(struct fx *x, const char *data)
{
	struct iw_session_param p = { .ird = 1, .ord = 1, .rnr_retry_count = 7 };
	struct iw_session *s;

	p.private_data_len = (uint16_t)strlen(data);
	memcpy(p.private_data, data, p.private_data_len);
	assert_int_equal(iw_session_initiate(x->assoc, x->qp, &p,
					     &(struct iw_session_user){ .ctx = x }, &s),
			 0);
	return s;
}

/* Checks that the next message is a control message with this function. Returns its stream. */
static uint16_t expect(struct fx *x, uint16_t function, uint16_t ssn)
{
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(get_be16(x->out), ssn);
	assert_int_equal(get_be16(x->out + 2), function);
	x->acked++;
	return x->msg.sid;
}

static void peer_initiates(struct fx *x, uint16_t sid, const char *data)
{
	uint8_t m[20] = { 0, 1, 0, 1 };

	memcpy(m + 4, data, strlen(data));
	x->sid = sid;
	x->ssn = 0;
	fx_control(x, SESSION_ENHANCED_INITIATE, m, 4 + strlen(data));
}

/*
 * Both Initiates were sent; the peer's private data is "m". we_stay: with the private data `ours`,
 * this side keeps the even streams.
 */
static void cross(const char *ours, bool we_stay)
{
	struct iw_event ev;
	struct fx x;

	fx_start(&x, true);
	initiate(&x, ours);
	assert_int_equal(expect(&x, SESSION_ENHANCED_INITIATE, 0), 0);
	peer_initiates(&x, 0, "m");
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -ECONNRESET);
	assert_int_equal(expect(&x, SESSION_TERMINATE, 1), 0);
	assert_false(fx_pull(&x));
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	/* The same QP, again. */
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_INIT);
	initiate(&x, ours);
	x.sid = expect(&x, SESSION_ENHANCED_INITIATE, 0);
	assert_int_equal(x.sid % 2, !we_stay);
	x.ssn = 0;
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\1\0\1", 4);
	fx_event(&x, IW_EVENT_ACCEPT);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	fx_no_event(&x);
	fx_stop(&x);
}

static void both_sent(void **state)
{
	ROWS("5043-6.1-03 5043-6.1-04 5043-6.1-06");

	cross("n", true);
	cross("l", false);
	cross("mm", true);
	cross("", false);
}

/* With equal private data, one of the two sides must change its role, and no rule selects it. */
static void both_say_the_same(void **state)
{
	bool stayed = false, went = false;

	for (int i = 0; i < 200 && !(stayed && went); i++) {
		struct fx x;

		fx_start(&x, true);
		random_bytes(x.iw->random, &(uint8_t[3]){ 0 }, 1 + i % 3);
		initiate(&x, "m");
		expect(&x, SESSION_ENHANCED_INITIATE, 0);
		peer_initiates(&x, 0, "m");
		fx_event(&x, IW_EVENT_CLOSED);
		*(x.assoc->initiator ? &stayed : &went) = true;
		fx_stop(&x);
	}
	assert_true(stayed && went);
}

/*
 * The local Initiate was not sent yet: it moves to another stream. The peer's Initiate is handled
 * as usual.
 */
static void ours_waits(void **state)
{
	for (uint16_t sid = 0; sid < 2; sid++) {
		struct iw_session *s;
		struct iw_event ev;
		struct fx x;

		fx_start(&x, !sid);
		s = initiate(&x, "ours");
		peer_initiates(&x, sid, "theirs");
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.private_data_len, 6);
		assert_ptr_not_equal(ev.session, s);
		assert_int_equal(expect(&x, SESSION_ENHANCED_INITIATE, 0), !sid);
		assert_memory_equal(x.out + 8, "ours", 4);
		assert_false(fx_pull(&x));
		assert_int_equal(iw_session_reject(ev.session, NULL, 0), 0);
		assert_int_equal(expect(&x, SESSION_ENHANCED_REJECT, 0), sid);
		x.sid = !sid;
		x.ssn = 0;
		fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\1\0\1", 4);
		ev = fx_event(&x, IW_EVENT_ACCEPT);
		assert_ptr_equal(ev.session, s);
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/* The local Initiate has no other stream, so it fails. */
static void nowhere_to_go(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_assoc *fixture;
	struct iw_event ev;
	struct fx x;

	fx_start(&x, true);
	fixture = x.assoc;
	x.assoc = iw_assoc_new(x.iw, &llp, &x, true, 1, 1452);
	initiate(&x, "ours");
	peer_initiates(&x, 0, "theirs");
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -ECONNRESET);
	fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_INIT);
	assert_false(fx_pull(&x));
	iw_assoc_lost(x.assoc, -ECONNRESET);
	x.assoc = fixture;
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sent),
		cmocka_unit_test(both_say_the_same),
		cmocka_unit_test(ours_waits),
		cmocka_unit_test(nowhere_to_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
