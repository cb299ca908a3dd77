/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Other processes of a test, and what they say to each other: 16-bit numbers. */
#ifndef TESTS_VERBS_CHILD_H
#define TESTS_VERBS_CHILD_H

#include <sys/types.h>

#include "fixture.h"

struct child {
	pid_t pid;
	int to, from; /* ends of pipes */
};

/* run() in a process of its own; to be called before this one has used RDMA. */
struct child child_start(void (*run)(int in, int out));
void child_say(int fd, uint16_t what);
uint16_t child_hear(int fd);
/* Waits for its end: its exit status, or 128 and the signal. */
int child_end(struct child *c);

/* As run_tests(), each in a process of its own: librdmacm keeps what it opened. */
int run_tests_apart(int argc, char **argv, const struct test *tests, size_t n);

#endif
