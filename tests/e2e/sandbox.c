/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs a program under a seccomp filter: e2e-sandbox [--profile FILE] [--no-ipv6] -- CMD ARG...
 *
 * With --profile, the system calls in FILE are permitted. System calls that Docker's default
 * profile restricts by their arguments have the same restrictions. All others fail with EPERM. With
 * --no-ipv6, there are no IPv6 sockets, as in a kernel without IPv6.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATUS_BROKEN 125 /* as of env(1) and similar programs */
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	 CLONE_NEWCGROUP)

static void die(const char *what, int error)
{
	fprintf(stderr, "e2e-sandbox: %s: %s\n", what, strerror(error));
	exit(STATUS_BROKEN);
}

static void check(const char *what, int ret)
{
	if (ret)
		die(what, -ret);
}

/* Adds the profile's rules that depend on arguments, for a process without capabilities. */
static void add_judged(scmp_filter_ctx filter)
{
	static const unsigned int personalities[] = { PER_LINUX, PER_LINUX32, UNAME26,
						      PER_LINUX32 | UNAME26, 0xffffffff };

	for (size_t i = 0; i < sizeof(personalities) / sizeof(personalities[0]); i++)
		check("personality", seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(personality),
						      1, SCMP_A0(SCMP_CMP_EQ, personalities[i])));
	check("clone", seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
					SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACES, 0)));
	check("clone3", seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
	check("socket", seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					 SCMP_A0(SCMP_CMP_LT, AF_ALG)));
	check("socket", seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					 SCMP_A0(SCMP_CMP_EQ, AF_NFC)));
	check("socket", seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					 SCMP_A0(SCMP_CMP_GT, AF_VSOCK)));
}

/*
 * Permits the system calls in the file. Skips names that this processor or this libseccomp lacks.
 */
static void add_profile(scmp_filter_ctx filter, const char *file)
{
	FILE *f = fopen(file, "re");
	char *line = NULL, *name, *rest;
	size_t room = 0;

	if (!f)
		die(file, errno);
	while (getline(&line, &room, f) > 0) {
		if (line[0] == '#')
			continue;
		for (name = strtok_r(line, " \n", &rest); name;
		     name = strtok_r(NULL, " \n", &rest)) {
			int number = seccomp_syscall_resolve_name(name);

			if (number >= 0)
				check(name, seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0));
		}
	}
	free(line);
	fclose(f);
	add_judged(filter);
}

static void no_ipv6(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		die("seccomp_init", ENOMEM);
	check("socket", seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
					 SCMP_A0(SCMP_CMP_EQ, AF_INET6)));
	check("seccomp_load", seccomp_load(filter));
	seccomp_release(filter);
}

static void profile(const char *file)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (!filter)
		die("seccomp_init", ENOMEM);
	add_profile(filter, file);
	check("seccomp_load", seccomp_load(filter));
	seccomp_release(filter);
}

int main(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--no-ipv6"))
			no_ipv6();
		else if (!strcmp(argv[i], "--profile") && i + 1 < argc)
			profile(argv[++i]);
		else
			die(argv[i], EINVAL);
	}
	if (i + 1 >= argc)
		die("no program", EINVAL);
	execvp(argv[i + 1], argv + i + 1);
	die(argv[i + 1], errno);
}
