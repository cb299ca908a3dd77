/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy sending: the payload of a long segment is not copied for the LLP, which reads it from the
 * application's memory. A WQE is complete when the peer has placed it (unplaced.h), and until then
 * the application leaves the memory alone.
 *
 * When a session ends its messages become void, and reference nothing any more (void.h).
 *
 * A Read Response has no completion. Its memory may change while it is referenced, as it may while
 * it is copied, and the peer learns one or the other. Only the right to read it must not end
 * before: see iw_zcopy_copy_out(). Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_ZCOPY_H
#define SCTPIW_IWARP_ZCOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/shard.h"

struct iw_rc;

/* Is a segment with so many bytes of payload long enough for it? Shorter ones are quicker copied. */
static inline bool iw_zcopy_pays(const struct iw_rnic *rnic, uint32_t len)
{
	return len >= rnic->config.zcopy_min;
}

/*
 * References len bytes at from, for which it pays, as the end of the segment being pulled. false:
 * copy them.
 */
bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len);
/* Copies out all that the shard has referenced: the right to read some memory is about to end. */
void iw_zcopy_copy_out(struct iw_shard *shard);
/* The same for all shards, whose locks are held. */
void iw_zcopy_copy_out_all(struct iw_rnic *rnic);

#endif
