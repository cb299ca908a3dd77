/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The values in a rule, and what is said of those that are wrong. For fault_parse.c. */
#ifndef SCTPIW_FAULTS_FAULT_VALUES_H
#define SCTPIW_FAULTS_FAULT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_parse.h"
#include "faults/fault_rule.h"
#include "faults/fault_words.h"

#define FAULT_VALUES_LISTED "`sctpiw fault --help` lists them"
#define FAULT_VALUES_ALWAYS (1ull << 32) /* the probability 1 */
#define FAULT_VALUES_SHOWN 44		 /* bytes of a word that is shown */

/* Where a reader has come to, and where its error goes. */
struct fault_place {
	struct fault_words words;
	const char *line_start;
	unsigned int line;
	struct fault_error *err;
};

/* Says what is wrong at that place of the text; returns false. */
bool fault_values_wrong(struct fault_place *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Says that something else than this word was expected; returns false. */
bool fault_values_unexpected(struct fault_place *p, struct fault_word w, const char *expected);
/* The word as it may be shown: not too long, and nothing that steers a terminal. */
const char *fault_values_shown(struct fault_word w, char buf[FAULT_VALUES_SHOWN]);

/*
 * Each takes the next value; false: there is none of that kind, and the error is set. expected: what to say then.
 */
bool fault_values_number(struct fault_place *p, struct fault_number *n, const char *expected);
bool fault_values_time(struct fault_place *p, uint64_t *value);
/* A time that may be 0: the beginning. */
bool fault_values_moment(struct fault_place *p, uint64_t *value);
bool fault_values_count(struct fault_place *p, uint64_t *value);
bool fault_values_probability(struct fault_place *p, uint64_t *value);
bool fault_values_address(struct fault_place *p, struct ip_addr *addr);
/* Of any kind but QP and ADDR, which selectors alone have. data: where one of kind DATA goes; *value is its length. */
bool fault_values_take(struct fault_place *p, enum fault_kind kind, uint64_t *value,
		       uint8_t data[FAULT_DATA_MAX]);

#endif
