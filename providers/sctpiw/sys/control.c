/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "sys/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/sys.h"

bool control_dir(unsigned int index, uid_t uid, char dir[CONTROL_PATH_MAX])
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int n = -1;

	if (!index && runtime && *runtime == '/')
		n = snprintf(dir, CONTROL_PATH_MAX, "%s/sctpiw", runtime);
	else if (index == 1)
		n = snprintf(dir, CONTROL_PATH_MAX, "/run/user/%u/sctpiw", uid);
	else if (index == 2)
		n = snprintf(dir, CONTROL_PATH_MAX, "/tmp/sctpiw-%u", uid);
	else if (index == 3)
		n = snprintf(dir, CONTROL_PATH_MAX, "/dev/shm/sctpiw-%u", uid);
	return n >= 0 && (size_t)n < CONTROL_PATH_MAX;
}

bool control_dir_is_private(const char *dir, uid_t uid)
{
	struct stat st;

	return !sys_lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

bool control_address(const char *dir, const char *name, struct sockaddr_un *addr)
{
	int n;

	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	n = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", dir, name);
	return n > 0 && (size_t)n < sizeof(addr->sun_path);
}
