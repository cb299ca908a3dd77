/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The TSNs that have arrived: the cumulative TSN, and a bitmap of the TSNs beyond (RFC 9260 6.2,
 * 6.7). The bitmap grows on demand up to SCTP_RXMAP_RANGE bits. A peer that sends in order costs no
 * bitmap. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RXMAP_H
#define SCTPIW_SCTP_RXMAP_H

#include "wire/sctp_packet.h"

#define SCTP_RXMAP_RANGE 32768u

struct sctp_rxmap {
	uint32_t cum;	  /* all TSNs up to here have arrived */
	uint32_t highest; /* highest TSN that arrived; cum if there is no gap */
	uint64_t *bits;	  /* bit tsn % size is set if it arrived, for cum < tsn <= highest */
	uint32_t size;	  /* in bits: a power of two, or 0 */
};

enum sctp_rxmap_verdict {
	SCTP_RXMAP_NEW,
	SCTP_RXMAP_DUPLICATE,
	SCTP_RXMAP_BEYOND, /* too far ahead, or out of memory: must be dropped */
};

/* Starts (again) with nothing arrived; keeps the memory. */
void sctp_rxmap_init(struct sctp_rxmap *m, uint32_t initial_tsn);
void sctp_rxmap_fini(struct sctp_rxmap *m);
/* Returns the verdict of sctp_rxmap_add(). Stores nothing, but may grow the bitmap. */
enum sctp_rxmap_verdict sctp_rxmap_check(struct sctp_rxmap *m, uint32_t tsn);
/* Stores that tsn has arrived. Returns whether it is new. */
enum sctp_rxmap_verdict sctp_rxmap_add(struct sctp_rxmap *m, uint32_t tsn);
/* Writes the lowest gap blocks, at most max, in ascending order. Returns their number. */
unsigned int sctp_rxmap_gaps(const struct sctp_rxmap *m, struct wire_sctp_gap *gaps,
			     unsigned int max);

static inline bool sctp_rxmap_has_gap(const struct sctp_rxmap *m)
{
	return m->highest != m->cum;
}

/* True if tsn is the next one, and nothing is missing. It is new then. */
static inline bool sctp_rxmap_is_next(const struct sctp_rxmap *m, uint32_t tsn)
{
	return tsn == m->cum + 1 && m->highest == m->cum;
}

/* As sctp_rxmap_add(), if sctp_rxmap_is_next() is true. */
static inline void sctp_rxmap_add_next(struct sctp_rxmap *m, uint32_t tsn)
{
	m->cum = m->highest = tsn;
}

#endif
