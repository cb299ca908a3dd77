/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The words of a rule, and numbers with units. For fault_parse.c. */
#ifndef SCTPIW_FAULTS_FAULT_WORDS_H
#define SCTPIW_FAULTS_FAULT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text: letters and digits, a comma, or quoted text with its quotes. */
struct fault_word {
	const char *at;
	size_t len; /* 0: end of the text */
};

/* Position of a reader in the text [at, end) of one rule. */
struct fault_words {
	const char *at, *end;
};

/* Takes the next word. fault_words_peek() does not take it. */
struct fault_word fault_words_take(struct fault_words *w);
struct fault_word fault_words_peek(const struct fault_words *w);
/* True if the word equals text. */
bool fault_word_is(struct fault_word w, const char *text);
/*
 * Takes the next words if they equal text, which has single blanks. Otherwise takes nothing, and
 * returns false.
 */
bool fault_words_match(struct fault_words *w, const char *text);

/* Returns the end of a rule: a semicolon, a comment, or the end of the line or text. */
const char *fault_rule_end(const char *at, const char *end);
/* Returns the colon between clauses and action, or NULL. */
const char *fault_rule_colon(const char *at, const char *end);

enum fault_unit { FAULT_UNIT_NONE, FAULT_UNIT_TIME, FAULT_UNIT_SIZE, FAULT_UNIT_RATE };

/* A number in a rule. */
struct fault_number {
	enum fault_unit unit;
	uint64_t value; /* in smallest units: ns, bytes, bits per second; NONE: the number */
	bool ordinal;	/* such as 3rd */
	bool fraction;	/* such as 0.5, without a unit: value in units of 2^-32 */
};

/*
 * Takes a number and its unit, attached or as the next word. Returns false if there is none, or it
 * is too large; some words may be taken then.
 */
bool fault_words_number(struct fault_words *w, struct fault_number *n);

#endif
