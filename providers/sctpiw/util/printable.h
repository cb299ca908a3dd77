/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text from other processes that is printed to a terminal. */
#ifndef SCTPIW_UTIL_PRINTABLE_H
#define SCTPIW_UTIL_PRINTABLE_H

/*
 * Replaces each control character of a string by '?'. Control characters include newline, tab, and
 * U+0080 to U+009F in UTF-8, which a terminal executes as commands. All other bytes stay.
 */
void printable_make(char *text);

#endif
