/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Output that fits into a line of the terminal. */
#ifndef UTILS_LAUNCHER_COLUMNS_H
#define UTILS_LAUNCHER_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns how many letters a line of standard output may have: the number in the environment variable
 * COLUMNS, or the width of the terminal, or 80.
 */
size_t columns_width(void);

/*
 * Writes text to out, with line breaks at blanks where lines would be too long. The cursor stands in
 * column at (0 is the first one); the lines that follow begin in column indent.
 */
void columns_print(FILE *out, const char *text, size_t at, size_t indent);

#endif
