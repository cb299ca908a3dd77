/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of one session that go to the same memory. They are placed when they come, and one that
 * was lost or overtaken comes behind its successors. What these have placed has to stay, because it
 * would have been placed last if all had come in order. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_OVERLAP_H
#define SCTPIW_IWARP_OVERLAP_H

#include "iwarp/session.h"

/*
 * Copies the payload of a tagged segment to `to`, but for bytes that later messages of the session
 * have placed. -EFAULT: the application has unmapped the memory.
 */
int iw_overlap_copy(struct iw_session *s, uint8_t *to, const struct iw_segment *seg);

/* The same, which is a plain copy while nothing has come early. */
static inline int iw_tagged_copy(struct iw_session *s, uint8_t *to, const struct iw_segment *seg)
{
	if (s->rx.order.used)
		return iw_overlap_copy(s, to, seg);
	return s->shard->rnic->ops.place(to, seg->payload, seg->payload_len);
}

#endif
