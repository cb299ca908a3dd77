/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomic operations (RFC 7306 5): the requester and the responder. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_ATOMIC_H
#define SCTPIW_IWARP_ATOMIC_H

#include "iwarp/read.h"

struct iw_send_wqe;

/* Returns the new value of a word, in host order. arg: a struct rdmap_atomic_request. */
uint64_t iw_atomic_next(uint64_t old, const void *arg);
/*
 * Performs the requested operation and writes the Atomic Response, leaving room for the DDP-SSN
 * before it. Call when all earlier requests are answered. Returns the length including the DDP-SSN.
 * Returns 0, and does nothing, if the response does not fit limit. Returns -EPROTO and fills f if
 * the request is refused.
 */
int iw_atomic_respond(struct iw_session *s, const struct iw_inbound_read *in, uint8_t *buf,
		      size_t limit, struct iw_failure *f);
/* Writes the request of a WQE to buf, with its DDP header; returns its length. */
size_t iw_atomic_put_request(const struct iw_rc *rc, const struct iw_send_wqe *wqe, uint8_t *buf);
/*
 * Copies the old value (8 bytes, host order) to the memory of the WQE's SGEs. value NULL: only
 * checks the access to that memory. Returns false if access is denied.
 */
bool iw_atomic_scatter(struct iw_rc *rc, const struct iw_send_wqe *wqe, const uint8_t *value);
/* Places and delivers a segment of an Atomic Response. */
int iw_atomic_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_atomic_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);

#endif
