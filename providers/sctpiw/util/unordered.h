/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions that touch the application's memory. */
#ifndef SCTPIW_UTIL_UNORDERED_H
#define SCTPIW_UTIL_UNORDERED_H

/*
 * An RNIC touches the application's memory in no order with the application's threads, so ThreadSanitizer has
 * nothing to judge in these functions. Its version of an atomic operation would also take a lock, and keep it
 * when a fault jumps out.
 */
#define UNORDERED __attribute__((no_sanitize("thread")))

#endif
