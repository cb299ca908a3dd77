/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sending: the state behind sctp_output() of sctp.h. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_TX_H
#define SCTPIW_SCTP_TX_H

#include "sctp/block.h"
#include "sctp/sctp.h"

#define SCTP_BATCH_PACKETS 64u	/* UDP_SEGMENT takes no more */
#define SCTP_BATCH_BYTES 65000u /* nor does a datagram; one packet alone may have max_packet */

/* Control chunks that are to be sent, as bits of sctp_assoc.pending. sctp_output() makes them. */
enum sctp_pending {
	SCTP_PEND_INIT = 1 << 0,
	SCTP_PEND_COOKIE_ECHO = 1 << 1,
	SCTP_PEND_COOKIE_ACK = 1 << 2,
	SCTP_PEND_HEARTBEAT = 1 << 3, /* on the path in use */
	SCTP_PEND_SHUTDOWN = 1 << 4,
	SCTP_PEND_SHUTDOWN_ACK = 1 << 5,
	SCTP_PEND_SACK = 1 << 6,  /* due now; a delayed one has its timer */
	SCTP_PEND_PROBE = 1 << 7, /* tail-loss probe */
	SCTP_PEND_MTU = 1 << 8, /* some path's mtu.wanted: a packet of its own behind all others */
	SCTP_PEND_PATHS = 1 << 9,   /* some path's hb.wanted */
	SCTP_PEND_ASK = 1 << 10,    /* a HOLD chunk that asks for a SACK */
	SCTP_PEND_ASCONF = 1 << 11, /* sctp_asconf.out */
};

struct sctp_sender {
	struct sctp_block *block; /* where packets are built now, or NULL */
	bool must_ask; /* the last packet with DATA has not asked for a SACK that the peer would not send unasked */
	uint32_t unasked; /* new TSNs since a packet asked for a SACK, on whatever path */
	bool ulp_empty;	  /* the user had nothing for a whole packet when asked last */
	/* The user waits for the acknowledgement of messages, the last of which has this TSN. */
	bool has_awaited;
	uint32_t awaited_tsn;
};

/* Begins with nothing sent; the first TSN will be initial_tsn. */
void sctp_tx_start(struct sctp_assoc *a, uint32_t initial_tsn);
/* Forgets all that was sent (restart, end). */
void sctp_tx_reset(struct sctp_assoc *a);
/* Gives the block back when nothing is outstanding. */
void sctp_tx_idle(struct sctp_assoc *a);

#endif
