/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config/config_known.h"

#include <stdint.h>
#include <string.h>

#include "config/config.h"

#define PREFIX "SCTPIW_"
#define WORD_MAX 64 /* maximum number of letters to compare */

/*
 * Variables that are not settings. They contain locations of components, or belong to build.sh and
 * the tests.
 */
static const char *const other_variables[] = {
	"SCTPIW_CONFIG",     "SCTPIW_PROVIDER", "SCTPIW_SYSROOT",
	"SCTPIW_NO_INSTALL", "SCTPIW_BUILD",	"SCTPIW_UNUSED",
};

/* Prefixes of variables of the tests and the benchmark. */
static const char *const other_prefixes[] = { "SCTPIW_E2E_", "SCTPIW_BENCH_" };

#define N_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Returns the Damerau-Levenshtein distance between a and b. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
	size_t la = strnlen(a, WORD_MAX), lb = strnlen(b, WORD_MAX);

	for (size_t j = 0; j <= lb; j++)
		above[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int *oldest = before;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]),
				       least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[lb];
}

const char *config_known_nearest(const char *word, const char *const names[], size_t n,
				 unsigned int letters)
{
	unsigned int best = letters + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned int d = distance(word, names[i]);

		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

bool config_known_mistyped(const char *entry, char name[CONFIG_VARIABLE_LEN], const char **nearest)
{
	const char *known[CONFIG_SETTINGS + N_ITEMS(other_variables)];
	size_t len = strcspn(entry, "=");

	if (strncmp(entry, PREFIX, strlen(PREFIX)))
		return false;
	for (size_t i = 0; i < N_ITEMS(other_prefixes); i++) {
		if (!strncmp(entry, other_prefixes[i], strlen(other_prefixes[i])))
			return false;
	}
	for (unsigned int i = 0; i < CONFIG_SETTINGS; i++)
		known[i] = config_names(i)->env;
	memcpy(known + CONFIG_SETTINGS, other_variables, sizeof(other_variables));
	for (size_t i = 0; i < N_ITEMS(known); i++) {
		if (strlen(known[i]) == len && !strncmp(entry, known[i], len))
			return false;
	}
	for (size_t i = 0; i < len && i < CONFIG_VARIABLE_LEN - 1; i++)
		name[i] = entry[i] > ' ' && entry[i] < 127 ? entry[i] : '?';
	name[len < CONFIG_VARIABLE_LEN ? len : CONFIG_VARIABLE_LEN - 1] = '\0';
	*nearest = config_known_nearest(name, known, N_ITEMS(known), WORD_MAX);
	return true;
}
