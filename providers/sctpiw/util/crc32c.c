// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "util/crc32c.h"

#include <isa-l/crc.h>

uint32_t crc32c(const void *data, size_t len)
{
	return crc32c_add(0, data, len);
}

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len)
{
	/* ISA-L only reads, although its prototype lacks the const. */
	return ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)len, ~crc);
}
