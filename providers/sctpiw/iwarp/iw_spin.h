/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A spinlock for an object that several shards use, each under the shard's own lock. Waiters spin,
 * because a holder keeps the spinlock only for a few instructions. The value is false while
 * unlocked.
 */
#ifndef SCTPIW_IWARP_IW_SPIN_H
#define SCTPIW_IWARP_IW_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct iw_rnic;

/* Calls rnic->ops.yield if the wait is long: the lock's holder has probably lost its processor. */
void iw_spin_lock(_Atomic bool *locked, const struct iw_rnic *rnic);
void iw_spin_unlock(_Atomic bool *locked);

#endif
