/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/*
 * Each action of the list has an injector wherever it may happen: the parser accepts no action that
 * does nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/faults_cm.h"
#include "runtime/faults_placement.h"
#include "runtime/faults_port.h"
#include "runtime/faults_qp.h"
#include "verbs/faults_verbs.h"

static const struct fault_injector *const injectors[] = {
	&faults_qp, &faults_placement, &faults_port, &faults_cm, &faults_verbs,
};
#define N (sizeof(injectors) / sizeof(injectors[0]))

static uint64_t done_at(unsigned int class)
{
	uint64_t actions = 0;

	for (size_t i = 0; i < N; i++)
		actions |= injectors[i]->does[class];
	/* At packets and completions, the caller passes on the actions that it does not perform. */
	if (class == FAULT_CLASS_NUMBER_PACKET || class == FAULT_CLASS_NUMBER_COMPLETION)
		actions |= done_at(FAULT_CLASS_NUMBER_TIMER);
	return actions;
}

static void actions_have_injectors(void **state)
{
	for (unsigned int class = 0; class < FAULT_CLASSES; class ++) {
		uint64_t done = done_at(class);

		for (unsigned int i = 0; i < FAULT_ACTIONS; i++) {
			if (fault_actions[i].classes >> class & 1 && !(done >> i & 1))
				fail_msg("nobody does %s at %s", fault_actions[i].words,
					 fault_classes[class].word);
		}
	}
}

/* The language has each action that an injector performs. */
static void injectors_have_actions(void **state)
{
	for (size_t i = 0; i < N; i++) {
		for (unsigned int class = 0; class < FAULT_CLASSES; class ++) {
			for (unsigned int k = 0; k < FAULT_ACTIONS; k++) {
				if (injectors[i]->does[class] >> k & 1)
					assert_true(fault_actions[k].classes >> class & 1);
			}
		}
	}
}

/* Exactly one injector performs each action of a timer, so that none happens twice. */
static void timed_actions_have_one_injector(void **state)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < N; i++) {
		uint64_t does = injectors[i]->does[FAULT_CLASS_NUMBER_TIMER];

		assert_int_equal(seen & does, 0);
		seen |= does;
		assert_int_equal(!does, !injectors[i]->perform);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(actions_have_injectors),
		cmocka_unit_test(injectors_have_actions),
		cmocka_unit_test(timed_actions_have_one_injector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
