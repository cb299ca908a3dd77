/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of a session that write to the same memory. Messages are placed on arrival, but a lost
 * or overtaken message arrives after its successors. The bytes of the successors must then stay in
 * memory: if all messages had arrived in order, these bytes would have been placed last. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_OVERLAP_H
#define SCTPIW_IWARP_OVERLAP_H

#include "iwarp/session.h"

/*
 * Copies the payload of a tagged segment to `to`, except bytes that later messages of the session
 * have placed. Returns 0, or -EFAULT if the application has unmapped the memory.
 */
int iw_overlap_copy(struct iw_session *s, uint8_t *to, const struct iw_segment *seg);

/* Copies as iw_overlap_copy(), but fast if no later message has arrived yet. */
static inline int iw_tagged_copy(struct iw_session *s, uint8_t *to, const struct iw_segment *seg)
{
	if (s->rx.order.used)
		return iw_overlap_copy(s, to, seg);
	return s->shard->rnic->ops.place(to, seg->payload, seg->payload_len);
}

#endif
