/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A lock of an object used by several shards at once, under their own locks and for a few
 * instructions, so waiters spin. Zero: unlocked.
 */
#ifndef SCTPIW_IWARP_IW_SPIN_H
#define SCTPIW_IWARP_IW_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct iw_rnic;

/* Calls rnic's yield if the lock's holder seems to have lost the processor. */
void iw_spin_lock(_Atomic bool *locked, const struct iw_rnic *rnic);
void iw_spin_unlock(_Atomic bool *locked);

#endif
