/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Deep queues of long messages, whose payload is read where it is until the peer has it. Each message is painted
 * with a pattern of its own: words that tell which message they belong to, and where in it.
 */
#ifndef TESTS_VERBS_DEEP_H
#define TESTS_VERBS_DEEP_H

#include "fixture.h"

#define POISON 0x55 /* what is in memory that is not the RNIC's any more */

void paint(void *at, size_t len, uint64_t message); /* 8 bytes aligned, as all of these */
bool painted(const void *at, size_t len, uint64_t message);
/* Each byte is that of the message, or zero as it was before. */
bool painted_or_zero(const void *at, size_t len, uint64_t message);

/* Zeroed pages. */
uint8_t *deep_map(size_t len);
/* Other pages in their place, and other bytes. */
void deep_replace(uint8_t *map, size_t len);

/* --lossy: in a network namespace where packets can be lost; the tests have these two then. */
extern bool lossy;
/* All long packets are lost, until deep_mend(). Does nothing without --lossy. */
void deep_cut(void);
void deep_mend(void);

/* Takes --lossy; the tests, each in a process of its own. */
int deep_main(int argc, char **argv, const struct test *tests, size_t n);

#endif
