/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/link.h"

/* The characters that end a name in LD_PRELOAD and in RDMAV_DRIVERS. */
#define PRELOAD_ENDS ": "
#define DRIVERS_ENDS ":;"

/* True if item is an element of the list. Each of the separators ends an element. */
static bool list_has(const char *list, const char *separators, const char *item)
{
	size_t len = strlen(item);

	while (*list) {
		size_t n = strcspn(list, separators);

		if (n == len && !strncmp(list, item, n))
			return true;
		list += n;
		list += strspn(list, separators);
	}
	return false;
}

/*
 * Sets a variable to the list `old` (or NULL) with item at its end, so that the user's items come
 * first. Does not add an item that the list contains already: "sctpiw run" may run "sctpiw run".
 */
static bool append(const char *name, const char *old, const char *separators, const char *item)
{
	char *value;
	bool ok;

	if (!old || !*old)
		return !setenv(name, item, 1);
	if (list_has(old, separators, item))
		return !setenv(name, old, 1);
	if (asprintf(&value, "%s:%s", old, item) < 0)
		return false;
	ok = !setenv(name, value, 1);
	free(value);
	return ok;
}

/* Adds an option at the beginning of the variable, unless the user has set this option. */
static bool add_option(const char *variable, const char *name, const char *setting)
{
	const char *old = getenv(variable);
	char *value;
	bool ok;

	if (old && strstr(old, name))
		return true;
	if (asprintf(&value, "%s=%s%s%s", name, setting, old && *old ? ":" : "", old ? old : "") <
	    0)
		return false;
	ok = !setenv(variable, value, 1);
	free(value);
	return ok;
}

/*
 * Lets programs start that were built with a sanitizer. gcc's AddressSanitizer ends the program if
 * another library is loaded before its own library, as the preload library is. This order matters
 * only for libraries that replace malloc(), and the preload library does not. ThreadSanitizer would
 * report errors in libraries that were built without it, since it sees their copies but not their
 * atomic operations.
 */
static bool admit_sanitizers(void)
{
	return add_option("ASAN_OPTIONS", "verify_asan_link_order", "0") &&
	       add_option("TSAN_OPTIONS", "ignore_noninstrumented_modules", "1");
}

/* Writes a path of the file that contains none of these separators. */
static bool without_separators(const char *path, const char *separators, char out[PATH_MAX])
{
	if (path[strcspn(path, separators)])
		return link_path(path, separators, out);
	strcpy(out, path);
	return true;
}

bool environment_set(const struct parts *parts)
{
	const char *drivers = getenv("RDMAV_DRIVERS");
	size_t len = strlen(parts->provider), suffix = strlen(PROVIDER_SUFFIX);
	char preload[PATH_MAX], driver[PATH_MAX];

	if (len <= suffix || strcmp(parts->provider + len - suffix, PROVIDER_SUFFIX)) {
		complain("libibverbs loads providers by names that end in " PROVIDER_SUFFIX
			 ", unlike %s",
			 parts->provider);
		return false;
	}
	if (!without_separators(parts->preload, PRELOAD_ENDS, preload) ||
	    !without_separators(parts->provider, DRIVERS_ENDS, driver))
		return false;
	driver[strlen(driver) - suffix] = '\0';
	/* As libibverbs does, use the older IBV_DRIVERS only without RDMAV_DRIVERS. */
	if (!drivers)
		drivers = getenv("IBV_DRIVERS");
	return append("LD_PRELOAD", getenv("LD_PRELOAD"), PRELOAD_ENDS, preload) &&
	       append("RDMAV_DRIVERS", drivers, DRIVERS_ENDS, driver) && admit_sanitizers() &&
	       !setenv("SCTPIW_PROVIDER", parts->provider, 1) &&
	       !setenv("SCTPIW_SYSROOT", parts->sysroot, 1);
}

void environment_print_one(const char *name)
{
	printf("export %s='", name);
	for (const char *p = getenv(name); p && *p; p++)
		*p == '\'' ? fputs("'\\''", stdout) : putchar(*p);
	puts("'");
}

void environment_print(void)
{
	static const char *const names[] = { "LD_PRELOAD",   "RDMAV_DRIVERS",	"ASAN_OPTIONS",
					     "TSAN_OPTIONS", "SCTPIW_PROVIDER", "SCTPIW_SYSROOT" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		environment_print_one(names[i]);
}
