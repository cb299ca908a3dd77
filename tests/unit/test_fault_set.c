/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: faults */
/* VALGRIND: yes */
/*
 * The rules in force: which events have a fault, in which order, how often, and equally for equal
 * seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "faults/fault_set.h"
#include "util/time.h"

#define START (1000 * NSEC_PER_SEC)

static const struct fault_attrs nothing;

static uint32_t add(struct fault_set *s, const char *text)
{
	struct fault_reader r;
	struct fault_rule rule;
	struct fault_error err = { .text = "" };

	fault_reader_init(&r, text, strlen(text));
	if (fault_read(&r, &rule, &err) != 1)
		fail_msg("%s: %s", text, err.text);
	return fault_set_add(s, &rule, START);
}

/* Reports n events at one time. Returns which of them have a fault, as "..x.". */
static const char *ask_at(struct fault_set *s, enum fault_site site,
			  const struct fault_attrs *attrs, uint64_t now, unsigned int n)
{
	static char text[256];
	struct fault_action a;

	for (unsigned int i = 0; i < n; i++)
		text[i] = fault_set_ask(s, site, attrs, START + now, &a) ? 'x' : '.';
	text[n] = '\0';
	return text;
}

static const char *ask(struct fault_set *s, enum fault_site site, unsigned int n)
{
	return ask_at(s, site, &nothing, 0, n);
}

/* Checks the faults of one rule at successive events. */
static void expect(const char *rule, enum fault_site site, const char *expected)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, rule);
	assert_string_equal(ask(&s, site, (unsigned int)strlen(expected)), expected);
	fault_set_fini(&s);
}

static void counts(void **state)
{
	expect("packets: drop", FAULT_SITE_packet, "xxxxxxxx");
	expect("packets: drop", FAULT_SITE_reg_mr, "........");
	expect("3rd packet: drop", FAULT_SITE_packet, "..x.....");
	expect("after 2 packets: drop", FAULT_SITE_packet, "..xxxxxx");
	expect("every 3 packets: drop", FAULT_SITE_packet, "..x..x..");
	expect("every 3 packets, after 2: drop", FAULT_SITE_packet, "....x..x");
	expect("packets: drop, once", FAULT_SITE_packet, "x.......");
	expect("every 2 packets: drop, at most 2 times", FAULT_SITE_packet, ".x.x....");
	expect("packets: drop, probability 1", FAULT_SITE_packet, "xxxxxxxx");
	expect("packets: drop, probability 0", FAULT_SITE_packet, "........");
}

/*
 * A rule for all completions applies only to those that can have its status, and counts no others.
 */
static void status_of_some(void **state)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "2nd completion: complete with retry_exc_err");
	assert_string_equal(ask(&s, FAULT_SITE_receive, 2), "..");
	assert_string_equal(ask(&s, FAULT_SITE_bind, 2), "..");
	assert_string_equal(ask(&s, FAULT_SITE_send, 3), ".x.");
	fault_set_fini(&s);
}

/* A size limit applies only to packets that exceed it, and counts no others. */
static void limit_of_size(void **state)
{
	struct fault_attrs attrs = { .bytes = 1300 };
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "every 2 packets: limit size to 1300 B");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &attrs, 0, 4), "....");
	attrs.bytes = 1301;
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &attrs, 0, 4), ".x.x");
	fault_set_fini(&s);
}

static void any(void **state)
{
	expect("verbs: fail with EIO", FAULT_SITE_create_qp, "xx");
	expect("verbs: fail with EIO", FAULT_SITE_rdma_connect, "..");
	expect("completions: single", FAULT_SITE_write, "xx");
	expect("cm_events: drop", FAULT_SITE_established, "xx");
}

static void bytes(void **state)
{
	const struct fault_attrs attrs = { .bytes = 400 };
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "packets after 1 kB: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &attrs, 0, 6), "...xxx");
	fault_set_fini(&s);
}

static void times(void **state)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "packets after 3 s: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 3 * NSEC_PER_SEC - 1, 2), "..");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 3 * NSEC_PER_SEC, 2), "xx");
	fault_set_fini(&s);

	add(&s, "packets between 1 s and 2 s: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, NSEC_PER_SEC - 1, 1), ".");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, NSEC_PER_SEC, 1), "x");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 2 * NSEC_PER_SEC - 1, 1), "x");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 2 * NSEC_PER_SEC, 1), ".");
	fault_set_fini(&s);

	add(&s, "packets every 5 s for 1 s: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 4 * NSEC_PER_SEC - 1, 2), "..");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 4 * NSEC_PER_SEC, 2), "xx");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 5 * NSEC_PER_SEC, 2), "..");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 9 * NSEC_PER_SEC, 2), "xx");
	fault_set_fini(&s);

	add(&s, "packets every 5 s: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 0, 3), "x..");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 5 * NSEC_PER_SEC - 1, 2), "..");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &nothing, 5 * NSEC_PER_SEC, 2), "x.");
	fault_set_fini(&s);
}

/* A selector matches the named value, and no unknown value. */
static void select_one(const char *rule, enum fault_site site, struct fault_attrs right,
		       struct fault_attrs other)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, rule);
	right.known = other.known = s.entry[0]->rule.select.known;
	assert_string_equal(ask_at(&s, site, &right, 0, 1), "x");
	assert_string_equal(ask_at(&s, site, &other, 0, 1), ".");
	right.known = 0;
	assert_string_equal(ask_at(&s, site, &right, 0, 1), ".");
	fault_set_fini(&s);
}

static void selectors(void **state)
{
	const struct ip_addr a = { .b = { [15] = 1 }, .scope_id = 3 }, b = { .b = { [15] = 2 } };

#define SELECT(rule, site, member, right, other)                                                   \
	select_one(rule, FAULT_SITE_##site, (struct fault_attrs){ .member = right },               \
		   (struct fault_attrs){ .member = other })
	SELECT("writes qp 3: single", write, qp.number, 3, 4);
	SELECT("writes 2nd qp: single", write, qp.nth, 2, 3);
	SELECT("writes cq 3: single", write, cq.number, 3, 4);
	SELECT("writes 2nd cq: single", write, cq.nth, 2, 0);
	SELECT("post_srq_recv srq 3: fail with EIO", post_srq_recv, srq.number, 3, 4);
	SELECT("dereg_mr mr 3: fail with EIO", dereg_mr, mr, 3, 4);
	SELECT("established id 3: drop", established, id, 3, 4);
	SELECT("packets port 3: drop", packet, port, 3, 4);
	SELECT("packets peer-port 3: drop", packet, peer_port, 3, 4);
	SELECT("packets peer ::1: drop", packet, peer, a, b);
	SELECT("packets path ::1: drop", packet, path, a, b);
	SELECT("packets path ::1: drop", packet, path_remote, a, b);
	SELECT("packets in: drop", packet, direction, FAULT_IN, FAULT_OUT);
	SELECT("packets chunk sack: drop", packet, chunk, 1 << 3 | 1, 1);
	SELECT("post_send opcode read: fail with EIO", post_send, opcode, 4, 0);
	SELECT("modify_qp from init: fail with EIO", modify_qp, from, 1, 2);
	SELECT("modify_qp to rts: fail with EIO", modify_qp, to, 3, 2);
}

static bool has_second(const void *assoc, const struct ip_addr *addr)
{
	return !memcmp(addr->b, assoc, sizeof(addr->b));
}

/* A peer has several addresses. A rule with any of them matches. */
static void any_address_of_a_peer(void **state)
{
	static const struct ip_addr second = { .b = { [15] = 2 } };
	const struct fault_attrs packet = {
		.known = 1u << FAULT_SELECT_peer,
		.peer = { .b = { [15] = 1 } },
		.has_peer = has_second,
		.assoc = second.b,
	};
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "packets peer ::3: drop");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &packet, 0, 1), ".");
	add(&s, "packets peer ::2: drop, once");
	add(&s, "packets peer ::1: drop, once");
	assert_string_equal(ask_at(&s, FAULT_SITE_packet, &packet, 0, 3), "xx.");
	fault_set_fini(&s);
}

/* All kinds of calls have one common count. */
static void any_call(void **state)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "3rd call: fail with EIO");
	assert_true(fault_set_watches(&s, FAULT_SITE_reg_mr));
	assert_true(fault_set_watches(&s, FAULT_SITE_rdma_connect));
	assert_false(fault_set_watches(&s, FAULT_SITE_established));
	assert_string_equal(ask(&s, FAULT_SITE_reg_mr, 1), ".");
	assert_string_equal(ask(&s, FAULT_SITE_established, 1), ".");
	assert_string_equal(ask(&s, FAULT_SITE_rdma_connect, 1), ".");
	assert_string_equal(ask(&s, FAULT_SITE_reg_mr, 2), "x.");
	fault_set_fini(&s);
}

/* The first rule that fires wins; all rules count the event. */
static void several(void **state)
{
	struct fault_action a;
	struct fault_set s;

	fault_set_init(&s, 1);
	assert_int_equal(add(&s, "every 2 packets: drop"), 1);
	assert_int_equal(add(&s, "every 3 packets: duplicate"), 2);
	for (unsigned int i = 1; i <= 12; i++) {
		const struct fault_entry *e =
			fault_set_ask(&s, FAULT_SITE_packet, &nothing, START, &a);

		assert_int_equal(e ? e->number : 0, i % 2 == 0 ? 1 : i % 3 == 0 ? 2 : 0);
		if (e) {
			assert_int_equal(a.rule, e->number);
			assert_int_equal(a.id, e->rule.action.id);
		}
	}
	assert_int_equal(fault_set_find(&s, 1)->fired, 6);
	assert_int_equal(fault_set_find(&s, 2)->fired, 2);
	assert_int_equal(fault_set_find(&s, 2)->seen, 12);
	fault_set_fini(&s);
}

/* ---- dice ---- */

static void roll(uint64_t seed, const char *before, const char *rule, char text[201])
{
	struct fault_set s;
	struct fault_action a;

	fault_set_init(&s, seed);
	/* The rule before it draws from the random numbers. */
	add(&s, before);
	add(&s, rule);
	for (unsigned int i = 0; i < 200; i++) {
		const struct fault_entry *e =
			fault_set_ask(&s, FAULT_SITE_packet, &nothing, START, &a);

		text[i] = e && e->number == 2 ? 'x' : '.';
	}
	text[200] = '\0';
	fault_set_fini(&s);
}

/* The injector gets another random number each time, even for rules without a probability. */
static void numbers(void **state)
{
	struct fault_action a, b;
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "packets: corrupt");
	assert_non_null(fault_set_ask(&s, FAULT_SITE_packet, &nothing, START, &a));
	assert_non_null(fault_set_ask(&s, FAULT_SITE_packet, &nothing, START, &b));
	assert_true(a.random != b.random);
	fault_set_fini(&s);
}

static unsigned int count(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == 'x';
	return n;
}

static void seeds(void **state)
{
	char first[201], again[201], other[201], beside[201];
	const char *rule = "packets: drop, probability 0.3";

	roll(7, "sends: single", rule, first);
	roll(7, "sends: single", rule, again);
	roll(8, "sends: single", rule, other);
	roll(7, "packets: drop, probability 0", rule, beside);
	assert_string_equal(first, again);
	assert_string_equal(first, beside);
	assert_string_not_equal(first, other);
	assert_in_range(count(first), 40, 80);
	/* Two rules with the same text draw different random numbers, independent of each other. */
	roll(7, rule, rule, other);
	assert_in_range(count(other), 20, 60);
	for (unsigned int i = 0; i < 200; i++)
		assert_true(other[i] == '.' || first[i] == 'x');
}

/* Gilbert-Elliott: the rate of losses follows the two probabilities, and losses come in bursts. */
static void bursts(void **state)
{
	unsigned int losses = 0, runs = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		char text[201];

		roll(seed, "sends: single", "packets: drop, burst 0.02 to 0.2", text);
		losses += count(text);
		for (unsigned int i = 0; i < 200; i++)
			runs += text[i] == 'x' && (!i || text[i - 1] != 'x');
	}
	/* On average, 1 of 11 events is in the bad state, and 5 of these follow each other. */
	assert_in_range(losses, 20000 / 14, 20000 / 9);
	assert_in_range(losses / runs, 3, 7);
	expect("packets: drop, burst 1 to 0 loss 0", FAULT_SITE_packet, "........");
	expect("packets: drop, burst 1 to 1", FAULT_SITE_packet, "x.x.x.x.");
}

/* ---- timers ---- */

static unsigned int fire(struct fault_set *s, uint64_t now)
{
	struct fault_action a;
	unsigned int n = 0;

	while (fault_set_timer(s, START + now, &a))
		n++;
	return n;
}

static void timers(void **state)
{
	struct fault_action a;
	struct fault_set s;

	fault_set_init(&s, 1);
	assert_true(fault_set_due(&s) == TIME_NEVER);
	add(&s, "port down for 1 s");
	assert_true(fault_set_due(&s) == START);
	assert_int_equal(fault_set_timer(&s, START, &a)->number, 1);
	assert_int_equal(a.id, FAULT_DO_port_down);
	assert_int_equal(a.arg[fault_port_down_time], NSEC_PER_SEC);
	assert_int_equal(fire(&s, 1000 * NSEC_PER_SEC), 0);
	assert_true(fault_set_due(&s) == TIME_NEVER);

	add(&s, "every 5 s: port down for 1 s");
	assert_true(fault_set_due(&s) == START + 5 * NSEC_PER_SEC);
	assert_int_equal(fire(&s, 5 * NSEC_PER_SEC - 1), 0);
	assert_int_equal(fire(&s, 5 * NSEC_PER_SEC), 1);
	assert_true(fault_set_due(&s) == START + 10 * NSEC_PER_SEC);
	/* Missed times fire once. The next one comes on schedule. */
	assert_int_equal(fire(&s, 27 * NSEC_PER_SEC), 1);
	assert_true(fault_set_due(&s) == START + 30 * NSEC_PER_SEC);
	fault_set_fini(&s);

	add(&s, "after 3 s, every 2 s, on 2nd qp: fail qp, at most 2 times");
	assert_true(fault_set_due(&s) == START + 5 * NSEC_PER_SEC);
	assert_non_null(fault_set_timer(&s, START + 5 * NSEC_PER_SEC, &a));
	assert_int_equal(a.select.qp.nth, 2);
	assert_int_equal(a.select.known, 1u << FAULT_SELECT_qp);
	assert_int_equal(fire(&s, 7 * NSEC_PER_SEC), 1);
	assert_true(fault_set_due(&s) == TIME_NEVER);
	fault_set_fini(&s);

	add(&s, "every 1 ms: port down for 1 us, probability 0");
	assert_int_equal(fire(&s, NSEC_PER_SEC), 0);
	assert_true(fault_set_due(&s) > START + NSEC_PER_SEC);
	fault_set_fini(&s);
}

/* ---- adding and removing rules ---- */

static void removal(void **state)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	add(&s, "packets: drop");
	add(&s, "reg_mr: fail with EIO");
	add(&s, "port down for 1 s");
	assert_int_equal(s.classes, FAULT_CLASS_PACKET | FAULT_CLASS_VERB | FAULT_CLASS_TIMER);
	assert_true(s.actions ==
		    (1ull << FAULT_DO_drop | 1ull << FAULT_DO_fail | 1ull << FAULT_DO_port_down));
	assert_true(fault_set_watches(&s, FAULT_SITE_packet));
	assert_false(fault_set_watches(&s, FAULT_SITE_create_qp));
	assert_true(fault_set_remove(&s, 1));
	assert_false(fault_set_remove(&s, 1));
	assert_null(fault_set_find(&s, 1));
	assert_false(fault_set_watches(&s, FAULT_SITE_packet));
	assert_string_equal(ask(&s, FAULT_SITE_packet, 1), ".");
	assert_string_equal(ask(&s, FAULT_SITE_reg_mr, 1), "x");
	/* The number of a rule is not reused. */
	assert_int_equal(add(&s, "verbs: fail with EIO"), 4);
	assert_true(fault_set_watches(&s, FAULT_SITE_create_qp));
	fault_set_fini(&s);
	assert_int_equal(s.classes, 0);
	assert_int_equal(s.actions, 0);
}

static void many(void **state)
{
	struct fault_set s;

	fault_set_init(&s, 1);
	for (unsigned int i = 1; i <= FAULT_RULES_MAX; i++)
		assert_int_equal(add(&s, "packets: drop"), i);
	assert_int_equal(add(&s, "packets: drop"), 0);
	assert_true(fault_set_remove(&s, 7));
	assert_int_equal(add(&s, "packets: drop"), FAULT_RULES_MAX + 1);
	fault_set_fini(&s);
}

static void words(void **state)
{
	static const struct {
		uint64_t fired;
		const char *text;
	} cases[] = {
		{ 1, "fault 1 (line 1) fired for the 1st time, seed 1234: packets out: drop" },
		{ 2, "fault 1 (line 1) fired for the 2nd time, seed 1234: packets out: drop" },
		{ 13, "fault 1 (line 1) fired for the 13th time, seed 1234: packets out: drop" },
		{ 103, "fault 1 (line 1) fired for the 103rd time, seed 1234: packets out: drop" },
	};
	struct fault_set s;
	char text[400];

	fault_set_init(&s, 1234);
	add(&s, "packets  out:  drop");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s.entry[0]->fired = cases[i].fired;
		fault_describe(&s, s.entry[0], text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	fault_set_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),	  cmocka_unit_test(limit_of_size),
		cmocka_unit_test(status_of_some), cmocka_unit_test(any_address_of_a_peer),
		cmocka_unit_test(any_call),	  cmocka_unit_test(any),
		cmocka_unit_test(bytes),	  cmocka_unit_test(times),
		cmocka_unit_test(selectors),	  cmocka_unit_test(several),
		cmocka_unit_test(numbers),	  cmocka_unit_test(seeds),
		cmocka_unit_test(bursts),	  cmocka_unit_test(timers),
		cmocka_unit_test(removal),	  cmocka_unit_test(many),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
