/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: faults */
/* VALGRIND: yes */
/*
 * The language of faults: the meaning of each word, and the error for each mistake, with its line
 * and column.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "faults/fault_parse.h"

#define ALWAYS (1ull << 32)
#define MS 1000000ull
#define S 1000000000ull

/* Parses a text with one rule. */
static struct fault_rule read_one(const char *text)
{
	struct fault_rule rule, none;
	struct fault_error err = { .text = "" };
	struct fault_reader r;

	fault_reader_init(&r, text, strlen(text));
	if (fault_read(&r, &rule, &err) != 1)
		fail_msg("%s: %u:%u: %s", text, err.line, err.column, err.text);
	assert_int_equal(fault_read(&r, &none, &err), 0);
	return rule;
}

static uint32_t known(enum fault_selector which)
{
	return 1u << which;
}

static void examples(void **state)
{
	struct fault_rule r = read_one("after 1000 writes on qp 3: complete with rem_access_err");

	assert_int_equal(r.site, FAULT_SITE_write);
	assert_int_equal(r.when.after_count, 1000);
	assert_int_equal(r.select.known, known(FAULT_SELECT_qp));
	assert_int_equal(r.select.qp.number, 3);
	assert_int_equal(r.select.qp.nth, 0);
	assert_int_equal(r.action.id, FAULT_DO_complete);
	assert_int_equal(r.action.arg[fault_complete_status], 10);
	assert_true(fault_given(&r.action, fault_complete_status));
	assert_false(fault_given(&r.action, fault_complete_vendor));
	assert_string_equal(r.text, "after 1000 writes on qp 3: complete with rem_access_err");

	r = read_one("every 5 s: port down for 200 ms");
	assert_int_equal(r.site, FAULT_SITE_NONE);
	assert_int_equal(r.when.every_time, 5 * S);
	assert_int_equal(r.when.every_for, 0);
	assert_int_equal(r.action.id, FAULT_DO_port_down);
	assert_int_equal(r.action.arg[fault_port_down_time], 200 * MS);

	r = read_one("reg_mr: fail with ENOMEM, probability 0.01");
	assert_int_equal(r.site, FAULT_SITE_reg_mr);
	assert_true(r.when.has_probability);
	assert_int_equal(r.when.probability, ALWAYS / 100);
	assert_int_equal(r.action.id, FAULT_DO_fail);
	assert_int_equal(r.action.arg[fault_fail_error], ENOMEM);

	r = read_one("port down for 2 s");
	assert_int_equal(r.site, FAULT_SITE_NONE);
	assert_int_equal(r.when.after_time, 0);
}

/* Every selector, with or without "on", before and after the action. */
static void selectors(void **state)
{
	struct fault_rule r =
		read_one("packets in peer 192.0.2.7 path fe80::1 port 7471 chunk init_ack: "
			 "drop, peer-port 0x10");

	assert_int_equal(r.site, FAULT_SITE_packet);
	assert_int_equal(r.select.known,
			 known(FAULT_SELECT_direction) | known(FAULT_SELECT_peer) |
				 known(FAULT_SELECT_path) | known(FAULT_SELECT_port) |
				 known(FAULT_SELECT_chunk) | known(FAULT_SELECT_peer_port));
	assert_int_equal(r.select.direction, FAULT_IN);
	assert_memory_equal(r.select.peer.b,
			    ((uint8_t[16]){ [10] = 0xff, [11] = 0xff, 192, 0, 2, 7 }), 16);
	assert_memory_equal(r.select.path.b, ((uint8_t[16]){ 0xfe, 0x80, [15] = 1 }), 16);
	assert_int_equal(r.select.port, 7471);
	assert_int_equal(r.select.peer_port, 16);
	assert_int_equal(r.select.chunk, 1 << 2);

	r = read_one("modify_qp from init, to rtr, on 2nd qp: fail with EINVAL");
	assert_int_equal(r.select.known, known(FAULT_SELECT_from) | known(FAULT_SELECT_to) |
						 known(FAULT_SELECT_qp));
	assert_int_equal(r.select.from, 1);
	assert_int_equal(r.select.to, 2);
	assert_int_equal(r.select.qp.nth, 2);

	r = read_one("1st cq, completions: single");
	assert_int_equal(r.select.cq.nth, 1);
	r = read_one("verbs srq 5 mr 7 opcode send: fail with EIO");
	assert_int_equal(r.select.srq.number, 5);
	assert_int_equal(r.select.mr, 7);
	assert_int_equal(r.select.opcode, 2);
	r = read_one("established id 4: drop");
	assert_int_equal(r.select.id, 4);
}

static void triggers(void **state)
{
	assert_int_equal(read_one("3rd packet: drop").when.nth, 3);
	assert_int_equal(read_one("packets, after 1.5 MB: drop").when.after_bytes, 1500000);
	assert_int_equal(read_one("packets, after 2KiB: drop").when.after_bytes, 2048);
	assert_int_equal(read_one("packets, after 3 min: drop").when.after_time, 180 * S);
	assert_int_equal(read_one("every 100 packets: drop").when.every_count, 100);
	assert_int_equal(read_one("packets, at most 7 times: drop").when.at_most, 7);
	assert_int_equal(read_one("packets: drop, once").when.at_most, 1);

	struct fault_rule r = read_one("packets, every 5 s for 200ms: drop");

	assert_int_equal(r.when.every_time, 5 * S);
	assert_int_equal(r.when.every_for, 200 * MS);
	r = read_one("packets between 1 us and 2 us: drop");
	assert_int_equal(r.when.between_from, 1000);
	assert_int_equal(r.when.between_to, 2000);
	assert_int_equal(read_one("packets between 0 s and 2 us: drop").when.between_from, 0);
	r = read_one("packets burst 0.5 to 1 loss 0.25: drop");
	assert_true(r.when.has_burst);
	assert_int_equal(r.when.burst_enter, ALWAYS / 2);
	assert_int_equal(r.when.burst_leave, ALWAYS);
	assert_int_equal(r.when.burst_loss, ALWAYS / 4);
	assert_int_equal(read_one("packets burst 0 to 1: drop").when.burst_loss, ALWAYS);
}

static void arguments(void **state)
{
	struct fault_rule r = read_one("packets: delay 20 ms jitter 5ms, out");

	assert_int_equal(r.action.arg[fault_delay_time], 20 * MS);
	assert_int_equal(r.action.arg[fault_delay_jitter], 5 * MS);
	r = read_one("packets: limit rate to 10 Mbit/s queue 1 MiB");
	assert_int_equal(r.action.arg[fault_limit_rate_rate], 10000000);
	assert_int_equal(r.action.arg[fault_limit_rate_queue], 1 << 20);
	r = read_one("packets: corrupt before checksum");
	assert_int_equal(r.action.id, FAULT_DO_corrupt_sealed);
	r = read_one("packets: corrupt bytes 3");
	assert_int_equal(r.action.id, FAULT_DO_corrupt);
	r = read_one("connect_request: reject reason 0x1c data \"busy; # not, now: \"");
	assert_int_equal(r.action.arg[fault_reject_reason], 28);
	assert_int_equal(r.action.arg[fault_reject_data], 18);
	assert_memory_equal(r.action.data, "busy; # not, now: ", 18);
	r = read_one("device: limit max_qp to 4");
	assert_int_equal(r.action.id, FAULT_DO_limit);
	assert_int_equal(r.action.arg[fault_limit_name], 0);
	assert_int_equal(r.action.arg[fault_limit_value], 4);
}

/*
 * The language has each action of the list, with all of its arguments, at a site of each of its
 * classes.
 */
static void every_action(void **state)
{
	static const char *const values[] = {
		[FAULT_KIND_COUNT] = "7",	 [FAULT_KIND_NUMBER] = "0",
		[FAULT_KIND_SIZE] = "7 B",	 [FAULT_KIND_TIME] = "7 s",
		[FAULT_KIND_RATE] = "7 kbit/s",	 [FAULT_KIND_DATA] = "\"\"",
		[FAULT_KIND_LAYER] = "2",	 [FAULT_KIND_NIBBLE] = "15",
		[FAULT_KIND_BYTE] = "0xff",	 [FAULT_KIND_REASON] = "65535",
		[FAULT_KIND_STATUS] = "success", [FAULT_KIND_EVENT] = "gid_change",
		[FAULT_KIND_LIMIT] = "max_sge",	 [FAULT_KIND_CM_EVENT] = "rejected",
		[FAULT_KIND_ERRNO] = "EIO",
	};

	for (unsigned int i = 0; i < FAULT_ACTIONS; i++) {
		const struct fault_action_info *a = &fault_actions[i];

		for (unsigned int site = 0; site < FAULT_SITES; site++) {
			struct fault_rule r;
			char text[FAULT_TEXT_MAX];
			size_t n;

			if (!(a->classes & fault_sites[site].class))
				continue;
			n = (size_t)sprintf(text, "%s%s%s", fault_sites[site].word,
					    site ? ": " : "", a->words);
			for (unsigned int k = 0; k < a->n_args; k++)
				n += (size_t)sprintf(text + n, " %s %s", a->arg[k].word,
						     values[a->arg[k].kind]);
			r = read_one(text);
			assert_int_equal(r.site, site);
			assert_int_equal(r.action.id, i);
			assert_int_equal(r.action.given, (1u << a->n_args) - 1);
		}
	}
}

static void texts(void **state)
{
	static const char text[] = "# a comment\n"
				   "\n"
				   "  packets: drop ;; reg_mr: fail with EIO # another\n"
				   "\tsends  :  single\r\n";
	struct fault_reader r;
	struct fault_rule rule;
	struct fault_error err;

	fault_reader_init(&r, text, sizeof(text) - 1);
	assert_int_equal(fault_read(&r, &rule, &err), 1);
	assert_int_equal(rule.line, 3);
	assert_string_equal(rule.text, "packets: drop");
	assert_int_equal(fault_read(&r, &rule, &err), 1);
	assert_int_equal(rule.line, 3);
	assert_string_equal(rule.text, "reg_mr: fail with EIO");
	assert_int_equal(fault_read(&r, &rule, &err), 1);
	assert_int_equal(rule.line, 4);
	assert_string_equal(rule.text, "sends : single");
	assert_int_equal(fault_read(&r, &rule, &err), 0);
}

/* ---- mistakes ---- */

static const struct {
	const char *text;
	unsigned int line, column;
	const char *said;
} mistakes[] = {
	{ "nonsense", 1, 1,
	  "nonsense begins no action: a rule is CLAUSES: ACTION, with a colon and a blank" },
	{ "reg_mr fail with EIO", 1, 1, "reg_mr begins no action: a rule is CLAUSES: ACTION" },
	{ "reg_mr:fail with EIO", 1, 1, "reg_mr:fail begins no action: a rule is CLAUSES: ACTION" },
	{ "reg_mr:", 1, 8, "the end begins no action" },
	{ ": drop", 1, 1, "the end is neither a site nor a selector nor a trigger" },
	{ "packets: drop\n  reg_mrs: fail with EIO", 2, 3, "reg_mrs is neither a site" },
	{ "reg_mr: explode", 1, 9, "explode begins no action: `sctpiw fault --help` lists them" },
	{ "reg_mr: fail", 1, 13, "the end stands where `with` with fail was expected" },
	{ "reg_mr: fail with", 1, 18, "the end is no errno" },
	{ "reg_mr: fail with ENOENTRY", 1, 19, "ENOENTRY is no errno" },
	{ "reg_mr: fail with EIO EIO", 1, 23,
	  "EIO stands where a comma, or the end of the rule, was expected" },
	{ "reg_mr: fail with EIO,", 1, 23, "the end is neither a site" },
	{ "reg_mr create_qp: fail with EIO", 1, 8,
	  "create_qp is a second thing to watch: write a rule for each" },
	{ "reg_mr: drop", 1, 9, "drop cannot be done to reg_mr" },
	{ "drop", 1, 1, "drop needs something to watch" },
	{ "after 3 s: drop", 1, 12, "drop needs something to watch" },
	{ "packets: port down for 1 s", 1, 10, "port down cannot be done to packet" },
	{ "after 1 s on 2nd cq: fail qp", 1, 22, "cq does not apply to fail qp: take it away" },
	{ "after 1 s on qp 7: kill peer", 1, 20, "qp does not apply to kill peer" },
	{ "on qp 7: port down for 1 s", 1, 10, "qp does not apply to port down" },
	{ "on qp 7: overrun", 1, 10, "qp does not apply to overrun" },
	{ "3rd reg_mr after 3: fail with EIO", 1, 21, "this never happens" },
	{ "3rd reg_mr every 2: fail with EIO", 1, 21, "this never happens" },
	{ "packets after 2 s between 1 s and 2 s: drop", 1, 40, "this never happens" },
	{ "every 3: port down for 1 s", 1, 10, "a trigger needs something to watch" },
	{ "reg_mr in: fail with EIO", 1, 12, "in or out does not apply to reg_mr: take it away" },
	{ "reg_mr to rts: fail with EIO", 1, 16, "to does not apply to reg_mr" },
	{ "create_qp opcode send: fail with EIO", 1, 24, "opcode does not apply to create_qp" },
	{ "packets in out: drop", 1, 12, "there is a second out: take one of the two away" },
	{ "packets after 1 s, after 2 s: drop", 1, 20,
	  "there is a second trigger after of this kind" },
	{ "packets once at most 2 times: drop", 1, 14,
	  "there is a second trigger at of this kind" },
	{ "modify_qp to up: fail with EIO", 1, 14,
	  "up is no state of a queue pair: reset, init, rtr" },
	{ "packets peer somewhere: drop", 1, 14,
	  "somewhere stands where an address of IPv4 or IPv6 was expected" },
	{ "packets probability 2: drop", 1, 21,
	  "2 stands where a probability from 0 to 1, such as 0.02, was expected" },
	{ "packets probability 1.5: drop", 1, 21, "1.5 stands where a probability" },
	{ "packets probability 1 s: drop", 1, 21, "1 stands where a probability" },
	{ "packets: drop 1%", 1, 15,
	  "1% stands where a comma, or the end of the rule, was expected; a share of 1 % is a trigger, left of the colon: probability 0.01" },
	{ "packets: drop 0.5", 1, 15,
	  "0.5 stands where a comma, or the end of the rule, was expected; a share of 1 % is a trigger, left of the colon: probability 0.01" },
	{ "packets 12.5%: drop", 1, 9,
	  "12.5% stands where an ordinal, such as 3rd, was expected; a share of 1 % is a trigger, left of the colon: probability 0.01" },
	{ "packets probability 2%: drop", 1, 21,
	  "2% stands where a probability from 0 to 1, such as 0.02, was expected; a share of 1 % is a trigger, left of the colon: probability 0.01" },
	{ "packets after 0: drop", 1, 15,
	  "0 stands where a number, a size or a time was expected" },
	{ "packets after 1.5: drop", 1, 15, "1.5 stands where a number, a size or a time" },
	{ "packets after 1 Mbit/s: drop", 1, 15, "1 stands where a number, a size or a time" },
	{ "packets after 99999999999999999999: drop", 1, 15, "99999999999999999999 stands where" },
	{ "packets after 999999999999999999 s: drop", 1, 15, "999999999999999999 stands where" },
	{ "packets after -1: drop", 1, 15, "-1 stands where" },
	{ "packets every 1 s for 1 s: drop", 1, 19, "this is not shorter than its period" },
	{ "packets between 2 s and 1 s: drop", 1, 25, "this time is not after the first time" },
	{ "packets between 0 s and 0 s: drop", 1, 25, "0 stands where a time" },
	{ "packets between 2 s: drop", 1, 20, "the end stands where `and` was expected" },
	{ "packets burst 0.1: drop", 1, 18, "the end stands where `to` was expected" },
	{ "packets at most 3: drop", 1, 18, "the end stands where `times` was expected" },
	{ "4294967296th packet: drop", 1, 1, "4294967296th stands where an ordinal" },
	{ "0th packet: drop", 1, 1, "0th stands where an ordinal" },
	{ "3 packets: drop", 1, 1, "3 stands where an ordinal, such as 3rd, was expected" },
	{ "on drop packets: drop", 1, 4,
	  "drop stands where a selector, such as qp 17, was expected" },
	{ "packets: delay 5", 1, 16, "5 stands where a time, such as 200 ms, was expected" },
	{ "packets: delay 5 MB", 1, 16, "5 stands where a time" },
	{ "packets: limit size to 1400", 1, 24,
	  "1400 stands where a size, such as 64 KiB, was expected" },
	{ "packets qp 4294967296: drop", 1, 12,
	  "4294967296 stands where a number from 0 to 0xffffffff" },
	{ "packets port 65536: drop", 1, 14,
	  "65536 stands where a port from 0 to 65535 was expected" },
	{ "established peer-port 0x10000: drop", 1, 23, "0x10000 stands where a port" },
	{ "terminate layer 3 type 0 code 0", 1, 17,
	  "3 stands where a number from 0 to 2 was expected" },
	{ "terminate layer 0 type 16 code 0", 1, 24,
	  "16 stands where a number from 0 to 15 was expected" },
	{ "terminate layer 0 type 0 code 256", 1, 31,
	  "256 stands where a number from 0 to 255 was expected" },
	{ "rejected: reject reason 65536", 1, 25,
	  "65536 stands where a number from 0 to 65535 was expected" },
	{ "receives: complete with retry_exc_err", 1, 25,
	  "retry_exc_err is no status of receives" },
	{ "complete with mw_bind_err, sends", 1, 15, "mw_bind_err is no status of sends" },
	{ "binds: complete with loc_len_err", 1, 22, "loc_len_err is no status of binds" },
	{ "completions: complete with inv_eecn_err", 1, 28,
	  "inv_eecn_err is no status of completions" },
	{ "packets: raise cq_err, once", 1, 16, "a packet does not select an object for cq_err" },
	{ "raise srq_limit_reached, packets, in", 1, 7, "a packet does not select an object" },
	{ "packets qp 0xg: drop", 1, 12, "0xg stands where a number" },
	{ "connect_request: reject data busy", 1, 30,
	  "busy stands where text between double quotes" },
	{ "connect_request: reject data \"busy", 1, 30,
	  "\"busy stands where text between double quotes" },
	{ "packets probability 0.1234567890: drop", 1, 21,
	  "0.1234567890 stands where a probability" },
	{ "packets: dr\001op", 1, 12, "this is not text of ASCII: take the byte away" },
	{ "packets: drop\303\244", 1, 14, "this is not text of ASCII" },
};

static void all_mistakes(void **state)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct fault_error err = { .text = "" };
		struct fault_rule rule;
		struct fault_reader r;
		int ret;

		fault_reader_init(&r, mistakes[i].text, strlen(mistakes[i].text));
		do
			ret = fault_read(&r, &rule, &err);
		while (ret > 0);
		if (ret >= 0 || err.line != mistakes[i].line || err.column != mistakes[i].column ||
		    strncmp(err.text, mistakes[i].said, strlen(mistakes[i].said)))
			fail_msg("%s: %d: %u:%u: %s", mistakes[i].text, ret, err.line, err.column,
				 err.text);
	}
}

static void long_rules(void **state)
{
	char text[FAULT_TEXT_MAX + 20];
	struct fault_error err;
	struct fault_rule rule;
	struct fault_reader r;

	/* Blanks do not count for the limit. */
	memset(text, ' ', sizeof(text));
	memcpy(text, "packets:", 8);
	memcpy(text + sizeof(text) - 4, "drop", 4);
	fault_reader_init(&r, text, sizeof(text));
	assert_int_equal(fault_read(&r, &rule, &err), 1);
	assert_string_equal(rule.text, "packets: drop");

	/* Private data has its own limit. */
	memset(text, 'x', sizeof(text));
	memcpy(text, "rejected: reject data \"", 23);
	text[23 + FAULT_DATA_MAX] = '"';
	fault_reader_init(&r, text, 23 + FAULT_DATA_MAX + 1);
	assert_int_equal(fault_read(&r, &rule, &err), 1);
	assert_int_equal(rule.action.arg[fault_reject_data], FAULT_DATA_MAX);
	text[23 + FAULT_DATA_MAX] = 'x';
	text[23 + FAULT_DATA_MAX + 1] = '"';
	fault_reader_init(&r, text, 23 + FAULT_DATA_MAX + 2);
	assert_int_equal(fault_read(&r, &rule, &err), -1);
	assert_string_equal(err.text, "private data has 148 bytes at most");

	memcpy(text, "packets: ", 9);
	memset(text + 9, 'x', sizeof(text) - 9);
	fault_reader_init(&r, text, sizeof(text));
	assert_int_equal(fault_read(&r, &rule, &err), -1);
	assert_string_equal(err.text, "this rule is too long: 255 bytes are allowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),	cmocka_unit_test(selectors),
		cmocka_unit_test(triggers),	cmocka_unit_test(arguments),
		cmocka_unit_test(every_action), cmocka_unit_test(texts),
		cmocka_unit_test(all_mistakes), cmocka_unit_test(long_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
