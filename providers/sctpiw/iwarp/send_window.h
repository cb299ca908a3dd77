/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits a QP's outstanding Sends to the bytes that the peer can store without posted receives
 * (unexpected.h). So a peer that posts no receives stops the QP's Sends, and never has to refuse a
 * Send. Peers that do not support receipts have no window. Needs the shard's lock.
 *
 * A segment is counted from its sending until receipts and the LLP show that the segment is in a
 * receive. Each segment counts with the bytes that it costs the peer's budget: its payload and
 * IW_UNEXPECTED_COST.
 */
#ifndef SCTPIW_IWARP_SEND_WINDOW_H
#define SCTPIW_IWARP_SEND_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/unexpected.h"

#define IW_SEND_MARKS 8u
#define IW_SEND_WINDOW_MAX (1u << 30) /* bytes: upper limit for a peer's window */

/* When the LLP had pulled all bytes before `sent`, it had pulled `seq` messages. */
struct iw_send_mark {
	uint32_t seq;
	uint32_t sent;
};

struct iw_send_window {
	bool on;
	uint32_t limit;	   /* bytes */
	uint32_t sent;	   /* sent bytes, modulo 2^32 */
	uint32_t placed;   /* bytes that the LLP reported as placed */
	uint32_t last_seq; /* iw_assoc.pulled after the last segment */
	/* If held, the bytes from held_from on have no receive, even if they are placed. */
	bool held;
	uint32_t held_from;
	/* The messages whose placement frees parts of the window, in order. */
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
/* Returns the number of sent bytes that may lack a receive. */
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

	/* If nothing is outstanding, any segment fits, so a small window never blocks forever. */
	return !w->on || !outstanding || outstanding + IW_UNEXPECTED_COST + payload <= w->limit;
}

/* Counts a sent segment. seq: number of the message (iw_assoc.pulled). */
void iw_send_window_take(struct iw_send_window *w, uint32_t payload, uint32_t seq);
/*
 * Sets *seq to the message whose placement would free the next part of the window. Returns false if
 * all sent bytes are placed.
 */
bool iw_send_window_awaits(struct iw_send_window *w, uint32_t *seq);

#endif
