/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work requests of the send queue: a table of their properties. */
#ifndef SCTPIW_IWARP_IW_WR_H
#define SCTPIW_IWARP_IW_WR_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

/* Operation of a work request. */
enum iw_wr_kind {
	IW_WR_KIND_NONE, /* no such work request */
	IW_WR_KIND_SEND,
	IW_WR_KIND_WRITE,
	IW_WR_KIND_READ,
	IW_WR_KIND_ATOMIC,
	IW_WR_KIND_LOCAL, /* no message */
};

/* Use of the SGEs. */
enum iw_wr_sges {
	IW_WR_SGES_SOURCE, /* the SGEs' bytes are sent; may be inline */
	IW_WR_SGES_SINK,   /* the response is placed in the SGEs */
	IW_WR_SGES_NONE,   /* no SGE is allowed */
	IW_WR_SGES_UNUSED, /* SGEs are ignored */
};

struct iw_wr_info {
	uint8_t kind;	    /* enum iw_wr_kind */
	uint8_t sges;	    /* enum iw_wr_sges */
	uint8_t wc_opcode;  /* enum iw_wc_opcode of the completion */
	uint8_t min_length; /* minimum bytes of the SGEs */
	uint8_t rdmap;	    /* enum rdmap_opcode of its message */
	uint8_t rdmap_se;   /* enum rdmap_opcode of its message if IW_SEND_SOLICITED is set */
	uint8_t with_imm;   /* has immediate data */
	uint8_t on_queue_0; /* its message is on QN 0, and uses a receive of the peer */
};

#define IW_WR_OPCODES 10

extern const struct iw_wr_info iw_wr_table[IW_WR_OPCODES + 1];

/* opcode: enum iw_wr_opcode. For any other value, returns an entry of IW_WR_KIND_NONE. */
static inline const struct iw_wr_info *iw_wr_info(unsigned int opcode)
{
	return &iw_wr_table[opcode < IW_WR_OPCODES ? opcode : IW_WR_OPCODES];
}

/*
 * True if the peer answers the work request with a response. The number of such outstanding
 * requests is limited by ORD.
 */
static inline bool iw_wr_is_request(unsigned int opcode)
{
	uint8_t kind = iw_wr_info(opcode)->kind;

	return kind == IW_WR_KIND_READ || kind == IW_WR_KIND_ATOMIC;
}

#endif
