/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Output that fits into the lines of the terminal. */
#ifndef UTILS_LAUNCHER_COLUMNS_H
#define UTILS_LAUNCHER_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns the maximum letters in a line of standard output: the number in the environment variable
 * COLUMNS, or the width of the terminal, or 80.
 */
size_t columns_width(void);

/*
 * Writes text to out, and breaks long lines at blanks. The cursor is in column `at` (0 is the first
 * column); later lines begin in column `indent`.
 */
void columns_print(FILE *out, const char *text, size_t at, size_t indent);

#endif
