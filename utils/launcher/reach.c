/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/reach.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/launcher.h"

#define SCRIPT_DEPTH 4 /* interpreters of interpreters, as many as the kernel follows */

/*
 * Finds a command as execvp() does, and writes its path to out, of PATH_MAX bytes. False if there
 * is none.
 */
static bool find_command(const char *cmd, char *out)
{
	const char *path = getenv("PATH");

	if (strchr(cmd, '/'))
		return snprintf(out, PATH_MAX, "%s", cmd) < PATH_MAX;
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		int len = (int)strcspn(path, ":");
		int n = len ? snprintf(out, PATH_MAX, "%.*s/%s", len, path, cmd) :
			      snprintf(out, PATH_MAX, "./%s", cmd);

		if (n < PATH_MAX && !access(out, X_OK))
			return true;
		path += len;
		if (!*path)
			return false;
	}
}

/* Why this libc's dynamic loader will not load the preload library into the program; or NULL. */
static const char *elf_obstacle(int fd, const Elf64_Ehdr *eh)
{
	char interp[256];
	Elf64_Phdr ph;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return "is a program of another word size than this installation";
	if (eh->e_machine != SCTPIW_ELF_MACHINE)
		return "is a program of another architecture";
	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		ssize_t n;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh->e_phoff + i * sizeof(ph))) != sizeof(ph))
			return NULL;
		if (ph.p_type != PT_INTERP)
			continue;
		n = pread(fd, interp, sizeof(interp) - 1, (off_t)ph.p_offset);
		interp[n > 0 ? n : 0] = '\0';
		return strstr(interp, "ld-musl") ? "is linked with musl, not glibc" : NULL;
	}
	return "is statically linked";
}

/* Why the program gets privileges, with which the dynamic loader ignores LD_PRELOAD; or NULL. */
static const char *privilege_obstacle(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return "is setuid";
	if (st.st_mode & S_ISGID && st.st_gid != getegid())
		return "is setgid";
	if (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return NULL;
}

/*
 * If head begins a script ("#! /interpreter argument"), writes the interpreter to out: that is what
 * is really run.
 */
static bool script_interpreter(const char *head, char *out)
{
	size_t n;

	if (strncmp(head, "#!", 2))
		return false;
	head += 2 + strspn(head + 2, " \t");
	n = strcspn(head, " \t\r\n");
	return n && snprintf(out, PATH_MAX, "%.*s", (int)n, head) < PATH_MAX;
}

void reach_warn(const char *cmd)
{
	char path[PATH_MAX], head[PATH_MAX];

	if (!find_command(cmd, path))
		return;
	for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
		const char *why = NULL;
		Elf64_Ehdr eh;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n;

		if (fd < 0)
			return;
		n = pread(fd, head, sizeof(head) - 1, 0);
		head[n > 0 ? n : 0] = '\0';
		if (n >= (ssize_t)sizeof(eh) && !memcmp(head, ELFMAG, SELFMAG)) {
			memcpy(&eh, head, sizeof(eh));
			why = privilege_obstacle(fd);
			if (!why)
				why = elf_obstacle(fd, &eh);
		}
		close(fd);
		if (why)
			complain("warning: %s %s: it will not see the device", path, why);
		if (why || !script_interpreter(head, path))
			return;
	}
}
