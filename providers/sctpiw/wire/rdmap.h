/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMAP (RFC 5040 4): the control octet, which is DDP's first ULP-reserved octet
 *
 *   0 1   2 3   4 5 6 7
 *  | RV | Rsv |  Opcode |
 *
 * and the RDMA Read Request Header, 28 bytes behind the untagged DDP header:
 * SinkSTag(4) SinkTO(8) Size(4) SrcSTag(4) SrcTO(8). Host order in the structs.
 */
#ifndef SCTPIW_WIRE_RDMAP_H
#define SCTPIW_WIRE_RDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"

#define RDMAP_VERSION 1
#define RDMAP_READ_REQ_LEN 28

enum rdmap_opcode {
	RDMAP_WRITE = 0,
	RDMAP_READ_REQUEST = 1,
	RDMAP_READ_RESPONSE = 2,
	RDMAP_SEND = 3,
	RDMAP_SEND_INV = 4,
	RDMAP_SEND_SE = 5,
	RDMAP_SEND_SE_INV = 6,
	RDMAP_TERMINATE = 7,
};

enum rdmap_queue {
	RDMAP_QN_SEND = 0,
	RDMAP_QN_READ_REQUEST = 1,
	RDMAP_QN_TERMINATE = 2,
};

/* The reserved bits go out as zero and are not looked at on reception. */
static inline uint8_t rdmap_octet(enum rdmap_opcode opcode)
{
	return (uint8_t)(RDMAP_VERSION << 6 | opcode);
}

static inline unsigned int rdmap_version(uint8_t octet)
{
	return octet >> 6;
}

static inline unsigned int rdmap_opcode(uint8_t octet)
{
	return octet & 0xf;
}

static inline bool rdmap_is_send(unsigned int opcode)
{
	return opcode >= RDMAP_SEND && opcode <= RDMAP_SEND_SE_INV;
}

static inline bool rdmap_invalidates(unsigned int opcode)
{
	return opcode == RDMAP_SEND_INV || opcode == RDMAP_SEND_SE_INV;
}

static inline bool rdmap_solicits(unsigned int opcode)
{
	return opcode == RDMAP_SEND_SE || opcode == RDMAP_SEND_SE_INV;
}

struct rdmap_read_request {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

/* RDMAP_READ_REQ_LEN bytes at buf */
static inline void rdmap_put_read_request(uint8_t *buf, const struct rdmap_read_request *r)
{
	put_be32(buf, r->sink_stag);
	put_be64(buf + 4, r->sink_to);
	put_be32(buf + 12, r->size);
	put_be32(buf + 16, r->src_stag);
	put_be64(buf + 20, r->src_to);
}

static inline void rdmap_get_read_request(struct rdmap_read_request *r, const uint8_t *buf)
{
	r->sink_stag = get_be32(buf);
	r->sink_to = get_be64(buf + 4);
	r->size = get_be32(buf + 12);
	r->src_stag = get_be32(buf + 16);
	r->src_to = get_be64(buf + 20);
}

#endif
