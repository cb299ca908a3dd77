/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Unexpected Sends: messages on QN 0 without a posted receive. The RNIC stores copies of their
 * segments, up to the QP's budget (RFC 5041 7.1 leaves the handling of a missing buffer to DDP).
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_UNEXPECTED_H
#define SCTPIW_IWARP_UNEXPECTED_H

#include <stdbool.h>
#include <stddef.h>

#include "iwarp/recv.h"
#include "iwarp/segment.h"

#define IW_UNEXPECTED_MSNS 8192 /* maximum number of stored Sends, for any budget */
#define IW_UNEXPECTED_COST 128	/* bytes that each segment costs in addition to its payload */

struct iw_unexpected_segment {
	struct iw_unexpected_segment *next;
	struct iw_rx_rec rec;
	uint16_t ssn;
	uint8_t data[]; /* rec.len bytes */
};

/* A message without a receive. With an SRQ, also an incomplete message with a receive. */
struct iw_unexpected {
	struct iw_unexpected_segment *first, *last; /* in order of arrival */
	/* With an SRQ: the receive, or at == 0. srq is NULL until a segment arrives. */
	struct iw_recv recv;
	bool begun; /* the receive contains part of the message */
	bool delivered;
	/* record of the last delivered segment; control is 0 if no segment was delivered */
	struct iw_rx_rec rec;
};

/* Messages by index, one entry each from `first` on. */
struct iw_unexpected_table {
	struct iw_unexpected *at;
	uint32_t size;	    /* size of at: a power of two, or 0 */
	uint32_t first;	    /* index of the first message that may be in the table */
	uint32_t count;	    /* messages that wait for a receive */
	uint32_t delivered; /* messages in the table that are delivered */
	size_t bytes;	    /* used bytes of the budget */
};

static inline struct iw_unexpected *iw_unexpected_at(const struct iw_unexpected_table *t,
						     uint32_t index)
{
	return &t->at[index & (t->size - 1)];
}

/*
 * Returns the entry of the message with this index, which is not before t->first. Enlarges the
 * table if necessary. Returns NULL if out of memory.
 */
struct iw_unexpected *iw_unexpected_entry(struct iw_unexpected_table *t, uint32_t index);

enum iw_unexpected_kept { IW_UNEXPECTED_KEPT, IW_UNEXPECTED_NO_BUDGET, IW_UNEXPECTED_NO_MEMORY };

/* Stores a copy of a segment of message `index`, unless the table would exceed budget bytes. */
enum iw_unexpected_kept iw_unexpected_keep(struct iw_unexpected_table *t, uint32_t index,
					   const struct iw_rx_rec *rec, uint16_t ssn,
					   const uint8_t *payload, size_t budget);
void iw_unexpected_free(struct iw_unexpected *m);
/* Frees all messages and the table, but keeps first. */
void iw_unexpected_clear(struct iw_unexpected_table *t);

/* True if the entry contains a message. */
static inline bool iw_unexpected_exists(const struct iw_unexpected *m)
{
	return m->first || m->delivered;
}

#endif
