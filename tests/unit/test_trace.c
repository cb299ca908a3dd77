/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: util */
/* VALGRIND: yes */
/*
 * The list of trace events, and their output: a line of the log, or a record of a qlog file. With
 * an argument, the program tests nothing. --events prints the list in the format of
 * docs/trace-events.md; --records prints a qlog with each event several times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/qlog.h"
#include "util/trace.h"

static const struct ip_addr v4 = { .b = { [10] = 0xff, [11] = 0xff, 10, 1, 2, 3 } };
static const struct ip_addr v6 = { .b = { 0xfe, 0x80, [15] = 1 }, .scope_id = 7 };

/* ---- sinks ---- */

struct notes {
	struct trace_sink sink;
	unsigned int count;
	enum trace_id id;
	uint64_t now;
	union trace_value values[TRACE_FIELDS_MAX];
};

static void note(struct trace_sink *sink, enum trace_id id, uint64_t now,
		 const union trace_value *values)
{
	struct notes *n = (struct notes *)(void *)sink;

	n->count++;
	n->id = id;
	n->now = now;
	memcpy(n->values, values, sizeof(n->values));
}

static uint64_t evaluated;

static uint64_t evaluate(void)
{
	return ++evaluated;
}

static void switched_off(void **state)
{
	struct notes n = { .sink.write = note };

	assert_false(trace_enabled());
	TRACE(packet_lost, 1, .tsn = evaluate());
	assert_int_equal(evaluated, 0);

	trace_install(&n.sink);
	assert_true(trace_enabled());
	TRACE(packet_lost, 5, .assoc = 7, .tsn = evaluate(), .why = "because");
	assert_int_equal(evaluated, 1);
	assert_int_equal(n.count, 1);
	assert_int_equal(n.id, trace_id_packet_lost);
	assert_int_equal(n.now, 5);
	assert_int_equal(n.values[0].number, 7);
	assert_int_equal(n.values[1].number, 1);
	assert_int_equal(n.values[2].number, 0);
	assert_string_equal(n.values[3].text, "because");

	trace_remove(&n.sink);
	assert_false(trace_enabled());
	TRACE(packet_lost, 1, .tsn = evaluate());
	assert_int_equal(evaluated, 1);
	assert_int_equal(n.count, 1);
}

static void several_sinks(void **state)
{
	struct notes n[3] = { { .sink.write = note },
			      { .sink.write = note },
			      { .sink.write = note } };

	for (int i = 0; i < 3; i++)
		trace_install(&n[i].sink);
	TRACE(doorbell, 1, .qp = 1);
	trace_remove(&n[1].sink);
	TRACE(doorbell, 1, .qp = 2);
	trace_remove(&n[2].sink);
	TRACE(doorbell, 1, .qp = 3);
	trace_remove(&n[0].sink);
	TRACE(doorbell, 1, .qp = 4);
	assert_int_equal(n[0].count, 3);
	assert_int_equal(n[1].count, 1);
	assert_int_equal(n[2].count, 2);
}

/* ---- the list ---- */

static bool has_field(const struct trace_info *info, const char *name, size_t n)
{
	for (unsigned int i = 0; i < info->n_fields; i++)
		if (strlen(info->fields[i].name) == n && !strncmp(info->fields[i].name, name, n))
			return true;
	return false;
}

static void lines_name_fields(void **state)
{
	for (int id = 0; id < TRACE_IDS; id++) {
		const struct trace_info *info = &trace_infos[id];

		if (!*info->line != (info->level == TRACE_LEVEL_QUIET))
			fail_msg("%s: an event has a line if it goes to the log", info->id);
		for (const char *p = strchr(info->line, '{'); p; p = strchr(p + 1, '{'))
			if (!has_field(info, p + 1, strcspn(p + 1, "}")))
				fail_msg("%s: its line names %s", info->id, p);
	}
}

static void names_are_unique(void **state)
{
	for (int i = 0; i < TRACE_IDS; i++) {
		for (int j = 0; j < i; j++)
			if (!strcmp(trace_infos[i].category, trace_infos[j].category) &&
			    !strcmp(trace_infos[i].type, trace_infos[j].type))
				fail_msg("%s and %s have one name", trace_infos[i].id,
					 trace_infos[j].id);
		for (unsigned int k = 0; k < trace_infos[i].n_fields; k++)
			for (unsigned int m = 0; m < k; m++)
				if (!strcmp(trace_infos[i].fields[k].key,
					    trace_infos[i].fields[m].key))
					fail_msg("%s: key %s", trace_infos[i].id,
						 trace_infos[i].fields[k].key);
	}
}

/* ---- lines ---- */

static const char *line(enum trace_id id, const void *fields, unsigned int size)
{
	union trace_value values[TRACE_FIELDS_MAX] = { { 0 } };
	static char buf[128];
	unsigned int len;

	memcpy(values, fields, trace_infos[id].n_fields * sizeof(values[0]));
	len = trace_line(buf, size, id, values);
	assert_int_equal(len, strlen(buf));
	return buf;
}

static void lines(void **state)
{
	const struct trace_path_used used = {
		.assoc = 0x1a, .old = &v4, .remote = &v6, .why = "failover"
	};
	const struct trace_assoc_lost lost = { .port = 4791, .error = 110 };
	const struct trace_cm_event event = { .id = 1, .event = 3, .status = -1 };
	const struct trace_session_sent sent = { .qp = TRACE_NONE,
						 .sid = 3,
						 .message = "Initiate" };

	assert_string_equal(line(trace_id_path_used, &used, 128),
			    "association 0x0000001a: DATA goes to fe80::1%7, failover");
	assert_string_equal(line(trace_id_path_used, &used, 26), "association 0x0000001a: D");
	assert_string_equal(line(trace_id_path_used, &used, 16), "association 0x0");
	assert_string_equal(line(trace_id_assoc_lost, &lost, 128),
			    "port 4791: association lost, error 110");
	assert_string_equal(line(trace_id_cm_event, &event, 128), "id 1: event 3, status -1");
	assert_string_equal(line(trace_id_session_sent, &sent, 128),
			    "QP -: Initiate sent on stream 3");
}

/* ---- records ---- */

static void records(void **state)
{
	char buf[QLOG_RECORD_MAX];
	union trace_value values[TRACE_FIELDS_MAX] = { { .number = 0x1b }, { .addr = &v4 },
						       { .text = "DATA" }, { .number = 17 },
						       { .number = 1280 }, { .number = TRACE_NONE },
						       { .number = 18 },   { .number = 2 },
						       { .number = 2 },	   { .number = 0 } };

	buf[qlog_event(buf, "4711", 1234567, trace_id_packet_sent, values)] = '\0';
	assert_string_equal(
		buf,
		"\x1e{\"time\":1.234567,\"group_id\":\"4711\",\"name\":\"transport:packet_sent\","
		"\"data\":{\"assoc\":\"0x0000001b\",\"remote\":\"10.1.2.3\","
		"\"header\":{\"packet_type\":\"DATA\",\"packet_number\":17},"
		"\"raw\":{\"length\":1280},\"last_tsn\":18,\"chunks\":2,\"data_chunks\":2,"
		"\"retransmissions\":0}}\n");
	values[0].text = "a \"b\"\\\n\xe4";
	buf[qlog_event(buf, "1", 0, trace_id_message, values)] = '\0';
	assert_string_equal(buf,
			    "\x1e{\"time\":0.000000,\"group_id\":\"1\",\"name\":\"generic:debug\","
			    "\"data\":{\"message\":\"a \\\"b\\\"\\\\\\u000a?\"}}\n");
}

/*
 * Sets the values of a round: all small, all as large as possible, all unknown, and texts that need
 * escapes.
 */
static void fill(const struct trace_info *info, union trace_value *values, int round)
{
	static char huge[4096];

	memset(huge, '\1', sizeof(huge) - 1);
	for (unsigned int i = 0; i < info->n_fields; i++) {
		const char *const texts[] = { "plain", huge, NULL, "\"\\/\b\f\n\r\t\x7f\xff{}" };
		const struct ip_addr *const addrs[] = { &v4, &v6, NULL, &v6 };
		const uint64_t numbers[] = { i, UINT64_MAX - 1, TRACE_NONE, 1u << i };

		if (info->fields[i].kind == TRACE_KIND_TEXT)
			values[i].text = texts[round];
		else if (info->fields[i].kind == TRACE_KIND_ADDR)
			values[i].addr = addrs[round];
		else
			values[i].number = numbers[round];
	}
}

static void print_records(void)
{
	static char buf[QLOG_RECORD_MAX];
	union trace_value values[TRACE_FIELDS_MAX];

	fwrite(buf, 1, qlog_header(buf, "test \"x\"", "1", 1700000000123456789), stdout);
	for (int id = 0; id < TRACE_IDS; id++)
		for (int round = 0; round < 4; round++) {
			fill(&trace_infos[id], values, round);
			fwrite(buf, 1,
			       qlog_event(buf, "1", (uint64_t)id, (enum trace_id)id, values),
			       stdout);
		}
}

static void records_fit(void **state)
{
	static char buf[QLOG_RECORD_MAX];
	union trace_value values[TRACE_FIELDS_MAX];

	for (int id = 0; id < TRACE_IDS; id++) {
		size_t len;

		fill(&trace_infos[id], values, 1);
		len = qlog_event(buf, "1234567890", UINT64_MAX, (enum trace_id)id, values);
		if (len >= QLOG_RECORD_MAX - 1 || memcmp(buf + len - 3, "}}\n", 3))
			fail_msg("%s: its longest record is cut", trace_infos[id].id);
	}
}

static void print_events(void)
{
	printf("# Trace events\n\n"
	       "The table lists the events in a file of `--trace`, which are also the USDT probes of provider `sctpiw` "
	       "([tracing.md](tracing.md)).\n"
	       "`build/bin/test_trace --events` prints this page from `providers/sctpiw/util/trace_events.h`.\n\n"
	       "The first argument of a probe is the time in nanoseconds. The fields follow in this order; "
	       "further arguments are 0.\n"
	       "Events marked with * are also lines of `--log debug`.\n\n"
	       "| event | probe | occurs when | field | value |\n|---|---|---|---|---|\n");
	for (int id = 0; id < TRACE_IDS; id++) {
		const struct trace_info *info = &trace_infos[id];

		for (unsigned int i = 0; i < info->n_fields; i++) {
			const struct trace_field *f = &info->fields[i];

			if (!i)
				printf("| `%s:%s`%s | `%s` | %s | `%s` | %s |\n", info->category,
				       info->type, info->level == TRACE_LEVEL_LOG ? " *" : "",
				       info->id, info->doc, f->key, f->doc);
			else
				printf("| | | | `%s` | %s |\n", f->key, f->doc);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switched_off),
		cmocka_unit_test(several_sinks),
		cmocka_unit_test(lines_name_fields),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(lines),
		cmocka_unit_test(records),
		cmocka_unit_test(records_fit),
	};

	if (argc == 2 && !strcmp(argv[1], "--events")) {
		print_events();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--records")) {
		print_records();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
