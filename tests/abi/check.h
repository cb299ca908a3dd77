/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks for programs that test signals, forks and descriptors, where a test framework would
 * interfere. A check that fails prints its line, and ends the process.
 */
#ifndef TESTS_ABI_CHECK_H
#define TESTS_ABI_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define check(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s: not so: %s (errno %d, %s)\n", __FILE__,        \
				__LINE__, __func__, #cond, errno, strerror(errno));                \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Checks that expr is -1 with errno err. */
#define check_fails(expr, err)                                                                     \
	do {                                                                                       \
		errno = 0;                                                                         \
		check((expr) < 0);                                                                 \
		check(errno == (err));                                                             \
	} while (0)

#endif
