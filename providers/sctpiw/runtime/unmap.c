/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/unmap.h"

#include <errno.h>
#include <unistd.h>

#include "iwarp/iw_mr.h"
#include "net/memory.h"
#include "net/regions.h"
#include "runtime/rnic.h"

/* The RNIC whose locks this thread has, between unmap_begin() and unmap_end(). Otherwise NULL. */
static __thread __attribute__((tls_model("initial-exec"))) struct rnic *volatile locked;

static uint64_t end_of(uint64_t addr, uint64_t len)
{
	return len < UINT64_MAX - addr ? addr + len : UINT64_MAX;
}

/* Returns the end of the last page that contains bytes before `end`, as the kernel does. */
static uint64_t pages_end(uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return end < UINT64_MAX - page ? (end + page - 1) / page * page : UINT64_MAX;
}

bool unmap_begin(uint64_t addr, uint64_t len)
{
	struct rnic *r;
	int saved = errno;

	if (!regions_touch(addr, pages_end(end_of(addr, len))) || locked)
		return false;
	r = rnic_to_interrupt();
	if (!r)
		return false;
	locked = r;
	rnic_lock(r);
	iw_mr_before_loss(r->iw);
	errno = saved;
	return true;
}

void unmap_lose(uint64_t addr, uint64_t len)
{
	int saved = errno;

	if (len)
		iw_mr_lose(locked->iw, addr, pages_end(end_of(addr, len)));
	errno = saved;
}

static void lose_gap(uint64_t start, uint64_t end, void *arg)
{
	iw_mr_lose(arg, start, end);
}

void unmap_lose_unmapped(uint64_t addr, uint64_t len)
{
	int saved = errno;

	memory_gaps(addr, end_of(addr, len), lose_gap, locked->iw);
	errno = saved;
}

void unmap_end(void)
{
	struct rnic *r = locked;
	int saved = errno;

	rnic_unlock(r);
	locked = NULL;
	errno = saved;
}
