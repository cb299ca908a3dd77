/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much is done for others who have not shown who they are: so many things at once, and one more after each such
 * time. A ration is a time, ns, that is put off by what was taken, and may be ahead of the clock by so much; 0 at first.
 * Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_RATION_H
#define SCTPIW_UTIL_RATION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define RATION_PLACES 512u

/* Takes one of a ration. false: there is none now. */
bool ration_take(uint64_t *at, uint64_t now, unsigned int many, uint64_t time);
/*
 * The place, below RATION_PLACES, of those who send from that address. It counts all addresses of a /64 of IPv6 as one,
 * since whoever has one has them all; but not fe80::/64, which everybody is in. salt: random, so that nobody knows who
 * shares his place.
 */
unsigned int ration_place(uint64_t salt, const struct ip_addr *from);

#endif
