/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much of a QP's Sends may be under way: no more than the peer keeps if no receive is posted
 * (unexpected.h). So a peer without receives stops the Sends of one QP, and nothing has to be
 * refused. Peers that do not know receipts have no such window. Needs the shard's lock.
 *
 * A segment counts from when it is sent until it is in a receive, as far as receipts and the LLP
 * tell. Bytes are those of the peer's budget: IW_UNEXPECTED_COST and the payload of each segment.
 */
#ifndef SCTPIW_IWARP_SEND_WINDOW_H
#define SCTPIW_IWARP_SEND_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/unexpected.h"

#define IW_SEND_MARKS 8u
#define IW_SEND_WINDOW_MAX (1u << 30) /* bytes: more of a peer's window is not used */

/* All bytes before `sent` were with the LLP when it had pulled `seq` messages. */
struct iw_send_mark {
	uint32_t seq;
	uint32_t sent;
};

struct iw_send_window {
	bool on;
	uint32_t limit;	   /* bytes */
	uint32_t sent;	   /* bytes, modulo 2^32 */
	uint32_t placed;   /* of them, that the LLP has told of */
	uint32_t last_seq; /* iw_assoc.pulled behind the last segment */
	/* Bytes from `held_from` on have no receive, although they may be placed. */
	bool held;
	uint32_t held_from;
	/* When parts of what was sent will be placed, in order. */
	struct iw_send_mark marks[IW_SEND_MARKS];
	uint32_t first_mark, next_mark; /* modulo IW_SEND_MARKS */
};

/* Begins with nothing sent. on: the peer has a window, of limit bytes. */
void iw_send_window_start(struct iw_send_window *w, bool on, uint32_t limit);
/*
 * The peer has placed so many messages (iw_assoc.placed). Must be told before that count has gone on
 * by 2^31 since a segment left.
 */
void iw_send_window_placed(struct iw_send_window *w, uint32_t placed);
/* Bytes that may be without a receive. */
static inline uint32_t iw_send_window_outstanding(const struct iw_send_window *w)
{
	uint32_t placed = w->placed;

	if (w->held && (int32_t)(w->held_from - placed) < 0)
		placed = w->held_from;
	return w->sent - placed;
}

/* May a segment with so many bytes of payload be sent? */
static inline bool iw_send_window_fits(const struct iw_send_window *w, uint32_t payload)
{
	uint32_t outstanding = iw_send_window_outstanding(w);

	/* A segment alone always goes: a window that is smaller than it stops nobody for ever. */
	return !w->on || !outstanding || outstanding + IW_UNEXPECTED_COST + payload <= w->limit;
}

/* A segment leaves as the message with this number. */
void iw_send_window_take(struct iw_send_window *w, uint32_t payload, uint32_t seq);
/*
 * The number of the message that has to be placed before more is known to be in receives. false:
 * the LLP has told all.
 */
bool iw_send_window_awaits(struct iw_send_window *w, uint32_t *seq);

#endif
