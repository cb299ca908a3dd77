/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/zcopy.h"

#include "iwarp/assoc.h"
#include "iwarp/rc.h"

bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len)
{
	struct iw_assoc *assoc = rc->session->assoc;
	struct iw_shard *shard = rc->base.qp.shard;

	if (!assoc->msg->may_reference || shard->rnic->ops.probe(from, len))
		return false;
	assoc->msg->ref = from;
	assoc->msg->ref_len = len;
	if (!list_linked(&assoc->referencing))
		list_add_tail(&shard->referencing, &assoc->referencing);
	return true;
}

void iw_zcopy_copy_out(struct iw_shard *shard)
{
	struct list_node *node;

	while ((node = list_pop(&shard->referencing))) {
		struct iw_assoc *assoc = list_entry(node, struct iw_assoc, referencing);

		assoc->ops.copy_out(assoc->llp);
	}
}

void iw_zcopy_copy_out_all(struct iw_rnic *rnic)
{
	list_for_each(node, &rnic->shards)
		iw_zcopy_copy_out(list_entry(node, struct iw_shard, node));
}

void iw_poison(uint8_t *message)
{
	ddp_put_invalid(message + SESSION_SSN_LEN);
}
