/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A preload library for User-Mode Linux up to about 6.1 on processors with AMX. UML saves the FPU
 * state of its processes into a buffer of fixed size, and restores it from there. The host's kernel
 * requires the full state, which AMX enlarges (8 KiB of tiles), and UML panics. So this library
 * keeps the parts of the state that UML did not save. Tiles are in use only after a program has
 * requested them with arch_prctl().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define XSTATE_MAX 65536
#define XSTATE_BV 512 /* XSAVE header: present components */
#define XSTATE_TILES (3ull << 17)

typedef long (*ptrace_fn)(int request, pid_t pid, void *addr, void *data);

static long set_xstate(ptrace_fn next, pid_t pid, void *addr, const struct iovec *part)
{
	static _Thread_local uint8_t state[XSTATE_MAX];
	struct iovec whole = { state, sizeof(state) };
	uint64_t bv;
	long ret = next(PTRACE_GETREGSET, pid, addr, &whole);

	if (ret)
		return ret;
	memcpy(state, part->iov_base,
	       part->iov_len < whole.iov_len ? part->iov_len : whole.iov_len);
	memcpy(&bv, state + XSTATE_BV, sizeof(bv));
	bv &= ~XSTATE_TILES;
	memcpy(state + XSTATE_BV, &bv, sizeof(bv));
	return next(PTRACE_SETREGSET, pid, addr, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_fn next;
	va_list ap;
	pid_t pid;
	void *addr, *data;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = (ptrace_fn)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE)
		return set_xstate(next, pid, addr, data);
	return next((int)request, pid, addr, data);
}
