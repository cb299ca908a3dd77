/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/void.h"

#include <string.h>

#include "iwarp/assoc.h"
#include "util/serial.h"

#define HEADER (SESSION_SSN_LEN + DDP_UNTAGGED_LEN)
#define TERM_LEN 4 /* a Terminate without another message's header */

_Static_assert(HEADER + TERM_LEN == IW_VOID_LEN, "room for all of it");

/* ---- this side's ---- */

void iw_put_void(uint8_t *to, const uint8_t *message)
{
	static const struct term_message t = { .error = TERM_RDMAP_VOID };

	memcpy(to, message, SESSION_SSN_LEN);
	ddp_put_untagged(to + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_TERMINATE), 0,
			 RDMAP_QN_TERMINATE, 1, 0);
	term_encode(&t, to + HEADER);
}

void iw_void_session(const struct iw_session *s)
{
	const struct iw_assoc *assoc = s->assoc;

	if (assoc->ops.void_messages)
		assoc->ops.void_messages(assoc->llp, s->sid);
}

/* ---- the peer's ---- */

bool iw_void_is(const struct iw_session *s, const uint8_t *segment)
{
	static const uint8_t ssn[SESSION_SSN_LEN];
	uint8_t message[IW_VOID_LEN];

	iw_put_void(message, ssn);
	return s->assoc->receipts && !memcmp(segment, message + SESSION_SSN_LEN, IW_VOID_SEGMENT);
}

void iw_void_take(struct iw_session *s, uint16_t ssn)
{
	struct iw_rx_void *v = &s->rx.voided;

	if (!v->found || serial16_lt(ssn, v->ssn))
		*v = (struct iw_rx_void){ .found = true, .ssn = ssn };
	s->sifts = true;
	/* A wrong message after the void message is dropped as well, so it is no fault. */
	if (s->rx.fault.found && serial16_lt(v->ssn, s->rx.fault.ssn))
		s->rx.fault.found = false;
}

bool iw_void_drops(const struct iw_session *s, uint16_t ssn, uint8_t rdmap)
{
	const struct iw_rx_void *v = &s->rx.voided;

	return v->found && serial16_lt(v->ssn, ssn) && rdmap_opcode(rdmap) != RDMAP_TERMINATE &&
	       rdmap_opcode(rdmap) != RDMAP_RECEIPT;
}
