// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "util/crc32c.h"

#include <isa-l/crc.h>

/*
 * ISA-L returns with the upper halves of the vector registers in use. The next SSE instruction, which
 * compilers use to copy and clear structs, would then cost 300 ns.
 */
#ifdef __x86_64__
__attribute__((target("avx"))) static void release_upper_halves(void)
{
	__builtin_ia32_vzeroupper();
}
#endif

uint32_t crc32c(const void *data, size_t len)
{
	return crc32c_add(0, data, len);
}

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len)
{
	/* ISA-L only reads, although its prototype lacks the const. */
	crc = ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)len, ~crc);
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		release_upper_halves();
#endif
	return crc;
}
