/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The state of one packet whose chunks sctp_input() processes, on that function's stack. */
#ifndef SCTPIW_SCTP_INPUT_H
#define SCTPIW_SCTP_INPUT_H

#include "sctp/assoc.h"

struct sctp_in {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a; /* the packet's association; NULL: not known yet */
	const struct path_addr *from;
	const uint8_t *packet;
	const uint8_t *end;
	struct wire_sctp_common h;
	uint64_t now;
	struct sctp_rx *rx;
	struct sctp_path *path; /* path of `a` to the packet's source address, or NULL */
	uint32_t control;	/* sctp_control_used() before this packet */
	unsigned int sacks;	/* number of SACKs and SHUTDOWNs in the packet so far */
	bool sacked;		/* a SACK of the packet was accepted */
	uint32_t sack_cum;	/* cumulative TSN of that SACK */
	/* hold: the packet has a HOLD chunk; hold_unsent: that chunk has no TSN */
	bool hold, hold_unsent;
	uint32_t hold_tsn; /* TSN of the HOLD chunk */
	/* a HEARTBEAT ACK was sent, alone in its packet, to the packet's source */
	bool heartbeat_answered;
	bool data;	 /* the packet has DATA */
	bool sack_now;	 /* DATA of the packet requires a SACK at once */
	bool sack_asked; /* the sender requests a SACK soon (the I bit of RFC 7053) */
	bool stop;	 /* the rest of the packet must be skipped */
	bool authentic;	 /* a valid AUTH chunk covers the next chunks */
	/* packet under construction for the answers to the packet's ASCONFs, or NULL */
	struct sctp_ootb *acks;
};

/* True if the packet came from another address than the remote address of the path in use. */
static inline bool sctp_in_elsewhere(const struct sctp_in *in)
{
	return in->path != in->a->path;
}

#endif
