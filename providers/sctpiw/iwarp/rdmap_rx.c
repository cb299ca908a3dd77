/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Delivery in the order of the DDP-SSNs (RFC 5041 5.3, RFC 5040 5, RFC 7306 5.4, 6.4). */
#include <errno.h>

#include "iwarp/private.h"

/* Nobody is told (RFC 5040 5.1), but Immediate Data behind it says how long it was. */
static void note_write(struct iw_qp *qp, const struct iw_rx_rec *rec)
{
	struct iw_qp_private *p = qp->priv;

	if (!p->in_write)
		p->written = 0;
	p->written += rec->len;
	p->in_write = !ddp_is_last(rec->control);
	p->behind_write = true;
	if (!p->in_write && (p->asked || p->rounds))
		iw_answer_came(qp);
}

int iw_rdmap_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	s->rnic->stats.in[rdmap_opcode(rec->rdmap)] += ddp_is_last(rec->control);
	switch (rdmap_opcode(rec->rdmap)) {
	case RDMAP_WRITE:
		note_write(s->qp, rec);
		return 0;
	case RDMAP_READ_RESPONSE:
		return iw_read_deliver(s, rec, f);
	case RDMAP_READ_REQUEST:
	case RDMAP_ATOMIC_REQUEST:
		return iw_irq_deliver(s, rec, f);
	case RDMAP_ATOMIC_RESPONSE:
		return iw_atomic_deliver(s, rec, f);
	case RDMAP_TERMINATE:
		return iw_term_deliver(s, rec, f);
	default:
		return iw_rq_deliver(s, rec, f);
	}
}
