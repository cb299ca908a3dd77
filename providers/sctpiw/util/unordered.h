/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Marks functions that access the application's memory. */
#ifndef SCTPIW_UTIL_UNORDERED_H
#define SCTPIW_UTIL_UNORDERED_H

/*
 * An RNIC and the application's threads access the application's memory in no order, so
 * ThreadSanitizer must not check these functions. Its atomic operations would also take a lock, and
 * keep the lock when a fault jumps out.
 */
#define UNORDERED __attribute__((no_sanitize("thread")))

#endif
