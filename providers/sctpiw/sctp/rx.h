/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Received DATA, and the SACKs for it (RFC 9260 6.2). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_RX_H
#define SCTPIW_SCTP_RX_H

#include "sctp/reasm.h"
#include "sctp/rxmap.h"

struct sctp_assoc;
struct sctp_in;

#define SCTP_DUPS_MAX 16u /* maximum of duplicate TSNs in a SACK */
/* Packets after which a peer that requests SACKs gets one anyway: two batches at MTU 1500. */
#define SCTP_UNASKED_PACKETS 88u

/* State of the next SACK. */
struct sctp_ack_debt {
	unsigned int packets; /* with DATA since the last SACK */
	bool asked;	      /* one of them requests it */
	bool gap;	      /* the last packet with DATA left a gap */
	bool sacked_once;     /* a SACK was sent; the very first DATA is acknowledged at once */
	unsigned int dup_count;
	uint32_t dups[SCTP_DUPS_MAX];
};

struct sctp_receiver {
	struct sctp_rxmap map;
	struct sctp_reasm reasm;
	struct sctp_ack_debt ack;
};

/* A planned SACK, with its numbers of gap blocks and duplicates. */
struct sctp_sack_plan {
	size_t len;	   /* bytes; 0: none fits */
	unsigned int gaps; /* first entries of sctp.gaps, until the next plan */
	unsigned int dups;
};

/* Handles a DATA chunk; delivers it through in->rx. May end the association (3.3.1, 6.2). */
void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Called after a packet with DATA: decides when its SACK leaves. */
void sctp_rx_packet_done(struct sctp_in *in);
/* Plans a SACK of at most room bytes. Changes only the scratch in sctp.gaps. */
struct sctp_sack_plan sctp_rx_sack_plan(struct sctp_assoc *a, size_t room);
/* Writes plan->len bytes. */
void sctp_rx_sack_put(const struct sctp_assoc *a, const struct sctp_sack_plan *plan, uint8_t *p);
/* A SACK, or an equivalent, leaves: no SACK is due any more. */
void sctp_rx_sack_sent(struct sctp_assoc *a);
/* Drops all received data after a restart of the peer, but keeps the memory of the map. */
void sctp_rx_restart(struct sctp_assoc *a);
/* Frees received data that was not delivered. */
void sctp_rx_fini(struct sctp_assoc *a);

#endif
