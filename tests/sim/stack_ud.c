/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/stack_ud.h"

#include "conn/pace.h"
#include "util/bytes.h"

#define EDGE 32 /* bytes around a receive */
#define SLOT (EDGE + STACK_UD_GRH + STACK_UD_ROOM + EDGE)
#define MEMORY ((size_t)STACK_UD_RECEIVES * SLOT)

static void post_receive(struct stack_ud *u, uint64_t slot)
{
	struct iw_recv_wqe *wqe = iw_rq_slot(u->qp);
	uint8_t *at = u->mem + slot * SLOT + EDGE;

	check(wqe);
	memset(at, STACK_UD_PATTERN, STACK_UD_GRH + STACK_UD_ROOM);
	wqe->wr_id = slot;
	wqe->num_sge = 1;
	wqe->length = STACK_UD_GRH + STACK_UD_ROOM;
	wqe->sge[0] = (struct iw_sge){ .addr = (uintptr_t)at,
				       .length = STACK_UD_GRH + STACK_UD_ROOM,
				       .lkey = iw_mr_stag(u->mr) };
	iw_rq_publish(u->qp);
}

void stack_ud_open(struct stack_ud *u, struct stack_node *n, uint32_t qkey)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .pd = n->pd,
				   .max_send_wr = 16,
				   .max_recv_wr = STACK_UD_RECEIVES,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };

	u->node = n;
	u->qkey = qkey;
	u->cq = iw_cq_new(n->iw, 256, NULL);
	u->send_cq = iw_cq_new(n->iw, 16, NULL);
	u->mem = malloc(MEMORY);
	u->out = malloc(STACK_UD_ROOM);
	assert_true(u->cq && u->send_cq && u->mem && u->out);
	memset(u->mem, STACK_UD_PATTERN, MEMORY);
	check(!iw_mr_new(n->pd, (uintptr_t)u->mem, MEMORY, (uintptr_t)u->mem, IW_ACCESS_LOCAL_WRITE,
			 NULL, &u->mr));
	check(!iw_mr_new(n->pd, (uintptr_t)u->out, STACK_UD_ROOM, (uintptr_t)u->out, 0, NULL,
			 &u->out_mr));
	attr.send_cq = u->send_cq;
	attr.recv_cq = u->cq;
	check(!qp_num_get(&n->conn, &attr.num));
	check(!iw_qp_new(n->iw, &attr, &u->qp));
	iw_ud_set_qkey(u->qp, qkey);
	check(!iw_qp_modify(u->qp, IW_QPS_INIT));
	for (uint32_t slot = 0; slot < STACK_UD_RECEIVES; slot++)
		post_receive(u, slot);
	check(!datagram_start(&n->conn, u->qp));
	check(!iw_qp_modify(u->qp, IW_QPS_RTR) && !iw_qp_modify(u->qp, IW_QPS_RTS));
}

void stack_ud_close(struct stack_ud *u)
{
	uint32_t num = u->qp->num;

	check(!iw_qp_modify(u->qp, IW_QPS_RESET));
	iw_qp_free(u->qp);
	qp_num_put(&u->node->conn, num);
	iw_mr_free(u->mr);
	iw_mr_free(u->out_mr);
	check(!iw_cq_free(u->cq) && !iw_cq_free(u->send_cq));
	free(u->mem);
	free(u->out);
}

static uint8_t byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 31 + at);
}

void stack_ud_fill(uint8_t *buf, const struct stack_ud_message *m)
{
	put_be32(buf, m->number);
	for (uint32_t i = STACK_UD_HEAD; i < m->len; i++)
		buf[i] = byte_of(m->number, i);
}

void stack_ud_send(struct stack_ud *u, const struct iw_ud_dest *dest,
		   const struct stack_ud_message *m)
{
	struct iw_send_wqe *wqe = iw_sq_slot(u->qp);
	uint64_t begin = u->node->w->now;
	struct iw_cqe cqe;

	check(wqe);
	stack_ud_fill(u->out, m);
	*wqe = (struct iw_send_wqe){ .wr_id = m->number,
				     .opcode = m->with_imm ? IW_WR_SEND_WITH_IMM : IW_WR_SEND,
				     .flags = IW_SEND_SIGNALED,
				     .num_sge = 1,
				     .length = m->len };
	put_be32((uint8_t *)&wqe->imm_data, m->imm);
	wqe->sge[0] = (struct iw_sge){ .addr = (uintptr_t)u->out,
				       .length = m->len,
				       .lkey = iw_mr_stag(u->out_mr) };
	*iw_ud_dest(u->qp, wqe) = *dest;
	iw_sq_publish(u->qp);
	iw_doorbell_serve(&u->qp->doorbell);
	conn_output(&u->node->conn);
	while (iw_cq_poll(u->send_cq, 1, &cqe) != 1) {
		check(u->node->w->now - begin <= PACE_PATIENCE + PACE_RETRY);
		stack_run_for(u->node->w, PACE_RETRY);
	}
	check(cqe.opcode == IW_WC_SEND && !cqe.status && cqe.wr_id == m->number);
}

bool stack_ud_poll(struct stack_ud *u, struct iw_cqe *cqe, const uint8_t **at)
{
	if (iw_cq_poll(u->cq, 1, cqe) != 1)
		return false;
	check(!cqe->status && cqe->opcode == IW_WC_RECV && cqe->wr_id < STACK_UD_RECEIVES);
	*at = u->mem + cqe->wr_id * SLOT + EDGE;
	return true;
}

void stack_ud_check(const struct iw_cqe *cqe, const uint8_t *at, const struct stack_ud_message *m)
{
	check(cqe->byte_len == STACK_UD_GRH + m->len);
	check(!(cqe->flags & IW_WC_WITH_IMM) == !m->with_imm);
	check(!m->with_imm || get_be32((const uint8_t *)&cqe->imm_data) == m->imm);
	for (uint32_t i = 0; i < STACK_UD_GRH / 2; i++)
		check(at[i] == STACK_UD_PATTERN);
	at += STACK_UD_GRH;
	check(get_be32(at) == m->number);
	for (uint32_t i = STACK_UD_HEAD; i < m->len; i++)
		check(at[i] == byte_of(m->number, i));
	for (uint32_t i = m->len; i < STACK_UD_ROOM; i++)
		check(at[i] == STACK_UD_PATTERN);
}

void stack_ud_again(struct stack_ud *u, const struct iw_cqe *cqe)
{
	post_receive(u, cqe->wr_id);
}

void stack_ud_check_edges(const struct stack_ud *u)
{
	for (uint32_t slot = 0; slot < STACK_UD_RECEIVES; slot++) {
		const uint8_t *at = u->mem + (size_t)slot * SLOT;

		for (uint32_t i = 0; i < EDGE; i++)
			check(at[i] == STACK_UD_PATTERN && at[SLOT - 1 - i] == STACK_UD_PATTERN);
	}
}
