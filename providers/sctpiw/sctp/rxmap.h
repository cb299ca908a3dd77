/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The received TSNs: the cumulative TSN, and a bitmap of the TSNs after it (RFC 9260 6.2, 6.7). The
 * bitmap grows on demand up to SCTP_RXMAP_RANGE bits. No bitmap is allocated for a peer whose
 * packets arrive in order. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RXMAP_H
#define SCTPIW_SCTP_RXMAP_H

#include "wire/sctp_packet.h"

#define SCTP_RXMAP_RANGE 32768u

struct sctp_rxmap {
	uint32_t cum;	  /* all TSNs up to this one have arrived */
	uint32_t highest; /* highest TSN that has arrived; equal to cum if there is no gap */
	uint64_t *bits;	  /* for cum < tsn <= highest: bit tsn % size is set if tsn has arrived */
	uint32_t size;	  /* in bits: a power of two, or 0 */
};

enum sctp_rxmap_verdict {
	SCTP_RXMAP_NEW,
	SCTP_RXMAP_DUPLICATE,
	SCTP_RXMAP_BEYOND, /* too far ahead, or out of memory: must be dropped */
};

/* Resets the map: no TSN has arrived. Keeps the memory of the bitmap. */
void sctp_rxmap_init(struct sctp_rxmap *m, uint32_t initial_tsn);
void sctp_rxmap_fini(struct sctp_rxmap *m);
/* Returns the verdict of sctp_rxmap_add(). Stores no TSN, but may enlarge the bitmap. */
enum sctp_rxmap_verdict sctp_rxmap_check(struct sctp_rxmap *m, uint32_t tsn);
/* Stores that tsn has arrived. Returns the verdict; only with SCTP_RXMAP_NEW was tsn stored. */
enum sctp_rxmap_verdict sctp_rxmap_add(struct sctp_rxmap *m, uint32_t tsn);
/* Writes the gap blocks with the lowest TSNs in order, at most max. Returns their number. */
unsigned int sctp_rxmap_gaps(const struct sctp_rxmap *m, struct wire_sctp_gap *gaps,
			     unsigned int max);

static inline bool sctp_rxmap_has_gap(const struct sctp_rxmap *m)
{
	return m->highest != m->cum;
}

/* True if tsn follows the cumulative TSN, and no gap exists. tsn is then new. */
static inline bool sctp_rxmap_is_next(const struct sctp_rxmap *m, uint32_t tsn)
{
	return tsn == m->cum + 1 && m->highest == m->cum;
}

/* As sctp_rxmap_add(). sctp_rxmap_is_next() must be true. */
static inline void sctp_rxmap_add_next(struct sctp_rxmap *m, uint32_t tsn)
{
	m->cum = m->highest = tsn;
}

#endif
