/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs of two nodes on bad networks, and RDMA CM ids that ask for them. A message arrives whole, in a
 * receive of the QP that it is for, and no more often than the network has copied it; those with a wrong Q_Key or
 * number never do. A request is answered once, as the server's application has decided.
 */
#include "conn/cm.h"
#include "sim/scene.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

#define UDS 2	    /* of a node */
#define RECEIVES 16 /* of a QP */
#define EDGE 32	    /* bytes around a receive */
#define GRH 40
#define ROOM 4096
#define SLOT (EDGE + GRH + ROOM + EDGE)
#define MESSAGES 400
#define HEAD 4 /* the number of the message stands in front of its payload */
#define PATTERN 0xa5
#define QKEY 0x2000u /* and the index of the QP */
#define PORT 7100    /* where a server listens */
#define ASKERS 6

struct message {
	struct iw_qp *to, *from;
	uint32_t len, imm;
	bool wrong, with_imm;
	unsigned int arrived;
};

struct ud {
	struct stack_node *node;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_mr *mr, *out_mr;
	uint8_t *mem, *out;
	uint32_t qkey;
};

struct exchange {
	struct ud ud[2 * UDS];
	struct message message[MESSAGES];
	unsigned int n, sent;
	uint64_t received;
	unsigned int copies; /* of one message at most */
};

static uint8_t byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 31 + at);
}

static void post_receive(struct ud *u, uint32_t slot)
{
	struct iw_recv_wqe *wqe = iw_rq_slot(u->qp);
	uint8_t *at = u->mem + (size_t)slot * SLOT + EDGE;

	check(wqe);
	memset(at, PATTERN, GRH + ROOM);
	wqe->wr_id = slot;
	wqe->num_sge = 1;
	wqe->length = GRH + ROOM;
	wqe->sge[0] = (struct iw_sge){ .addr = (uintptr_t)at,
				       .length = GRH + ROOM,
				       .lkey = iw_mr_stag(u->mr) };
	iw_rq_publish(u->qp);
}

static void ud_open(struct stack_node *n, struct ud *u, unsigned int i)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .pd = n->pd,
				   .max_send_wr = 16,
				   .max_recv_wr = RECEIVES,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };

	u->node = n;
	u->qkey = QKEY + i;
	u->cq = iw_cq_new(n->rnic, 256, NULL);
	u->mem = malloc((size_t)RECEIVES * SLOT);
	u->out = malloc(ROOM);
	assert_true(u->cq && u->mem && u->out);
	memset(u->mem, PATTERN, (size_t)RECEIVES * SLOT);
	check(!iw_mr_new(n->pd, (uintptr_t)u->mem, (size_t)RECEIVES * SLOT, (uintptr_t)u->mem,
			 IW_ACCESS_LOCAL_WRITE, NULL, &u->mr));
	check(!iw_mr_new(n->pd, (uintptr_t)u->out, ROOM, (uintptr_t)u->out, 0, NULL, &u->out_mr));
	attr.send_cq = attr.recv_cq = u->cq;
	check(!qp_num_get(&n->conn, &attr.num));
	check(!iw_qp_new(n->rnic, &attr, &u->qp));
	iw_ud_set_qkey(u->qp, u->qkey);
	check(!iw_qp_modify(u->qp, IW_QPS_INIT));
	for (uint32_t slot = 0; slot < RECEIVES; slot++)
		post_receive(u, slot);
	check(!datagram_start(&n->conn, u->qp));
	check(!iw_qp_modify(u->qp, IW_QPS_RTR) && !iw_qp_modify(u->qp, IW_QPS_RTS));
}

static void ud_close(struct ud *u)
{
	uint32_t num = u->qp->num;

	check(!iw_qp_modify(u->qp, IW_QPS_RESET));
	iw_qp_free(u->qp);
	qp_num_put(&u->node->conn, num);
	iw_mr_free(u->mr);
	iw_mr_free(u->out_mr);
	check(!iw_cq_free(u->cq));
	free(u->mem);
	free(u->out);
}

/* ---- messages ---- */

/* Posts the next message, and sees it leave. */
static void send_one(struct stack_world *w, struct exchange *d)
{
	unsigned int from = below(w, 2 * UDS);
	struct ud *u = &d->ud[from], *to = &d->ud[from < UDS ? UDS + below(w, UDS) : below(w, UDS)];
	struct message *m = &d->message[d->n];
	struct iw_send_wqe *wqe = iw_sq_slot(u->qp);
	struct iw_ud_dest dest = { .local = u->node->addr, .remote = to->node->addr };
	struct iw_cqe cqe;

	*m = (struct message){ .to = to->qp, .from = u->qp, .with_imm = chance(w, 0.3) };
	m->len = HEAD + below(w, chance(w, 0.2) ? ROOM - HEAD + 1 : 1200);
	m->imm = m->with_imm ? 0xabc00000 + d->n : 0;
	m->wrong = chance(w, 0.1);
	dest.qp_num = to->qp->num;
	dest.qkey = to->qkey;
	if (m->wrong && chance(w, 0.5))
		dest.qkey ^= 1u << below(w, 31);
	else if (m->wrong)
		dest.qp_num ^= 0x40;
	put_be32(u->out, d->n);
	for (uint32_t i = HEAD; i < m->len; i++)
		u->out[i] = byte_of(d->n, i);
	check(wqe);
	*wqe = (struct iw_send_wqe){ .wr_id = d->n++,
				     .opcode = m->with_imm ? IW_WR_SEND_WITH_IMM : IW_WR_SEND,
				     .flags = IW_SEND_SIGNALED,
				     .num_sge = 1,
				     .length = m->len };
	put_be32((uint8_t *)&wqe->imm_data, m->imm);
	wqe->sge[0] = (struct iw_sge){ .addr = (uintptr_t)u->out,
				       .length = m->len,
				       .lkey = iw_mr_stag(u->out_mr) };
	*iw_ud_dest(u->qp, wqe) = dest;
	iw_sq_publish(u->qp);
	iw_doorbell_serve(&u->qp->doorbell);
	conn_output(&u->node->conn);
	/* It is complete when it has left; what comes meanwhile is a packet of later. */
	check(iw_cq_poll(u->cq, 1, &cqe) == 1);
	check(cqe.opcode == IW_WC_SEND && !cqe.status && cqe.wr_id == d->n - 1);
}

static void check_edges(const struct ud *u)
{
	for (uint32_t slot = 0; slot < RECEIVES; slot++) {
		const uint8_t *at = u->mem + (size_t)slot * SLOT;

		for (uint32_t i = 0; i < EDGE; i++)
			check(at[i] == PATTERN && at[SLOT - 1 - i] == PATTERN);
	}
}

static void take_one(struct exchange *d, struct ud *u, const struct iw_cqe *cqe)
{
	const uint8_t *at = u->mem + cqe->wr_id * SLOT + EDGE;
	uint32_t number = get_be32(at + GRH);
	struct message *m;

	check(!cqe->status && cqe->opcode == IW_WC_RECV && number < d->n);
	m = &d->message[number];
	check(!m->wrong && m->to == u->qp && cqe->src_qp == m->from->num);
	check(cqe->byte_len == GRH + m->len);
	check(!(cqe->flags & IW_WC_WITH_IMM) == !m->with_imm);
	check(!m->with_imm || get_be32((const uint8_t *)&cqe->imm_data) == m->imm);
	for (uint32_t i = 0; i < GRH / 2; i++)
		check(at[i] == PATTERN);
	for (uint32_t i = HEAD; i < m->len; i++)
		check(at[GRH + i] == byte_of(number, i));
	for (uint32_t i = m->len; i < ROOM; i++)
		check(at[GRH + i] == PATTERN);
	check(++m->arrived <= d->copies);
	d->received++;
	post_receive(u, (uint32_t)cqe->wr_id);
}

static void take_all(struct exchange *d)
{
	struct iw_cqe cqe;

	for (unsigned int i = 0; i < 2 * UDS; i++) {
		while (iw_cq_poll(d->ud[i].cq, 1, &cqe) == 1)
			take_one(d, &d->ud[i], &cqe);
		check_edges(&d->ud[i]);
	}
}

/* No two datagrams wait for one address, or the port is full: then sends do not leave at once. */
static struct exchange *exchange_open(struct stack_world *w)
{
	struct exchange *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	for (unsigned int i = 0; i < 2; i++) {
		w->nodes[i]->net.full = 0;
		for (unsigned int k = 0; k < UDS; k++)
			ud_open(w->nodes[i], &d->ud[i * UDS + k], k);
	}
	d->copies = w->link[0].duplicate || w->link[1].duplicate ? 2 : 1;
	return d;
}

static void exchange_close(struct exchange *d)
{
	for (unsigned int i = 0; i < 2 * UDS; i++)
		ud_close(&d->ud[i]);
	free(d);
}

/* Beside connections of other QPs, which get all that they send. */
static void ud(struct stack_world *w)
{
	struct exchange *d;
	bool bad = chance(w, 0.8);
	unsigned int right = 0;

	scene_two_nodes(w);
	for (int i = 0; bad && i < 2; i++)
		scene_some_link(w, &w->link[i]);
	scene_start(w);
	if (bad)
		scene_works(w, below(w, 3));
	d = exchange_open(w);
	while (d->n < MESSAGES) {
		send_one(w, d);
		stack_run_for(w, bad ? some_ms(w, 0, 2) : 12 * MSEC);
		take_all(d);
	}
	stack_run_for(w, SEC);
	take_all(d);
	for (unsigned int i = 0; i < MESSAGES; i++)
		right += !d->message[i].wrong;
	/* A network that loses nothing delivers all, as there are receives. */
	check(bad || d->received == right);
	w->seen += d->received > MESSAGES / 2;
	scene_finish(w, 1000 * SEC);
	exchange_close(d);
}

/* ---- requests ---- */

struct asker {
	struct cm_id *id;
	bool decided, accepted; /* by the server's application */
	unsigned int requests, ends;
	bool refused; /* the client was told that it is rejected */
	bool lost;    /* or that nobody answers */
	bool established;
};

/* The server decides on a request, whose private data is the number of the asker. */
static void decide(struct stack_world *w, struct asker *a, struct stack_node *n,
		   const struct rnic_cm_event *ev)
{
	struct cm_id *id = cm_id_get(&n->conn, ev->id);
	unsigned int who = ev->param.private_data[0];
	struct rnic_conn_param param = { .qp_num = 0x1234, .private_data_len = 2 };

	check(id && ev->event == CM_EVENT_CONNECT_REQUEST && ev->datagram && who < ASKERS);
	check(++a[who].requests == 1);
	a[who].decided = true;
	a[who].accepted = chance(w, 0.7);
	param.private_data[0] = (uint8_t)who;
	param.private_data[1] = 0x77;
	if (a[who].accepted)
		check(!cm_accept(id, &param, false, 0));
	else
		check(!cm_reject(id, param.private_data, 2));
	cm_id_free(id);
}

static void hear(struct asker *a, const struct rnic_cm_event *ev)
{
	struct asker *me = &a[ev->uid];

	if (ev->event == CM_EVENT_ADDR_RESOLVED || ev->event == CM_EVENT_ROUTE_RESOLVED)
		return;
	check(++me->ends == 1);
	if (ev->event == CM_EVENT_ESTABLISHED) {
		me->established = true;
		check(me->accepted && ev->param.qp_num == 0x1234 && ev->param.qkey == 0x01234567);
	} else {
		check(ev->event == CM_EVENT_UNREACHABLE);
		me->refused = ev->status > 0;
		me->lost = !me->refused;
		check(!me->refused || (me->decided && !me->accepted));
		check(me->refused || ev->status == -ETIMEDOUT);
	}
	if (me->lost)
		return;
	check(ev->param.private_data_len == 2 && ev->param.private_data[0] == ev->uid);
	check(ev->param.private_data[1] == 0x77);
}

static void ask(struct stack_world *w, struct asker *a, unsigned int i, struct rnic_channel *chan)
{
	struct stack_node *n = w->nodes[0];
	struct rnic_conn_param param = { .qp_num = 1, .private_data_len = 1 };
	struct sockaddr_storage to;

	param.private_data[0] = (uint8_t)i;
	sockaddr_make(&to, AF_INET, &w->nodes[1]->addr, PORT);
	a[i].id = cm_id_new(&n->conn, chan, i);
	check(a[i].id);
	check(!cm_resolve_addr(a[i].id, NULL, (struct sockaddr *)&to));
	check(!cm_resolve_route(a[i].id));
	check(!cm_connect(a[i].id, &param));
}

static struct cm_id *listen_at(struct stack_node *n, struct rnic_channel *chan)
{
	struct cm_id *id = cm_id_new(&n->conn, chan, 0);
	struct sockaddr_storage at;

	check(id);
	sockaddr_make(&at, AF_INET, &n->addr, PORT);
	check(!cm_bind(id, (struct sockaddr *)&at) && !cm_listen(id, ASKERS));
	return id;
}

static void requests(struct stack_world *w)
{
	struct rnic_channel here, there;
	struct asker a[ASKERS] = { 0 };
	struct rnic_cm_event ev;
	struct cm_id *listener;
	unsigned int lost = 0;
	uint64_t until;

	scene_two_nodes(w);
	for (int i = 0; i < 2; i++) {
		w->nodes[i]->config.personality = CONFIG_ROCE;
		scene_some_link(w, &w->link[i]);
	}
	scene_start(w);
	here = there = (struct rnic_channel){ .n = 0 };
	list_init(&here.events);
	list_init(&there.events);
	listener = listen_at(w->nodes[1], &there);
	for (unsigned int i = 0; i < ASKERS; i++)
		ask(w, a, i, &here);
	until = w->now + 60 * SEC;
	while (w->now < until) {
		stack_run_for(w, 50 * MSEC);
		while (stack_channel_read(w->nodes[0], &here, &ev))
			hear(a, &ev);
		while (chance(w, 0.3) && stack_channel_read(w->nodes[1], &there, &ev))
			decide(w, a, w->nodes[1], &ev);
	}
	for (unsigned int i = 0; i < ASKERS; i++) {
		check(a[i].ends == 1);
		lost += a[i].lost;
		w->seen += a[i].established;
		cm_id_free(a[i].id);
	}
	/* All nine tries of one may be lost, once in thousands of runs. */
	check(lost <= 1);
	cm_id_free(listener);
	scene_finish(w, SEC);
}

const struct scene scenes_datagram[] = {
	{ "ud", ud, 30, false, 0, true },
	{ "requests", requests, 30, false, 0, true },
	{ 0 },
};
