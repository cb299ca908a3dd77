/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/known_mtu.h"

#include "conn/conn.h"

uint32_t known_mtu(struct conn *c, const struct path_addr *to)
{
	const uint8_t *b = to->remote.b;
	struct known_mtu *known = &c->known_mtus.at[(b[14] ^ b[15]) % KNOWN_MTUS];

	if (c->now >= known->until || !ip_addr_equal(&known->remote, &to->remote) ||
	    !ip_addr_equal(&known->local, &to->local))
		*known = (struct known_mtu){
			.local = to->local,
			.remote = to->remote,
			.mtu = c->ops->route_mtu(c, to),
			.until = c->now + KNOWN_MTU_AGE,
		};
	return known->mtu;
}
