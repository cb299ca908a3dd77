/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transitions of an outstanding DATA chunk. A chunk is always in one of three states: in
 * flight, lost (SCTP_OUT_LOST: it waits to be sent again) or acknowledged in a gap block
 * (SCTP_OUT_ACKED: the peer may still take that back).
 *
 *	                sent                  acknowledged
 *	   (new chunk) ------> in flight <-----------------> gap-acknowledged
 *	                        ^   |          reneged               ^
 *	                 resent |   | lost                           |
 *	                        |   v          acknowledged          |
 *	                        lost --------------------------------+
 *
 * A cumulative TSN that passes a chunk removes it from any of them. Only this module changes what a
 * chunk counts for: in the path's flight, in the peer's window, and among the lost and the
 * gap-acknowledged ones. While a chunk is in flight it counts as what has left last: one that becomes void
 * (void.h) has another length only once it is lost. Guarded by the caller's lock.
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
	uint32_t lost_from;  /* none of them has a lower TSN */
	uint32_t gap_acked;  /* chunks marked SCTP_OUT_ACKED */
	uint32_t referenced; /* chunks marked SCTP_OUT_REFERENCED, whatever their state (zcopy.c) */
	uint32_t gap_end;    /* the highest TSN in a gap block of the newest SACK, or out.cum */
	uint32_t xmit_seq;   /* packets with DATA sent, modulo 2^32: the order of transmissions */
};

/* Nothing is outstanding; the first TSN will be initial_tsn. */
void sctp_inflight_start(struct sctp_assoc *a, uint32_t initial_tsn);
/*
 * A new chunk, or one that sctp_inflight_resent() took up, leaves in a packet. first: it is the
 * packet's first DATA chunk, so the packet takes its number and its overhead is the chunk's. path: where it goes.
 */
void sctp_inflight_sent(struct sctp_assoc *a, struct sctp_path *path, struct sctp_out *o,
			bool first, uint64_t now);
/* A lost chunk is about to leave again; sctp_inflight_sent() follows. */
void sctp_inflight_resent(struct sctp_assoc *a, struct sctp_out *o);
/* A chunk in flight left a second time as a tail-loss probe, in a packet of its own. */
void sctp_inflight_probed(struct sctp_assoc *a, struct sctp_out *o, uint64_t now);
/* A chunk that is in flight or lost was acknowledged for the first time, in a gap block. */
void sctp_inflight_acked(struct sctp_assoc *a, struct sctp_out *o);
/* The cumulative TSN passes the chunk, whatever its state: releases its memory. */
void sctp_inflight_passed(struct sctp_assoc *a, struct sctp_out *o);
/* The cumulative TSN is now cum, and it has passed all chunks up to there. */
void sctp_inflight_advance(struct sctp_assoc *a, uint32_t cum);
/*
 * The peer takes back what it acknowledged of the TSNs in [from, to) (RFC 9260 6.2.1): these chunks
 * are in flight again.
 */
void sctp_inflight_renege(struct sctp_assoc *a, uint32_t from, uint32_t to);
/* Marks a chunk lost if it is in flight. */
void sctp_inflight_lost(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
/* A chunk that is in flight is to be sent again although it is not lost, most likely: by a faster path. */
void sctp_inflight_withdraw(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o);
/* The chunk is void from now on. */
void sctp_inflight_void(struct sctp_out *o);
/* Marks all chunks lost that are in flight on that path. */
void sctp_inflight_path_lost(struct sctp_assoc *a, const struct sctp_path *path);
/*
 * The path, which is not in use, is about to be forgotten. Nobody would wait any more for what is in flight there, so it
 * is lost; and no chunk has its id any more, but SCTP_OUT_MOVED instead.
 */
void sctp_inflight_forget_path(struct sctp_assoc *a, const struct sctp_path *path);
/* The path in use is the only one that is left, and its id is another one: all chunks are its own. */
void sctp_inflight_one_path(struct sctp_assoc *a);

#endif
