/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* Earliest time of a receipt (docs/wire.md): not before this side may send segments. */
#include "fixture/iw_promise.h"
#include "fixture/iw_session.h"

/*
 * RFC 6581 9: the establishment data of a peer-to-peer connection, with a Write as RTR indication.
 */
static const uint8_t by_write[4] = { 0x80, 4, 0x80, 4 };

/* Pulls the next message, a receipt. x->msg marks it for SCTP. */
static struct rdmap_receipt pull_receipt(struct fx *x)
{
	struct rdmap_receipt r;

	assert_true(fx_pull(x));
	assert_int_equal(x->out_len, 2 + 18 + RDMAP_RECEIPT_LEN);
	assert_memory_equal(x->out + 2, "\x41\x4f\0\0\0\0\0\0\0\4\0\0\0\1\0\0\0\0", 18);
	assert_true(x->msg.receipt);
	rdmap_get_receipt(&r, x->out + 20);
	return r;
}

/* Pulls the next message, a session Terminate, which is the last one. */
static void pull_end(struct fx *x)
{
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->out[3], SESSION_TERMINATE);
	assert_false(fx_pull(x));
}

/*
 * The passive side of a peer-to-peer connection has accepted. A Send without a receive overtook the
 * RTR indication.
 */
static void await_indication(struct promise *promise, struct fx *x)
{
	struct iw_session_param p = param(4, 4, "");
	uint8_t m[64];

	fx_start(x, false);
	promise_start(promise, x, true, 65536);
	fx_control(x, SESSION_ENHANCED_INITIATE, by_write, 4);
	x->session = fx_event(x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x->session, x->qp, &p), 0);
	assert_true(fx_pull(x));
	promise_ack(promise, 1, 1);
	fx_feed(x, 16, 2, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 0, "early", 5));
	/* Before the RTR indication, no SACK covers the Send: no SACK needs to wait. */
	assert_false(iw_assoc_owes_receipt(x->assoc));
	assert_false(fx_pull(x));
}

static void behind_the_indication(void **state)
{
	static struct promise promise;
	struct rdmap_receipt r;
	uint8_t m[64];
	struct fx x;

	await_indication(&promise, &x);
	fx_feed(&x, 16, 1, m, fx_make_tagged(m, 0xc1, 0x40, 0, 0, NULL, 0));
	assert_true(iw_assoc_owes_receipt(x.assoc));
	r = pull_receipt(&x);
	assert_true(r.waiting && r.msn == 1 && !r.final);
	assert_false(iw_assoc_owes_receipt(x.assoc));
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

static void not_without_the_indication(void **state)
{
	static struct promise promise;
	struct fx x;

	await_indication(&promise, &x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	pull_end(&x);
	assert_false(iw_assoc_owes_receipt(x.assoc));
	fx_stop(&x);
}

/* The active side ends the session before it has sent the RTR indication: nothing was delivered. */
static void indication_was_not_sent(void **state)
{
	static struct promise promise;
	struct iw_session_param p = param(4, 4, "");
	struct fx x;

	fx_start(&x, true);
	promise_start(&promise, &x, true, 65536);
	p.rtr = IW_RTR_WRITE;
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &x.session), 0);
	assert_true(fx_pull(&x));
	fx_control(&x, SESSION_ENHANCED_ACCEPT, by_write, 4);
	fx_event(&x, IW_EVENT_ACCEPT);
	iw_session_close(x.session);
	pull_end(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_the_indication),
		cmocka_unit_test(not_without_the_indication),
		cmocka_unit_test(indication_was_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
