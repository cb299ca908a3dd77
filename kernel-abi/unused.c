/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "unused.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hooks.h"
#include "libc.h"

/* minimum number of the copy; programs expect that the numbers below are free */
#define OUT_LEAST 100

/* path of the file, or ""; a copy, since programs may overwrite environ */
static char path[PATH_MAX];
/*
 * Descriptor of standard error. In the process that prints the line, this is a copy, since some
 * programs close standard error before they end.
 */
static _Atomic int out = STDERR_FILENO;
static struct stat out_file;

static bool is_first(void)
{
	const char *name = strrchr(path, '/');

	return name && strtol(name + 1, NULL, 10) == getpid();
}

static __attribute__((constructor)) void unused_init(void)
{
	const char *value = secure_getenv("SCTPIW_UNUSED");
	int copy;

	if (value && strlen(value) < sizeof(path))
		strcpy(path, value);
	copy = is_first() ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, OUT_LEAST) : -1;
	if (copy >= 0 && !libc_fstat(copy, &out_file))
		atomic_store(&out, copy);
}

/*
 * True if fd is still the copy. The program may have closed all descriptors, and opened another
 * file that got this number.
 */
static bool is_copy(int fd)
{
	struct stat st;

	return fd != STDERR_FILENO && !libc_fstat(fd, &st) && st.st_dev == out_file.st_dev &&
	       st.st_ino == out_file.st_ino;
}

void unused_over(void)
{
	int saved = errno, copy = atomic_exchange(&out, STDERR_FILENO);

	if (*path)
		unlink(path);
	if (is_copy(copy))
		libc_close(copy);
	errno = saved;
}

/* Runs at the end of the program. */
static __attribute__((destructor)) void unused_end(void)
{
	if (is_first() && !unlink(path) && (out == STDERR_FILENO || is_copy(out)))
		dprintf(out,
			"sctpiw: %s ended, and no program of it opened the RDMA device: docs/programs.md has options for that, and sctpiw doctor -- %s looks for obstacles\n",
			program_invocation_short_name, program_invocation_short_name);
}

/* Shells end by _exit(), without calling destructors. */
HOOK void _exit(int status)
{
	unused_end();
	REAL(_exit)(status);
	__builtin_unreachable();
}

HOOK void _Exit(int status)
{
	unused_end();
	REAL(_Exit)(status);
	__builtin_unreachable();
}
