/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parser of settings files. */
#include "config/config.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct config_builder *b;
	const char *source, *text, *end;
	unsigned int line;
	struct config_error *err;
	unsigned int err_line;		     /* line of the first error; 0: none */
	unsigned int lines[CONFIG_SETTINGS]; /* line that sets each setting; 0: none yet */
};

static bool complain(struct reader *r, const char *what)
{
	if (!r->err_line) {
		r->err_line = r->line;
		snprintf(r->err->text, sizeof(r->err->text), "%s:%u: %s", r->source, r->line, what);
	}
	return false;
}

/*
 * Returns the next line for inih. Removes leading blanks, which inih would regard as a continuation
 * of the line before. Passes an empty line instead of a line that is too long, which inih would
 * split, and instead of a line with a zero octet, at which inih would stop.
 */
static char *next_line(char *buf, int size, void *user)
{
	struct reader *r = user;
	const char *line = r->text, *newline;
	size_t len;

	if (line == r->end)
		return NULL;
	newline = memchr(line, '\n', (size_t)(r->end - line));
	r->text = newline ? newline + 1 : r->end;
	r->line++;
	while (line < r->text && (*line == ' ' || *line == '\t'))
		line++;
	len = line == r->text || *line == '#' || *line == ';' ? 0 : (size_t)(r->text - line);
	if (len >= (size_t)size) {
		complain(r, "this line is too long: use the environment, or the command line");
		len = 0;
	} else if (memchr(line, 0, len)) {
		complain(r, "this is not text");
		len = 0;
	}
	memcpy(buf, line, len);
	buf[len] = '\0';
	return buf;
}

/* Returns false, with an error, if an earlier line sets the same setting. */
static bool is_first(struct reader *r, const char *name)
{
	char what[80];

	for (unsigned int i = 0; i < CONFIG_SETTINGS; i++) {
		if (strcmp(config_names(i)->name, name))
			continue;
		if (r->lines[i]) {
			snprintf(what, sizeof(what),
				 "%s stands in line %u already: take one of the two away", name,
				 r->lines[i]);
			return complain(r, what);
		}
		r->lines[i] = r->line;
	}
	return true;
}

static int take(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;
	char origin[sizeof(r->b->origin[0])];

	if (r->err_line)
		return 1;
	if (*section)
		return complain(r, "there are no [sections] here: take the one above away");
	if (!is_first(r, name))
		return 0;
	snprintf(origin, sizeof(origin), "%s:%u", r->source, r->line);
	if (config_set(r->b, origin, name, value, r->err))
		return 1;
	r->err_line = r->line;
	return 0;
}

bool config_parse(struct config_builder *b, const char *source, const char *text, size_t len,
		  struct config_error *err)
{
	struct reader r = { .b = b, .source = source, .text = text, .end = text + len, .err = err };
	int line = ini_parse_stream(next_line, &r, take, &r);

	/* Report the earlier of the first lines that inih and take() refuse. */
	if (line > 0 && (!r.err_line || (unsigned int)line < r.err_line)) {
		r.err_line = 0;
		r.line = (unsigned int)line;
		complain(&r, "this line is not of the form NAME = VALUE");
	} else if (line < 0) {
		complain(&r, "out of memory");
	}
	return !r.err_line;
}
