/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One packet while sctp_input() goes through its chunks. Lives on that function's stack. */
#ifndef SCTPIW_SCTP_INPUT_H
#define SCTPIW_SCTP_INPUT_H

#include "sctp/assoc.h"

struct sctp_in {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a; /* whose packet it is; NULL: nobody's, as far as is known yet */
	const struct path_addr *from;
	const uint8_t *packet;
	const uint8_t *end;
	struct wire_sctp_common h;
	uint64_t now;
	struct sctp_rx *rx;
	struct sctp_path *path;	 /* the path of a that it came from; NULL: from none of them */
	uint32_t control;	 /* bytes of answers that waited before this packet came */
	unsigned int sacks;	 /* SACKs, and chunks that acknowledge as they do, so far */
	bool sacked;		 /* one of the SACKs was taken */
	uint32_t sack_cum;	 /* its cumulative TSN */
	bool hold, hold_unsent;	 /* a HOLD chunk came; it names no TSN */
	uint32_t hold_tsn;	 /* the TSN that it names */
	bool heartbeat_answered; /* in a packet of its own, to where this one came from */
	bool data;		 /* there was DATA in it */
	bool sack_now;		 /* and this DATA demands a SACK at once */
	bool sack_asked;	 /* its sender would like a SACK soon (the I bit of RFC 7053) */
	bool stop;		 /* the rest of the packet is to be skipped */
	bool authentic;		 /* an AUTH chunk came, and holds for what follows it */
	struct sctp_ootb *acks;	 /* the packet with the answers to its ASCONFs, or NULL */
};

/* Whether the packet came from another of the peer's addresses than that of the path in use. */
static inline bool sctp_in_elsewhere(const struct sctp_in *in)
{
	return in->path != in->a->path;
}

#endif
