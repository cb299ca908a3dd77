/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A DDP segment that arrived: what placement and what delivery have to know of it. */
#ifndef SCTPIW_IWARP_SEGMENT_H
#define SCTPIW_IWARP_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/ddp.h"

/* A segment while it is judged and placed. Lengths in bytes. */
struct iw_segment {
	struct ddp_header h;
	const uint8_t *raw; /* the DDP header as received */
	uint32_t len;	    /* of header and payload */
	const uint8_t *payload;
	uint32_t payload_len;
	uint16_t ssn;
};

/*
 * What delivery has to know of a segment that is placed. It is kept if the segment came before its
 * turn, so it is small; the DDP header can be made again from it (iw_rec_header()).
 */
struct iw_rx_rec {
	uint8_t control; /* DDP control octet as received, or an enum iw_rec_control; 0: empty slot */
	uint8_t rdmap;	 /* RDMAP control octet */
	uint16_t len;	 /* payload, bytes */
	union {
		uint32_t stag;	   /* tagged: STag; untagged: Invalidate STag */
		uint32_t imm_data; /* of rdmap_is_octets(): the first 4, network order */
	};
	union {
		uint32_t to_hi; /* tagged: upper half of the TO */
		uint32_t msn;	/* untagged */
	};
	union {
		uint32_t to_lo;	   /* tagged: lower half of the TO */
		uint32_t mo;	   /* untagged */
		uint32_t imm_word; /* of rdmap_is_octets(): the last 4, host order */
		uint32_t write_len; /* Immediate Data, once delivered: bytes of the Write before it */
	};
};

/* Values of iw_rx_rec.control that no valid segment has, since their DDP version is not 1. */
enum iw_rec_control {
	IW_REC_TERMINATE = 0x02, /* a session Terminate */
	IW_REC_SKIP = 0x03,	 /* nothing to deliver: a message that was dropped */
};

static inline uint64_t iw_rec_to(const struct iw_rx_rec *r)
{
	return (uint64_t)r->to_hi << 32 | r->to_lo;
}

#endif
