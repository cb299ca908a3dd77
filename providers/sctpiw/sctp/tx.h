/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sender: the state of sctp_output() (sctp.h). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_TX_H
#define SCTPIW_SCTP_TX_H

#include "sctp/block.h"
#include "sctp/sctp.h"

#define SCTP_BATCH_PACKETS 64u	/* limit of UDP_SEGMENT */
#define SCTP_BATCH_BYTES 65000u /* limit of a datagram; a single packet may have max_packet bytes */

/* Control chunks to send, as bits of sctp_assoc.pending. sctp_output() builds them. */
enum sctp_pending {
	SCTP_PEND_INIT = 1 << 0,
	SCTP_PEND_COOKIE_ECHO = 1 << 1,
	SCTP_PEND_COOKIE_ACK = 1 << 2,
	SCTP_PEND_HEARTBEAT = 1 << 3, /* on the path in use */
	SCTP_PEND_SHUTDOWN = 1 << 4,
	SCTP_PEND_SHUTDOWN_ACK = 1 << 5,
	SCTP_PEND_SACK = 1 << 6,    /* a SACK is due now; the delayed SACK has a timer */
	SCTP_PEND_PROBE = 1 << 7,   /* tail-loss probe */
	SCTP_PEND_MTU = 1 << 8,	    /* mtu.wanted of some path: probe, alone in the last packet */
	SCTP_PEND_PATHS = 1 << 9,   /* hb.wanted of some path is set */
	SCTP_PEND_ASK = 1 << 10,    /* a HOLD chunk must request a SACK */
	SCTP_PEND_ASCONF = 1 << 11, /* sctp_asconf.out must be sent */
};

struct sctp_sender {
	struct sctp_block *block; /* memory for the next packets, or NULL */
	bool must_ask;	  /* the last packet with DATA should have requested a SACK, but has not */
	uint32_t unasked; /* number of new TSNs since the last request for a SACK, on all paths */
	/* at the last pull, the user had no message although a whole packet was free */
	bool ulp_empty;
	/*
	 * The user waits for the acknowledgement of messages. awaited_tsn is the TSN of the last
	 * such message.
	 */
	bool has_awaited;
	uint32_t awaited_tsn;
};

/* Starts with no chunk sent. The first TSN will be initial_tsn. */
void sctp_tx_start(struct sctp_assoc *a, uint32_t initial_tsn);
/* Drops all sent DATA. Called when the association restarts or ends. */
void sctp_tx_reset(struct sctp_assoc *a);
/* Releases the block if no chunk is outstanding. */
void sctp_tx_idle(struct sctp_assoc *a);

#endif
