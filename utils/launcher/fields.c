/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/control.h"

/* ---- checks ---- */

static bool take(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Skips a JSON string that line_text() (runtime/line.c) has written. */
static bool take_string(const char **at)
{
	const char *p = *at;

	if (*p++ != '"')
		return false;
	for (; *p && *p != '"'; p++)
		if (*p == '\\' && *++p != '"' && *p != '\\')
			return false;
	*at = p + 1;
	return *p;
}

static bool take_value(const char **at)
{
	size_t digits = strspn(*at, "-.0123456789");

	*at += digits;
	return digits || take(at, "true") || take(at, "false") || take_string(at);
}

/* True for a line of the form {"kind":{"name":value,...}}. */
static bool is_json(const char *p)
{
	bool ok = take(&p, "{") && take_string(&p) && take(&p, ":{"), more = ok && *p != '}';

	while (more) {
		ok = take_string(&p) && take(&p, ":") && take_value(&p);
		more = ok && take(&p, ",");
	}
	return ok && !strcmp(p, "}}");
}

/* Returns false only for a line "process" that does not contain this process number. */
static bool is_of(const char *line, bool json, pid_t pid)
{
	const char *kind = json ? "{\"process\":" : "process\t";
	char begin[64];

	if (strncmp(line, kind, strlen(kind)) != 0)
		return true;
	snprintf(begin, sizeof(begin), "%s%s%d%s", kind, json ? "{\"pid\":" : "pid\t", (int)pid,
		 json ? "," : "\t");
	return take(&line, begin) && !strstr(line, "\"pid\":");
}

bool fields_are_sound(const char *line, size_t len, bool json, pid_t pid)
{
	char text[CONTROL_LINE_MAX + 1];

	if (len >= CONTROL_LINE_MAX)
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if ((text[i] < ' ' && (json || text[i] != '\t')) || text[i] >= 0x7f)
			return false;
	return (!json || is_json(text)) && is_of(text, json, pid);
}

/* ---- lines ---- */

/* Returns the next line of *text without its newline, or NULL at the end. */
static char *next_line(char **text)
{
	char *line = *text, *newline = strchr(line, '\n');

	if (!newline)
		return NULL;
	*newline = '\0';
	*text = newline + 1;
	return line;
}

bool fields_next(char **text, struct fields *f)
{
	char *rest = next_line(text);

	f->n = 0;
	if (!rest)
		return false;
	f->kind = strsep(&rest, "\t");
	while (rest && f->n < FIELDS_MAX) {
		f->name[f->n] = strsep(&rest, "\t");
		f->value[f->n++] = rest ? strsep(&rest, "\t") : "";
	}
	return true;
}

const char *fields_get(const struct fields *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++) {
		if (!strcmp(f->name[i], name))
			return f->value[i];
	}
	return NULL;
}

unsigned long long fields_number(const struct fields *f, const char *name)
{
	const char *value = fields_get(f, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* Parses {"kind":{members}}. */
bool json_next(char **text, struct json_line *l)
{
	char *line = next_line(text), *end;
	size_t len = line ? strlen(line) : 0;

	if (len < sizeof("{\"\":{}}") - 1)
		return false;
	line[len - 2] = '\0';
	l->kind = line + 2;
	end = strchr(l->kind, '"');
	if (!end || strncmp(end, "\":{", 3))
		return false;
	*end = '\0';
	l->members = end + 3;
	return true;
}
