/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The Terminate Header (RFC 5040 4.8), payload of an untagged message on QN 2:
 *
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-------+-------+---------------+-+-+-+-------------------------+
 * | Layer | EType |  Error Code   |M|D|R|        Reserved         |
 * +-------+-------+---------------+-+-+-+-------------------------+
 * | DDP Segment Length (with D)   |  Terminated DDP Header (with D): 14 or 18 bytes
 * +-------------------------------+
 * | Terminated RDMA Header (with R): 28 bytes
 *
 * Layer, type and code are kept as one number: layer << 12 | type << 8 | code. No state.
 */
#ifndef SCTPIW_WIRE_TERMINATE_H
#define SCTPIW_WIRE_TERMINATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/ddp.h"
#include "wire/rdmap.h"

#define TERM_MAX_LEN (4 + 2 + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN)

#define TERM_ERROR(layer, type, code) ((uint16_t)((layer) << 12 | (type) << 8 | (code)))
#define TERM_LAYER(error) ((error) >> 12)
#define TERM_TYPE(error) ((error) >> 8 & 0xf)
#define TERM_CODE(error) ((error)&0xff)

enum term_error { /* error codes of RFC 5040 4.8, RFC 5041 7.2, RFC 6581 8, RFC 7306 8.2 */
		  TERM_RDMAP_LOCAL = TERM_ERROR(0, 0, 0x00),
		  /* For a void message (docs/wire.md). No RFC has codes for layer 0, type 0. */
		  TERM_RDMAP_VOID = TERM_ERROR(0, 0, 0x56),
		  TERM_RDMAP_STAG = TERM_ERROR(0, 1, 0x00),
		  TERM_RDMAP_BOUNDS = TERM_ERROR(0, 1, 0x01),
		  TERM_RDMAP_ACCESS = TERM_ERROR(0, 1, 0x02),
		  TERM_RDMAP_STREAM = TERM_ERROR(0, 1, 0x03),
		  TERM_RDMAP_WRAP = TERM_ERROR(0, 1, 0x04),
		  TERM_RDMAP_INVALIDATE = TERM_ERROR(0, 1, 0x09),
		  TERM_RDMAP_VERSION = TERM_ERROR(0, 2, 0x05),
		  TERM_RDMAP_OPCODE = TERM_ERROR(0, 2, 0x06),
		  TERM_RDMAP_STREAM_CATASTROPHIC = TERM_ERROR(0, 2, 0x07),
		  TERM_RDMAP_INVALIDATE_OP =
			  /* TERM_RDMAP_INVALIDATE as other stacks encode it */
		  TERM_ERROR(0, 2, 0x09),
		  TERM_RDMAP_UNSPECIFIED = TERM_ERROR(0, 2, 0xff),
		  TERM_DDP_LOCAL = TERM_ERROR(1, 0, 0x00),
		  TERM_DDP_STAG = TERM_ERROR(1, 1, 0x00),
		  TERM_DDP_BOUNDS = TERM_ERROR(1, 1, 0x01),
		  TERM_DDP_STREAM = TERM_ERROR(1, 1, 0x02),
		  TERM_DDP_WRAP = TERM_ERROR(1, 1, 0x03),
		  TERM_DDP_TAGGED_VERSION = TERM_ERROR(1, 1, 0x04),
		  TERM_DDP_QN = TERM_ERROR(1, 2, 0x01),
		  TERM_DDP_NO_BUFFER = TERM_ERROR(1, 2, 0x02),
		  TERM_DDP_MSN = TERM_ERROR(1, 2, 0x03),
		  TERM_DDP_MO = TERM_ERROR(1, 2, 0x04),
		  TERM_DDP_TOO_LONG = TERM_ERROR(1, 2, 0x05),
		  TERM_DDP_UNTAGGED_VERSION = TERM_ERROR(1, 2, 0x06),
		  TERM_LLP_LOCAL = TERM_ERROR(2, 0, 0x05),
		  TERM_LLP_IRD = TERM_ERROR(2, 0, 0x06),
		  TERM_LLP_RTR = TERM_ERROR(2, 0, 0x07),
};

struct term_message {
	uint16_t error;
	bool has_header;       /* flags M and D: segment_len and header are valid */
	bool has_read_request; /* flag R; only together with has_header */
	/* bytes of the DDP header and payload, without the DDP-SSN */
	uint16_t segment_len;
	uint8_t header[DDP_UNTAGGED_LEN]; /* as received; its first bit determines the length */
	uint8_t read_request[RDMAP_READ_REQ_LEN];
};

/* Writes a Terminate of at most TERM_MAX_LEN bytes. Returns its length. */
size_t term_encode(const struct term_message *t, uint8_t *buf);

/*
 * Decodes a Terminate of len bytes. Returns 0, or -EINVAL if the message is shorter than its flags
 * require. After -EINVAL, error is valid if len >= 4. Ignores excess bytes and the reserved bits.
 */
int term_decode(struct term_message *t, const uint8_t *data, size_t len);

#endif
