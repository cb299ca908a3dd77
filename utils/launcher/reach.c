/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/reach.h"

#include <elf.h>
#include <errno.h>
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

#define SCRIPT_DEPTH 4 /* maximum number of nested interpreters, which is the kernel's limit */

/*
 * Finds a command as execvp() does, and writes its path to out, which has PATH_MAX bytes. Returns
 * false if there is no such file.
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

/* The ELF machine and byte order of programs that can load sctpiw's libraries. */
#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#define ELF_DATA ELFDATA2LSB
#elif defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#define ELF_DATA ELFDATA2LSB
#elif defined(__s390x__)
#define ELF_MACHINE EM_S390
#define ELF_DATA ELFDATA2MSB
#else
#error "which programs does this processor run?"
#endif

/*
 * Returns the reason why the dynamic loader of this libc does not load the preload library into the
 * program. Returns NULL if it does. Writes the path of the program's own loader to interp.
 */
static const char *elf_obstacle(int fd, const Elf64_Ehdr *eh, char interp[PATH_MAX])
{
	Elf64_Phdr ph;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELF_DATA)
		return "is a program of another word size than this installation";
	if (eh->e_machine != ELF_MACHINE)
		return "is a program of another architecture";
	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		ssize_t n;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh->e_phoff + i * sizeof(ph))) != sizeof(ph))
			return NULL;
		if (ph.p_type != PT_INTERP)
			continue;
		n = pread(fd, interp, PATH_MAX - 1, (off_t)ph.p_offset);
		interp[n > 0 ? n : 0] = '\0';
		return strstr(interp, "ld-musl") ? "is linked with musl, not glibc" : NULL;
	}
	return "is statically linked";
}

/*
 * Returns the reason why the program gets privileges, or NULL if it gets none. The dynamic loader
 * ignores LD_PRELOAD in a program with privileges.
 */
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
 * If head is the beginning of a script ("#! /interpreter argument"), writes the path of the
 * interpreter, which the kernel executes, to out.
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

/*
 * Checks the file r->path. Returns false if it does not exist. Sets head to the first bytes of the
 * file, and a final zero.
 */
static bool look_at_file(struct reach *r, char head[PATH_MAX])
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC);
	const char *why;
	Elf64_Ehdr eh;
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, head, PATH_MAX - 1, 0);
	head[n > 0 ? n : 0] = '\0';
	if (n >= (ssize_t)sizeof(eh) && !memcmp(head, ELFMAG, SELFMAG)) {
		memcpy(&eh, head, sizeof(eh));
		why = elf_obstacle(fd, &eh, r->loader);
		r->obstacle = privilege_obstacle(fd);
		if (!r->obstacle)
			r->obstacle = why;
	}
	close(fd);
	return true;
}

bool reach_look(const char *cmd, struct reach *r)
{
	char head[PATH_MAX];

	*r = (struct reach){ .obstacle = NULL };
	if (!find_command(cmd, r->path)) {
		r->path[0] = '\0';
		errno = ENOENT;
		return false;
	}
	while (look_at_file(r, head)) {
		if (r->obstacle || r->scripts == SCRIPT_DEPTH || !script_interpreter(head, r->path))
			return true;
		r->scripts++;
	}
	return false;
}

void reach_warn(const char *cmd)
{
	struct reach r;

	if (reach_look(cmd, &r) && r.obstacle)
		complain("warning: %s %s: it will not see the device", r.path, r.obstacle);
}
