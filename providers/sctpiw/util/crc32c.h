/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC32C (RFC 9260 appendix A). */
#ifndef SCTPIW_UTIL_CRC32C_H
#define SCTPIW_UTIL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the CRC32C of len bytes (at most INT_MAX), initialised with all ones and complemented at
 * the end: "123456789" gives 0xe3069283.
 */
uint32_t crc32c(const void *data, size_t len);

/* The same in pieces. crc is 0 for the first piece, then the result of the previous piece. */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);

#endif
