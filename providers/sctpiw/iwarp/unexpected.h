/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Unexpected Sends: messages on QN 0 whose receive is not posted yet. Copies of their segments are
 * kept within a budget of the QP (RFC 5041 7.1 allows DDP to get over a missing buffer). Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_UNEXPECTED_H
#define SCTPIW_IWARP_UNEXPECTED_H

#include <stdbool.h>
#include <stddef.h>

#include "iwarp/recv.h"
#include "iwarp/segment.h"

#define IW_UNEXPECTED_MSNS 8192 /* Sends at most, whatever the budget of bytes */
#define IW_UNEXPECTED_COST 128	/* bytes of the budget that the bookkeeping of a segment takes */

struct iw_unexpected_segment {
	struct iw_unexpected_segment *next;
	struct iw_rx_rec rec;
	uint16_t ssn;
	uint8_t data[]; /* rec.len bytes */
};

/*
 * A message without a receive. With an SRQ, also one that has taken a receive and is not complete.
 */
struct iw_unexpected {
	struct iw_unexpected_segment *first, *last; /* in the order of arrival */
	/* With an SRQ: the receive; .at is 0: it has none, and .srq is NULL until a segment has come. */
	struct iw_recv recv;
	bool begun; /* some of it is in the receive */
	bool delivered;
	struct iw_rx_rec rec; /* of the segment that was delivered last; control 0: none was */
};

/* Messages by their index: one for each from `first` on. */
struct iw_unexpected_table {
	struct iw_unexpected *at;
	uint32_t size;	    /* of at: a power of two, or 0 */
	uint32_t first;	    /* index of the first message that may be in the table */
	uint32_t count;	    /* messages that wait for a receive */
	uint32_t delivered; /* messages in the table that are delivered */
	size_t bytes;	    /* of the budget that are used */
};

static inline struct iw_unexpected *iw_unexpected_at(const struct iw_unexpected_table *t,
						     uint32_t index)
{
	return &t->at[index & (t->size - 1)];
}

/* The entry of the message with this index, not before t->first; NULL: out of memory. */
struct iw_unexpected *iw_unexpected_entry(struct iw_unexpected_table *t, uint32_t index);

enum iw_unexpected_kept { IW_UNEXPECTED_KEPT, IW_UNEXPECTED_NO_BUDGET, IW_UNEXPECTED_NO_MEMORY };

/*
 * Keeps a copy of a segment of the message with this index, if with it no more than budget bytes
 * are used.
 */
enum iw_unexpected_kept iw_unexpected_keep(struct iw_unexpected_table *t, uint32_t index,
					   const struct iw_rx_rec *rec, uint16_t ssn,
					   const uint8_t *payload, size_t budget);
/* Frees the segments of the message. */
void iw_unexpected_free(struct iw_unexpected *m);
/* Frees all messages and the table; first stays. */
void iw_unexpected_clear(struct iw_unexpected_table *t);

/* Is the entry one of a message, and not an empty one? */
static inline bool iw_unexpected_exists(const struct iw_unexpected *m)
{
	return m->first || m->delivered;
}

#endif
