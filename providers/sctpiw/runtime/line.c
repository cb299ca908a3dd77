/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/line.h"

#include <stdio.h>
#include <string.h>

#define TAIL 4 /* bytes that line_end() needs: two braces, the newline, a final zero */

static void put(struct line *l, const char *text, size_t len)
{
	memcpy(l->text + l->len, text, len);
	l->len += len;
}

/* Adds a member with a value that is already formatted. */
static void put_member(struct line *l, const char *name, const char *value, size_t value_len)
{
	char head[64];
	int n = snprintf(head, sizeof(head), l->json ? "%s\"%s\":" : "%s%s\t",
			 l->json ? (l->first ? "" : ",") : "\t", name);

	if (n < 0 || (size_t)n >= sizeof(head) ||
	    l->len + (size_t)n + value_len + TAIL > sizeof(l->text))
		return;
	put(l, head, (size_t)n);
	put(l, value, value_len);
	l->first = false;
}

void line_begin(struct line *l, bool json, const char *kind)
{
	l->json = json;
	l->first = true;
	l->len = (size_t)snprintf(l->text, sizeof(l->text), json ? "{\"%s\":{" : "%s", kind);
}

void line_number(struct line *l, const char *name, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	put_member(l, name, digits, (size_t)n);
}

void line_flag(struct line *l, const char *name, bool value)
{
	const char *json = value ? "true" : "false";
	const char *text = value ? "yes" : "no";
	const char *word = l->json ? json : text;

	put_member(l, name, word, strlen(word));
}

void line_text(struct line *l, const char *name, const char *value)
{
	char text[512];
	size_t n = 0;

	if (l->json)
		text[n++] = '"';
	for (; *value && n < sizeof(text) - 3; value++) {
		bool shown = *value >= ' ' && *value < 0x7f;

		if (l->json && (*value == '"' || *value == '\\'))
			text[n++] = '\\';
		text[n++] = shown ? *value : '?';
	}
	if (l->json)
		text[n++] = '"';
	put_member(l, name, text, n);
}

void line_end(struct line *l)
{
	if (l->json)
		put(l, "}}", 2);
	put(l, "\n", 1);
}
