/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "faults/fault_words.h"

#include <string.h>

#define DIGITS_MAX 18
#define FRACTION_MAX 9 /* digits after the decimal point */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Returns the position after the closing quote. If there is none, returns the end of the line or
 * text.
 */
static const char *skip_quoted(const char *at, const char *end)
{
	for (at++; at < end && *at != '\n'; at++) {
		if (*at == '"')
			return at + 1;
	}
	return at;
}

/* ---- words ---- */

struct fault_word fault_words_peek(const struct fault_words *w)
{
	struct fault_word word = { .at = w->at };
	const char *p;

	while (word.at < w->end && is_blank(*word.at))
		word.at++;
	p = word.at;
	if (p < w->end && *p == '"') {
		p = skip_quoted(p, w->end);
	} else if (p < w->end && *p == ',') {
		p++;
	} else {
		while (p < w->end && !is_blank(*p) && *p != ',' && *p != '"')
			p++;
	}
	word.len = (size_t)(p - word.at);
	return word;
}

struct fault_word fault_words_take(struct fault_words *w)
{
	struct fault_word word = fault_words_peek(w);

	w->at = word.at + word.len;
	return word;
}

bool fault_word_is(struct fault_word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

bool fault_words_match(struct fault_words *w, const char *text)
{
	struct fault_words ahead = *w;

	while (*text) {
		struct fault_word word = fault_words_take(&ahead);
		size_t len = strcspn(text, " ");

		if (word.len != len || memcmp(word.at, text, len))
			return false;
		text += len;
		text += *text == ' ';
	}
	*w = ahead;
	return true;
}

const char *fault_rule_end(const char *at, const char *end)
{
	while (at < end && *at != '\n' && *at != ';' && *at != '#')
		at = *at == '"' ? skip_quoted(at, end) : at + 1;
	return at;
}

const char *fault_rule_colon(const char *at, const char *end)
{
	while (at < end) {
		if (*at == ':' && (at + 1 == end || is_blank(at[1])))
			return at;
		at = *at == '"' ? skip_quoted(at, end) : at + 1;
	}
	return NULL;
}

/* ---- numbers ---- */

static const struct {
	const char *text;
	enum fault_unit unit;
	uint64_t factor;
} units[] = {
	{ "ns", FAULT_UNIT_TIME, 1 },
	{ "us", FAULT_UNIT_TIME, 1000 },
	{ "ms", FAULT_UNIT_TIME, 1000000 },
	{ "s", FAULT_UNIT_TIME, 1000000000 },
	{ "min", FAULT_UNIT_TIME, 60000000000 },
	{ "B", FAULT_UNIT_SIZE, 1 },
	{ "kB", FAULT_UNIT_SIZE, 1000 },
	{ "MB", FAULT_UNIT_SIZE, 1000000 },
	{ "GB", FAULT_UNIT_SIZE, 1000000000 },
	{ "KiB", FAULT_UNIT_SIZE, 1 << 10 },
	{ "MiB", FAULT_UNIT_SIZE, 1 << 20 },
	{ "GiB", FAULT_UNIT_SIZE, 1 << 30 },
	{ "bit/s", FAULT_UNIT_RATE, 1 },
	{ "kbit/s", FAULT_UNIT_RATE, 1000 },
	{ "Mbit/s", FAULT_UNIT_RATE, 1000000 },
	{ "Gbit/s", FAULT_UNIT_RATE, 1000000000 },
};

/*
 * Returns the unit with this name, and sets *factor to its size in the smallest unit. Returns
 * FAULT_UNIT_NONE if no unit has this name.
 */
static enum fault_unit find_unit(struct fault_word w, uint64_t *factor)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (fault_word_is(w, units[i].text)) {
			*factor = units[i].factor;
			return units[i].unit;
		}
	}
	return FAULT_UNIT_NONE;
}

static bool is_ordinal(struct fault_word w)
{
	return fault_word_is(w, "st") || fault_word_is(w, "nd") || fault_word_is(w, "rd") ||
	       fault_word_is(w, "th");
}

/*
 * Removes the decimal digits from the beginning of a word. Returns false if there are none, or too
 * many.
 */
static bool take_digits(struct fault_word *w, uint64_t *value, unsigned int *count)
{
	*value = 0;
	for (*count = 0; w->len && is_digit(*w->at); (*count)++) {
		*value = 10 * *value + (uint64_t)(*w->at - '0');
		w->at++;
		w->len--;
		if (*count == DIGITS_MAX)
			return false;
	}
	return *count;
}

static bool take_hex(struct fault_word w, uint64_t *value)
{
	*value = 0;
	if (w.len < 3 || w.len > 2 + 16)
		return false;
	for (size_t i = 2; i < w.len; i++) {
		char c = w.at[i] >= 'A' && w.at[i] <= 'F' ? (char)(w.at[i] + 'a' - 'A') : w.at[i];

		if (is_digit(c))
			*value = *value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	return true;
}

/*
 * Returns factor * numerator / 10^digits, rounded down. Does not overflow for digits <=
 * FRACTION_MAX.
 */
static uint64_t part(uint64_t numerator, unsigned int digits, uint64_t factor)
{
	uint64_t power = 1;

	while (digits--)
		power *= 10;
	return factor / power * numerator + factor % power * numerator / power;
}

bool fault_words_number(struct fault_words *w, struct fault_number *n)
{
	struct fault_word word = fault_words_take(w), next;
	uint64_t whole, fraction = 0, factor = 1;
	unsigned int digits, behind = 0;

	memset(n, 0, sizeof(*n));
	if (word.len > 2 && word.at[0] == '0' && (word.at[1] == 'x' || word.at[1] == 'X'))
		return take_hex(word, &n->value);
	if (!take_digits(&word, &whole, &digits))
		return false;
	if (word.len && *word.at == '.') {
		word.at++;
		word.len--;
		if (!take_digits(&word, &fraction, &behind) || behind > FRACTION_MAX)
			return false;
	}
	if (word.len && !behind && is_ordinal(word)) {
		n->ordinal = true;
		n->value = whole;
		return true;
	}
	if (word.len) {
		n->unit = find_unit(word, &factor);
		if (!n->unit)
			return false;
	} else {
		next = fault_words_peek(w);
		n->unit = find_unit(next, &factor);
		if (n->unit)
			fault_words_take(w);
	}
	if (!n->unit && behind) {
		n->fraction = true;
		factor = 1ull << 32;
	}
	return !__builtin_mul_overflow(whole, factor, &n->value) &&
	       !__builtin_add_overflow(n->value, part(fraction, behind, factor), &n->value);
}
