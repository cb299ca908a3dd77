/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parses the values in a rule, and makes the error messages about them, for fault_parse.c. */
#ifndef SCTPIW_FAULTS_FAULT_VALUES_H
#define SCTPIW_FAULTS_FAULT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_parse.h"
#include "faults/fault_rule.h"
#include "faults/fault_words.h"

#define FAULT_VALUES_LISTED "`sctpiw fault --help` lists them"
#define FAULT_VALUES_ALWAYS (1ull << 32) /* probability 1 */
#define FAULT_VALUES_SHOWN 44		 /* buffer for a word in a message, in bytes */

/* Position in a text, and destination of an error. */
struct fault_place {
	struct fault_words words;
	const char *line_start;
	unsigned int line;
	struct fault_error *err;
};

/* Sets an error at this position of the text. Returns false. */
bool fault_values_wrong(struct fault_place *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the error that w was found instead of the expected words. Returns false. */
bool fault_values_unexpected(struct fault_place *p, struct fault_word w, const char *expected);
/* Returns the word in printable form, for an error message. A long word is shortened. */
const char *fault_values_shown(struct fault_word w, char buf[FAULT_VALUES_SHOWN]);

/*
 * Each function takes the next value from the text. If the value has the wrong kind, sets the
 * error, and returns false. expected: description of the expected value, for the message.
 */
bool fault_values_number(struct fault_place *p, struct fault_number *n, const char *expected);
bool fault_values_time(struct fault_place *p, uint64_t *value);
/* Takes a time, which may be 0. */
bool fault_values_moment(struct fault_place *p, uint64_t *value);
bool fault_values_count(struct fault_place *p, uint64_t *value);
bool fault_values_probability(struct fault_place *p, uint64_t *value);
bool fault_values_address(struct fault_place *p, struct ip_addr *addr);
/*
 * Takes a value of any kind except QP and ADDR, which only selectors have. For kind DATA, writes
 * the text to data, and sets *value to its length.
 */
bool fault_values_take(struct fault_place *p, enum fault_kind kind, uint64_t *value,
		       uint8_t data[FAULT_DATA_MAX]);

#endif
