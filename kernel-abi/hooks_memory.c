/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on functions that unmap the program's memory. A registered region loses the pages that are
 * unmapped. Memory that is mapped at the same address later does not belong to the region. Until
 * the RNIC is loaded, the hooks only pass calls on.
 *
 * libc also unmaps memory without calling these functions: in free() and realloc() of a large
 * block, and in free() of the last block of the heap. So free() and realloc() have hooks as well.
 * If a region overlaps the block, the hook checks after the call if the block's pages, and the end
 * of the heap, are still mapped.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "rnic.h"

#ifndef MAP_FIXED_NOREPLACE /* defined by glibc since 2.27 */
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP /* defined by glibc since 2.32 */
#define MREMAP_DONTUNMAP 4
#endif

/*
 * Gives the hooks a symbol version that is not the default. UCX looks up these functions by dlsym()
 * and patches their code, to see libc's own calls as well. dlsym() ignores symbols with such a
 * version, and finds libc's functions. Programs still use the hooks, since they are linked with
 * this version.
 */
#ifdef LIBC_VERSION
#define HIDE_FROM_DLSYM(name) __asm__(".symver " #name ", " #name "@" LIBC_VERSION ", remove")
HIDE_FROM_DLSYM(brk);
HIDE_FROM_DLSYM(madvise);
HIDE_FROM_DLSYM(mmap);
HIDE_FROM_DLSYM(mmap64);
HIDE_FROM_DLSYM(mremap);
HIDE_FROM_DLSYM(munmap);
HIDE_FROM_DLSYM(sbrk);
HIDE_FROM_DLSYM(shmat);
HIDE_FROM_DLSYM(shmdt);
#endif

#define SMALLEST_PAGE 4096 /* bytes. A block smaller than a page never contains a whole page */

static uint64_t number(const void *addr)
{
	return (uintptr_t)addr;
}

static bool is_watched(const struct sctpiw_rnic_api *api, const void *addr, size_t len)
{
	return unlikely(api && len && api->unmap_begin(number(addr), len));
}

HOOK int munmap(void *addr, size_t len)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	bool watched = is_watched(api, addr, len);
	int ret = REAL(munmap)(addr, len);

	if (unlikely(watched)) {
		if (!ret)
			api->unmap_lose(number(addr), len);
		api->unmap_end();
	}
	return ret;
}

/*
 * Some allocators map their first memory before dlsym() works, since dlsym() may call malloc(). The
 * hook then makes the system call itself.
 */
#define MMAP_HOOK(name)                                                                            \
	HOOK void *name(void *addr, size_t len, int prot, int flags, int fd, off_t offset)         \
	{                                                                                          \
		const struct sctpiw_rnic_api *api = rnic_get();                                    \
		bool watched = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == MAP_FIXED &&         \
			       is_watched(api, addr, len);                                         \
		void *ret;                                                                         \
                                                                                                   \
		if (unlikely(!hooks_known(HOOKS_##name)))                                          \
			ret = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);       \
		else                                                                               \
			ret = REAL(name)(addr, len, prot, flags, fd, offset);                      \
		if (unlikely(watched)) {                                                           \
			if (ret != MAP_FAILED)                                                     \
				api->unmap_lose(number(addr), len);                                \
			else /* the target may be unmapped nevertheless */                         \
				api->unmap_lose_unmapped(number(addr), len);                       \
			api->unmap_end();                                                          \
		}                                                                                  \
		return ret;                                                                        \
	}

MMAP_HOOK(mmap)
MMAP_HOOK(mmap64)

/*
 * True if the call comes from libibverbs. After ibv_fork_init(), libibverbs hides registered pages
 * from children, which older kernels require for devices that pin pages. This device pins no pages.
 * A child without these pages would crash when it reads its own memory.
 */
static bool is_of_libibverbs(const void *from)
{
	Dl_info info;

	return dladdr(from, &info) && info.dli_fname && strstr(info.dli_fname, "/libibverbs.so");
}

HOOK int madvise(void *addr, size_t len, int advice)
{
	if (unlikely(advice == MADV_DONTFORK || advice == MADV_DOFORK) &&
	    is_of_libibverbs(__builtin_return_address(0)))
		return 0;
	if (unlikely(!hooks_known(HOOKS_madvise)))
		return (int)syscall(SYS_madvise, addr, len, advice);
	return REAL(madvise)(addr, len, advice);
}

/* Reports the pages that mremap() has unmapped by moving, shortening or replacing a mapping. */
static void remapped(const struct sctpiw_rnic_api *api, const void *from, size_t len,
		     const void *to, size_t to_len, int flags)
{
	if (flags & MREMAP_FIXED)
		api->unmap_lose(number(to), to_len);
	if (to != from)
		api->unmap_lose(number(from), len);
	else if (to_len < len)
		api->unmap_lose_unmapped(number(from) + to_len, len - to_len);
}

HOOK void *mremap(void *addr, size_t len, size_t new_len, int flags, ...)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	bool watched = is_watched(api, addr, len);
	void *target, *ret;
	va_list args;

	va_start(args, flags);
	target = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(args, void *) : NULL;
	va_end(args);
	if (flags & MREMAP_FIXED && !watched)
		watched = is_watched(api, target, new_len);
	ret = REAL(mremap)(addr, len, new_len, flags, target);
	if (unlikely(watched)) {
		if (ret != MAP_FAILED)
			remapped(api, addr, len, ret, new_len, flags);
		else if (flags & MREMAP_FIXED) /* the target may be unmapped nevertheless */
			api->unmap_lose_unmapped(number(target), new_len);
		api->unmap_end();
	}
	return ret;
}

/* Used for rare calls that do not show how much memory they unmap. */
static bool is_all_watched(const struct sctpiw_rnic_api *api)
{
	return is_watched(api, NULL, SIZE_MAX);
}

static void end_all(const struct sctpiw_rnic_api *api, bool watched)
{
	if (unlikely(watched)) {
		api->unmap_lose_unmapped(0, SIZE_MAX);
		api->unmap_end();
	}
}

HOOK int shmdt(const void *addr)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	bool watched = is_all_watched(api);
	int ret = REAL(shmdt)(addr);

	end_all(api, watched);
	return ret;
}

/*
 * A region may contain the data of a library. The hook takes the locks only after the library's
 * destructors, since they may wait for threads that use the device.
 */
HOOK int dlclose(void *handle)
{
	int ret = REAL(dlclose)(handle);
	const struct sctpiw_rnic_api *api = rnic_get();

	end_all(api, is_all_watched(api));
	return ret;
}

HOOK void *shmat(int id, const void *addr, int flags)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	struct shmid_ds segment = { 0 };
	bool watched;
	void *ret;

	if (flags & SHM_REMAP)
		shmctl(id, IPC_STAT, &segment);
	watched = is_watched(api, addr, segment.shm_segsz);
	ret = REAL(shmat)(id, addr, flags);
	if (unlikely(watched)) {
		if (ret != (void *)-1)
			api->unmap_lose(number(ret), segment.shm_segsz);
		api->unmap_end();
	}
	return ret;
}

/* ---- the heap ---- */

/*
 * The end of the heap as libc stores it. The hook cannot call sbrk(0) instead: after UCX has
 * patched sbrk(), sbrk(0) could undo another thread's growth of the heap.
 */
extern char *__curbrk __attribute__((weak));

/*
 * Reports the pages that the heap has lost at its end. May miss them if another thread grows the
 * heap at the same time.
 */
static void look_at_heap(const struct sctpiw_rnic_api *api)
{
	static _Atomic uint64_t end; /* end of the heap at the last check */
	uint64_t before = atomic_load_explicit(&end, memory_order_relaxed);
	uint64_t now = &__curbrk ? number(*(char *volatile *)&__curbrk) : 0;

	if (likely(now == before))
		return;
	atomic_store_explicit(&end, now, memory_order_relaxed);
	if (now < before && api->unmap_begin(now, before - now)) {
		api->unmap_lose_unmapped(now, before - now);
		api->unmap_end();
	}
}

HOOK int brk(void *addr)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	int ret = REAL(brk)(addr);

	if (unlikely(api))
		look_at_heap(api);
	return ret;
}

HOOK void *sbrk(intptr_t increment)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	void *ret = REAL(sbrk)(increment);

	if (unlikely(api))
		look_at_heap(api);
	return ret;
}

/*
 * True if malloc_usable_size() and the next definition of free() belong to the same allocator.
 * Otherwise malloc_usable_size() does not know the blocks.
 */
static bool is_size_known(void)
{
	static _Atomic int known; /* 0: unknown; 1: no; 2: yes */
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	Dl_info of_free, of_size;

	if (unlikely(!answer)) {
		answer = 1 + (dladdr((void *)REAL(free), &of_free) &&
			      dladdr((void *)REAL(malloc_usable_size), &of_size) &&
			      of_free.dli_fbase == of_size.dli_fbase);
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == 2;
}

/*
 * Call this before a block is freed. Returns the size of the block if a region overlaps it and the
 * block may be unmapped. Otherwise returns 0.
 */
static size_t begin_block(const struct sctpiw_rnic_api *api, void *block)
{
	size_t len = block && is_size_known() ? REAL(malloc_usable_size)(block) : 0;

	return len >= SMALLEST_PAGE && api->unmap_begin(number(block), len) ? len : 0;
}

static void end_block(const struct sctpiw_rnic_api *api, uint64_t block, size_t len)
{
	if (len) {
		api->unmap_lose_unmapped(block, len);
		api->unmap_end();
	}
	look_at_heap(api);
}

/*
 * Looks up the next free(), if the constructor has not run yet. dlsym() frees the error text of an
 * earlier dlsym(), and so calls this hook again. Returns false during the lookup; free() then leaks
 * the block.
 */
static __attribute__((noinline, cold)) bool find_free(void)
{
	static _Atomic bool busy;

	if (atomic_exchange(&busy, true))
		return false;
	hooks_resolve(HOOKS_free);
	atomic_store(&busy, false);
	return true;
}

HOOK void free(void *block)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	uint64_t at = number(block);
	size_t len;

	if (unlikely(!hooks_known(HOOKS_free)) && !find_free())
		return;
	if (likely(!api || !block)) {
		REAL(free)(block);
		return;
	}
	len = begin_block(api, block);
	REAL(free)(block);
	end_block(api, at, len);
}

HOOK void *realloc(void *block, size_t size)
{
	const struct sctpiw_rnic_api *api = rnic_get();
	uint64_t at = number(block);
	size_t len;
	void *ret;

	if (likely(!api))
		return REAL(realloc)(block, size);
	len = begin_block(api, block);
	ret = REAL(realloc)(block, size);
	end_block(api, at, len);
	return ret;
}
