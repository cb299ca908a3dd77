/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A table with aligned columns. The cells are collected, and printed together. If the table is too
 * wide for a line, its last columns are printed as a separate table.
 */
#ifndef UTILS_LAUNCHER_TABLE_H
#define UTILS_LAUNCHER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table_column {
	const char *title;
	/* true for words, which are aligned to the left; false for numbers, to the right */
	bool text;
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	/* number of the first columns that identify a row; each part of the table repeats them */
	size_t n_keys;
	char **cells; /* the cells of the first row, of the second row, and so on */
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
