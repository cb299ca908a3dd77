/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builds the packets of a batch, one after the other. The state is on the stack of sctp_output().
 */
#ifndef SCTPIW_SCTP_TX_BUILD_H
#define SCTPIW_SCTP_TX_BUILD_H

#include "sctp/assoc.h"

/* The packet being built. */
struct sctp_tx_packet {
	uint8_t *p;
	size_t len;	    /* bytes so far */
	size_t limit;	    /* maximum of len */
	uint8_t *last_data; /* header of its last DATA chunk, or NULL */
	bool counted;	    /* it has DATA that sctp_inflight_sent() has counted */
	bool more;	    /* the user has more after the last message */
	bool alone;	    /* it ends the batch */
	bool oversize;	    /* it exceeds the path MTU: IP must fragment it */
};

/* The batch. */
struct sctp_tx {
	struct sctp_assoc *a;
	struct sctp_path *path; /* its destination */
	uint64_t now;
	struct sctp_block *block; /* its memory */
	bool data;		  /* it has DATA */
	unsigned int built;	  /* packets before pkt */
	struct sctp_tx_packet pkt;
};

/*
 * Builds one packet of at most limit bytes at p, without its checksum. Returns its length, or 0 if
 * nothing may be sent now.
 */
size_t sctp_tx_build(struct sctp_tx *tx, uint8_t *p, size_t limit);
/* Called for the complete batch: starts the timers for its DATA. */
void sctp_tx_build_done(struct sctp_tx *tx);

#endif
