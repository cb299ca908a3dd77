/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/fault_parse.h"
#include "launcher/ask.h"
#include "launcher/fields.h"
#include "launcher/launcher.h"
#include "sys/control.h"

/* maximum bytes of a request, without its version and its format */
#define ROOM (CONTROL_REQUEST_MAX - 32)

/* ---- help ---- */

static void print_names(enum fault_kind kind, const char *title)
{
	size_t column = (size_t)printf("  %s:", title);

	for (const struct fault_name_info *n = fault_names; n->word; n++) {
		if (n->kind != kind)
			continue;
		if (column + strlen(n->word) > 96)
			column = (size_t)printf("\n   ") - 1;
		column += (size_t)printf(" %s", n->word);
	}
	putchar('\n');
}

static void print_statuses(void)
{
	for (unsigned int i = 1; i < FAULT_SITES; i++) {
		size_t column;

		if (fault_sites[i].class != FAULT_CLASS_COMPLETION || fault_sites[i].any)
			continue;
		column = (size_t)printf("  statuses of %s:", fault_sites[i].plural);
		for (const struct fault_name_info *n = fault_names; n->word; n++) {
			if (n->kind != FAULT_KIND_STATUS ||
			    !fault_status_fits(n->value, (enum fault_site)i))
				continue;
			if (column + strlen(n->word) > 96)
				column = (size_t)printf("\n   ") - 1;
			column += (size_t)printf(" %s", n->word);
		}
		putchar('\n');
	}
}

static void print_sites(void)
{
	for (unsigned int class = 0; class < FAULT_CLASSES; class ++) {
		size_t column = 0;

		if (1u << class == FAULT_CLASS_TIMER)
			continue;
		printf("  %s:\n   ", fault_classes[class].doc);
		for (unsigned int i = 1; i < FAULT_SITES; i++) {
			const char *word = *fault_sites[i].plural ? fault_sites[i].plural :
								    fault_sites[i].word;

			if (!(fault_sites[i].class >> class & 1))
				continue;
			if (column + strlen(word) > 90) {
				fputs("\n   ", stdout);
				column = 0;
			}
			column += (size_t)printf(" %s", word);
		}
		putchar('\n');
	}
}

static void print_actions(void)
{
	for (unsigned int i = 0; i < FAULT_ACTIONS; i++) {
		const struct fault_action_info *a = &fault_actions[i];

		printf("  %s", a->words);
		for (unsigned int k = 0; k < a->n_args; k++)
			printf(a->arg[k].must ? " %s%s..." : " [%s%s...]", a->arg[k].word,
			       *a->arg[k].word ? " " : "");
		printf("\n      %s\n", a->doc);
	}
}

void fault_help(void)
{
	puts("\nA rule is CLAUSES: ACTION, CLAUSES. Semicolons separate rules. Clauses are the watched site,\n"
	     "selectors of its objects, and triggers.\n\nSites:");
	print_sites();
	puts("\nSelectors:");
	for (unsigned int i = 0; i < FAULT_SELECTORS; i++)
		printf("  %-10s %s\n", fault_selectors[i].word, fault_selectors[i].doc);
	puts("\nTriggers:");
	for (const struct fault_word_info *t = fault_triggers; t->word; t++)
		printf("  %s\n      %s\n", t->word, t->doc);
	puts("\nActions:");
	print_actions();
	puts("\nNames:");
	print_names(FAULT_KIND_STATE, "states");
	print_names(FAULT_KIND_OPCODE, "opcodes");
	print_names(FAULT_KIND_CHUNK, "chunks");
	print_statuses();
	print_names(FAULT_KIND_EVENT, "asynchronous events");
	print_names(FAULT_KIND_CM_EVENT, "events of rdma_cm that are reported");
	print_names(FAULT_KIND_LIMIT, "limits");
	print_names(FAULT_KIND_ERRNO, "errnos");
}

/* ---- requests ---- */

static bool is_number(const char *word, unsigned long max, unsigned long *number)
{
	if (!*word || strlen(word) > 10 || word[strspn(word, "0123456789")])
		return false;
	*number = strtoul(word, NULL, 10);
	return *number && *number <= max;
}

/*
 * Writes the request that adds the rules of a text. Checks the rules first. On error, calls
 * complain() and returns false.
 */
static bool request_rules(const char *text, char request[ROOM])
{
	size_t used = (size_t)sprintf(request, "text fault add");
	const char *separator = " ";
	struct fault_reader reader;
	struct fault_error why;
	struct fault_rule rule;
	int ret;

	fault_reader_init(&reader, text, strlen(text));
	while ((ret = fault_read(&reader, &rule, &why)) > 0) {
		int n = snprintf(request + used, ROOM - used, "%s%s", separator, rule.text);

		used += (size_t)n;
		if (used >= ROOM) {
			complain(
				"these are too many rules for one request: give some of them, and then the others");
			return false;
		}
		separator = "; ";
	}
	if (ret < 0)
		complain("%u:%u: %s", why.line, why.column, why.text);
	else if (*separator == ' ')
		complain("there is no rule in this: sctpiw fault PID RULES, see --help");
	return !ret && *separator == ';';
}

/* Writes the request of the words after PID. On error, calls complain() and returns false. */
static bool make_request(char **words, char request[ROOM])
{
	bool removes = words[0] && !strcmp(words[0], "remove");
	unsigned long number = 0;

	if (!words[0]) {
		complain("RULES, list or remove is missing: sctpiw fault PID RULES, see --help");
		return false;
	}
	if (removes && !words[1]) {
		complain(
			"remove needs the number of a rule, or all; sctpiw fault PID list shows them");
		return false;
	}
	if (words[1 + removes]) {
		complain("%s is one word too many: rules are one word, in quotes",
			 words[1 + removes]);
		return false;
	}
	if (!strcmp(words[0], "list"))
		return sprintf(request, "text fault list");
	if (!removes)
		return request_rules(words[0], request);
	if (!strcmp(words[1], "all"))
		return sprintf(request, "text fault remove all");
	if (is_number(words[1], UINT32_MAX, &number))
		return sprintf(request, "text fault remove %lu", number);
	complain("%s is not the number of a rule; sctpiw fault PID list shows them", words[1]);
	return false;
}

/* ---- answers ---- */

static int print_answer(char *text)
{
	struct fields f;

	while (fields_next(&text, &f)) {
		if (!strcmp(f.kind, "refused")) {
			complain("%s", fields_get(&f, "text"));
			return EXIT_FAILURE;
		}
		if (!strcmp(f.kind, "fault"))
			printf("%s: fired %s of %s times, seed %s: %s\n", fields_get(&f, "num"),
			       fields_get(&f, "fired"), fields_get(&f, "seen"),
			       fields_get(&f, "seed"), fields_get(&f, "rule"));
		if (!strcmp(f.kind, "removed"))
			printf("removed %s\n", fields_get(&f, "faults"));
	}
	return EXIT_SUCCESS;
}

int fault_run(char **words)
{
	struct answers answers = { 0 };
	char request[ROOM];
	unsigned long pid;
	int status = EXIT_FAILURE;

	if (!words[0]) {
		complain("PID is missing: sctpiw fault PID RULES, see --help");
		return EXIT_USAGE;
	}
	if (!is_number(words[0], INT32_MAX, &pid)) {
		complain(
			"%s is not the number of a process; 'sctpiw stat' shows all that have the device",
			words[0]);
		return EXIT_USAGE;
	}
	if (!make_request(words + 1, request))
		return EXIT_USAGE;
	if (ask_process((pid_t)pid, request, &answers, false))
		status = print_answer(answers.at[0].text);
	ask_free(&answers);
	return status;
}
