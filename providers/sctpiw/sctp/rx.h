/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DATA that arrives and the SACKs that we send (RFC 9260 6.2). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RX_H
#define SCTPIW_SCTP_RX_H

#include "sctp/reasm.h"
#include "sctp/rxmap.h"

struct sctp_assoc;
struct sctp_in;

#define SCTP_DUPS_MAX 16u /* duplicate TSNs that a SACK reports */
/* A peer that asks for SACKs gets one for so many packets unasked: two batches on MTU 1500. */
#define SCTP_UNASKED_PACKETS 88u

/* What the next SACK owes the peer. */
struct sctp_ack_debt {
	unsigned int packets; /* with DATA since the last SACK */
	bool asked;	      /* one of them asks for it */
	bool gap;	      /* there was a gap behind the last packet with DATA */
	bool sacked_once;     /* a SACK was sent; the first DATA of all is acknowledged at once */
	unsigned int dup_count;
	uint32_t dups[SCTP_DUPS_MAX];
};

struct sctp_receiver {
	struct sctp_rxmap map;
	struct sctp_reasm reasm;
	struct sctp_ack_debt ack;
};

/* A SACK that was decided on: how many gap blocks and duplicates it reports. */
struct sctp_sack_plan {
	size_t len;	   /* bytes; 0: none fits */
	unsigned int gaps; /* the first ones of sctp.gaps, until the next plan */
	unsigned int dups;
};

/* A DATA chunk came. Delivers it through in->rx. May end the association (3.3.1, 6.2). */
void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* A packet with DATA has been gone through: decides when its SACK leaves. */
void sctp_rx_packet_done(struct sctp_in *in);
/* Plans a SACK of at most room bytes. Nothing changes but the scratch in sctp.gaps. */
struct sctp_sack_plan sctp_rx_sack_plan(struct sctp_assoc *a, size_t room);
/* Writes plan->len bytes. */
void sctp_rx_sack_put(const struct sctp_assoc *a, const struct sctp_sack_plan *plan, uint8_t *p);
/* A SACK leaves, or something that tells as much: nothing is owed any more. */
void sctp_rx_sack_sent(struct sctp_assoc *a);
/* The peer has restarted: forgets all that came of it, but for the memory of the map. */
void sctp_rx_restart(struct sctp_assoc *a);
/* Frees what was received and is not delivered. */
void sctp_rx_fini(struct sctp_assoc *a);

#endif
