/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bursts of small work requests. A small message in its own packet costs ten times as much as in a
 * full packet. So a single work request is sent at once. The rest of a burst waits on the list of
 * doorbells for a few microseconds, until it fills packets.
 *
 * The states of a burst:
 *
 *	state      event                                   next state  action
 *	IDLE       a post after the gap                    IDLE        the poster sends
 *	IDLE       a post within the gap                   GATHERING   it waits; thread notified
 *	GATHERING  a post within the gap                   GATHERING   it waits
 *	GATHERING  a post after the gap, or of many bytes  IDLE        the poster sends all
 *	either     a post that ends a batch, with few      IDLE        the poster sends all
 *	           bytes in flight
 *	GATHERING  a poll of an empty CQ                   IDLE        the poller sends all
 *
 * Some programs signal, for example, each hundredth work request, and wait for its completion. Such
 * a batch is sent as soon as it is whole, so that the peer works while the program goes on posting.
 * If many bytes are in flight already, the peer is busy, and fuller packets are better. With the
 * kernel's SCTP the bytes in flight are unknown, and count as many.
 *
 * A datagram is complete once it has left. So a program that posts datagrams often finds no empty
 * CQ, and its polls do not show that it is active. A sleeping progress thread would be woken for
 * the first waiting datagram, send it alone, and delay the poster. So datagrams wait only while the
 * thread is parked. Until then, the poster sends each datagram at once, and sometimes wakes the
 * thread to make it park.
 *
 * The gap runs from the end of one send to the next post; tuning.h decides. Other holders of the
 * lock serve the list as well, but do not change the state. The next post then rings a doorbell
 * that is not on the list, reads the clock, and ends the burst if the gap is over.
 */
#ifndef SCTPIW_RUNTIME_BURST_H
#define SCTPIW_RUNTIME_BURST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_doorbell;
struct shard;

/* No lock guards the fields (see shard.h). */
struct burst {
	_Atomic uint64_t last_served;	 /* time of the last send of posted work requests, ns */
	_Atomic uint64_t gathered_bytes; /* of the waiting work requests */
	_Atomic uint32_t gathered;  /* number of waiting work requests; 0: IDLE, else GATHERING */
	_Atomic uint32_t in_flight; /* bytes, when a holder of the lock last ended its round */
	_Atomic uint32_t gap_shift; /* doublings of the gap (tuning_gap_shift()) */
	_Atomic uint32_t looks;	    /* times that a poster read the clock while the burst went on */
	_Atomic uint64_t last_look; /* time of the last such reading, ns */
};

/* Pass this as bytes to burst_post() if the work requests must not wait. */
#define BURST_AT_ONCE UINT64_MAX

/*
 * Handles new work requests of the QP or SRQ of this doorbell. Sends them, leaves them to the
 * holder of the lock, or lets them wait for the rest of a burst. ends_batch: the last one is
 * signaled, after many unsignaled ones. The caller does not hold the shard's lock. Never blocks.
 */
void burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes, bool ends_batch);
static inline bool burst_is_gathering(const struct burst *b)
{
	return atomic_load_explicit(&b->gathered, memory_order_relaxed);
}

/*
 * Ends the burst. The caller then sends the waiting work requests, and calls burst_sent(). Needs
 * the shard's lock.
 */
void burst_end(struct burst *b);
/*
 * Starts the gap, after the waiting work requests were sent: sending one message may take longer
 * than the gap.
 */
void burst_sent(struct burst *b);

#endif
