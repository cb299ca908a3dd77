/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names that are known, and which of them somebody may have meant who has mistyped one. No lock. */
#ifndef SCTPIW_CONFIG_CONFIG_KNOWN_H
#define SCTPIW_CONFIG_CONFIG_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a variable's name that is shown, and its final zero; a longer one is cut. */
#define CONFIG_VARIABLE_LEN 64

/*
 * The one of the n names that becomes word by the fewest letters put in, left out, replaced, or
 * swapped with their neighbour; NULL if none does by at most this many.
 */
const char *config_known_nearest(const char *word, const char *const names[], size_t n,
				 unsigned int letters);

/*
 * Whether an entry of the environment, "NAME=value", is a variable of sctpiw that nothing reads.
 * name is set to its name then, fit to be shown, and *nearest to the known one that is most like
 * it.
 */
bool config_known_mistyped(const char *entry, char name[CONFIG_VARIABLE_LEN], const char **nearest);

#endif
