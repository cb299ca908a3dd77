/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DDP headers (RFC 5041 4.2, 4.3). They follow the DDP-SSN in a user message of PPID 16. A tagged
 * header has 14 bytes, an untagged header 18:
 *
 *  |T|L|Rsvd(4)|DV(2)| RsvdULP(1) | STag(4) | TO(8)
 *  |T|L|Rsvd(4)|DV(2)| RsvdULP(5)           | QN(4) | MSN(4) | MO(4)
 *
 * The first RsvdULP octet is RDMAP's control octet. The other four of an untagged header are the
 * Invalidate STag. Integers of the struct are in host order. All functions are inline, because they
 * are on the fast path. No state.
 */
#ifndef SCTPIW_WIRE_DDP_H
#define SCTPIW_WIRE_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"

#define DDP_TAGGED 0x80
#define DDP_LAST 0x40
#define DDP_VERSION_MASK 0x03
#define DDP_VERSION 1
#define DDP_TAGGED_LEN 14
#define DDP_UNTAGGED_LEN 18

struct ddp_header {
	uint8_t control; /* as received: T, L, reserved bits, DV */
	uint8_t rdmap;	 /* RDMAP's control octet */
	uint32_t stag;	 /* tagged: STag of the buffer; untagged: STag to invalidate */
	uint64_t to;	 /* tagged header only, else 0 */
	uint32_t qn;	 /* qn, msn, mo: untagged header only, else 0 */
	uint32_t msn;
	uint32_t mo;
};

/* The next four functions take the first octet of a header. */
static inline bool ddp_is_tagged(uint8_t control)
{
	return control & DDP_TAGGED;
}

static inline bool ddp_is_last(uint8_t control)
{
	return control & DDP_LAST;
}

static inline unsigned int ddp_version(uint8_t control)
{
	return control & DDP_VERSION_MASK;
}

static inline size_t ddp_header_len(uint8_t control)
{
	return ddp_is_tagged(control) ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
}

/* Gives the header at buf an invalid version. Every receiver then rejects the header. */
static inline void ddp_put_invalid(uint8_t *buf)
{
	buf[0] &= (uint8_t)~DDP_VERSION_MASK;
}

/* Writes a header of DDP_TAGGED_LEN bytes. */
static inline void ddp_put_tagged(uint8_t *buf, bool last, uint8_t rdmap, uint32_t stag,
				  uint64_t to)
{
	buf[0] = (uint8_t)(DDP_TAGGED | (last ? DDP_LAST : 0) | DDP_VERSION);
	buf[1] = rdmap;
	put_be32(buf + 2, stag);
	put_be64(buf + 6, to);
}

/* Writes a header of DDP_UNTAGGED_LEN bytes. */
static inline void ddp_put_untagged(uint8_t *buf, bool last, uint8_t rdmap, uint32_t inv_stag,
				    uint32_t qn, uint32_t msn, uint32_t mo)
{
	buf[0] = (uint8_t)((last ? DDP_LAST : 0) | DDP_VERSION);
	buf[1] = rdmap;
	put_be32(buf + 2, inv_stag);
	put_be32(buf + 6, qn);
	put_be32(buf + 10, msn);
	put_be32(buf + 14, mo);
}

/* Changes the queue number of an untagged header. */
static inline void ddp_put_qn(uint8_t *buf, uint32_t qn)
{
	put_be32(buf + 6, qn);
}

/* Decodes the header at data. Returns its length, or 0 if len bytes are too few. */
static inline size_t ddp_get(struct ddp_header *h, const uint8_t *data, size_t len)
{
	if (len < DDP_TAGGED_LEN)
		return 0;
	h->control = data[0];
	h->rdmap = data[1];
	h->stag = get_be32(data + 2);
	if (ddp_is_tagged(h->control)) {
		h->to = get_be64(data + 6);
		h->qn = h->msn = h->mo = 0;
		return DDP_TAGGED_LEN;
	}
	if (len < DDP_UNTAGGED_LEN)
		return 0;
	h->to = 0;
	h->qn = get_be32(data + 6);
	h->msn = get_be32(data + 10);
	h->mo = get_be32(data + 14);
	return DDP_UNTAGGED_LEN;
}

#endif
