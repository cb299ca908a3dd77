/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMAP (RFC 5040 4, RFC 7306 4). The control octet is DDP's first ULP-reserved octet:
 *
 *   0 1   2 3   4 5 6 7
 *  | RV | Rsv |  Opcode |
 *
 * Some messages have a header of their own after the untagged DDP header:
 *
 *  Read Request, 28 bytes:    SinkSTag(4) SinkTO(8) Size(4) SrcSTag(4) SrcTO(8)
 *  Immediate Data, 8 bytes:   Immediate Data(8)
 *  Atomic Request, 52 bytes:  Rsvd(28 bits) AOpCode(4 bits) Request Identifier(4) STag(4) TO(8)
 *                             Add or Swap Data(8) Add or Swap Mask(8)
 *                             Compare Data(8) Compare Mask(8)
 *  Atomic Response, 12 bytes: Request Identifier(4) Original Value(8). (The text of RFC 7306 4 says
 *                             32 bytes, but its figure 6 and A.2 say 12.)
 *
 * Integers of the structs are in host order. No state.
 */
#ifndef SCTPIW_WIRE_RDMAP_H
#define SCTPIW_WIRE_RDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"

#define RDMAP_VERSION 1
#define RDMAP_READ_REQ_LEN 28
#define RDMAP_IMMEDIATE_LEN 8
#define RDMAP_ATOMIC_REQ_LEN 52
#define RDMAP_ATOMIC_RESP_LEN 12

enum rdmap_opcode {
	RDMAP_WRITE = 0,
	RDMAP_READ_REQUEST = 1,
	RDMAP_READ_RESPONSE = 2,
	RDMAP_SEND = 3,
	RDMAP_SEND_INV = 4,
	RDMAP_SEND_SE = 5,
	RDMAP_SEND_SE_INV = 6,
	RDMAP_TERMINATE = 7,
	RDMAP_IMMEDIATE = 8,
	RDMAP_IMMEDIATE_SE = 9,
	RDMAP_ATOMIC_REQUEST = 10,
	RDMAP_ATOMIC_RESPONSE = 11,
	/* Opcodes of the extension "receipts", used if both sides support it (docs/wire.md). */
	RDMAP_SEND_IMM = 12, /* a Send whose Invalidate STag field has Immediate Data */
	RDMAP_SEND_SE_IMM = 13,
	RDMAP_RECEIPT = 15, /* rdmap_receipt.h */
};

enum rdmap_queue {
	RDMAP_QN_SEND = 0,
	RDMAP_QN_READ_REQUEST = 1,
	RDMAP_QN_TERMINATE = 2,
	RDMAP_QN_ATOMIC_RESPONSE = 3,
	RDMAP_QN_RECEIPT = 4,
	/*
	 * Extension "SRQ numbers" (docs/wire.md): the lower 24 bits have the number of an SRQ,
	 * whose receive the message consumes. XRC needs this. RDMAP_QN_SEND means the receive queue
	 * of the QP itself.
	 */
	RDMAP_QN_SRQ = 0x01000000,
};

/* True if the queue number contains the number of an SRQ. */
static inline bool rdmap_qn_is_srq(uint32_t qn)
{
	return (qn & 0xff000000) == RDMAP_QN_SRQ;
}

static inline uint32_t rdmap_qn_srq_num(uint32_t qn)
{
	return qn & 0xffffff;
}

enum rdmap_atomic_opcode { /* RFC 7306 5.2.1; 1 is reserved */
			   RDMAP_FETCH_ADD = 0,
			   RDMAP_CMP_SWAP = 2,
};

/* Returns the control octet for an opcode. Reserved bits are 0, and ignored on reception. */
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

/* True if the message invalidates an STag. */
static inline bool rdmap_invalidates(unsigned int opcode)
{
	return opcode == RDMAP_SEND_INV || opcode == RDMAP_SEND_SE_INV;
}

/* True if the message requests a solicited event. */
static inline bool rdmap_solicits(unsigned int opcode)
{
	return opcode == RDMAP_SEND_SE || opcode == RDMAP_SEND_SE_INV ||
	       opcode == RDMAP_IMMEDIATE_SE || opcode == RDMAP_SEND_SE_IMM;
}

/* True for a Send that has both payload and Immediate Data. */
static inline bool rdmap_is_send_imm(unsigned int opcode)
{
	return opcode == RDMAP_SEND_IMM || opcode == RDMAP_SEND_SE_IMM;
}

/* True if the opcode belongs to an extension that both sides must have agreed on. */
static inline bool rdmap_is_extension(unsigned int opcode)
{
	return opcode > RDMAP_ATOMIC_RESPONSE;
}

static inline bool rdmap_is_immediate(unsigned int opcode)
{
	return opcode == RDMAP_IMMEDIATE || opcode == RDMAP_IMMEDIATE_SE;
}

/* True if the message consists of 8 octets: Immediate Data, or a receipt. */
static inline bool rdmap_is_octets(unsigned int opcode)
{
	return rdmap_is_immediate(opcode) || opcode == RDMAP_RECEIPT;
}

struct rdmap_read_request {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

/* The buffer of the next two functions has RDMAP_READ_REQ_LEN bytes. */
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

struct rdmap_atomic_request {
	uint8_t opcode; /* enum rdmap_atomic_opcode */
	uint32_t id;
	uint32_t stag;
	uint64_t to;
	uint64_t data; /* value to add or to swap */
	/*
	 * FetchAdd: a bit is set for the highest bit of each field that is added separately.
	 * CmpSwap: the bits to swap.
	 */
	uint64_t mask;
	uint64_t compare; /* compare and compare_mask: CmpSwap only */
	uint64_t compare_mask;
};

/* Writes a request of RDMAP_ATOMIC_REQ_LEN bytes. */
static inline void rdmap_put_atomic_request(uint8_t *buf, const struct rdmap_atomic_request *r)
{
	put_be32(buf, r->opcode);
	put_be32(buf + 4, r->id);
	put_be32(buf + 8, r->stag);
	put_be64(buf + 12, r->to);
	put_be64(buf + 20, r->data);
	put_be64(buf + 28, r->mask);
	put_be64(buf + 36, r->compare);
	put_be64(buf + 44, r->compare_mask);
}

/* Decodes a request of RDMAP_ATOMIC_REQ_LEN bytes. Ignores the reserved bits. */
static inline void rdmap_get_atomic_request(struct rdmap_atomic_request *r, const uint8_t *buf)
{
	r->opcode = buf[3] & 0xf;
	r->id = get_be32(buf + 4);
	r->stag = get_be32(buf + 8);
	r->to = get_be64(buf + 12);
	r->data = get_be64(buf + 20);
	r->mask = get_be64(buf + 28);
	r->compare = get_be64(buf + 36);
	r->compare_mask = get_be64(buf + 44);
}

#endif
