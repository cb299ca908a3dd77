/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams of kinds 4 and 5, Room Request and Room Reply (docs/wire.md "Room at the receiver"). A
 * sender of datagrams requests from a port the number of bytes that it may send there. A request:
 *
 *  |                             Nonce                             |
 *  |                           (64 bits)                           |
 *  |                           Reserved                            |
 *  |                           (64 bits)                           |
 *
 * A reply is shorter than a request, so a forged request cannot multiply traffic to a victim:
 *
 *  |                             Nonce                             |
 *  |                           (64 bits)                           |
 *  |                             Room                              |
 *
 * Integers of the struct are in host order. Encoding and decoding only; no state.
 */
#ifndef SCTPIW_WIRE_ROOM_H
#define SCTPIW_WIRE_ROOM_H

#include <string.h>

#include "wire/datagram.h"

#define WIRE_ROOM_REQUEST_LEN (WIRE_DATAGRAM_LEN + 16u) /* length of the chunk with its header */
#define WIRE_ROOM_REPLY_LEN (WIRE_DATAGRAM_LEN + 12u)

struct wire_room {
	uint64_t nonce; /* chosen by the requester; the reply has the same nonce */
	uint32_t room;	/* bytes of the receive buffer that the sender may fill; 0 in a request */
};

/* Writes the chunk at p, which has room for WIRE_ROOM_REQUEST_LEN bytes. Returns its length. */
static inline size_t wire_room_put(uint8_t *p, enum wire_datagram_kind kind,
				   const struct wire_room *r)
{
	size_t n = kind == WIRE_DATAGRAM_ROOM_REQUEST ? WIRE_ROOM_REQUEST_LEN : WIRE_ROOM_REPLY_LEN;

	memset(p, 0, n);
	wire_sctp_chunk_put(p, WIRE_DATAGRAM, 0, n);
	p[4] = WIRE_DATAGRAM_VERSION;
	p[5] = (uint8_t)kind;
	put_be64(p + 8, r->nonce);
	put_be32(p + 16, r->room);
	return n;
}

/* Decodes a chunk whose wire_datagram_kind() is kind. Returns false if the chunk is too short. */
static inline bool wire_room_get(struct wire_room *r, enum wire_datagram_kind kind,
				 const uint8_t *p)
{
	bool request = kind == WIRE_DATAGRAM_ROOM_REQUEST;

	if (get_be16(p + 2) < (request ? WIRE_ROOM_REQUEST_LEN : WIRE_ROOM_REPLY_LEN))
		return false;
	*r = (struct wire_room){ .nonce = get_be64(p + 8), .room = request ? 0 : get_be32(p + 16) };
	return true;
}

#endif
