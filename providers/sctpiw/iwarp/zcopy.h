/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Zero-copy sending: the LLP reads the payload of a long segment from the application's memory. A
 * WQE completes when the peer has placed the payload (unplaced.h). Until then the application must
 * not change the memory.
 *
 * When a session ends, its messages become void and reference no memory (void.h).
 *
 * A Read Response has no completion. The application may change the memory while it is referenced,
 * as during a copy; the peer then gets old or new bytes. But the memory must not be read after the
 * peer's right to read has ended: see iw_zcopy_copy_out(). Needs the shard's lock.
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
 * References the len bytes at from as the end of the segment that is being pulled. iw_zcopy_pays()
 * must be true for len. Returns false if the bytes must be copied instead.
 */
bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len);
/* Copies all memory that messages reference. Call before the end of a peer's right to read. */
void iw_zcopy_copy_out(struct iw_shard *shard);
/* Copies the memory that the messages of all shards reference. Needs the locks of all shards. */
void iw_zcopy_copy_out_all(struct iw_rnic *rnic);

#endif
