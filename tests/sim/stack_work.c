/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Works: the applications that post and poll, and the model that executes the same requests. */
#include "sim/stack.h"

#define STACK_VERSIONS 6 /* of a source that changes */

/* ---- the patterns ---- */

/*
 * Returns a side's source in a version: STACK_SOURCE bytes of one text, at an offset that depends
 * on side and version.
 */
static const uint8_t *text_of(const struct stack_side *s, unsigned int version)
{
	static uint8_t text[2 * STACK_SOURCE];
	static bool made;
	unsigned int which = s == &s->work->side[1];
	unsigned int salt = (s->work->number * 2 + which) * 257 + version + 1;

	for (uint32_t i = 0; !made && i < sizeof(text); i++)
		text[i] = (uint8_t)((i + 1) * 2654435761u >> 13);
	made = true;
	return text + salt * 40503u % STACK_SOURCE;
}

static void fill_source(struct stack_side *s)
{
	memcpy(s->source, text_of(s, s->version), STACK_SOURCE);
}

/*
 * True if len bytes at data equal those at offset of the source of s, each in any of its versions.
 */
static bool is_of(const struct stack_side *s, const uint8_t *data, uint32_t offset, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		unsigned int v = 0;

		while (v <= s->version && data[i] != text_of(s, v)[offset + i])
			v++;
		if (v > s->version)
			return false;
	}
	return true;
}

void stack_mutate(const void *src)
{
	struct stack_world *w = stack_current;
	const uint8_t *at = src;

	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct stack_side *s = &w->works[i / 2]->side[i % 2];

		if (!s->work->mutating || !s->node || at < s->source ||
		    at >= s->source + STACK_SOURCE)
			continue;
		if (s->version >= STACK_VERSIONS || !sim_random_chance(&w->random, 0.3))
			return;
		s->version++;
		fill_source(s);
		return;
	}
}
/* ---- making works ---- */

static void side_init(struct stack_side *s, struct stack_work *work, struct stack_node *n)
{
	struct iw_qp_attr attr = { .pd = n->pd,
				   .max_send_wr = 16,
				   .max_recv_wr = 32,
				   .max_send_sge = 2,
				   .max_recv_sge = 2,
				   .max_inline = 64,
				   .sq_sig_all = true,
				   .ctx = s };

	s->work = work;
	s->node = n;
	s->recv_slots = 1 + sim_random_below(&n->w->random, 24);
	s->source = malloc(STACK_SOURCE);
	s->sink = calloc(1, STACK_SINK);
	s->model_sink = calloc(1, STACK_SINK);
	s->recv = calloc(s->recv_slots, STACK_RECV);
	s->model_recv = calloc(s->recv_slots, STACK_RECV);
	assert_true(s->source && s->sink && s->model_sink && s->recv && s->model_recv);
	fill_source(s);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->source, STACK_SOURCE, (uintptr_t)s->source,
				   IW_ACCESS_REMOTE_READ, NULL, &s->source_mr),
			 0);
	/* Zero-based. */
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->sink, STACK_SINK, 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
					   IW_ACCESS_REMOTE_READ,
				   NULL, &s->sink_mr),
			 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->recv, s->recv_slots * STACK_RECV,
				   (uintptr_t)s->recv, IW_ACCESS_LOCAL_WRITE, NULL, &s->recv_mr),
			 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->words, sizeof(s->words), 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC, NULL,
				   &s->words_mr),
			 0);
	s->words_stag = iw_mr_stag(s->words_mr);
	s->source_iova = (uintptr_t)s->source;
	s->source_stag = iw_mr_stag(s->source_mr);
	s->sink_stag = iw_mr_stag(s->sink_mr);
	stack_srq_init(n);
	assert_int_equal(qp_num_get(&n->conn, &attr.num), 0);
	attr.send_cq = attr.recv_cq = s->cq = s->recv_cq = iw_cq_new(n->iw, 256, NULL);
	if (work->xrc) {
		s->shares = s == &work->side[1];
		attr.type = s->shares ? IW_QPT_XRC_RECV : IW_QPT_XRC_SEND;
		attr.xrcd = s->shares ? n->xrcd : NULL;
		attr.max_recv_wr = attr.max_recv_sge = 0;
		s->recv_cq = s->shares ? n->xrc_cq : s->cq;
	} else {
		s->shares = n->srq && sim_random_chance(&n->w->random, 0.8);
		attr.srq = s->shares ? n->srq : NULL;
	}
	assert_int_equal(iw_qp_new(n->iw, &attr, &s->qp), 0);
	assert_int_equal(iw_qp_modify(s->qp, IW_QPS_INIT), 0);
}

static void poll_xrc(struct stack_node *n, const struct stack_side *dropped);

/* Drops the completions of a side that restarts or ends. Receives of an SRQ can be posted again. */
static void drop_completions(struct stack_side *s)
{
	struct iw_cqe cqe;

	if (s->recv_cq != s->cq)
		poll_xrc(s->node, s);
	while (iw_cq_poll(s->cq, 1, &cqe))
		if (cqe.opcode >= IW_WC_RECV && s->shares)
			s->node->srq_free[s->node->n_srq_free++] = (unsigned int)cqe.wr_id;
}

void stack_side_clear(struct stack_side *s)
{
	memset(s->sink, 0, STACK_SINK);
	memset(s->model_sink, 0, STACK_SINK);
	memset(s->recv, 0, s->recv_slots * STACK_RECV);
	memset(s->model_recv, 0, s->recv_slots * STACK_RECV);
	memset(s->words, 0, sizeof(s->words));
	memset(s->model_words, 0, sizeof(s->model_words));
	s->writes_seen = 0;
}

void stack_side_reset(struct stack_side *s)
{
	check(!iw_qp_modify(s->qp, IW_QPS_ERR));
	drop_completions(s);
	check(!iw_qp_modify(s->qp, IW_QPS_RESET));
	oob_disconnect(s->qp);
	s->qp->by_cm = false;
	drop_completions(s);
	check(!iw_qp_modify(s->qp, IW_QPS_INIT));
	s->posted = s->completed = s->recvs_posted = s->recvs_done = s->writes_seen = 0;
	s->up = s->sq_failed = s->rq_failed = s->closed = s->blamed = false;
}

void stack_side_free(struct stack_side *s)
{
	uint32_t num;

	if (!s->node)
		return;
	num = s->qp->num;
	iw_qp_modify(s->qp, IW_QPS_RESET);
	oob_disconnect(s->qp);
	drop_completions(s);
	iw_qp_free(s->qp);
	qp_num_put(&s->node->conn, num);
	iw_cq_free(s->cq);
	if (s->source_mr)
		iw_mr_free(s->source_mr);
	if (s->sink_mr)
		iw_mr_free(s->sink_mr);
	iw_mr_free(s->recv_mr);
	iw_mr_free(s->words_mr);
	free(s->source);
	free(s->sink);
	free(s->recv);
	free(s->model_sink);
	free(s->model_recv);
	free(s->ops);
	free(s->send_op);
	s->node = NULL;
}

static struct stack_work *work_new(struct stack_node *active, struct stack_node *passive)
{
	struct stack_world *w = active->w;
	struct stack_work *work = calloc(1, sizeof(*work));

	assert_non_null(work);
	check(w->n_works < STACK_WORKS);
	work->w = w;
	work->number = w->n_works;
	work->home[0] = active;
	work->home[1] = passive;
	w->works[w->n_works++] = work;
	return work;
}

struct stack_work *stack_work_new(struct stack_node *active, struct stack_node *passive)
{
	struct stack_work *work = work_new(active, passive);

	work->oob = sim_random_chance(&work->w->random, work->w->oob);
	work->xrc = work->w->xrc > 0 && sim_random_chance(&work->w->random, work->w->xrc);
	side_init(&work->side[0], work, active);
	side_init(&work->side[1], work, passive);
	return work;
}

struct stack_work *stack_self_new(struct stack_node *n)
{
	struct stack_work *work = work_new(n, n);

	work->oob = work->self = true;
	side_init(&work->side[0], work, n);
	work->side[1] = (struct stack_side){ .work = work, .up = true };
	return work;
}

/* Executes the request in the memory of the model: immediately, and in order. */
static void model_run(struct stack_side *s, const struct stack_op *op, unsigned int send)
{
	struct stack_side *peer = stack_peer(s);
	const uint8_t *from = s->source + op->local;

	if (!peer->node || op->bad)
		return;
	if (stack_op_is_atomic(op)) {
		uint64_t *word = &peer->model_words[op->remote];

		memcpy(s->model_sink + op->local, word, 8);
		if (op->opcode == IW_WR_ATOMIC_FETCH_AND_ADD)
			*word += op->compare_add;
		else if (*word == op->compare_add)
			*word = op->swap;
		return;
	}
	if (s->work->mutating)
		return;
	if (stack_op_is_write(op))
		memcpy(peer->model_sink + op->remote, from, op->len);
	else if (op->opcode == IW_WR_RDMA_READ)
		memcpy(s->model_sink + op->local,
		       (op->back ? peer->model_sink : peer->source) + op->remote, op->len);
	else if (op->opcode == IW_WR_SEND)
		memcpy(peer->model_recv + send % peer->recv_slots * STACK_RECV, from, op->len);
}

static unsigned int sends_before(const struct stack_side *s, unsigned int i)
{
	unsigned int n = 0;

	while (n < s->sends && s->send_op[n] < i)
		n++;
	return n;
}

static bool post_op(struct stack_side *s, const struct stack_op *op)
{
	struct iw_send_wqe *wr = iw_sq_slot(s->qp);
	const struct stack_side *peer = stack_peer(s);
	bool of_source = op->opcode == IW_WR_RDMA_READ && !op->back;
	uint32_t first = op->len / 3;

	if (!wr)
		return false;
	memset(wr, 0, sizeof(*wr));
	wr->wr_id = s->posted++;
	wr->opcode = op->opcode;
	wr->flags = (uint8_t)(IW_SEND_SIGNALED | (op->fence ? IW_SEND_FENCE : 0));
	wr->length = op->len;
	wr->remote_to = op->remote + (of_source ? peer->source_iova : 0);
	wr->rkey = of_source ? peer->source_stag : peer->sink_stag;
	if (stack_op_is_atomic(op)) {
		wr->remote_to = op->remote * 8;
		wr->rkey = peer->words_stag;
		wr->compare_add = op->compare_add;
		wr->swap = op->swap;
	} else {
		wr->imm_data = op->imm;
		if (s->work->xrc && peer->node)
			wr->srq_num = peer->node->xrc_srq[op->imm % STACK_XRC_SRQS]->num;
	}
	if (op->bad)
		wr->rkey ^= 0x5a;
	if (op->opcode == IW_WR_RDMA_READ || stack_op_is_atomic(op)) {
		wr->num_sge = 1;
		wr->sge[0] = (struct iw_sge){ op->local, op->len, s->sink_stag };
	} else if (op->len <= 64 && (op->local & 1)) {
		wr->flags |= IW_SEND_INLINE;
		memcpy(wr->sge, s->source + op->local, op->len);
	} else {
		wr->num_sge = 2;
		wr->sge[0] = (struct iw_sge){ s->source_iova + op->local, first, s->source_stag };
		wr->sge[1] =
			(struct iw_sge){ wr->sge[0].addr + first, op->len - first, s->source_stag };
	}
	iw_sq_publish(s->qp);
	return true;
}

/* The model does not execute requests to a queue in error, which are flushed. */
static bool post(struct stack_side *s, enum iw_qp_state state)
{
	static const struct stack_op bulk = { .opcode = IW_WR_RDMA_WRITE, .len = STACK_BULK };
	unsigned int before = s->posted;

	if (s->work->bulk && s == &s->work->side[0] && state == IW_QPS_RTS) {
		while (post_op(s, &bulk))
			;
		return s->posted != before;
	}
	while (s->posted < s->n_ops) {
		unsigned int i = s->posted;
		const struct stack_op *op = &s->ops[i];

		if (!post_op(s, op))
			break;
		if (state == IW_QPS_RTS)
			model_run(s, op, stack_op_takes_receive(op) ? sends_before(s, i) : 0);
	}
	return s->posted != before;
}

/* Returns true if the RNIC must look at the receives. */
static bool post_recvs(struct stack_side *s)
{
	bool any = false;

	while (s->recvs_posted - s->recvs_done < s->recv_slots) {
		struct iw_recv_wqe *wr = iw_rq_slot(s->qp);
		uint32_t lkey = iw_mr_stag(s->recv_mr);

		assert_non_null(wr);
		wr->wr_id = s->recvs_posted;
		wr->num_sge = 2;
		wr->length = STACK_RECV;
		wr->sge[0] = (struct iw_sge){ (uintptr_t)s->recv +
						      s->recvs_posted % s->recv_slots * STACK_RECV,
					      1000, lkey };
		wr->sge[1] = (struct iw_sge){ wr->sge[0].addr + 1000, STACK_RECV - 1000, lkey };
		s->recvs_posted++;
		iw_rq_publish(s->qp);
		any |= iw_rq_is_awaited(s->qp);
	}
	return any;
}

/*
 * Checks that the peer's writes from its operation `from` on, and before `upto`, are in the local
 * sink.
 */
static void check_written(const struct stack_side *s, unsigned int from, unsigned int upto)
{
	const struct stack_side *peer = stack_peer(s);

	for (unsigned int i = from; i < upto; i++) {
		const struct stack_op *op = &peer->ops[i];

		if (!stack_op_is_write(op) || op->bad)
			continue;
		if (s->work->mutating)
			check(is_of(peer, s->sink + op->remote, op->local, op->len));
		else
			check(!memcmp(s->sink + op->remote, s->model_sink + op->remote, op->len));
	}
}

/* Checks all writes before `upto`. Only stack_work_check() repeats earlier checks. */
static void check_writes(struct stack_side *s, unsigned int upto)
{
	if (s->work->overlap || upto <= s->writes_seen)
		return;
	check_written(s, s->writes_seen, upto);
	s->writes_seen = upto;
}

/*
 * Checks reads and atomics before the fenced operation `upto` of side s: they completed before it
 * left.
 */
static void check_reads(const struct stack_side *s, unsigned int upto)
{
	for (unsigned int i = 0; i < upto; i++) {
		const struct stack_op *op = &s->ops[i];

		if ((stack_op_is_atomic(op) ||
		     (op->opcode == IW_WR_RDMA_READ && !s->work->mutating)) &&
		    !op->bad)
			check(!memcmp(s->sink + op->local, s->model_sink + op->local, op->len));
	}
}

/*
 * A receive of the SRQ completed, or was flushed. Copies its bytes to the side's own memory, where
 * the model has them.
 */
static void take_shared(struct stack_side *s, const struct iw_cqe *cqe)
{
	struct stack_node *n = s->node;
	unsigned int slot = s->recvs_done % s->recv_slots;

	check(cqe->wr_id < n->srq_slots && cqe->qp_num == s->qp->num);
	for (unsigned int i = 0; i < n->n_srq_free; i++)
		check(n->srq_free[i] != cqe->wr_id);
	n->srq_free[n->n_srq_free++] = (unsigned int)cqe->wr_id;
	if (cqe->status == IW_WC_SUCCESS && !(cqe->flags & IW_WC_WITH_IMM))
		memcpy(s->recv + slot * STACK_RECV, n->srq_recv + cqe->wr_id * STACK_RECV,
		       cqe->byte_len);
}

static void completed_recv(struct stack_side *s, const struct iw_cqe *cqe)
{
	const struct stack_side *peer = stack_peer(s);
	unsigned int slot = s->recvs_done % s->recv_slots;

	if (s->shares)
		take_shared(s, cqe);
	else
		check(cqe->wr_id == s->recvs_done);
	if (cqe->status != IW_WC_SUCCESS) {
		check(s->work->ends && cqe->status == IW_WC_WR_FLUSH_ERR);
		s->rq_failed = true;
		if (s->shares)
			return;
	} else {
		check(!s->rq_failed);
		if (peer->node) {
			const struct stack_op *op;

			check(s->recvs_done < peer->sends);
			op = &peer->ops[peer->send_op[s->recvs_done]];
			check(cqe->byte_len == op->len);
			check(cqe->opcode ==
			      (stack_op_is_write(op) ? IW_WC_RECV_RDMA_WITH_IMM : IW_WC_RECV));
			check(cqe->flags == (op->opcode == IW_WR_SEND ? 0 : IW_WC_WITH_IMM));
			if (op->opcode == IW_WR_SEND)
				check(is_of(peer, s->recv + slot * STACK_RECV, op->local, op->len));
			else
				check(cqe->imm_data == op->imm);
			/* A Write with immediate data is included. */
			check_writes(s, peer->send_op[s->recvs_done] + 1);
			if (op->fence)
				check_reads(peer, peer->send_op[s->recvs_done]);
		}
	}
	s->recvs_done++;
}

/* Returns the number of completed receives of s, whether or not polled. */
static unsigned int received(const struct stack_side *s)
{
	unsigned int n = s->recvs_done;

	for (uint32_t i = 0; i < iw_cq_count(s->recv_cq); i++) {
		const struct iw_cqe *cqe = &s->recv_cq->ring[iw_cq_slot(s->recv_cq, i)];

		n += cqe->opcode >= IW_WC_RECV && cqe->qp_num == s->qp->num;
	}
	return n;
}

/*
 * Checks the guarantee of a success. The bytes of this Write and of all earlier Writes are in the
 * peer's memory now, and earlier Sends are in completed receives.
 */
static void check_promise(const struct stack_side *s)
{
	struct stack_side *peer = stack_peer(s);
	unsigned int sends = 0;

	if (!peer->node || !peer->qp || !peer->node->receipts || !s->node->receipts)
		return;
	check_writes(peer, s->completed + 1);
	while (sends < s->sends && s->send_op[sends] <= s->completed)
		sends++;
	check(received(peer) >= sends);
}

static void completed_send(struct stack_side *s, const struct iw_cqe *cqe)
{
	static const uint8_t opcodes[] = {
		[IW_WR_SEND] = IW_WC_SEND,
		[IW_WR_RDMA_WRITE] = IW_WC_RDMA_WRITE,
		[IW_WR_RDMA_READ] = IW_WC_RDMA_READ,
		[IW_WR_SEND_WITH_IMM] = IW_WC_SEND,
		[IW_WR_RDMA_WRITE_WITH_IMM] = IW_WC_RDMA_WRITE,
		[IW_WR_ATOMIC_CMP_AND_SWP] = IW_WC_COMP_SWAP,
		[IW_WR_ATOMIC_FETCH_AND_ADD] = IW_WC_FETCH_ADD,
	};
	const struct stack_op *op = s->work->bulk ? NULL : &s->ops[s->completed];

	check(cqe->wr_id == s->completed && s->completed < s->posted);
	if (cqe->status != IW_WC_SUCCESS) {
		/* At most one request fails by itself; the others are flushed. */
		check(s->work->ends);
		if (cqe->status != IW_WC_WR_FLUSH_ERR) {
			check(!s->blamed);
			s->blamed = true;
		}
		s->sq_failed = true;
	} else if (op) {
		const struct stack_side *peer = stack_peer(s);

		check(!s->sq_failed);
		check_promise(s);
		check(cqe->opcode == opcodes[op->opcode] && cqe->byte_len == op->len);
		if (stack_op_is_atomic(op) && peer->node && !op->bad)
			check(!memcmp(s->sink + op->local, s->model_sink + op->local, 8));
		if (op->opcode == IW_WR_RDMA_READ && peer->node && !op->bad) {
			if (!s->work->mutating)
				check(!memcmp(s->sink + op->local, s->model_sink + op->local,
					      op->len));
			else if (!op->back)
				check(is_of(peer, s->sink + op->local, op->remote, op->len));
		}
	}
	s->completed++;
}

/*
 * Polls the CQ that all XRC_RECVs of the node share. Receives of other sides are returned to their
 * SRQ.
 */
static void poll_xrc(struct stack_node *n, const struct stack_side *dropped)
{
	struct iw_cqe cqe;

	while (iw_cq_poll(n->xrc_cq, 1, &cqe)) {
		struct stack_side *s = stack_xrc_side(n, cqe.qp_num);

		if (!s || s == dropped)
			n->srq_free[n->n_srq_free++] = (unsigned int)cqe.wr_id;
		else
			completed_recv(s, &cqe);
	}
}

static void poll(struct stack_side *s)
{
	struct iw_cqe cqe;

	if (s->recv_cq != s->cq)
		poll_xrc(s->node, NULL);
	while (s->link.phase != STACK_LEAVING && iw_cq_poll(s->cq, 1, &cqe)) {
		if (cqe.status != IW_WC_SUCCESS && s->work->breaks) {
			s->link.phase = STACK_LEAVING;
			s->link.at = TIME_NEVER;
		} else if (cqe.opcode >= IW_WC_RECV) {
			completed_recv(s, &cqe);
		} else {
			completed_send(s, &cqe);
		}
	}
}

/* Loops until nothing more can be posted: a posted request may complete immediately. */
void stack_application(struct stack_side *s)
{
	enum iw_qp_state state;
	bool any;

	/* Completions of a failed attempt to connect are ignored. */
	if (s->work->retry_at || s->link.phase == STACK_LEAVING)
		return;
	do {
		poll(s);
		if (s->link.phase == STACK_LEAVING)
			return;
		any = false;
		state = stack_qp_state(s);
		if (state == IW_QPS_ERR || (state == IW_QPS_RTS && !s->hold))
			any = post(s, state);
		if (s->shares)
			stack_srq_post(s->node);
		else if (!s->qp->to_srqs &&
			 (state == IW_QPS_ERR ? !s->recvs_posted : !s->hold_recvs))
			any |= post_recvs(s);
		if (any)
			conn_doorbell(&s->node->conn, &s->qp->doorbell);
	} while (any);
	if (s->work->oob && (s->completed || s->recvs_done))
		s->up = true;
}

bool stack_work_done(const struct stack_work *work)
{
	for (int i = 0; i < 2; i++) {
		const struct stack_side *s = &work->side[i];

		if (s->completed < s->n_ops || s->recvs_done < stack_peer(s)->sends)
			return false;
	}
	return true;
}

bool stack_all_done(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (!w->works[i]->ends && !w->works[i]->bulk && !stack_work_done(w->works[i]))
			return false;
	return true;
}

static bool side_over(const struct stack_side *s)
{
	if (!s->node)
		return true;
	return stack_qp_state(s) == IW_QPS_ERR && s->completed == s->posted &&
	       (s->work->bulk || s->posted == s->n_ops) &&
	       (s->shares || s->recvs_done == s->recvs_posted);
}

bool stack_work_over(const struct stack_work *work)
{
	return side_over(&work->side[0]) && side_over(&work->side[1]);
}

bool stack_works_over(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (w->works[i]->ends && !stack_work_over(w->works[i]))
			return false;
	return true;
}

/* True if each byte is unchanged or the model's, as not all requests may have arrived. */
static bool is_part_of(const uint8_t *memory, const uint8_t *model, size_t len)
{
	const size_t block = 4096;

	for (size_t at = 0; at < len; at += block) {
		size_t end = at + block < len ? at + block : len;

		if (!memcmp(memory + at, model + at, end - at))
			continue;
		for (size_t i = at; i < end; i++)
			if (memory[i] && memory[i] != model[i])
				return false;
	}
	return true;
}

void stack_work_check(struct stack_work *work)
{
	for (int i = 0; i < 2; i++) {
		struct stack_side *s = &work->side[i];

		if (!s->node || work->bulk)
			continue;
		if (!work->overlap && stack_peer(s)->node)
			check_written(s, 0, s->writes_seen);
		if (work->mutating)
			continue;
		if (work->ends) {
			check(is_part_of(s->sink, s->model_sink, STACK_SINK));
		} else {
			check(stack_work_done(work));
			check(!memcmp(s->sink, s->model_sink, STACK_SINK));
			check(!memcmp(s->recv, s->model_recv, s->recv_slots * STACK_RECV));
			check(!memcmp(s->words, s->model_words, sizeof(s->words)));
		}
	}
}
