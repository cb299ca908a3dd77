/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transitions of an outstanding DATA chunk. A chunk is always in one of three states: in
 * flight, lost (SCTP_OUT_LOST: it waits for retransmission) or acknowledged in a gap block
 * (SCTP_OUT_ACKED: the peer may still renege).
 *
 *	                sent                  acknowledged
 *	   (new chunk) ------> in flight <-----------------> gap-acknowledged
 *	                        ^   |          reneged               ^
 *	                 resent |   | lost                           |
 *	                        |   v          acknowledged          |
 *	                        lost --------------------------------+
 *
 * When the cumulative TSN passes a chunk, the chunk is removed, in any of these states. Only this
 * module changes the counters: the path's flight, the peer's window, and the numbers of lost and
 * gap-acknowledged chunks. A chunk in flight counts with the length of its last transmission. When
 * a chunk becomes void (void.h), its length changes only while the chunk is not in flight. Guarded
 * by the caller's lock.
 */
#ifndef SCTPIW_SCTP_INFLIGHT_H
#define SCTPIW_SCTP_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "sctp/outq.h"

struct sctp_assoc;
struct sctp_path;

struct sctp_inflight {
	uint32_t lost;	     /* chunks marked SCTP_OUT_LOST */
	uint32_t lost_from;  /* no lost chunk has a lower TSN */
	uint32_t gap_acked;  /* chunks marked SCTP_OUT_ACKED */
	uint32_t referenced; /* chunks marked SCTP_OUT_REFERENCED, in any state (zcopy.c) */
	/* highest TSN in a gap block of the newest SACK; without gap blocks, out.cum */
	uint32_t gap_end;
	/* number of packets with DATA sent, modulo 2^32: the order of transmissions */
	uint32_t xmit_seq;
};

/* Starts with no outstanding chunk. The first TSN will be initial_tsn. */
void sctp_inflight_start(struct sctp_assoc *a, uint32_t initial_tsn);
/*
 * Counts the transmission of a new chunk, or of a chunk after sctp_inflight_resent(), on `path`.
 * first: the chunk is the first DATA chunk of its packet. The packet and its overhead are counted
 * with this chunk.
 */
void sctp_inflight_sent(struct sctp_assoc *a, struct sctp_path *path, struct sctp_out *o,
			bool first, uint64_t now);
/* Prepares the retransmission of a lost chunk; sctp_inflight_sent() must follow. */
void sctp_inflight_resent(struct sctp_assoc *a, struct sctp_out *o);
/* Counts the retransmission of a chunk in flight, alone in its packet, as a tail-loss probe. */
void sctp_inflight_probed(struct sctp_assoc *a, struct sctp_out *o, uint64_t now);
/* Marks a chunk, in flight or lost, that a gap block has acknowledged for the first time. */
void sctp_inflight_acked(struct sctp_assoc *a, struct sctp_out *o);
/* Releases the memory of a chunk that the cumulative TSN passes. The chunk may be in any state. */
void sctp_inflight_passed(struct sctp_assoc *a, struct sctp_out *o);
/* Sets the cumulative TSN to cum, after it has passed all chunks up to cum. */
void sctp_inflight_advance(struct sctp_assoc *a, uint32_t cum);
/* Marks the TSNs in [from, to) in flight again: the peer reneges on them (RFC 9260 6.2.1). */
void sctp_inflight_renege(struct sctp_assoc *a, uint32_t from, uint32_t to);
/* Marks a chunk lost if it is in flight. */
void sctp_inflight_lost(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
/* Lets a chunk in flight, which is probably not lost, be sent again on a faster path. */
void sctp_inflight_withdraw(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
void sctp_inflight_void(struct sctp_out *o);
/* Marks all chunks in flight on the path lost. */
void sctp_inflight_path_lost(struct sctp_assoc *a, const struct sctp_path *path);
/*
 * Prepares the removal of a path that is not in use. Its chunks in flight become lost, since no
 * timer would wait for them. All its chunks get the id of the path in use, and the flag
 * SCTP_OUT_MOVED.
 */
void sctp_inflight_forget_path(struct sctp_assoc *a, const struct sctp_path *path);
/*
 * Gives all chunks the id of the path in use. Called after a restart, when this path is new and is
 * the only one.
 */
void sctp_inflight_one_path(struct sctp_assoc *a);

#endif
