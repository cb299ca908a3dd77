/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Suggestions for mistyped names of settings and variables. The functions need no lock. */
#ifndef SCTPIW_CONFIG_CONFIG_KNOWN_H
#define SCTPIW_CONFIG_CONFIG_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Maximum bytes of a variable's name in messages, including its final zero. Longer names are cut.
 */
#define CONFIG_VARIABLE_LEN 64

/*
 * Returns the name that is most similar to word, or NULL. Names are compared by the number of
 * letters to insert, delete, replace, or swap with their neighbour. A name that needs more than
 * `letters` of these changes is not returned.
 */
const char *config_known_nearest(const char *word, const char *const names[], size_t n,
				 unsigned int letters);

/*
 * True if entry, "NAME=value" from the environment, has the prefix of sctpiw's variables, but an
 * unknown name. Then copies NAME to name in printable form, and sets *nearest to the most similar
 * known name.
 */
bool config_known_mistyped(const char *entry, char name[CONFIG_VARIABLE_LEN], const char **nearest);

#endif
