/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams: messages outside any association (docs/wire.md "Datagrams"). A datagram is an SCTP
 * packet with verification tag 0 and one chunk:
 *
 *  |  Type = 0xBD  |  Flags = 0    |            Length             |
 *  |  Version = 1  |     Kind      |       Flags of the kind       |
 *
 * Kind 1, the message of a UD queue pair, continues with:
 *
 *  |              Destination QP number (24 bits)                  |
 *  |                Source QP number (24 bits)                     |
 *  |                            Q_Key                              |
 *  |                       Immediate data                          |
 *  |0 0 0 0| Traffic Class |             Flow Label                |
 *  |   Hop Limit   |                  Reserved                     |
 *  |                            Payload                            |
 *
 * Integers are in network byte order. Encoding and decoding only; no state.
 */
#ifndef SCTPIW_WIRE_DATAGRAM_H
#define SCTPIW_WIRE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "wire/sctp_packet.h"

/* Chunk type. Due to its two highest bits, other stacks skip the chunk without a report. */
#define WIRE_DATAGRAM 0xbd
#define WIRE_DATAGRAM_VERSION 1
#define WIRE_DATAGRAM_LEN 8u /* length of the part that all kinds have, with the chunk header */
#define WIRE_UD_LEN 32u	     /* length of kind 1 without its payload, with the chunk header */

enum wire_datagram_kind {
	WIRE_DATAGRAM_UD = 1,
	WIRE_DATAGRAM_SIDR_REQUEST = 2, /* wire/sidr.h */
	WIRE_DATAGRAM_SIDR_REPLY = 3,
	WIRE_DATAGRAM_ROOM_REQUEST = 4, /* wire/room.h */
	WIRE_DATAGRAM_ROOM_REPLY = 5,
};

enum wire_ud_flags { WIRE_UD_SOLICITED = 1, WIRE_UD_WITH_IMM = 2 };

struct wire_ud {
	uint16_t flags; /* enum wire_ud_flags; other flags are ignored */
	uint32_t dst_qp, src_qp;
	uint32_t qkey;
	uint32_t imm;	     /* Immediate data, if flags has WIRE_UD_WITH_IMM; else 0 */
	uint32_t class_flow; /* traffic class << 20 | flow label */
	uint8_t hop_limit;
	const uint8_t *payload; /* only set in a decoded datagram */
	size_t len;		/* bytes of payload */
};

/* True if a packet of len bytes is a datagram, and not a packet of an association. */
static inline bool wire_is_datagram(const uint8_t *packet, size_t len)
{
	return len >= WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN && !get_be32(packet + 4) &&
	       packet[WIRE_SCTP_COMMON_LEN] == WIRE_DATAGRAM;
}

/*
 * Returns the kind of the datagram chunk at p, which has len bytes. Returns 0 if the chunk's length
 * field is wrong, or its version is unknown.
 */
static inline unsigned int wire_datagram_kind(const uint8_t *p, size_t len)
{
	size_t n = get_be16(p + 2);

	return n >= WIRE_DATAGRAM_LEN && n <= len && p[4] == WIRE_DATAGRAM_VERSION ? p[5] : 0;
}

/* Writes the headers for u->len bytes of payload. The payload begins at p + WIRE_UD_LEN. */
static inline void wire_ud_put(uint8_t *p, const struct wire_ud *u)
{
	wire_sctp_chunk_put(p, WIRE_DATAGRAM, 0, WIRE_UD_LEN + u->len);
	p[4] = WIRE_DATAGRAM_VERSION;
	p[5] = WIRE_DATAGRAM_UD;
	put_be16(p + 6, u->flags);
	put_be32(p + 8, u->dst_qp);
	put_be32(p + 12, u->src_qp);
	put_be32(p + 16, u->qkey);
	put_be32(p + 20, u->imm);
	put_be32(p + 24, u->class_flow);
	put_be32(p + 28, (uint32_t)u->hop_limit << 24);
}

/* Decodes a chunk of kind 1. Returns false if it is too short, or a QP number exceeds 24 bits. */
static inline bool wire_ud_get(struct wire_ud *u, const uint8_t *p)
{
	size_t n = get_be16(p + 2);

	if (n < WIRE_UD_LEN)
		return false;
	*u = (struct wire_ud){
		.flags = get_be16(p + 6),
		.dst_qp = get_be32(p + 8),
		.src_qp = get_be32(p + 12),
		.qkey = get_be32(p + 16),
		.imm = get_be32(p + 20),
		.class_flow = get_be32(p + 24) & 0xfffffff,
		.hop_limit = p[28],
		.payload = p + WIRE_UD_LEN,
		.len = n - WIRE_UD_LEN,
	};
	return !(u->dst_qp >> 24) && !(u->src_qp >> 24);
}

#endif
