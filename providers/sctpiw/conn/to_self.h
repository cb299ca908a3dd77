/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs that are connected to themselves: one association of iwarp's that has this process at both ends, and
 * no SCTP between them. What its sessions give is handed back to them. Shard lock.
 */
#ifndef SCTPIW_CONN_TO_SELF_H
#define SCTPIW_CONN_TO_SELF_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct iw_assoc;
struct to_self;

/* iwarp's association, which is made when the first QP asks for it; NULL: out of memory. */
struct iw_assoc *to_self_assoc(struct conn *c);
/* At the end of the conn. */
void to_self_free(struct conn *c);
/* Whether llp, which an iw_assoc names as its LLP's association, is the one of this module. */
bool to_self_is_llp(const struct conn *c, const void *llp);
/* Moves some of what the sessions have to say; the rest is due at once. */
void to_self_output(struct conn *c);
/* conn.now while something waits to be moved; else TIME_NEVER. */
uint64_t to_self_next_timeout(const struct conn *c);

#endif
