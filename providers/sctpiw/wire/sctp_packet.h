/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP packets and chunks (RFC 9260 section 3). Decoders fill in structs in host order. Pointers in
 * these structs point into the packet. Decoders never read beyond their input. Encoders write to
 * the caller's memory. No state.
 */
#ifndef SCTPIW_WIRE_SCTP_PACKET_H
#define SCTPIW_WIRE_SCTP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"

#define WIRE_SCTP_COMMON_LEN 12u
#define WIRE_SCTP_CHUNK_LEN 4u	 /* length of a chunk header */
#define WIRE_SCTP_DATA_LEN 16u	 /* length of DATA without its user data */
#define WIRE_SCTP_SACK_LEN 16u	 /* length of a SACK without blocks and duplicates */
#define WIRE_SCTP_MIN_PACKET 16u /* length of the common header and one chunk header */
#define WIRE_SCTP_MIN_RWND 1500u /* minimum a_rwnd in INIT and INIT ACK (3.3.2) */

enum wire_sctp_chunk_type {
	WIRE_SCTP_DATA = 0,
	WIRE_SCTP_INIT = 1,
	WIRE_SCTP_INIT_ACK = 2,
	WIRE_SCTP_SACK = 3,
	WIRE_SCTP_HEARTBEAT = 4,
	WIRE_SCTP_HEARTBEAT_ACK = 5,
	WIRE_SCTP_ABORT = 6,
	WIRE_SCTP_SHUTDOWN = 7,
	WIRE_SCTP_SHUTDOWN_ACK = 8,
	WIRE_SCTP_ERROR = 9,
	WIRE_SCTP_COOKIE_ECHO = 10,
	WIRE_SCTP_COOKIE_ACK = 11,
	WIRE_SCTP_SHUTDOWN_COMPLETE = 14,
	WIRE_SCTP_PAD = 0x84, /* RFC 4820 */
};

/* The two highest bits of an unknown type of a chunk or parameter (3.2, 3.2.1). */
#define WIRE_SCTP_UNKNOWN_SKIP 2   /* skip this chunk or parameter; else skip also all later ones */
#define WIRE_SCTP_UNKNOWN_REPORT 1 /* report the chunk or parameter */

#define WIRE_SCTP_DATA_E 0x01 /* ending fragment of a message */
#define WIRE_SCTP_DATA_B 0x02 /* beginning fragment of a message */
#define WIRE_SCTP_DATA_U 0x04 /* unordered */
#define WIRE_SCTP_DATA_I 0x08 /* acknowledge at once (RFC 7053) */
/* in ABORT and SHUTDOWN COMPLETE: the tag was copied from a received packet */
#define WIRE_SCTP_T_BIT 0x01

enum wire_sctp_cause { /* 3.3.10 */
		       WIRE_SCTP_CAUSE_STREAM = 1,
		       WIRE_SCTP_CAUSE_MISSING_PARAM = 2,
		       WIRE_SCTP_CAUSE_STALE_COOKIE = 3,
		       WIRE_SCTP_CAUSE_RESOURCE = 4,
		       WIRE_SCTP_CAUSE_ADDRESS = 5,
		       WIRE_SCTP_CAUSE_CHUNK = 6,
		       WIRE_SCTP_CAUSE_INVALID_PARAM = 7,
		       WIRE_SCTP_CAUSE_PARAMS = 8,
		       WIRE_SCTP_CAUSE_NO_DATA = 9,
		       WIRE_SCTP_CAUSE_COOKIE_IN_SHUTDOWN = 10,
		       WIRE_SCTP_CAUSE_RESTART_ADDRESS = 11,
		       WIRE_SCTP_CAUSE_USER_ABORT = 12,
		       WIRE_SCTP_CAUSE_PROTOCOL = 13,
};

/*
 * Common header (3.1)
 *   0                   1                   2                   3
 *  |     Source Port Number        |     Destination Port Number   |
 *  |                      Verification Tag                         |
 *  |                           Checksum                            |
 */
struct wire_sctp_common {
	uint16_t sport;
	uint16_t dport;
	uint32_t vtag;
};

/* Decodes the common header of a packet of at least WIRE_SCTP_COMMON_LEN bytes. */
void wire_sctp_common_get(const uint8_t *packet, struct wire_sctp_common *h);
/* Writes the common header with a checksum of zero. */
void wire_sctp_common_put(uint8_t *packet, const struct wire_sctp_common *h);
/* Writes the checksum of a complete packet of len bytes. Its checksum field must be zero. */
void wire_sctp_checksum_put(uint8_t *packet, size_t len);
/* Writes the checksum `crc`, a result of crc32c() that was computed while the field was zero. */
void wire_sctp_checksum_set(uint8_t *packet, uint32_t crc);
/* True if the CRC32C of a packet is right. len must be at least WIRE_SCTP_COMMON_LEN. */
bool wire_sctp_checksum_ok(const uint8_t *packet, size_t len);

/*
 * Chunk (3.2)
 *  |   Chunk Type  |  Chunk Flags  |          Chunk Length         |
 *  |                          Chunk Value                          |
 */
struct wire_sctp_chunk {
	uint8_t type;
	uint8_t flags;
	/* Chunk Length: includes the header, excludes the padding; at least 4 */
	uint16_t len;
	const uint8_t *raw; /* header of the chunk */
};

/* Returns the bytes after the chunk header. */
static inline const uint8_t *wire_sctp_value(const struct wire_sctp_chunk *c)
{
	return c->raw + WIRE_SCTP_CHUNK_LEN;
}

static inline size_t wire_sctp_value_len(const struct wire_sctp_chunk *c)
{
	return c->len - WIRE_SCTP_CHUNK_LEN;
}

/*
 * Decodes the chunk at *p, in a packet that ends at end. Advances *p past the chunk and its
 * padding. The padding of the last chunk may be missing. Returns false at the end of the packet, or
 * if no complete chunk remains.
 */
static inline bool wire_sctp_chunk_next(const uint8_t **p, const uint8_t *end,
					struct wire_sctp_chunk *c)
{
	const uint8_t *raw = *p;
	size_t left = (size_t)(end - raw);
	size_t whole;

	if (left < WIRE_SCTP_CHUNK_LEN)
		return false;
	c->len = get_be16(raw + 2);
	if (c->len < WIRE_SCTP_CHUNK_LEN || c->len > left)
		return false;
	c->type = raw[0];
	c->flags = raw[1];
	c->raw = raw;
	whole = round_up4(c->len);
	*p = raw + (whole < left ? whole : left);
	return true;
}

/* Writes a chunk header. len is the Chunk Length: with the header, without the padding. */
static inline void wire_sctp_chunk_put(uint8_t *p, uint8_t type, uint8_t flags, size_t len)
{
	p[0] = type;
	p[1] = flags;
	put_be16(p + 2, (uint16_t)len);
}

/* Zeroes the padding after a chunk or parameter of len bytes at p. Returns the padded length. */
static inline size_t wire_sctp_pad(uint8_t *p, size_t len)
{
	size_t whole = round_up4(len);

	while (len < whole)
		p[len++] = 0;
	return whole;
}

/*
 * DATA (3.3.1)
 *  |   Type = 0    |  Res  |I|U|B|E|           Length              |
 *  |                              TSN                              |
 *  |      Stream Identifier S      |   Stream Sequence Number n    |
 *  |                  Payload Protocol Identifier                  |
 *  |                           User Data                           |
 */
struct wire_sctp_data {
	uint8_t flags;
	uint32_t tsn;
	uint16_t sid;
	uint16_t ssn;
	uint32_t ppid;
	const uint8_t *data;
	uint32_t len; /* bytes at data */
};

/* Decodes DATA. Returns false if the chunk is too short. The caller must reject len 0. */
static inline bool wire_sctp_data_get(const struct wire_sctp_chunk *c, struct wire_sctp_data *d)
{
	if (c->len < WIRE_SCTP_DATA_LEN)
		return false;
	d->flags = c->flags;
	d->tsn = get_be32(c->raw + 4);
	d->sid = get_be16(c->raw + 8);
	d->ssn = get_be16(c->raw + 10);
	d->ppid = get_be32(c->raw + 12);
	d->data = c->raw + WIRE_SCTP_DATA_LEN;
	d->len = c->len - WIRE_SCTP_DATA_LEN;
	return true;
}

/* Writes the header of a DATA chunk. Its d->len bytes of user data must already be in place. */
static inline void wire_sctp_data_put(uint8_t *p, const struct wire_sctp_data *d)
{
	wire_sctp_chunk_put(p, WIRE_SCTP_DATA, d->flags, WIRE_SCTP_DATA_LEN + d->len);
	put_be32(p + 4, d->tsn);
	put_be16(p + 8, d->sid);
	put_be16(p + 10, d->ssn);
	put_be32(p + 12, d->ppid);
}

/* These return the stream of a locally written DATA chunk, and the end of its user data. */
static inline uint16_t wire_sctp_data_sid(const uint8_t *p)
{
	return get_be16(p + 8);
}

static inline uint8_t *wire_sctp_data_end(uint8_t *p)
{
	return p + get_be16(p + 2);
}

/* A block of received TSNs, as distances from the cumulative TSN. */
struct wire_sctp_gap {
	uint16_t start;
	uint16_t end;
};

/*
 * SACK (3.3.4)
 *  |   Type = 3    |  Chunk Flags  |         Chunk Length          |
 *  |                      Cumulative TSN Ack                       |
 *  |          Advertised Receiver Window Credit (a_rwnd)           |
 *  | Number of Gap Ack Blocks = N  |  Number of Duplicate TSNs = M |
 *  |    Gap Ack Block #1 Start     |     Gap Ack Block #1 End      |
 *  |                        Duplicate TSN 1                        |
 */
struct wire_sctp_sack {
	uint32_t cum;
	uint32_t a_rwnd;
	unsigned int gaps;
	unsigned int dups;
	const uint8_t *gap_raw;
	const uint8_t *dup_raw;
};

/* Decodes a SACK. Returns false if its counts exceed the chunk. */
bool wire_sctp_sack_get(const struct wire_sctp_chunk *c, struct wire_sctp_sack *s);

static inline struct wire_sctp_gap wire_sctp_sack_gap(const struct wire_sctp_sack *s,
						      unsigned int i)
{
	struct wire_sctp_gap gap = { get_be16(s->gap_raw + 4 * i),
				     get_be16(s->gap_raw + 4 * i + 2) };

	return gap;
}

static inline uint32_t wire_sctp_sack_dup(const struct wire_sctp_sack *s, unsigned int i)
{
	return get_be32(s->dup_raw + 4 * i);
}

/* Writes a SACK. Returns its length, WIRE_SCTP_SACK_LEN + 4 * (ngaps + ndups) bytes. */
size_t wire_sctp_sack_put(uint8_t *p, uint32_t cum, uint32_t a_rwnd,
			  const struct wire_sctp_gap *gaps, unsigned int ngaps,
			  const uint32_t *dups, unsigned int ndups);

/*
 * Error cause (3.3.10), inside ERROR and ABORT
 *  |           Cause Code          |       Cause Length            |
 *  |                    Cause-Specific Information                 |
 */
struct wire_sctp_cause_tlv {
	uint16_t code;
	uint16_t len; /* bytes at info */
	const uint8_t *info;
};

/* Decodes the error cause at *p, like wire_sctp_chunk_next(). */
bool wire_sctp_cause_next(const uint8_t **p, const uint8_t *end, struct wire_sctp_cause_tlv *cause);

/* Writes an error cause with len bytes of information. Returns its length, round_up4(4 + len). */
size_t wire_sctp_cause_put(uint8_t *p, uint16_t code, const void *info, size_t len);

#endif
