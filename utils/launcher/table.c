/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_begin(struct table *t, const struct table_column *columns, size_t n_columns)
{
	*t = (struct table){ .columns = columns, .n_columns = n_columns };
}

void table_add(struct table *t, const char *cell)
{
	char **cells = realloc(t->cells, (t->n_cells + 1) * sizeof(*cells));

	if (!cells)
		abort();
	t->cells = cells;
	cells[t->n_cells] = strdup(cell && *cell ? cell : "-");
	if (!cells[t->n_cells++])
		abort();
}

static size_t width(const struct table *t, size_t column)
{
	size_t widest = strlen(t->columns[column].title), len;

	if (t->columns[column].at_least > widest)
		widest = t->columns[column].at_least;
	for (size_t i = column; i < t->n_cells; i += t->n_columns) {
		len = strlen(t->cells[i]);
		if (len > widest)
			widest = len;
	}
	return widest;
}

static void print_cell(const struct table *t, size_t column, const char *cell, size_t widest)
{
	const char *gap = column ? "  " : "";

	if (!t->columns[column].text)
		printf("%s%*s", gap, (int)widest, cell);
	else if (column == t->n_columns - 1) /* no blanks at the end of a line */
		printf("%s%s", gap, cell);
	else
		printf("%s%-*s", gap, (int)widest, cell);
	if (column == t->n_columns - 1)
		putchar('\n');
}

void table_print(struct table *t, bool title)
{
	size_t *widths = calloc(t->n_columns, sizeof(*widths));

	if (!widths)
		abort();
	for (size_t i = 0; i < t->n_columns; i++)
		widths[i] = width(t, i);
	for (size_t i = 0; title && i < t->n_columns; i++)
		print_cell(t, i, t->columns[i].title, widths[i]);
	for (size_t i = 0; i < t->n_cells; i++) {
		print_cell(t, i % t->n_columns, t->cells[i], widths[i % t->n_columns]);
		free(t->cells[i]);
	}
	free(t->cells);
	free(widths);
}
