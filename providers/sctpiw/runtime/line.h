/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One line of an answer of the control socket, as text or as JSON (sys/control.h). No lock. */
#ifndef SCTPIW_RUNTIME_LINE_H
#define SCTPIW_RUNTIME_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/control.h"

struct line {
	bool json;
	bool first; /* the line has no member yet */
	size_t len;
	char text[CONTROL_LINE_MAX];
};

/* Begins a line of this kind. `kind` and the names of members are plain words. */
void line_begin(struct line *l, bool json, const char *kind);
/*
 * Add a member, unless the line would become too long. In the text form, question marks replace
 * control characters and bytes beyond ASCII, which may be invalid UTF-8.
 */
void line_number(struct line *l, const char *name, uint64_t value);
void line_flag(struct line *l, const char *name, bool value);
void line_text(struct line *l, const char *name, const char *value);
/* Ends the line with a newline. The text then has l->len bytes. */
void line_end(struct line *l);

#endif
