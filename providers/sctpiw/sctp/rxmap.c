/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/rxmap.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/serial.h"

#define MIN_SIZE 256u

void sctp_rxmap_init(struct sctp_rxmap *m, uint32_t initial_tsn)
{
	m->cum = initial_tsn - 1;
	m->highest = m->cum;
	if (m->bits)
		memset(m->bits, 0, m->size / 8);
}

void sctp_rxmap_fini(struct sctp_rxmap *m)
{
	free(m->bits);
	m->bits = NULL;
	m->size = 0;
}

static bool test_bit(const struct sctp_rxmap *m, uint32_t tsn)
{
	uint32_t i = tsn & (m->size - 1);

	return m->bits[i / 64] >> (i % 64) & 1;
}

static void flip_bit(struct sctp_rxmap *m, uint32_t tsn)
{
	uint32_t i = tsn & (m->size - 1);

	m->bits[i / 64] ^= 1ull << (i % 64);
}

/* Enlarges the bitmap for distances up to d from cum. Returns false when out of memory. */
static bool grow(struct sctp_rxmap *m, uint32_t d)
{
	struct sctp_rxmap bigger = *m;
	uint32_t tsn;

	bigger.size = m->size ? m->size : MIN_SIZE;
	while (bigger.size <= d)
		bigger.size *= 2;
	bigger.bits = alloc_lines(bigger.size / 8);
	if (!bigger.bits)
		return false;
	for (tsn = m->cum + 1; serial32_le(tsn, m->highest); tsn++)
		if (test_bit(m, tsn))
			flip_bit(&bigger, tsn);
	free(m->bits);
	*m = bigger;
	return true;
}

enum sctp_rxmap_verdict sctp_rxmap_check(struct sctp_rxmap *m, uint32_t tsn)
{
	uint32_t d = tsn - m->cum;

	if (d == 0 || d >= 0x80000000u)
		return SCTP_RXMAP_DUPLICATE;
	if (d >= SCTP_RXMAP_RANGE)
		return SCTP_RXMAP_BEYOND;
	if (d >= m->size && !grow(m, d))
		return SCTP_RXMAP_BEYOND;
	return test_bit(m, tsn) ? SCTP_RXMAP_DUPLICATE : SCTP_RXMAP_NEW;
}

enum sctp_rxmap_verdict sctp_rxmap_add(struct sctp_rxmap *m, uint32_t tsn)
{
	enum sctp_rxmap_verdict verdict = sctp_rxmap_check(m, tsn);

	if (verdict != SCTP_RXMAP_NEW)
		return verdict;
	flip_bit(m, tsn);
	if (serial32_gt(tsn, m->highest))
		m->highest = tsn;
	while (m->cum != m->highest && test_bit(m, m->cum + 1)) {
		m->cum++;
		flip_bit(m, m->cum);
	}
	return verdict;
}

/* Returns the first distance in [d, limit) whose bit equals value, or limit. Tests whole words. */
static uint32_t find(const struct sctp_rxmap *m, uint32_t d, uint32_t limit, bool value)
{
	while (d < limit) {
		uint32_t i = (m->cum + d) & (m->size - 1);
		uint64_t word = m->bits[i / 64];

		word = (value ? word : ~word) >> (i % 64);
		if (word) {
			d += (uint32_t)__builtin_ctzll(word);
			return d < limit ? d : limit;
		}
		d += 64 - i % 64;
	}
	return limit;
}

unsigned int sctp_rxmap_gaps(const struct sctp_rxmap *m, struct wire_sctp_gap *gaps,
			     unsigned int max)
{
	uint32_t limit = m->highest - m->cum + 1;
	uint32_t d = 1;
	unsigned int n;

	for (n = 0; n < max; n++) {
		d = find(m, d, limit, true);
		if (d >= limit)
			break;
		gaps[n].start = (uint16_t)d;
		d = find(m, d, limit, false);
		gaps[n].end = (uint16_t)(d - 1);
	}
	return n;
}
