/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The extension "receipts" of sctpiw to SCTP (docs/wire.md). A parameter of INIT and INIT ACK
 * negotiates the extension. A HOLD chunk accompanies a SACK. A stack without these two types skips
 * them without a report. Integers are in host order. No state.
 *
 *  |        Type = 0xBF57          |          Length = 12          |
 *  |    Version    |             Reserved                    |I|C|N|
 *  |             Window of Sends, bytes for each QP                |
 *
 *  |  Type = 0xBE  |   Flags   |A|U|          Length = 8           |
 *  |                              TSN                              |
 */
#ifndef SCTPIW_WIRE_SCTP_RECEIPTS_H
#define SCTPIW_WIRE_SCTP_RECEIPTS_H

#include "wire/sctp_packet.h"

#define WIRE_SCTP_PARAM_RECEIPTS 0xbf57
#define WIRE_SCTP_RECEIPTS_VERSION 1 /* the only version */
#define WIRE_SCTP_RECEIPTS_LEN 8u    /* bytes of the parameter's value */

#define WIRE_SCTP_RECEIPTS_N 0x01
#define WIRE_SCTP_RECEIPTS_C 0x02
#define WIRE_SCTP_RECEIPTS_I 0x04

#define WIRE_SCTP_HOLD 0xbe
#define WIRE_SCTP_HOLD_LEN 8u
/* Flag: the sender has a receipt to send, which has no TSN yet. The TSN field has no meaning. */
#define WIRE_SCTP_HOLD_UNSENT 0x01
/*
 * Flag: the chunk only requests a SACK, with the HOLD chunk that belongs to the SACK. The TSN field
 * has no meaning, and no SACK is held.
 */
#define WIRE_SCTP_HOLD_ASK 0x02

/* The value of the parameter. */
struct wire_sctp_receipts {
	/* highest version that the sender supports; 0: the sender lacks the extension */
	uint8_t version;
	bool srq_numbers; /* N: queue numbers may contain the number of an SRQ (wire/rdmap.h) */
	bool cm_messages; /* C: CM messages have more than private data (conn/cm_message.h) */
	bool asks; /* I: the I bit of DATA requests SACKs; few SACKs come unrequested (sctp/rx.h) */
	uint32_t window; /* bytes of Sends that are kept for each QP until they find a receive */
};

/* Writes the value of the parameter, WIRE_SCTP_RECEIPTS_LEN bytes. */
static inline void wire_sctp_receipts_put(uint8_t *p, const struct wire_sctp_receipts *r)
{
	put_be32(p, (uint32_t)r->version << 24 | (r->asks ? WIRE_SCTP_RECEIPTS_I : 0) |
			    (r->cm_messages ? WIRE_SCTP_RECEIPTS_C : 0) |
			    (r->srq_numbers ? WIRE_SCTP_RECEIPTS_N : 0));
	put_be32(p + 4, r->window);
}

/* Decodes the value of the parameter. Returns version 0 if the value is too short. */
static inline struct wire_sctp_receipts wire_sctp_receipts_get(const uint8_t *p, size_t len)
{
	if (len < WIRE_SCTP_RECEIPTS_LEN)
		return (struct wire_sctp_receipts){ 0 };
	return (struct wire_sctp_receipts){
		.version = p[0],
		.srq_numbers = p[3] & WIRE_SCTP_RECEIPTS_N,
		.cm_messages = p[3] & WIRE_SCTP_RECEIPTS_C,
		.asks = p[3] & WIRE_SCTP_RECEIPTS_I,
		.window = get_be32(p + 4),
	};
}

/* Writes a HOLD chunk of WIRE_SCTP_HOLD_LEN bytes. */
static inline void wire_sctp_hold_put(uint8_t *p, uint8_t flags, uint32_t tsn)
{
	wire_sctp_chunk_put(p, WIRE_SCTP_HOLD, flags, WIRE_SCTP_HOLD_LEN);
	put_be32(p + 4, tsn);
}

#endif
