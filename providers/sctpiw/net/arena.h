/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's own heap, apart from the program's. No registered region lies there, not even a
 * region whose memory was unmapped unseen. So no peer can access the heap. The provider's malloc()
 * and its relatives allocate from this heap (allocator.c). Any thread.
 *
 * It is a buddy allocator: blocks of powers of two, from a cache line on, in chunks that are never
 * given back. Untouched pages take no memory; pages of freed large blocks go back to the system now
 * and then.
 */
#ifndef SCTPIW_NET_ARENA_H
#define SCTPIW_NET_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n bytes; align is a power of two, 16 MiB at most. NULL: out of memory. */
void *arena_alloc(size_t n, size_t align);
/* n zeroed bytes. */
void *arena_zalloc(size_t n);
/* p is a block of the arena's. */
void arena_free(void *p);
/* Returns the size of a block in bytes. */
size_t arena_room(const void *p);
/* Whether [p, p + len) has a byte of the arena, allocated or not. */
bool arena_has(const void *p, size_t len);

/* Before a fork(), and after it in parent and child. */
void arena_fork_prepare(void);
void arena_fork_done(void);

#endif
