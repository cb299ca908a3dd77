/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_REPORT_H
#define PEERS_REPORT_H
/* Output of the programs of this folder, and their end after an error. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Maximum time of any step, s. */
#define PATIENCE 30

/* Prints an error, like printf(), and ends the program. */
#define fail(...)                                                                                  \
	do {                                                                                       \
		fflush(stdout);                                                                    \
		fputs("FAIL: ", stderr);                                                           \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
		_exit(1);                                                                          \
	} while (0)

/* Prints a line immediately, for a waiting reader. */
#define say(...)                                                                                   \
	do {                                                                                       \
		printf(__VA_ARGS__);                                                               \
		putchar('\n');                                                                     \
		fflush(stdout);                                                                    \
	} while (0)

/* Returns the time of a monotonic clock, s. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
