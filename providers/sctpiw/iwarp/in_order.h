/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that came early and are kept whole until their turn: see in_order.c. Needs the shard's
 * lock.
 */
#ifndef SCTPIW_IWARP_IN_ORDER_H
#define SCTPIW_IWARP_IN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_session;

struct iw_early; /* a message */

/* By DDP-SSN. */
struct iw_early_queue {
	struct iw_early *first, *last;
	size_t bytes; /* of all messages, bookkeeping included */
};

/* true: the message came early, and is kept. If there is no memory for it the session fails. */
bool iw_early_keep(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len);
/*
 * Takes out the message whose turn it is, or any if the order does not count any more
 * (iw_rx_loose); or NULL. The caller frees it with free().
 */
struct iw_early *iw_early_take(struct iw_session *s);
/* The message itself, as it arrived; *ppid, and *len in bytes. */
const uint8_t *iw_early_message(const struct iw_early *m, uint32_t *ppid, size_t *len);
/* Frees all that is kept. */
void iw_early_clear(struct iw_session *s);

#endif
