/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: engine */
/*
 * Two whole stacks, RDMAP down to SCTP packets, on a simulated network with a virtual clock. Each
 * seed makes a network (loss, duplication, reordering, corruption, delay, MTU, which may shrink) and a
 * programme of Sends, RDMA Writes and RDMA Reads in both directions over several QPs of one
 * association. Every byte that was written, sent or read is checked against what an ordered,
 * perfect memory would hold, every completion against the order of posting.
 *
 *	test_stack_sim [FIRST-SEED [COUNT]]	replays or extends
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "iwarp/iwarp.h"
#include "sctp/sctp.h"
#include "sim/simnet.h"

#define UDP_PORT 5000
#define QPS_MAX 4
#define MEMORY (512 * 1024)
#define OPS_MAX 40
#define RECVS 24
#define RECV_SIZE 9000
#define VIRTUAL_LIMIT (240ull * 1000 * SIMNET_MSEC)

struct op {
	enum iw_wr_opcode opcode;
	uint32_t len;
	uint32_t offset; /* writes: in the peer's sink; reads: in the peer's source */
	uint32_t local;  /* in our source; reads: in our sink */
};

struct side {
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct op ops[OPS_MAX];
	unsigned int n_ops, posted, completed;
	unsigned int sends, recvs_posted, recvs_done;
	uint32_t written; /* bytes of the peer's sink that our writes take */
	uint32_t read_to; /* bytes of our sink, from its end, that our reads take */
};

struct node {
	struct simnet *net;
	int id;
	struct node *peer;
	struct sim_random random;
	struct sctp *sctp;
	struct sctp_endpoint *ep;
	struct sctp_rx *rx;
	struct iw_rnic *rnic;
	struct iw_pd *pd;
	struct sctp_assoc *assoc;
	struct iw_assoc *iw;
	uint8_t *source, *sink, *recv_memory;
	struct iw_mr *source_mr, *sink_mr, *recv_mr;
	struct side sides[QPS_MAX];
	unsigned int n_qps, up, accepted;
	uint32_t mtu;
};

static unsigned long long seed;
static uint64_t now;

/* Says which seed to replay, on top of cmocka's own words. */
#define check(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("seed %llu at %.3f ms: %s", seed, (double)now / SIMNET_MSEC, #cond); \
	} while (0)

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	return 0;
}

static const struct iw_rnic_ops rnic_ops = { .copy = copy };

static void kick(void *llp)
{
	sctp_assoc_kick(llp);
}

static uint32_t acked(void *llp)
{
	return sctp_assoc_acked(llp);
}

static const struct iw_llp_ops llp_ops = { .kick = kick, .acked = acked };

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct node *n = user;
	struct iw_msg m = { 0 };
	size_t len = n->iw ? iw_assoc_pull(n->iw, buf, room, &m) : 0;

	*msg = (struct sctp_msg){ .sid = m.sid, .ppid = m.ppid, .more = m.more };
	return len;
}

static const struct sctp_user_ops user_ops = { .pull = pull };

static void go_up(struct node *n, struct sctp_assoc *a)
{
	n->assoc = a;
	sctp_assoc_set_user(a, n);
	sctp_assoc_set_mtu(a, n->mtu);
	n->iw = iw_assoc_new(n->rnic, &llp_ops, a, sctp_assoc_is_initiator(a),
			     sctp_assoc_streams(a), sctp_assoc_max_msg(a));
	assert_non_null(n->iw);
}

static void transmit(struct node *n, struct sctp_batch *b)
{
	for (size_t at = 0; at < b->len; at += b->segment) {
		size_t len = b->len - at < b->segment ? b->len - at : b->segment;

		if (b->df) {
			check(len + SIMNET_HEADERS <= n->mtu);
			simnet_send(n->net, n->id, &b->to, b->data + at, len, now);
		} else {
			simnet_send_fragments(n->net, n->id, &b->to, b->data + at, len, now);
		}
	}
	sctp_batch_done(n->sctp, b);
}

static void recv_wr(struct node *n, struct side *s)
{
	struct iw_recv_wqe *w = iw_rq_slot(s->qp);
	unsigned int slot = s->recvs_posted % RECVS;

	assert_non_null(w);
	w->wr_id = s->recvs_posted++;
	w->num_sge = 2;
	w->length = RECV_SIZE;
	w->sge[0] = (struct iw_sge){ (uintptr_t)n->recv_memory + ((s - n->sides) * RECVS + slot) * RECV_SIZE,
				     1000, iw_mr_stag(n->recv_mr) };
	w->sge[1] = (struct iw_sge){ w->sge[0].addr + 1000, RECV_SIZE - 1000, iw_mr_stag(n->recv_mr) };
	iw_rq_publish(s->qp);
}

/* A listener answers; the sides of both nodes pair up by the private data. */
static void accept_session(struct node *n, struct iw_event *ev)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7, .private_data_len = 1 };
	unsigned int i;

	check(ev->param.private_data_len >= 1);
	i = ev->param.private_data[0];
	check(i < n->n_qps);
	p.private_data[0] = i ^ 0x55;
	assert_int_equal(iw_session_accept(ev->session, n->sides[i].qp, &p), 0);
	n->accepted++;
}

static void initiate_all(struct node *n)
{
	for (unsigned int i = 0; i < n->n_qps; i++) {
		struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7,
					      .private_data_len = 1, .private_data = { i } };
		struct iw_session *session;

		assert_int_equal(iw_session_initiate(n->iw, n->sides[i].qp, &p, &n->sides[i], &session), 0);
	}
}

static void events(struct node *n)
{
	struct sctp_event se;
	struct iw_event ie;

	while (sctp_next_event(n->sctp, &se)) {
		check(se.type == SCTP_EVENT_UP);
		go_up(n, se.assoc);
		initiate_all(n);
	}
	while (iw_next_event(n->rnic, &ie)) {
		if (ie.type == IW_EVENT_INITIATE) {
			accept_session(n, &ie);
		} else {
			struct side *s = ie.cm;

			check(ie.type == IW_EVENT_ACCEPT);
			check(ie.param.private_data_len >= 1);
			check(ie.param.private_data[0] == ((s - n->sides) ^ 0x55));
			n->up++;
		}
	}
}

static void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t at)
{
	struct node *n = ctx;

	iw_set_now(n->rnic, at);
	sctp_input(n->ep, path, packet, len, at, n->rx);
	if (n->rx->up)
		go_up(n, n->rx->assoc);
	for (unsigned int i = 0; i < n->rx->count; i++) {
		struct sctp_data *d = &n->rx->data[i];

		assert_non_null(n->iw);
		check(iw_assoc_receive(n->iw, d->sid, d->ppid, d->data, d->len) == 0);
	}
	events(n);
}

static void too_big(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
		    size_t len, uint64_t at)
{
	struct node *n = ctx;

	sctp_packet_too_big(n->ep, to, mtu, quoted, len, at);
}

static const struct simnet_ops net_ops = { .deliver = deliver, .too_big = too_big };

static uint8_t pattern(uint32_t offset, unsigned int salt)
{
	uint32_t x = (offset + 1) * 2654435761u ^ salt * 40503u;

	return x >> 13;
}

/* What node n's source memory holds at offset. */
static unsigned int salt(const struct node *n)
{
	return n->id + 1;
}

static void make_node(struct node *n, struct simnet *net, unsigned int number, uint32_t mtu,
		      unsigned int n_qps)
{
	struct sctp_config config;
	struct iw_config iw_config = { .held_bytes_per_qp = 1 << 20, .in_order = seed & 1 };
	struct ip_addr addr = simnet_v4(number + 1);

	memset(n, 0, sizeof(*n));
	n->net = net;
	n->mtu = mtu;
	n->n_qps = n_qps;
	sim_random_init(&n->random, seed * 2 + number);
	n->id = simnet_add(net, &addr, UDP_PORT, &net_ops, n);
	sctp_config_default(&config);
	config.silent_limit = VIRTUAL_LIMIT;
	config.connect_limit = VIRTUAL_LIMIT;
	n->sctp = sctp_new(&config, &user_ops, &n->random.source);
	n->ep = sctp_endpoint_new(n->sctp, UDP_PORT, 8 << 20, n);
	sctp_endpoint_set_accept(n->ep, true);
	n->rx = malloc(sizeof(*n->rx));
	n->rnic = iw_rnic_new(&iw_config, &rnic_ops, &n->random.source);
	n->pd = iw_pd_new(n->rnic, NULL);
	n->source = malloc(MEMORY);
	n->sink = calloc(1, MEMORY);
	n->recv_memory = calloc(QPS_MAX, RECVS * RECV_SIZE);
	for (uint32_t i = 0; i < MEMORY; i++)
		n->source[i] = pattern(i, salt(n));
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)n->source, MEMORY, (uintptr_t)n->source,
				   IW_ACCESS_REMOTE_READ, NULL, &n->source_mr), 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)n->sink, MEMORY, 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL, &n->sink_mr), 0);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)n->recv_memory, QPS_MAX * RECVS * RECV_SIZE,
				   (uintptr_t)n->recv_memory, IW_ACCESS_LOCAL_WRITE, NULL, &n->recv_mr), 0);
	for (unsigned int i = 0; i < n_qps; i++) {
		struct side *s = &n->sides[i];
		struct iw_qp_attr attr = { .pd = n->pd, .max_send_wr = 16, .max_recv_wr = RECVS,
					   .max_send_sge = 2, .max_recv_sge = 2, .max_inline = 64,
					   .sq_sig_all = true, .ctx = s };

		attr.send_cq = attr.recv_cq = s->cq = iw_cq_new(n->rnic, 256, NULL);
		assert_int_equal(iw_qp_new(n->rnic, &attr, &s->qp), 0);
		assert_int_equal(iw_qp_modify(s->qp, IW_QPS_INIT), 0);
		for (unsigned int r = 0; r < RECVS; r++)
			recv_wr(n, s);
	}
}

static void free_node(struct node *n)
{
	if (n->iw)
		iw_assoc_lost(n->iw, -ECONNRESET);
	for (unsigned int i = 0; i < n->n_qps; i++) {
		iw_qp_free(n->sides[i].qp);
		iw_cq_free(n->sides[i].cq);
	}
	iw_mr_free(n->source_mr);
	iw_mr_free(n->sink_mr);
	iw_mr_free(n->recv_mr);
	assert_int_equal(iw_pd_free(n->pd), 0);
	iw_rnic_free(n->rnic);
	sctp_endpoint_free(n->ep);
	sctp_free(n->sctp);
	free(n->rx);
	free(n->source);
	free(n->sink);
	free(n->recv_memory);
}

/*
 * Each write has bytes of the peer's sink to itself, from the front of the QP's share, and each read
 * bytes of our sink, from the back: RDMA gives no order between placements, so no byte may have two
 * writers. The last operation is a Send: when it is delivered every write before it must be there.
 */
static void plan(struct node *n, struct side *s)
{
	struct sim_random *r = &n->random;
	uint32_t share = MEMORY / QPS_MAX, base = (s - n->sides) * share;

	s->n_ops = 3 + sim_random_below(r, OPS_MAX - 3);
	for (unsigned int i = 0; i < s->n_ops; i++) {
		static const enum iw_wr_opcode kinds[] = { IW_WR_SEND, IW_WR_RDMA_WRITE, IW_WR_RDMA_READ };
		struct op *op = &s->ops[i];

		op->opcode = i == s->n_ops - 1 ? IW_WR_SEND : kinds[sim_random_below(r, 3)];
		op->len = sim_random_below(r, sim_random_chance(r, 0.3) ? 9000 : 200);
		if (op->opcode == IW_WR_RDMA_WRITE && sim_random_chance(r, 0.2))
			op->len = sim_random_below(r, 40000);
		op->local = sim_random_below(r, MEMORY - op->len);
		op->offset = sim_random_below(r, MEMORY - op->len);
		if (op->opcode == IW_WR_RDMA_WRITE) {
			if (s->written + op->len > share / 2)
				op->len = 0;
			op->offset = base + s->written;
			s->written += op->len;
		} else if (op->opcode == IW_WR_RDMA_READ) {
			if (s->read_to + op->len > share / 2)
				op->len = 0;
			s->read_to += op->len;
			op->local = base + share - s->read_to;
		} else {
			s->sends++;
		}
	}
}

static void post(struct node *n, struct side *s)
{
	bool any = false;

	while (s->posted < s->n_ops) {
		struct op *op = &s->ops[s->posted];
		struct iw_send_wqe *w = iw_sq_slot(s->qp);
		bool read = op->opcode == IW_WR_RDMA_READ;

		if (!w)
			break;
		memset(w, 0, sizeof(*w));
		w->wr_id = s->posted++;
		w->opcode = op->opcode;
		w->flags = IW_SEND_SIGNALED;
		w->length = op->len;
		w->remote_to = read ? (uintptr_t)n->peer->source + op->offset : op->offset;
		w->rkey = iw_mr_stag(read ? n->peer->source_mr : n->peer->sink_mr);
		if (op->len <= 64 && !read && (op->local & 1)) {
			w->flags |= IW_SEND_INLINE;
			memcpy(w->sge, n->source + op->local, op->len);
		} else if (read) {
			w->num_sge = 1;
			/* The sink's MR is zero-based. */
			w->sge[0] = (struct iw_sge){ op->local, op->len, iw_mr_stag(n->sink_mr) };
		} else {
			uint32_t first = op->len / 3;

			w->num_sge = 2;
			w->sge[0] = (struct iw_sge){ (uintptr_t)n->source + op->local, first,
						     iw_mr_stag(n->source_mr) };
			w->sge[1] = (struct iw_sge){ (uintptr_t)n->source + op->local + first,
						     op->len - first, iw_mr_stag(n->source_mr) };
		}
		iw_sq_publish(s->qp);
		any = true;
	}
	if (any)
		iw_qp_kick(s->qp);
}

/* Every write that the peer posted before its send number `upto` is in our sink. */
static void check_writes(struct node *n, struct side *s, unsigned int upto)
{
	struct side *theirs = &n->peer->sides[s - n->sides];

	for (unsigned int i = 0; i < upto; i++) {
		struct op *op = &theirs->ops[i];

		if (op->opcode != IW_WR_RDMA_WRITE)
			continue;
		for (uint32_t b = 0; b < op->len; b++)
			check(n->sink[op->offset + b] == pattern(op->local + b, salt(n->peer)));
	}
}

static void check_recv(struct node *n, struct side *s, const struct iw_cqe *cqe)
{
	struct side *theirs = &n->peer->sides[s - n->sides];
	const uint8_t *data;
	unsigned int i, send = 0;

	check(cqe->wr_id == s->recvs_done);
	for (i = 0; i < theirs->n_ops; i++)
		if (theirs->ops[i].opcode == IW_WR_SEND && send++ == s->recvs_done)
			break;
	check(i < theirs->n_ops);
	check(cqe->byte_len == theirs->ops[i].len);
	data = n->recv_memory + ((s - n->sides) * RECVS + s->recvs_done % RECVS) * RECV_SIZE;
	for (uint32_t b = 0; b < cqe->byte_len; b++)
		check(data[b] == pattern(theirs->ops[i].local + b, salt(n->peer)));
	check_writes(n, s, i);
	s->recvs_done++;
	recv_wr(n, s);
	iw_qp_kick(s->qp);
}

static void check_sent(struct node *n, struct side *s, const struct iw_cqe *cqe)
{
	struct op *op = &s->ops[s->completed];

	check(cqe->wr_id == s->completed);
	if (op->opcode == IW_WR_RDMA_READ)
		for (uint32_t b = 0; b < op->len; b++)
			check(n->sink[op->local + b] == pattern(op->offset + b, salt(n->peer)));
	s->completed++;
}

/*
 * With placement in order (odd seeds), what the peer's writes have placed so far is a prefix of all
 * that they will place: they take the QP's share of the sink from its front.
 */
static void check_order(struct node *n, struct side *s)
{
	uint32_t base = (s - n->sides) * (MEMORY / QPS_MAX);
	struct side *theirs = &n->peer->sides[s - n->sides];
	bool missing = false;

	for (unsigned int i = 0; i < theirs->n_ops; i++) {
		struct op *op = &theirs->ops[i];

		if (op->opcode != IW_WR_RDMA_WRITE)
			continue;
		for (uint32_t b = 0; b < op->len; b++) {
			uint8_t byte = n->sink[op->offset + b];

			check(op->offset >= base);
			if (byte != pattern(op->local + b, salt(n->peer)))
				missing = true;
			check(!missing || byte == 0);
		}
	}
}

static void application(struct node *n)
{
	for (unsigned int i = 0; i < n->n_qps; i++) {
		struct side *s = &n->sides[i];
		struct iw_cqe cqe;

		if (atomic_load(&s->qp->state) != IW_QPS_RTS)
			continue;
		if ((seed & 1) && sim_random_chance(&n->random, 0.1))
			check_order(n, s);
		while (iw_cq_poll(s->cq, 1, &cqe)) {
			check(cqe.status == IW_WC_SUCCESS);
			if (cqe.opcode == IW_WC_RECV)
				check_recv(n, s, &cqe);
			else
				check_sent(n, s, &cqe);
		}
		post(n, s);
	}
}

static bool done(const struct node *n)
{
	for (unsigned int i = 0; i < n->n_qps; i++) {
		const struct side *s = &n->sides[i];

		if (s->completed < s->n_ops || s->recvs_done < n->peer->sides[i].sends)
			return false;
	}
	return true;
}

static void run_node(struct node *n)
{
	struct sctp_assoc *a;
	struct sctp_batch b;

	iw_set_now(n->rnic, now);
	sctp_timers(n->sctp, now);
	iw_timers(n->rnic, now);
	events(n);
	application(n);
	while ((a = sctp_next_ready(n->sctp))) {
		if (n->iw)
			iw_assoc_set_max_msg(n->iw, sctp_assoc_max_msg(a));
		while (sctp_output(a, now, &b) > 0)
			transmit(n, &b);
	}
	while (sctp_output_stray(n->sctp, &b) > 0)
		transmit(n, &b);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void make_link(struct simnet_link *link, struct sim_random *r)
{
	memset(link, 0, sizeof(*link));
	link->delay = sim_random_below(r, 30) * SIMNET_MSEC / 3;
	link->jitter = sim_random_below(r, 3) * SIMNET_MSEC;
	if (sim_random_chance(r, 0.7))
		link->loss = sim_random_below(r, 20) / 100.0;
	if (sim_random_chance(r, 0.5))
		link->duplicate = sim_random_below(r, 10) / 100.0;
	if (sim_random_chance(r, 0.5))
		link->corrupt = sim_random_below(r, 5) / 100.0;
	if (sim_random_chance(r, 0.5)) {
		link->reorder = sim_random_below(r, 30) / 100.0;
		link->reorder_delay = sim_random_below(r, 20) * SIMNET_MSEC;
	}
	if (sim_random_chance(r, 0.3)) {
		link->rate = 1000000 + sim_random_below(r, 100000000);
		link->queue = 300000;
	}
}

/* What the path takes from some moment on, with ICMP or without. */
static void make_narrow(struct simnet_link *link, struct sim_random *r)
{
	static const uint32_t sizes[] = { 600, 1006, 1280, 1400, 1492, 4352, 8000 };

	link->mtu = sizes[sim_random_below(r, 7)];
	link->black_hole = sim_random_chance(r, 0.5);
}

static void run_seed(void)
{
	static const uint32_t mtus[] = { 1280, 1500, 9000, 65535 };
	static struct node a, b;
	struct simnet_link there, back;
	struct sim_random r;
	struct simnet *net = simnet_new(seed);
	struct path_addr to = { .remote = simnet_v4(2), .udp_port = UDP_PORT };
	uint64_t narrow = SIMNET_NEVER;
	unsigned int n_qps;
	uint32_t mtu;

	now = 1000;
	sim_random_init(&r, seed ^ 0x9e3779b97f4a7c15ull);
	mtu = mtus[sim_random_below(&r, 4)];
	n_qps = 1 + sim_random_below(&r, QPS_MAX);
	make_node(&a, net, 0, mtu, n_qps);
	make_node(&b, net, 1, mtu, n_qps);
	a.peer = &b;
	b.peer = &a;
	make_link(&there, &r);
	make_link(&back, &r);
	if (sim_random_chance(&r, 0.5))
		narrow = now + sim_random_below(&r, 300) * SIMNET_MSEC;
	simnet_route(net, a.id, b.id, &there);
	simnet_route(net, b.id, a.id, &back);
	for (unsigned int i = 0; i < n_qps; i++) {
		plan(&a, &a.sides[i]);
		plan(&b, &b.sides[i]);
	}
	assert_non_null(sctp_connect(a.ep, &to, UDP_PORT, mtu, &a, now));
	while (!done(&a) || !done(&b)) {
		uint64_t next;

		run_node(&a);
		run_node(&b);
		next = simnet_next(net);
		next = earliest(next, earliest(sctp_next_timeout(a.sctp), sctp_next_timeout(b.sctp)));
		next = earliest(next, earliest(iw_next_timeout(a.rnic), iw_next_timeout(b.rnic)));
		if (done(&a) && done(&b))
			break;
		if (now >= narrow) {
			make_narrow(&there, &r);
			make_narrow(&back, &r);
			narrow = SIMNET_NEVER;
		}
		next = earliest(next, narrow);
		check(next != SIMNET_NEVER);
		if (next > now)
			now = next;
		check(now < VIRTUAL_LIMIT);
		simnet_deliver(net, now);
	}
	check(a.up == n_qps && b.accepted == n_qps);
	free_node(&a);
	free_node(&b);
	simnet_free(net);
}

static unsigned long long first = 1, count = 300;

static void test_every_byte(void **state)
{
	ROWS("5041-3-03 5041-5.2-05 5041-5.3-01");
	for (seed = first; seed < first + count; seed++)
		run_seed();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_byte) };

	if (argc > 1)
		first = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		count = strtoull(argv[2], NULL, 0);
	else if (argc > 1)
		count = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
