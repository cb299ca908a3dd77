/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/iw_wr.h"
#include "iwarp/opcode.h"
#include "iwarp/rc.h"

#define LINE 400 /* maximum line length in bytes; longer lines are cut */

struct line {
	char text[LINE];
	size_t len;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->len, LINE - l->len, format, args);
	va_end(args);
	if (n > 0)
		l->len += (size_t)n < LINE - l->len ? (size_t)n : LINE - l->len - 1;
}

static const char *error_words(uint16_t error)
{
	switch (error) {
	case TERM_RDMAP_STAG:
	case TERM_DDP_STAG:
		return "there is no such STag, or it does not give that right";
	case TERM_RDMAP_BOUNDS:
	case TERM_DDP_BOUNDS:
		return "outside the memory of the STag, or no longer mapped";
	case TERM_RDMAP_ACCESS:
		return "the STag does not give that right";
	case TERM_RDMAP_STREAM:
	case TERM_DDP_STREAM:
		return "the STag belongs to another PD or QP";
	case TERM_RDMAP_WRAP:
	case TERM_DDP_WRAP:
		return "address and length wrap";
	case TERM_RDMAP_INVALIDATE:
	case TERM_RDMAP_INVALIDATE_OP:
		return "the STag cannot be invalidated";
	case TERM_RDMAP_OPCODE:
		return "no operation that can be done here";
	case TERM_RDMAP_STREAM_CATASTROPHIC:
		return "the address of an atomic is not a multiple of 8";
	case TERM_DDP_QN:
		return "there is no queue or SRQ of that number, or it is not in the QP's XRC domain";
	case TERM_DDP_NO_BUFFER:
		return "no receive was posted in time";
	case TERM_DDP_TOO_LONG:
	case TERM_DDP_MO:
		return "longer than the receive";
	case TERM_RDMAP_LOCAL:
	case TERM_DDP_LOCAL:
		return "an error of that side's own";
	default:
		return "an error of the protocol";
	}
}

static const char *status_words(uint32_t status)
{
	switch (status) {
	case IW_WC_LOC_LEN_ERR:
		return "local length error";
	case IW_WC_LOC_QP_OP_ERR:
		return "local QP operation error";
	case IW_WC_LOC_PROT_ERR:
		return "local protection error";
	case IW_WC_MW_BIND_ERR:
		return "memory window bind error";
	case IW_WC_REM_INV_REQ_ERR:
		return "remote invalid request error";
	case IW_WC_REM_ACCESS_ERR:
		return "remote access error";
	case IW_WC_REM_OP_ERR:
		return "remote operation error";
	case IW_WC_RETRY_EXC_ERR:
		return "transport retry counter exceeded";
	case IW_WC_RNR_RETRY_EXC_ERR:
		return "RNR retry counter exceeded";
	default:
		return "error";
	}
}

static const char *operation(unsigned int rdmap)
{
	static const char *const names[IW_OPCODES] = {
		[RDMAP_WRITE] = "RDMA Write",
		[RDMAP_READ_REQUEST] = "RDMA Read",
		[RDMAP_READ_RESPONSE] = "Read Response",
		[RDMAP_SEND] = "Send",
		[RDMAP_SEND_INV] = "Send with Invalidate",
		[RDMAP_SEND_SE] = "Send",
		[RDMAP_SEND_SE_INV] = "Send with Invalidate",
		[RDMAP_TERMINATE] = "Terminate",
		[RDMAP_IMMEDIATE] = "Immediate Data",
		[RDMAP_IMMEDIATE_SE] = "Immediate Data",
		[RDMAP_ATOMIC_REQUEST] = "atomic",
		[RDMAP_ATOMIC_RESPONSE] = "Atomic Response",
		[RDMAP_SEND_IMM] = "Send with Immediate",
		[RDMAP_SEND_SE_IMM] = "Send with Immediate",
		[RDMAP_RECEIPT] = "receipt",
	};

	return names[rdmap & 0xf] ? names[rdmap & 0xf] : "unknown message";
}

static void begin_with(struct line *l, const struct iw_session *s, const struct iw_qp *qp)
{
	char peer[64] = "";

	l->len = 0;
	if (s->assoc && s->assoc->ops.describe)
		s->assoc->ops.describe(s->assoc->llp, peer, sizeof(peer));
	add(l, "QP %u%s%s: ", qp->num, *peer ? ", peer " : "", peer);
}

static void begin(struct line *l, const struct iw_session *s)
{
	begin_with(l, s, s->qp);
}

/* Describes the work request that f names. */
static void add_work_request(struct line *l, const struct iw_qp *qp, const struct iw_failure *f)
{
	const struct iw_send_wqe *wqe;
	const struct iw_wr_info *info;

	if (f->fault == IW_FAULT_RQ) {
		add(l, "a receive: %s", status_words(f->status));
		return;
	}
	wqe = iw_sq_at(qp, f->index);
	info = iw_wr_info(wqe->opcode);
	add(l, "work request 0x%llx, ", (unsigned long long)wqe->wr_id);
	if (info->kind == IW_WR_KIND_LOCAL)
		add(l, "a local one");
	else
		add(l, "%s of %u bytes", operation(info->rdmap), wqe->length);
	if (info->kind == IW_WR_KIND_WRITE || iw_wr_is_request(wqe->opcode))
		add(l, " at 0x%llx, rkey 0x%x", (unsigned long long)wqe->remote_to, wqe->rkey);
	add(l, ": %s", status_words(f->status));
}

static void add_rights(struct line *l, uint32_t access)
{
	add(l, "%s%s%s%s", access & IW_ACCESS_REMOTE_READ ? " read" : "",
	    access & IW_ACCESS_REMOTE_WRITE ? " write" : "",
	    access & IW_ACCESS_REMOTE_ATOMIC ? " atomic" : "",
	    access & IW_ACCESS_REMOTE ? "" : " none");
}

static void add_stag(struct line *l, const struct iw_session *s, uint32_t stag)
{
	const struct iw_mr *mr = iw_mr_find(s->shard->rnic, stag);

	if (!mr)
		return;
	add(l, "; STag 0x%x has %llu bytes from 0x%llx, remote rights:", stag,
	    (unsigned long long)mr->length, (unsigned long long)mr->iova);
	add_rights(l, mr->access & s->qp->access);
	if (iw_lost_any(&mr->lost))
		add(l, "; the program has unmapped a part of it");
}

/* Describes the peer's message, whose headers are in t. */
static void add_message(struct line *l, const struct iw_session *s, const struct term_message *t)
{
	struct rdmap_read_request r;
	struct ddp_header h;

	if (!t->has_header || !ddp_get(&h, t->header, sizeof(t->header)))
		return;
	add(l, "; %s", operation(rdmap_opcode(h.rdmap)));
	if (t->has_read_request) {
		rdmap_get_read_request(&r, t->read_request);
		add(l, " of %u bytes at 0x%llx, STag 0x%x", r.size, (unsigned long long)r.src_to,
		    r.src_stag);
		add_stag(l, s, r.src_stag);
	} else if (ddp_is_tagged(h.control)) {
		add(l, " of %zu bytes at 0x%llx, STag 0x%x",
		    (size_t)t->segment_len - DDP_TAGGED_LEN, (unsigned long long)h.to, h.stag);
		add_stag(l, s, h.stag);
	} else if (rdmap_qn_is_srq(h.qn)) {
		add(l, ", message %u for SRQ %u", h.msn, rdmap_qn_srq_num(h.qn));
	} else {
		add(l, ", message %u of queue %u", h.msn, h.qn);
	}
}

static void add_error(struct line *l, uint16_t error)
{
	static const char *const layers[] = { "RDMAP", "DDP", "LLP" };

	add(l, "%s (%s error 0x%04x)", error_words(error),
	    TERM_LAYER(error) < 3 ? layers[TERM_LAYER(error)] : "unknown", error);
}

static bool is_heard(const struct iw_session *s, enum iw_say_level level)
{
	return s->shard->rnic->ops.say && s->shard->rnic->ops.hears(level);
}

static void say(const struct iw_session *s, enum iw_say_level level, const struct line *l)
{
	s->shard->rnic->ops.say(level, l->text);
}

/* Logs the WQE that a failure names, if any. */
static void explain_wqe(const struct iw_session *s, const struct iw_failure *f)
{
	struct line l;

	if (f->fault == IW_FAULT_NONE || !is_heard(s, IW_SAY_ERROR))
		return;
	begin(&l, s);
	add_work_request(&l, s->qp, f);
	say(s, IW_SAY_ERROR, &l);
}

void iw_explain_sent(const struct iw_session *s, const struct iw_failure *f)
{
	struct line l;

	if (!s->qp)
		return;
	explain_wqe(s, f);
	if (f->at_peer)
		explain_wqe(s, f->at_peer);
	if (f->illegal || !is_heard(s, IW_SAY_INFO))
		return;
	begin(&l, s);
	add(&l, "Terminate sent: ");
	add_error(&l, f->term.error);
	add_message(&l, s, &f->term);
	say(s, IW_SAY_INFO, &l);
}

void iw_explain_depths(const struct iw_session *s, uint32_t ord, uint32_t ird, bool of_peer)
{
	struct line l;

	if (ord <= ird || !s->qp || !s->qp->oob || !is_heard(s, IW_SAY_INFO))
		return;
	begin(&l, s);
	add(&l,
	    "max_rd_atomic is %u %s, and max_dest_rd_atomic %u %s: sctpiw lowers the former, but hardware devices fail such "
	    "Reads and atomics",
	    ord, of_peer ? "at the peer" : "here", ird, of_peer ? "here" : "at the peer");
	say(s, IW_SAY_INFO, &l);
}

void iw_explain_received(const struct iw_session *s, const struct term_message *t,
			 const struct iw_failure *f)
{
	struct line l;

	if (f->fault != IW_FAULT_NONE && is_heard(s, IW_SAY_ERROR)) {
		begin(&l, s);
		add_work_request(&l, s->qp, f);
		add(&l, ": the peer reports: ");
		add_error(&l, t->error);
		say(s, IW_SAY_ERROR, &l);
	}
	if (!is_heard(s, IW_SAY_INFO))
		return;
	begin(&l, s);
	add(&l, "Terminate received: ");
	add_error(&l, t->error);
	say(s, IW_SAY_INFO, &l);
}

void iw_explain_fault(const struct iw_qp *qp, const struct iw_failure *f)
{
	const struct iw_rnic_ops *ops = &qp->shard->rnic->ops;
	struct line l = { .len = 0 };

	if (f->fault == IW_FAULT_NONE || !ops->say || !ops->hears(IW_SAY_ERROR))
		return;
	add(&l, "QP %u: ", qp->num);
	add_work_request(&l, qp, f);
	ops->say(IW_SAY_ERROR, l.text);
}

void iw_explain_lost(const struct iw_session *s, const struct iw_failure *f, int error)
{
	struct line l;

	if (!is_heard(s, IW_SAY_INFO))
		return;
	begin(&l, s);
	add_work_request(&l, s->qp, f);
	add(&l, ": the association is lost: %s", strerror(-error));
	say(s, IW_SAY_INFO, &l);
}

void iw_explain_abandoned(const struct iw_session *s)
{
	const char *what = s->active ? "request" : "Accept";
	struct line l;

	if (!s->qp || !s->assoc || !is_heard(s, IW_SAY_ERROR))
		return;
	begin(&l, s);
	if (!s->tx.ssn)
		add(&l, "the %s has not left this host", what);
	else if (!iw_assoc_is_acked(s->assoc, s->tx.first_seq))
		add(&l, "the %s was not acknowledged", what);
	else if (s->active)
		add(&l, "the peer's device has the request, but its program has neither accepted "
			"nor rejected it in time");
	else
		add(&l, "the peer's device has the Accept, but has sent no RTR indication in time");
	add(&l, " (stream %u; %u messages sent, %u received, %u more out of turn; %u sessions)",
	    s->sid, s->tx.ssn, s->rx.ssn, s->rx.order.used, s->assoc->live);
	say(s, IW_SAY_ERROR, &l);
}

void iw_explain_no_srq_numbers(const struct iw_session *s, const struct iw_qp *qp)
{
	struct line l;

	if (!is_heard(s, IW_SAY_ERROR))
		return;
	begin_with(&l, s, qp);
	add(&l,
	    "the peer's device does not know XRC: it is older than this one, or another stack, or "
	    "one of both sides has llp = kernel");
	say(s, IW_SAY_ERROR, &l);
}

const char *iw_explain_words(const struct iw_failure *f)
{
	if (f->fault != IW_FAULT_NONE)
		return status_words(f->status);
	return f->illegal && !f->term.error ? "a message that the rules of sessions do not allow" :
					      error_words(f->term.error);
}
