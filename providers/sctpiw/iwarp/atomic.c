/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Atomic requests (RFC 7306 5) use QN 1, as RDMA Reads do, and count for the same IRD and ORD. The
 * responses use QN 3. Each operation is executed when its response is written, in the order of the
 * requests. The operation is one processor instruction, so it is also atomic for local threads.
 */
#include "iwarp/atomic.h"

#include <errno.h>
#include <string.h>

#include "iwarp/opcode.h"
#include "iwarp/rc.h"
#include "iwarp/recv.h"
#include "iwarp/session.h"

/* ---- the peer's requests ---- */

uint64_t iw_atomic_next(uint64_t old, const void *arg)
{
	const struct rdmap_atomic_request *r = arg;

	if (r->opcode == RDMAP_CMP_SWAP) {
		if ((r->compare ^ old) & r->compare_mask)
			return old;
		return (old & ~r->mask) | (r->data & r->mask);
	}
	/*
	 * A FetchAdd adds fields separately; the mask has the top bit of each field (RFC 7306
	 * 5.1.1). The first sum leaves out these bits, so no carry leaves a field. Then the top
	 * bits are added without carry.
	 */
	return ((old & ~r->mask) + (r->data & ~r->mask)) ^ ((old ^ r->data) & r->mask);
}

/* Returns the word to operate on. Returns NULL and fills f if the request is refused. */
static uint64_t *target(struct iw_session *s, const struct iw_inbound_read *in,
			struct iw_failure *f)
{
	const struct rdmap_atomic_request *a = &in->a;
	enum iw_remote verdict;
	uint16_t error = 0;
	uint8_t *to;

	verdict =
		iw_mr_remote(s->qp, a->stag, a->to, sizeof(uint64_t), IW_ACCESS_REMOTE_ATOMIC, &to);
	if (a->opcode != RDMAP_FETCH_ADD && a->opcode != RDMAP_CMP_SWAP)
		error = TERM_RDMAP_OPCODE; /* as for a bad RDMAP opcode (RFC 7306 1.1, 5.2.1) */
	else if (verdict)
		error = iw_opcode_error(RDMAP_ATOMIC_REQUEST, verdict);
	/* the memory address itself must be aligned (RFC 7306 8.2) */
	else if ((uintptr_t)to % sizeof(uint64_t))
		error = TERM_RDMAP_STREAM_CATASTROPHIC;
	if (!error)
		return (uint64_t *)(void *)to;
	iw_fail_rec(f, error, &in->rec);
	return NULL;
}

int iw_atomic_respond(struct iw_session *s, const struct iw_inbound_read *in, uint8_t *buf,
		      size_t limit, struct iw_failure *f)
{
	uint8_t *body = buf + SESSION_SSN_LEN + DDP_UNTAGGED_LEN;
	uint64_t *at, old;

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESP_LEN)
		return 0;
	at = target(s, in, f);
	if (!at)
		return -EPROTO;
	if (s->shard->rnic->ops.atomic(at, iw_atomic_next, &in->a, &old))
		return iw_fail_rec(f, TERM_RDMAP_BOUNDS, &in->rec);
	ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_ATOMIC_RESPONSE), 0,
			 RDMAP_QN_ATOMIC_RESPONSE, iw_rc_of(s->qp)->irq.response_msn++, 0);
	put_be32(body, in->a.id);
	put_be64(body + 4, old);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESP_LEN;
}

/* ---- this side's requests ---- */

size_t iw_atomic_put_request(const struct iw_rc *rc, const struct iw_send_wqe *wqe, uint8_t *buf)
{
	struct rdmap_atomic_request r = {
		.id = rc->reads.msn,
		.stag = wqe->rkey,
		.to = wqe->remote_to,
		.compare_mask = UINT64_MAX,
	};

	if (wqe->opcode == IW_WR_ATOMIC_CMP_AND_SWP) {
		r.opcode = RDMAP_CMP_SWAP;
		r.data = wqe->swap;
		r.mask = UINT64_MAX;
		r.compare = wqe->compare_add;
	} else {
		r.opcode = RDMAP_FETCH_ADD;
		r.data = wqe->compare_add;
	}
	ddp_put_untagged(buf, true, rdmap_octet(RDMAP_ATOMIC_REQUEST), 0, RDMAP_QN_READ_REQUEST,
			 rc->reads.msn, 0);
	rdmap_put_atomic_request(buf + DDP_UNTAGGED_LEN, &r);
	return DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQ_LEN;
}

bool iw_atomic_scatter(struct iw_rc *rc, const struct iw_send_wqe *wqe, const uint8_t *value)
{
	struct iw_qp *qp = &rc->base.qp;
	uint32_t n = wqe->num_sge < qp->max_send_sge ? wqe->num_sge : qp->max_send_sge;

	return !iw_scatter(qp->pd, wqe->sge, n, 0, value, sizeof(uint64_t));
}

/* Returns the atomic whose response has this MSN on QN 3, or NULL. */
static struct iw_read *find(const struct iw_reads *q, uint32_t msn)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		struct iw_read *r = iw_read_at(q, i);

		if (r->atomic && r->response_msn == msn)
			return r;
	}
	return NULL;
}

int iw_atomic_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	const struct iw_reads *q = &iw_rc_of(s->qp)->reads;
	struct iw_read *r = find(q, seg->h.msn);

	if (!r) /* already answered, or never requested */
		return iw_fail(f,
			       seg->h.msn - q->atomic_msn >= 0x80000000u ? TERM_DDP_MSN :
									   TERM_DDP_NO_BUFFER,
			       seg->raw, seg->len);
	if ((uint64_t)seg->h.mo + seg->payload_len > RDMAP_ATOMIC_RESP_LEN)
		return iw_fail(f, seg->h.mo ? TERM_DDP_MO : TERM_DDP_TOO_LONG, seg->raw, seg->len);
	memcpy(r->response + seg->h.mo, seg->payload, seg->payload_len);
	return 0;
}

int iw_atomic_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	const struct iw_reads *q = &rc->reads;
	const struct iw_read *r = iw_read_at(q, q->head);
	uint16_t error = 0;
	uint64_t value;

	if (!ddp_is_last(rec->control))
		return 0;
	if (q->head == q->tail) /* the MSN's buffer was used by an earlier message */
		return iw_fail_rec(f, TERM_DDP_MSN, rec);
	/* Responses to atomics and reads arrive in the order of the requests. */
	if (!r->atomic)
		error = TERM_RDMAP_OPCODE;
	else if (r->response_msn != rec->msn)
		error = TERM_DDP_MSN;
	else if ((uint64_t)rec->mo + rec->len != RDMAP_ATOMIC_RESP_LEN ||
		 get_be32(r->response) != r->msn)
		error = TERM_RDMAP_UNSPECIFIED;
	if (error) {
		iw_fail_rec(f, error, rec);
		return iw_read_wrong(q, f);
	}
	value = get_be64(r->response + 4);
	if (!iw_atomic_scatter(rc, iw_sq_at(s->qp, r->index), (const uint8_t *)&value))
		return iw_fail_local(f, IW_FAULT_SQ, r->index, IW_WC_LOC_PROT_ERR);
	iw_read_answered(s);
	return 0;
}
