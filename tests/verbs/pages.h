/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Pages to register, and the rights to ask for, in few words. */
#ifndef TESTS_VERBS_PAGES_H
#define TESTS_VERBS_PAGES_H

#include "fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#define LOCAL IBV_ACCESS_LOCAL_WRITE
#define READ IBV_ACCESS_REMOTE_READ
#define WRITE IBV_ACCESS_REMOTE_WRITE
#define ODP IBV_ACCESS_ON_DEMAND

static inline uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static inline uint8_t *map_pages(size_t n, int prot)
{
	void *map = mmap(NULL, n * page_size(), prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

#endif
