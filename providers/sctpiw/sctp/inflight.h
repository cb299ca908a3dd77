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
 * A cumulative TSN that passes a chunk removes it from any state. Only this module changes the
 * accounts of a chunk: the path's flight, the peer's window, and the numbers of lost and
 * gap-acknowledged chunks. A chunk in flight counts with the length of its last transmission. The
 * length of a chunk that becomes void (void.h) changes only outside flight. Guarded by the caller's
 * lock.
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
	uint32_t gap_end;    /* highest TSN in a gap block of the newest SACK, or out.cum */
	uint32_t xmit_seq;   /* packets with DATA sent, modulo 2^32: the order of transmissions */
};

/* Starts with nothing outstanding; the first TSN will be initial_tsn. */
void sctp_inflight_start(struct sctp_assoc *a, uint32_t initial_tsn);
/*
 * A new chunk, or one after sctp_inflight_resent(), leaves in a packet on path. first: the chunk is
 * the packet's first DATA chunk, counts the packet and carries its overhead.
 */
void sctp_inflight_sent(struct sctp_assoc *a, struct sctp_path *path, struct sctp_out *o,
			bool first, uint64_t now);
/* A lost chunk is about to leave again; sctp_inflight_sent() follows. */
void sctp_inflight_resent(struct sctp_assoc *a, struct sctp_out *o);
/* A chunk in flight was sent again as a tail-loss probe, in a packet of its own. */
void sctp_inflight_probed(struct sctp_assoc *a, struct sctp_out *o, uint64_t now);
/* A chunk in flight or lost was acknowledged for the first time, in a gap block. */
void sctp_inflight_acked(struct sctp_assoc *a, struct sctp_out *o);
/* The cumulative TSN passes the chunk, in any state: releases its memory. */
void sctp_inflight_passed(struct sctp_assoc *a, struct sctp_out *o);
/* Sets the cumulative TSN to cum, after it has passed all chunks up to cum. */
void sctp_inflight_advance(struct sctp_assoc *a, uint32_t cum);
/* The peer reneges on TSNs in [from, to) (RFC 9260 6.2.1): these chunks are in flight again. */
void sctp_inflight_renege(struct sctp_assoc *a, uint32_t from, uint32_t to);
/* Marks a chunk lost if it is in flight. */
void sctp_inflight_lost(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
/* Moves a chunk in flight, probably not lost, to a faster path: it is sent again. */
void sctp_inflight_withdraw(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
void sctp_inflight_void(struct sctp_out *o);
/* Marks all chunks in flight on that path lost. */
void sctp_inflight_path_lost(struct sctp_assoc *a, const struct sctp_path *path);
/*
 * Prepares to forget a path that is not in use. Its chunks in flight become lost, since no timer
 * would wait for them. All its chunks get the id of the path in use, and SCTP_OUT_MOVED.
 */
void sctp_inflight_forget_path(struct sctp_assoc *a, const struct sctp_path *path);
/* Gives all chunks the id of the path in use, which is new and belongs to the only path left. */
void sctp_inflight_one_path(struct sctp_assoc *a);

#endif
