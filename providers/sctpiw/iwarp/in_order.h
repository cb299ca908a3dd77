/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Storage for messages that arrive before their turn: see in_order.c. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_IN_ORDER_H
#define SCTPIW_IWARP_IN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_session;

struct iw_early; /* a message */

/* Sorted by DDP-SSN. */
struct iw_early_queue {
	struct iw_early *first, *last;
	size_t bytes; /* bytes of all messages, including overhead */
};

/*
 * Stores the message if the message is early. Returns true if the message was stored. Fails the
 * session if out of memory.
 */
bool iw_early_keep(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len);
/*
 * Removes the message whose turn it is, or any message in unordered mode (iw_rx_loose). Returns
 * NULL if none qualifies. The caller calls free() on the message.
 */
struct iw_early *iw_early_take(struct iw_session *s);
/* Returns the message as it arrived. Sets *ppid, and *len to the message's bytes. */
const uint8_t *iw_early_message(const struct iw_early *m, uint32_t *ppid, size_t *len);
void iw_early_clear(struct iw_session *s);

#endif
