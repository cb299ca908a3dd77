/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The values in a rule, and the error messages about them. For fault_parse.c. */
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
#define FAULT_VALUES_SHOWN 44		 /* bytes of a word in a message */

/* Position of a reader, and destination of its error. */
struct fault_place {
	struct fault_words words;
	const char *line_start;
	unsigned int line;
	struct fault_error *err;
};

/* Sets an error for that place of the text. Returns false. */
bool fault_values_wrong(struct fault_place *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the error that another word was expected. Returns false. */
bool fault_values_unexpected(struct fault_place *p, struct fault_word w, const char *expected);
/* Returns the word in printable form: shortened, without control characters. */
const char *fault_values_shown(struct fault_word w, char buf[FAULT_VALUES_SHOWN]);

/*
 * Each function takes the next value. Returns false, and sets the error, if it is not of that kind.
 * expected: words for the message.
 */
bool fault_values_number(struct fault_place *p, struct fault_number *n, const char *expected);
bool fault_values_time(struct fault_place *p, uint64_t *value);
/* Takes a time that may be 0. */
bool fault_values_moment(struct fault_place *p, uint64_t *value);
bool fault_values_count(struct fault_place *p, uint64_t *value);
bool fault_values_probability(struct fault_place *p, uint64_t *value);
bool fault_values_address(struct fault_place *p, struct ip_addr *addr);
/*
 * Takes a value of any kind but QP and ADDR, which only selectors have. data: destination for kind
 * DATA; *value is its length.
 */
bool fault_values_take(struct fault_place *p, enum fault_kind kind, uint64_t *value,
		       uint8_t data[FAULT_DATA_MAX]);

#endif
