/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Delivery in DDP-SSN order (RFC 5041 5.3, 5040 5, 7306 5.4, 6.4). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_RDMAP_RX_H
#define SCTPIW_IWARP_RDMAP_RX_H

#include "iwarp/session.h"

/* Delivers a placed segment in order. Returns 0 or -EPROTO. May end the session. */
int iw_rdmap_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Delivers a segment of an RDMA Write. Returns 0. */
int iw_write_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);

#endif
