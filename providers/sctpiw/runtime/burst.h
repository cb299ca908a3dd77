/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Bursts of small work requests. A small message costs ten times as much in a packet of its own as
 * in a full packet. The first work request of a burst is sent at once. The following work requests
 * wait on the list of doorbells for a few microseconds, until they fill packets. "Thread" is the
 * progress thread.
 *
 * The states of a burst:
 *
 *	state      event                                   next state  action
 *	IDLE       a post after the gap                    IDLE        the poster sends
 *	IDLE       a post within the gap                   GATHERING   the post waits; thread notified
 *	GATHERING  a post within the gap                   GATHERING   the post waits
 *	GATHERING  a post after the gap, or of many bytes  IDLE        the poster sends all
 *	either     a post that ends a batch, with few      IDLE        the poster sends all
 *	           bytes in flight
 *	GATHERING  a poll of an empty CQ                   IDLE        the poller sends all
 *
 * Some programs signal, for example, only each hundredth work request, and wait for its completion.
 * Such a work request and the unsignaled ones before it are a batch. A batch is sent as soon as it
 * is complete, so that the peer works while the program goes on posting. If many bytes are in
 * flight already, the peer is busy, and fuller packets are better. With the kernel's SCTP the
 * number of bytes in flight is unknown, and treated as large.
 *
 * A datagram is complete once it was sent. So a program that posts datagrams rarely finds its CQ
 * empty, and its polls do not show that the program is active. The first waiting datagram would
 * wake a sleeping progress thread, which would send this datagram alone, and delay the poster. So
 * datagrams wait only while the progress thread is parked. While the thread is not parked, the
 * poster sends each datagram at once, and sometimes wakes the thread to make the thread park.
 *
 * The gap is the maximum time from the end of one send to the next post; tuning.h chooses its
 * length. Other holders of the lock serve the list as well, but do not change the state. The next
 * poster after them finds its doorbell off the list, reads the clock, and ends the burst if the gap
 * is over.
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
	_Atomic uint64_t gathered_bytes; /* bytes of the waiting work requests */
	_Atomic uint32_t gathered;  /* number of waiting work requests; 0: IDLE, else GATHERING */
	_Atomic uint32_t in_flight; /* bytes in flight at the end of the lock holder's last round */
	/* current number of doublings of the gap (tuning_gap_shift()) */
	_Atomic uint32_t gap_shift;
	/* number of times that a poster read the clock and the burst went on */
	_Atomic uint32_t looks;
	_Atomic uint64_t last_look; /* time of the last of these clock readings, ns */
};

/* Pass this value as `bytes` to burst_post() for work requests that must not wait. */
#define BURST_AT_ONCE UINT64_MAX

/*
 * Handles new work requests of the QP or SRQ of this doorbell. Sends them, leaves them to the
 * holder of the lock, or lets them wait for more work requests of the burst. ends_batch: the last
 * of them is signaled, and follows many unsignaled ones. The caller does not hold the shard's lock.
 * Never blocks.
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
 * Starts the gap. Call this after the waiting work requests were sent, since sending a single
 * message may take longer than the gap.
 */
void burst_sent(struct burst *b);

#endif
