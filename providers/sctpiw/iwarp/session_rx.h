/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages that arrive in a session (RFC 5043 5.2, 6.1, 10). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SESSION_RX_H
#define SCTPIW_IWARP_SESSION_RX_H

#include "iwarp/session.h"

/* Receives a user message of len bytes, from the DDP-SSN on. May end the session. */
void iw_session_receive(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len);
/* Puts a closing session into unordered mode (iw_rx_loose). Frees records of early messages. */
void iw_session_loosen(struct iw_session *s);
/* Returns the slot of a DDP-SSN less than o->size ahead of the next message in order. */
static inline struct iw_rx_rec *iw_rx_order_at(const struct iw_rx_order *o, uint16_t ssn)
{
	return &o->slots[ssn & (o->size - 1)];
}

void iw_rx_order_clear(struct iw_rx_order *order);

#endif
