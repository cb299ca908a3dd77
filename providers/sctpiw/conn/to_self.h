/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected to themselves. They use an iwarp association without SCTP, with this process at
 * both ends. A message that a session sends returns to the same session. Callers hold the shard's
 * lock.
 */
#ifndef SCTPIW_CONN_TO_SELF_H
#define SCTPIW_CONN_TO_SELF_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct iw_assoc;
struct to_self;

/* Returns the iwarp association, which is created at the first call, or NULL when out of memory. */
struct iw_assoc *to_self_assoc(struct conn *c);
void to_self_free(struct conn *c);
/* True if llp, from iw_assoc_llp(), belongs to this module. */
bool to_self_is_llp(const struct conn *c, const void *llp);
/*
 * Delivers a limited number of the sessions' messages. to_self_next_timeout() then requests another
 * call for the others.
 */
void to_self_output(struct conn *c);
/* Returns conn.now while messages wait, else TIME_NEVER. */
uint64_t to_self_next_timeout(const struct conn *c);

#endif
