/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sending on a reliable connection: selects the next WQE or response, and divides its message into
 * segments. Messages are not interleaved (RFC 5041 5.3).
 */
#include "iwarp/rc_tx.h"

#include "iwarp/assoc.h"
#include "iwarp/atomic.h"
#include "iwarp/iw_wr.h"
#include "iwarp/mw.h"
#include "iwarp/rc.h"
#include "iwarp/xrc.h"
#include "iwarp/zcopy.h"
#include "util/trace.h"

#define LENGTH_WAIT UINT32_MAX

/* ---- the next WQE ---- */

/*
 * Prepares a request that may have to wait because ORD requests are outstanding. If the newest
 * outstanding request is then a long read, requests wait until a quarter of ORD is free. So one
 * packet requests several reads, whose responses are sent in full packets.
 *
 * Reserves a table entry for the request. If out of memory, the request waits for earlier requests.
 */
static void prepare_request(struct iw_reads *r)
{
	uint32_t outstanding = iw_reads_outstanding(r);

	if (outstanding >= r->ord)
		r->gather = iw_read_at(r, r->tail - 1)->length >= IW_LONG_READ;
	else if (outstanding <= r->ord - r->ord / 4)
		r->gather = false;
	if (outstanding < r->ord && !r->gather)
		iw_reads_reserve(r, outstanding + 1);
}

static bool is_fenced(const struct iw_send_wqe *wqe)
{
	/* Every LOCAL_INV waits, because it could invalidate the sink of an outstanding read. */
	return (wqe->flags & IW_SEND_FENCE) || wqe->opcode == IW_WR_LOCAL_INV;
}

/* True if the WQE must wait for outstanding requests. At least one request is outstanding. */
static bool is_blocked(const struct iw_reads *r, const struct iw_send_wqe *wqe)
{
	uint32_t outstanding = iw_reads_outstanding(r);

	if (is_fenced(wqe))
		return true;
	return iw_wr_is_request(wqe->opcode) &&
	       (outstanding >= r->ord || r->gather || outstanding == r->size);
}

/* Returns the WQE if the WQE may start while requests are outstanding, else NULL. */
static struct iw_send_wqe *behind_reads(struct iw_rc *rc, struct iw_send_wqe *wqe)
{
	if (iw_wr_is_request(wqe->opcode) && !is_fenced(wqe))
		prepare_request(&rc->reads);
	return is_blocked(&rc->reads, wqe) ? NULL : wqe;
}

/* True if the WQE must wait for the locks of all shards; requests the locks. */
static bool waits_for_all(struct iw_rc *rc, const struct iw_send_wqe *wqe)
{
	struct iw_shard *shard = rc->base.qp.shard;

	if (shard->has_all || iw_wr_info(wqe->opcode)->kind != IW_WR_KIND_LOCAL)
		return false;
	if (!list_linked(&rc->wants_all))
		list_add_tail(&shard->wants_all, &rc->wants_all);
	return true;
}

/* Returns the WQE that may start now, or NULL. */
static inline struct iw_send_wqe *next_wqe(struct iw_rc *rc)
{
	struct iw_send_wqe *wqe = iw_sq_peek(&rc->base.qp, &rc->base.send);

	if (!wqe || rc->tx.fault || iw_qp_state(&rc->base.qp) > IW_QPS_RTS)
		return NULL; /* in SQD, no new WQE starts */
	if (iw_reads_outstanding(&rc->reads))
		wqe = behind_reads(rc, wqe);
	if (__builtin_expect(rc->base.qp.shard->several, 0) && wqe && waits_for_all(rc, wqe))
		return NULL;
	return wqe;
}

bool iw_rc_tx_find_work(struct iw_rc *rc)
{
	if (rc->irq.responding || iw_response_ready(rc))
		return true;
	return rc->base.send.begun ? !rc->unplaced.blocked && !rc->tx.fault : next_wqe(rc) != NULL;
}

bool iw_rc_tx_go_on(struct iw_rc *rc)
{
	struct iw_failure f;

	if (!rc->tx.fault || rc->base.qp.sq.head != rc->base.send.next)
		return true;
	iw_fail_local(&f, IW_FAULT_SQ, rc->base.send.next, rc->tx.fault);
	iw_session_fail(rc->session, &f);
	return false;
}

/*
 * Records that the current WQE is at fault. No later WQE starts. The session ends when all earlier
 * WQEs are complete, perhaps now.
 */
static void fail_wqe(struct iw_session *s, uint32_t status)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	rc->tx.fault = status;
	iw_rc_tx_go_on(rc);
}

/*
 * Ends the sending of the current WQE, which has no more messages to send. Returns false if the
 * session has ended (CQ overflow).
 */
static bool finish(struct iw_rc *rc, struct iw_send_wqe *wqe, enum iw_wqe_progress progress)
{
	wqe->progress = (uint8_t)progress;
	rc->base.send.next++;
	rc->base.send.begun = false;
	return progress != IW_WQE_DONE || iw_rc_complete_sends(rc);
}

/* ---- Sends and Writes ---- */

/* Finishes a Send or Write after its last message. */
static void finish_sent(struct iw_rc *rc, struct iw_send_wqe *wqe)
{
	finish(rc, wqe, iw_unplaced_add(rc, wqe) ? IW_WQE_DONE : IW_WQE_SENT);
}

/* True if the peer's window permits this payload on QN 0. If not, the WQE waits. */
static inline bool window_lets(struct iw_session *s, uint32_t payload)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	iw_send_window_placed(&rc->unplaced.window, (uint32_t)s->assoc->placed);
	if (iw_send_window_fits(&rc->unplaced.window, payload))
		return true;
	iw_unplaced_block(rc);
	return false;
}

/*
 * Counts a segment on QN 0 in the peer's window. If the window might stop the next segment,
 * requests a prompt acknowledgement of this segment, because no other message may follow soon.
 */
static inline void take_window(struct iw_session *s, uint32_t payload)
{
	struct iw_send_window *w = &iw_rc_of(s->qp)->unplaced.window;
	size_t longest = s->assoc->max_msg - SESSION_SSN_LEN - DDP_UNTAGGED_LEN;

	iw_send_window_take(w, payload, s->assoc->pulled);
	if (!iw_send_window_fits(w, (uint32_t)longest))
		s->assoc->msg->awaited = true;
}

/*
 * Copies the next n bytes of the message to `to`; the last part may be referenced instead. Returns
 * 0 or a completion status.
 */
static inline uint32_t gather(struct iw_rc *rc, const struct iw_send_wqe *wqe, uint8_t *to,
			      uint32_t n)
{
	struct iw_qp *qp = &rc->base.qp;

	if (wqe->flags & IW_SEND_INLINE)
		return iw_sq_copy_inline(qp, wqe, to, n);
	while (n) {
		const uint8_t *from;
		uint32_t part;
		uint32_t status = iw_sq_next_part(qp, &rc->base.send, wqe, n, &from, &part);

		if (status)
			return status;
		if (!(part == n && iw_zcopy_pays(qp->shard->rnic, part) &&
		      iw_zcopy_reference(rc, from, part)) &&
		    qp->shard->rnic->ops.copy(to, from, part))
			return IW_WC_LOC_PROT_ERR;
		to += part;
		n -= part;
	}
	return IW_WC_SUCCESS;
}

/*
 * Returns the number of payload bytes for the next segment. rest: remaining bytes of the message.
 * header: length of the headers. Returns LENGTH_WAIT if the segment must wait for more room.
 */
static uint32_t cut(uint32_t rest, size_t header, size_t limit)
{
	if (header + rest <= limit)
		return rest;
	if (limit < IW_MIN_CUT)
		return LENGTH_WAIT;
	return (uint32_t)((limit - header) & ~(size_t)3); /* chunks are padded to 4 bytes */
}

/* Writes the next n bytes of the message to `to`. Returns false if the WQE is at fault. */
static inline bool put_payload(struct iw_session *s, const struct iw_send_wqe *wqe, uint8_t *to,
			       uint32_t n)
{
	uint32_t status = gather(iw_rc_of(s->qp), wqe, to, n);

	if (!status)
		return true;
	fail_wqe(s, status);
	return false;
}

static size_t pull_write(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_TAGGED_LEN;
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_sq *sq = &rc->base.send;
	uint32_t rest = wqe->length - sq->offset;
	uint32_t n = cut(rest, header, limit);

	if (n == LENGTH_WAIT || !put_payload(s, wqe, buf + header, n))
		return 0;
	ddp_put_tagged(buf + SESSION_SSN_LEN, n == rest, rdmap_octet(RDMAP_WRITE), wqe->rkey,
		       wqe->remote_to + sq->offset);
	sq->offset += n;
	if (n == rest) {
		rc->tx.imm_due = iw_wr_info(wqe->opcode)->with_imm;
		if (!rc->tx.imm_due)
			finish_sent(rc, wqe);
	}
	return header + n;
}

/*
 * Returns the value of the header's Invalidate STag field, which holds the immediate data in a Send
 * with Immediate.
 */
static uint32_t send_word(const struct iw_send_wqe *wqe, enum rdmap_opcode opcode)
{
	if (rdmap_invalidates(opcode))
		return wqe->inv_stag;
	return rdmap_is_send_imm(opcode) ? get_be32((const uint8_t *)&wqe->imm_data) : 0;
}

static size_t pull_send(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	const struct iw_wr_info *info = iw_wr_info(wqe->opcode);
	enum rdmap_opcode opcode = wqe->flags & IW_SEND_SOLICITED ? info->rdmap_se : info->rdmap;
	const size_t header = SESSION_SSN_LEN + DDP_UNTAGGED_LEN;
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_sq *sq = &rc->base.send;
	uint32_t rest = wqe->length - sq->offset;
	uint32_t n = cut(rest, header, limit);

	if (n == LENGTH_WAIT || !window_lets(s, n) || !put_payload(s, wqe, buf + header, n))
		return 0;
	ddp_put_untagged(buf + SESSION_SSN_LEN, n == rest, rdmap_octet(opcode),
			 send_word(wqe, opcode), RDMAP_QN_SEND, wqe->msn, sq->offset);
	take_window(s, n);
	if (rc->tx.to_srqs)
		iw_xrc_name_srq(wqe, buf + SESSION_SSN_LEN);
	sq->offset += n;
	if (n == rest)
		finish_sent(rc, wqe);
	return header + n;
}

/*
 * Writes Immediate Data. If it follows a Write, the Write's WQE was the current WQE all the time,
 * so no message is sent between the two.
 */
static size_t pull_immediate(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf,
			     size_t limit)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN ||
	    !window_lets(s, RDMAP_IMMEDIATE_LEN))
		return 0;
	iw_imm_put(wqe, buf + SESSION_SSN_LEN);
	if (rc->tx.to_srqs)
		iw_xrc_name_srq(wqe, buf + SESSION_SSN_LEN);
	take_window(s, RDMAP_IMMEDIATE_LEN);
	finish_sent(rc, wqe);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN;
}

/* ---- requests ---- */

static size_t put_read_request(uint8_t *buf, uint32_t msn, const struct rdmap_read_request *r)
{
	ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_READ_REQUEST), 0,
			 RDMAP_QN_READ_REQUEST, msn, 0);
	rdmap_put_read_request(buf + SESSION_SSN_LEN + DDP_UNTAGGED_LEN, r);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN;
}

/* Checks the access to each SGE of a read's sink, before the request is sent. */
static uint32_t check_sink(const struct iw_rc *rc, const struct iw_send_wqe *wqe)
{
	const struct iw_qp *qp = &rc->base.qp;
	uint64_t total = 0;

	if (!rc->reads.ord || wqe->num_sge > qp->max_send_sge)
		return IW_WC_LOC_QP_OP_ERR; /* with ORD 0, the read would wait forever */
	for (uint32_t i = 0; i < wqe->num_sge; i++) {
		const struct iw_sge *sge = &wqe->sge[i];

		if (sge->length &&
		    !iw_mr_local(qp, sge->lkey, sge->addr, sge->length, IW_ACCESS_LOCAL_WRITE))
			return IW_WC_LOC_PROT_ERR;
		total += sge->length;
	}
	return total == wqe->length ? IW_WC_SUCCESS : IW_WC_LOC_QP_OP_ERR;
}

static size_t pull_read(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	bool scattered = wqe->num_sge > 1;
	uint32_t msn = rc->reads.msn;
	uint32_t status;
	struct rdmap_read_request r = {
		.size = wqe->length,
		.src_stag = wqe->rkey,
		.src_to = wqe->remote_to,
	};

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN)
		return 0;
	status = check_sink(rc, wqe);
	if (status) {
		fail_wqe(s, status);
		return 0;
	}
	if (scattered) {
		r.sink_stag = iw_mr_read_stag(s->shard->rnic, rc->reads.stag++);
	} else if (wqe->num_sge) {
		r.sink_stag = wqe->sge[0].lkey;
		r.sink_to = wqe->sge[0].addr;
	}
	iw_reads_add(&rc->reads, &(struct iw_read){
					 .index = rc->base.send.next,
					 .msn = msn,
					 .stag = r.sink_stag,
					 .length = r.size,
					 .to = r.sink_to,
					 .scattered = scattered,
				 });
	rc->reads.msn++;
	finish(rc, wqe, IW_WQE_READING);
	return put_read_request(buf, msn, &r);
}

static size_t pull_atomic(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQ_LEN)
		return 0;
	if (!rc->reads.ord) {
		fail_wqe(s, IW_WC_LOC_QP_OP_ERR);
		return 0;
	}
	/* Check the sink first, because the peer cannot undo the operation. */
	if (!iw_atomic_scatter(rc, wqe, NULL)) {
		fail_wqe(s, IW_WC_LOC_PROT_ERR);
		return 0;
	}
	iw_atomic_put_request(rc, wqe, buf + SESSION_SSN_LEN);
	iw_reads_add(&rc->reads, &(struct iw_read){
					 .index = rc->base.send.next,
					 .msn = rc->reads.msn++,
					 .atomic = true,
					 .response_msn = rc->reads.atomic_msn++,
				 });
	finish(rc, wqe, IW_WQE_READING);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQ_LEN;
}

/*
 * Executes LOCAL_INV or BIND_MW, which send no message. Returns false if the WQE is at fault or the
 * session has ended.
 */
static bool do_locally(struct iw_session *s, struct iw_send_wqe *wqe)
{
	uint32_t status = IW_WC_SUCCESS;

	if (wqe->opcode == IW_WR_BIND_MW) {
		if (iw_mw_bind(s->qp, wqe))
			status = IW_WC_MW_BIND_ERR;
	} else if (iw_mr_invalidate_local(s->qp, wqe->inv_stag)) {
		status = IW_WC_LOC_QP_OP_ERR;
	}
	if (status) {
		fail_wqe(s, status);
		return false;
	}
	return finish(iw_rc_of(s->qp), wqe, IW_WQE_DONE);
}

/* ---- turns ---- */

/*
 * True for a Send with immediate data to a peer that does not support receipts. It is sent as an
 * Immediate Data message, which has no payload (immediate.c).
 */
static bool is_immediate_alone(const struct iw_session *s, const struct iw_wr_info *info)
{
	return info->kind == IW_WR_KIND_SEND && info->with_imm && !s->assoc->receipts;
}

/*
 * Executes local WQEs, and starts the next WQE that sends a message. Returns false if no such WQE
 * may start, or if the session has ended.
 */
static bool begin_wqe(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_sq *sq = &rc->base.send;
	struct iw_send_wqe *wqe;

	while ((wqe = next_wqe(rc))) {
		const struct iw_wr_info *info = iw_wr_info(wqe->opcode);

		wqe->progress = IW_WQE_STARTED;
		TRACE(wqe_started, s->shard->now, .qp = s->qp->num, .wr_id = wqe->wr_id,
		      .opcode = wqe->opcode, .bytes = wqe->length);
		sq->offset = sq->sge = sq->sge_offset = 0;
		rc->tx.imm_due = is_immediate_alone(s, info);
		if (info->kind == IW_WR_KIND_LOCAL) {
			if (!do_locally(s, wqe))
				return false;
			continue;
		}
		if (info->kind == IW_WR_KIND_NONE || (rc->tx.imm_due && wqe->length)) {
			fail_wqe(s, IW_WC_LOC_QP_OP_ERR);
			return false;
		}
		if (info->on_queue_0) {
			wqe->msn = rc->tx.msn++;
			wqe->sent_before = rc->unplaced.window.sent;
		}
		sq->begun = true;
		return true;
	}
	return false;
}

static void begin_response(struct iw_rc *rc)
{
	rc->irq.responding = true;
	rc->irq.sent = 0;
}

/*
 * Starts a response or a WQE, in turn if both are ready. Returns false if neither is ready, or if
 * the session has ended.
 */
static bool begin(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	rc->response_turn = !rc->response_turn;
	if (rc->response_turn && iw_response_ready(rc)) {
		begin_response(rc);
		return true;
	}
	if (begin_wqe(s))
		return true;
	if (s->state != IW_S_ESTABLISHED || !iw_response_ready(rc))
		return false;
	begin_response(rc);
	return true;
}

size_t iw_rc_tx_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_send_wqe *wqe;

	if (!rc->base.send.begun && !rc->irq.responding && !begin(s))
		return 0;
	/*
	 * A WQE that waits for the peer's receives must not delay responses, because the peer may
	 * post receives only after its requests are answered.
	 */
	if ((rc->unplaced.blocked || rc->tx.fault) && !rc->irq.responding) {
		if (!iw_response_ready(rc))
			return 0;
		begin_response(rc);
	}
	if (rc->irq.responding)
		return iw_response_pull(s, buf, limit);
	wqe = iw_sq_at(s->qp, rc->base.send.next);
	if (rc->tx.imm_due)
		return pull_immediate(s, wqe, buf, limit);
	switch (iw_wr_info(wqe->opcode)->kind) {
	case IW_WR_KIND_READ:
		return pull_read(s, wqe, buf, limit);
	case IW_WR_KIND_ATOMIC:
		return pull_atomic(s, wqe, buf, limit);
	case IW_WR_KIND_WRITE:
		return pull_write(s, wqe, buf, limit);
	default:
		return pull_send(s, wqe, buf, limit);
	}
}

size_t iw_rc_tx_pull_rtr(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const struct session_enhanced *e = &s->setup.offer;
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct rdmap_read_request r = { 0 };

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN)
		return 0;
	s->tx.rtr_due = false;
	if (e->rtr_write) {
		ddp_put_tagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_WRITE), 0, 0);
		return SESSION_SSN_LEN + DDP_TAGGED_LEN;
	}
	if (!e->rtr_read) {
		ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_SEND), 0,
				 RDMAP_QN_SEND, rc->tx.msn++, 0);
		return SESSION_SSN_LEN + DDP_UNTAGGED_LEN;
	}
	iw_reads_add(&rc->reads, &(struct iw_read){ .msn = rc->reads.msn, .rtr = true });
	return put_read_request(buf, rc->reads.msn++, &r);
}

/* ---- the subject of the peer's Terminate ---- */

/* True if the segment whose header the peer's Terminate contains belongs to this WQE. */
static bool is_about(const struct iw_send_wqe *wqe, const struct ddp_header *h)
{
	const struct iw_wr_info *info = iw_wr_info(wqe->opcode);

	/*
	 * The segment of a non-empty Write starts inside the Write's range. The segment of an empty
	 * Write starts at the Write's TO.
	 */
	if (ddp_is_tagged(h->control))
		return info->kind == IW_WR_KIND_WRITE && rdmap_opcode(h->rdmap) == RDMAP_WRITE &&
		       h->stag == wqe->rkey &&
		       h->to - wqe->remote_to < (uint64_t)wqe->length + !wqe->length;
	return (h->qn == RDMAP_QN_SEND || rdmap_qn_is_srq(h->qn)) && info->on_queue_0 &&
	       wqe->msn == h->msn;
}

uint32_t iw_rc_tx_status(uint16_t error)
{
	switch (error) {
	case TERM_RDMAP_INVALIDATE:
	case TERM_RDMAP_INVALIDATE_OP:
	case TERM_RDMAP_OPCODE:
	case TERM_RDMAP_STREAM_CATASTROPHIC: /* a misaligned atomic */
	case TERM_DDP_QN:
	case TERM_DDP_TOO_LONG:
	case TERM_DDP_MO:
		return IW_WC_REM_INV_REQ_ERR;
	case TERM_DDP_NO_BUFFER:
		return IW_WC_RNR_RETRY_EXC_ERR;
	default:
		/* error types "remote protection" (RDMAP) and "tagged buffer" (DDP) */
		return TERM_TYPE(error) == 1 && TERM_LAYER(error) <= 1 ? IW_WC_REM_ACCESS_ERR :
									 IW_WC_REM_OP_ERR;
	}
}

void iw_rc_tx_blame_send(const struct iw_rc *rc, uint32_t msn, uint32_t status,
			 struct iw_failure *f)
{
	uint32_t end = rc->base.send.next + rc->base.send.begun;

	for (uint32_t i = rc->base.qp.sq.head; i != end; i++) {
		const struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, i);

		if (iw_wr_info(wqe->opcode)->on_queue_0 && wqe->msn == msn)
			iw_blame(f, i, status);
	}
}

void iw_rc_tx_blame(const struct iw_rc *rc, const struct term_message *t, struct iw_failure *f)
{
	const struct iw_qp *qp = &rc->base.qp;
	uint32_t end = rc->base.send.next + rc->base.send.begun;
	uint32_t first = qp->sq.head;
	struct ddp_header h;

	if (!t->has_header || !ddp_get(&h, t->header, sizeof(t->header)))
		return;
	if (!ddp_is_tagged(h.control) && h.qn == RDMAP_QN_READ_REQUEST) {
		for (uint32_t i = rc->reads.head; i != rc->reads.tail; i++) {
			const struct iw_read *r = iw_read_at(&rc->reads, i);

			if (r->msn != h.msn || r->rtr)
				continue;
			/* No buffer: the outstanding requests exceed the peer's IRD. */
			iw_blame(f, r->index,
				 t->error == TERM_DDP_NO_BUFFER ? IW_WC_REM_INV_REQ_ERR :
								  iw_rc_tx_status(t->error));
		}
		return;
	}
	/* A Write that the last receipt covers is not at fault. A Send's MSN is unique. */
	if (ddp_is_tagged(h.control) && rc->session->assoc->receipts)
		first = rc->unplaced.arrived;
	for (uint32_t i = first; i != end; i++) {
		if (!is_about(iw_sq_at(qp, i), &h))
			continue;
		iw_blame(f, i, iw_rc_tx_status(t->error));
		return;
	}
}
