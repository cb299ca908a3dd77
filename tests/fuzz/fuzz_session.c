/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A peer sends any session control messages (RFC 5043 6, RFC 6581), segments and receipts on many
 * streams of one association. Meanwhile, an application accepts, rejects, initiates and closes
 * sessions, and posts work requests. Each session of the application must end with one event. The
 * peer must not get more sessions than streams. Completions must keep their guarantee
 * (iw_promise.h).
 */
#include "fixture/input.h"
#include "fixture/iw_promise.h"
#include "iwarp/assoc.h"
#include "iwarp/rc.h"
#include "iwarp/session.h"

#define STEPS 200
#define QPS PROMISE_QPS
#define HELD 64
#define STREAMS PROMISE_STREAMS
#define WRS 8 /* of a QP, in each direction */

static struct fx x;
static struct promise promise;
static struct iw_qp *qp[QPS];
static struct iw_session *unexpected[HELD]; /* sessions that the application holds until they end */
static uint16_t ssn[STREAMS];
static unsigned int n_unexpected;
static uint64_t wrs; /* number of posted ones */

static void hold(struct iw_session *s)
{
	must(s && n_unexpected < HELD);
	unexpected[n_unexpected++] = s;
}

static void let_go(unsigned int i)
{
	unexpected[i] = unexpected[--n_unexpected];
}

static void take_events(void)
{
	struct iw_event ev;
	struct iw_cqe cqe;
	unsigned int i;

	while (promise_take(&promise, &cqe))
		must(cqe.wr_id < wrs);

	while (iw_next_event(x.iw, &ev)) {
		must(ev.type != IW_EVENT_CQ_ERROR);
		switch (ev.type) {
		case IW_EVENT_INITIATE:
			must(ev.param.private_data_len <= IW_MAX_PRIVATE_DATA);
			hold(ev.session);
			break;
		case IW_EVENT_REJECT:
		case IW_EVENT_CLOSED:
			for (i = 0; i < n_unexpected && unexpected[i] != ev.session; i++)
				;
			must(i < n_unexpected);
			let_go(i);
			break;
		default:
			break;
		}
	}
}

static struct iw_session_param param(struct input *in)
{
	struct iw_session_param p = { .ird = in_u8(in) % (IW_MAX_IRD + 1),
				      .ord = in_u8(in) % (IW_MAX_ORD + 1) };
	uint8_t more = in_u8(in);

	p.rnr_retry_count = more & 7;
	p.rtr = more & 8 ? more >> 5 : 0; /* some of the three kinds, or all */
	p.private_data_len = more & 16 ? in_u8(in) * 2 % (IW_MAX_PRIVATE_DATA - 3) : 0;
	memset(p.private_data, 0x33, p.private_data_len);
	return p;
}

static void decide(struct input *in)
{
	uint8_t what = in_u8(in);
	struct iw_session_param p = param(in);
	struct iw_qp *q = qp[what % QPS];
	struct iw_session *s;
	unsigned int i;

	if (what < 0x40) {
		if (n_unexpected < HELD && !iw_session_initiate(x.assoc, q, &p, NULL, &s))
			hold(s);
		return;
	}
	if (!n_unexpected)
		return;
	i = in_u8(in) % n_unexpected;
	s = unexpected[i];
	if (what < 0x90) {
		iw_session_accept(s, q, &p);
		return;
	}
	if (what < 0xb0) {
		let_go(i);
		iw_session_reject(s, p.private_data, p.private_data_len % 300);
	} else if (what < 0xc0) {
		let_go(i);
		iw_session_refuse(s);
	} else {
		let_go(i);
		iw_session_close(s);
	}
}

static void new_qp(struct input *in)
{
	unsigned int i = in_u8(in) % QPS;

	iw_qp_free(qp[i]);
	qp[i] = fx_qp_sized(&x, x.pd, x.cq, WRS);
	promise_qp(&promise, i, qp[i]);
}

static void post(struct input *in)
{
	static const uint8_t opcodes[] = {
		IW_WR_SEND,
		IW_WR_SEND,
		IW_WR_RDMA_WRITE,
		IW_WR_SEND_WITH_IMM,
		IW_WR_RDMA_WRITE_WITH_IMM,
		IW_WR_SEND_WITH_INV,
		IW_WR_RDMA_READ,
		IW_WR_LOCAL_INV,
	};
	uint8_t what = in_u8(in), opcode = opcodes[(what >> 3) % sizeof(opcodes)];
	unsigned int i = what % QPS;
	struct iw_qp *own = x.qp;
	/* Never 0: an empty message might be an RTR indication. */
	uint32_t len = 1 + in_u8(in) * (what & 0x40 ? 16u : 1u);

	x.qp = qp[i];
	if (what & 4) {
		if (iw_rq_slot(x.qp))
			fx_post_recv(&x, wrs++, x.base, len, x.stag);
	} else if (iw_sq_slot(x.qp)) {
		promise_post(&promise, i, wrs, opcode);
		fx_post(&x, wrs++, opcode, x.base, len, x.stag, x.base,
			what & 0x80 ? IW_SEND_SOLICITED : 0);
	}
	x.qp = own;
}

/* Returns the DDP-SSN of the peer's next message, or a similar one. */
static uint16_t choose_ssn(struct input *in, uint8_t how)
{
	if (how & 0x40)
		ssn[x.sid] = (uint16_t)(ssn[x.sid] + in_u8(in) - 2);
	return ssn[x.sid]++;
}

static void message(struct input *in)
{
	uint8_t how = in_u8(in), m[600];
	uint16_t at;
	const uint8_t *bytes;
	size_t len;

	x.sid = in_u8(in) % (how & 0x80 ? STREAMS : 4);
	at = choose_ssn(in, how);
	bytes = in_bytes(in, in_u8(in) * (how & 0x20 ? 3u : 1u), &len);
	len = len < 596 ? len : 596;
	put_be16(m, how & 0x10 ? in_u16(in) : 1 + how % 7);
	memcpy(m + 2, bytes, len);
	/* The peer begins a new session on a stream, as if the old one were over. */
	if (how & 8)
		at = ssn[x.sid] = 0;
	/* The stream exists. */
	must(!(how % 5 ? fx_feed(&x, 17, at, m, len + 2) : promise_feed(&promise, at, m, len + 2)));
	if (how & 8)
		ssn[x.sid] = 1;
}

static size_t receipt(struct input *in, uint8_t *m, const struct iw_session *s)
{
	uint8_t flags = in_u8(in), octets[RDMAP_RECEIPT_LEN];
	struct rdmap_receipt r = { .msn = in_u8(in) % 16 };

	r.ssn = (uint16_t)((s ? s->tx.ssn : 0) - (int8_t)in_u8(in));
	rdmap_put_receipt(octets, &r);
	octets[0] = flags & 0x1f;
	return fx_make_untagged(m, 0x41, 0x4f, 0, 4,
				(s ? s->rx.receipt_msn : 0) + 1 + (flags & 0x80 ? flags >> 5 : 0),
				0, octets, sizeof(octets));
}

/* The peer sends a segment after its Initiate or Accept. */
static void segment(struct input *in)
{
	static const uint8_t sends[] = { 0x43, 0x44, 0x45, 0x46, 0x48, 0x49, 0x4c, 0x4d };
	uint8_t how = in_u8(in), m[512];
	uint8_t op = sends[how % sizeof(sends)];
	const struct iw_session *s;
	const uint8_t *bytes;
	uint32_t msn = 1;
	size_t len, n;
	uint16_t at;

	x.sid = in_u8(in) % 4;
	at = choose_ssn(in, how);
	s = iw_assoc_session(x.assoc, x.sid);
	if (s && s->qp)
		msn = iw_rc_of(s->qp)->rx.deliver_msn;
	switch (how >> 3 & 7) {
	case 0:
	case 1:
	case 2:
		n = receipt(in, m, s);
		break;
	case 3: /* empty, like an RTR indication */
		n = fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base, NULL, 0);
		break;
	case 4:
		bytes = in_bytes(in, in_u8(in) % 64, &len);
		n = fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, bytes, len);
		break;
	default:
		bytes = in_bytes(in, in_u8(in), &len);
		if (how & 0x80)
			msn += in_u8(in) % 4;
		n = fx_make_untagged(m, 0x41, op, x.stag, 0, msn, 0, bytes, len);
		break;
	}
	promise_feed(&promise, at, m, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	uint8_t how = in_u8(&in);

	n_unexpected = 0;
	wrs = 0;
	memset(ssn, 0, sizeof(ssn));
	fx_start(&x, how & 1);
	promise_start(&promise, &x, how & 2, how & 4 ? 4096 : 256);
	for (unsigned int i = 0; i < QPS; i++) {
		qp[i] = fx_qp_sized(&x, x.pd, x.cq, WRS);
		promise_qp(&promise, i, qp[i]);
	}
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0x60)
			message(&in);
		else if (what < 0x80)
			segment(&in);
		else if (what < 0xb0)
			decide(&in);
		else if (what < 0xc0)
			post(&in);
		else if (what < 0xc8)
			new_qp(&in);
		else if (what < 0xe8)
			promise_pull(&promise, 1452);
		else
			promise_ack(&promise, what % 4, what >> 2 & 3);
		take_events();
		promise_check(&promise);
		must(iw_assoc_sessions(x.assoc) <= STREAMS);
	}
	promise_honest_begin(&promise);
	while (promise_honest_step(&promise))
		take_events();
	take_events();
	promise_honest_end(&promise);
	iw_assoc_lost(x.assoc, -ECONNRESET);
	take_events();
	must(!n_unexpected);
	for (int i = 0; i < QPS; i++)
		iw_qp_free(qp[i]);
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, true, 2,
			       1452);
	fx_stop(&x);
	return 0;
}
