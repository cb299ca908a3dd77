/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/oob_election.h"

#include <string.h>

#include "conn/qp_num.h"

bool oob_election_begins(const struct oob_ends *e)
{
	uint16_t ours = qp_num_port(e->qp_num), theirs = qp_num_port(e->dest);

	if (e->loop)
		return e->qp_num >= e->dest;
	if (ours != theirs)
		return ours > theirs;
	return memcmp(e->local.b, e->remote.b, sizeof(e->local.b)) > 0;
}

bool oob_election_yields(uint32_t qp_num, uint32_t peer, bool initiator)
{
	return peer > qp_num || (peer == qp_num && !initiator);
}
