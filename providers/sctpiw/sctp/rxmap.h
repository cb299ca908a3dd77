/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which TSNs have arrived: the cumulative TSN and a bitmap of what lies beyond it
 * (RFC 9260 6.2, 6.7). The bitmap grows on demand up to SCTP_RXMAP_RANGE bits,
 * so a peer that sends in order costs none. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RXMAP_H
#define SCTPIW_SCTP_RXMAP_H

#include "wire/sctp_packet.h"

#define SCTP_RXMAP_RANGE 32768u

struct sctp_rxmap {
	uint32_t cum;	  /* all TSNs up to here have arrived */
	uint32_t highest; /* the highest TSN that arrived; cum when there is no gap */
	uint64_t *bits;	  /* bit tsn % size is set if it arrived, for cum < tsn <= highest */
	uint32_t size;	  /* in bits, a power of two, or 0 */
};

enum sctp_rxmap_verdict {
	SCTP_RXMAP_NEW,
	SCTP_RXMAP_DUPLICATE,
	SCTP_RXMAP_BEYOND, /* too far ahead, or there is no memory to note it: to be dropped */
};

/* Begins (again) with nothing arrived; keeps the memory. */
void sctp_rxmap_init(struct sctp_rxmap *m, uint32_t initial_tsn);
/* Frees the bitmap. */
void sctp_rxmap_fini(struct sctp_rxmap *m);
/* What sctp_rxmap_add() would say. Notes nothing, but may grow the bitmap. */
enum sctp_rxmap_verdict sctp_rxmap_check(struct sctp_rxmap *m, uint32_t tsn);
/* Notes that tsn has arrived, and returns whether it is new. */
enum sctp_rxmap_verdict sctp_rxmap_add(struct sctp_rxmap *m, uint32_t tsn);
/* Writes the lowest gap blocks, at most max, in ascending order; returns their number. */
unsigned int sctp_rxmap_gaps(const struct sctp_rxmap *m, struct wire_sctp_gap *gaps,
			     unsigned int max);

static inline bool sctp_rxmap_has_gap(const struct sctp_rxmap *m)
{
	return m->highest != m->cum;
}

/* Whether tsn is simply the next one, and nothing is missing: then it is new. */
static inline bool sctp_rxmap_is_next(const struct sctp_rxmap *m, uint32_t tsn)
{
	return tsn == m->cum + 1 && m->highest == m->cum;
}

/* sctp_rxmap_add() for a TSN of which sctp_rxmap_is_next() is true. */
static inline void sctp_rxmap_add_next(struct sctp_rxmap *m, uint32_t tsn)
{
	m->cum = m->highest = tsn;
}

#endif
