/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/fields.h"

#include <stdlib.h>
#include <string.h>

/* The next line without its newline; NULL: there is none. */
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

/* {"kind":{members}} */
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
