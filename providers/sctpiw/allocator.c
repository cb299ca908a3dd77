/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Replacements for malloc() and related functions in the provider. The linker option --wrap
 * redirects the calls, so that all allocations are in the arena (net/arena.h). Unit tests, and a
 * provider that is built with a sanitizer, use the functions of libc or the sanitizer.
 * __wrap_free() passes blocks from other allocators, such as libc's strdup(), to libc's free().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/arena.h"

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void __wrap_free(void *p);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);

static void *or_enomem(void *p)
{
	if (!p)
		errno = ENOMEM;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return or_enomem(arena_alloc(n, 1));
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t len;

	return or_enomem(__builtin_mul_overflow(n, size, &len) ? NULL : arena_zalloc(len));
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return or_enomem(arena_alloc(n, align));
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
	void *block = arena_alloc(n, align);

	if (!block)
		return ENOMEM;
	*p = block;
	return 0;
}

void *__wrap_realloc(void *p, size_t n)
{
	size_t room;
	void *new;

	if (!p)
		return __wrap_malloc(n);
	if (!arena_has(p, 1))
		return __real_realloc(p, n);
	room = arena_room(p);
	if (n <= room)
		return p;
	new = __wrap_malloc(n);
	if (new) {
		memcpy(new, p, room);
		arena_free(p);
	}
	return new;
}

void __wrap_free(void *p)
{
	if (!p)
		return;
	if (arena_has(p, 1))
		arena_free(p);
	else
		__real_free(p);
}
