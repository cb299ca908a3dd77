/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/faults_peer.h"

#include "conn/assoc.h"
#include "conn/conn.h"
#include "faults/fault_rule.h"

static bool has_peer(const void *assoc, const struct ip_addr *addr)
{
	return conn_assoc_has_address(assoc, addr);
}

void faults_peer_set(struct fault_attrs *attrs, const struct conn_assoc *a)
{
	if (!a || a->gone)
		return;
	attrs->known |= 1u << FAULT_SELECT_peer;
	attrs->peer = a->ep->conn->transport->addr(a)->remote;
	attrs->has_peer = has_peer;
	attrs->assoc = a;
}
