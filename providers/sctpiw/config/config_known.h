/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Known names, and suggestions for mistyped ones. No lock. */
#ifndef SCTPIW_CONFIG_CONFIG_KNOWN_H
#define SCTPIW_CONFIG_CONFIG_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a variable's name in messages, with its final zero; longer names are cut. */
#define CONFIG_VARIABLE_LEN 64

/*
 * Returns the name that becomes word by the fewest letters inserted, deleted, replaced, or swapped
 * with their neighbour. Returns NULL if all need more than `letters`.
 */
const char *config_known_nearest(const char *word, const char *const names[], size_t n,
				 unsigned int letters);

/*
 * True if "NAME=value" from the environment is an unknown variable of sctpiw. Sets name to its
 * printable name, and *nearest to the most similar known name.
 */
bool config_known_mistyped(const char *entry, char name[CONFIG_VARIABLE_LEN], const char **nearest);

#endif
