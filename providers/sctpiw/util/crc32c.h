/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC32C (RFC 9260 appendix A). */
#ifndef SCTPIW_UTIL_CRC32C_H
#define SCTPIW_UTIL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the CRC32C of len bytes (at most INT_MAX). Its initial value is all ones, and the result
 * is complemented: "123456789" gives 0xe3069283.
 */
uint32_t crc32c(const void *data, size_t len);

/* Returns the CRC32C of data in pieces. crc is 0 at first, then the previous result. */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);

#endif
