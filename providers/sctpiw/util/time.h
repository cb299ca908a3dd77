/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All times are uint64_t nanoseconds of a monotonic clock that the caller has read: sys_now(), or a
 * test's own clock.
 */
#ifndef SCTPIW_UTIL_TIME_H
#define SCTPIW_UTIL_TIME_H

#include <stdint.h>

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

/* The deadline of a timer that does not run. */
#define TIME_NEVER UINT64_MAX

#endif
