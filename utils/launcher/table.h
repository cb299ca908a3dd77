/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table with aligned columns. Cells are collected and printed together. If a table is too wide,
 * its last columns follow in a separate table.
 */
#ifndef UTILS_LAUNCHER_TABLE_H
#define UTILS_LAUNCHER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table_column {
	const char *title;
	bool text; /* words, aligned to the left; else numbers, aligned to the right */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	size_t n_keys; /* the first columns, which identify a row and are repeated in each part */
	char **cells;  /* row by row */
	size_t n_cells;
};

/* n_keys is at least 1. */
void table_begin(struct table *t, const struct table_column *columns, size_t n_columns,
		 size_t n_keys);
/* Adds a copy of the next cell; "" and NULL are printed as "-". */
void table_add(struct table *t, const char *cell);
/* Prints the titles and the rows, and frees the cells. */
void table_print(struct table *t);

#endif
