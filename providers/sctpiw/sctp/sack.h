/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Acknowledgements that arrive (RFC 9260 6.2.1, 6.3, 7.2). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_SACK_H
#define SCTPIW_SCTP_SACK_H

#include <stdint.h>

#include "wire/sctp_packet.h"

struct sctp_in;

/* A SACK came. Ends the association when the peer acknowledges what was never sent. */
void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* A SHUTDOWN came with this cumulative TSN (9.2). Ends the association as above. */
void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum);

#endif
