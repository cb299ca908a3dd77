/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: faults */
/*
 * The list of sites, selectors and actions of faults. With the argument --list, the program tests
 * nothing and prints the list in the format of docs/fault-list.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "faults/fault_rule.h"

/* Each word is unique at its place, so that rules are unambiguous. */
static void words_are_unique(void **state)
{
	for (unsigned int i = 1; i < FAULT_SITES; i++) {
		for (unsigned int j = 1; j < FAULT_SITES; j++) {
			if (i != j)
				assert_string_not_equal(fault_sites[i].word, fault_sites[j].word);
			assert_string_not_equal(fault_sites[i].plural, fault_sites[j].word);
		}
		for (unsigned int j = 0; j < FAULT_SELECTORS; j++)
			assert_string_not_equal(fault_sites[i].word, fault_selectors[j].word);
	}
	for (unsigned int i = 0; i < FAULT_ACTIONS; i++) {
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(fault_actions[i].words, fault_actions[j].words);
	}
}

/* Mandatory arguments come before optional ones. */
static void arguments_are_in_order(void **state)
{
	for (unsigned int i = 0; i < FAULT_ACTIONS; i++) {
		const struct fault_action_info *a = &fault_actions[i];

		assert_true(a->n_args <= FAULT_ARGS_MAX);
		assert_int_not_equal(a->classes, 0);
		assert_int_not_equal(strlen(a->rule), 0);
		for (unsigned int k = 1; k < a->n_args; k++)
			assert_false(a->arg[k].must && !a->arg[k - 1].must);
		for (unsigned int k = 0; k < a->n_args; k++)
			assert_true(a->arg[k].must || *a->arg[k].word);
	}
}

static void names_have_values(void **state)
{
	assert_string_equal(fault_name_of(FAULT_KIND_STATUS, 10), "rem_access_err");
	assert_string_equal(fault_name_of(FAULT_KIND_STATE, 3), "rts");
	assert_null(fault_name_of(FAULT_KIND_STATE, 99));
}

/* ---- the document ---- */

/* Prints text of the list for a Markdown table, with each _ outside code escaped. */
static void print_cell(const char *text)
{
	bool code = false;

	for (; *text; text++) {
		code ^= *text == '`';
		if (*text == '_' && !code)
			putchar('\\');
		putchar(*text);
	}
}

static void print_names(enum fault_kind kind)
{
	const char *separator = "";

	for (const struct fault_name_info *n = fault_names; n->word; n++) {
		if (n->kind != kind)
			continue;
		printf("%s`%s`", separator, n->word);
		separator = ", ";
	}
}

static const struct {
	enum fault_kind kind;
	const char *text;
} kinds[] = {
	{ FAULT_KIND_COUNT, "COUNT" },	 { FAULT_KIND_NUMBER, "NUMBER" },
	{ FAULT_KIND_LAYER, "NUMBER" },	 { FAULT_KIND_NIBBLE, "NUMBER" },
	{ FAULT_KIND_BYTE, "NUMBER" },	 { FAULT_KIND_PORT, "NUMBER" },
	{ FAULT_KIND_REASON, "NUMBER" }, { FAULT_KIND_SIZE, "SIZE" },
	{ FAULT_KIND_TIME, "TIME" },	 { FAULT_KIND_RATE, "RATE" },
	{ FAULT_KIND_QP, "NUMBER" },	 { FAULT_KIND_ADDR, "ADDRESS" },
	{ FAULT_KIND_DATA, "\"text\"" }, { FAULT_KIND_DIRECTION, "`in` or `out`" },
	{ FAULT_KIND_STATE, "STATE" },	 { FAULT_KIND_OPCODE, "OPCODE" },
	{ FAULT_KIND_CHUNK, "CHUNK" },	 { FAULT_KIND_STATUS, "STATUS" },
	{ FAULT_KIND_EVENT, "EVENT" },	 { FAULT_KIND_CM_EVENT, "CM_EVENT" },
	{ FAULT_KIND_LIMIT, "LIMIT" },	 { FAULT_KIND_ERRNO, "ERRNO" },
};

static const char *kind_text(enum fault_kind kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind == kind)
			return kinds[i].text;
	}
	return "";
}

static void print_sites(void)
{
	for (unsigned int class = 0; class < FAULT_CLASSES; class ++) {
		const char *separator = "";

		printf("| %s | ", fault_classes[class].doc);
		for (unsigned int i = 1; i < FAULT_SITES; i++) {
			const struct fault_site_info *s = &fault_sites[i];

			if (!(s->class >> class & 1))
				continue;
			printf("%s`%s`", separator, s->word);
			if (*s->plural)
				printf(" or `%s`", s->plural);
			if (*s->doc) {
				fputs(" (", stdout);
				print_cell(s->doc);
				fputs(")", stdout);
			}
			separator = ", ";
		}
		puts(*separator ? " |" : "none |");
	}
}

static void print_action(const struct fault_action_info *a)
{
	const char *separator = "";

	printf("| `%s", a->words);
	for (unsigned int k = 0; k < a->n_args; k++) {
		const struct fault_arg_info *arg = &a->arg[k];

		printf(" %s%s%s%s%s", arg->must ? "" : "[", arg->word, *arg->word ? " " : "",
		       kind_text(arg->kind), arg->must ? "" : "]");
	}
	fputs("` | ", stdout);
	for (unsigned int class = 0; class < FAULT_CLASSES; class ++) {
		if (!(a->classes >> class & 1))
			continue;
		fputs(separator, stdout);
		print_cell(fault_classes[class].word);
		separator = ", ";
	}
	fputs(" | ", stdout);
	print_cell(a->doc);
	for (unsigned int k = 0; k < a->n_args; k++) {
		if (*a->arg[k].word)
			printf(". `%s`: ", a->arg[k].word);
		else
			fputs(". Argument: ", stdout);
		print_cell(a->arg[k].doc);
	}
	fputs(" | ", stdout);
	print_cell(a->rule);
	puts(" |");
}

static void print_list(void)
{
	puts("# The elements of fault rules\n\n"
	     "`build/bin/test_fault_list --list` prints this page from `providers/sctpiw/faults/fault_list.h`.\n"
	     "[faults.md](faults.md) has the grammar.\n\n"
	     "## Sites\n\n| class | sites |\n|---|---|");
	print_sites();
	puts("\n## Selectors\n\n| selector | selects |\n|---|---|");
	for (unsigned int i = 0; i < FAULT_SELECTORS; i++) {
		const struct fault_word_info *s = &fault_selectors[i];

		printf("| %s%s%s%s | ", *s->word ? "`" : "", s->word, *s->word ? "` " : "",
		       kind_text(s->kind));
		print_cell(s->doc);
		puts(" |");
	}
	puts("\n## Triggers\n\n| trigger | fires for |\n|---|---|");
	for (const struct fault_word_info *t = fault_triggers; t->word; t++) {
		printf("| `%s` | ", t->word);
		print_cell(t->doc);
		puts(" |");
	}
	puts("\n## Actions\n\n| action | at | effect | allowed because |\n|---|---|---|---|");
	for (unsigned int i = 0; i < FAULT_ACTIONS; i++)
		print_action(&fault_actions[i]);
	puts("\n## Names\n\n| | |\n|---|---|");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind < FAULT_KIND_STATE)
			continue;
		fputs("| ", stdout);
		print_cell(kinds[i].text);
		fputs(" | ", stdout);
		print_names(kinds[i].kind);
		puts(" |");
	}
}

static void print_statuses(void)
{
	puts("\n## Statuses\n\n"
	     "IBA 11.6.2 defines the statuses. A rule for `completions` matches only completions that can have its status.\n\n"
	     "| completions of | statuses |\n|---|---|");
	for (unsigned int i = 1; i < FAULT_SITES; i++) {
		const char *separator = "";

		if (fault_sites[i].class != FAULT_CLASS_COMPLETION || fault_sites[i].any)
			continue;
		printf("| `%s` | ", fault_sites[i].plural);
		for (const struct fault_name_info *n = fault_names; n->word; n++) {
			if (n->kind != FAULT_KIND_STATUS ||
			    !fault_status_fits(n->value, (enum fault_site)i))
				continue;
			printf("%s`%s`", separator, n->word);
			separator = ", ";
		}
		puts(" |");
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_unique),
		cmocka_unit_test(arguments_are_in_order),
		cmocka_unit_test(names_have_values),
	};

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		print_list();
		print_statuses();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
