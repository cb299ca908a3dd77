/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receipts prove that the peer's user, and not only the peer's SCTP, has received a message.
 *
 * The local SCTP passes each message to its user before the SACK for the message leaves. So a local
 * SACK proves that the user has placed the message, unless the user still has to send a receipt. A
 * receipt is a message in the other direction. While a receipt is outstanding, each SACK has a HOLD
 * chunk with the TSN of the receipt. Such a SACK proves placement only after all local DATA up to
 * that TSN has arrived. If both sides agree (docs/wire.md), these rules hold in both directions.
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

/* A SACK that proves placement only after the peer's DATA up to `tsn` has arrived. */
struct sctp_hold {
	bool on;
	uint32_t cum; /* the SACK's cumulative TSN */
	uint32_t tsn;
};

struct sctp_receipts {
	struct wire_sctp_receipts agreed; /* version 0: receipts are off */
	/* Receipts that the local side sends. */
	bool sent;	   /* a receipt was sent, and is not known to have arrived */
	uint32_t last_tsn; /* TSN of the last receipt; valid if sent */
	/*
	 * The last SACK proved nothing, since the user had a receipt that was not sent yet. The
	 * peer gets another SACK after the receipt was sent, or was cancelled.
	 */
	bool again;
	/* Receipts that the peer sends. */
	uint32_t placed; /* the peer's user has placed all messages up to this TSN */
	/*
	 * SACKs that wait. The oldest one is kept until its DATA arrives; otherwise newer SACKs
	 * could delay the proof for ever. The newest one proves the most.
	 */
	struct sctp_hold oldest, newest;
	unsigned int asked; /* requests for a SACK since placement was last fully proved */
};

/* Handles the parameter of the peer's INIT or INIT ACK: agrees on the lower version of the two. */
void sctp_receipts_agree(struct sctp_assoc *a, const struct wire_sctp_receipts *peer);

/* Returns the length of the HOLD chunk that a SACK must have now, or 0. */
size_t sctp_receipts_hold_len(const struct sctp_assoc *a);
/* Called when a SACK leaves. If len is not 0, writes the HOLD chunk of len bytes at p. */
void sctp_receipts_sack_sent(struct sctp_assoc *a, uint8_t *p, size_t len);
/* True if a SACK is due because the last one proved nothing. */
bool sctp_receipts_sack_is_due(const struct sctp_assoc *a);
/* Called when a receipt is sent for the first time. */
void sctp_receipts_sent(struct sctp_assoc *a, uint32_t tsn);

/* Handles a HOLD chunk. */
void sctp_receipts_hold(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Called after each packet. The packet may have had a SACK (in->sack_cum) and a HOLD chunk. */
void sctp_receipts_sacked(struct sctp_in *in);

/*
 * Called when SCTP_TIMER_RECEIPTS has expired. The SACKs that would prove placement were lost, or
 * came while the peer had receipts to send. Requests another SACK.
 */
void sctp_receipts_timeout(struct sctp_assoc *a, uint64_t now);
/* Writes the chunk that requests a SACK. Returns its length. */
size_t sctp_receipts_ask_put(uint8_t *p);

#endif
