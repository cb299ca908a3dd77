/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A lock of an object that several shards use at the same time, for a few instructions and under their own locks: so
 * whoever waits for it spins. Zero: nobody has it.
 */
#ifndef SCTPIW_IWARP_IW_SPIN_H
#define SCTPIW_IWARP_IW_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct iw_rnic;

/* The yield of rnic is called if whoever has the lock seems to have lost the processor. */
void iw_spin_lock(_Atomic bool *locked, const struct iw_rnic *rnic);
void iw_spin_unlock(_Atomic bool *locked);

#endif
