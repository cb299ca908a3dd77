/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/stack.h"
#include "util/crc32c.h"

#define STEPS_MAX 20000000ull
#define PACKET_MAX 65536
#define STACK_VERSIONS 6 /* of a source that changes */

struct stack_world *stack_current;

/* ---- the patterns ---- */

static uint8_t pattern(uint32_t offset, unsigned int salt)
{
	uint32_t x = (offset + 1) * 2654435761u ^ salt * 40503u;

	return (uint8_t)(x >> 13);
}

/* What the source of a side holds. */
static unsigned int salt(const struct stack_side *s, unsigned int version)
{
	unsigned int which = s == &s->work->side[1];

	return (s->work->number * 2 + which) * 257 + version + 1;
}

static void fill_source(struct stack_side *s)
{
	for (uint32_t i = 0; i < STACK_SOURCE; i++)
		s->source[i] = pattern(i, salt(s, s->version));
}

/* len bytes at data are those at offset of the source of s, each as in one of its versions. */
static bool is_of(const struct stack_side *s, const uint8_t *data, uint32_t offset, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		unsigned int v = 0;

		while (v <= s->version && data[i] != pattern(offset + i, salt(s, v)))
			v++;
		if (v > s->version)
			return false;
	}
	return true;
}

/* ---- what the RNIC and SCTP ask of their user ---- */

/* The memory may change right behind the read of it. */
static void mutate(const void *src, size_t len)
{
	struct stack_world *w = stack_current;
	const uint8_t *at = src;

	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct stack_side *s = &w->works[i / 2]->side[i % 2];

		if (!s->work->mutating || !s->node || at < s->source || at >= s->source + STACK_SOURCE)
			continue;
		if (s->version >= STACK_VERSIONS || !sim_random_chance(&w->random, 0.3))
			return;
		s->version++;
		fill_source(s);
		return;
	}
}

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	mutate(src, len);
	return 0;
}

static int atomic(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old)
{
	*old = *at;
	*at = next(*old, arg);
	return 0;
}

/* Pages may be gone at any time; then copying fails as well, but not here. */
static int probe(const void *src, size_t len)
{
	(void)src;
	(void)len;
	return sim_random_chance(&stack_current->random, 0.05) ? -EFAULT : 0;
}

static const struct iw_rnic_ops rnic_ops = { .copy = copy, .probe = probe, .atomic = atomic };

static void doorbell(void *llp)
{
	struct stack_assoc *a = llp;

	if (a->sctp)
		sctp_assoc_doorbell(a->sctp);
}

static uint32_t acked(void *llp)
{
	struct stack_assoc *a = llp;

	return a->sctp ? sctp_assoc_acked(a->sctp) : 0;
}

static void copy_out(void *llp, int sid)
{
	struct stack_assoc *a = llp;

	if (a->sctp)
		sctp_assoc_copy_out(a->sctp, sid);
}

static const struct iw_llp_ops llp_ops = { .doorbell = doorbell, .acked = acked, .copy_out = copy_out };

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct stack_assoc *a = user;
	/* Behind a window there is never as much posted here. */
	struct iw_msg m = { .zcopy_window = msg->zcopy_window && a ? a->node->zcopy_window : 0 };
	size_t len = a && a->iw ? iw_assoc_pull(a->iw, buf, room, &m) : 0;

	*msg = (struct sctp_msg){
		.sid = m.sid, .ppid = m.ppid, .more = m.more, .zcopy = m.ref, .zcopy_len = m.ref_len,
	};
	return len;
}

static bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	*crc = crc32c_add(*crc, from, len);
	mutate(from, len);
	return true;
}

static void fill_gap(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len)
{
	(void)msg;
	copy(to, from, len);
}

static const struct sctp_user_ops user_ops = { .pull = pull, .checksum = checksum, .copy_out = fill_gap };

/* ---- associations ---- */

static struct stack_node *node_at(struct stack_world *w, const struct ip_addr *addr)
{
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		struct stack_node *n = w->nodes[i];

		if (ip_addr_equal(&n->addr, addr) ||
		    (n->second >= 0 && ip_addr_equal(&n->second_addr, addr)))
			return n;
	}
	return NULL;
}

static struct stack_assoc *assoc_new(struct stack_node *n, struct stack_node *peer)
{
	struct stack_assoc *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	check(n->n_assocs < STACK_ASSOCS);
	a->node = n;
	a->peer = peer;
	n->assocs[n->n_assocs++] = a;
	return a;
}

struct stack_assoc *stack_assoc_of(const struct stack_node *n, const struct stack_node *peer)
{
	for (unsigned int i = n->n_assocs; i-- > 0;)
		if (n->assocs[i]->peer == peer && !n->assocs[i]->over)
			return n->assocs[i];
	return NULL;
}

static void drop_sessions(struct stack_assoc *a, int error)
{
	struct iw_assoc *iw = a->iw;

	a->iw = NULL;
	if (iw)
		iw_assoc_lost(iw, error);
}

static void assoc_up(struct stack_assoc *a)
{
	struct sctp_assoc *sa = a->sctp;

	if (a->iw)
		return;
	if (!sctp_assoc_is_initiator(sa))
		sctp_assoc_set_mtu(sa, a->node->mtu);
	a->ups++;
	a->iw = iw_assoc_new(a->node->rnic, &llp_ops, a, sctp_assoc_is_initiator(sa),
			     sctp_assoc_streams(sa), sctp_assoc_max_msg(sa));
	assert_non_null(a->iw);
}

static void assoc_over(struct stack_assoc *a, int error)
{
	check(!a->over);
	a->over = true;
	a->error = error;
	a->sctp = NULL;
	drop_sessions(a, error ? error : -ECONNRESET);
}

void stack_connect(struct stack_node *from, struct stack_node *to)
{
	struct path_addr addr = { .local = from->addr, .remote = to->addr, .udp_port = STACK_UDP_PORT };
	struct stack_assoc *a = assoc_new(from, to);

	a->sctp = sctp_connect(from->ep, &addr, STACK_UDP_PORT, from->mtu, a, from->w->now);
	assert_non_null(a->sctp);
}

/* ---- sessions ---- */

/* The initiator's own streams may all be in use still: later, then. */
static void initiate(struct stack_work *work)
{
	struct stack_side *s = &work->side[0];
	struct stack_assoc *a = s->node ? stack_assoc_of(s->node, stack_peer(s)->node) : NULL;
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = IW_RNR_FOREVER,
				      .private_data_len = 1,
				      .private_data = { (uint8_t)work->number } };
	int err;

	if (work->initiated || !a || !a->iw || a->closing)
		return;
	err = iw_session_initiate(a->iw, s->qp, &p, &(struct iw_session_user){.ctx = s}, &s->session);
	check(!err || err == -EAGAIN);
	work->initiated = !err;
}

static void accept_session(struct stack_node *n, const struct iw_event *ev)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = IW_RNR_FOREVER,
				      .private_data_len = 1 };
	struct stack_side *s;
	unsigned int i;

	check(ev->param.private_data_len >= 1);
	i = ev->param.private_data[0];
	check(i < n->w->n_works);
	s = &n->w->works[i]->side[1];
	check(s->node == n && !s->up);
	p.private_data[0] = (uint8_t)(i ^ 0x55);
	iw_session_set_user(ev->session, &(struct iw_session_user){.ctx = s});
	s->session = ev->session;
	if (iw_session_accept(ev->session, s->qp, &p)) {
		check(s->work->ends);
		return;
	}
	s->up = true;
}

static void session_event(struct stack_node *n, const struct iw_event *ev)
{
	struct stack_side *s = ev->user.ctx;

	switch (ev->type) {
	case IW_EVENT_INITIATE:
		accept_session(n, ev);
		break;
	case IW_EVENT_ACCEPT:
		check(ev->param.private_data_len >= 1);
		check(ev->param.private_data[0] == (s->work->number ^ 0x55));
		s->up = true;
		break;
	case IW_EVENT_CLOSED:
		check(s && s->work->ends);
		s->session = NULL;
		s->closed = true;
		break;
	case IW_EVENT_QP_FATAL:
	case IW_EVENT_QP_ACCESS:
	case IW_EVENT_QP_REQUEST:
		check(((struct stack_side *)ev->qp->ctx)->work->ends);
		break;
	case IW_EVENT_QP_LAST_WQE:
		s = ev->qp->ctx;
		check(s->shares && s->work->ends && iw_qp_state(s->qp) == IW_QPS_ERR);
		break;
	default:
		check(!"an event that nothing here gives a reason for");
	}
}

static void events(struct stack_node *n)
{
	struct sctp_event se;
	struct iw_event ie;

	while (sctp_next_event(n->sctp, &se)) {
		struct stack_assoc *a = se.user;

		if (!a)
			continue;
		check(a->sctp == se.assoc);
		switch (se.type) {
		case SCTP_EVENT_UP:
			assoc_up(a);
			break;
		case SCTP_EVENT_SHUTDOWN:
			a->closing = true;
			drop_sessions(a, -ECONNRESET);
			break;
		case SCTP_EVENT_LOST:
			check(se.error < 0);
			assoc_over(a, se.error);
			break;
		case SCTP_EVENT_CLOSED:
			assoc_over(a, 0);
			break;
		}
	}
	while (iw_next_event(n->rnic, &ie))
		session_event(n, &ie);
}

/* ---- packets ---- */

static void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t at)
{
	struct stack_node *n = ctx;
	struct sctp_rx *rx = n->rx;
	struct stack_assoc *a;

	if (!n->sctp)
		return;
	if (!wire_sctp_checksum_ok(packet, len))
		n->bad_crc++;
	iw_set_now(n->rnic, at);
	sctp_input(n->ep, path, packet, len, at, rx);
	a = rx->assoc ? sctp_assoc_user(rx->assoc) : NULL;
	if (a && a->iw)
		iw_assoc_acked(a->iw);
	if (rx->assoc && (rx->count || rx->up || rx->restart)) {
		a = sctp_assoc_user(rx->assoc);
		if (!a) {
			a = assoc_new(n, node_at(n->w, &path->remote));
			a->sctp = rx->assoc;
			sctp_assoc_set_user(rx->assoc, a);
		}
		if (rx->restart) {
			a->restarts++;
			drop_sessions(a, -ECONNRESET);
			a->closing = false;
		}
		if (rx->up || rx->restart || (rx->count && !a->closing))
			assoc_up(a);
		for (unsigned int i = 0; i < rx->count && a->iw && !a->closing; i++) {
			struct sctp_data *d = &rx->data[i];

			a->bytes_in += d->len;
			check(iw_assoc_receive(a->iw, d->sid, d->ppid, d->data, d->len) == 0);
		}
	}
	events(n);
}

static void too_big(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
		    size_t len, uint64_t at)
{
	struct stack_node *n = ctx;

	if (n->sctp)
		sctp_packet_too_big(n->ep, to, mtu, quoted, len, at);
}

static const struct simnet_ops net_ops = { .deliver = deliver, .too_big = too_big };

/* SCTP itself lists no addresses of ours: INIT and INIT ACK get the other one here. */
static size_t list_second(const struct stack_node *n, uint8_t *packet, size_t len)
{
	uint8_t type = packet[WIRE_SCTP_COMMON_LEN];

	if (n->second < 0 || (type != WIRE_SCTP_INIT && type != WIRE_SCTP_INIT_ACK))
		return len;
	len += wire_sctp_param_put(packet + len, WIRE_SCTP_PARAM_IPV4, n->second_addr.b + 12, 4);
	wire_sctp_chunk_put(packet + WIRE_SCTP_COMMON_LEN, type, 0, len - WIRE_SCTP_COMMON_LEN);
	put_be32(packet + 8, 0);
	wire_sctp_checksum_put(packet, len);
	return len;
}

/* len bytes of the batch from data on, as they leave. */
static void assemble(const struct sctp_batch *b, uint8_t *packet, const uint8_t *data, size_t len)
{
	memcpy(packet, data, len);
	for (unsigned int i = 0; i < b->n_refs; i++) {
		const struct sctp_ref *ref = &b->refs[i];

		if (ref->at < data || ref->at >= data + len)
			continue;
		check(ref->at + ref->len <= data + len);
		memcpy(packet + (ref->at - data), ref->from, ref->len);
		stack_current->ref++;
	}
}

static void transmit(struct stack_node *n, struct sctp_assoc *a, struct sctp_batch *b)
{
	static uint8_t packet[PACKET_MAX];
	struct stack_world *w = n->w;
	int from = n->second >= 0 && ip_addr_equal(&b->to.local, &n->second_addr) ? n->second : n->id;

	/* The socket may be full. */
	if (a && sim_random_chance(&w->random, 0.02))
		sctp_batch_keep(a, b);
	for (size_t at = 0; at < b->len; at += b->segment) {
		size_t len = b->len - at < b->segment ? b->len - at : b->segment;

		check(!b->df || len + SIMNET_HEADERS <= n->mtu);
		assemble(b, packet, b->data + at, len);
		len = list_second(n, packet, len);
		if (w->filter)
			len = w->filter(w, n, packet, len);
		if (!len)
			continue;
		if (b->df)
			simnet_send(w->net, from, &b->to, packet, len, w->now);
		else
			simnet_send_fragments(w->net, from, &b->to, packet, len, w->now);
	}
	sctp_batch_done(n->sctp, b);
}

/* ---- nodes ---- */

static void near_wrap(struct random_source *self, void *buf, size_t len)
{
	struct sim_random *r = (struct sim_random *)(void *)self;
	uint32_t word;

	for (size_t at = 0; at + sizeof(word) <= len; at += sizeof(word)) {
		word = UINT32_MAX - sim_random_below(r, 64);
		memcpy((uint8_t *)buf + at, &word, sizeof(word));
	}
}

void stack_near_wrap(struct stack_node *n, bool on)
{
	struct sim_random fresh;

	sim_random_init(&fresh, sim_random_u64(&n->w->random));
	if (on)
		fresh.source.fill = near_wrap;
	n->random = fresh;
}

struct stack_node *stack_node_new(struct stack_world *w)
{
	struct stack_node *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	n->w = w;
	n->number = w->n_nodes;
	n->addr = simnet_v4((uint8_t)(n->number + 1));
	n->id = simnet_add(w->net, &n->addr, STACK_UDP_PORT, &net_ops, n);
	n->second = -1;
	n->mtu = 1500;
	n->rx = malloc(sizeof(*n->rx));
	assert_non_null(n->rx);
	sctp_config_default(&n->config);
	n->iw_config = (struct iw_config){
		.unexpected_bytes_per_qp = 1 << 20,
		.zcopy_min = SCTP_ZCOPY_MIN + sim_random_below(&w->random, 2000),
	};
	n->zcopy_window = sim_random_below(&w->random, 4000);
	w->nodes[w->n_nodes++] = n;
	return n;
}

void stack_node_second(struct stack_node *n, uint8_t number)
{
	n->second_addr = simnet_v4(number);
	n->second = simnet_add(n->w->net, &n->second_addr, STACK_UDP_PORT, &net_ops, n);
}

void stack_node_start(struct stack_node *n)
{
	sim_random_init(&n->random, sim_random_u64(&n->w->random));
	n->sctp = sctp_new(&n->config, &user_ops, &n->random.source);
	n->ep = sctp_endpoint_new(n->sctp, STACK_UDP_PORT, 8 << 20, n);
	sctp_endpoint_set_accept(n->ep, true);
	n->rnic = iw_rnic_new(&n->iw_config, &rnic_ops, &n->random.source);
	n->pd = iw_pd_new(n->rnic, NULL);
	assert_non_null(n->pd);
}

static void side_free(struct stack_side *s)
{
	if (!s->node)
		return;
	iw_qp_free(s->qp);
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

void stack_node_kill(struct stack_node *n)
{
	struct stack_world *w = n->w;

	if (!n->sctp)
		return;
	for (unsigned int i = 0; i < n->n_assocs; i++) {
		struct stack_assoc *a = n->assocs[i];

		a->over = true;
		a->sctp = NULL;
		drop_sessions(a, -ECONNRESET);
	}
	for (unsigned int i = 0; i < 2 * w->n_works; i++)
		if (w->works[i / 2]->side[i % 2].node == n)
			side_free(&w->works[i / 2]->side[i % 2]);
	if (n->srq) {
		assert_int_equal(iw_srq_free(n->srq), 0);
		iw_mr_free(n->srq_mr);
		free(n->srq_recv);
	}
	assert_int_equal(iw_pd_free(n->pd), 0);
	iw_rnic_free(n->rnic);
	sctp_free(n->sctp);
	n->sctp = NULL;
}

struct stack_world *stack_world_new(const char *scenario, unsigned long long seed)
{
	struct stack_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	stack_current = w;
	w->scenario = scenario;
	w->seed = seed;
	w->now = 1000 * SEC;
	w->net = simnet_new(seed);
	w->limit_ops = 40;
	sim_random_init(&w->random, seed ^ 0x9e3779b97f4a7c15ull);
	return w;
}

void stack_world_free(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		struct stack_node *n = w->nodes[i];

		stack_node_kill(n);
		for (unsigned int j = 0; j < n->n_assocs; j++)
			free(n->assocs[j]);
		free(n->rx);
		free(n);
	}
	for (unsigned int i = 0; i < w->n_works; i++)
		free(w->works[i]);
	simnet_free(w->net);
	free(w->reno);
	free(w);
	stack_current = NULL;
}

/* ---- works ---- */

static void srq_init(struct stack_node *n)
{
	n->srq_recv = calloc(n->srq_slots, STACK_RECV);
	assert_non_null(n->srq_recv);
	assert_int_equal(iw_srq_new(n->pd, n->srq_slots, 1, n, &n->srq), 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)n->srq_recv, n->srq_slots * STACK_RECV,
				   (uintptr_t)n->srq_recv, IW_ACCESS_LOCAL_WRITE, NULL, &n->srq_mr),
			 0);
	while (n->n_srq_free < n->srq_slots) {
		n->srq_free[n->n_srq_free] = n->n_srq_free;
		n->n_srq_free++;
	}
}

static void side_init(struct stack_side *s, struct stack_work *work, struct stack_node *n)
{
	struct iw_qp_attr attr = { .pd = n->pd, .max_send_wr = 16, .max_recv_wr = 32,
				   .max_send_sge = 2, .max_recv_sge = 2, .max_inline = 64,
				   .sq_sig_all = true, .ctx = s };

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
				   IW_ACCESS_REMOTE_READ, NULL, &s->source_mr), 0);
	/* Zero-based. */
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->sink, STACK_SINK, 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
				   IW_ACCESS_REMOTE_READ, NULL, &s->sink_mr), 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->recv, s->recv_slots * STACK_RECV,
				   (uintptr_t)s->recv, IW_ACCESS_LOCAL_WRITE, NULL, &s->recv_mr), 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)s->words, sizeof(s->words), 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC, NULL, &s->words_mr), 0);
	s->words_stag = iw_mr_stag(s->words_mr);
	s->source_iova = (uintptr_t)s->source;
	s->source_stag = iw_mr_stag(s->source_mr);
	s->sink_stag = iw_mr_stag(s->sink_mr);
	if (n->srq_slots && !n->srq)
		srq_init(n);
	s->shares = n->srq && sim_random_chance(&n->w->random, 0.8);
	attr.srq = s->shares ? n->srq : NULL;
	attr.send_cq = attr.recv_cq = s->cq = iw_cq_new(n->rnic, 256, NULL);
	assert_int_equal(iw_qp_new(n->rnic, &attr, &s->qp), 0);
	assert_int_equal(iw_qp_modify(s->qp, IW_QPS_INIT), 0);
}

struct stack_work *stack_work_new(struct stack_node *active, struct stack_node *passive)
{
	struct stack_world *w = active->w;
	struct stack_work *work = calloc(1, sizeof(*work));

	assert_non_null(work);
	check(w->n_works < STACK_WORKS);
	work->w = w;
	work->number = w->n_works;
	w->works[w->n_works++] = work;
	side_init(&work->side[0], work, active);
	side_init(&work->side[1], work, passive);
	return work;
}

static bool is_write(const struct stack_op *op)
{
	return op->opcode == IW_WR_RDMA_WRITE || op->opcode == IW_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(const struct stack_op *op)
{
	return op->opcode == IW_WR_ATOMIC_CMP_AND_SWP || op->opcode == IW_WR_ATOMIC_FETCH_AND_ADD;
}

static bool takes_receive(const struct stack_op *op)
{
	return op->opcode == IW_WR_SEND || op->opcode == IW_WR_SEND_WITH_IMM ||
	       op->opcode == IW_WR_RDMA_WRITE_WITH_IMM;
}

/* A write of ours that a read can ask back: its bytes have one writer. */
static const struct stack_op *some_write(const struct stack_side *s)
{
	for (unsigned int tries = 0; tries < 4 && s->n_ops; tries++) {
		const struct stack_op *op =
			&s->ops[sim_random_below(&s->node->w->random, s->n_ops)];

		if (is_write(op) && op->len && !op->bad)
			return op;
	}
	return NULL;
}

bool stack_op_add(struct stack_side *s, uint8_t opcode, uint32_t len)
{
	struct sim_random *r = &s->node->w->random;
	struct stack_op op = { .opcode = opcode, .len = len };
	const uint32_t share = STACK_SINK / 2;

	if (is_atomic(&op)) {
		if (s->read_to + 8 > share)
			return false;
		s->read_to += 8;
		op.len = 8;
		op.local = STACK_SINK - s->read_to;
		op.remote = sim_random_below(r, STACK_WORDS);
		op.fence = sim_random_chance(r, 0.1);
		/* Small numbers: about each second comparison finds what it asks for. */
		op.compare_add = opcode == IW_WR_ATOMIC_CMP_AND_SWP ? sim_random_below(r, 2) :
								       sim_random_u64(r);
		op.swap = sim_random_below(r, 2);
	} else if (opcode == IW_WR_RDMA_READ) {
		const struct stack_op *write =
			s->work->overlap || sim_random_chance(r, 0.5) ? NULL : some_write(s);

		op.remote = sim_random_below(r, STACK_SOURCE - len);
		if (write) {
			op.back = true;
			op.remote = write->remote;
			op.len = write->len;
		}
		if (s->read_to + op.len > share)
			return false;
		s->read_to += op.len;
		op.local = STACK_SINK - s->read_to;
		op.fence = sim_random_chance(r, 0.2);
	} else {
		op.local = sim_random_below(r, STACK_SOURCE - len);
		op.fence = sim_random_chance(r, 0.1);
	}
	op.imm = (uint32_t)sim_random_u64(r);
	if (is_write(&op)) {
		op.remote = s->written;
		if (s->work->overlap)
			op.remote = sim_random_below(r, share / 8);
		else if (s->written + len > share)
			return false;
		s->written += len;
	}
	if (takes_receive(&op)) {
		s->send_op = realloc(s->send_op, (s->sends + 1) * sizeof(*s->send_op));
		assert_non_null(s->send_op);
		s->send_op[s->sends++] = s->n_ops;
	}
	if (!(s->n_ops & (s->n_ops + 1))) {
		s->ops = realloc(s->ops, (2 * s->n_ops + 2) * sizeof(*s->ops));
		assert_non_null(s->ops);
	}
	s->ops[s->n_ops++] = op;
	return true;
}

static void plan_side(struct stack_side *s, unsigned int max)
{
	static const uint8_t kinds[] = { IW_WR_SEND, IW_WR_RDMA_WRITE, IW_WR_RDMA_READ,
					 IW_WR_SEND, IW_WR_RDMA_WRITE, IW_WR_RDMA_READ,
					 IW_WR_RDMA_WRITE_WITH_IMM, IW_WR_SEND_WITH_IMM,
					 IW_WR_ATOMIC_CMP_AND_SWP, IW_WR_ATOMIC_FETCH_AND_ADD };
	struct sim_random *r = &s->node->w->random;

	for (unsigned int n = sim_random_below(r, max); n; n--) {
		uint8_t kind = kinds[sim_random_below(r, sizeof(kinds))];
		uint32_t len = sim_random_below(r, sim_random_chance(r, 0.3) ? STACK_RECV : 200);

		if (kind == IW_WR_SEND_WITH_IMM)
			len = 0;
		if ((kind == IW_WR_RDMA_WRITE || kind == IW_WR_RDMA_WRITE_WITH_IMM) && sim_random_chance(r, 0.2))
			len = sim_random_below(r, 40000);
		stack_op_add(s, kind, len);
	}
	/* When it is delivered, every write before it is there. */
	stack_op_add(s, IW_WR_SEND, sim_random_below(r, 200));
}

void stack_plan(struct stack_work *work, unsigned int max)
{
	plan_side(&work->side[0], max);
	plan_side(&work->side[1], max);
}

/* The same in the model's memory: at once, and in order. */
static void model_run(struct stack_side *s, const struct stack_op *op, unsigned int send)
{
	struct stack_side *peer = stack_peer(s);
	const uint8_t *from = s->source + op->local;

	if (!peer->node || op->bad)
		return;
	if (is_atomic(op)) {
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
	if (is_write(op))
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
	if (is_atomic(op)) {
		wr->remote_to = op->remote * 8;
		wr->rkey = peer->words_stag;
		wr->compare_add = op->compare_add;
		wr->swap = op->swap;
	} else {
		wr->imm_data = op->imm;
	}
	if (op->bad)
		wr->rkey ^= 0x5a;
	if (op->opcode == IW_WR_RDMA_READ || is_atomic(op)) {
		wr->num_sge = 1;
		wr->sge[0] = (struct iw_sge){ op->local, op->len, s->sink_stag };
	} else if (op->len <= 64 && (op->local & 1)) {
		wr->flags |= IW_SEND_INLINE;
		memcpy(wr->sge, s->source + op->local, op->len);
	} else {
		wr->num_sge = 2;
		wr->sge[0] = (struct iw_sge){ s->source_iova + op->local, first, s->source_stag };
		wr->sge[1] = (struct iw_sge){ wr->sge[0].addr + first, op->len - first, s->source_stag };
	}
	iw_sq_publish(s->qp);
	return true;
}

/* What is posted to a queue in error is flushed: the model does not get it. */
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
			model_run(s, op, takes_receive(op) ? sends_before(s, i) : 0);
	}
	return s->posted != before;
}

/* Returns whether the RNIC is to look at them. */
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
		wr->sge[0] = (struct iw_sge){ (uintptr_t)s->recv + s->recvs_posted % s->recv_slots * STACK_RECV,
					      1000, lkey };
		wr->sge[1] = (struct iw_sge){ wr->sge[0].addr + 1000, STACK_RECV - 1000, lkey };
		s->recvs_posted++;
		iw_rq_publish(s->qp);
		any |= iw_rq_is_awaited(s->qp);
	}
	return any;
}

/* What the peer posted before its operation `upto` is in our sink. */
static void check_writes(struct stack_side *s, unsigned int upto)
{
	const struct stack_side *peer = stack_peer(s);

	if (s->work->overlap)
		return;
	for (unsigned int i = 0; i < upto; i++) {
		const struct stack_op *op = &peer->ops[i];

		if (!is_write(op) || op->bad)
			continue;
		if (s->work->mutating)
			check(is_of(peer, s->sink + op->remote, op->local, op->len));
		else
			check(!memcmp(s->sink + op->remote, s->model_sink + op->remote, op->len));
	}
}

/* What was fenced has left after these had come: the reads and atomics before operation `upto` of side s. */
static void check_reads(const struct stack_side *s, unsigned int upto)
{
	for (unsigned int i = 0; i < upto; i++) {
		const struct stack_op *op = &s->ops[i];

		if ((is_atomic(op) || (op->opcode == IW_WR_RDMA_READ && !s->work->mutating)) && !op->bad)
			check(!memcmp(s->sink + op->local, s->model_sink + op->local, op->len));
	}
}

/* All receives that the application has, in no order. */
static void post_shared(struct stack_node *n)
{
	while (n->n_srq_free) {
		unsigned int pick = sim_random_below(&n->w->random, n->n_srq_free);
		struct iw_recv_wqe *wr = iw_srq_slot(n->srq);

		assert_non_null(wr);
		wr->wr_id = n->srq_free[pick];
		wr->num_sge = 1;
		wr->length = STACK_RECV;
		wr->sge[0] = (struct iw_sge){ (uintptr_t)n->srq_recv + wr->wr_id * STACK_RECV,
					      STACK_RECV, iw_mr_stag(n->srq_mr) };
		n->srq_free[pick] = n->srq_free[--n->n_srq_free];
		iw_srq_publish(n->srq);
	}
	if (iw_srq_is_awaited(n->srq)) {
		n->w->seen++;
		iw_doorbell_serve(&n->srq->doorbell);
	}
}

/* It completed, or was flushed: into the side's own memory, where the model has it. */
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
			check(cqe->opcode == (is_write(op) ? IW_WC_RECV_RDMA_WITH_IMM : IW_WC_RECV));
			check(cqe->flags == (op->opcode == IW_WR_SEND ? 0 : IW_WC_WITH_IMM));
			if (op->opcode == IW_WR_SEND)
				check(is_of(peer, s->recv + slot * STACK_RECV, op->local, op->len));
			else
				check(cqe->imm_data == op->imm);
			/* Its own Write, too. */
			check_writes(s, peer->send_op[s->recvs_done] + 1);
			if (op->fence)
				check_reads(peer, peer->send_op[s->recvs_done]);
		}
	}
	s->recvs_done++;
}

static void completed_send(struct stack_side *s, const struct iw_cqe *cqe)
{
	static const uint8_t opcodes[] = {
		[IW_WR_SEND] = IW_WC_SEND, [IW_WR_RDMA_WRITE] = IW_WC_RDMA_WRITE,
		[IW_WR_RDMA_READ] = IW_WC_RDMA_READ, [IW_WR_SEND_WITH_IMM] = IW_WC_SEND,
		[IW_WR_RDMA_WRITE_WITH_IMM] = IW_WC_RDMA_WRITE,
		[IW_WR_ATOMIC_CMP_AND_SWP] = IW_WC_COMP_SWAP,
		[IW_WR_ATOMIC_FETCH_AND_ADD] = IW_WC_FETCH_ADD,
	};
	const struct stack_op *op = s->work->bulk ? NULL : &s->ops[s->completed];

	check(cqe->wr_id == s->completed && s->completed < s->posted);
	if (cqe->status != IW_WC_SUCCESS) {
		/* One alone is at fault; the others are flushed. */
		check(s->work->ends);
		if (cqe->status != IW_WC_WR_FLUSH_ERR) {
			check(!s->blamed);
			s->blamed = true;
		}
		s->sq_failed = true;
	} else if (op) {
		const struct stack_side *peer = stack_peer(s);

		check(!s->sq_failed);
		check(cqe->opcode == opcodes[op->opcode] && cqe->byte_len == op->len);
		if (is_atomic(op) && peer->node && !op->bad)
			check(!memcmp(s->sink + op->local, s->model_sink + op->local, 8));
		if (op->opcode == IW_WR_RDMA_READ && peer->node && !op->bad) {
			if (!s->work->mutating)
				check(!memcmp(s->sink + op->local, s->model_sink + op->local, op->len));
			else if (!op->back)
				check(is_of(peer, s->sink + op->local, op->remote, op->len));
		}
	}
	s->completed++;
}

static void poll(struct stack_side *s)
{
	struct iw_cqe cqe;

	while (iw_cq_poll(s->cq, 1, &cqe)) {
		if (cqe.opcode >= IW_WC_RECV)
			completed_recv(s, &cqe);
		else
			completed_send(s, &cqe);
	}
}

/* Until nothing more can be posted: what is posted may complete at once. */
static void application(struct stack_side *s)
{
	enum iw_qp_state state;
	bool any;

	do {
		poll(s);
		any = false;
		state = iw_qp_state(s->qp);
		if (state == IW_QPS_ERR || (state == IW_QPS_RTS && !s->hold))
			any = post(s, state);
		if (s->shares)
			post_shared(s->node);
		else if (state == IW_QPS_ERR ? !s->recvs_posted : !s->hold_recvs)
			any |= post_recvs(s);
		if (any)
			iw_qp_doorbell(s->qp);
	} while (any);
}

void stack_side_close(struct stack_side *s)
{
	if (!s->session)
		return;
	s->work->ends = true;
	iw_session_close(s->session);
	s->session = NULL;
	s->closed = true;
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
	/* The passive side never heard of the session that the other gave up. */
	if (s == &s->work->side[1] && !s->up && !s->session && s->work->side[0].closed)
		return s->posted == 0;
	return iw_qp_state(s->qp) == IW_QPS_ERR && s->completed == s->posted &&
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

/* Of what may not all have come: each byte is as it was, or as the model has it. */
static bool is_part_of(const uint8_t *memory, const uint8_t *model, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (memory[i] && memory[i] != model[i])
			return false;
	return true;
}

void stack_work_check(struct stack_work *work)
{
	for (int i = 0; i < 2; i++) {
		struct stack_side *s = &work->side[i];

		if (!s->node || work->mutating || work->bulk)
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

void stack_srq_check(const struct stack_node *n)
{
	check(n->n_srq_free + iw_srq_left(n->srq) == n->srq_slots);
}

/* ---- bounds ---- */

static void check_assoc_bounds(const struct sctp_assoc *a)
{
	check(sctp_outq_count(&a->out) <= a->s->config.max_tsn_distance);
	check(a->rx.reasm.bytes <= SCTP_REASM_BYTES);
	check(a->rx.reasm.count <= SCTP_REASM_FRAGMENTS);
	check(a->s->ootb.count <= SCTP_OOTB_MAX);
}

static void check_bounds(const struct stack_node *n)
{
	for (unsigned int i = 0; i < n->n_assocs; i++)
		if (n->assocs[i]->sctp)
			check_assoc_bounds(n->assocs[i]->sctp);
	list_for_each(node, &n->rnic->sessions) {
		const struct iw_session *s = list_entry(node, struct iw_session, all);

		check(s->rx.order.size <= 32768);
		check(s->rx.early.bytes <= 16u << 20);
		if (s->qp) {
			check(iw_rc_of(s->qp)->rx.unexpected.bytes <= n->iw_config.unexpected_bytes_per_qp);
			check(iw_rc_of(s->qp)->rx.unexpected.count <= IW_UNEXPECTED_MSNS);
			check(iw_rc_of(s->qp)->rx.taken <= n->srq_slots);
		}
	}
}

/* ---- the loop ---- */

static void run_node(struct stack_node *n)
{
	struct stack_world *w = n->w;
	struct sctp_assoc *sa;
	struct sctp_batch b;

	iw_set_now(n->rnic, w->now);
	sctp_timers(n->sctp, w->now);
	iw_timers(n->rnic, w->now);
	events(n);
	for (unsigned int i = 0; i < w->n_works; i++) {
		initiate(w->works[i]);
		for (int j = 0; j < 2; j++)
			if (w->works[i]->side[j].node == n)
				application(&w->works[i]->side[j]);
	}
	while ((sa = sctp_next_ready(n->sctp))) {
		struct stack_assoc *a = sctp_assoc_user(sa);

		if (a && a->iw)
			iw_assoc_set_max_msg(a->iw, sctp_assoc_max_msg(sa));
		while (sctp_output(sa, w->now, &b) > 0)
			transmit(n, sa, &b);
	}
	while (sctp_output_ootb(n->sctp, &b) > 0)
		transmit(n, NULL, &b);
	events(n);
	if (!sim_random_below(&w->random, 32))
		check_bounds(n);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void step(struct stack_world *w, uint64_t limit)
{
	uint64_t next = limit;

	for (unsigned int i = 0; i < w->n_nodes; i++)
		if (w->nodes[i]->sctp)
			run_node(w->nodes[i]);
	if (w->reno)
		reno_run(w->reno, w->now);
	next = earliest(next, simnet_next(w->net));
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		if (!w->nodes[i]->sctp)
			continue;
		next = earliest(next, sctp_next_timeout(w->nodes[i]->sctp));
		next = earliest(next, iw_next_timeout(w->nodes[i]->rnic));
	}
	if (w->reno)
		next = earliest(next, reno_next(w->reno));
	if (next > w->now)
		w->now = next;
	simnet_deliver(w->net, w->now);
	check(++w->steps < STEPS_MAX);
}

void stack_run(struct stack_world *w, uint64_t limit, bool (*done)(struct stack_world *))
{
	limit += w->now;
	while (!done(w)) {
		check(w->now < limit);
		step(w, limit);
	}
}

void stack_run_for(struct stack_world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	while (w->now < until)
		step(w, until);
}
