/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parses the arguments of the benchmark's programs. The including file defines _GNU_SOURCE. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Returns the number that text contains. If the number is less than min or greater than max, prints
 * a message and exits.
 */
static inline size_t number(const char *text, size_t min, size_t max)
{
	char *end;
	size_t n = strtoul(text, &end, 10);

	if (*end || end == text || n < min || n > max) {
		fprintf(stderr, "%s: %s is not a number of %zu to %zu\n",
			program_invocation_short_name, text, min, max);
		exit(2);
	}
	return n;
}

#endif
