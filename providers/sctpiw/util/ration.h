/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A limit on work for unauthenticated peers: a burst of `many` units, then one unit for each
 * `time`. A ration is a time in ns, and begins at 0. Each unit moves the ration into the future by
 * `time`. The ration may be at most `many` times `time` ahead of the clock. Guarded by the owner's
 * lock.
 */
#ifndef SCTPIW_UTIL_RATION_H
#define SCTPIW_UTIL_RATION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define RATION_PLACES 512u

/* Takes one unit of a ration. Returns false if no unit is available now. */
bool ration_take(uint64_t *at, uint64_t now, unsigned int many, uint64_t time);
/*
 * Returns the index of the ration for an address, below RATION_PLACES. All addresses of an IPv6 /64
 * share a ration, since one owner has all of them. Link-local addresses are excepted, since all
 * links have the same prefix. `salt` is random, so that senders cannot predict which addresses
 * share a ration.
 */
unsigned int ration_place(uint64_t salt, const struct ip_addr *from);

#endif
