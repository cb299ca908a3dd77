/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A limit on work for unauthenticated peers: `many` units at once, and one more after each `time`.
 * A ration is a time, ns, which each unit moves ahead by `time`, up to `many` units ahead of the
 * clock; 0 at first. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_RATION_H
#define SCTPIW_UTIL_RATION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define RATION_PLACES 512u

/* Takes one unit of a ration. Returns false if none is left now. */
bool ration_take(uint64_t *at, uint64_t now, unsigned int many, uint64_t time);
/*
 * Returns the place, below RATION_PLACES, of an address. All addresses of a /64 of IPv6 have one
 * place, since the owner of one has all of them. fe80::/64 is the exception, since it is on every
 * link. salt: random, so that senders cannot predict which addresses share a place.
 */
unsigned int ration_place(uint64_t salt, const struct ip_addr *from);

#endif
