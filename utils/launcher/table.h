/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table whose columns line up: cells are collected, and printed together. A table that is too wide is folded: its last
 * columns follow in a table of their own.
 */
#ifndef UTILS_LAUNCHER_TABLE_H
#define UTILS_LAUNCHER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table_column {
	const char *title;
	bool text; /* words, which stand at the left; else numbers, at the right */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	size_t n_keys; /* the first columns, which name a row, and are repeated in each part */
	char **cells;  /* row by row */
	size_t n_cells;
};

/* n_keys is 1 at least. */
void table_begin(struct table *t, const struct table_column *columns, size_t n_columns,
		 size_t n_keys);
/* Adds the next cell, of which a copy is made; "" and NULL are printed as "-". */
void table_add(struct table *t, const char *cell);
/* Prints the titles and the rows, and frees the cells. */
void table_print(struct table *t);

#endif
