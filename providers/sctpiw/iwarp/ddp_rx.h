/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Placement (RFC 5041 5, 7.1). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_DDP_RX_H
#define SCTPIW_IWARP_DDP_RX_H

#include "iwarp/session.h"

/*
 * Checks a segment and places its payload. data: len bytes, from the DDP header on. Returns 0 and
 * fills rec for delivery, or returns -EPROTO and fills f. May end the session, because earlier
 * Sends may move into new receives.
 */
int iw_ddp_place(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len,
		 struct iw_rx_rec *rec, struct iw_failure *f);

#endif
