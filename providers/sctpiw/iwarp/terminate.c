/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Errors and the RDMAP Terminate (RFC 5040 4.8, 5.4, 7.1). */
#include "iwarp/terminate.h"

#include <errno.h>
#include <string.h>

#include "iwarp/opcode.h"
#include "iwarp/assoc.h"
#include "iwarp/explain.h"
#include "iwarp/rc.h"
#include "iwarp/session.h"
#include "iwarp/trace.h"

int iw_fail(struct iw_failure *f, uint16_t error, const uint8_t *header, size_t segment_len)
{
	memset(f, 0, sizeof(*f));
	f->term.error = error;
	if (header) {
		f->term.has_header = true;
		f->term.segment_len = (uint16_t)segment_len;
		memcpy(f->term.header, header, ddp_header_len(header[0]));
	}
	return -EPROTO;
}

int iw_fail_illegal(struct iw_failure *f)
{
	memset(f, 0, sizeof(*f));
	f->illegal = true;
	return -EPROTO;
}

int iw_fail_local(struct iw_failure *f, enum iw_fault fault, uint32_t index, uint32_t status)
{
	/* The layer is DDP for errors of a receive, and RDMAP for other errors. */
	iw_fail(f, fault == IW_FAULT_RQ ? TERM_DDP_LOCAL : TERM_RDMAP_LOCAL, NULL, 0);
	f->fault = (uint8_t)fault;
	f->index = index;
	f->status = status;
	f->quiet = fault != IW_FAULT_NONE;
	return -EPROTO;
}

void iw_blame(struct iw_failure *f, uint32_t index, uint32_t status)
{
	f->fault = IW_FAULT_SQ;
	f->index = index;
	f->status = status;
}

const struct iw_failure *iw_failure_of(const struct iw_failure *f, enum iw_fault queue,
				       uint32_t index)
{
	while (f && !(f->fault == queue && f->index == index))
		f = f->at_peer;
	return f;
}

size_t iw_rec_header(const struct iw_rx_rec *r, uint8_t *buf)
{
	buf[0] = r->control;
	buf[1] = r->rdmap;
	put_be32(buf + 2, r->stag);
	if (ddp_is_tagged(r->control)) {
		put_be64(buf + 6, iw_rec_to(r));
		return DDP_TAGGED_LEN;
	}
	put_be32(buf + 6, iw_rdmap_table[rdmap_opcode(r->rdmap)].path - (uint32_t)IW_PATH_QUEUE_0);
	put_be32(buf + 10, r->msn);
	put_be32(buf + 14, r->mo);
	if (rdmap_is_octets(rdmap_opcode(r->rdmap))) {
		/* The record uses these fields for other data. */
		buf[0] &= DDP_LAST | DDP_VERSION_MASK;
		put_be32(buf + 2, 0);
		put_be32(buf + 14, 0);
	}
	return DDP_UNTAGGED_LEN;
}

int iw_fail_rec(struct iw_failure *f, uint16_t error, const struct iw_rx_rec *r)
{
	uint8_t header[DDP_UNTAGGED_LEN];
	size_t n = iw_rec_header(r, header);

	return iw_fail(f, error, header, n + r->len);
}

size_t iw_term_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_UNTAGGED_LEN;

	if (limit < header + TERM_MAX_LEN)
		return 0;
	ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_TERMINATE), 0,
			 RDMAP_QN_TERMINATE, 1, 0);
	s->tx.term_due = false;
	TRACE(terminate_sent, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .layer = TERM_LAYER(s->tx.term.error), .type = TERM_TYPE(s->tx.term.error),
	      .code = TERM_CODE(s->tx.term.error));
	return header + term_encode(&s->tx.term, buf + header);
}

/*
 * Stores a segment in the single buffer of QN 2, which is for MSN 1. Posted receives are not used
 * (RFC 5040 5.4).
 */
int iw_term_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	/* The segment with the L bit arrives only once, but other segments may arrive after it. */
	if (seg->h.msn != 1 || (s->rx.term_seen && ddp_is_last(seg->h.control)))
		return iw_fail(f, TERM_DDP_MSN, seg->raw, seg->len);
	if ((uint64_t)seg->h.mo + seg->payload_len > sizeof(s->rx.term_buf))
		return iw_fail(f, seg->h.mo ? TERM_DDP_MO : TERM_DDP_TOO_LONG, seg->raw, seg->len);
	memcpy(s->rx.term_buf + seg->h.mo, seg->payload, seg->payload_len);
	s->rx.term_seen |= ddp_is_last(seg->h.control);
	return 0;
}

/*
 * Ends the session. If the peer's Terminate names an incomplete WQE, this WQE gets the status, and
 * all others are flushed. Even an invalid Terminate is never answered with an RDMAP Terminate.
 */
int iw_term_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct term_message t;

	if (!ddp_is_last(rec->control))
		return 0;
	iw_fail_illegal(f);
	if (term_decode(&t, s->rx.term_buf, (size_t)rec->mo + rec->len))
		t.has_header = false;
	TRACE(terminate_received, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
	      .layer = TERM_LAYER(t.error), .type = TERM_TYPE(t.error), .code = TERM_CODE(t.error));
	iw_rc_tx_blame(iw_rc_of(s->qp), &t, f);
	/* Without a header, the first message that no receipt covers is at fault. */
	if (f->fault == IW_FAULT_NONE && s->assoc->receipts)
		iw_unplaced_blame(iw_rc_of(s->qp), iw_rc_tx_status(t.error), f);
	iw_explain_received(s, &t, f);
	f->term.error = t.error;
	/*
	 * Otherwise no event is needed: no connection existed, or the completion of the WR at fault
	 * informs the application.
	 */
	if (s->state == IW_S_ESTABLISHED && f->fault == IW_FAULT_NONE)
		iw_event_raise(s->shard, &iw_qp_base(s->qp)->event, IW_EVENT_QP_FATAL);
	iw_session_end(s, IW_END_TERMINATE, f);
	return 0;
}

enum iw_event_type iw_term_event(const struct iw_failure *f)
{
	unsigned int layer = TERM_LAYER(f->term.error), type = TERM_TYPE(f->term.error);

	if (f->illegal || !f->term.has_header)
		return IW_EVENT_QP_FATAL;
	if (type == 1 && layer <= 1 && f->term.error != TERM_DDP_TAGGED_VERSION)
		return IW_EVENT_QP_ACCESS;
	return IW_EVENT_QP_REQUEST;
}
