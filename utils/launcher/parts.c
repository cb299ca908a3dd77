/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"

/*
 * Writes the path of dir/relative to out, without links, "." and "..". relative may be an absolute
 * path. Returns false if the path does not exist.
 */
static bool find_at(char *out, const char *dir, const char *relative)
{
	char path[PATH_MAX];
	int n = relative[0] == '/' ? snprintf(path, sizeof(path), "%s", relative) :
				     snprintf(path, sizeof(path), "%s/%s", dir, relative);

	return n < (int)sizeof(path) && realpath(path, out);
}

/*
 * Finds a library. dir: the directory of the launcher, from which the library is searched. On
 * error, calls complain() and returns false.
 */
static bool find_library(char *out, const char *dir, const char *name)
{
	static const char *const places[] = {
		"../" SCTPIW_LIBDIR "/sctpiw/", "../lib/sctpiw/", "../lib64/sctpiw/", "../lib/",
		SCTPIW_FULL_LIBDIR "/sctpiw/",
	};
	char relative[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(relative, sizeof(relative), "%s%s", places[i], name);
		if (find_at(out, dir, relative))
			return true;
	}
	complain("%s is not where this program (%s) expects it; is the installation complete?",
		 name, dir);
	return false;
}

bool parts_self(char self[PATH_MAX])
{
	const char *executed = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (n > 0) {
		self[n] = '\0';
		return true;
	}
	if (executed && realpath(executed, self))
		return true;
	complain("cannot find this program: /proc/self/exe is not there, and %s: %s",
		 executed ? executed : "the name that it was executed by", strerror(errno));
	return false;
}

bool parts_find(struct parts *parts, const char *provider)
{
	char self[PATH_MAX], beside[PATH_MAX];
	struct stat st;

	if (!parts_self(self))
		return false;
	*strrchr(self, '/') = '\0';
	if (!find_library(parts->preload, self, "libsctpiw-preload.so"))
		return false;
	if (provider && (!realpath(provider, parts->provider) || stat(parts->provider, &st))) {
		complain("provider %s: %s", provider, strerror(errno));
		return false;
	}
	if (provider && !S_ISREG(st.st_mode)) {
		complain("provider %s: this is not a file; its name ends in " PROVIDER_SUFFIX,
			 provider);
		return false;
	}
	if (!provider && !find_library(parts->provider, self, "libsctpiw" PROVIDER_SUFFIX))
		return false;
	strcpy(beside, parts->preload);
	*strrchr(beside, '/') = '\0';
	if (find_at(parts->sysroot, beside, "sysroot"))
		return true;
	complain("%s/sysroot is not there; is the installation complete?", beside);
	return false;
}

bool parts_scenario(char path[PATH_MAX], const char *name)
{
	static const char *const places[] = {
		"../share/sctpiw/faults/",
		SCTPIW_FULL_DATADIR "/sctpiw/faults/",
	};
	char self[PATH_MAX], relative[PATH_MAX];

	if (strchr(name, '/') || !access(name, F_OK) || !parts_self(self))
		return false;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(relative, sizeof(relative), "%s%s", places[i], name);

		if (n < (int)sizeof(relative) && find_at(path, self, relative))
			return true;
	}
	return false;
}
