/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All times are uint64_t, in nanoseconds of a monotonic clock. The caller reads the clock:
 * sys_now(), or the clock of a test.
 */
#ifndef SCTPIW_UTIL_TIME_H
#define SCTPIW_UTIL_TIME_H

#include <stdint.h>

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

/* The expiration time of a timer that does not run. */
#define TIME_NEVER UINT64_MAX

#endif
