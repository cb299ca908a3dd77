/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The words of a rule, and the numbers with units among them. For fault_parse.c. */
#ifndef SCTPIW_FAULTS_FAULT_WORDS_H
#define SCTPIW_FAULTS_FAULT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text: letters and digits, a comma, or what stands between quotes, with them. */
struct fault_word {
	const char *at;
	size_t len; /* 0: there is no more */
};

/* Where a reader has come to in the text [at, end) of one rule. */
struct fault_words {
	const char *at, *end;
};

/* Takes the next word, or only looks at it. */
struct fault_word fault_words_take(struct fault_words *w);
struct fault_word fault_words_peek(const struct fault_words *w);
/* Whether the word is this text. */
bool fault_word_is(struct fault_word w, const char *text);
/*
 * Takes the next words if they are those of text, which has one blank between each two; false: they are others, and
 * nothing was taken.
 */
bool fault_words_match(struct fault_words *w, const char *text);

/* Where the text of a rule ends: at a semicolon, a comment, the end of the line or of the text. */
const char *fault_rule_end(const char *at, const char *end);
/* The colon between the clauses and the action, or NULL. */
const char *fault_rule_colon(const char *at, const char *end);

enum fault_unit { FAULT_UNIT_NONE, FAULT_UNIT_TIME, FAULT_UNIT_SIZE, FAULT_UNIT_RATE };

/* A number as it is written. */
struct fault_number {
	enum fault_unit unit;
	uint64_t value; /* in the smallest unit of its kind: ns, bytes, bits a second; of NONE the number */
	bool ordinal;  /* 3rd */
	bool fraction; /* 0.5 and no unit: value counts 2^-32 */
};

/*
 * Takes a number, with the unit that stands behind it or is the next word. false: there is none, or it is too large;
 * then something may have been taken.
 */
bool fault_words_number(struct fault_words *w, struct fault_number *n);

#endif
