/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"

static void be_child(int (*work)(void *arg), void *arg, int out)
{
	int status;

	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	alarm(DOCTOR_CHILD_SECONDS);
	complain_to(NULL);
	status = work(arg);
	fflush(stdout);
	_exit(status);
}

int doctor_child(int (*work)(void *arg), void *arg, char *out, size_t size)
{
	char rest[4096];
	int fds[2], status = 0;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		be_child(work, arg, fds[1]);
	close(fds[1]);
	while (pid > 0) {
		char *to = used + 1 < size ? out + used : rest;

		n = read(fds[0], to, to == rest ? sizeof(rest) : size - 1 - used);
		if (n > 0 && to != rest)
			used += (size_t)n;
		if (!n || (n < 0 && errno != EINTR))
			break;
	}
	out[used] = '\0';
	close(fds[0]);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
