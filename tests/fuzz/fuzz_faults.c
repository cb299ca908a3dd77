/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: faults */
/*
 * A text of any bytes is either rules, which are then tried on events, or refused with a place and
 * a reason.
 */
#include "faults/fault_set.h"
#include "fixture/input.h"

#define TEXT_MAX 4096
#define EVENTS 16

static void check_rule(const struct fault_rule *r)
{
	must(r->site < FAULT_SITES && r->action.id < FAULT_ACTIONS);
	must(fault_actions[r->action.id].classes & fault_class_of(r->site));
	must(r->action.given >> fault_actions[r->action.id].n_args == 0);
	must(strnlen(r->text, sizeof(r->text)) < sizeof(r->text));
	must(r->when.probability <= 1ull << 32 && r->when.burst_loss <= 1ull << 32);
}

/* Checks that the text of a rule yields the same rule again. */
static void read_again(const struct fault_rule *r)
{
	struct fault_rule again;
	struct fault_error err;
	struct fault_reader reader;

	fault_reader_init(&reader, r->text, strlen(r->text));
	must(fault_read(&reader, &again, &err) == 1);
	again.line = r->line;
	must(!memcmp(&again, r, sizeof(again)));
}

static void run(struct fault_set *s)
{
	const struct fault_attrs attrs = { .known = UINT32_MAX, .bytes = 1000 };
	struct fault_action a;
	uint64_t now = 0;

	for (unsigned int i = 0; i < EVENTS; i++, now += 1000000000) {
		for (unsigned int site = 1; site < FAULT_SITES; site++)
			must(!fault_set_ask(s, (enum fault_site)site, &attrs, now, &a) ||
			     a.id < FAULT_ACTIONS);
		for (unsigned int k = 0; k < FAULT_RULES_MAX && fault_set_timer(s, now, &a); k++)
			must(a.id < FAULT_ACTIONS);
		must(fault_set_due(s) > now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault_error err = { .text = "" };
	struct fault_reader reader;
	struct fault_rule rule;
	struct fault_set set;
	char *text;
	int ret;

	if (size > TEXT_MAX)
		return 0;
	text = malloc(size + 1);
	must(text);
	memcpy(text, data, size);
	text[size] = 'x'; /* the reader must stop before it */
	fault_set_init(&set, size);
	fault_reader_init(&reader, text, size);
	while ((ret = fault_read(&reader, &rule, &err)) > 0) {
		check_rule(&rule);
		read_again(&rule);
		fault_set_add(&set, &rule, 0);
	}
	must(ret == 0 || (err.line && err.column && *err.text && !strchr(err.text, '\n')));
	run(&set);
	fault_set_fini(&set);
	free(text);
	return 0;
}
