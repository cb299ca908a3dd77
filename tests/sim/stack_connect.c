/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Applications of works, while they connect: RDMA CM ids on side 0 connect to the listener of the
 * other node, or both sides connect their QPs out of band. After an unexpected failure the work
 * begins again with new ids, like an application that retries.
 */
#include "sim/stack.h"
#include "util/sockaddr.h"

#define DEPTH 4		  /* IRD and ORD */
#define ATTEMPTS_MAX 1000 /* of one work: more is a failure */
#define LISTENER_UID 0

static struct sim_random *random_of(const struct stack_side *s)
{
	return &s->work->w->random;
}

static bool is_active(const struct stack_side *s)
{
	return s == &s->work->side[0];
}

/* Returns the uid of the side's id. */
static uint64_t uid_of(const struct stack_side *s)
{
	return 1 + 2u * s->work->number + !is_active(s);
}

static struct stack_side *side_of(struct stack_world *w, uint64_t uid)
{
	check(uid != LISTENER_UID && (uid - 1) / 2 < w->n_works);
	return &w->works[(uid - 1) / 2]->side[(uid - 1) % 2];
}

/* True if the connection may end, or fail, now. */
static bool may_end(const struct stack_work *work)
{
	return work->ends || work->retry_at;
}

/* ---- restarts ---- */

void stack_side_destroy_id(struct stack_side *s)
{
	struct stack_link *l = &s->link;
	struct cm_id *id;

	if (!l->id)
		return;
	id = cm_id_get(&s->node->conn, l->id);
	check(id);
	check(cm_id_free(id) == l->n_heard);
	l->id = 0;
}

void stack_work_again(struct stack_work *work, uint64_t pause)
{
	if (!work->retry_at)
		work->retry_at = work->w->now + pause + 1;
}

static void begin_anew(struct stack_work *work)
{
	check(++work->attempt < ATTEMPTS_MAX);
	work->retry_at = 0;
	for (int i = 0; i < 2; i++) {
		struct stack_side *s = &work->side[i];

		if (!s->node)
			continue;
		stack_side_destroy_id(s);
		stack_side_reset(s);
		stack_side_clear(s);
		s->link = (struct stack_link){ .at = work->w->now + 1 };
	}
}

static void failed(struct stack_side *s, uint32_t event, int status)
{
	s->link.phase = STACK_FAILED;
	s->link.failure = event;
	s->link.status = status;
	if (!s->work->ends) {
		stack_work_again(s->work, (10 + sim_random_below(random_of(s), 300)) * MSEC);
		return;
	}
	s->closed = true;
	iw_qp_modify(s->qp, IW_QPS_ERR);
}

/* ---- RDMA CM ---- */

/* Makes the local private data: its owner, and random bytes. */
static void fill_param(struct stack_side *s, struct rnic_conn_param *p)
{
	struct stack_link *l = &s->link;

	l->said_len = (uint8_t)(3 + sim_random_below(random_of(s), RNIC_PRIVATE_DATA_MAX - 2));
	l->said[0] = (uint8_t)s->work->number;
	l->said[1] = (uint8_t)s->work->attempt;
	l->said[2] = is_active(s);
	for (unsigned int i = 3; i < l->said_len; i++)
		l->said[i] = (uint8_t)sim_random_u64(random_of(s));
	*p = (struct rnic_conn_param){
		.qp_num = s->qp->num,
		.responder_resources = DEPTH,
		.initiator_depth = DEPTH,
		.rnr_retry_count = 7,
		.private_data_len = l->said_len,
	};
	memcpy(p->private_data, l->said, l->said_len);
}

static bool is_said_by(const struct stack_side *s, const struct rnic_conn_param *p)
{
	return p->private_data_len == s->link.said_len &&
	       !memcmp(p->private_data, s->link.said, s->link.said_len);
}

static struct cm_id *id_of(const struct stack_side *s)
{
	struct cm_id *id = cm_id_get(&s->node->conn, s->link.id);

	check(id);
	return id;
}

static void address(struct sockaddr_storage *to, const struct stack_node *n, uint16_t port)
{
	sockaddr_make_natural(to, &n->addr, port);
}

static struct cm_id *new_id(struct stack_node *n, uint64_t uid)
{
	struct cm_id *id = cm_id_new(&n->conn, &n->chan, uid);
	const int yes = 1;

	assert_non_null(id);
	id->connected_type = true;
	check(!cm_set_option(id, CM_OPTION_ID, CM_OPTION_ID_REUSEADDR, &yes, sizeof(yes)));
	return id;
}

/* Uses the peer's home node, which stays known while the peer's process is dead. */
static void resolve(struct stack_side *s)
{
	struct stack_node *n = s->node;
	struct stack_world *w = n->w;
	struct sockaddr_storage addr;
	struct cm_id *id = new_id(n, uid_of(s));

	s->link.id = id->handle;
	s->link.phase = STACK_ADDRESS;
	if (w->one_assoc) {
		sockaddr_any(&addr, AF_INET, STACK_CM_PORT);
		check(!cm_bind(id, (struct sockaddr *)&addr));
	}
	address(&addr, s->work->home[1], STACK_CM_PORT);
	check(!cm_resolve_addr(id, NULL, (struct sockaddr *)&addr));
}

static void connect_id(struct stack_side *s)
{
	struct rnic_conn_param p;
	int ret;

	fill_param(s, &p);
	ret = cm_connect(id_of(s), &p);
	/* All streams to the peer may be in use. */
	check(!ret || ret == -EAGAIN);
	s->link.phase = STACK_CONNECTING;
	if (ret)
		failed(s, CM_EVENT_CONNECT_ERROR, ret);
}

static void answer(struct stack_side *s)
{
	struct stack_link *l = &s->link;
	struct rnic_conn_param p;
	int ret;

	fill_param(s, &p);
	if (s->work->reject) {
		check(!cm_reject(id_of(s), 0, p.private_data, p.private_data_len));
		stack_side_destroy_id(s);
		l->phase = STACK_FAILED;
		s->closed = true;
		iw_qp_modify(s->qp, IW_QPS_ERR);
		return;
	}
	ret = cm_accept(id_of(s), &p, true, uid_of(s));
	check(!ret || ret == -ECONNRESET);
	check(ret || id_of(s)->state == CM_ACCEPTED || id_of(s)->state == CM_ESTABLISHED);
	l->phase = STACK_ACCEPTED;
	if (ret) {
		/* The peer has gone meanwhile, and may send another request. */
		stack_side_destroy_id(s);
		l->phase = STACK_IDLE;
		l->n_heard = 0;
	}
}

/* A peer that was refused before sends a plain Initiate, which has no depths (RFC 6581 10). */
static void check_depths(const struct stack_node *n, const struct rnic_conn_param *p)
{
	uint8_t depth = n->refuses && p->initiator_depth != DEPTH ? IW_MAX_IRD : DEPTH;

	check(p->initiator_depth == depth && p->responder_resources == depth);
}

/* The parameters name the peer's QP, unless one of the nodes acts as another stack. */
static void check_number(const struct stack_side *s, const struct rnic_conn_param *p)
{
	const struct stack_side *peer = stack_peer(s);

	check(p->qp_num == (s->node->receipts && peer->node->receipts ? peer->qp->num : 0));
}

static void request(struct stack_node *n, const struct rnic_cm_event *ev)
{
	const uint8_t *said = ev->param.private_data;
	struct cm_id *child = cm_id_get(&n->conn, ev->id);
	struct stack_work *work;
	struct stack_side *s;

	check(child && n->listener && ev->uid == LISTENER_UID && !ev->status);
	check(ev->param.private_data_len >= 3 && said[0] < n->w->n_works && said[2] == 1);
	work = n->w->works[said[0]];
	s = &work->side[1];
	if (s->node != n || said[1] != (uint8_t)work->attempt || s->link.phase != STACK_IDLE ||
	    work->retry_at) {
		n->stale++;
		if (sim_random_chance(&n->w->random, 0.5))
			check(!cm_reject(child, 0, NULL, 0));
		check(cm_id_free(child) == 0);
		return;
	}
	check(is_said_by(stack_peer(s), &ev->param));
	check_depths(n, &ev->param);
	check_number(s, &ev->param);
	s->link.id = ev->id;
	s->link.phase = STACK_REQUESTED;
	s->link.at = n->w->now;
	if (sim_random_chance(&n->w->random, 0.3))
		s->link.at += sim_random_below(&n->w->random, 50 * MSEC);
}

static void established(struct stack_side *s, const struct rnic_cm_event *ev)
{
	check(!ev->status);
	if (is_active(s)) {
		check(s->link.phase == STACK_CONNECTING);
		if (stack_peer(s)->node) {
			check(is_said_by(stack_peer(s), &ev->param));
			check_number(s, &ev->param);
		}
	} else {
		check(s->link.phase == STACK_ACCEPTED && !ev->param.private_data_len);
	}
	s->link.phase = STACK_CONNECTED;
	s->up = true;
}

static void refused(struct stack_side *s, const struct rnic_cm_event *ev)
{
	bool by_application = ev->event == CM_EVENT_REJECTED && ev->param.private_data_len;

	check(s->link.phase == (is_active(s) ? STACK_CONNECTING : STACK_ACCEPTED));
	check(ev->status < 0);
	/* A repeated request may have been rejected without private data. */
	if (is_active(s) && s->work->reject && ev->status == -ECONNREFUSED &&
	    stack_peer(s)->link.said_len && !stack_peer(s)->node->stale)
		check(by_application);
	if (by_application) {
		check(is_active(s) && s->work->reject && ev->status == -ECONNREFUSED);
		check(is_said_by(stack_peer(s), &ev->param));
		s->closed = true;
	}
	failed(s, ev->event, ev->status);
	if (by_application) {
		s->work->retry_at = 0;
		iw_qp_modify(s->qp, IW_QPS_ERR);
	}
}

static void disconnected(struct stack_side *s, const struct rnic_cm_event *ev)
{
	check(s->link.phase == STACK_CONNECTED);
	s->link.phase = STACK_DISCONNECTED;
	/* The peer may not have received the Accept. */
	if (!may_end(s->work)) {
		check(stack_peer(s)->link.phase != STACK_CONNECTED);
		stack_work_again(s->work, (10 + sim_random_below(random_of(s), 300)) * MSEC);
	}
	s->closed |= s->work->ends;
	if (sim_random_chance(random_of(s), 0.5))
		check(!cm_disconnect(id_of(s)));
	if (sim_random_chance(random_of(s), 0.5))
		stack_side_destroy_id(s);
}

static void side_event(struct stack_side *s, const struct rnic_cm_event *ev)
{
	struct stack_link *l = &s->link;

	check(s->node && l->id == ev->id);
	check(l->n_heard < STACK_HEARD);
	l->heard[l->n_heard++] = (uint8_t)ev->event;
	switch (ev->event) {
	case CM_EVENT_ADDR_RESOLVED:
		check(l->phase == STACK_ADDRESS && !ev->status);
		l->phase = STACK_ROUTE;
		check(!cm_resolve_route(id_of(s)));
		break;
	case CM_EVENT_ROUTE_RESOLVED:
		check(l->phase == STACK_ROUTE && !ev->status);
		connect_id(s);
		break;
	case CM_EVENT_ESTABLISHED:
		established(s, ev);
		break;
	case CM_EVENT_REJECTED:
	case CM_EVENT_UNREACHABLE:
	case CM_EVENT_CONNECT_ERROR:
		refused(s, ev);
		break;
	case CM_EVENT_DISCONNECTED:
		disconnected(s, ev);
		break;
	default:
		check(!"an event that nothing here gives a reason for");
	}
}

void stack_read_events(struct stack_node *n)
{
	struct rnic_cm_event ev;

	while (!n->deaf && stack_channel_read(n, &n->chan, &ev)) {
		/* No event follows the destruction of its id. */
		check(cm_id_get(&n->conn, ev.id));
		if (ev.event == CM_EVENT_CONNECT_REQUEST)
			request(n, &ev);
		else
			side_event(side_of(n->w, ev.uid), &ev);
	}
}

void stack_listen(struct stack_node *n)
{
	struct cm_id *id = new_id(n, LISTENER_UID);
	struct sockaddr_storage addr;

	sockaddr_any(&addr, AF_INET, STACK_CM_PORT);
	check(!cm_bind(id, (struct sockaddr *)&addr));
	check(!cm_listen(id, (int)n->backlog));
	n->listener = id->handle;
}

void stack_unlisten(struct stack_node *n)
{
	cm_id_free(cm_id_get(&n->conn, n->listener));
	n->listener = 0;
}

/* ---- out of band ---- */

static void connect_oob(struct stack_side *s)
{
	const struct stack_side *peer = s->names ? s->names : stack_peer(s);
	struct oob_peer to = { .dest_qp_num = peer->qp->num,
			       .local = s->node->addr,
			       .remote = peer->node->addr,
			       .ird = DEPTH };
	struct oob_attr attr = { .ord = DEPTH, .rnr_retry = 7, .gone = 100 * MSEC };

	check(!oob_connect(&s->node->conn, s->qp, &to));
	check(!iw_qp_modify(s->qp, IW_QPS_RTS));
	oob_set_attr(s->qp, &attr);
	s->link.phase = STACK_CONNECTED;
}

void stack_oob_again(struct stack_work *work, const uint64_t pause[2])
{
	unsigned int stays = stack_work_done(work) ? sim_random_below(&work->w->random, 3) : 2;

	work->attempt++;
	for (unsigned int i = 0; i < 2; i++) {
		struct stack_side *s = &work->side[i];

		if (i != stays)
			check(!iw_qp_modify(s->qp, IW_QPS_ERR));
		stack_side_clear(s);
		s->up = false;
		s->link = (struct stack_link){ .phase = STACK_LEAVING,
					       .at = work->w->now + pause[i] };
	}
}

/* ---- steps ---- */

/*
 * True if the peer's application has ended the work, or its process is gone. A real application
 * gets this information outside of the connection.
 */
static bool peer_is_gone(const struct stack_side *s)
{
	const struct stack_side *peer = stack_peer(s);

	return s->work->ends && (!peer->node || peer->closed);
}

static void give_up(struct stack_side *s)
{
	stack_side_destroy_id(s);
	s->link.phase = STACK_FAILED;
	s->closed = true;
	iw_qp_modify(s->qp, IW_QPS_ERR);
}

void stack_side_connect(struct stack_side *s)
{
	struct stack_link *l = &s->link;
	uint64_t now = s->work->w->now;

	/* An application with a request does not know yet that its peer has given up. */
	if (s->work->retry_at &&
	    (l->phase != STACK_REQUESTED || !l->id || now >= s->work->retry_at)) {
		if (now >= s->work->retry_at)
			begin_anew(s->work);
		return;
	}
	if (l->phase == STACK_LEAVING && now >= l->at) {
		stack_side_reset(s);
		l->phase = STACK_IDLE;
	}
	switch (l->phase) {
	case STACK_IDLE:
		if (peer_is_gone(s) && (s->work->oob || !is_active(s)))
			give_up(s);
		else if (now < l->at)
			break;
		else if (s->work->oob)
			connect_oob(s);
		else if (is_active(s))
			resolve(s);
		break;
	case STACK_REQUESTED:
		if (now >= l->at)
			answer(s);
		break;
	case STACK_CONNECTED:
		if (s->work->oob && !s->closed && peer_is_gone(s))
			give_up(s);
		break;
	default:
		break;
	}
}

void stack_side_close(struct stack_side *s)
{
	s->work->ends = true;
	s->work->retry_at = 0;
	if (s->closed)
		return;
	if (s->link.id && s->link.phase == STACK_CONNECTED)
		check(!cm_disconnect(id_of(s)));
	else
		stack_side_destroy_id(s);
	s->closed = true;
	iw_qp_modify(s->qp, IW_QPS_ERR);
}

/*
 * True if a restart of the work may cause an error on that side. To a stack without receipts, void
 * messages are Terminates.
 */
static bool hears_of_loss(const struct stack_side *s)
{
	return (s->work->retry_at || s->work->attempt) &&
	       !(s->work->home[0]->receipts && s->work->home[1]->receipts);
}

void stack_raised(void *ctx, const struct iw_event *ev)
{
	const struct stack_side *s = ev->qp ? ev->qp->ctx : NULL;

	check(s && s->node == ctx);
	switch (ev->type) {
	case IW_EVENT_QP_FATAL:
	case IW_EVENT_QP_ACCESS:
	case IW_EVENT_QP_REQUEST:
		check(s->work->ends || s->work->breaks || s->link.phase == STACK_LEAVING ||
		      hears_of_loss(s));
		break;
	case IW_EVENT_QP_LAST_WQE:
		check(s->shares && (may_end(s->work) || s->work->attempt));
		break;
	case IW_EVENT_QP_COMM_EST:
		check(s->work->oob);
		break;
	default:
		check(!"an event that nothing here gives a reason for");
	}
}
