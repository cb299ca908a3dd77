/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw keygen": makes a key for the setting `key` (docs/security.md). */
#ifndef UTILS_LAUNCHER_KEYGEN_H
#define UTILS_LAUNCHER_KEYGEN_H

/*
 * words: the words after the options, up to NULL. They are the name of the file, or no word for
 * standard output. Returns the exit status. On failure, calls complain().
 */
int keygen_run(char **words);

#endif
