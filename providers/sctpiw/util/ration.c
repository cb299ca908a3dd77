/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/ration.h"

#include "util/bytes.h"

bool ration_take(uint64_t *at, uint64_t now, unsigned int many, uint64_t time)
{
	uint64_t from = *at > now ? *at : now;

	if (from + time - now > many * time)
		return false;
	*at = from + time;
	return true;
}

unsigned int ration_place(uint64_t salt, const struct ip_addr *from)
{
	bool whole = ip_addr_is_v4(from) || ip_addr_is_link_local(from);
	uint64_t hash = salt ^ from->scope_id;

	for (unsigned int i = 0; i < (whole ? 16 : 8); i += 8) {
		hash = (hash ^ get_be64(from->b + i)) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash % RATION_PLACES;
}
