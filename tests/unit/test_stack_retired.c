// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* LINK: iwarp */
#include "iw_fixture.h"

/*
 * Our side of the session is over, and the peer's Terminate waits behind a gap for so long that its order is
 * given up. The peer knows of nothing of that: its next session may come on that stream. Not before it, a
 * late segment.
 */
static void initiate_on_a_retired_stream(void **state)
{
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 1, 1, 7);
	fx_feed(&x, 17, (uint16_t)(x.ssn + 1), "\0\4", 2);
	iw_session_close(x.session);
	fx_ack(&x, 1);
	assert_true(fx_pull(&x));
	fx_ack(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	x.now += 1000 * MSEC;
	iw_set_now(x.rnic, x.now);
	iw_timers(x.rnic, x.now);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_feed(&x, 17, x.ssn, "\0\4", 2);
	fx_feed(&x, 16, 0, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x", 15);
	fx_no_event(&x);
	fx_feed(&x, 17, 0, "\0\5\0\1\0\1", 6);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_refuse(ev.session);
	assert_true(fx_pull(&x));
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(initiate_on_a_retired_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
