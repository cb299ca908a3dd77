/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Time is uint64_t nanoseconds everywhere, of a monotonic clock that the caller has read: that of
 * sys_now(), or a test's own.
 */
#ifndef SCTPIW_UTIL_TIME_H
#define SCTPIW_UTIL_TIME_H

#include <stdint.h>

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

/* A deadline that never comes: no timer runs. */
#define TIME_NEVER UINT64_MAX

#endif
