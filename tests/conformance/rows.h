/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names the requirements (rows of the tables *.tsv here) that a test verifies. Use ROWS as the
 * first statement of the test:
 *	ROWS("5041-5.1-01 5041-5.1-02");
 * coverage.py reads the ids from the source. A failing test has its ids above it in the log.
 */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

#include <stdio.h>

#define ROWS(ids) printf("rows: %s\n", ids)

#endif
