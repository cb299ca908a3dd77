/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC32C by carry-less multiplication of 64-byte registers, for x86 with AVX-512 and VPCLMULQDQ. */
#ifndef SCTPIW_UTIL_CRC32C_FOLD_H
#define SCTPIW_UTIL_CRC32C_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRC32C_FOLD_BLOCK 64u /* bytes of one register */
#define CRC32C_FOLD_MIN (4 * CRC32C_FOLD_BLOCK)

/* True if the processor has these instructions, and the kernel saves registers of this size. */
bool crc32c_fold_works(void);

#ifdef __x86_64__
/*
 * As crc32c_add(). crc32c_fold_works() must be true. len must be a multiple of CRC32C_FOLD_BLOCK,
 * and at least CRC32C_FOLD_MIN.
 */
uint32_t crc32c_fold(uint32_t crc, const uint8_t *p, size_t len);
#endif

#endif
