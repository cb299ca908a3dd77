/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints text in lines that are no longer than those of the terminal. */
#ifndef UTILS_LAUNCHER_COLUMNS_H
#define UTILS_LAUNCHER_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns the maximum number of letters in a line of standard output. It is the value of the
 * environment variable COLUMNS, or the width of the terminal, or 80.
 */
size_t columns_width(void);

/*
 * Writes text to out. Breaks long lines at blanks. The cursor is in column `at`; 0 is the first
 * column. Lines after the first begin in column `indent`.
 */
void columns_print(FILE *out, const char *text, size_t at, size_t indent);

#endif
