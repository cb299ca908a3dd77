/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A mark for functions that access the application's memory. */
#ifndef SCTPIW_UTIL_UNORDERED_H
#define SCTPIW_UTIL_UNORDERED_H

/*
 * A real RNIC and the application's threads access the application's memory in no defined order. So
 * ThreadSanitizer must not check the functions that do this here. ThreadSanitizer's atomic
 * operations would also take a lock, and would keep it if a fault handler jumps out of the
 * function.
 */
#define UNORDERED __attribute__((no_sanitize("thread")))

#endif
