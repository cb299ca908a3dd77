/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A received DDP segment: the data for placement and for delivery. */
#ifndef SCTPIW_IWARP_SEGMENT_H
#define SCTPIW_IWARP_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/ddp.h"

/* A segment while it is checked and placed. Lengths are in bytes. */
struct iw_segment {
	struct ddp_header h;
	const uint8_t *raw; /* the DDP header as received */
	uint32_t len;	    /* length of header and payload */
	const uint8_t *payload;
	uint32_t payload_len;
	uint16_t ssn;
};

/*
 * Delivery data of a placed segment. A record is small, because one is kept for each early segment.
 * iw_rec_header() rebuilds the DDP header.
 */
struct iw_rx_rec {
	uint8_t control; /* received DDP control octet, or enum iw_rec_control; 0: empty slot */
	uint8_t rdmap;	 /* RDMAP control octet */
	uint16_t len;	 /* payload, bytes */
	union {
		uint32_t stag;	   /* tagged: STag; untagged: Invalidate STag */
		uint32_t imm_data; /* for rdmap_is_octets(): the first 4 octets, network order */
	};
	union {
		uint32_t to_hi; /* tagged: upper half of the TO */
		uint32_t msn;	/* untagged */
	};
	union {
		uint32_t to_lo;	    /* tagged: lower half of the TO */
		uint32_t mo;	    /* untagged */
		uint32_t imm_word;  /* for rdmap_is_octets(): the last 4 octets, host order */
		uint32_t write_len; /* delivered Immediate Data: bytes of its Write */
	};
};

/* Special values of iw_rx_rec.control. No segment has them: their DDP version is not 1. */
enum iw_rec_control {
	IW_REC_TERMINATE = 0x02, /* a session Terminate */
	IW_REC_SKIP = 0x03,	 /* a dropped message: nothing to deliver */
};

static inline uint64_t iw_rec_to(const struct iw_rx_rec *r)
{
	return (uint64_t)r->to_hi << 32 | r->to_lo;
}

#endif
