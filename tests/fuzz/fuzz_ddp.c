/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A peer sends any DDP segments and RDMAP messages to an established QP, between the work requests
 * of the QP's user. The peer must write only to permitted memory, and to none if the QP is an
 * XRC_SEND. Every work request must complete exactly once, and with success only once the peer has
 * it (iw_promise.h).
 */
#include "fixture/input.h"
#include "fixture/iw_promise.h"
#include "iwarp/assoc.h"
#include "iwarp/iw_xrc.h"
#include "iwarp/session.h"

#define STEPS 160
#define BLOCK 4096
#define OPEN_AT 1000 /* the peer may write OPEN_LEN bytes of a block from here on */
#define OPEN_LEN 2000
#define PATTERN 0x5a
#define WRS 65536
#define UC 32	/* in the first byte of the input */
#define XRC 64	/* without UC: an XRC_RECV; with it: an XRC_SEND */
#define SRQ 128 /* of UC: uses the receives of the first SRQ */
#define SRQS 3	/* of XRC: messages may use the first two; the last is of another domain */

enum { BY_PEER, READ_ONLY, PRIVATE, BLOCKS };

static struct fx x;
static struct promise promise;
static uint8_t *block[BLOCKS];
static struct iw_mr *mr[BLOCKS];
static uint32_t stag[BLOCKS];
static uint64_t base[BLOCKS];
static uint8_t outstanding[WRS];
static uint32_t wrs, completions;
static struct iw_xrcd *xrcd, *other_xrcd; /* NULL: the QP is not XRC */
static struct iw_srq *srq[SRQS];
static uint8_t srq_of[WRS]; /* the SRQ of each receive */

/* Makes x.qp a QP of another type that has a send queue. */
static void be(enum iw_qp_type type)
{
	struct iw_qp_attr attr = { .type = type,
				   .pd = x.pd,
				   .send_cq = x.cq,
				   .recv_cq = x.cq,
				   .srq = srq[0],
				   .max_send_wr = 64,
				   .max_recv_wr = 64,
				   .max_send_sge = 4,
				   .max_recv_sge = 4,
				   .max_inline = 64 };

	iw_qp_free(x.qp);
	must(!iw_qp_new(x.iw, &attr, &x.qp));
	must(!iw_qp_modify(x.qp, IW_QPS_INIT));
}

/* Makes x.qp an XRC_RECV, which uses the receives of SRQs. */
static void be_shared(void)
{
	struct iw_qp_attr attr = { .type = IW_QPT_XRC_RECV };

	iw_qp_free(x.qp);
	xrcd = iw_xrcd_new(x.iw);
	other_xrcd = iw_xrcd_new(x.iw);
	must(xrcd && other_xrcd);
	for (int i = 0; i < SRQS; i++)
		must(!iw_xrc_srq_new(i < SRQS - 1 ? xrcd : other_xrcd, x.pd, x.cq, 16, 4, NULL,
				     &srq[i]));
	attr.xrcd = xrcd;
	must(!iw_qp_new(x.iw, &attr, &x.qp));
	must(!iw_qp_modify(x.qp, IW_QPS_INIT));
}

/* Frees an SRQ, with its remaining receives. */
static void free_srq(int i)
{
	if (!srq[i])
		return;
	must(!iw_srq_free(srq[i]));
	srq[i] = NULL;
}

static void add_block(int i, uint32_t access)
{
	/* In heap blocks, so that a sanitizer detects writes outside of them. */
	block[i] = malloc(BLOCK);
	must(block[i]);
	memset(block[i], PATTERN, BLOCK);
	base[i] = (uint64_t)(uintptr_t)block[i] + OPEN_AT;
	must(!iw_mr_new(x.pd, base[i], OPEN_LEN, base[i], access, NULL, &mr[i]));
	stag[i] = iw_mr_stag(mr[i]);
}

static void check_blocks(void)
{
	static uint8_t untouched[BLOCK];

	memset(untouched, PATTERN, BLOCK);
	for (int i = 0; i < BLOCKS; i++) {
		size_t end = OPEN_AT + OPEN_LEN;

		must(!memcmp(block[i], untouched, OPEN_AT));
		must(!memcmp(block[i] + end, untouched, BLOCK - end));
		must((i == BY_PEER && !x.qp->to_srqs) ||
		     !memcmp(block[i] + OPEN_AT, untouched, OPEN_LEN));
	}
}

static void take_completions(void)
{
	struct iw_event ev;
	struct iw_cqe cqe;

	while (promise_take(&promise, &cqe)) {
		must(cqe.wr_id < wrs && outstanding[cqe.wr_id]);
		/* The peer's messages never use the other domain. */
		must(!xrcd || srq_of[cqe.wr_id] < SRQS - 1);
		outstanding[cqe.wr_id] = 0;
		completions++;
	}
	while (iw_next_event(x.iw, &ev)) {
		must(ev.type != IW_EVENT_CQ_ERROR);
		if (ev.type == IW_EVENT_CLOSED)
			x.session = NULL;
	}
}

static uint32_t choose_stag(struct input *in)
{
	uint8_t which = in_u8(in);

	if (which < 0x40)
		return stag[BY_PEER];
	if (which < 0x60)
		return stag[which % BLOCKS];
	if (which < 0xc0)
		return x.stag;
	return which < 0xe0 ? stag[which % BLOCKS] ^ in_u32(in) : in_u32(in);
}

static uint64_t choose_to(struct input *in)
{
	uint8_t which = in_u8(in);

	if (which < 0x60)
		return base[BY_PEER] + in_u16(in) % (OPEN_LEN + 1);
	if (which < 0xa0)
		return x.base + in_u16(in) % (FX_MEM + 1);
	if (which < 0xe0)
		return base[which % BLOCKS] + (uint64_t)(int16_t)in_u16(in);
	return (uint64_t)in_u32(in) << 32 | in_u32(in);
}

static uint32_t choose_number(struct input *in)
{
	uint8_t n = in_u8(in);

	return n < 0xf0 ? n % 8 : n < 0xf8 ? in_u16(in) : in_u32(in);
}

static size_t read_request(struct input *in, uint8_t *m)
{
	struct rdmap_read_request r;

	r.sink_stag = choose_stag(in);
	r.sink_to = choose_to(in);
	r.size = in_u8(in) & 0x80 ? in_u32(in) : in_u16(in) % 2048;
	r.src_stag = choose_stag(in);
	r.src_to = choose_to(in);
	rdmap_put_read_request(m, &r);
	return RDMAP_READ_REQ_LEN;
}

static size_t atomic_request(struct input *in, uint8_t *m)
{
	uint8_t what = in_u8(in);
	struct rdmap_atomic_request r = { .opcode = what & 0x80 ? what & 0xf : what & 2 };

	r.id = in_u8(in);
	r.stag = choose_stag(in);
	r.to = choose_to(in) & (what & 0x40 ? UINT64_MAX : ~(uint64_t)7);
	r.data = in_u32(in);
	r.mask = what & 0x20 ? in_u32(in) : 0;
	r.compare = in_u8(in);
	r.compare_mask = what & 0x10 ? in_u32(in) : UINT64_MAX;
	rdmap_put_atomic_request(m, &r);
	return RDMAP_ATOMIC_REQ_LEN;
}

/* Makes a receipt about recent messages. */
static size_t receipt(struct input *in, uint8_t *m)
{
	const struct iw_session *s = iw_assoc_session(x.assoc, FX_SID);
	uint8_t flags = in_u8(in);
	struct rdmap_receipt r = { .ssn = (uint16_t)((s ? s->tx.ssn : 0) - (int8_t)in_u8(in)) };

	r.msn = choose_number(in);
	rdmap_put_receipt(m, &r);
	m[0] = flags;
	return RDMAP_RECEIPT_LEN;
}

/* Returns the MSN that the queue of receipts expects. */
static uint32_t receipt_msn(void)
{
	const struct iw_session *s = iw_assoc_session(x.assoc, FX_SID);

	return s ? s->rx.receipt_msn + 1 : 1;
}

/* Returns the queue for messages with this control octet. */
static uint32_t queue_of(uint8_t op)
{
	switch (op) {
	case 0x41:
	case 0x4a:
		return 1;
	case 0x47:
		return 2;
	case 0x4b:
		return 3;
	case 0x4f:
		return 4;
	default:
		return 0;
	}
}

/* Returns the number of an SRQ as in the peer's messages, perhaps slightly changed. */
static uint32_t choose_srq(struct input *in)
{
	uint8_t which = in_u8(in);
	const struct iw_srq *s = srq[which < 0xb0 ? 0 : which % SRQS];

	if (which < 0xf0)
		return RDMAP_QN_SRQ | (s ? s->num : 1);
	return which < 0xf8 ? 0 : RDMAP_QN_SRQ ^ in_u32(in);
}

/* The peer sends a message that resembles a protocol message, with some errors. */
static void segment(struct input *in)
{
	static const uint8_t tagged[] = { 0x40, 0x42, 0x40, 0x42, 0x40, 0x48 };
	static const uint8_t untagged[] = { 0x43, 0x44, 0x45, 0x46, 0x41, 0x47, 0x49,
					    0x4a, 0x48, 0x4b, 0x4f, 0x4c, 0x4d };
	uint8_t shape = in_u8(in), control, op, m[2048];
	const uint8_t *bytes;
	size_t len, n;
	uint16_t ssn = x.ssn;
	uint32_t queue, msn;

	if (shape & 0x40) { /* too early, or with a gap */
		ssn = (uint16_t)(x.ssn + in_u8(in) % 16);
	} else {
		x.ssn++;
	}
	if ((shape & 0xb8) == 0xb8) { /* the whole message is random */
		bytes = in_bytes(in, in_u8(in), &len);
		if (shape & 1)
			must(!promise_feed(&promise, ssn, bytes, len));
		else
			must(!fx_feed(&x, 17, ssn, bytes, len));
		return;
	}
	op = in_u8(in);
	control = op & 0x80 ? in_u8(in) : (uint8_t)(op & 0x40 ? 0x01 : 0x41);
	if (shape & 1) {
		control |= op & 0x80 ? 0 : 0x80;
		op = op & 0x20 ? in_u8(in) : tagged[op % sizeof(tagged)];
		n = fx_make_tagged(m, control, op, choose_stag(in), choose_to(in), NULL, 0);
	} else {
		op = op & 0x20 ? in_u8(in) : untagged[op % sizeof(untagged)];
		queue = shape & 0x20 ? choose_number(in) : queue_of(op);
		if (xrcd && !queue)
			queue = choose_srq(in);
		msn = op == 0x4f && !(shape & 2) ? receipt_msn() : 1 + choose_number(in);
		n = fx_make_untagged(m, control, op, choose_stag(in), queue, msn,
				     shape & 0x10 ? choose_number(in) * 16 : 0, NULL, 0);
		if (op == 0x41)
			n += read_request(in, m + n);
		if (op == 0x4a)
			n += atomic_request(in, m + n);
		if (op == 0x4f)
			n += receipt(in, m + n);
	}
	bytes = in_bytes(in, in_u8(in) * 4u, &len);
	memcpy(m + n, bytes, len);
	promise_feed(&promise, ssn, m, n + len);
}

static uint64_t new_wr(void)
{
	must(wrs < WRS);
	outstanding[wrs] = 1;
	return wrs++;
}

static void post_to_srq(uint8_t what, uint64_t at, uint32_t len, uint32_t lkey)
{
	unsigned int i = (what >> 2) % SRQS;
	struct iw_recv_wqe *wqe = srq[i] ? iw_srq_slot(srq[i]) : NULL;

	if (!wqe)
		return;
	srq_of[wrs] = (uint8_t)i;
	wqe->wr_id = new_wr();
	wqe->num_sge = len > 0;
	wqe->length = len;
	wqe->sge[0] = (struct iw_sge){ .addr = at, .length = len, .lkey = lkey };
	iw_srq_publish(srq[i]);
	if (iw_srq_awaited(srq[i]))
		iw_doorbell_serve(iw_srq_doorbell(srq[i], 0));
}

static void post(struct input *in)
{
	static const uint8_t opcodes[] = {
		IW_WR_SEND,	     IW_WR_RDMA_WRITE,	       IW_WR_RDMA_READ,
		IW_WR_SEND_WITH_INV, IW_WR_LOCAL_INV,	       IW_WR_RDMA_WRITE_WITH_IMM,
		IW_WR_SEND_WITH_IMM, IW_WR_ATOMIC_CMP_AND_SWP, IW_WR_ATOMIC_FETCH_AND_ADD
	};
	uint8_t what = in_u8(in), opcode;
	uint32_t len = in_u16(in) % 3000;
	uint64_t at = x.base + in_u16(in) % FX_MEM;

	if (len > FX_MEM - (at - x.base))
		len = (uint32_t)(FX_MEM - (at - x.base));
	if (xrcd || (x.qp->srq && what & 1)) {
		post_to_srq(what, at, len, what & 2 ? x.stag : choose_stag(in));
		return;
	}
	if (what & 1) {
		if (iw_rq_slot(x.qp))
			fx_post_recv(&x, new_wr(), at, len, what & 2 ? x.stag : choose_stag(in));
		return;
	}
	if (!iw_sq_slot(x.qp))
		return;
	opcode = opcodes[in_u8(in) % sizeof(opcodes)];
	if (!(x.qp->wr_opcodes >> opcode & 1))
		return;
	if (x.qp->type != IW_QPT_UC) /* with UC, lost messages complete with success */
		promise_post(&promise, 0, wrs, opcode);
	fx_post(&x, new_wr(), opcode, at, len, choose_stag(in), choose_to(in),
		what & 8 ? IW_SEND_FENCE : 0);
}

static void pull(struct input *in)
{
	unsigned int n = in_u8(in), acked;

	for (unsigned int i = 0; i < n && promise_pull(&promise, 200 + n * 5); i++)
		must(x.out_len >= 4);
	acked = in_u8(in);
	promise_ack(&promise, acked, promise.receipts ? in_u8(in) : 0);
}

static void user(struct input *in)
{
	uint8_t what = in_u8(in);

	if (what < 0x40) {
		int i = what % BLOCKS;

		if (mr[i])
			must(!iw_mr_free(mr[i]));
		mr[i] = NULL;
	} else if (what < 0x50) {
		iw_qp_modify(x.qp, IW_QPS_ERR);
	} else if (what < 0x60) {
		iw_qp_modify(x.qp, what & 1 ? IW_QPS_SQD : IW_QPS_RTS);
	} else if (what < 0x70) {
		if (x.session)
			iw_session_close(x.session);
		x.session = NULL;
	} else if (what < 0x74 && xrcd) {
		free_srq(what % SRQS);
	}
}

/* In any state, the end flushes all remaining work requests. Unused receives stay in SRQs. */
static void finish(void)
{
	iw_qp_modify(x.qp, IW_QPS_ERR);
	take_completions();
	if (!x.qp->srq) {
		must(completions == wrs);
		return;
	}
	iw_assoc_lost(x.assoc, -ECONNRESET);
	take_completions();
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, true, 2,
			       1452);
	iw_qp_free(x.qp);
	x.qp = NULL;
	for (int i = 0; i < SRQS; i++) {
		uint32_t left = 0;

		for (uint32_t k = 0; srq[i] && k < wrs; k++)
			left += outstanding[k] && srq_of[k] == i;
		must(!srq[i] || atomic_load(&srq[i]->posted_tail) - srq[i]->posted_head == left);
		free_srq(i);
	}
	must(!xrcd || (!iw_xrcd_free(xrcd) && !iw_xrcd_free(other_xrcd)));
	xrcd = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	uint8_t how = in_u8(&in);

	wrs = completions = 0;
	fx_start(&x, false);
	if ((how & (UC | XRC | SRQ)) == (UC | SRQ))
		must(!iw_srq_new(x.pd, 16, 4, NULL, &srq[0]));
	if (how & UC)
		be(how & XRC ? IW_QPT_XRC_SEND : IW_QPT_UC);
	else if (how & XRC)
		be_shared();
	promise_start(&promise, &x, how & 8 || xrcd || x.qp->to_srqs,
		      how & 16 ? 65536 : in_u8(&in) * 16);
	if (xrcd || x.qp->to_srqs)
		iw_assoc_set_srq_numbers(x.assoc);
	if (!xrcd && x.qp->type != IW_QPT_UC)
		promise_qp(&promise, 0, x.qp);
	fx_accept(&x, 4, 4, how & 7);
	add_block(BY_PEER, IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_READ |
				   IW_ACCESS_REMOTE_ATOMIC);
	add_block(READ_ONLY, IW_ACCESS_REMOTE_READ);
	add_block(PRIVATE, 0);
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0x80)
			segment(&in);
		else if (what < 0xc0)
			post(&in);
		else if (what < 0xf0)
			pull(&in);
		else
			user(&in);
		take_completions();
		promise_check(&promise);
		check_blocks();
	}
	promise_honest_begin(&promise);
	while (promise_honest_step(&promise))
		take_completions();
	take_completions();
	promise_honest_end(&promise);
	finish();
	for (int i = 0; i < BLOCKS; i++)
		if (mr[i])
			must(!iw_mr_free(mr[i]));
	fx_stop(&x);
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	return 0;
}
