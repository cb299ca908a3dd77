/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs that are oob to themselves: an association that has this process at both ends and no SCTP between
 * them. What its sessions give it hands back to them. Engine lock.
 */
#ifndef SCTPIW_ENGINE_TO_SELF_H
#define SCTPIW_ENGINE_TO_SELF_H

#include <stdint.h>

struct engine;
struct iw_assoc;
struct to_self;

/* iwarp's association, made with the first QP that asks; NULL: out of memory. */
struct iw_assoc *to_self_assoc(struct engine *e);
/* Some of what the sessions have to say; the rest is due at once. Of an engine that has one. */
void to_self_output(struct engine *e);
uint64_t to_self_next_timeout(const struct engine *e);

#endif
