/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bursts of small work requests. A small message in a packet of its own is ten times as dear as one in a full
 * packet, so what is posted alone is sent at once, and the rest of a burst waits, a few microseconds, until it
 * is a packet's worth. The fields are estimates: two threads may lose an update, which does no harm.
 */
#ifndef SCTPIW_RUNTIME_BURST_H
#define SCTPIW_RUNTIME_BURST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_doorbell;
struct shard;

struct burst {
	_Atomic uint64_t last_served;	 /* when what was posted was last sent, ns */
	_Atomic uint64_t gathered_bytes; /* of the work requests that wait since */
	_Atomic uint32_t gathered;	 /* their number */
	_Atomic uint32_t gap_shift;	 /* the gap that ends a burst has doubled so often */
};

/* bytes that never wait. */
#define BURST_AT_ONCE UINT64_MAX

/*
 * The QP or SRQ of this doorbell has new work requests of so many bytes: sends them, leaves them to the holder
 * of the lock, or lets them wait for the rest of a burst. Without the lock; never blocks.
 */
void burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes);
/* What waits leaves now: called before, and with true after, the pass that sends it. Shard lock. */
bool burst_end(struct burst *b);
void burst_begin(struct burst *b);

#endif
