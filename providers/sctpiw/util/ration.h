/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A limit on work for unauthenticated peers: a burst of `many` units, then one unit for each
 * `time`. A ration is a time in ns, 0 at first. Each unit moves the ration ahead by `time`, up to
 * `many` units ahead of the clock. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_RATION_H
#define SCTPIW_UTIL_RATION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define RATION_PLACES 512u

/* Takes one unit of a ration. Returns false if no unit is left now. */
bool ration_take(uint64_t *at, uint64_t now, unsigned int many, uint64_t time);
/*
 * Returns the slot of an address, below RATION_PLACES. All addresses of an IPv6 /64 share a slot,
 * since one owner has all of them. Link-local addresses do not, since every link has the same
 * prefix. salt is random, so that senders cannot predict which addresses share a slot.
 */
unsigned int ration_place(uint64_t salt, const struct ip_addr *from);

#endif
