/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A table whose columns line up: cells are collected, and printed together. */
#ifndef UTILS_LAUNCHER_TABLE_H
#define UTILS_LAUNCHER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table_column {
	const char *title;
	bool text;	 /* words, which stand at the left; else numbers, at the right */
	size_t at_least; /* letters */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	char **cells; /* row by row */
	size_t n_cells;
};

void table_begin(struct table *t, const struct table_column *columns, size_t n_columns);
/* Adds the next cell, of which a copy is made; "" and NULL are printed as "-". */
void table_add(struct table *t, const char *cell);
/* Prints the rows, below the titles if title is set, and frees the cells. */
void table_print(struct table *t, bool title);

#endif
