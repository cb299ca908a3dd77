/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work requests of the send queue: one table says what each of them is. */
#ifndef SCTPIW_IWARP_IW_WR_H
#define SCTPIW_IWARP_IW_WR_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

/* What a work request does. */
enum iw_wr_kind {
	IW_WR_KIND_NONE, /* there is no such work request */
	IW_WR_KIND_SEND,
	IW_WR_KIND_WRITE,
	IW_WR_KIND_READ,
	IW_WR_KIND_ATOMIC,
	IW_WR_KIND_LOCAL, /* no message */
};

/* What its SGEs are for. */
enum iw_wr_sges {
	IW_WR_SGES_SOURCE, /* they are sent, and may be inline */
	IW_WR_SGES_SINK,   /* the response is placed into them */
	IW_WR_SGES_NONE,   /* there must be none */
	IW_WR_SGES_UNUSED, /* they are not looked at */
};

struct iw_wr_info {
	uint8_t kind;	    /* enum iw_wr_kind */
	uint8_t sges;	    /* enum iw_wr_sges */
	uint8_t wc_opcode;  /* enum iw_wc_opcode of its completion */
	uint8_t min_length; /* bytes of its SGEs at least */
	uint8_t rdmap;	    /* enum rdmap_opcode of its message */
	uint8_t rdmap_se;   /* the same with IW_SEND_SOLICITED */
	uint8_t with_imm;   /* it has immediate data */
	uint8_t on_queue_0; /* it takes an MSN of QN 0, and a receive of the peer */
};

#define IW_WR_OPCODES 10

extern const struct iw_wr_info iw_wr_table[IW_WR_OPCODES + 1];

/* opcode: enum iw_wr_opcode; of all other values the kind is IW_WR_KIND_NONE. */
static inline const struct iw_wr_info *iw_wr_info(unsigned int opcode)
{
	return &iw_wr_table[opcode < IW_WR_OPCODES ? opcode : IW_WR_OPCODES];
}

/* Is it answered, and does it wait for a slot of ORD? */
static inline bool iw_wr_is_request(unsigned int opcode)
{
	uint8_t kind = iw_wr_info(opcode)->kind;

	return kind == IW_WR_KIND_READ || kind == IW_WR_KIND_ATOMIC;
}

#endif
