/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "netns.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "fixture.h"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

bool enter_namespace(void)
{
	char map[64];

	if (!unshare(CLONE_NEWNET))
		return true;
	snprintf(map, sizeof(map), "0 %u 1", getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	write_file("/proc/self/uid_map", map);
	return true;
}

void ip(const char *format, ...)
{
	char command[256] = "ip ";
	va_list ap;

	va_start(ap, format);
	vsnprintf(command + 3, sizeof(command) - 3, format, ap);
	va_end(ap);
	CHECK_EQ(system(command), 0);
}

void lose(const char *expression)
{
	static bool table;
	char command[256];

	if (table)
		CHECK_EQ(system("nft delete table inet lose"), 0);
	table = expression != NULL;
	if (!table)
		return;
	snprintf(command, sizeof(command), "nft 'table inet lose { chain arriving { type filter hook input priority 0; "
		 "%s drop; }; }'", expression);
	CHECK_EQ(system(command), 0);
}
