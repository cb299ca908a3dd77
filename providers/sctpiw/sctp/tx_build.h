/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Builds the packets of a batch, one by one. The structs are on the stack of sctp_output(). */
#ifndef SCTPIW_SCTP_TX_BUILD_H
#define SCTPIW_SCTP_TX_BUILD_H

#include "sctp/assoc.h"

/* The packet being built. */
struct sctp_tx_packet {
	uint8_t *p;
	size_t len;	    /* bytes so far */
	size_t limit;	    /* maximum of len */
	uint8_t *last_data; /* header of the packet's last DATA chunk, or NULL */
	bool counted;	    /* sctp_inflight_sent() has counted DATA of the packet */
	bool more;	    /* the user has more messages after the last one */
	bool alone;	    /* the packet ends the batch */
	bool oversize;	    /* the packet exceeds the path MTU: IP must fragment it */
};

/* The batch. */
struct sctp_tx {
	struct sctp_assoc *a;
	struct sctp_path *path; /* the destination */
	uint64_t now;
	struct sctp_block *block; /* the memory of the packets */
	bool data;		  /* the batch has DATA */
	unsigned int built;	  /* number of packets before pkt */
	struct sctp_tx_packet pkt;
};

/*
 * Builds one packet of at most limit bytes at p, without its checksum. Returns its length in bytes,
 * or 0 if nothing may be sent now.
 */
size_t sctp_tx_build(struct sctp_tx *tx, uint8_t *p, size_t limit);
/* Called when the batch is complete: starts the timers for its DATA. */
void sctp_tx_build_done(struct sctp_tx *tx);

#endif
