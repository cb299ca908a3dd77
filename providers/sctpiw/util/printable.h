/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Makes text from other processes safe to print to a terminal. */
#ifndef SCTPIW_UTIL_PRINTABLE_H
#define SCTPIW_UTIL_PRINTABLE_H

/*
 * Replaces each control character of a string by '?'. Control characters include newline, tab, and
 * U+0080 to U+009F in UTF-8; a terminal treats these as commands. All other bytes stay unchanged.
 */
void printable_make(char *text);

#endif
