/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * XRC on a network that reorders, and a hostile peer of an XRC_SEND. An XRC_SEND sends requests,
 * and gets none. Any request of the peer ends the session with a Terminate before anything is
 * placed, whatever the access rights.
 */
#include "fixture/iw_receipts.h"

#include "iwarp/iw_xrc.h"

#define SRQ_NUM 5
#define SINK 64 /* bytes of local reads and atomics, before those that a peer names */

static const uint8_t data[64] = { 1, 2, 3 };

/* The sink that a local Read Request names for its response. */
struct sink {
	uint32_t stag;
	uint64_t to;
};

/*
 * Gives x an XRC_SEND with receipts. Peers may read, write and change all of its memory. There is
 * no session yet.
 */
static void start(struct fx *x, bool initiator)
{
	struct iw_qp_attr attr = {
		.type = IW_QPT_XRC_SEND, .max_send_wr = 64, .max_send_sge = 4, .max_inline = 64
	};

	receipts_start_assoc(x, initiator, RECEIPTS_WINDOW);
	iw_assoc_set_srq_numbers(x->assoc);
	x->sid = FX_SID;
	iw_qp_free(x->qp);
	iw_mr_free(x->mr);
	assert_int_equal(iw_mr_new(x->pd, x->base, FX_MEM, x->base,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE, NULL, &x->mr),
			 0);
	x->stag = iw_mr_stag(x->mr);
	attr.pd = x->pd;
	attr.send_cq = attr.recv_cq = x->cq;
	assert_int_equal(iw_qp_new(x->iw, &attr, &x->qp), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_INIT), 0);
	iw_qp_set_access(x->qp, IW_ACCESS_REMOTE);
}

/*
 * The peer opens a session in which it may have four requests outstanding. Two WRs are outstanding.
 */
static struct sink start_busy(struct fx *x)
{
	start(x, false);
	fx_accept(x, 4, 4, 7);
	fx_begin(x, 1, IW_WR_SEND, x->base, 8, 0, 0, 0)->srq_num = SRQ_NUM;
	fx_publish(x);
	fx_post(x, 2, IW_WR_RDMA_READ, x->base, SINK, 0x1234, 0, 0);
	receipts_pull(x, 2);
	memset(x->mem, 0xa5, FX_MEM);
	return (struct sink){ get_be32(x->out + 20), get_be64(x->out + 24) };
}

/* The peer answers the local read, with the next message. */
static void respond(struct fx *x, const struct sink *to)
{
	uint8_t m[200];

	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_tagged(m, 0xc1, 0x42, to->stag, to->to, data, SINK));
}

struct request {
	const char *name;
	uint8_t op;
	uint32_t qn;
	size_t len;
};

static size_t make(const struct fx *x, const struct request *r, uint8_t *m)
{
	struct rdmap_atomic_request a = {
		.opcode = RDMAP_FETCH_ADD, .stag = x->stag, .to = x->base + SINK, .data = 1
	};
	struct rdmap_read_request read = { 0xdeadbeef, 0, (uint32_t)r->len, x->stag,
					   x->base + SINK };
	uint8_t body[64];

	switch (rdmap_opcode(r->op)) {
	case RDMAP_WRITE:
		return fx_make_tagged(m, 0xc1, r->op, x->stag, x->base + SINK, data, r->len);
	case RDMAP_READ_REQUEST:
		rdmap_put_read_request(body, &read);
		return fx_make_untagged(m, 0x41, r->op, 0, r->qn, 1, 0, body, RDMAP_READ_REQ_LEN);
	case RDMAP_ATOMIC_REQUEST:
		rdmap_put_atomic_request(body, &a);
		return fx_make_untagged(m, 0x41, r->op, 0, r->qn, 1, 0, body, RDMAP_ATOMIC_REQ_LEN);
	default:
		return fx_make_untagged(m, 0x41, r->op, x->stag, r->qn, 1, 0, data, r->len);
	}
}

/* The requests of a peer, and the messages for an SRQ. */
static const struct request requests[] = {
	{ "Write", 0x40, 0, 20 },
	{ "Write of nothing", 0x40, 0, 0 },
	{ "Read", 0x41, 1, 20 },
	{ "Read of nothing", 0x41, 1, 0 },
	{ "Send", 0x43, 0, 20 },
	{ "Send of nothing", 0x43, 0, 0 },
	{ "Send with Invalidate", 0x44, 0, 20 },
	{ "Send with SE", 0x45, 0, 20 },
	{ "Send with SE and Invalidate", 0x46, 0, 20 },
	{ "Immediate Data", 0x48, 0, 8 },
	{ "Immediate Data with SE", 0x49, 0, 8 },
	{ "atomic", 0x4a, 1, 0 },
	{ "Send with Immediate", 0x4c, 0, 20 },
	{ "Send with Immediate and SE", 0x4d, 0, 20 },
	{ "Send to an SRQ", 0x43, RDMAP_QN_SRQ | SRQ_NUM, 20 },
	{ "Immediate Data to an SRQ", 0x48, RDMAP_QN_SRQ | SRQ_NUM, 8 },
};
#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

/* Checks that nothing after the sink has changed. */
static void expect_untouched(const struct fx *x)
{
	for (size_t i = SINK; i < FX_MEM; i++)
		assert_int_equal(x->mem[i], 0xa5);
}

/*
 * Checks the events of the QP and of its session, in either order. An event about the establishment
 * may come first.
 */
static void expect_events(struct fx *x)
{
	unsigned int requests_refused = 0, closed = 0;
	struct iw_event ev;

	while (iw_next_event(x->iw, &ev)) {
		requests_refused += ev.type == IW_EVENT_QP_REQUEST;
		closed += ev.type == IW_EVENT_CLOSED && ev.error == -EPROTO;
		assert_true(ev.type == IW_EVENT_ACCEPT || ev.qp == x->qp);
	}
	assert_int_equal(requests_refused, 1);
	assert_int_equal(closed, 1);
}

/* Checks that the QP ends, and that the Terminate has the header of the peer's message. */
static void expect_end(struct fx *x, const struct request *r, const uint8_t *m, size_t len)
{
	assert_true(receipts_out(x).final);
	fx_expect_terminate(x, rdmap_qn_is_srq(r->qn) ? TERM_DDP_QN : TERM_RDMAP_OPCODE, m, len,
			    NULL);
	expect_events(x);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
}

static void requests_end_the_session(void **state)
{
	uint8_t m[200];
	struct fx x;
	size_t n;

	for (size_t i = 0; i < REQUESTS; i++) {
		print_message("%s\n", requests[i].name);
		start_busy(&x);
		n = make(&x, &requests[i], m);
		assert_int_equal(fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m, n), 0);
		expect_end(&x, &requests[i], m, n);
		fx_expect_cqes(&x, 1, 2, IW_WC_WR_FLUSH_ERR);
		expect_untouched(&x);
		fx_stop(&x);
	}
}

/* An early request is not placed either. It ends the session in its turn, after the read. */
static void early_requests(void **state)
{
	uint8_t m[200];
	struct sink sink;
	struct fx x;
	size_t n;

	for (size_t i = 0; i < REQUESTS; i++) {
		print_message("%s\n", requests[i].name);
		sink = start_busy(&x);
		n = make(&x, &requests[i], m);
		fx_feed(&x, SESSION_PPID_DDP, (uint16_t)(x.ssn + 1), m, n);
		expect_untouched(&x);
		assert_false(fx_pull(&x));
		receipts_place(&x, 3);
		respond(&x, &sink);
		expect_end(&x, &requests[i], m, n);
		fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
		assert_memory_equal(x.mem, data, SINK);
		expect_untouched(&x);
		fx_stop(&x);
	}
}

/* The requests follow the peer's Accept directly, or overtake it. */
static void requests_around_the_accept(void **state)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };
	uint8_t m[200];
	struct fx x;
	size_t n;

	for (size_t i = 0; i < 2 * REQUESTS; i++) {
		const struct request *r = &requests[i / 2];

		start(&x, true);
		memset(x.mem, 0xa5, FX_MEM);
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &x.session), 0);
		receipts_pull(&x, 1);
		n = make(&x, r, m);
		if (i & 1)
			fx_feed(&x, SESSION_PPID_DDP, 1, m, n);
		fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\4\0\4", 4);
		if (!(i & 1))
			fx_feed(&x, SESSION_PPID_DDP, 1, m, n);
		expect_end(&x, r, m, n);
		expect_untouched(&x);
		fx_stop(&x);
	}
}

/* Responses to the QP's own work requests are accepted, as on any connection. */
static void responses_are_taken(void **state)
{
	uint8_t m[100], body[RDMAP_ATOMIC_RESP_LEN] = { 0 };
	struct sink sink;
	struct fx x;

	sink = start_busy(&x);
	receipts_waiting(&x, 1);
	receipts_place(&x, 3);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	respond(&x, &sink);
	fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
	fx_post_atomic(&x, 3, IW_WR_ATOMIC_FETCH_AND_ADD, x.base, 0x1234, 0x1000, 1, 0);
	receipts_pull(&x, 1);
	memcpy(body, x.out + 24, 4); /* the request's identifier */
	fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m,
		fx_make_untagged(m, 0x41, 0x4b, 0, 3, 1, 0, body, sizeof(body)));
	fx_expect_cqe(&x, 3, IW_WC_SUCCESS);
	fx_no_event(&x);
	expect_untouched(&x);
	fx_stop(&x);
}

/* ---- the receiver ---- */

#define SRQS 2

struct receiver {
	struct fx x;
	struct iw_xrcd *xrcd;
	struct iw_srq *srq[SRQS];
};

static void receiver_start(struct receiver *r)
{
	struct iw_qp_attr attr = { .type = IW_QPT_XRC_RECV };
	struct fx *x = &r->x;

	receipts_start_assoc(x, false, RECEIPTS_WINDOW);
	iw_assoc_set_srq_numbers(x->assoc);
	x->sid = FX_SID;
	iw_qp_free(x->qp);
	r->xrcd = iw_xrcd_new(x->iw);
	assert_non_null(r->xrcd);
	for (int i = 0; i < SRQS; i++)
		assert_int_equal(iw_xrc_srq_new(r->xrcd, x->pd, x->cq, 16, 1, NULL, &r->srq[i]), 0);
	attr.xrcd = r->xrcd;
	assert_int_equal(iw_qp_new(x->iw, &attr, &x->qp), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_INIT), 0);
	fx_accept(x, 0, 4, 7);
}

static void receiver_stop(struct receiver *r)
{
	receipts_drop_events(&r->x);
	iw_qp_free(r->x.qp);
	for (int i = 0; i < SRQS; i++)
		assert_int_equal(iw_srq_free(r->srq[i]), 0);
	assert_int_equal(iw_xrcd_free(r->xrcd), 0);
	r->x.qp = fx_qp_sized(&r->x, r->x.pd, r->x.cq, 4); /* for fx_stop() */
	fx_stop(&r->x);
}

/* Posts a receive to the SRQ, with 16 bytes at offset 16 * wr_id. */
static void post_to(struct receiver *r, int i, uint64_t wr_id)
{
	struct iw_recv_wqe *wqe = iw_srq_slot(r->srq[i]);

	assert_non_null(wqe);
	wqe->wr_id = wr_id;
	wqe->num_sge = 1;
	wqe->length = 16;
	wqe->sge[0] = (struct iw_sge){ r->x.base + 16 * wr_id, 16, r->x.stag };
	iw_srq_publish(r->srq[i]);
	if (iw_srq_awaited(r->srq[i]))
		iw_doorbell_serve(iw_srq_doorbell(r->srq[i], 0));
}

/*
 * Delivers the peer's Send msn of 16 bytes, to the SRQ of that index, as message `ssn`, perhaps
 * early.
 */
static void send_to(struct receiver *r, int i, uint32_t msn, uint16_t ssn)
{
	uint8_t m[64], body[16];

	memset(body, (int)msn, sizeof(body));
	fx_feed(&r->x, SESSION_PPID_DDP, ssn, m,
		fx_make_untagged(m, 0x41, 0x43, 0, RDMAP_QN_SRQ | r->srq[i]->num, msn, 0, body,
				 sizeof(body)));
}

/*
 * A peer may not invalidate a region that QPs of the domain reach through an SRQ, even if the PD
 * has only one QP.
 */
static void invalidation_by_a_peer(void **state)
{
	struct iw_qp *qp;
	struct receiver r;

	receiver_start(&r);
	qp = fx_qp_sized(&r.x, r.x.pd, r.x.cq, 4);
	assert_int_equal(iw_mr_invalidate_remote(qp, r.x.stag), -EACCES);
	iw_qp_free(qp);
	receiver_stop(&r);
	fx_start(&r.x, false);
	assert_int_equal(iw_mr_invalidate_remote(r.x.qp, r.x.stag), 0);
	fx_stop(&r.x);
}

/* Messages overtake others whose SRQ is not known yet: with receives, and without any. */
static void messages_overtake(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct receiver r;
		struct fx *x = &r.x;

		receiver_start(&r);
		for (uint64_t id = 0; !late && id < 4; id++)
			post_to(&r, id & 1, id);
		send_to(&r, 1, 4, (uint16_t)(x->ssn + 3));
		send_to(&r, 0, 3, (uint16_t)(x->ssn + 2));
		send_to(&r, 1, 2, (uint16_t)(x->ssn + 1));
		fx_no_cqe(x);
		send_to(&r, 0, 1, x->ssn);
		for (uint64_t id = 0; late && id < 4; id++) {
			fx_no_cqe(x);
			post_to(&r, id & 1, id);
			if (id < 3)
				fx_expect_cqe(x, id, IW_WC_SUCCESS);
		}
		if (late)
			fx_expect_cqe(x, 3, IW_WC_SUCCESS);
		else
			fx_expect_cqes(x, 0, 4, IW_WC_SUCCESS);
		for (int i = 0; i < 4 * 16; i++)
			assert_int_equal(x->mem[i], i / 16 + 1);
		fx_no_event(x);
		receiver_stop(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_end_the_session),   cmocka_unit_test(early_requests),
		cmocka_unit_test(requests_around_the_accept), cmocka_unit_test(responses_are_taken),
		cmocka_unit_test(invalidation_by_a_peer),     cmocka_unit_test(messages_overtake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
