/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Two RNICs, connected by a channel that reorders and delays. Random work on several QPs, with
 * memory windows bound and invalidated meanwhile. A model checks every byte and completion.
 * IW_SEED=n runs one seed, IW_SEEDS=n runs n seeds.
 */
#include "fixture/iw_channel.h"
#include "iwarp/mr.h"

#include <stdio.h>

#define QPS 3
#define DEPTH 32
#define ARENA (1 << 20)
#define SOURCE 65536
#define MAX_LEN 8000
#define OPS 60 /* per QP, end and round */

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)(fx_next(&seed) >> 20) % n;
}

/* The contents of a Send, checked on receipt. */
struct sent {
	uint8_t *data;
	uint32_t len;
	struct iw_mr *inv; /* the receiver's region */
	bool window;	   /* or the receiver's window */
	uint32_t inv_stag;
};

struct posted {
	uint64_t wr_id;
	uint8_t opcode;
	bool signaled;
	uint32_t len;
	struct iw_mr *inv; /* LOCAL_INV */
};

struct received {
	uint64_t wr_id;
	struct iw_sge sge[3];
	uint32_t n;
};

struct end;

struct side { /* one end of a QP pair */
	struct end *end;
	struct side *peer;
	struct iw_pd *pd;
	struct iw_qp *qp;
	struct iw_session *session;
	bool active, established, ending, closed;
	struct iw_mr *source_mr, *arena_mr;
	struct iw_mw *mw; /* of type 2, over source or arena */
	enum { MW_FREE, MW_POSTED, MW_BOUND, MW_RETURNING } mw_state;
	bool mw_source, mw_zero;
	uint32_t mw_stag;
	unsigned int binds;
	uint8_t *source, *arena, *shadow;
	uint32_t used; /* bytes of the arena */
	struct sent sent[OPS * 4];
	unsigned int sends, delivered;
	struct posted posted[OPS * 4];
	unsigned int posts, completed;
	struct received recv[OPS * 8];
	unsigned int recvs, recv_done;
	unsigned int left; /* operations to post */
};

struct end {
	struct iw_channel_end channel;
	struct iw_cq *cq;
	struct side side[QPS];
};

static struct end ends[2];

static void end_init(struct end *e, struct end *other, bool initiator, uint64_t s)
{
	memset(e, 0, sizeof(*e));
	iw_channel_start(&e->channel, &other->channel, initiator, 518 + rnd(4) * rnd(3000), s);
	e->cq = iw_cq_new(e->channel.iw, 4096, NULL);
}

static void side_init(struct end *e, struct side *s, struct side *peer)
{
	struct iw_qp_attr attr = { .send_cq = e->cq,
				   .recv_cq = e->cq,
				   .max_send_wr = DEPTH,
				   .max_recv_wr = DEPTH,
				   .max_send_sge = 3,
				   .max_recv_sge = 3,
				   .max_inline = 100 };
	uint64_t addr;

	s->end = e;
	s->peer = peer;
	s->pd = iw_pd_new(e->channel.rnic, NULL);
	attr.pd = s->pd;
	assert_int_equal(iw_qp_new(e->channel.iw, &attr, &s->qp), 0);
	s->source = malloc(SOURCE);
	for (unsigned int i = 0; i < SOURCE; i += 8) {
		uint64_t v = fx_next(&seed);

		memcpy(s->source + i, &v, 8);
	}
	s->arena = malloc(ARENA);
	s->shadow = malloc(ARENA);
	addr = (uint64_t)(uintptr_t)s->source;
	assert_int_equal(iw_mr_new(s->pd, addr, SOURCE, addr,
				   IW_ACCESS_REMOTE_READ | IW_ACCESS_MW_BIND, NULL, &s->source_mr),
			 0);
	addr = (uint64_t)(uintptr_t)s->arena;
	assert_int_equal(iw_mr_new(s->pd, addr, ARENA, 0x1000,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
					   IW_ACCESS_MW_BIND,
				   NULL, &s->arena_mr),
			 0);
	assert_int_equal(iw_mw_new(s->pd, IW_MW_TYPE_2, &s->mw), 0);
}

/* Returns the offset of unused bytes in the arena. A gap before them detects overruns. */
static uint32_t take(struct side *s, uint32_t len)
{
	uint32_t at = s->used + rnd(9);

	assert_true(at + len <= ARENA);
	s->used = at + len;
	return at;
}

static bool room(const struct side *s, uint32_t len)
{
	return s->used + len + (OPS + 5 - s->recvs) * (MAX_LEN + 64) < ARENA;
}

static uint32_t random_len(void)
{
	switch (rnd(4)) {
	case 0:
		return rnd(10);
	case 1:
		return rnd(MAX_LEN);
	default:
		return rnd(1500);
	}
}

static void post_recv(struct side *s)
{
	struct iw_recv_wqe *w;
	struct received *r = &s->recv[s->recvs];
	uint32_t left = MAX_LEN;

	if (s->recvs == OPS + 4 || !(w = iw_rq_slot(s->qp)))
		return;
	r->wr_id = fx_next(&seed);
	r->n = 1 + rnd(3);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t len = i + 1 == r->n ? left : rnd(left);

		r->sge[i] = (struct iw_sge){ 0x1000 + take(s, len), len, iw_mr_stag(s->arena_mr) };
		left -= len;
	}
	w->wr_id = r->wr_id;
	w->num_sge = r->n;
	w->length = MAX_LEN;
	memcpy(w->sge, r->sge, sizeof(r->sge));
	s->recvs++;
	iw_rq_publish(s->qp);
	if (iw_rq_is_awaited(s->qp))
		iw_qp_doorbell(s->qp);
}

/* Makes a gather list over the source, and copies its bytes to data. */
static void gather(struct side *s, struct iw_send_wqe *w, uint8_t *data, uint32_t len)
{
	uint32_t at = 0;

	w->length = len;
	if (len <= 100 && rnd(2)) {
		w->flags |= IW_SEND_INLINE;
		for (uint32_t i = 0; i < len; i++)
			data[i] = ((uint8_t *)w->sge)[i] = (uint8_t)rnd(256);
		return;
	}
	w->num_sge = (uint8_t)(len ? 1 + rnd(3) : rnd(2));
	for (uint32_t i = 0; i < w->num_sge; i++) {
		uint32_t n = i + 1 == w->num_sge ? len - at : rnd(len - at + 1);
		uint32_t from = rnd(SOURCE - n);

		w->sge[i] = (struct iw_sge){ (uint64_t)(uintptr_t)s->source + from, n,
					     iw_mr_stag(s->source_mr) };
		memcpy(data + at, s->source + from, n);
		at += n;
	}
}

static void prepare_bind(struct side *s, struct iw_send_wqe *w)
{
	s->mw_state = MW_POSTED;
	s->mw_source = rnd(2);
	s->mw_zero = rnd(2);
	s->mw_stag = iw_mw_stag(s->mw);
	s->mw_stag = (s->mw_stag & ~0xffu) | ((s->mw_stag + 1 + rnd(255)) & 0xff);
	w->opcode = IW_WR_BIND_MW;
	w->inv_stag = iw_mw_stag(s->mw);
	w->rkey = s->mw_stag;
	w->remote_to = s->mw_source ? (uint64_t)(uintptr_t)s->source : 0x1000;
	w->bind.length = s->mw_source ? SOURCE : ARENA;
	w->bind.lkey = iw_mr_stag(s->mw_source ? s->source_mr : s->arena_mr);
	w->bind.access = (s->mw_source ? IW_ACCESS_REMOTE_READ : IW_ACCESS_REMOTE_WRITE) |
			 (s->mw_zero ? IW_ACCESS_ZERO_BASED : 0);
	s->binds++;
}

/*
 * Sometimes replaces the STag by that of the peer's window. remote_to is then relative to the MR,
 * which begins at base.
 */
static void aim(const struct side *peer, bool source, struct iw_send_wqe *w, uint64_t base)
{
	if (peer->mw_state != MW_BOUND || peer->mw_source != source || rnd(3) == 0)
		return;
	w->rkey = peer->mw_stag;
	if (peer->mw_zero)
		w->remote_to -= base;
}

static void prepare_send(struct side *s, struct iw_send_wqe *w, uint32_t len)
{
	struct sent *sent = &s->sent[s->sends++];

	w->opcode = IW_WR_SEND;
	sent->data = malloc(len + 1);
	sent->len = len;
	sent->inv = NULL;
	sent->window = false;
	gather(s, w, sent->data, len);
	if (s->peer->mw_state == MW_BOUND && rnd(3) == 0) {
		/*
		 * The Invalidate must follow all uses of the STag. The fence makes the Invalidate
		 * wait for earlier reads.
		 */
		w->opcode = IW_WR_SEND_WITH_INV;
		w->flags |= IW_SEND_FENCE;
		w->inv_stag = sent->inv_stag = s->peer->mw_stag;
		s->peer->mw_state = MW_RETURNING;
		sent->window = true;
	} else if (rnd(5) == 0) {
		w->opcode = IW_WR_SEND_WITH_INV;
		assert_int_equal(iw_mr_new(s->peer->pd, (uint64_t)(uintptr_t)s->peer->source, 100,
					   0, IW_ACCESS_REMOTE_READ, NULL, &sent->inv),
				 0);
		w->inv_stag = sent->inv_stag = iw_mr_stag(sent->inv);
	}
	if (rnd(3) == 0)
		w->flags |= IW_SEND_SOLICITED;
}

static void prepare_write(struct side *s, struct iw_send_wqe *w, uint32_t len)
{
	uint32_t at = take(s->peer, len);

	w->opcode = IW_WR_RDMA_WRITE;
	w->rkey = len ? iw_mr_stag(s->peer->arena_mr) : rnd(UINT32_MAX);
	w->remote_to = 0x1000 + at;
	if (len)
		aim(s->peer, false, w, 0x1000);
	gather(s, w, s->peer->shadow + at, len);
}

static void prepare_read(struct side *s, struct iw_send_wqe *w, uint32_t len)
{
	uint32_t at = take(s, len), from = rnd(SOURCE - len);

	w->opcode = IW_WR_RDMA_READ;
	w->rkey = iw_mr_stag(s->peer->source_mr);
	w->remote_to = (uint64_t)(uintptr_t)s->peer->source + from;
	aim(s->peer, true, w, (uint64_t)(uintptr_t)s->peer->source);
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct iw_sge){ 0x1000 + at, len, iw_mr_stag(s->arena_mr) };
	memcpy(s->shadow + at, s->peer->source + from, len);
}

static void post_send(struct side *s)
{
	struct iw_send_wqe *w = iw_sq_slot(s->qp);
	struct posted *p = &s->posted[s->posts];
	uint32_t len = random_len();

	if (!s->left)
		iw_qp_doorbell(s->qp); /* for WRs posted without a doorbell */
	if (!w || !s->left)
		return;
	/* Later receives need a part of the arena. */
	if (!room(s, len) || !room(s->peer, len))
		len = 0;
	memset(w, 0xcc, sizeof(*w));
	w->flags = 0;
	w->num_sge = 0;
	w->length = 0;
	switch (rnd(9)) {
	case 0:
	case 1:
	case 2:
		prepare_send(s, w, len);
		break;
	case 3:
	case 4:
		prepare_write(s, w, len);
		break;
	case 5:
	case 6:
		prepare_read(s, w, len);
		break;
	case 7:
		if (s->mw_state == MW_FREE) {
			prepare_bind(s, w);
			break;
		}
		/* fall through */
	default:
		w->opcode = IW_WR_LOCAL_INV;
		assert_int_equal(iw_mr_new(s->pd, 4096, 1, 0, 0, NULL, &p->inv), 0);
		w->inv_stag = iw_mr_stag(p->inv);
	}
	if (rnd(6) == 0)
		w->flags |= IW_SEND_FENCE;
	if (rnd(3) == 0)
		w->flags |= IW_SEND_SIGNALED;
	/* The last completion shows that all are done. */
	if (--s->left == 0)
		w->flags |= IW_SEND_SIGNALED;
	w->wr_id = p->wr_id = fx_next(&seed);
	p->signaled = w->flags & IW_SEND_SIGNALED;
	p->opcode = w->opcode;
	p->len = w->length;
	s->posts++;
	iw_sq_publish(s->qp);
	if (rnd(4))
		iw_qp_doorbell(s->qp);
}

static void check_sent(struct side *s, const struct iw_cqe *cqe)
{
	static const uint32_t opcodes[] = {
		[IW_WR_RDMA_WRITE] = IW_WC_RDMA_WRITE, [IW_WR_SEND] = IW_WC_SEND,
		[IW_WR_RDMA_READ] = IW_WC_RDMA_READ,   [IW_WR_LOCAL_INV] = IW_WC_LOCAL_INV,
		[IW_WR_BIND_MW] = IW_WC_BIND_MW,       [IW_WR_SEND_WITH_INV] = IW_WC_SEND
	};
	struct posted *p;

	do {
		assert_true(s->completed < s->posts);
		p = &s->posted[s->completed++];
		if (p->inv)
			iw_mr_free(p->inv);
		p->inv = NULL;
		if (p->opcode == IW_WR_BIND_MW)
			s->mw_state = MW_BOUND;
	} while (!p->signaled);
	assert_true(cqe->wr_id == p->wr_id);
	assert_int_equal(cqe->opcode, opcodes[p->opcode]);
	if (p->opcode == IW_WR_RDMA_READ)
		assert_int_equal(cqe->byte_len, p->len);
}

static void check_received(struct side *s, const struct iw_cqe *cqe)
{
	struct received *r = &s->recv[s->recv_done++];
	struct sent *sent = &s->peer->sent[s->delivered++];
	uint32_t at = 0;

	assert_true(s->recv_done <= s->recvs && s->delivered <= s->peer->sends);
	assert_true(cqe->wr_id == r->wr_id);
	assert_int_equal(cqe->byte_len, sent->len);
	for (uint32_t i = 0; i < r->n && at < sent->len; i++) {
		uint32_t n = sent->len - at < r->sge[i].length ? sent->len - at : r->sge[i].length;

		memcpy(s->shadow + (r->sge[i].addr - 0x1000), sent->data + at, n);
		assert_memory_equal(s->arena + (r->sge[i].addr - 0x1000), sent->data + at, n);
		at += n;
	}
	assert_int_equal(cqe->flags, sent->inv || sent->window ? IW_WC_WITH_INV : 0);
	if (sent->window) {
		assert_int_equal(cqe->inv_stag, sent->inv_stag);
		s->mw_state = MW_FREE;
	}
	if (sent->inv) {
		assert_int_equal(cqe->inv_stag, sent->inv_stag);
		iw_mr_free(sent->inv);
		sent->inv = NULL;
	}
	free(sent->data);
	sent->data = NULL;
}

static void poll(struct end *e)
{
	struct iw_cqe cqe[8];
	unsigned int n = iw_cq_poll(e->cq, 1 + rnd(8), cqe);

	for (unsigned int i = 0; i < n; i++) {
		struct side *s = NULL;

		for (unsigned int q = 0; q < QPS; q++)
			if (e->side[q].qp->num == cqe[i].qp_num)
				s = &e->side[q];
		assert_non_null(s);
		if (s->ending && cqe[i].status == IW_WC_WR_FLUSH_ERR)
			continue;
		if (cqe[i].status)
			fail_msg("seed: status %u opcode %u", cqe[i].status, cqe[i].opcode);
		if (cqe[i].opcode == IW_WC_RECV)
			check_received(s, &cqe[i]);
		else
			check_sent(s, &cqe[i]);
	}
}

/* Usually there is room for any message, sometimes only for small ones. */
static void pull(struct end *e)
{
	size_t max_msg = e->channel.max_msg;

	iw_channel_pull(&e->channel, rnd(3) ? max_msg : rnd((uint32_t)max_msg + 2000));
}

static void arrive(struct end *e)
{
	unsigned int i = rnd(2) ? 0 : rnd(e->channel.flying ? e->channel.flying : 1);

	if (e->channel.flying)
		iw_channel_arrive(&e->channel, i);
}

static void events(struct end *e)
{
	struct iw_event ev;

	while (iw_next_event(e->channel.iw, &ev)) {
		struct iw_session_param p = { .ird = 1 + rnd(4),
					      .ord = 1 + rnd(4),
					      .rnr_retry_count = 7 };
		struct side *s = NULL;

		switch (ev.type) {
		case IW_EVENT_INITIATE:
			assert_int_equal(ev.param.private_data_len, 1);
			s = &e->side[ev.param.private_data[0]];
			s->session = ev.session;
			iw_session_set_user(ev.session, &(struct iw_session_user){ .ctx = s });
			assert_int_equal(iw_session_accept(ev.session, s->qp, &p), 0);
			s->established = true;
			break;
		case IW_EVENT_ACCEPT:
			s = ev.user.ctx;
			s->established = true;
			break;
		case IW_EVENT_CLOSED:
			s = ev.user.ctx;
			assert_int_equal(ev.error, 0);
			s->closed = true;
			s->session = NULL;
			break;
		default:
			fail_msg("event %d", ev.type);
		}
	}
}

static bool is_done(const struct side *s)
{
	return !s->left && s->completed == s->posts && s->delivered == s->peer->sends;
}

/* One random step of anything. */
static void step(unsigned int bias)
{
	struct end *e = &ends[rnd(2)];
	struct side *s = &e->side[rnd(QPS)];

	switch (rnd(8)) {
	case 0:
		if (s->established && !s->closed)
			post_send(s);
		break;
	case 1:
		if (!s->closed && rnd(bias) == 0)
			post_recv(s);
		break;
	case 2:
	case 3:
		pull(e);
		break;
	case 4:
	case 5:
		arrive(e);
		break;
	case 6:
		events(e);
		break;
	default:
		poll(e);
	}
}

/* True once the last Writes have arrived as well. */
static bool all_done(void)
{
	if (ends[0].channel.flying || ends[1].channel.flying)
		return false;
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int q = 0; q < QPS; q++)
			if (!is_done(&ends[i].side[q]))
				return false;
	return true;
}

static bool quiet(void)
{
	for (unsigned int i = 0; i < 2; i++)
		if (ends[i].channel.flying || iw_assoc_sessions(ends[i].channel.assoc))
			return false;
	return true;
}

static void begin_round(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int q = 0; q < QPS; q++) {
			struct side *s = &ends[i].side[q];
			struct iw_session_param p = { .ird = 1 + rnd(5),
						      .ord = 1 + rnd(5),
						      .rnr_retry_count = 7,
						      .private_data_len = 1,
						      .private_data = { (uint8_t)q } };

			s->sends = s->delivered = s->posts = s->completed = 0;
			s->recvs = s->recv_done = s->used = 0;
			s->established = s->ending = s->closed = false;
			s->left = OPS;
			s->mw_state = MW_FREE; /* the end of a session unbinds windows */
			assert_int_equal(s->source_mr->windows + s->arena_mr->windows, 0);
			s->active = (q & 1) == i;
			memset(s->arena, 0x5a, ARENA);
			memset(s->shadow, 0x5a, ARENA);
			assert_int_equal(iw_qp_modify(s->qp, IW_QPS_RESET), 0);
			assert_int_equal(iw_qp_modify(s->qp, IW_QPS_INIT), 0);
			if (s->active)
				assert_int_equal(
					iw_session_initiate(ends[i].channel.assoc, s->qp, &p,
							    &(struct iw_session_user){ .ctx = s },
							    &s->session),
					0);
		}
	}
}

static void end_round(uint64_t *now)
{
	unsigned int n;

	for (unsigned int q = 0; q < QPS; q++) {
		struct side *s = &ends[rnd(2)].side[q];

		s->ending = s->peer->ending = true;
		iw_session_close(s->session);
		s->session = NULL;
		s->closed = true;
	}
	for (n = 0; n < 200000 && !quiet(); n++) {
		step(1);
		if (n % 16 == 0) {
			*now += 100000;
			iw_timers(ends[0].channel.iw, *now);
			iw_timers(ends[1].channel.iw, *now);
		}
	}
	assert_true(quiet());
	for (unsigned int i = 0; i < 2; i++) {
		events(&ends[i]);
		while (!iw_cq_is_empty(ends[i].cq))
			poll(&ends[i]);
		for (unsigned int q = 0; q < QPS; q++) {
			struct side *s = &ends[i].side[q];

			assert_true(s->closed);
			assert_int_equal(atomic_load(&s->qp->state), IW_QPS_ERR);
			assert_memory_equal(s->arena, s->shadow, ARENA);
			assert_int_equal(s->qp->sq.head, atomic_load(&s->qp->sq.tail));
			assert_int_equal(s->qp->rq.head, atomic_load(&s->qp->rq.tail));
		}
	}
}

static void run(uint64_t n)
{
	uint64_t now = 0;

	seed = n * 0x9e3779b97f4a7c15ull + 12345;
	end_init(&ends[0], &ends[1], true, n);
	end_init(&ends[1], &ends[0], false, n + 1000000);
	for (unsigned int q = 0; q < QPS; q++) {
		side_init(&ends[0], &ends[0].side[q], &ends[1].side[q]);
		side_init(&ends[1], &ends[1].side[q], &ends[0].side[q]);
	}
	/* The three sessions are on streams 0 to 3, so the second round reuses streams. */
	for (unsigned int round = 0; round < 2; round++) {
		unsigned int bias = 1 + rnd(6), steps;

		begin_round();
		for (steps = 0; steps < 1000000 && !all_done(); steps++)
			step(bias);
		if (!all_done())
			fail_msg("seed %llu is stuck", (unsigned long long)n);
		end_round(&now);
	}
	for (unsigned int i = 0; i < 2; i++) {
		iw_assoc_lost(ends[i].channel.assoc, 0);
		for (unsigned int q = 0; q < QPS; q++) {
			struct side *s = &ends[i].side[q];

			assert_int_not_equal(s->binds, 0);
			iw_qp_free(s->qp);
			iw_mw_free(s->mw);
			assert_int_equal(iw_mr_free(s->source_mr), 0);
			assert_int_equal(iw_mr_free(s->arena_mr), 0);
			assert_int_equal(iw_pd_free(s->pd), 0);
			free(s->source);
			free(s->arena);
			free(s->shadow);
		}
		assert_int_equal(iw_cq_free(ends[i].cq), 0);
		iw_shard_free(ends[i].channel.iw);
		iw_rnic_free(ends[i].channel.rnic);
	}
}

static void many_seeds(void **state)
{
	const char *one = getenv("IW_SEED"), *many = getenv("IW_SEEDS");
	uint64_t count = many ? strtoull(many, NULL, 0) : 150;

	if (one) {
		run(strtoull(one, NULL, 0));
		return;
	}
	for (uint64_t n = 1; n <= count; n++) {
		if (getenv("IW_VERBOSE"))
			fprintf(stderr, "seed %llu\n", (unsigned long long)n);
		run(n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(many_seeds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
