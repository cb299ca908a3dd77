/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads rules of faults from a text, which may contain any bytes. docs/faults.md has the grammar.
 */
#ifndef SCTPIW_FAULTS_FAULT_PARSE_H
#define SCTPIW_FAULTS_FAULT_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "faults/fault_rule.h"

/* Place and cause of an error in a text. */
struct fault_error {
	unsigned int line, column; /* both count from 1; the column counts bytes */
	char text[300];		   /* cause and remedy, without line, column and newline */
};

/* A text with rules, and the position in it. */
struct fault_reader {
	const char *at, *end;
	const char *line_start;
	unsigned int line;
};

void fault_reader_init(struct fault_reader *r, const char *text, size_t len);
/*
 * Reads the next rule. Returns 1 and sets *rule, or returns 0 at the end of the text. Returns -1
 * and sets err if the rule is wrong; do not call again then.
 */
int fault_read(struct fault_reader *r, struct fault_rule *rule, struct fault_error *err);

#endif
