/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The state of one packet while sctp_input() processes its chunks, on that function's stack. */
#ifndef SCTPIW_SCTP_INPUT_H
#define SCTPIW_SCTP_INPUT_H

#include "sctp/assoc.h"

struct sctp_in {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a; /* the packet's association; NULL: none known yet */
	const struct path_addr *from;
	const uint8_t *packet;
	const uint8_t *end;
	struct wire_sctp_common h;
	uint64_t now;
	struct sctp_rx *rx;
	struct sctp_path *path;	 /* path of a with the packet's source address, or NULL */
	uint32_t control;	 /* bytes of answers that waited before this packet */
	unsigned int sacks;	 /* SACKs and SHUTDOWNs so far */
	bool sacked;		 /* a SACK was accepted */
	uint32_t sack_cum;	 /* cumulative TSN of that SACK */
	bool hold, hold_unsent;	 /* a HOLD chunk came; it has no TSN */
	uint32_t hold_tsn;	 /* TSN of the HOLD chunk */
	bool heartbeat_answered; /* in a packet of its own, to the packet's source */
	bool data;		 /* the packet has DATA */
	bool sack_now;		 /* this DATA requires a SACK at once */
	bool sack_asked;	 /* the sender requests a SACK soon (the I bit of RFC 7053) */
	bool stop;		 /* the rest of the packet must be skipped */
	bool authentic;		 /* a valid AUTH chunk covers the next chunks */
	struct sctp_ootb *acks;	 /* packet with the answers to its ASCONFs, or NULL */
};

/* True if the packet came from another address than the remote end of the path in use. */
static inline bool sctp_in_elsewhere(const struct sctp_in *in)
{
	return in->path != in->a->path;
}

#endif
