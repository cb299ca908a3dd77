/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Negotiation of receipts (sctp/receipts.c), by INIT, INIT ACK and the cookie. */
#include "fixture/sctp_paths.h"
#include "fixture/sctp_receipts_user.h"
#include "fixture/sctp_script.h"
#include "sctp/tx_build.h"

static const struct wire_sctp_init *init_in(const struct packet *p, uint8_t type)
{
	static struct wire_sctp_init init;
	struct wire_sctp_chunk c = chunk_of(p, 0, type);

	assert_true(wire_sctp_init_get(&c, &init));
	return &init;
}

static const struct {
	uint8_t ours, of_peer;
	bool agreed;
} versions[] = {
	{ 1, 1, true },	 { 1, 2, true },  { 1, 255, true },
	{ 1, 0, false }, { 0, 1, false }, { 0, 0, false },
};

static void test_passive(void **state)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct wire_sctp_init init, ack;
		struct packet *p;

		receipts_user_start(versions[i].ours, versions[i].of_peer);
		init = our_init();
		p = init_exchange(&init);
		/* A peer that offers nothing gets no offer. */
		assert_int_equal(init_in(p, WIRE_SCTP_INIT_ACK)->receipts.version,
				 versions[i].of_peer ? versions[i].ours : 0);
		if (versions[i].agreed)
			assert_int_equal(init_in(p, WIRE_SCTP_INIT_ACK)->receipts.window,
					 RECEIPTS_USER_WINDOW);
		assert_false(init_in(p, WIRE_SCTP_INIT_ACK)->reports);
		read_init_ack(p, &ack);
		f.their_tag = ack.tag;
		begin();
		add_cookie_echo(&ack);
		sendp();
		assert_true(f.rx.up);
		assert_int_equal(receipts_user_agreed(), versions[i].agreed);
		teardown(state);
	}
}

static void test_active(void **state)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct wire_sctp_init init;
		struct packet *p;

		receipts_user_start(versions[i].ours, versions[i].of_peer);
		begin_connect();
		p = take();
		assert_int_equal(init_in(p, WIRE_SCTP_INIT)->receipts.version, versions[i].ours);
		if (versions[i].ours)
			assert_int_equal(init_in(p, WIRE_SCTP_INIT)->receipts.window,
					 RECEIPTS_USER_WINDOW);
		f.their_tag = init_in(p, WIRE_SCTP_INIT)->tag;
		init = our_init();
		begin();
		add_init(WIRE_SCTP_INIT_ACK, &init);
		add_param(WIRE_SCTP_PARAM_COOKIE, "cookie", 6);
		sendp();
		acknowledge_cookie();
		assert_int_equal(receipts_user_agreed(), versions[i].agreed);
		teardown(state);
	}
}

/* A longer parameter is a newer version; a shorter one is invalid. */
static void test_length(void **state)
{
	static const uint8_t value[12] = { 1, 0, 0, 0, 0, 1, 0x23, 0x45, 9, 9, 9, 9 };

	for (size_t len = 0; len <= sizeof(value); len++) {
		struct wire_sctp_init init, ack;

		receipts_user_start(1, 0);
		init = our_init();
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		add_param(WIRE_SCTP_PARAM_RECEIPTS, value, len);
		sendp();
		read_init_ack(take(), &ack);
		f.their_tag = ack.tag;
		begin();
		add_cookie_echo(&ack);
		sendp();
		assert_int_equal(receipts_user_agreed(), len >= 8);
		teardown(state);
	}
}

/*
 * Other stacks skip both silently (RFC 9260 3.2, 3.2.1). Without negotiation, this stack skips both
 * as well.
 */
static void test_others(void **state)
{
	assert_int_equal(WIRE_SCTP_PARAM_RECEIPTS >> 14, 2);
	assert_int_equal(WIRE_SCTP_HOLD >> 6, 2);
	receipts_user_start(1, 0);
	associate();
	assert_false(receipts_user_agreed());
	script("> Dtag / be 00 0008 P+0", "> Dtag / be 02 0008 00000000", "-");
	receipts_user_say(1, 1); /* receipts of the user have no effect */
	receipts_user.due = true;
	drop_all();
	script("> Dtag / 03 00 0010 D+0 00100000 0000 0000 / be 00 0008 P+9", "-");
	assert_int_equal(sctp_assoc_acked(f.a), 1);
	assert_int_equal(sctp_assoc_placed(f.a), 1);
	script("> Dtag" PEER_DATA(0), "< Ptag / 03 00 0010 P+0 ???????? 0000 0000", "-");
	script("> Dtag / 03 00 0010 D+1 00100000 0000 0000 / be 01 0008 P+9", "-");
	assert_int_equal(sctp_assoc_placed(f.a), 2);
	teardown(state);
}

/* A repeated cookie is no new negotiation. */
static void test_cookie_again(void **state)
{
	struct wire_sctp_init init, ack;

	receipts_user_start(1, 1);
	init = our_init();
	read_init_ack(init_exchange(&init), &ack);
	f.their_tag = ack.tag;
	conversation.dut_tsn = ack.tsn;
	conversation.peer_tsn = f.tsn;
	conversation.cookie_len = ack.cookie_len;
	memcpy(conversation.cookie, ack.cookie, ack.cookie_len);
	script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "-");
	receipts_user_say(2, 1);
	drop_all();
	script("> Dtag / 03 00 0010 D+1 00100000 0000 0000 / be 00 0008 P+0",
	       "> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "-");
	assert_int_equal(sctp_assoc_placed(f.a), 0);
	script("> Dtag" PEER_DATA(0));
	assert_true(receipts_user_taken());
	assert_int_equal(sctp_assoc_placed(f.a), 2);
	teardown(state);
}

/* INITs cross (RFC 9260 5.2.1): the peer's cookie contains its offer. */
static void test_crossing(void **state)
{
	for (unsigned int knows = 0; knows < 2; knows++) {
		struct wire_sctp_init init;

		receipts_user_start(1, (uint8_t)knows);
		begin_connect();
		keep_init();
		init = our_init();
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		sendp();
		assert_int_equal(keep_init_ack().receipts.version, knows);
		script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "state ESTABLISHED");
		assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
		assert_int_equal(receipts_user_agreed(), knows);
		teardown(state);
	}
}

/*
 * The peer's INIT of a collision had another tag and no offer; its cookie comes when the
 * association is up. Receipts were already announced to the user, so they stay on.
 */
static void test_late_collision(void **state)
{
	struct wire_sctp_init init;

	receipts_user_start(1, 1);
	begin_connect();
	keep_init();
	init = our_init();
	init.tag = 0x55555555;
	init.receipts.version = 0;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	keep_init_ack();
	init = our_init();
	begin();
	add_init(WIRE_SCTP_INIT_ACK, &init);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cookie", 6);
	sendp();
	script("drop", "> Dtag / 0b 00 0004", "state ESTABLISHED");
	assert_true(receipts_user_agreed());
	script("> Dtag / cookie-echo", "< 55555555 / 0b 00 0004");
	assert_true(receipts_user_agreed());
	teardown(state);
}

/* The peer restarts (RFC 9260 5.2.4 A): all SACKs on hold were for its predecessor. */
static void test_restart(void **state)
{
	for (unsigned int knows = 0; knows < 2; knows++) {
		struct wire_sctp_init init, ack;

		receipts_user_setup(state);
		receipts_user_say(2, 1);
		drop_all();
		script("> Dtag / 03 00 0010 D+0 00100000 0000 0000 / be 00 0008 P+5",
		       "> Dtag / 03 00 0010 D+1 00100000 0000 0000 / be 00 0008 P+6");
		f.receipts.version = (uint8_t)knows;
		init = our_init();
		init.tag = f.tag = 0x66666666;
		read_init_ack(init_exchange(&init), &ack);
		f.their_tag = ack.tag;
		begin();
		add_cookie_echo(&ack);
		sendp();
		assert_true(f.rx.restart);
		assert_int_equal(receipts_user_agreed(), knows);
		assert_int_equal(sctp_assoc_placed(f.a), 0);
		assert_int_equal(sctp_receipts_hold_len(f.a), receipts_user.due && knows ? 8 : 0);
		assert_false(f.a->receipts.oldest.on || f.a->receipts.newest.on);
		wait_ns(10 * SEC); /* no SACK is requested */
		drop_all();
		assert_false(receipts_user_taken());
		teardown(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passive),	       cmocka_unit_test(test_active),
		cmocka_unit_test(test_length),	       cmocka_unit_test(test_others),
		cmocka_unit_test(test_cookie_again),   cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_late_collision), cmocka_unit_test(test_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
