/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/columns.h"

#define GAP 2 /* number of letters between two columns */

void table_begin(struct table *t, const struct table_column *columns, size_t n_columns,
		 size_t n_keys)
{
	*t = (struct table){ .columns = columns, .n_columns = n_columns, .n_keys = n_keys };
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

	for (size_t i = column; i < t->n_cells; i += t->n_columns) {
		len = strlen(t->cells[i]);
		if (len > widest)
			widest = len;
	}
	return widest;
}

/* ---- folding ---- */

/* A part of a table: the keys, and the columns from first to end - 1, which fit into a line. */
struct part {
	const struct table *t;
	const size_t *widths; /* widths of all columns of the table */
	size_t keys, first, end;
};

/* Returns the width of the columns from first to end - 1, with the gaps between them. */
static size_t width_of(const size_t *widths, size_t first, size_t end)
{
	size_t sum = 0;

	for (size_t i = first; i < end; i++)
		sum += widths[i] + (i > first ? GAP : 0);
	return sum;
}

/* Prints the cells of a row in the columns of the part. If row is NULL, prints the titles. */
static void print_row(const struct part *p, char **row)
{
	size_t at = 0;

	for (size_t i = 0; i < p->end; i++) {
		const struct table_column *column = &p->t->columns[i];
		const char *cell = row ? row[i] : column->title;
		int w = (int)p->widths[i];

		if (i >= p->keys && i < p->first)
			continue;
		if (i)
			at += (size_t)printf("%*s", GAP, "");
		if (!column->text)
			at += (size_t)printf("%*s", w, cell);
		else if (i + 1 < p->end)
			at += (size_t)printf("%-*s", w, cell);
		else /* the last column of a line has no blanks after it */
			columns_print(stdout, cell, at, at);
	}
	putchar('\n');
}

/* Prints the next part: as many of the remaining columns as fit into a line. */
static void print_part(struct part *p)
{
	size_t room = columns_width(), used = p->first ? width_of(p->widths, 0, p->keys) + GAP : 0;

	p->end = p->first + 1;
	while (p->end < p->t->n_columns && used + width_of(p->widths, p->first, p->end + 1) <= room)
		p->end++;
	if (p->first)
		putchar('\n');
	print_row(p, NULL);
	for (size_t i = 0; i < p->t->n_cells; i += p->t->n_columns)
		print_row(p, p->t->cells + i);
	p->first = p->end;
}

void table_print(struct table *t)
{
	size_t *widths = calloc(t->n_columns, sizeof(*widths));
	struct part p = { .t = t, .widths = widths, .keys = t->n_keys };

	if (!widths)
		abort();
	for (size_t i = 0; i < t->n_columns; i++)
		widths[i] = width(t, i);
	/* Use fewer keys if they are long (IPv6 addresses), so that other columns fit. */
	while (p.keys > 1 && width_of(widths, 0, p.keys) > columns_width() / 2)
		p.keys--;
	while (p.first < t->n_columns)
		print_part(&p);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(widths);
}
