/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/read.h"

#include <errno.h>
#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/atomic.h"
#include "iwarp/opcode.h"
#include "iwarp/overlap.h"
#include "iwarp/rc.h"
#include "iwarp/recv.h"
#include "iwarp/zcopy.h"
#include "util/alloc.h"
#include "util/serial.h"

/* ---- this side's reads ---- */

static bool read_covers(const struct iw_read *r, uint32_t stag, uint64_t to, uint32_t len)
{
	return r->stag == stag && to >= r->to && to - r->to <= r->length &&
	       len <= r->length - (to - r->to);
}

int iw_reads_reserve(struct iw_reads *r, uint32_t n)
{
	struct iw_read *at;

	if (n <= r->size)
		return 0;
	at = alloc_grown(r->at, &r->size, sizeof(*at), r->head, n);
	if (!at)
		return -ENOMEM;
	r->at = at;
	return 0;
}

int iw_read_wrong(const struct iw_reads *r, struct iw_failure *f)
{
	const struct iw_read *oldest = iw_read_at(r, r->head);

	f->fault = oldest->rtr ? IW_FAULT_NONE : IW_FAULT_SQ;
	f->index = oldest->index;
	f->status = IW_WC_REM_OP_ERR;
	return -EPROTO;
}

void iw_read_answered(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	const struct iw_read *r = iw_read_at(&rc->reads, rc->reads.head++);

	if (!r->rtr) {
		iw_sq_at(s->qp, r->index)->progress = IW_WQE_DONE;
		iw_rc_complete_sends(rc);
	}
	iw_session_wake(s); /* a WQE may have waited because of ORD or a fence */
}

/*
 * Returns the outstanding read that the response segment belongs to. If none matches, fills f and
 * returns NULL (RFC 5040 5.2.2).
 */
static const struct iw_read *match(const struct iw_reads *q, const struct iw_segment *seg,
				   struct iw_failure *f)
{
	uint16_t error = TERM_DDP_STAG;

	if (q->head == q->tail) {
		iw_fail(f, TERM_RDMAP_OPCODE, seg->raw, seg->len);
		return NULL;
	}
	for (uint32_t i = q->head; i != q->tail; i++) {
		const struct iw_read *r = iw_read_at(q, i);

		if (r->atomic)
			continue;
		if (read_covers(r, seg->h.stag, seg->h.to, seg->payload_len))
			return r;
		if (r->stag == seg->h.stag)
			error = TERM_DDP_BOUNDS;
	}
	if (error == TERM_DDP_BOUNDS && seg->h.to + (seg->payload_len - 1) < seg->h.to)
		error = TERM_DDP_WRAP;
	iw_fail(f, error, seg->raw, seg->len);
	iw_read_wrong(q, f);
	return NULL;
}

/*
 * Places the segment into the sink of r; its range is inside the sink. Returns 0, or the TERM_*
 * error to report to the peer.
 */
static uint16_t place(struct iw_session *s, const struct iw_read *r, const struct iw_segment *seg)
{
	struct iw_qp *qp = s->qp;
	const struct iw_send_wqe *wqe = iw_sq_at(qp, r->index);
	uint8_t *to;

	if (r->scattered) /* the WQE stays in its slot until the read completes */
		return iw_scatter(qp->pd, wqe->sge, wqe->num_sge, seg->h.to, seg->payload,
				  seg->payload_len) ?
			       TERM_DDP_STAG :
			       0;
	to = iw_mr_local(qp, seg->h.stag, seg->h.to, seg->payload_len, IW_ACCESS_LOCAL_WRITE);
	if (!to)
		return TERM_DDP_STAG;
	return iw_tagged_copy(s, to, seg) ? TERM_DDP_BOUNDS : 0;
}

int iw_read_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	const struct iw_read *r = match(&iw_rc_of(s->qp)->reads, seg, f);
	uint16_t error;

	if (!r)
		return -EPROTO;
	/* place() fails if the application has removed the sink's MR after posting the read. */
	error = place(s, r, seg);
	if (!error)
		return 0;
	iw_fail(f, error, seg->raw, seg->len);
	iw_blame(f, r->index, IW_WC_LOC_PROT_ERR);
	f->quiet = true;
	return -EPROTO;
}

int iw_read_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	const struct iw_reads *q = &iw_rc_of(s->qp)->reads;
	struct iw_read *r = iw_read_at(q, q->head);
	bool ok = !r->atomic; /* responses arrive in the order of the requests */

	if (q->head == q->tail)
		return iw_fail_rec(f, TERM_RDMAP_OPCODE, rec);
	if (ok && rec->len) {
		ok = read_covers(r, rec->stag, iw_rec_to(rec), rec->len) &&
		     rec->len <= r->length - r->got;
		r->got += rec->len;
	}
	if (!ok || (ddp_is_last(rec->control) && r->got != r->length)) {
		iw_fail_rec(f, r->atomic ? TERM_RDMAP_OPCODE : TERM_DDP_BOUNDS, rec);
		return iw_read_wrong(q, f);
	}
	if (ddp_is_last(rec->control))
		iw_read_answered(s);
	return 0;
}

/* ---- the peer's requests ---- */

static struct iw_inbound_read *irq_at(const struct iw_irq *q, uint32_t msn)
{
	return &q->at[msn & (q->size - 1)];
}

int iw_irq_reserve(struct iw_irq *q, uint32_t n)
{
	struct iw_inbound_read *at;

	if (n <= q->size)
		return 0;
	at = alloc_grown(q->at, &q->size, sizeof(*at), q->head, n);
	if (!at)
		return -ENOMEM;
	q->at = at;
	return 0;
}

static uint32_t request_len(uint8_t rdmap)
{
	return rdmap_opcode(rdmap) == RDMAP_ATOMIC_REQUEST ? RDMAP_ATOMIC_REQ_LEN :
							     RDMAP_READ_REQ_LEN;
}

/*
 * Stores a segment of a request: the MSN selects the buffer, and the MO the offset in the buffer
 * (RFC 5041 7.1).
 */
int iw_irq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	struct iw_irq *q = &iw_rc_of(s->qp)->irq;
	uint32_t msn = seg->h.msn;
	/* The Accept, which may arrive later, may raise IRD. Delivery checks the limit again. */
	uint32_t limit = s->state == IW_S_INITIATING ? IW_MAX_IRD : q->ird;

	if (msn - q->tail >= 0x80000000u)
		return iw_fail(f, TERM_DDP_MSN, seg->raw, seg->len);
	if (msn - q->head >= limit)
		return iw_fail(f, TERM_DDP_NO_BUFFER, seg->raw, seg->len);
	if (iw_irq_reserve(q, msn - q->head + 1))
		return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	if (!seg->payload_len)
		return 0;
	if ((uint64_t)seg->h.mo + seg->payload_len > request_len(seg->h.rdmap))
		return iw_fail(f, seg->h.mo ? TERM_DDP_MO : TERM_DDP_TOO_LONG, seg->raw, seg->len);
	memcpy(irq_at(q, msn)->request + seg->h.mo, seg->payload, seg->payload_len);
	return 0;
}

/* Fills f for a wrong request (RFC 5040 4.8). Returns -EPROTO. done: sent bytes of the response. */
static int fail_request(const struct iw_inbound_read *in, uint16_t error, uint32_t done,
			struct iw_failure *f)
{
	struct rdmap_read_request r = in->r;

	r.sink_to += done;
	r.src_to += done;
	r.size -= done;
	iw_fail_rec(f, error, &in->rec);
	if (TERM_TYPE(error) == 1) {
		f->term.has_read_request = true;
		rdmap_put_read_request(f->term.read_request, &r);
	}
	return -EPROTO;
}

static int check_source(struct iw_session *s, const struct iw_inbound_read *in, uint32_t done,
			uint32_t len, uint8_t **from, struct iw_failure *f)
{
	enum iw_remote verdict = iw_mr_remote(s->qp, in->r.src_stag, in->r.src_to + done, len,
					      IW_ACCESS_REMOTE_READ, from);

	return verdict ? fail_request(in, iw_opcode_error(RDMAP_READ_REQUEST, verdict), done, f) :
			 0;
}

static bool is_atomic(const struct iw_inbound_read *in)
{
	return rdmap_opcode(in->rec.rdmap) == RDMAP_ATOMIC_REQUEST;
}

int iw_irq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_irq *q = &rc->irq;
	struct iw_inbound_read *in;
	uint8_t *from;
	int err;

	if (!ddp_is_last(rec->control))
		return 0;
	if (rec->msn != q->tail)
		return iw_fail_rec(f, TERM_DDP_MSN, rec);
	if (rec->msn - q->head >= q->ird)
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	if ((uint64_t)rec->mo + rec->len != request_len(rec->rdmap))
		return iw_fail_rec(f, TERM_RDMAP_UNSPECIFIED, rec);
	in = irq_at(q, rec->msn);
	in->rec = *rec;
	in->after = rc->rx.deliver_msn;
	if (is_atomic(in)) {
		/* An atomic is checked later, when it is executed. */
		rdmap_get_atomic_request(&in->a, in->request);
	} else {
		rdmap_get_read_request(&in->r, in->request);
		err = in->r.size ? check_source(s, in, 0, in->r.size, &from, f) : 0;
		if (err)
			return err;
	}
	q->tail++;
	rc->peer_write.just_before = false;
	iw_session_wake(s);
	return 0;
}

bool iw_response_in_turn(const struct iw_rc *rc)
{
	const struct iw_irq *q = &rc->irq;

	/* If an earlier Send waits for its receive, the response waits as well (RFC 5040 5.5). */
	return serial32_le(irq_at(q, q->head)->after, rc->base.qp.rq.head - rc->rx.delta);
}

/* Removes the request at the head, whose response is complete. */
static void answered(struct iw_irq *q)
{
	/* Clear the request's bytes, so that a later incomplete request cannot reuse them. */
	memset(irq_at(q, q->head), 0, sizeof(struct iw_inbound_read));
	q->head++;
	q->responding = false;
}

static size_t pull_atomic(struct iw_session *s, uint8_t *buf, size_t limit)
{
	struct iw_irq *q = &iw_rc_of(s->qp)->irq;
	struct iw_failure f;
	int n = iw_atomic_respond(s, irq_at(q, q->head), buf, limit, &f);

	if (n < 0) {
		iw_session_fail(s, &f);
		return 0;
	}
	if (n)
		answered(q);
	return (size_t)n;
}

static size_t pull_read(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_TAGGED_LEN;
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_irq *q = &rc->irq;
	struct iw_inbound_read *in = irq_at(q, q->head);
	uint32_t rest = in->r.size - q->sent;
	uint32_t n = rest;
	struct iw_failure f;
	uint8_t *from;

	if (header + rest > limit) {
		if (limit < IW_MIN_CUT)
			return 0;
		n = (uint32_t)((limit - header) & ~(size_t)3);
	}
	if (n) {
		int err = check_source(s, in, q->sent, n, &from, &f);

		if (!err &&
		    !(iw_zcopy_pays(s->shard->rnic, n) && iw_zcopy_reference(rc, from, n)) &&
		    s->shard->rnic->ops.copy(buf + header, from, n))
			err = fail_request(in, TERM_RDMAP_BOUNDS, q->sent, &f);
		if (err) {
			iw_session_fail(s, &f);
			return 0;
		}
	}
	ddp_put_tagged(buf + SESSION_SSN_LEN, n == rest, rdmap_octet(RDMAP_READ_RESPONSE),
		       in->r.sink_stag, in->r.sink_to + q->sent);
	q->sent += n;
	if (n == rest)
		answered(q);
	return header + n;
}

size_t iw_response_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const struct iw_irq *q = &iw_rc_of(s->qp)->irq;

	return is_atomic(irq_at(q, q->head)) ? pull_atomic(s, buf, limit) :
					       pull_read(s, buf, limit);
}
