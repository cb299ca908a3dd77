/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* The lines of replies at the control socket, in both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/line.h"

static struct line l;

static void expect(const char *text)
{
	line_end(&l);
	assert_true(l.len <= sizeof(l.text));
	assert_int_equal(l.len, strlen(text));
	assert_memory_equal(l.text, text, l.len);
}

static void fill(bool json)
{
	line_begin(&l, json, "qp");
	line_number(&l, "num", 17);
	line_text(&l, "state", "RTS");
	line_flag(&l, "out_of_band", true);
	line_flag(&l, "armed", false);
	line_number(&l, "bytes", UINT64_MAX);
}

static void test_forms(void **state)
{
	fill(true);
	expect("{\"qp\":{\"num\":17,\"state\":\"RTS\",\"out_of_band\":true,\"armed\":false,"
	       "\"bytes\":18446744073709551615}}\n");
	fill(false);
	expect("qp\tnum\t17\tstate\tRTS\tout_of_band\tyes\tarmed\tno\t"
	       "bytes\t18446744073709551615\n");
	line_begin(&l, true, "end");
	expect("{\"end\":{}}\n");
	line_begin(&l, false, "end");
	expect("end\n");
}

/* A process name may have any characters. */
static void test_text(void **state)
{
	line_begin(&l, true, "process");
	line_text(&l, "command", "a \"b\"\\\t\n\x1b\xc3\xa4");
	expect("{\"process\":{\"command\":\"a \\\"b\\\"\\\\?????\"}}\n");
	line_begin(&l, false, "process");
	line_text(&l, "command", "a \"b\"\\\t\n\x1b\xc3\xa4");
	line_text(&l, "empty", "");
	expect("process\tcommand\ta \"b\"\\?????\tempty\t\n");
}

/* Fields that do not fit are omitted, and the line stays valid. */
static void test_long(void **state)
{
	char text[1000];

	memset(text, '"', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	line_begin(&l, true, "x");
	for (int i = 0; i < 100; i++) {
		line_text(&l, "long", text);
		line_number(&l, "n", 1);
	}
	line_end(&l);
	assert_true(l.len <= sizeof(l.text));
	assert_memory_equal(l.text + l.len - 3, "}}\n", 3);
	assert_null(memchr(l.text, '\n', l.len - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
