/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The CRC is the remainder of a polynomial whose coefficients are the bits of the data. Bits may be
 * moved by d bits towards the end of the data if they are multiplied by x^d. A fold moves 16 bytes,
 * one lane of a register, in this way: it adds the product to the lane that is d bits later. Four
 * registers of four lanes each process 256 bytes at a time, so that no product waits for another.
 * At the end, the registers are folded into one lane. The processor's CRC32 instruction computes
 * the remainder of this lane.
 */
#include "util/crc32c_fold.h"

#ifdef __x86_64__

#include <immintrin.h>

#include "util/unordered.h"

/*
 * BY_d has the multipliers for the two halves of a lane that moves by d bits. They are x^(d + 32)
 * and x^(d - 32) modulo the polynomial 0x11EDC6F41. They have the bit order of the CRC. They are
 * shifted by one bit, because a product of operands in this order is one bit too short.
 */
#define BY_128 0xf20c0dfe, 0x14cd00bd6
#define BY_256 0x1384aa63a, 0xba4fc28e
#define BY_384 0x1c291d04, 0x1d82c63da
#define BY_512 0x740eef02, 0x9e4addf8
#define BY_1024 0x6992cea2, 0xd3b6092
#define BY_1536 0xa87ab8a8, 0xab7aff2a
#define BY_2048 0xdcb17aa4, 0xb9e02b86
#define LANES(by) ((__m512i){ by, by, by, by })

#define HAS_FOLDS UNORDERED __attribute__((target("avx512f,vpclmulqdq,sse4.2")))
#define XOR3 0x96 /* the truth table of a ^ b ^ c */

bool crc32c_fold_works(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
}

/* Multiplies each lane of `a` by its two multipliers. */
HAS_FOLDS static inline __m512i moved(__m512i a, __m512i by)
{
	return _mm512_xor_si512(_mm512_clmulepi64_epi128(a, by, 0x00),
				_mm512_clmulepi64_epi128(a, by, 0x11));
}

/* Moves `a`, and adds the result to the block of data at `into`. */
HAS_FOLDS static inline __m512i folded(__m512i a, __m512i by, const uint8_t *into)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, by, 0x00),
					 _mm512_clmulepi64_epi128(a, by, 0x11),
					 _mm512_loadu_si512(into), XOR3);
}

/* Folds the first three lanes of `a` into the last lane. */
HAS_FOLDS static inline __m128i one_lane(__m512i a)
{
	__m512i m = moved(a, (__m512i){ BY_384, BY_256, BY_128, 0, 0 });

	return _mm_xor_si128(
		_mm_xor_si128(_mm512_extracti32x4_epi32(m, 0), _mm512_extracti32x4_epi32(m, 1)),
		_mm_xor_si128(_mm512_extracti32x4_epi32(m, 2), _mm512_extracti32x4_epi32(a, 3)));
}

HAS_FOLDS uint32_t crc32c_fold(uint32_t crc, const uint8_t *p, size_t len)
{
	const __m512i by_512 = LANES(BY_512), by_2048 = LANES(BY_2048);
	__m512i start = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc));
	__m512i a = _mm512_xor_si512(_mm512_loadu_si512(p), start);
	__m512i b = _mm512_loadu_si512(p + 64);
	__m512i c = _mm512_loadu_si512(p + 128);
	__m512i d = _mm512_loadu_si512(p + 192);
	__m128i lane;
	uint64_t state;

	for (p += 256, len -= 256; len >= 256; p += 256, len -= 256) {
		a = folded(a, by_2048, p);
		b = folded(b, by_2048, p + 64);
		c = folded(c, by_2048, p + 128);
		d = folded(d, by_2048, p + 192);
	}
	a = _mm512_ternarylogic_epi64(moved(a, LANES(BY_1536)), moved(b, LANES(BY_1024)),
				      moved(c, by_512), XOR3);
	a = _mm512_xor_si512(a, d);
	for (; len; p += 64, len -= 64)
		a = folded(a, by_512, p);
	lane = one_lane(a);
	state = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(lane));
	state = _mm_crc32_u64(state, (uint64_t)_mm_extract_epi64(lane, 1));
	/* See release_upper_halves() in crc32c.c. gcc adds this only if it optimizes. */
	_mm256_zeroupper();
	return ~(uint32_t)state;
}

#else

bool crc32c_fold_works(void)
{
	return false;
}

#endif
