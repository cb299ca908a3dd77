/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Errors and the RDMAP Terminate (RFC 5040 4.8, 5.4, 7.1). */
#include <errno.h>
#include <string.h>

#include "iwarp/private.h"

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
	/* DDP finds it when it places into a receive, RDMAP when it takes up a work request. */
	iw_fail(f, fault == IW_FAULT_RQ ? TERM_DDP_LOCAL : TERM_RDMAP_LOCAL, NULL, 0);
	f->fault = (uint8_t)fault;
	f->index = index;
	f->status = status;
	f->quiet = fault != IW_FAULT_NONE;
	return -EPROTO;
}

uint16_t iw_term_remote(enum iw_remote verdict)
{
	static const uint16_t errors[] = {
		[IW_REMOTE_STAG] = TERM_RDMAP_STAG,	[IW_REMOTE_PD] = TERM_RDMAP_STREAM,
		[IW_REMOTE_ACCESS] = TERM_RDMAP_ACCESS, [IW_REMOTE_WRAP] = TERM_RDMAP_WRAP,
		[IW_REMOTE_BOUNDS] = TERM_RDMAP_BOUNDS,
	};

	return errors[verdict];
}

static uint32_t queue_of(unsigned int opcode)
{
	switch (opcode) {
	case RDMAP_READ_REQUEST:
	case RDMAP_ATOMIC_REQUEST:
		return RDMAP_QN_READ_REQUEST;
	case RDMAP_ATOMIC_RESPONSE:
		return RDMAP_QN_ATOMIC_RESPONSE;
	case RDMAP_TERMINATE:
		return RDMAP_QN_TERMINATE;
	default:
		return RDMAP_QN_SEND;
	}
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
	put_be32(buf + 6, queue_of(rdmap_opcode(r->rdmap)));
	put_be32(buf + 10, r->a);
	put_be32(buf + 14, r->b);
	if (rdmap_is_immediate(rdmap_opcode(r->rdmap))) { /* the record has other things there */
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
	s->term_pending = false;
	return header + term_encode(&s->term, buf + header);
}

/* QN 2 has one buffer, of MSN 1, whatever the application posted (RFC 5040 5.4). */
int iw_term_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	/* Its last segment comes once, but not always last. */
	if (seg->h.msn != 1 || (s->term_seen && ddp_is_last(seg->h.control)))
		return iw_fail(f, TERM_DDP_MSN, seg->raw, seg->len);
	if ((uint64_t)seg->h.mo + seg->payload_len > sizeof(s->term_buf))
		return iw_fail(f, seg->h.mo ? TERM_DDP_MO : TERM_DDP_TOO_LONG, seg->raw, seg->len);
	memcpy(s->term_buf + seg->h.mo, seg->payload, seg->payload_len);
	s->term_seen |= ddp_is_last(seg->h.control);
	return 0;
}

/*
 * The peer gave up: a WQE it names that is not completed yet gets the status, the rest is flushed. It
 * is not answered by an RDMAP Terminate, also when it makes no sense.
 */
int iw_term_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct term_message t;

	if (!ddp_is_last(rec->control))
		return 0;
	iw_fail_illegal(f);
	if (term_decode(&t, s->term_buf, (size_t)rec->b + rec->len))
		t.has_header = false;
	iw_sq_blame(s->qp, &t, f);
	f->term.error = t.error;
	if (s->state == IW_S_ESTABLISHED) /* else the connection was never there */
		iw_event_raise(s->rnic, &s->qp->priv->event, IW_EVENT_QP_FATAL);
	iw_session_end(s, -ECONNRESET, true, f);
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
