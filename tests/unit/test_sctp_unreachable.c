/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Peers unreachable by ICMP, over a simulated network: true, forged and old errors. */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

#define INIT_QUOTED 20 /* bytes up to the Initiate Tag */

/* Writes the quotation of an ICMP error about the INIT of this association. */
static void quote_init(const struct sctp_assoc *a, uint8_t quoted[INIT_QUOTED])
{
	memset(quoted, 0, INIT_QUOTED);
	put_be16(quoted, a->ep->port);
	put_be16(quoted + 2, a->remote_port);
	quoted[WIRE_SCTP_COMMON_LEN] = WIRE_SCTP_INIT;
	put_be32(quoted + INIT_QUOTED - 4, a->local_tag);
}

/* Sends ICMP errors to a about its INIT to b: this number, at this time. */
static void forge(struct world *w, struct host *a, struct host *b, unsigned int count,
		  uint64_t when)
{
	const struct path_addr to = path_to(a, b);
	uint8_t quoted[INIT_QUOTED];

	quote_init(a->flows[a->flow_count - 1].a, quoted);
	while (count--)
		simnet_forge(w->net, a->node, &to, -ECONNREFUSED, quoted, sizeof(quoted), when);
}

/* No process or no route exists: the second packet confirms the error, and the connect fails. */
static void test_true(void **state)
{
	static const struct {
		enum simnet_state state;
		int error;
	} cases[] = { { SIMNET_GONE, -ECONNREFUSED }, { SIMNET_CUT, -EHOSTUNREACH } };
	uint64_t seed;

	ROWS("9260-10-02 6951-5.5-02");
	for (seed = 1; seed <= 20; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;
		uint64_t start;

		w->link[0].delay = w->link[1].delay = 1 + sim_random_below(&w->random, 100 * MSEC);
		simnet_set_state(w->net, b->node, cases[seed % 2].state);
		f = connect_to(a, b, 1);
		start = w->now;
		assert_true(run(w, SEC, all_ended));
		assert_int_equal(f->error, cases[seed % 2].error);
		assert_int_equal(w->link[0].packets, 2);
		/* Two round trips, and the time between the packets. */
		assert_in_range(w->now - start, 4 * w->link[0].delay + 10 * MSEC,
				4 * w->link[0].delay + 20 * MSEC + MSEC);
		world_free(w);
	}
}

/*
 * An attacker saw the INIT, and sends errors at one time, before or after the answer: the
 * association survives.
 */
static void test_forged(void **state)
{
	uint64_t seed;

	ROWS("9260-10-01 6951-5.5-01");
	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;

		w->link[0].delay = w->link[1].delay = 20 * MSEC;
		f = connect_to(a, b, 5);
		flush(w);
		forge(w, a, b, 1 + sim_random_below(&w->random, 50),
		      w->now + sim_random_below(&w->random, 60 * MSEC));
		assert_true(run(w, 5 * SEC, all_sent));
		assert_int_equal(f->error, 0);
		assert_int_equal(b->flow_count, 1);
		assert_int_equal(b->flows[0].received, 5);
		world_free(w);
	}
}

/* The peer's process starts between the two packets. */
static void test_comes_up(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(7, &a, &b);
	struct flow *f;

	w->link[0].delay = w->link[1].delay = MSEC;
	simnet_set_state(w->net, b->node, SIMNET_GONE);
	f = connect_to(a, b, 3);
	run(w, 5 * MSEC, NULL); /* the first error has arrived */
	assert_int_equal(f->a->setup.doubt.error, -ECONNREFUSED);
	simnet_set_state(w->net, b->node, SIMNET_UP);
	assert_true(run(w, 100 * MSEC, all_sent));
	assert_int_equal(f->error, 0);
	assert_int_equal(b->flows[0].received, 3);
	world_free(w);
}

/* Hosts limit the rate of errors: the second error is about the INIT sent by T1, or a later one. */
static void test_rate_limit(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(8, &a, &b);
	struct flow *f;
	uint64_t start;

	simnet_set_state(w->net, b->node, SIMNET_GONE);
	f = connect_to(a, b, 1);
	start = w->now;
	run(w, 5 * MSEC, NULL);
	simnet_set_state(w->net, b->node, SIMNET_SILENT);
	run(w, 500 * MSEC, NULL);
	assert_int_equal(f->error, 0);
	simnet_set_state(w->net, b->node, SIMNET_GONE);
	assert_true(run(w, 5 * SEC, all_ended));
	assert_int_equal(f->error, -ECONNREFUSED);
	assert_true(w->now - start >= SEC && w->now - start < 1100 * MSEC);
	world_free(w);
}

/* Errors never end an established association while its peer answers. */
static void test_established(void **state)
{
	static const int errors[] = { -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH, -EACCES };
	uint8_t quoted[8];
	struct host *a, *b;
	struct world *w = world_new(9, &a, &b);
	struct flow *f = connect_to(a, b, 1);
	const struct path_addr to = path_to(a, b);
	unsigned int i, j;

	ROWS("9260-10-01");
	assert_true(run(w, SEC, all_sent));
	put_be16(quoted, a->port);
	put_be16(quoted + 2, b->port);
	put_be32(quoted + 4, f->a->peer_tag);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 20; j++)
			simnet_forge(w->net, a->node, &to, errors[i], quoted, sizeof(quoted),
				     w->now + j * 50 * MSEC);
		run(w, 3 * SEC, NULL);
		assert_int_equal(f->error, 0);
	}
	/*
	 * A router reports a missing route, and is right for a while: less than the silent limit.
	 */
	simnet_set_state(w->net, b->node, SIMNET_CUT);
	f->to_send++;
	sctp_assoc_doorbell(f->a);
	run(w, 10 * SEC, NULL);
	assert_int_equal(f->error, 0);
	simnet_set_state(w->net, b->node, SIMNET_UP);
	assert_true(run(w, 20 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 2);
	world_free(w);
}

/* The peer refuses with a reason, which is kept if it is printable. */
static void test_reason(void **state)
{
	static const struct {
		const char *info, *kept;
		size_t len;
	} cases[] = {
		{ "sctpiw: llp = ip", "sctpiw: llp = ip", 16 },
		{ "", "", 0 },
		{ "a\nb", "", 3 },
		{ "\xff", "", 1 },
		{ "0123456789012345678901234567890123456789012345678901", "", 48 },
		{ "01234567890123456789012345678901234567890123456",
		  "01234567890123456789012345678901234567890123456", 47 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct host *a, *b;
		struct world *w = world_new(10, &a, &b);
		struct flow *f = connect_to(a, b, 1);
		const struct path_addr from = path_to(a, b);
		uint8_t packet[128] = { 0 };
		size_t cause, len;
		struct wire_sctp_common h = { b->port, a->port, f->a->local_tag };
		struct sctp_event ev;

		simnet_set_state(w->net, b->node, SIMNET_SILENT);
		flush(w);
		cause = wire_sctp_cause_put(packet + 16, WIRE_SCTP_CAUSE_USER_ABORT, cases[i].info,
					    cases[i].len);
		len = 4 + 4 + cases[i].len;
		wire_sctp_common_put(packet, &h);
		wire_sctp_chunk_put(packet + 12, WIRE_SCTP_ABORT, 0, len);
		wire_sctp_checksum_put(packet, 16 + cause);
		sctp_input(a->ep, &from, packet, 16 + cause, w->now, &a->rx);
		assert_true(sctp_next_event(a->s, &ev));
		assert_int_equal(ev.error, -ECONNREFUSED);
		assert_string_equal(sctp_assoc_reason(ev.assoc), cases[i].kept);
		assert_false(sctp_assoc_is_unreachable(ev.assoc));
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true),	    cmocka_unit_test(test_forged),
		cmocka_unit_test(test_comes_up),    cmocka_unit_test(test_rate_limit),
		cmocka_unit_test(test_established), cmocka_unit_test(test_reason),
	};

	return cmocka_run_group_tests_name("sctp_unreachable", tests, NULL, NULL);
}
