/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a SACK says of the peer's user, not only of the peer's SCTP.
 *
 * Our SCTP hands each message to its user before the SACK for it leaves. So a SACK of ours says
 * that the user has placed the message, unless the user has something to say about it: a receipt,
 * which is a message that goes the other way. While a receipt is under way each SACK bears a HOLD
 * chunk with its TSN: the SACK's receiver must not take it as more than a SACK until all our DATA
 * up to that TSN has arrived. If both sides agree (docs/wire.md), this holds in both directions.
 *
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RECEIPTS_H
#define SCTPIW_SCTP_RECEIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sctp_receipts.h"

struct sctp_assoc;
struct sctp_in;

/* A SACK that waits until the peer's DATA up to `tsn` has come. */
struct sctp_hold {
	bool on;
	uint32_t cum; /* the SACK's cumulative TSN */
	uint32_t tsn;
};

struct sctp_receipts {
	struct wire_sctp_receipts agreed; /* version 0: none of this is done */
	/* This side's receipts. */
	bool sent;	   /* one was sent, and as far as is known it has not arrived */
	uint32_t last_tsn; /* of the last one; valid if sent */
	/*
	 * The last SACK was of no use, since a receipt was unsent: the peer gets another one when the
	 * receipt has left, or is not due any more.
	 */
	bool again;
	/* The peer's. */
	uint32_t placed; /* all messages up to this TSN are with the peer's user */
	/*
	 * The oldest SACK that is on hold is kept until it is released, so that there is progress,
	 * and the newest one, so that no SACK is lost.
	 */
	struct sctp_hold oldest, newest;
	unsigned int asked; /* how often the peer was asked for a SACK, since it said something new */
};

/* The peer's INIT or INIT ACK said this: agrees upon the lower one of both versions. */
void sctp_receipts_agree(struct sctp_assoc *a, const struct wire_sctp_receipts *peer);

/* The bytes of the HOLD chunk that must go with a SACK now: 0 if none must. */
size_t sctp_receipts_hold_len(const struct sctp_assoc *a);
/* A SACK leaves, with that chunk at p if len, what was planned for it, is not 0. */
void sctp_receipts_sack_sent(struct sctp_assoc *a, uint8_t *p, size_t len);
/* Whether a SACK is due because the last one was of no use. */
bool sctp_receipts_sack_is_due(const struct sctp_assoc *a);
/* A message that is a receipt leaves for the first time. */
void sctp_receipts_sent(struct sctp_assoc *a, uint32_t tsn);

/* A HOLD chunk came. */
void sctp_receipts_hold(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* A packet has been gone through, perhaps with a SACK (in->sack_cum) and a HOLD chunk. */
void sctp_receipts_sacked(struct sctp_in *in);

/*
 * SCTP_TIMER_RECEIPTS has expired. All SACKs that would say what is placed were lost, or came while
 * the peer had receipts to send: asks for another one.
 */
void sctp_receipts_timeout(struct sctp_assoc *a, uint64_t now);
/* Writes the chunk that asks; returns its length. */
size_t sctp_receipts_ask_put(uint8_t *p);

#endif
