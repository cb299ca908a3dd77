/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/unused.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/settings.h"
#include "sys/control.h"

#define VARIABLE "SCTPIW_UNUSED"

static bool is_wanted(void)
{
	static struct config_builder b; /* static because the struct is large */
	const struct config *c = &b.config;
	struct config_error why;

	return isatty(STDERR_FILENO) || (settings_collect(&b, &why) &&
					 (c->summary || *c->faults || *c->capture || *c->trace));
}

/* Makes the file in dir, a directory of control sockets. */
static bool make_in(const char *dir)
{
	char path[PATH_MAX];
	int fd = -1;

	mkdir(dir, S_IRWXU);
	snprintf(path, sizeof(path), "%s/%d.unused", dir, (int)getpid());
	if (control_dir_is_private(dir, geteuid()))
		fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return false;
	close(fd);
	return !setenv(VARIABLE, path, 1);
}

void unused_begin(void)
{
	const char *outer = getenv(VARIABLE);
	char dir[CONTROL_PATH_MAX];

	/* "sctpiw run" may run "sctpiw run". In this case, the outer command prints the line. */
	if (!is_wanted() || (outer && !access(outer, F_OK)))
		return;
	for (unsigned int i = 0; i < CONTROL_DIRS; i++)
		if (control_dir(i, geteuid(), dir) && make_in(dir))
			return;
}

void unused_forget(void)
{
	const char *path = getenv(VARIABLE);

	if (path)
		unlink(path);
}
