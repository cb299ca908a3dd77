/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Streams whose local session is over, while the peer's end is late by more than a second. These
 * streams are retired. They are reusable once all messages of the peer have arrived, in any order.
 */
#include "fixture/iw_fixture.h"

#include "conformance/rows.h"
#include "iwarp/assoc.h"
#include "iwarp/rnic.h"
#include "iwarp/session.h"

static const char segment[] = "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x";

static void feed_segment(struct fx *x, uint16_t ssn)
{
	fx_feed(x, 16, ssn, segment, 15);
}

static void feed_terminate(struct fx *x, uint16_t ssn)
{
	fx_feed(x, 17, ssn, "\0\4", 2);
}

/* The application closes, and the local Terminate arrives. */
static void end_our_side(struct fx *x)
{
	iw_session_close(x->session);
	assert_true(fx_pull(x));
	fx_ack(x, 1);
}

static void retire(struct fx *x)
{
	assert_int_equal(iw_assoc_sessions(x->assoc), 1);
	x->now += 1000 * MSEC;
	iw_set_now(x->iw, x->now);
	iw_timers(x->iw, x->now);
	assert_int_equal(iw_assoc_sessions(x->assoc), 0);
	if (iw_assoc_session(x->assoc, x->sid)) /* takes no other memory */
		assert_null(x->session->rx.order.slots);
}

static bool is_retired(struct fx *x)
{
	return iw_assoc_session(x->assoc, x->sid);
}

/* Checks that the stream is idle: it accepts the same messages as an unused stream. */
static void stop_idle(struct fx *x)
{
	struct iw_event ev;

	assert_null(iw_assoc_session(x->assoc, x->sid));
	feed_segment(x, 7); /* not in any session */
	fx_no_event(x);
	fx_feed(x, 17, 0, "\0\5\0\1\0\1", 6);
	ev = fx_event(x, IW_EVENT_INITIATE);
	iw_session_refuse(ev.session);
	assert_true(fx_pull(x));
	assert_memory_equal(x->out, "\0\0\0\4", 4);
	fx_stop(x);
}

/*
 * A peer need not answer the local Terminate with a Terminate (RFC 5043 6.2). An Initiate shows the
 * peer's end, but a segment does not.
 */
static void initiate_on_a_retired_stream(void **state)
{
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 1, 1, 7);
	end_our_side(&x);
	retire(&x);
	feed_segment(&x, (uint16_t)(x.ssn + 1));
	feed_segment(&x, x.ssn);
	feed_segment(&x, 0);
	fx_no_event(&x);
	assert_true(is_retired(&x));
	fx_feed(&x, 17, 0, "\0\5\0\1\0\1", 6);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_refuse(ev.session);
	assert_true(fx_pull(&x));
	fx_stop(&x);
}

/* The Terminate waited after a gap, which is filled at last. */
static void a_late_gap(void **state)
{
	struct fx x;

	ROWS("5043-6.6-04");
	fx_passive(&x, 1, 1, 7);
	feed_segment(&x, (uint16_t)(x.ssn + 2));
	feed_terminate(&x, (uint16_t)(x.ssn + 3));
	end_our_side(&x);
	retire(&x);
	feed_segment(&x, (uint16_t)(x.ssn + 1));
	assert_true(is_retired(&x)); /* one is still in flight */
	feed_segment(&x, x.ssn);
	stop_idle(&x);
}

/* All messages come later, the last one first, and DDP-SSNs wrap. */
static void a_late_end(void **state)
{
	static const uint16_t ssn[] = { 1, 0xfffd, 0xfffa };
	unsigned int n, i;

	ROWS("5043-6.6-04");
	for (n = 0; n < 3; n++) {
		struct fx x;

		fx_passive(&x, 1, 1, 7);
		x.session->rx.ssn = x.ssn = ssn[n];
		end_our_side(&x);
		retire(&x);
		feed_terminate(&x, (uint16_t)(x.ssn + 5));
		for (i = 5; i-- > 0;) {
			assert_true(is_retired(&x));
			feed_segment(&x, (uint16_t)(x.ssn + i));
		}
		stop_idle(&x);
	}
}

/* The peer had many messages to send. */
static void a_long_end(void **state)
{
	struct fx x;

	fx_passive(&x, 1, 1, 7);
	end_our_side(&x);
	retire(&x);
	for (unsigned int i = 0; i < 100000; i++)
		feed_segment(&x, (uint16_t)(x.ssn + (i ^ 1)));
	feed_terminate(&x, (uint16_t)(x.ssn + 100001));
	assert_true(is_retired(&x));
	feed_segment(&x, (uint16_t)(x.ssn + 100000));
	stop_idle(&x);
}

/* Placement in order stores whole messages, which count as well. */
static void kept_in_order(void **state)
{
	struct fx x;

	fx_passive(&x, 1, 1, 7);
	x.rnic->config.in_order = true;
	feed_segment(&x, (uint16_t)(x.ssn + 1));
	feed_terminate(&x, (uint16_t)(x.ssn + 3));
	end_our_side(&x);
	feed_segment(&x, (uint16_t)(x.ssn + 2)); /* counted only: the session closes */
	retire(&x);
	assert_null(x.session->rx.early.first);
	assert_true(is_retired(&x));
	feed_segment(&x, x.ssn);
	stop_idle(&x);
}

/* No message may follow a Terminate. A peer that violates this only harms itself. */
static void behind_the_end(void **state)
{
	struct fx x;

	fx_passive(&x, 1, 1, 7);
	feed_terminate(&x, (uint16_t)(x.ssn + 1));
	feed_segment(&x, (uint16_t)(x.ssn + 2));
	end_our_side(&x);
	retire(&x);
	feed_segment(&x, x.ssn);
	fx_no_event(&x);
	stop_idle(&x);
}

/* The local messages must have arrived, too. */
static void unacknowledged(void **state)
{
	struct fx x;

	ROWS("5043-6.6-04");
	fx_passive(&x, 1, 1, 7);
	feed_terminate(&x, (uint16_t)(x.ssn + 1));
	iw_session_close(x.session);
	assert_true(fx_pull(&x));
	retire(&x);
	feed_segment(&x, x.ssn);
	assert_true(is_retired(&x));
	fx_ack(&x, 1);
	stop_idle(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(initiate_on_a_retired_stream),
		cmocka_unit_test(a_late_gap),
		cmocka_unit_test(a_late_end),
		cmocka_unit_test(a_long_end),
		cmocka_unit_test(kept_in_order),
		cmocka_unit_test(behind_the_end),
		cmocka_unit_test(unacknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
