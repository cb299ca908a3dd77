/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Splits a rule into words, and parses numbers with units, for fault_parse.c. */
#ifndef SCTPIW_FAULTS_FAULT_WORDS_H
#define SCTPIW_FAULTS_FAULT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A word of a text. It is a comma, a quoted text with its quotes, or the characters up to the next
 * blank, comma or quote.
 */
struct fault_word {
	const char *at;
	size_t len; /* 0: end of the text */
};

/* The rest [at, end) of the text of a rule. */
struct fault_words {
	const char *at, *end;
};

/* Both return the next word. fault_words_take() also advances to the position after the word. */
struct fault_word fault_words_take(struct fault_words *w);
struct fault_word fault_words_peek(const struct fault_words *w);
bool fault_word_is(struct fault_word w, const char *text);
/*
 * Takes the next words if they equal the words of text, which has single blanks between them.
 * Otherwise takes no word, and returns false.
 */
bool fault_words_match(struct fault_words *w, const char *text);

/*
 * Returns the end of the rule at `at`: the next semicolon or comment, or the end of the line or
 * text.
 */
const char *fault_rule_end(const char *at, const char *end);
/* Returns the position of the colon between clauses and action, or NULL. */
const char *fault_rule_colon(const char *at, const char *end);

enum fault_unit { FAULT_UNIT_NONE, FAULT_UNIT_TIME, FAULT_UNIT_SIZE, FAULT_UNIT_RATE };

struct fault_number {
	enum fault_unit unit;
	uint64_t value; /* in ns, bytes or bits per second; without a unit, the number */
	bool ordinal;	/* an ordinal, such as 3rd */
	bool fraction;	/* a fraction without a unit, such as 0.5; value is in units of 2^-32 */
};

/*
 * Takes a number and its unit, which may be attached or the next word. Returns false if there is no
 * number, or if it is too large. In this case, some words may be taken.
 */
bool fault_words_number(struct fault_words *w, struct fault_number *n);

#endif
