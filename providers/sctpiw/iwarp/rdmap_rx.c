/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/rdmap_rx.h"

#include "iwarp/atomic.h"
#include "iwarp/opcode.h"
#include "iwarp/rc.h"

int iw_write_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_peer_write *w = &iw_rc_of(s->qp)->peer_write;

	(void)f;
	if (!w->unfinished)
		w->bytes = 0;
	w->bytes += rec->len;
	w->unfinished = !ddp_is_last(rec->control);
	w->just_before = true;
	return 0;
}

#define DELIVER(opcode, path, sender, completes, errors, place, deliver)                           \
	case opcode:                                                                               \
		return deliver(s, rec, f);

int iw_rdmap_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_stats *stats = &s->shard->stats;
	uint8_t opcode = rdmap_opcode(rec->rdmap);
	bool last = ddp_is_last(rec->control);

	stats->in[opcode] += last;
	iw_traffic_add(&iw_qp_base(s->qp)->in, &stats->in_bytes, opcode, last, rec->len);
	switch (opcode) {
		IW_RDMAP_OPCODES(DELIVER)
	default:
		return iw_fail_illegal(f); /* not reached: placement has refused such a message */
	}
}
