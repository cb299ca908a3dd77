/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: zcopy_lossy -- --lossy */
/*
 * After a completion, the buffer belongs to the application. Whatever bytes it then writes, the
 * peer gets those that were posted. Two processes send deep queues of long messages. With --lossy,
 * packets are lost.
 */
#include "out_of_band.h"
#include "child.h"
#include "deep.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "netns.h"

#define PATIENCE 20 /* for connecting: 4 s for each try */
#define QUEUE 1024
#define PIECES 3
#define KIB 1024u
#define MIB (1024u * KIB)
#define SOME "meta l4proto udp meta length > 2000 numgen random mod 100 < 3"

static struct plan {
	enum ibv_wr_opcode opcode;
	uint32_t size;
	unsigned int depth; /* messages posted at once, each from its own buffer */
	unsigned int slots; /* messages in a round, with memory for each at the receiver */
	unsigned int rounds;
	unsigned int every; /* one of this number is signaled */
	bool events;
	bool pieces; /* gathered from PIECES elements, with a long last one */
	bool helped; /* another thread polls during transmission */
	bool forks;  /* forks children that write to their copies of the buffers */
} plan;

/* A QP with long queues */

static void deep_open(struct side *s, size_t len)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
					 .cap = { QUEUE, QUEUE, PIECES, PIECES, 0 } };

	memset(s, 0, sizeof(*s));
	s->pd = ibv_alloc_pd(ctx);
	s->channel = ibv_create_comp_channel(ctx);
	CHECK(s->pd && s->channel);
	s->send_cq = ibv_create_cq(ctx, 2 * QUEUE, NULL, s->channel, 0);
	s->recv_cq = ibv_create_cq(ctx, 2 * QUEUE, NULL, NULL, 0);
	CHECK(s->send_cq && s->recv_cq);
	attr.send_cq = s->send_cq;
	attr.recv_cq = s->recv_cq;
	s->qp = ibv_create_qp(s->pd, &attr);
	s->buf = deep_map(len);
	s->mr = ibv_reg_mr(s->pd, s->buf, len, ALL_RIGHTS);
	CHECK(s->qp && s->mr);
}

static void deep_close(struct side *s, size_t len)
{
	CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	CHECK_EQ(ibv_destroy_cq(s->send_cq), 0);
	CHECK_EQ(ibv_destroy_cq(s->recv_cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(s->channel), 0);
	CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	if (s->buf)
		CHECK_EQ(munmap(s->buf, len), 0);
}

static struct where meet_peer(struct side *s, int in, int out)
{
	struct where me = where_is(s), to;

	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	oob_connect(s, &to);
	meet(in, out);
	return to;
}

/* The receiver */

static void post_slots(struct side *s)
{
	for (unsigned int i = 0; i < plan.slots; i++) {
		struct ibv_sge sge = sge_of(s->mr, s->buf + (size_t)i * plan.size, plan.size);

		CHECK_EQ(post_recv(s, i, &sge, 1), 0);
	}
}

static void check_slot(const struct side *s, unsigned int slot, uint64_t first)
{
	CHECK(painted(s->buf + (size_t)slot * plan.size, plan.size, first + slot));
}

static void receive_sends(struct side *s, uint64_t first)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < plan.slots; i++) {
		expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.byte_len, plan.size);
		check_slot(s, i, first);
	}
}

/* The message after the Writes shows that they have arrived. */
static void receive_writes(struct side *s, uint64_t first)
{
	struct ibv_wc wc;

	expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
	for (unsigned int i = 0; i < plan.slots; i++)
		check_slot(s, i, first);
}

static void receiver(int in, int out)
{
	size_t len = (size_t)plan.slots * plan.size;
	struct side s;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&s, len);
	meet_peer(&s, in, out);
	for (unsigned int round = 0; round < plan.rounds; round++) {
		uint64_t first = (uint64_t)round * plan.slots;

		if (plan.opcode == IBV_WR_SEND)
			post_slots(&s);
		else
			CHECK_EQ(post_recv(&s, 0, NULL, 0), 0);
		meet(in, out);
		if (plan.opcode == IBV_WR_SEND)
			receive_sends(&s, first);
		else
			receive_writes(&s, first);
		meet(in, out);
	}
	deep_close(&s, len);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The sender */

struct sender {
	struct side s;
	struct where to;
	uint64_t posted, completed, end; /* numbers of messages; end: of this round */
};

static uint8_t *buffer_of(const struct sender *t, uint64_t message)
{
	return t->s.buf + message % plan.depth * plan.size;
}

static int make_pieces(const struct sender *t, uint8_t *from, struct ibv_sge *sge)
{
	sge[0] = sge_of(t->s.mr, from, plan.pieces ? 8 : plan.size);
	if (!plan.pieces)
		return 1;
	sge[1] = sge_of(t->s.mr, from + 8, 24);
	sge[2] = sge_of(t->s.mr, from + 32, plan.size - 32);
	return 3;
}

static struct ibv_send_wr make_message(struct sender *t, struct ibv_sge *sge)
{
	uint64_t message = t->posted++;
	uint8_t *from = buffer_of(t, message);
	bool signaled = t->posted % plan.every == 0 || t->posted == t->end;

	paint(from, plan.size, message);
	return (struct ibv_send_wr){
		.wr_id = message,
		.sg_list = sge,
		.num_sge = make_pieces(t, from, sge),
		.opcode = plan.opcode,
		.send_flags = signaled ? IBV_SEND_SIGNALED : 0,
		.wr.rdma = { t->to.addr + message % plan.slots * plan.size, t->to.rkey },
	};
}

/* Posts messages by one call, so that most messages have later ones in the queue. */
static void fill_queue(struct sender *t)
{
	static struct ibv_send_wr wr[QUEUE];
	static struct ibv_sge sge[QUEUE][PIECES];
	struct ibv_send_wr *bad;
	unsigned int n = 0;

	for (; t->posted < t->end && t->posted - t->completed < plan.depth; n++) {
		wr[n] = make_message(t, sge[n]);
		if (n)
			wr[n - 1].next = &wr[n];
	}
	if (n)
		CHECK_EQ(ibv_post_send(t->s.qp, wr, &bad), 0);
}

/* Records a completion: this message and all earlier ones are complete. */
static void give_back(struct sender *t, const struct ibv_wc *wc)
{
	if (wc->status)
		fprintf(stderr, "message %llu: %s\n", (unsigned long long)wc->wr_id,
			ibv_wc_status_str(wc->status));
	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
	CHECK(wc->wr_id >= t->completed && wc->wr_id < t->completed + plan.every &&
	      wc->wr_id < t->posted);
	CHECK((wc->wr_id + 1) % plan.every == 0 || wc->wr_id + 1 == t->end);
	while (t->completed <= wc->wr_id)
		memset(buffer_of(t, t->completed++), POISON, plan.size);
}

static void wait_event(struct side *s)
{
	struct pollfd pfd = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *cq_context;

	CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(s->channel, &cq, &cq_context), 0);
	CHECK(cq == s->send_cq);
	ibv_ack_cq_events(cq, 1);
}

/* Polls one completion at a time: a thread that polls many would handle the first one late. */
static void next_completion(struct sender *t, struct ibv_wc *wc)
{
	while (plan.events) {
		if (ibv_poll_cq(t->s.send_cq, 1, wc) == 1)
			return;
		CHECK_EQ(ibv_req_notify_cq(t->s.send_cq, 0), 0);
		if (ibv_poll_cq(t->s.send_cq, 1, wc) == 1)
			return;
		wait_event(&t->s);
	}
	wait_wc(t->s.send_cq, wc);
}

/* The child writes to its own memory. Its end does not affect the parent. */
static void fork_one(struct sender *t)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		memset(t->s.buf, POISON, (size_t)plan.depth * plan.size);
		_exit(0);
	}
	/* The parent writes at the same time. */
	for (unsigned int i = 0; i < plan.depth / 4 && t->completed < t->end; i++) {
		struct ibv_wc wc;

		next_completion(t, &wc);
		give_back(t, &wc);
		fill_queue(t);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* No work request completes while no packet arrives. Later, some of the packets are lost. */
static void begin_without_peer(struct sender *t)
{
	double until = now_seconds() + 0.03;
	struct ibv_wc wc;

	deep_cut();
	fill_queue(t);
	while (now_seconds() < until)
		CHECK_EQ(ibv_poll_cq(t->s.send_cq, 1, &wc), 0);
	lose(SOME);
}

static void send_round(struct sender *t)
{
	struct ibv_wc wc;

	t->end = t->posted + plan.slots;
	if (lossy)
		begin_without_peer(t);
	while (t->completed < t->end) {
		fill_queue(t);
		next_completion(t, &wc);
		give_back(t, &wc);
		if (plan.forks && t->completed % 64 == 0)
			fork_one(t);
	}
	if (plan.opcode == IBV_WR_SEND)
		return;
	if (t->end / plan.slots % 2)
		CHECK_EQ(post_send(&t->s, t->end, NULL, 0, IBV_SEND_SIGNALED), 0);
	else
		CHECK_EQ(post_rdma(&t->s, IBV_WR_RDMA_WRITE_WITH_IMM, t->end, NULL, 0, t->to.addr,
				   t->to.rkey, IBV_SEND_SIGNALED),
			 0);
	expect_wc(t->s.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, t->end);
}

static _Atomic bool helper_stops;

static void *help(void *arg)
{
	struct ibv_wc wc;

	while (!helper_stops)
		CHECK_EQ(ibv_poll_cq(arg, 1, &wc), 0);
	return NULL;
}

static void run_once(void)
{
	size_t len = (size_t)plan.depth * plan.size;
	struct child c = child_start(receiver);
	struct sender t = { .posted = 0 };
	pthread_t helper;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&t.s, len);
	t.to = meet_peer(&t.s, c.from, c.to);
	helper_stops = false;
	if (plan.helped)
		CHECK_EQ(pthread_create(&helper, NULL, help, t.s.recv_cq), 0);
	for (unsigned int round = 0; round < plan.rounds; round++) {
		meet(c.from, c.to);
		send_round(&t);
		meet(c.from, c.to);
	}
	helper_stops = true;
	if (plan.helped)
		CHECK_EQ(pthread_join(helper, NULL), 0);
	deep_mend();
	deep_close(&t.s, len);
	CHECK_EQ(child_end(&c), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Runs the function in new processes each time. */
static void run_times(unsigned int times, void (*once)(void), struct plan p)
{
	plan = p;
	for (unsigned int i = 0; i < times; i++) {
		int status;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			alarm(120);
			once();
			exit(0);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
}

/* After a loss, payload is copied for a while, so each round has new connections. */
static void run(struct plan p)
{
	unsigned int times = lossy ? p.rounds : 1;

	if (lossy)
		p.rounds = 1;
	run_times(times, run_once, p);
}

static void run_sizes(struct plan p)
{
	static const struct plan sizes[] = {
		{ .size = 64 * KIB, .depth = 128, .slots = 512, .rounds = 2 },
		{ .size = 4 * KIB, .depth = 512, .slots = QUEUE, .rounds = 3 },
		{ .size = MIB, .depth = 16, .slots = 48, .rounds = 1 },
		{ .size = 40 * KIB + 8, .depth = 128, .slots = 200, .rounds = 2 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p.size = sizes[i].size;
		p.depth = sizes[i].depth;
		p.slots = sizes[i].slots;
		p.rounds = sizes[i].rounds;
		run(p);
	}
}

static void test_writes(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_RDMA_WRITE, .every = 1 });
}

static void test_writes_some_signaled(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_RDMA_WRITE, .every = 16 });
}

static void test_writes_events(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_RDMA_WRITE, .every = 1, .events = true });
}

static void test_writes_helped(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_RDMA_WRITE, .every = 1, .helped = true });
}

static void test_sends(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_SEND, .every = 1 });
}

static void test_sends_some_signaled(void)
{
	run_sizes((struct plan){
		.opcode = IBV_WR_SEND, .every = 16, .events = true, .pieces = true });
}

static void test_sends_helped(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_SEND, .every = 16, .helped = true });
}

static void test_pieces(void)
{
	run_sizes((struct plan){ .opcode = IBV_WR_RDMA_WRITE, .every = 1, .pieces = true });
}

static void test_forks(void)
{
	run((struct plan){ .opcode = IBV_WR_RDMA_WRITE,
			   .every = 1,
			   .forks = true,
			   .size = 64 * KIB,
			   .depth = 128,
			   .slots = 512,
			   .rounds = 2 });
	run((struct plan){ .opcode = IBV_WR_SEND,
			   .every = 1,
			   .forks = true,
			   .events = true,
			   .size = 64 * KIB,
			   .depth = 128,
			   .slots = 512,
			   .rounds = 2 });
}

/* Memory that is unmapped silently */

#define UNMAPPED_LEN ((size_t)plan.slots * plan.size)

static void receive_two(int in, int out)
{
	struct side bad, good;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&bad, UNMAPPED_LEN);
	deep_open(&good, UNMAPPED_LEN);
	meet_peer(&bad, in, out);
	meet_peer(&good, in, out);
	CHECK_EQ(post_recv(&good, 0, NULL, 0), 0);
	meet(in, out);
	receive_writes(&good, 0);
	meet(in, out); /* the other QP has ended, too */
	for (unsigned int i = 0; i < plan.slots; i++)
		CHECK(painted_or_zero(bad.buf + (size_t)i * plan.size, plan.size, i));
	deep_close(&bad, UNMAPPED_LEN);
	deep_close(&good, UNMAPPED_LEN);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The QP of this memory may end in any way. The other QP between the two processes continues. */
static void unmap_once(void)
{
	struct child c = child_start(receive_two);
	struct sender bad = { .end = plan.slots }, good = { .end = plan.slots };
	enum ibv_wc_status last = IBV_WC_SUCCESS;
	struct ibv_wc wc;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&bad.s, UNMAPPED_LEN);
	deep_open(&good.s, UNMAPPED_LEN);
	bad.to = meet_peer(&bad.s, c.from, c.to);
	good.to = meet_peer(&good.s, c.from, c.to);
	meet(c.from, c.to);
	deep_cut();
	fill_queue(&bad);
	fill_queue(&good);
	take_away(bad.s.buf, UNMAPPED_LEN);
	bad.s.buf = NULL;
	deep_mend();
	for (; bad.completed < bad.end; bad.completed++) {
		wait_wc(bad.s.send_cq, &wc);
		CHECK_EQ(wc.wr_id, bad.completed);
		CHECK(!last || wc.status == IBV_WC_WR_FLUSH_ERR);
		last = wc.status;
	}
	while (good.completed < good.end) {
		wait_wc(good.s.send_cq, &wc);
		give_back(&good, &wc);
	}
	CHECK_EQ(post_send(&good.s, 0, NULL, 0, IBV_SEND_SIGNALED), 0);
	expect_wc(good.s.send_cq, IBV_WC_SUCCESS, &wc);
	if (last)
		expect_qp_state(bad.s.qp, IBV_QPS_ERR);
	meet(c.from, c.to);
	deep_close(&bad.s, UNMAPPED_LEN);
	deep_close(&good.s, UNMAPPED_LEN);
	CHECK_EQ(child_end(&c), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_unmapped(void)
{
	run_times(4, unmap_once,
		  (struct plan){ .opcode = IBV_WR_RDMA_WRITE,
				 .every = 1,
				 .size = 64 * KIB,
				 .depth = 128,
				 .slots = 128,
				 .rounds = 1 });
}

/* RDMA Reads of memory that changes constantly */

#define CHANGING (64 * KIB)
#define READS 2048

/* A word is eight times the same byte, one of four bytes that depend on the word's place. */
static uint64_t mixed(unsigned int generation, size_t i)
{
	return generation % 4 * 0x5555555555555555u ^ (i + 1) * 0xff51afd7ed558ccdu;
}

static void repaint(uint8_t *at, unsigned int generation)
{
	volatile uint64_t *words = (uint64_t *)at;

	for (size_t i = 0; i < CHANGING / 8; i++)
		words[i] = mixed(generation, i);
}

static _Atomic bool painter_stops;

static void *keep_painting(void *arg)
{
	for (unsigned int generation = 0; !painter_stops; generation++)
		repaint(arg, generation);
	return NULL;
}

static void be_read(int in, int out)
{
	pthread_t painter;
	struct side s;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&s, CHANGING);
	repaint(s.buf, 0);
	CHECK_EQ(pthread_create(&painter, NULL, keep_painting, s.buf), 0);
	meet_peer(&s, in, out);
	meet(in, out);
	painter_stops = true;
	CHECK_EQ(pthread_join(painter, NULL), 0);
	deep_close(&s, CHANGING);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * Checks that each byte was written there at some time. Words may be torn, as a copy may read the
 * halves of a word separately.
 */
static void check_read(const uint8_t *at)
{
	const uint64_t *words = (const uint64_t *)at;

	for (size_t i = 0; i < CHANGING / 8; i++) {
		uint64_t pairs = words[i] ^ mixed(0, i), low = pairs & 0x0303030303030303u;

		CHECK(pairs == low * 0x55);
	}
}

static void test_changing_source(void)
{
	size_t len = (size_t)128 * CHANGING;
	struct child c = child_start(be_read);
	unsigned int posted = 0;
	struct where to;
	struct ibv_wc wc;
	struct side s;

	oob_open();
	oob_timeout = PATIENCE;
	deep_open(&s, len);
	to = meet_peer(&s, c.from, c.to);
	if (lossy)
		lose(SOME);
	for (unsigned int done = 0; done < READS; done++) {
		for (; posted < READS && posted - done < 128; posted++) {
			struct ibv_sge sge =
				sge_of(s.mr, s.buf + posted % 128 * CHANGING, CHANGING);

			memset(s.buf + posted % 128 * CHANGING, POISON, CHANGING);
			CHECK_EQ(post_rdma(&s, IBV_WR_RDMA_READ, posted, &sge, 1, to.addr, to.rkey,
					   IBV_SEND_SIGNALED),
				 0);
		}
		expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, done);
		check_read(s.buf + done % 128 * CHANGING);
	}
	deep_mend();
	meet(c.from, c.to);
	CHECK_EQ(child_end(&c), 0);
	deep_close(&s, len);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static const struct test tests[] = {
	{ "writes", test_writes },
	{ "writes_some_signaled", test_writes_some_signaled },
	{ "writes_events", test_writes_events },
	{ "writes_helped", test_writes_helped },
	{ "sends", test_sends },
	{ "sends_some_signaled", test_sends_some_signaled },
	{ "sends_helped", test_sends_helped },
	{ "pieces", test_pieces },
	{ "forks", test_forks },
	{ "unmapped", test_unmapped },
	{ "changing_source", test_changing_source },
};

int main(int argc, char **argv)
{
	return deep_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
