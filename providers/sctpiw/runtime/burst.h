/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bursts of small work requests. A small message in a packet of its own costs ten times as much as
 * one in a full packet. So what is posted alone is sent at once, and the rest of a burst waits on
 * the list of doorbells, a few microseconds, until it fills packets.
 *
 * A burst is in one of two states:
 *
 *	state      what happens                             next state  what follows
 *	IDLE       a post that does not follow closely      IDLE        the poster sends
 *	IDLE       a post within the gap                    GATHERING   it waits; the thread is told
 *	GATHERING  a post within the gap                    GATHERING   it waits
 *	GATHERING  a post behind the gap, or of many bytes  IDLE        the poster sends all
 *	either     a post that ends a batch, if little is   IDLE        the poster sends all
 *	           in flight
 *	GATHERING  an empty CQ is polled                    IDLE        the poller sends all
 *
 * Programs that ask for the completion of each hundredth work request, say, wait for it. Such a batch is sent as
 * soon as it is whole, so that the peer works while the program posts what follows. If much is in flight
 * already the peer has work enough, and fuller packets are better; where nobody knows, as with the
 * kernel's SCTP, it counts as much.
 *
 * Who posts datagrams often never finds its CQ empty, and polls tell nobody of it, since a datagram is
 * complete when it has left. If the progress thread slept, it would be woken for the first one that
 * waits, send it alone, and be in the way of the poster. So datagrams wait only while the thread is
 * parked; until then the poster sends each at once, and now and then wakes the thread to have it park.
 *
 * The gap runs from the end of one send to the next post; tuning.h decides. Others who hold the
 * lock serve the list as well, and leave the state alone: then the next post rings a doorbell that
 * is not on the list, looks at the clock and ends the burst if the gap is over.
 */
#ifndef SCTPIW_RUNTIME_BURST_H
#define SCTPIW_RUNTIME_BURST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_doorbell;
struct shard;

/* No lock guards the fields: shard.h says why that is harmless. */
struct burst {
	_Atomic uint64_t last_served;	 /* when what was posted was last sent, ns */
	_Atomic uint64_t gathered_bytes; /* of the work requests that wait */
	_Atomic uint32_t gathered;	 /* their number; 0: the state is IDLE, else GATHERING */
	_Atomic uint32_t in_flight;	 /* bytes, when a holder of the lock last ended its round */
	_Atomic uint32_t gap_shift;	 /* how often the gap has doubled (tuning_gap_shift()) */
	_Atomic uint32_t looks; /* how often a poster has found at the clock that a burst goes on */
	_Atomic uint64_t last_look; /* when that was last, ns */
};

/* As the bytes of burst_post(): these work requests must not wait. */
#define BURST_AT_ONCE UINT64_MAX

/*
 * The QP or SRQ of this doorbell has new work requests of so many bytes. They are sent, or left to
 * the holder of the lock, or wait for the rest of a burst. ends_batch: the last one asks for its
 * completion, and many in front of it do not. Called without the shard's lock; never blocks.
 */
void burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes, bool ends_batch);
/* Whether the state is GATHERING. */
static inline bool burst_is_gathering(const struct burst *b)
{
	return atomic_load_explicit(&b->gathered, memory_order_relaxed);
}

/*
 * Ends the burst, for a caller that is about to send what waits, and calls burst_sent() when it has
 * done so. Shard lock.
 */
void burst_end(struct burst *b);
/*
 * What waited was sent just now, so the gap begins. It does not begin earlier, since sending one
 * message may take longer than the gap lasts.
 */
void burst_sent(struct burst *b);

#endif
