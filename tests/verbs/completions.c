/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: completions_lossy -- --lossy */
/*
 * A work request that completes with success has reached the peer: its Write is in the peer's
 * memory, its Send in a receive. Any other status is the error that the peer found. Arguments:
 * --lossy loses packets; --rounds N sets the number of Writes in `told_by_a_pipe`.
 */
#include "child.h"
#include "deep.h"
#include "netns.h"
#include "out_of_band.h"

#include <arpa/inet.h>
#include <sys/mman.h>
#include <unistd.h>

#define SOME "meta l4proto udp numgen random mod 100 < 2"
#define PATIENCE 20 /* for connecting: 4 s for each try */

static void begin_loss(void)
{
	if (lossy)
		lose(SOME);
}

static void end_loss(void)
{
	if (lossy)
		lose(NULL);
}

/* Work requests that the peer refuses */

#define TARGET (SIDE_BUF / 2) /* offset of the memory that the peer may refuse */
#define TARGET_LEN 4096
#define BEHIND 200000 /* target offset of the Write after the refused work request */
#define LONG 70000

/* The fault of the work request, or of the peer. */
enum fault {
	KEY,
	BOUNDS,
	RIGHTS,
	PD,
	ODD,	  /* the address of an atomic */
	TOO_LONG, /* for the receive */
	RECEIVE,  /* the receive's memory */
	NO_RECEIVE,
};

struct refusal {
	enum ibv_wr_opcode opcode;
	enum fault fault;
	enum ibv_wc_status status;
	int event;		    /* of the peer's QP; NO_EVENT: none */
	enum ibv_wc_status receive; /* of the peer's receive, if any */
};

#define NO_EVENT (-1)

static const struct refusal refusals[] = {
#define ACCESS(opcode, fault)                                                                      \
	{                                                                                          \
		opcode, fault, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR \
	}
	ACCESS(IBV_WR_RDMA_WRITE, KEY),
	ACCESS(IBV_WR_RDMA_WRITE_WITH_IMM, KEY),
	ACCESS(IBV_WR_RDMA_READ, KEY),
	ACCESS(IBV_WR_ATOMIC_FETCH_AND_ADD, KEY),
	ACCESS(IBV_WR_RDMA_WRITE, BOUNDS),
	ACCESS(IBV_WR_RDMA_READ, BOUNDS),
	ACCESS(IBV_WR_ATOMIC_CMP_AND_SWP, BOUNDS),
	ACCESS(IBV_WR_RDMA_WRITE, RIGHTS),
	ACCESS(IBV_WR_RDMA_READ, RIGHTS),
	ACCESS(IBV_WR_ATOMIC_FETCH_AND_ADD, RIGHTS),
	ACCESS(IBV_WR_RDMA_WRITE, PD),
	ACCESS(IBV_WR_RDMA_READ, PD),
	ACCESS(IBV_WR_ATOMIC_CMP_AND_SWP, PD),
#undef ACCESS
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, ODD, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR,
	  IBV_WC_WR_FLUSH_ERR },
	{ IBV_WR_SEND_WITH_INV, KEY, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
	  IBV_WC_WR_FLUSH_ERR },
	{ IBV_WR_SEND, TOO_LONG, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR, IBV_WC_LOC_LEN_ERR },
	{ IBV_WR_SEND_WITH_IMM, TOO_LONG, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR,
	  IBV_WC_LOC_LEN_ERR },
	{ IBV_WR_SEND, RECEIVE, IBV_WC_REM_OP_ERR, NO_EVENT, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_SEND_WITH_IMM, RECEIVE, IBV_WC_REM_OP_ERR, NO_EVENT, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_SEND, NO_RECEIVE, IBV_WC_RNR_RETRY_EXC_ERR, IBV_EVENT_QP_REQ_ERR, 0 },
	{ IBV_WR_SEND_WITH_IMM, NO_RECEIVE, IBV_WC_RNR_RETRY_EXC_ERR, IBV_EVENT_QP_REQ_ERR, 0 },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, NO_RECEIVE, IBV_WC_RNR_RETRY_EXC_ERR, IBV_EVENT_QP_REQ_ERR,
	  0 },
};

/* The receiver's memory for a refusal. */
struct target {
	struct ibv_pd *other;
	struct ibv_mr *mr;
};

static void open_target(struct target *t, const struct refusal *r, struct side *to)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC;

	t->other = ibv_alloc_pd(to->qp->context);
	CHECK(t->other);
	t->mr = ibv_reg_mr(r->fault == PD ? t->other : to->pd, to->buf + TARGET, TARGET_LEN,
			   r->fault == RIGHTS ? IBV_ACCESS_LOCAL_WRITE : all);
	CHECK(t->mr);
}

static void close_target(struct target *t)
{
	CHECK_EQ(ibv_dereg_mr(t->mr), 0);
	CHECK_EQ(ibv_dealloc_pd(t->other), 0);
}

/* Posts one receive for the Send that arrives, and one for the refused work request. */
static void post_receives(const struct refusal *r, struct side *to)
{
	struct ibv_sge sge = sge_of(to->mr, to->buf + SIDE_BUF - 4096, 100);

	CHECK_EQ(post_recv(to, 50, &sge, 1), 0);
	if (r->fault == NO_RECEIVE)
		return;
	sge.addr += 200;
	if (r->fault == TOO_LONG)
		sge.length--;
	if (r->fault == RECEIVE)
		sge.lkey++;
	CHECK_EQ(post_recv(to, 51, &sge, 1), 0);
}

enum {
	BEFORE_WRITE,
	BEFORE_SEND,
	UNSIGNALED,
	REFUSED,
	BEHIND_SEND,
	BEHIND_WRITE,
	BEHIND_READ,
	WRS
};

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static struct ibv_send_wr make_refused(const struct refusal *r, const struct target *t,
				       struct side *to)
{
	uint64_t at = address(to->buf + TARGET);
	struct ibv_send_wr wr = { .opcode = r->opcode };

	if (r->fault == BOUNDS)
		at += TARGET_LEN;
	if (r->fault == ODD)
		at += 4;
	if (is_atomic(r->opcode)) {
		wr.wr.atomic.remote_addr = at;
		wr.wr.atomic.rkey = t->mr->rkey + (r->fault == KEY);
	} else {
		wr.wr.rdma.remote_addr = at;
		wr.wr.rdma.rkey = t->mr->rkey + (r->fault == KEY);
	}
	if (r->opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = t->mr->rkey + (r->fault == KEY);
	else
		wr.imm_data = htonl(7);
	return wr;
}

/* Posts all work requests by one call. The refused work request is signaled or not. */
static void post_requests(const struct refusal *r, const struct target *t, struct side *from,
			  struct side *to, bool signaled)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t len;
		size_t remote;
	} what[WRS] = {
		[BEFORE_WRITE] = { IBV_WR_RDMA_WRITE, LONG, 0 },
		[BEFORE_SEND] = { IBV_WR_SEND, 100, 0 },
		[UNSIGNALED] = { IBV_WR_RDMA_WRITE, 9, LONG },
		[REFUSED] = { 0, 100, 0 },
		[BEHIND_SEND] = { IBV_WR_SEND, 100, 0 },
		[BEHIND_WRITE] = { IBV_WR_RDMA_WRITE, LONG, BEHIND },
		[BEHIND_READ] = { IBV_WR_RDMA_READ, 100, 0 },
	};
	struct ibv_send_wr wr[WRS], *bad;
	struct ibv_sge sge[WRS];

	for (int i = 0; i < WRS; i++) {
		if (i == REFUSED) {
			wr[i] = make_refused(r, t, to);
		} else {
			wr[i] = (struct ibv_send_wr){ .opcode = what[i].opcode };
			wr[i].wr.rdma.remote_addr = address(to->buf + what[i].remote);
			wr[i].wr.rdma.rkey = to->mr->rkey;
		}
		sge[i] = sge_of(from->mr, from->buf, what[i].len);
		if (i == BEHIND_READ) /* this Read must not change the data of the Sends */
			sge[i].addr += TARGET;
		if (is_atomic(wr[i].opcode)) {
			sge[i].addr += TARGET;
			sge[i].length = 8;
		}
		wr[i].wr_id = i;
		wr[i].next = i + 1 < WRS ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		if (i == BEFORE_WRITE || i == BEFORE_SEND || (i == REFUSED && signaled))
			wr[i].send_flags = IBV_SEND_SIGNALED;
	}
	CHECK_EQ(ibv_post_send(from->qp, wr, &bad), 0);
}

/* A request is checked when it is answered. Later data may arrive before (RFC 5040 5.5). */
static bool is_request(const struct refusal *r)
{
	return r->opcode == IBV_WR_RDMA_READ || is_atomic(r->opcode);
}

static void expect_refusal(const struct refusal *r, struct side *from, struct side *to)
{
	struct ibv_wc wc;

	expect_wc(from->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, BEFORE_WRITE);
	CHECK(filled(to->buf, LONG, 1));
	expect_wc(from->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, BEFORE_SEND);
	CHECK(filled(to->buf + SIDE_BUF - 4096, 100, 1));
	expect_wc(from->send_cq, r->status, &wc);
	CHECK_EQ(wc.wr_id, REFUSED);
	CHECK(wc.vendor_err);
	CHECK(filled(to->buf + LONG, 9, 1));
	for (int i = REFUSED + 1; i < WRS; i++) {
		expect_wc(from->send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	CHECK_EQ(ibv_poll_cq(from->send_cq, 1, &wc), 0);
	expect_wc(to->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 50);
	if (r->fault != NO_RECEIVE) {
		wait_wc(to->recv_cq, &wc);
		CHECK(wc.status == r->receive || (is_request(r) && wc.status == IBV_WC_SUCCESS));
		CHECK_EQ(wc.wr_id, 51);
	}
	CHECK_EQ(ibv_poll_cq(to->recv_cq, 1, &wc), 0);
	if (r->event != NO_EVENT)
		EXPECT_ASYNC(to->qp->context, { r->event, to->qp });
}

/* back: the work request of the accepting side is refused. */
static void refused(const struct refusal *r, bool back)
{
	struct pair_options o = { .rnr_set = true };
	struct target t;
	struct pair p;
	struct side *from = back ? &p.b : &p.a, *to = back ? &p.a : &p.b;

	printf("opcode %d, fault %d, %s\n", r->opcode, r->fault, back ? "back" : "there");
	pair_open(&p, &o);
	begin_loss();
	fill(from->buf, LONG, 1);
	open_target(&t, r, to);
	post_receives(r, to);
	post_requests(r, &t, from, to, back);
	expect_refusal(r, from, to);
	expect_broken(&p);
	expect_no_async(p.a.qp->context, 1);
	/*
	 * DDP places out of order. So data after a lost packet, or after a packet that waited for
	 * its receive, may be in memory.
	 */
	if (!lossy && r->fault != NO_RECEIVE && !is_request(r))
		for (int i = BEHIND; i < BEHIND + LONG; i++)
			CHECK(!to->buf[i]);
	if (r->fault != NO_RECEIVE)
		for (int i = TARGET; i < TARGET + TARGET_LEN; i++)
			CHECK(!to->buf[i]);
	close_target(&t);
	pair_close(&p);
	end_loss();
}

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		refused(&refusals[i], false);
		refused(&refusals[i], true);
	}
}

/*
 * A local work request with an error: all earlier requests arrive, although they were outstanding.
 */
static void test_wrong_here(void)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						      IBV_WR_RDMA_READ };
	struct ibv_send_wr wr[4], *bad;
	struct ibv_sge sge[4];
	struct ibv_wc wc;
	struct pair p;

	for (int i = 0; i < 3; i++) {
		const enum ibv_wr_opcode what[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, opcodes[i],
						    IBV_WR_SEND };

		pair_open(&p, NULL);
		begin_loss();
		fill(p.a.buf, LONG, i);
		for (int k = 0; k < 4; k++) { /* all are posted together */
			sge[k] = sge_of(p.a.mr, p.a.buf, LONG);
			wr[k] = (struct ibv_send_wr){ .wr_id = 1 + k,
						      .next = k < 3 ? &wr[k + 1] : NULL,
						      .sg_list = &sge[k],
						      .num_sge = 1,
						      .opcode = what[k],
						      .send_flags = IBV_SEND_SIGNALED };
			wr[k].wr.rdma.remote_addr = address(p.b.buf);
			wr[k].wr.rdma.rkey = p.b.mr->rkey;
		}
		sge[1].addr += TARGET;
		sge[2].lkey++;
		CHECK_EQ(ibv_post_send(p.a.qp, wr, &bad), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.b.buf, LONG, i));
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.a.buf + TARGET, LONG, i));
		expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		CHECK_EQ(wc.wr_id, 3);
		expect_wc(p.a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, 4);
		EXPECT_ASYNC(p.a.qp->context, { IBV_EVENT_QP_FATAL, p.b.qp });
		expect_broken(&p);
		expect_no_async(p.a.qp->context, 1);
		pair_close(&p);
		end_loss();
	}
}

/* Sends without a receive */

#define SENDS 20
#define SEND_LEN 65536u

/* The memory of SENDS messages, registered with a side. */
static struct ibv_mr *messages(struct side *s)
{
	struct ibv_mr *mr = ibv_reg_mr(s->pd, deep_map((size_t)SENDS * SEND_LEN),
				       (size_t)SENDS * SEND_LEN, IBV_ACCESS_LOCAL_WRITE);

	CHECK(mr);
	return mr;
}

static void free_messages(struct ibv_mr *mr)
{
	void *at = mr->addr;

	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(munmap(at, (size_t)SENDS * SEND_LEN), 0);
}

static struct ibv_sge message(const struct ibv_mr *mr, unsigned int i)
{
	return sge_of(mr, (uint8_t *)mr->addr + (size_t)i * SEND_LEN, SEND_LEN);
}

/*
 * Sends LONG bytes, from the start of the sender's memory. At completion, they are in the receive
 * with this id.
 */
static void send_long(struct side *from, struct side *to, uint64_t id, unsigned int seed)
{
	struct ibv_sge sge = sge_of(to->mr, to->buf + TARGET, LONG);
	struct ibv_wc wc;

	CHECK_EQ(post_recv(to, id, &sge, 1), 0);
	sge = sge_of(from->mr, from->buf, LONG);
	CHECK_EQ(post_send(from, id + 1, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(from->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(to->buf + TARGET, LONG, seed));
	expect_wc(to->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, id);
}

/*
 * Transfers data in both directions of a connection. sends: also a Send from a; b must have no
 * waiting Sends of a.
 */
static void goes_on(struct pair *p, bool sends, unsigned int seed)
{
	struct ibv_sge sge = sge_of(p->b.mr, p->b.buf, LONG);
	struct ibv_wc wc;

	fill(p->a.buf, LONG, seed);
	memset(p->b.buf, 0, LONG);
	CHECK_EQ(post_rdma(&p->b, IBV_WR_RDMA_READ, 100, &sge, 1, address(p->a.buf), p->a.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p->b.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(p->b.buf, LONG, seed));
	send_long(&p->b, &p->a, 101, seed);
	if (sends)
		send_long(&p->a, &p->b, 103, seed);
}

/*
 * With rnr_retry_count 7, Sends of any size wait for receives. Nothing else waits: neither the
 * peer's requests to this QP, nor other QPs between the same two sides.
 */
static void test_no_receives(void)
{
	struct ibv_mr *from, *to;
	struct pair p, other;
	struct ibv_sge sge;
	struct ibv_wc wc;

	pair_open(&p, NULL);
	pair_open(&other, NULL);
	begin_loss();
	from = messages(&p.a);
	to = messages(&p.b);
	for (unsigned int i = 0; i < SENDS; i++) {
		sge = message(from, i);
		paint((void *)(uintptr_t)sge.addr, SEND_LEN, i);
		CHECK_EQ(post_send(&p.a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
	}
	expect_no_wc(p.a.send_cq, 1500);
	goes_on(&other, true, 1);
	goes_on(&p, false, 2);
	CHECK_EQ(ibv_poll_cq(p.a.send_cq, 1, &wc), 0);
	CHECK_EQ(ibv_poll_cq(p.b.recv_cq, 1, &wc), 0);
	for (unsigned int i = 0; i < SENDS; i++) {
		sge = message(to, i);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK(painted((void *)(uintptr_t)sge.addr, SEND_LEN, i));
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.byte_len, SEND_LEN);
	}
	goes_on(&p, true, 3);
	free_messages(from);
	free_messages(to);
	pair_close(&other);
	pair_close(&p);
	end_loss();
}

/* Send with immediate data and payload */

static void send_imm(struct side *s, bool by_wr, uint64_t wr_id, uint32_t len, unsigned int flags)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf, len);
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = len ? 1 : 0,
				  .opcode = IBV_WR_SEND_WITH_IMM,
				  .send_flags = IBV_SEND_SIGNALED | flags,
				  .imm_data = htonl((uint32_t)wr_id * 0x01010101) };
	struct ibv_send_wr *bad;
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(s->qp);

	if (!by_wr) {
		CHECK_EQ(ibv_post_send(s->qp, &wr, &bad), 0);
		return;
	}
	CHECK(ex);
	ibv_wr_start(ex);
	ex->wr_id = wr_id;
	ex->wr_flags = wr.send_flags;
	ibv_wr_send_imm(ex, wr.imm_data);
	if (flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(ex, s->buf, len);
	else if (len)
		ibv_wr_set_sge(ex, s->mr->lkey, address(s->buf), len);
	CHECK_EQ(ibv_wr_complete(ex), 0);
}

static void expect_imm(struct pair *p, uint64_t wr_id, uint32_t len)
{
	struct ibv_wc wc;

	expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, wr_id);
	CHECK_EQ(wc.opcode, IBV_WC_SEND);
	CHECK(filled(p->b.buf, len, (unsigned int)wr_id));
	expect_wc(p->b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 100 + wr_id);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(wc.byte_len, len);
	CHECK_EQ(ntohl(wc.imm_data), (uint32_t)wr_id * 0x01010101);
	CHECK_EQ(ibv_poll_cq(p->b.recv_cq, 1, &wc), 0);
}

/* late: the receive is posted after the message has arrived. */
static void imm_and_payload(bool by_wr, bool late)
{
	static const uint32_t lengths[] = { 0, 1, 200, 4096, 4097, SIDE_BUF };
	struct pair_options o = {
		.send_ops = by_wr ? IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND : 0
	};
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &o);
	begin_loss();
	for (uint64_t i = 0; i < 6; i++) {
		fill(p.a.buf, lengths[i], (unsigned int)i);
		memset(p.b.buf, 0, SIDE_BUF);
		sge = sge_of(p.b.mr, p.b.buf, SIDE_BUF);
		if (!late)
			CHECK_EQ(post_recv(&p.b, 100 + i, &sge, 1), 0);
		send_imm(&p.a, by_wr, i, lengths[i], i == 2 ? IBV_SEND_INLINE : 0);
		if (late) {
			expect_no_wc(p.a.send_cq, 30);
			CHECK_EQ(post_recv(&p.b, 100 + i, &sge, 1), 0);
		}
		expect_imm(&p, i, lengths[i]);
	}
	/* A later plain Send has no immediate data. */
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(post_send(&p.a, 2, NULL, 0, IBV_SEND_SIGNALED), 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wc_flags, 0);
	pair_close(&p);
	end_loss();
}

static void test_imm_and_payload(void)
{
	for (int i = 0; i < 4; i++)
		imm_and_payload(i & 1, i & 2);
}

/* A pipe reports the completion to the peer */

static unsigned int rounds; /* 0: the usual number */

enum { WRITE_LITTLE, WRITE_PAGE, WRITE_MANY, SEND_ONE, KINDS };
static const uint32_t lengths[KINDS] = { 8, 4096, 60000, 1000 };

static unsigned int usual_rounds(void)
{
	return rounds ? rounds : lossy ? 1000 : 20000;
}

/* Checks the memory after a message of the pipe, without an earlier poll or call of the device. */
static void look(int in, int out)
{
	struct where to, me;
	struct side s;

	oob_open();
	oob_timeout = PATIENCE;
	open_side(&s);
	me = where_is(&s);
	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	oob_connect(&s, &to);
	for (unsigned int i = 0; i < usual_rounds(); i++) {
		struct ibv_sge sge = sge_of(s.mr, s.buf, lengths[SEND_ONE]);
		struct ibv_wc wc;

		if (i % KINDS == SEND_ONE)
			CHECK_EQ(post_recv(&s, i, &sge, 1), 0);
		meet(in, out);
		meet(in, out);
		CHECK(painted(s.buf, lengths[i % KINDS], i));
		if (i % KINDS == SEND_ONE) {
			expect_wc(s.recv_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
		}
	}
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* One round. WRITE_MANY writes pieces, and only the last one is signaled. */
static void write_one(struct side *s, const struct where *to, unsigned int round)
{
	unsigned int kind = round % KINDS;
	uint32_t len = lengths[kind], piece = kind == WRITE_MANY ? len / 10 : len;
	struct ibv_wc wc;

	paint(s->buf, len, round);
	for (uint32_t at = 0; at < len; at += piece) {
		struct ibv_sge sge = sge_of(s->mr, s->buf + at, piece);

		CHECK_EQ(post_rdma(s, kind == SEND_ONE ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, round,
				   &sge, 1, to->addr + at, to->rkey,
				   at + piece == len ? IBV_SEND_SIGNALED : 0),
			 0);
	}
	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, round);
}

static void test_told_by_a_pipe(void)
{
	struct child c = child_start(look);
	struct where to, me;
	struct side s;

	oob_open();
	oob_timeout = PATIENCE;
	open_side(&s);
	me = where_is(&s);
	put(c.to, &me, sizeof(me));
	get(c.from, &to, sizeof(to));
	oob_connect(&s, &to);
	begin_loss();
	for (unsigned int i = 0; i < usual_rounds(); i++) {
		if (i % 1000 == 0)
			alarm(120);
		meet(c.from, c.to);
		write_one(&s, &to, i);
		meet(c.from, c.to);
	}
	end_loss();
	CHECK_EQ(child_end(&c), 0);
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static const struct test tests[] = {
	{ "refused", test_refused },
	{ "wrong_here", test_wrong_here },
	{ "no_receives", test_no_receives },
	{ "imm_and_payload", test_imm_and_payload },
	{ "told_by_a_pipe", test_told_by_a_pipe },
};

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--rounds")) {
		rounds = (unsigned int)strtoul(argv[2], NULL, 10);
		argv[2] = argv[0];
		argc -= 2;
		argv += 2;
	}
	return deep_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
