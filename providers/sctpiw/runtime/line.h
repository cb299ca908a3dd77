/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A line of an answer at the control socket, in either form (sys/control.h). No lock. */
#ifndef SCTPIW_RUNTIME_LINE_H
#define SCTPIW_RUNTIME_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/control.h"

struct line {
	bool json;
	bool first; /* it has no member yet */
	size_t len;
	char text[CONTROL_LINE_MAX];
};

/* Begins a line of this kind. Names and kinds are plain words. */
void line_begin(struct line *l, bool json, const char *kind);
/*
 * Add a member, unless the line would become too long. In a text, control characters and bytes
 * beyond ASCII, which need not be UTF-8, become question marks.
 */
void line_number(struct line *l, const char *name, uint64_t value);
void line_flag(struct line *l, const char *name, bool value);
void line_text(struct line *l, const char *name, const char *value);
/* Ends the line with a newline. Its text then has len bytes. */
void line_end(struct line *l);

#endif
