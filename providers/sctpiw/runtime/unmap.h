/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For programs that unmap registered memory. A hook calls unmap_begin() before the program's call,
 * and reports the lost memory after the call. Any thread may call these functions, also in a signal
 * handler.
 */
#ifndef SCTPIW_RUNTIME_UNMAP_H
#define SCTPIW_RUNTIME_UNMAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Call this before the program unmaps [addr, addr + len), or a part of it. Returns false if no
 * region contains any of these bytes, or if this thread has a lock of the RNIC already. If it
 * returns true, no region's memory is read or written until the same thread calls unmap_end().
 */
bool unmap_begin(uint64_t addr, uint64_t len);
/*
 * Mark [addr, addr + len), in whole pages, as lost to all regions. The second function marks only
 * the pages that are no longer mapped. Both keep errno.
 */
void unmap_lose(uint64_t addr, uint64_t len);
void unmap_lose_unmapped(uint64_t addr, uint64_t len);
void unmap_end(void);

#endif
