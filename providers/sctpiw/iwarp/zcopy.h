/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy sending: the LLP reads the payload of a long segment from the application's memory. A
 * WQE completes when the peer has placed the payload (unplaced.h). Until then the application must
 * not change the memory.
 *
 * When a session ends, its messages become void and reference no memory (void.h).
 *
 * A Read Response has no completion. Its memory may change while referenced, as it may during a
 * copy, and the peer gets old or new bytes. But the right to read must last as long as the
 * reference: see iw_zcopy_copy_out(). Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_ZCOPY_H
#define SCTPIW_IWARP_ZCOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/shard.h"

struct iw_rc;

/* True if a payload is long enough to reference. Copying is faster for shorter payloads. */
static inline bool iw_zcopy_pays(const struct iw_rnic *rnic, uint32_t len)
{
	return len >= rnic->config.zcopy_min;
}

/*
 * References len bytes at from, enough for iw_zcopy_pays(), as the end of the pulled segment.
 * Returns false if they must be copied.
 */
bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len);
/* Copies all memory that the shard references, before the right to read some memory ends. */
void iw_zcopy_copy_out(struct iw_shard *shard);
/* Does the same for all shards. Needs the locks of all shards. */
void iw_zcopy_copy_out_all(struct iw_rnic *rnic);

#endif
