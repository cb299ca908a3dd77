/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The program unmaps memory that it has registered. Whoever sees it do so calls unmap_begin(), lets it go on, and says
 * what is gone. Any thread, also in a signal handler.
 */
#ifndef SCTPIW_RUNTIME_UNMAP_H
#define SCTPIW_RUNTIME_UNMAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The program is about to unmap [addr, addr + len), or a part of it. false: no region has any of that, or this thread
 * has a lock of the RNIC already. true: nothing reads or writes the memory of any region until the same thread calls
 * unmap_end().
 */
bool unmap_begin(uint64_t addr, uint64_t len);
/* Regions lose [addr, addr + len), in whole pages; or what is not mapped of it. errno stays as it was. */
void unmap_lose(uint64_t addr, uint64_t len);
void unmap_lose_unmapped(uint64_t addr, uint64_t len);
void unmap_end(void);

#endif
