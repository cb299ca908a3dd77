/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Text of others that goes to a terminal. */
#ifndef SCTPIW_UTIL_PRINTABLE_H
#define SCTPIW_UTIL_PRINTABLE_H

/*
 * Replaces each control character of a string by '?', newline and tab among them, and those that UTF-8 has beyond
 * ASCII: a terminal takes such bytes for commands. All other bytes stay.
 */
void printable_make(char *text);

#endif
