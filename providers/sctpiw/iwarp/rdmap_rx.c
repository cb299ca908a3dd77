/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Delivery in the order of the DDP-SSNs (RFC 5041 5.3, RFC 5040 5). */
#include <errno.h>

#include "iwarp/private.h"

int iw_rdmap_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	s->rnic->stats.in[rdmap_opcode(rec->rdmap)] += ddp_is_last(rec->control);
	switch (rdmap_opcode(rec->rdmap)) {
	case RDMAP_WRITE:
		return 0; /* nobody is told (RFC 5040 5.1) */
	case RDMAP_READ_RESPONSE:
		return iw_read_deliver(s, rec, f);
	case RDMAP_READ_REQUEST:
		return iw_irq_deliver(s, rec, f);
	case RDMAP_TERMINATE:
		return iw_term_deliver(s, rec, f);
	default:
		return iw_rq_deliver(s, rec, f);
	}
}
