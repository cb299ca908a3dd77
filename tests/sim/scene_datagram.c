/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs of two nodes on bad networks, and RDMA CM ids that request them. A message arrives
 * whole, in a receive of its destination QP, and not more often than the network has copied it. A
 * message with a wrong Q_Key or number never arrives. A request is answered once, as the server's
 * application decided.
 */
#include "conn/cm.h"
#include "sim/scene.h"
#include "sim/stack_ud.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

#define UDS 2 /* of a node */
#define MESSAGES 400
#define QKEY 0x2000u /* plus the index of the QP */
#define PORT 7100    /* of a listening server */
#define ASKERS 6

struct message {
	struct stack_ud_message what;
	struct iw_qp *to, *from;
	bool wrong;
	unsigned int arrived;
};

struct exchange {
	struct stack_ud ud[2 * UDS];
	struct message message[MESSAGES];
	unsigned int n;
	uint64_t received;
	unsigned int copies; /* maximum of one message */
};

/* ---- messages ---- */

/* Posts the next message, and checks that it leaves. */
static void send_one(struct stack_world *w, struct exchange *d)
{
	unsigned int from = below(w, 2 * UDS);
	struct stack_ud *u = &d->ud[from];
	struct stack_ud *to = &d->ud[from < UDS ? UDS + below(w, UDS) : below(w, UDS)];
	struct message *m = &d->message[d->n];
	struct iw_ud_dest dest = { .local = u->node->addr, .remote = to->node->addr };

	*m = (struct message){ .to = to->qp, .from = u->qp };
	m->what.number = d->n;
	m->what.with_imm = chance(w, 0.3);
	m->what.len =
		STACK_UD_HEAD + below(w, chance(w, 0.2) ? STACK_UD_ROOM - STACK_UD_HEAD + 1 : 1200);
	m->what.imm = m->what.with_imm ? 0xabc00000 + d->n : 0;
	m->wrong = chance(w, 0.1);
	dest.qp_num = to->qp->num;
	dest.qkey = to->qkey;
	if (m->wrong && chance(w, 0.5))
		dest.qkey ^= 1u << below(w, 31);
	else if (m->wrong)
		dest.qp_num ^= 0x40;
	d->n++;
	stack_ud_send(u, &dest, &m->what);
}

static void take_one(struct exchange *d, struct stack_ud *u, const struct iw_cqe *cqe,
		     const uint8_t *at)
{
	uint32_t number = get_be32(at + STACK_UD_GRH);
	struct message *m;

	check(number < d->n);
	m = &d->message[number];
	check(!m->wrong && m->to == u->qp && cqe->src_qp == m->from->num);
	stack_ud_check(cqe, at, &m->what);
	check(++m->arrived <= d->copies);
	d->received++;
	stack_ud_again(u, cqe);
}

static void take_all(struct exchange *d)
{
	const uint8_t *at;
	struct iw_cqe cqe;

	for (unsigned int i = 0; i < 2 * UDS; i++) {
		while (stack_ud_poll(&d->ud[i], &cqe, &at))
			take_one(d, &d->ud[i], &cqe, at);
		stack_ud_check_edges(&d->ud[i]);
	}
}

/*
 * Opens the QPs of an exchange. Ports are never full, and no two datagrams wait for one address, so
 * that sends leave immediately.
 */
static struct exchange *exchange_open(struct stack_world *w)
{
	struct exchange *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	for (unsigned int i = 0; i < 2; i++) {
		w->nodes[i]->net.full = 0;
		for (unsigned int k = 0; k < UDS; k++)
			stack_ud_open(&d->ud[i * UDS + k], w->nodes[i], QKEY + k);
	}
	d->copies = 1;
	for (unsigned int i = 0; i < 2; i++)
		if (simnet_may(&w->link[i], FAULT_DO_duplicate))
			d->copies = 2;
	return d;
}

static void exchange_close(struct exchange *d)
{
	for (unsigned int i = 0; i < 2 * UDS; i++)
		stack_ud_close(&d->ud[i]);
	free(d);
}

/* UD messages besides connections of other QPs, which get all their messages. */
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
	/* A lossless network delivers all messages, as receives exist. */
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
	bool refused; /* the client got a rejection */
	bool lost;    /* the client got no answer */
	bool established;
};

/* The server decides on a request. Its private data is the number of the asker. */
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
		check(!cm_reject(id, 0, param.private_data, 2));
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
	check(ev->param.private_data_len == CM_PRIVATE_SIDR_REP &&
	      ev->param.private_data[0] == ev->uid);
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
	/* In one of thousands of runs, all nine attempts of a request are lost. */
	check(lost <= 1);
	cm_id_free(listener);
	scene_finish(w, SEC);
}

const struct scene scenes_datagram[] = {
	{ "ud", ud, 30, false, 0, true },
	{ "requests", requests, 30, false, 0, true },
	{ 0 },
};
