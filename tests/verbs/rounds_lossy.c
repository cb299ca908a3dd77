/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two processes over a link that loses, reorders and duplicates packets. One process writes or
 * sends, waits for the completion, and notifies the other process by a pipe. The other process
 * compares every byte at once, before it uses the device. Several QPs do this in parallel, each in
 * its own rounds. Arguments: --rounds N sets the total number of rounds.
 */
#include "bad_link.h"
#include "child.h"
#include "deep.h"
#include "netns.h"
#include "out_of_band.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define PATIENCE 20 /* for connecting: 4 s for each try */
#define LANES 16    /* QPs */
#define LANE_BUF 65536
#define EMPTY_POLLS 200 /* the writer sleeps after this number */
#define STUCK 120	/* maximum seconds without a completion */

static unsigned int rounds = 20000;

/* A note on a pipe: the memory of this round is complete; or the writer may begin this round. */
struct note {
	uint32_t lane;
	uint32_t round;
};

/* Rounds, whose work both processes know in advance */

struct work {
	enum ibv_wr_opcode opcode;
	uint32_t len;
	uint32_t pieces;  /* work requests; only the last one is signaled */
	bool has_receive; /* of the peer */
	bool late;	  /* the receive is posted long after the Send */
	uint64_t id;	  /* of the message and of the work requests */
};

/* From a segment of 8,192 bytes on, payload is referenced, not copied (ZCOPY_MIN). */
static const uint32_t lengths[] = { 8,	  64,	1000, 4096,  8184,  8192,
				    8200, 8880, 9600, 16384, 24000, 40000 };
static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_SEND,
					      IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM };

static struct work work_of(const struct note *n)
{
	uint64_t id = (uint64_t)n->lane << 32 | n->round;
	uint64_t draw = (id + 1) * 0x9e3779b97f4a7c15u;
	struct work w = { .id = id, .pieces = 1 };

	draw = (draw ^ draw >> 31) * 0xff51afd7ed558ccdu;
	draw ^= draw >> 33;
	w.opcode = opcodes[draw % (sizeof(opcodes) / sizeof(opcodes[0]))];
	draw >>= 8;
	w.len = lengths[draw % (sizeof(lengths) / sizeof(lengths[0]))];
	draw >>= 8;
	w.has_receive = w.opcode != IBV_WR_RDMA_WRITE;
	w.late = w.has_receive && draw & 1;
	if (w.opcode == IBV_WR_RDMA_WRITE && draw & 2 && w.len % 64 == 0)
		w.pieces = 8;
	return w;
}

static uint32_t rounds_of(uint32_t lane)
{
	return rounds / LANES + (lane < rounds % LANES);
}

/* QPs */

struct lanes {
	struct ibv_comp_channel *channel;
	struct side side[LANES]; /* they share all but the QP and the part of the buffer */
	struct where to[LANES];
	int in, out;
	unsigned int begun, done; /* rounds */
	struct note late[LANES];  /* rounds whose receives are late */
	unsigned int n_late;
};

static void open_lanes(struct lanes *l)
{
	struct side s = { .pd = ibv_alloc_pd(ctx), .buf = deep_map((size_t)LANES * LANE_BUF) };

	l->channel = ibv_create_comp_channel(ctx);
	s.mr = ibv_reg_mr(s.pd, s.buf, (size_t)LANES * LANE_BUF, ALL_RIGHTS);
	s.send_cq = s.recv_cq = ibv_create_cq(ctx, 1024, NULL, l->channel, 0);
	CHECK(s.pd && s.mr && l->channel && s.send_cq);
	for (int i = 0; i < LANES; i++) {
		struct where me;

		l->side[i] = s;
		l->side[i].qp = new_qp(&s);
		l->side[i].buf = s.buf + (size_t)i * LANE_BUF;
		me = where_is(&l->side[i]);
		put(l->out, &me, sizeof(me));
	}
	for (int i = 0; i < LANES; i++) {
		get(l->in, &l->to[i], sizeof(l->to[i]));
		oob_connect(&l->side[i], &l->to[i]);
	}
}

static void close_lanes(struct lanes *l)
{
	struct side *s = l->side;

	for (int i = 0; i < LANES; i++)
		CHECK_EQ(ibv_destroy_qp(s[i].qp), 0);
	CHECK_EQ(ibv_destroy_cq(s->send_cq), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	CHECK_EQ(ibv_destroy_comp_channel(l->channel), 0);
	CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The process that compares */

static void post_receive(struct lanes *l, const struct note *n)
{
	struct work w = work_of(n);
	struct side *s = &l->side[n->lane];
	struct ibv_sge sge = sge_of(s->mr, s->buf, w.len);
	bool sge_used = w.opcode != IBV_WR_RDMA_WRITE_WITH_IMM;

	CHECK_EQ(post_recv(s, w.id, sge_used ? &sge : NULL, sge_used), 0);
}

static void prepare(struct lanes *l, const struct note *n)
{
	struct work w = work_of(n);

	if (w.late)
		l->late[l->n_late++] = *n;
	else if (w.has_receive)
		post_receive(l, n);
	put(l->out, n, sizeof(*n));
}

/* Waits for the next note. Posts the late receives if none comes for a while. */
static void next_note(struct lanes *l, struct note *n)
{
	struct pollfd fd = { .fd = l->in, .events = POLLIN };

	if (l->n_late && !poll(&fd, 1, 1))
		while (l->n_late)
			post_receive(l, &l->late[--l->n_late]);
	get(l->in, n, sizeof(*n));
}

/* Polls the completion of the round's receive. Earlier completions of other lanes go to `early`. */
static void take_receive(struct lanes *l, const struct note *n, struct ibv_wc *early)
{
	struct work w = work_of(n);
	struct ibv_wc wc;

	while (!early[n->lane].wr_id) {
		expect_wc(l->side->recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(wc.wr_id >> 32 < LANES && !early[wc.wr_id >> 32].wr_id);
		wc.wr_id++; /* not 0 */
		early[(wc.wr_id - 1) >> 32] = wc;
	}
	wc = early[n->lane];
	early[n->lane].wr_id = 0;
	CHECK_EQ(wc.wr_id, w.id + 1);
	CHECK_EQ(wc.qp_num, l->side[n->lane].qp->qp_num);
	CHECK_EQ(wc.byte_len, w.len);
	CHECK_EQ(wc.wc_flags, w.opcode == IBV_WR_SEND ? 0 : IBV_WC_WITH_IMM);
	if (wc.wc_flags)
		CHECK_EQ(ntohl(wc.imm_data), n->round);
}

static void compare(int in, int out)
{
	static struct ibv_wc early[LANES];
	struct lanes l = { .in = in, .out = out };
	struct note n;

	bad_link_cross();
	oob_open();
	oob_timeout = PATIENCE;
	open_lanes(&l);
	for (n = (struct note){ 0 }; n.lane < LANES; n.lane++)
		if (rounds_of(n.lane))
			prepare(&l, &n);
	for (unsigned int i = 0; i < rounds; i++) {
		struct work w;

		next_note(&l, &n);
		w = work_of(&n);
		CHECK(painted(l.side[n.lane].buf, w.len, w.id));
		if (w.has_receive)
			take_receive(&l, &n, early);
		if (++n.round < rounds_of(n.lane))
			prepare(&l, &n);
	}
	meet(in, out);
	close_lanes(&l);
}

/* The process that writes */

static void begin(struct lanes *l, const struct note *n)
{
	struct work w = work_of(n);
	struct side *s = &l->side[n->lane];
	uint32_t piece = w.len / w.pieces;

	paint(s->buf, w.len, w.id);
	for (uint32_t at = 0; at < w.len; at += piece) {
		struct ibv_sge sge = sge_of(s->mr, s->buf + at, piece);
		struct ibv_send_wr *bad,
			wr = { .wr_id = w.id,
			       .sg_list = &sge,
			       .num_sge = 1,
			       .opcode = w.opcode,
			       .send_flags = at + piece == w.len ? IBV_SEND_SIGNALED : 0,
			       .imm_data = htonl(n->round) };

		wr.wr.rdma.remote_addr = l->to[n->lane].addr + at;
		wr.wr.rdma.rkey = l->to[n->lane].rkey;
		CHECK_EQ(ibv_post_send(s->qp, &wr, &bad), 0);
	}
}

/* Notifies the peer of a complete work request. Its memory may be used again. */
static void tell(struct lanes *l, const struct ibv_wc *wc)
{
	struct note n = { (uint32_t)(wc->wr_id >> 32), (uint32_t)wc->wr_id };

	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK(n.lane < LANES);
	CHECK_EQ(wc->qp_num, l->side[n.lane].qp->qp_num);
	memset(l->side[n.lane].buf, POISON, work_of(&n).len);
	put(l->out, &n, sizeof(n));
	if (l->done++ % 256 == 0)
		alarm(STUCK);
}

/* Begins the rounds for which the other process is ready. Returns true if there was one. */
static bool begin_ready(struct lanes *l, int timeout)
{
	struct pollfd fds[2] = { { .fd = l->begun < rounds ? l->in : -1, .events = POLLIN },
				 { .fd = l->channel->fd, .events = POLLIN } };
	struct note n;

	CHECK(poll(fds, timeout ? 2 : 1, timeout) >= 0);
	if (fds[0].revents) {
		get(l->in, &n, sizeof(n));
		begin(l, &n);
		l->begun++;
	}
	return fds[0].revents;
}

/* Waits for a completion or for the other process, with the CQ armed. */
static void rest(struct lanes *l)
{
	struct ibv_cq *cq = l->side->send_cq;
	struct ibv_wc wc;
	void *cq_ctx;

	CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	if (ibv_poll_cq(cq, 1, &wc) == 1)
		tell(l, &wc);
	else
		begin_ready(l, 1000 * STUCK);
	if (poll(&(struct pollfd){ .fd = l->channel->fd, .events = POLLIN }, 1, 0) == 1) {
		CHECK_EQ(ibv_get_cq_event(l->channel, &cq, &cq_ctx), 0);
		ibv_ack_cq_events(cq, 1);
	}
}

static void report(double seconds)
{
	struct bad_link_counts c = bad_link_counts();

	printf("%u rounds in %.1f s; of %llu packets %llu were lost, %llu late, %llu doubled\n",
	       rounds, seconds, (unsigned long long)c.carried, (unsigned long long)c.lost,
	       (unsigned long long)c.late, (unsigned long long)c.twice);
	CHECK(rounds < 1000 || (c.lost && c.late && c.twice));
}

static void test_rounds(void)
{
	struct child c = child_start(compare);
	struct lanes l = { .in = c.from, .out = c.to };
	unsigned int empty = 0;
	double begun;

	oob_open();
	oob_timeout = PATIENCE;
	open_lanes(&l);
	bad_link_set(true);
	begun = now_seconds();
	while (l.done < rounds) {
		struct ibv_wc wc[LANES];
		int n = ibv_poll_cq(l.side->send_cq, LANES, wc);

		CHECK(n >= 0);
		for (int i = 0; i < n; i++)
			tell(&l, &wc[i]);
		empty = n ? 0 : empty + 1;
		while (begin_ready(&l, 0))
			empty = 0;
		if (empty > EMPTY_POLLS)
			rest(&l);
	}
	meet(l.in, l.out);
	bad_link_set(false);
	report(now_seconds() - begun);
	CHECK_EQ(child_end(&c), 0);
	close_lanes(&l);
}

static const struct test tests[] = {
	{ "rounds", test_rounds },
};

int main(int argc, char **argv)
{
	static const struct bad_link_odds odds = { .lost = 200, .late = 300, .twice = 100 };

	if (argc > 2 && !strcmp(argv[1], "--rounds"))
		rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	if (!bad_link_open(&odds)) {
		printf("skipped: this user may not make network namespaces or TUN devices\n");
		return SKIPPED;
	}
	return RUN_TESTS(1, argv, tests);
}
