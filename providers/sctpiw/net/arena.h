/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's own heap, separate from the program's. No registered region lies there, not even a
 * region whose memory was unmapped unseen. So no peer can access the heap. The provider's malloc()
 * and its relatives allocate from this heap (allocator.c). Any thread.
 *
 * The heap is a buddy allocator of chunks that are never given back. Blocks are powers of two, from
 * a cache line on. Untouched pages take no memory. Pages of large freed blocks return to the system
 * from time to time.
 */
#ifndef SCTPIW_NET_ARENA_H
#define SCTPIW_NET_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns n bytes, or NULL when out of memory. align is a power of two, 16 MiB at most. */
void *arena_alloc(size_t n, size_t align);
/* Returns n zeroed bytes, or NULL when out of memory. */
void *arena_zalloc(size_t n);
void arena_free(void *p);
/* Returns the usable bytes of block p. */
size_t arena_room(const void *p);
/* True if a byte of [p, p + len) is in the arena, allocated or not. */
bool arena_has(const void *p, size_t len);

/* Call these before a fork(), and after it in the parent and in the child. */
void arena_fork_prepare(void);
void arena_fork_done(void);

#endif
