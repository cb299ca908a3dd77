/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For programs that unmap registered memory. A hook calls unmap_begin() before the program's call,
 * and reports the loss after it. Any thread, also in a signal handler.
 */
#ifndef SCTPIW_RUNTIME_UNMAP_H
#define SCTPIW_RUNTIME_UNMAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Call before the program unmaps [addr, addr + len), or a part of it. Returns false if no region
 * has any of these bytes, or this thread has a lock of the RNIC already. After true, no region's
 * memory is read or written until the same thread calls unmap_end().
 */
bool unmap_begin(uint64_t addr, uint64_t len);
/*
 * Make regions lose [addr, addr + len) in whole pages, or only its unmapped pages. Both keep errno.
 */
void unmap_lose(uint64_t addr, uint64_t len);
void unmap_lose_unmapped(uint64_t addr, uint64_t len);
void unmap_end(void);

#endif
