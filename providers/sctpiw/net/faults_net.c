/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/faults_net.h"

#include <string.h>

#include "conn/carrier.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "sctp/sctp.h"
#include "util/bytes.h"

/* One conn is all that a process has. */
static struct {
	struct carrier carrier;
	const struct carrier *plain;
	struct fault_asker *asker;
	bool cut; /* every packet is lost */
} net;

/* What is known of a packet of this endpoint, and of the batch that it is sent in. */
static void describe(const struct endpoint *ep, const struct path_addr *path, const uint8_t *packet,
		     size_t len, struct fault_attrs *attrs)
{
	*attrs = (struct fault_attrs){
		.known = 1u << FAULT_SELECT_direction | 1u << FAULT_SELECT_port |
			 1u << FAULT_SELECT_peer_port | 1u << FAULT_SELECT_path |
			 1u << FAULT_SELECT_peer,
		.direction = FAULT_OUT,
		.port = ep->bound.port,
		.peer_port = get_be16(packet + 2),
		.path = path->local,
		.path_remote = path->remote,
		.peer = path->remote,
		.bytes = len,
	};
}

/* Whether the next packet of the batch is lost. */
static bool is_lost(const struct endpoint *ep, const struct sctp_batch *batch, size_t len)
{
	struct fault_attrs attrs;
	struct fault_action a;

	describe(ep, &batch->to, batch->data, len, &attrs);
	return fault_ask(net.asker, FAULT_SITE_packet, &attrs, &a) && a.id == FAULT_DO_drop;
}

/*
 * Asks of each packet, and sends those that are not lost one by one. Of a batch that the port has no room for, what is
 * left is sent again, so that its packets are asked about once more.
 */
static int send_asked(struct endpoint *ep, struct sctp_batch *batch)
{
	while (batch->len) {
		size_t len = batch->len < batch->segment ? batch->len : batch->segment;
		struct sctp_batch one = *batch;
		int ret = 0;

		one.len = len;
		if (!net.cut && !is_lost(ep, batch, len))
			ret = net.plain->send(ep, &one);
		if (ret)
			return ret;
		batch->data += len;
		batch->len -= len;
	}
	return 0;
}

void faults_net_install(struct conn *c, struct fault_asker *asker)
{
	if (!c->carrier || c->carrier == &net.carrier)
		return;
	net.plain = c->carrier;
	net.carrier = *c->carrier;
	net.carrier.send = send_asked;
	net.asker = asker;
	net.cut = false;
	c->carrier = &net.carrier;
}

void faults_net_cut(bool cut)
{
	net.cut = cut;
}
