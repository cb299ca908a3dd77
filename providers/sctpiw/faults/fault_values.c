/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "faults/fault_values.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

bool fault_values_wrong(struct fault_place *p, const char *at, const char *format, ...)
{
	va_list args;

	p->err->line = p->line;
	p->err->column = (unsigned int)(at - p->line_start) + 1;
	va_start(args, format);
	vsnprintf(p->err->text, sizeof(p->err->text), format, args);
	va_end(args);
	return false;
}

const char *fault_values_shown(struct fault_word w, char buf[FAULT_VALUES_SHOWN])
{
	size_t n = 0;

	if (!w.len)
		return "the end";
	for (; n < w.len && n < FAULT_VALUES_SHOWN - 4; n++)
		buf[n] = w.at[n] >= ' ' && w.at[n] < 127 ? w.at[n] : '?';
	snprintf(buf + n, FAULT_VALUES_SHOWN - n, "%s", n < w.len ? "..." : "");
	return buf;
}

/*
 * True if the word is a share, such as 1% or 0.01. A share is valid only in the trigger
 * `probability`.
 */
static bool is_share(struct fault_word w)
{
	return w.len > 1 && w.at[0] >= '0' && w.at[0] <= '9' &&
	       (w.at[w.len - 1] == '%' || (w.at[0] == '0' && w.at[1] == '.'));
}

bool fault_values_unexpected(struct fault_place *p, struct fault_word w, const char *expected)
{
	char buf[FAULT_VALUES_SHOWN];

	if (is_share(w))
		return fault_values_wrong(
			p, w.at,
			"%s stands where %s was expected; a share of 1 %% is a trigger, left of the colon: probability 0.01",
			fault_values_shown(w, buf), expected);
	return fault_values_wrong(p, w.at, "%s stands where %s was expected",
				  fault_values_shown(w, buf), expected);
}

/* ---- values ---- */

bool fault_values_number(struct fault_place *p, struct fault_number *n, const char *expected)
{
	struct fault_word w = fault_words_peek(&p->words);

	return fault_words_number(&p->words, n) || fault_values_unexpected(p, w, expected);
}

/* Takes a number that has this unit, and is from min to max. */
static bool take_unit(struct fault_place *p, enum fault_unit unit, uint64_t min, uint64_t max,
		      const char *expected, uint64_t *value)
{
	struct fault_word w = fault_words_peek(&p->words);
	struct fault_number n;

	if (!fault_values_number(p, &n, expected))
		return false;
	if (n.unit != unit || n.ordinal || n.fraction || n.value < min || n.value > max)
		return fault_values_unexpected(p, w, expected);
	*value = n.value;
	return true;
}

static bool take_time(struct fault_place *p, uint64_t min, uint64_t *value)
{
	/* Limit times to a century, so that sums of times do not overflow. */
	return take_unit(p, FAULT_UNIT_TIME, min, UINT64_MAX / 5, "a time, such as 200 ms,", value);
}

bool fault_values_time(struct fault_place *p, uint64_t *value)
{
	return take_time(p, 1, value);
}

bool fault_values_moment(struct fault_place *p, uint64_t *value)
{
	return take_time(p, 0, value);
}

bool fault_values_count(struct fault_place *p, uint64_t *value)
{
	return take_unit(p, FAULT_UNIT_NONE, 1, UINT64_MAX, "a number from 1", value);
}

bool fault_values_probability(struct fault_place *p, uint64_t *value)
{
	static const char expected[] = "a probability from 0 to 1, such as 0.02,";
	struct fault_word w = fault_words_peek(&p->words);
	struct fault_number n;

	if (!fault_values_number(p, &n, expected))
		return false;
	*value = n.fraction ? n.value : n.value > 1 ? UINT64_MAX : n.value * FAULT_VALUES_ALWAYS;
	if (n.unit || n.ordinal || *value > FAULT_VALUES_ALWAYS)
		return fault_values_unexpected(p, w, expected);
	return true;
}

bool fault_values_address(struct fault_place *p, struct ip_addr *addr)
{
	struct fault_word w = fault_words_take(&p->words);
	char text[INET6_ADDRSTRLEN + 1];
	struct in_addr v4;

	if (w.len >= sizeof(text))
		return fault_values_unexpected(p, w, "an address of IPv4 or IPv6");
	memcpy(text, w.at, w.len);
	text[w.len] = '\0';
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &v4) == 1)
		*addr = ip_addr_from_v4(&v4);
	else if (inet_pton(AF_INET6, text, addr->b) != 1)
		return fault_values_unexpected(p, w, "an address of IPv4 or IPv6");
	return true;
}

static bool take_data(struct fault_place *p, uint64_t *len, uint8_t data[FAULT_DATA_MAX])
{
	struct fault_word w = fault_words_take(&p->words);

	if (w.len < 2 || *w.at != '"' || w.at[w.len - 1] != '"')
		return fault_values_unexpected(p, w, "text between double quotes");
	*len = w.len - 2;
	if (*len > FAULT_DATA_MAX)
		return fault_values_wrong(p, w.at, "private data has %d bytes at most",
					  FAULT_DATA_MAX);
	memcpy(data, w.at + 1, *len);
	return true;
}

/* Returns the words that describe a kind of names in error messages. */
static const char *kind_word(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_KIND_STATE:
		return "state of a queue pair: reset, init, rtr, rts, sqd, sqe or err are they";
	case FAULT_KIND_OPCODE:
		return "opcode of work requests: " FAULT_VALUES_LISTED;
	case FAULT_KIND_CHUNK:
		return "type of chunks: " FAULT_VALUES_LISTED;
	case FAULT_KIND_STATUS:
		return "status of completions: " FAULT_VALUES_LISTED;
	case FAULT_KIND_EVENT:
		return "asynchronous event: " FAULT_VALUES_LISTED;
	case FAULT_KIND_CM_EVENT:
		return "event of rdma_cm that may be reported: " FAULT_VALUES_LISTED;
	case FAULT_KIND_LIMIT:
		return "limit of the device: " FAULT_VALUES_LISTED;
	default:
		return "errno: " FAULT_VALUES_LISTED;
	}
}

static bool take_name(struct fault_place *p, enum fault_kind kind, uint64_t *value)
{
	struct fault_word w = fault_words_take(&p->words);
	char buf[FAULT_VALUES_SHOWN];

	for (const struct fault_name_info *n = fault_names; n->word; n++) {
		if (n->kind == kind && fault_word_is(w, n->word)) {
			*value = n->value;
			return true;
		}
	}
	return fault_values_wrong(p, w.at, "%s is no %s", fault_values_shown(w, buf),
				  kind_word(kind));
}

static bool take_small(struct fault_place *p, enum fault_kind kind, uint64_t *value)
{
	static const struct {
		uint64_t max;
		const char *expected;
	} bounds[] = {
		[FAULT_KIND_NUMBER] = { UINT32_MAX, "a number from 0 to 0xffffffff" },
		[FAULT_KIND_LAYER] = { 2, "a number from 0 to 2" },
		[FAULT_KIND_NIBBLE] = { 15, "a number from 0 to 15" },
		[FAULT_KIND_BYTE] = { 255, "a number from 0 to 255" },
		[FAULT_KIND_PORT] = { UINT16_MAX, "a port from 0 to 65535" },
		[FAULT_KIND_REASON] = { UINT16_MAX, "a number from 0 to 65535" },
	};

	return take_unit(p, FAULT_UNIT_NONE, 0, bounds[kind].max, bounds[kind].expected, value);
}

bool fault_values_take(struct fault_place *p, enum fault_kind kind, uint64_t *value,
		       uint8_t data[FAULT_DATA_MAX])
{
	switch (kind) {
	case FAULT_KIND_COUNT:
		return fault_values_count(p, value);
	case FAULT_KIND_NUMBER:
	case FAULT_KIND_LAYER:
	case FAULT_KIND_NIBBLE:
	case FAULT_KIND_BYTE:
	case FAULT_KIND_PORT:
	case FAULT_KIND_REASON:
		return take_small(p, kind, value);
	case FAULT_KIND_SIZE:
		return take_unit(p, FAULT_UNIT_SIZE, 1, UINT64_MAX, "a size, such as 64 KiB,",
				 value);
	case FAULT_KIND_TIME:
		return fault_values_time(p, value);
	case FAULT_KIND_RATE:
		return take_unit(p, FAULT_UNIT_RATE, 1, UINT64_MAX, "a rate, such as 10 Mbit/s,",
				 value);
	case FAULT_KIND_DATA:
		return take_data(p, value, data);
	default:
		return take_name(p, kind, value);
	}
}
