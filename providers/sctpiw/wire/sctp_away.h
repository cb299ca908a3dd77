/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The AWAY chunk of sctpiw (docs/wire.md). It reports that an address of the sender is out of
 * reach: packets to this address do not arrive. A stack that does not know the type skips the chunk
 * without a report. No state.
 *
 *  |  Type = 0xBC  |   Flags = 0   |       Length = 12 or 24       |
 *  |                       Address Parameter                       |
 */
#ifndef SCTPIW_WIRE_SCTP_AWAY_H
#define SCTPIW_WIRE_SCTP_AWAY_H

#include "wire/sctp_asconf.h"

#define WIRE_SCTP_AWAY 0xbc
#define WIRE_SCTP_AWAY_MAX (WIRE_SCTP_CHUNK_LEN + WIRE_SCTP_ADDR_PARAM_MAX)

/* Writes the chunk, at most WIRE_SCTP_AWAY_MAX bytes. Returns its length. */
static inline size_t wire_sctp_away_put(uint8_t *p, const struct ip_addr *addr)
{
	size_t len = WIRE_SCTP_CHUNK_LEN + wire_sctp_addr_put(p + WIRE_SCTP_CHUNK_LEN, addr);

	wire_sctp_chunk_put(p, WIRE_SCTP_AWAY, 0, len);
	return len;
}

/* Decodes the address, which has no scope. Returns false if the chunk has no address. */
static inline bool wire_sctp_away_get(const struct wire_sctp_chunk *c, struct ip_addr *addr)
{
	return wire_sctp_addr_get(wire_sctp_value(c), wire_sctp_value_len(c), addr);
}

#endif
