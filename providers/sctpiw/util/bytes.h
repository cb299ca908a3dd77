/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Big-endian integers (network byte order) at any alignment. The caller checks the length. */
#ifndef SCTPIW_UTIL_BYTES_H
#define SCTPIW_UTIL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_SWAP16(v) __builtin_bswap16(v)
#define BYTES_SWAP32(v) __builtin_bswap32(v)
#define BYTES_SWAP64(v) __builtin_bswap64(v)
#else
#define BYTES_SWAP16(v) (v)
#define BYTES_SWAP32(v) (v)
#define BYTES_SWAP64(v) (v)
#endif

static inline uint16_t get_be16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return BYTES_SWAP16(v);
}

static inline uint32_t get_be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return BYTES_SWAP32(v);
}

static inline uint64_t get_be64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return BYTES_SWAP64(v);
}

static inline void put_be16(void *p, uint16_t v)
{
	v = BYTES_SWAP16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be32(void *p, uint32_t v)
{
	v = BYTES_SWAP32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be64(void *p, uint64_t v)
{
	v = BYTES_SWAP64(v);
	memcpy(p, &v, sizeof(v));
}

/* Little-endian integers: on the wire, only the SCTP checksum (RFC 9260 appendix A). */
static inline uint32_t get_le32(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline void put_le32(void *p, uint32_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)(v >> 16);
	b[3] = (uint8_t)(v >> 24);
}

/* Rounds n up to a multiple of 4. SCTP pads chunks and parameters to this length. */
static inline size_t round_up4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

#endif
