/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Received acknowledgements (RFC 9260 6.2.1, 6.3, 7.2). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_SACK_H
#define SCTPIW_SCTP_SACK_H

#include <stdint.h>

#include "wire/sctp_packet.h"

struct sctp_in;

/* Handles a SACK. Ends the association if the peer acknowledges TSNs that were never sent. */
void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles the cumulative TSN of a SHUTDOWN (9.2). Ends the association if it was never sent. */
void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum);

#endif
