/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Building the packets of a batch, one after the other. Lives on the stack of sctp_output(). */
#ifndef SCTPIW_SCTP_TX_BUILD_H
#define SCTPIW_SCTP_TX_BUILD_H

#include "sctp/assoc.h"

/* The packet being built. */
struct sctp_tx_packet {
	uint8_t *p;
	size_t len;	    /* bytes built so far */
	size_t limit;	    /* bytes at most */
	uint8_t *last_data; /* header of the last DATA chunk in it, or NULL */
	bool counted;	    /* it has DATA that sctp_inflight_sent() has counted */
	bool more;	    /* the user said that it has more behind the last message */
	bool alone;	    /* the batch ends with it */
	bool oversize;	    /* it is larger than the path MTU, and IP must fragment it */
};

/* The batch. */
struct sctp_tx {
	struct sctp_assoc *a;
	struct sctp_path *path; /* where it goes */
	uint64_t now;
	struct sctp_block *block; /* where it is built */
	bool data;		  /* there is DATA in it */
	unsigned int built;	  /* packets before the present one */
	struct sctp_tx_packet pkt;
};

/*
 * Builds one packet of at most limit bytes at p, without its checksum. Returns its length; 0:
 * nothing may be sent now.
 */
size_t sctp_tx_build(struct sctp_tx *tx, uint8_t *p, size_t limit);
/* The batch is complete: starts the timers for the DATA in it. */
void sctp_tx_build_done(struct sctp_tx *tx);

#endif
