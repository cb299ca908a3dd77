/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Received DATA, and the SACKs for it (RFC 9260 6.2). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_RX_H
#define SCTPIW_SCTP_RX_H

#include "sctp/reasm.h"
#include "sctp/rxmap.h"

struct sctp_assoc;
struct sctp_in;

#define SCTP_DUPS_MAX 16u /* maximum number of duplicate TSNs in a SACK */
/*
 * Number of packets after which the peer gets a SACK without a request, if both sides have agreed
 * that SACKs are requested. This is the number of packets in two batches at MTU 1500.
 */
#define SCTP_UNASKED_PACKETS 88u

/* The information for the decision when the next SACK leaves, and its duplicates. */
struct sctp_ack_debt {
	unsigned int packets; /* packets with DATA since the last SACK */
	bool asked;	      /* one of these packets requests a SACK */
	bool gap;	      /* the last packet with DATA left a gap */
	bool sacked_once;     /* a SACK was sent before; the first DATA is acknowledged at once */
	unsigned int dup_count;
	uint32_t dups[SCTP_DUPS_MAX];
};

struct sctp_receiver {
	struct sctp_rxmap map;
	struct sctp_reasm reasm;
	struct sctp_ack_debt ack;
};

/* The size of a SACK that may be sent, with its numbers of gap blocks and duplicates. */
struct sctp_sack_plan {
	size_t len;	   /* length in bytes; 0: no SACK fits */
	unsigned int gaps; /* number of blocks in sctp.gaps, which stay until the next plan */
	unsigned int dups;
};

/* Handles a DATA chunk: returns its message in in->rx. May end the association (3.3.1, 6.2). */
void sctp_rx_data(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Called after a packet with DATA: decides when the SACK for the packet leaves. */
void sctp_rx_packet_done(struct sctp_in *in);
/* Plans a SACK of at most room bytes. Writes only sctp.gaps. */
struct sctp_sack_plan sctp_rx_sack_plan(struct sctp_assoc *a, size_t room);
/* Writes the planned SACK of plan->len bytes at p. */
void sctp_rx_sack_put(const struct sctp_assoc *a, const struct sctp_sack_plan *plan, uint8_t *p);
/* Called when a SACK, or a SHUTDOWN instead of it, leaves: no SACK is due any more. */
void sctp_rx_sack_sent(struct sctp_assoc *a);
/* Drops all received data after a restart of the peer. Keeps the memory of the map. */
void sctp_rx_restart(struct sctp_assoc *a);
/* Frees received data that was not delivered, and the map. */
void sctp_rx_fini(struct sctp_assoc *a);

#endif
