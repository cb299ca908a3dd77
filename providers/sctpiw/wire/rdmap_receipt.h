/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A receipt reports to the sender which messages of a session were delivered (docs/wire.md). It is
 * a DDP message of 8 bytes on queue 4 with the opcode RDMAP_RECEIPT. Receipts are part of the
 * extension "receipts" (sctp_receipts.h); peers without the extension neither send nor receive
 * them.
 *
 *  |     Flags     |   Reserved    |     Next DDP-SSN              |
 *  |                              MSN                              |
 *
 * Integers of the struct are in host order. No state.
 */
#ifndef SCTPIW_WIRE_RDMAP_RECEIPT_H
#define SCTPIW_WIRE_RDMAP_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"

#define RDMAP_RECEIPT_LEN 8
#define RDMAP_RECEIPT_WAITING 0x01 /* flag: .waiting */
#define RDMAP_RECEIPT_FINAL 0x02   /* flag: .final */

struct rdmap_receipt {
	bool waiting; /* queue 0: the messages from .msn on have no receive yet */
	bool final;   /* the session has ended: messages from .ssn on were not delivered */
	uint16_t ssn; /* the DDP-SSN of the first undelivered message */
	uint32_t msn; /* valid if .waiting */
};

/* Writes a receipt of RDMAP_RECEIPT_LEN bytes. */
static inline void rdmap_put_receipt(uint8_t *p, const struct rdmap_receipt *r)
{
	p[0] = (uint8_t)((r->waiting ? RDMAP_RECEIPT_WAITING : 0) |
			 (r->final ? RDMAP_RECEIPT_FINAL : 0));
	p[1] = 0;
	put_be16(p + 2, r->ssn);
	put_be32(p + 4, r->msn);
}

/* Decodes a receipt of RDMAP_RECEIPT_LEN bytes. Ignores unknown flags. */
static inline void rdmap_get_receipt(struct rdmap_receipt *r, const uint8_t *p)
{
	r->waiting = p[0] & RDMAP_RECEIPT_WAITING;
	r->final = p[0] & RDMAP_RECEIPT_FINAL;
	r->ssn = get_be16(p + 2);
	r->msn = get_be32(p + 4);
}

#endif
