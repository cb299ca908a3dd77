/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Fault handling, in the cases of ETSI TS 102 369 (sctp-fh). */
#include "fixture/sctp_script.h"

static void one_path(void)
{
	struct sctp_config config;

	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	setup_config(&config);
	associate();
}

/* Time passes, and the peer is silent. Returns the number of transmissions of this TSN. */
static unsigned int wait_silent(uint64_t until, uint32_t tsn)
{
	unsigned int n = 0;

	while (f.a && f.now < until) {
		struct packet *p;

		wait_ns(10 * MSEC);
		while ((p = take()))
			if (p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_DATA &&
			    get_be32(p->data + WIRE_SCTP_COMMON_LEN + 4) == tsn)
				n++;
	}
	return n;
}

static void expect_given_up(void)
{
	assert_null(f.a);
	assert_int_equal(f.error, -ETIMEDOUT);
	drop_all();
	script("> Dtag / 04 00 000c 0001 0008 12345678", "< Dtag / 06 01 0004", "-");
}

/* Unacknowledged DATA is repeated, and then the association ends. */
static void test_retransmissions(void **state)
{
	unsigned int n;

	ROWS("fh-i-5-1-1");
	one_path();
	script_post(1, 1000);
	n = wait_silent(f.now + 100 * SEC, conversation.dut_tsn);
	/* first transmission, tail-loss probes, and T3 after 1, 2, 4, 8 and 16 s */
	assert_in_range(n, 6, 12);
	expect_given_up();
}

/* A late acknowledgement costs nothing: the next DATA has the full time again. */
static void test_acknowledged_late(void **state)
{
	uint64_t start;

	ROWS("fh-i-5-1-2");
	one_path();
	script_post(1, 1000);
	assert_true(wait_silent(f.now + 20 * SEC, conversation.dut_tsn) >= 4);
	script("state ESTABLISHED", "> Dtag / 03 00 0010 D+0 00100000 0000 0000", "drop");
	start = f.now;
	script_post(1, 1000);
	assert_true(wait_silent(f.now + 20 * SEC, conversation.dut_tsn + 1) >= 4);
	script("state ESTABLISHED", "> Dtag / 03 00 0010 D+1 00100000 0000 0000", "drop");
	assert_true(f.now - start >= 20 * SEC);
	start = f.now;
	script_post(1, 1000);
	assert_true(wait_silent(f.now + 100 * SEC, conversation.dut_tsn + 2) >= 4);
	assert_in_range(f.now - start, 30 * SEC, 64 * SEC);
	expect_given_up();
}

static void test_heartbeat(void **state)
{
	ROWS("fh-v-5-2");
	one_path();
	script("> Dtag / 04 00 000c 0001 0008 01020304", "< Ptag / 05 00 000c 0001 0008 01020304",
	       "> Dtag / 04 00 0009 0001 0005 77000000", "< Ptag / 05 00 0009 0001 0005 77000000",
	       "> Dtag / 04 00 0130 0001 012c 5a*296", "< Ptag / 05 00 0130 0001 012c 5a*296",
	       "state ESTABLISHED", "-");
}

static void test_strange_data(void **state)
{
	ROWS("fh-o-5-3-1");
	script("> 00000001 / 00 07 0012 00000001 0000 0000 00000000 aabb 0000",
	       "< 00000001 / 06 01 0004", "-");
}

static void test_strange_abort(void **state)
{
	ROWS("fh-o-5-3-2");
	script("> 00000001 / 06 00 0004", "-", "> 00000001 / 06 01 0004", "-",
	       "> 00000001 / 08 00 0004", "< 00000001 / 0e 01 0004", "-");
}

static void test_strange_shutdown_ack(void **state)
{
	ROWS("fh-o-5-3-3");
	script("> 00000001 / 08 00 0004", "< 00000001 / 0e 01 0004", "-");
}

static void test_strange_shutdown_complete(void **state)
{
	ROWS("fh-o-5-3-4");
	script("> 00000001 / 0e 00 0004", "-", "> 00000001 / 0e 01 0004", "-",
	       "> 00000002 / 08 00 0004", "< 00000002 / 0e 01 0004", "-");
}

/*
 * An INIT from a multicast or broadcast address gets no answer (RFC 9260 8.4): all hosts would
 * receive the answer.
 */
static void test_init_from_a_group(void **state)
{
	static const uint8_t sources[][4] = { { 224, 0, 0, 1 }, { 255, 255, 255, 255 } };

	ROWS("9260-8.4-01");
	for (unsigned int i = 0; i < 2; i++) {
		struct path_addr from = f.path;

		from.remote = ip_addr_from_v4(sources[i]);
		script_say("INIT", &PEER_INIT[2], &from);
		script("-");
	}
}

static void test_cookie_from_a_group(void **state)
{
	static const uint8_t sources[][4] = { { 224, 0, 0, 1 }, { 255, 255, 255, 255 } };

	ROWS("fh-o-5-3-5");
	script(PEER_INIT);
	keep_init_ack();
	for (unsigned int i = 0; i < 2; i++) {
		struct path_addr from = f.path;

		from.remote = ip_addr_from_v4(sources[i]);
		script_say("COOKIE ECHO", "Dtag / cookie-echo", &from);
		assert_false(f.rx.up);
		assert_null(f.rx.assoc);
		script("-");
	}
	script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "state ESTABLISHED");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_retransmissions),
		PEER_TEST(test_acknowledged_late),
		PEER_TEST(test_heartbeat),
		PEER_TEST(test_strange_data),
		PEER_TEST(test_strange_abort),
		PEER_TEST(test_strange_shutdown_ack),
		PEER_TEST(test_strange_shutdown_complete),
		PEER_TEST(test_init_from_a_group),
		PEER_TEST(test_cookie_from_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
