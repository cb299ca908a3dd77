/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Serial number arithmetic (RFC 1982) for TSNs and MSNs (32 bits), SSNs and DDP-SSNs (16 bits). Two
 * numbers whose distance is exactly half of the number space are incomparable: all functions return
 * false.
 */
#ifndef SCTPIW_UTIL_SERIAL_H
#define SCTPIW_UTIL_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

static inline bool serial32_lt(uint32_t a, uint32_t b)
{
	return a != b && b - a < 0x80000000u;
}

static inline bool serial32_le(uint32_t a, uint32_t b)
{
	return b - a < 0x80000000u;
}

static inline bool serial32_gt(uint32_t a, uint32_t b)
{
	return serial32_lt(b, a);
}

static inline bool serial32_ge(uint32_t a, uint32_t b)
{
	return serial32_le(b, a);
}

static inline bool serial16_lt(uint16_t a, uint16_t b)
{
	return a != b && (uint16_t)(b - a) < 0x8000;
}

static inline bool serial16_le(uint16_t a, uint16_t b)
{
	return (uint16_t)(b - a) < 0x8000;
}

#endif
