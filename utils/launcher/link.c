/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/link.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"

static bool has_any(const char *text, const char *separators)
{
	return text[strcspn(text, separators)];
}

/*
 * True if dir is a directory that only this user and root can change, and not a link. Otherwise,
 * other users could choose the libraries that this user's programs load.
 */
static bool is_private(const char *dir)
{
	struct stat st;

	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Finds the directory of the links, which it makes if necessary. It is in $XDG_RUNTIME_DIR, or in
 * /tmp, where the sticky bit prevents other users from renaming it. Other users may read the
 * directory, since a program may change its user.
 */
static bool links_dir(const char *separators, char dir[PATH_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/' && !has_any(runtime, separators) && is_private(runtime) &&
	    snprintf(dir, PATH_MAX, "%s/sctpiw", runtime) < PATH_MAX &&
	    (!mkdir(dir, 0755) || errno == EEXIST) && is_private(dir))
		return true;
	snprintf(dir, PATH_MAX, "/tmp/sctpiw-%u", (unsigned int)geteuid());
	/*
	 * The directory may exist already, because processes have made it for their sockets
	 * (sys/control.h). They make it unreadable for other users, so change its mode.
	 */
	return (!mkdir(dir, 0755) || errno == EEXIST) && is_private(dir) && !chmod(dir, 0755);
}

/*
 * Returns a number that most likely differs for other directories (FNV-1a). link_path() names the
 * link by this number. If two directories have the same number, the link of one is replaced.
 */
static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 1099511628211u;
	return h;
}

static bool leads_to(const char *link, const char *target)
{
	char text[PATH_MAX];
	ssize_t n = readlink(link, text, sizeof(text));

	return n >= 0 && (size_t)n == strlen(target) && !memcmp(text, target, (size_t)n);
}

/*
 * Makes the link, unless it exists already. A link with the same name and another target is
 * replaced atomically.
 */
static bool make_link(const char *link, const char *target)
{
	char fresh[PATH_MAX];

	if (leads_to(link, target))
		return true;
	if (snprintf(fresh, sizeof(fresh), "%s.%d", link, (int)getpid()) >= (int)sizeof(fresh))
		return false;
	if (!symlink(target, fresh) && !rename(fresh, link))
		return true;
	unlink(fresh);
	return false;
}

bool link_path(const char *path, const char *separators, char out[PATH_MAX])
{
	char dir[PATH_MAX], target[PATH_MAX], link[PATH_MAX];
	const char *name = strrchr(path, '/') + 1;

	snprintf(target, sizeof(target), "%.*s", (int)(name - path - 1), path);
	if (has_any(name, separators)) {
		complain(
			"%s: rename this file, as its name would end at one of the characters \"%s\"",
			path, separators);
		return false;
	}
	if (!links_dir(separators, dir)) {
		complain(
			"%s has a character in it at which the name would end, and %s, for a link to it, "
			"is not a directory that only you can change: move one of the two away",
			target, dir);
		return false;
	}
	if (snprintf(link, sizeof(link), "%s/%016llx", dir, (unsigned long long)hash(target)) >=
		    (int)sizeof(link) ||
	    !make_link(link, target) || snprintf(out, PATH_MAX, "%s/%s", link, name) >= PATH_MAX) {
		complain("cannot make a link to %s in %s: %s", target, dir, strerror(errno));
		return false;
	}
	return true;
}
