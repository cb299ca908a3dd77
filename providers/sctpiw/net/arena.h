/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's own heap, separate from the program's heap. No registered region overlaps this heap,
 * not even a region whose memory was unmapped without the device's notice. So no peer can access
 * the heap. The provider's malloc() and related functions use it (allocator.c). Any thread.
 *
 * The heap is a buddy allocator. Block sizes are powers of two, at least a cache line. Chunks are
 * never returned to the system, but pages of large freed blocks are, from time to time. Pages that
 * were never touched take no memory.
 */
#ifndef SCTPIW_NET_ARENA_H
#define SCTPIW_NET_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns n bytes, or NULL when out of memory. align must be a power of two, at most 16 MiB. */
void *arena_alloc(size_t n, size_t align);
/* Returns n zeroed bytes, or NULL when out of memory. */
void *arena_zalloc(size_t n);
void arena_free(void *p);
/* Returns the usable size of block p in bytes. */
size_t arena_room(const void *p);
/* True if [p, p + len) overlaps the arena, including its free blocks. */
bool arena_has(const void *p, size_t len);

/* Call these before a fork(), and after it in the parent and in the child. */
void arena_fork_prepare(void);
void arena_fork_done(void);

#endif
