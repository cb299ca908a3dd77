/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Common parts of the programs above librpma: a check that fails ends the program with status 1. */
#ifndef TESTS_E2E_RPMA_CHECK_H
#define TESTS_E2E_RPMA_CHECK_H

#include <librpma.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "FAIL %s:%d: %s\n", __FILE__, __LINE__, #what);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define OK(call)                                                                                   \
	do {                                                                                       \
		int rc_ = (call);                                                                  \
		if (rc_) {                                                                         \
			fprintf(stderr, "FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call,         \
				rpma_err_2str(rc_));                                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
