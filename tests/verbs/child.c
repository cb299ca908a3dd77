/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_say(int fd, uint16_t what)
{
	CHECK_EQ(write(fd, &what, sizeof(what)), sizeof(what));
}

uint16_t child_hear(int fd)
{
	uint16_t what;

	CHECK_EQ(read(fd, &what, sizeof(what)), sizeof(what));
	return what;
}

struct child child_start(void (*run)(int in, int out))
{
	int to[2], from[2];
	struct child c;

	CHECK(!pipe(to) && !pipe(from));
	c.pid = fork();
	CHECK(c.pid >= 0);
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed leaves nobody */
		close(to[1]);
		close(from[0]);
		run(to[0], from[1]);
		exit(0);
	}
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	return c;
}

int child_end(struct child *c)
{
	int status;

	CHECK_EQ(waitpid(c->pid, &status, 0), c->pid);
	close(c->to);
	close(c->from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_tests_apart(int argc, char **argv, const struct test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			bool wanted = argc < 2;

			for (int j = 1; j < argc; j++)
				wanted |= !strcmp(argv[j], tests[i].name);
			exit(wanted ? run_tests(1, argv, &tests[i], 1) : 0);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	return 0;
}
