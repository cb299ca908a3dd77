/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_spin.h"

#include "iwarp/rnic.h"

/* Number of checks between two yields. */
#define LOOKS 256

/*
 * The acquire exchange pairs with the release store in iw_spin_unlock(), so each holder sees the
 * changes of the previous holder.
 */
void iw_spin_lock(_Atomic bool *locked, const struct iw_rnic *rnic)
{
	while (atomic_exchange_explicit(locked, true, memory_order_acquire)) {
		unsigned int looks = 0;

		while (atomic_load_explicit(locked, memory_order_relaxed))
			if (++looks % LOOKS == 0 && rnic->ops.yield)
				rnic->ops.yield();
	}
}

void iw_spin_unlock(_Atomic bool *locked)
{
	atomic_store_explicit(locked, false, memory_order_release);
}
