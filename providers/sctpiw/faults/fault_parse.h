/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads rules from text, which may have any bytes (docs/faults.md has the grammar). */
#ifndef SCTPIW_FAULTS_FAULT_PARSE_H
#define SCTPIW_FAULTS_FAULT_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "faults/fault_rule.h"

/* Where and why a text was not understood. */
struct fault_error {
	unsigned int line, column; /* from 1; the column counts bytes */
	char text[300];		   /* cause and remedy, without line, column and newline */
};

/* A text that is being read. */
struct fault_reader {
	const char *at, *end;
	const char *line_start;
	unsigned int line;
};

void fault_reader_init(struct fault_reader *r, const char *text, size_t len);
/*
 * Reads the next rule. 1: *rule is it. 0: there is none any more. -1: err says what is wrong with it; nothing can be
 * read behind that.
 */
int fault_read(struct fault_reader *r, struct fault_rule *rule, struct fault_error *err);

#endif
