/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected to themselves: an iwarp association with this process at both ends, without SCTP.
 * Messages of its sessions go back to these sessions. Shard lock.
 */
#ifndef SCTPIW_CONN_TO_SELF_H
#define SCTPIW_CONN_TO_SELF_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct iw_assoc;
struct to_self;

/* Returns iwarp's association, created for the first QP, or NULL when out of memory. */
struct iw_assoc *to_self_assoc(struct conn *c);
void to_self_free(struct conn *c);
/* True if llp, the LLP's association of an iw_assoc, belongs to this module. */
bool to_self_is_llp(const struct conn *c, const void *llp);
/* Moves a limited number of the sessions' messages. The rest is due at once. */
void to_self_output(struct conn *c);
/* Returns conn.now while messages wait, else TIME_NEVER. */
uint64_t to_self_next_timeout(const struct conn *c);

#endif
