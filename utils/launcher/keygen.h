/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw keygen": makes a key for the setting key (docs/security.md). */
#ifndef UTILS_LAUNCHER_KEYGEN_H
#define UTILS_LAUNCHER_KEYGEN_H

/*
 * words: what stands behind the options, up to NULL: the file, or nothing for standard output. Returns the exit status,
 * after a line on standard error if it is none of success.
 */
int keygen_run(char **words);

#endif
