/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "librdmacm.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>

#define LIBRARY "librdmacm.so.1"
#define SYMBOL "rdma_create_id" /* any function of librdmacm */

/* The code segment of librdmacm. code_end is written last, and is 0 until then. */
static _Atomic uintptr_t code_begin, code_end;

/* Callback of dl_iterate_phdr(): stores the code segment with the address *arg, and ends. */
static int take_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t address = *(uintptr_t *)arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || address < begin ||
		    address - begin >= ph->p_memsz)
			continue;
		atomic_store_explicit(&code_begin, begin, memory_order_relaxed);
		atomic_store_explicit(&code_end, begin + ph->p_memsz, memory_order_release);
		return 1;
	}
	return 0;
}

/* Needs no lock: two threads that call this at the same time find the same segment. */
void librdmacm_find(void)
{
	uintptr_t function;
	void *library;

	if (atomic_load_explicit(&code_end, memory_order_relaxed))
		return;
	library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	function = library ? (uintptr_t)dlsym(library, SYMBOL) : 0;
	if (function)
		dl_iterate_phdr(take_segment, &function);
}

bool librdmacm_has(const void *address)
{
	uintptr_t end = atomic_load_explicit(&code_end, memory_order_acquire);

	return (uintptr_t)address < end &&
	       (uintptr_t)address >= atomic_load_explicit(&code_begin, memory_order_relaxed);
}
