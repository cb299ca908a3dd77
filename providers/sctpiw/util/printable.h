/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text from other processes that goes to a terminal. */
#ifndef SCTPIW_UTIL_PRINTABLE_H
#define SCTPIW_UTIL_PRINTABLE_H

/*
 * Replaces each control character of a string by '?', including newline, tab and U+0080 to U+009F
 * in UTF-8: a terminal takes such bytes for commands. All other bytes stay.
 */
void printable_make(char *text);

#endif
