/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which rows of tests/conformance (*.tsv) a test shows to be met: the first statement of the test,
 *	ROWS("5041-5.1-01 5041-5.1-02");
 * coverage.py reads them from the source, and a failing test has them above it in the log.
 */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

#include <stdio.h>

#define ROWS(ids) printf("rows: %s\n", ids)

#endif
