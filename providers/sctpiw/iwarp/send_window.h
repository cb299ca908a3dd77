/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limit for a QP's outstanding Sends: the bytes that the peer stores without posted receives
 * (unexpected.h). So a peer without receives stops the Sends of one QP and need not refuse any.
 * Peers without receipts have no window. Needs the shard's lock.
 *
 * A segment counts from sending until receipts and the LLP show that it is in a receive. Bytes are
 * those of the peer's budget: IW_UNEXPECTED_COST and the payload of each segment.
 */
#ifndef SCTPIW_IWARP_SEND_WINDOW_H
#define SCTPIW_IWARP_SEND_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/unexpected.h"

#define IW_SEND_MARKS 8u
#define IW_SEND_WINDOW_MAX (1u << 30) /* bytes: upper limit for a peer's window */

/* The LLP had pulled `seq` messages once it had all bytes before `sent`. */
struct iw_send_mark {
	uint32_t seq;
	uint32_t sent;
};

struct iw_send_window {
	bool on;
	uint32_t limit;	   /* bytes */
	uint32_t sent;	   /* bytes, modulo 2^32 */
	uint32_t placed;   /* bytes that the LLP reported as placed */
	uint32_t last_seq; /* iw_assoc.pulled after the last segment */
	/* Bytes from `held_from` have no receive, although they may be placed. */
	bool held;
	uint32_t held_from;
	/* Messages whose placement frees parts of the window, in order. */
	struct iw_send_mark marks[IW_SEND_MARKS];
	uint32_t first_mark, next_mark; /* modulo IW_SEND_MARKS */
};

/* Resets the window. on: the peer has a window, of limit bytes. */
void iw_send_window_start(struct iw_send_window *w, bool on, uint32_t limit);
/*
 * Updates the window from the number of placed messages (iw_assoc.placed). Call before that number
 * has advanced by 2^31 since a segment was sent.
 */
void iw_send_window_placed(struct iw_send_window *w, uint32_t placed);
/* Returns the bytes that may lack a receive. */
static inline uint32_t iw_send_window_outstanding(const struct iw_send_window *w)
{
	uint32_t placed = w->placed;

	if (w->held && (int32_t)(w->held_from - placed) < 0)
		placed = w->held_from;
	return w->sent - placed;
}

/* True if a segment with this payload may be sent. */
static inline bool iw_send_window_fits(const struct iw_send_window *w, uint32_t payload)
{
	uint32_t outstanding = iw_send_window_outstanding(w);

	/* A single segment may always be sent, so a smaller window never blocks forever. */
	return !w->on || !outstanding || outstanding + IW_UNEXPECTED_COST + payload <= w->limit;
}

/* Counts a segment sent as the message with this number. */
void iw_send_window_take(struct iw_send_window *w, uint32_t payload, uint32_t seq);
/*
 * Sets *seq to the message whose placement would free the next part of the window. Returns false if
 * all is placed.
 */
bool iw_send_window_awaits(struct iw_send_window *w, uint32_t *seq);

#endif
