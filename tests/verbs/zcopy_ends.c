/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: zcopy_ends_lossy -- --lossy */
/*
 * A deep queue of long messages ends during transmission, or peers lose the right to Reads that are
 * under way. From then on, the memory belongs to the application, which overwrites it at once: no
 * peer ever gets the new bytes. With --lossy, nothing has arrived until then, and all data must be
 * retransmitted.
 */
#include "child.h"
#include "deep.h"

#include <sys/mman.h>
#include <unistd.h>

#define DEPTH 128
#define SIZE 65536u
#define ALL ((size_t)DEPTH * SIZE)
#define FEW 2	       /* outstanding Reads whose responses leave room in a window */
#define SMALL_DELAYS 6 /* so that the end comes at different moments */

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* a sends to b, or reads from b. */
struct ends {
	struct pair p;
	uint8_t *here, *there;
	struct ibv_mr *here_mr, *there_mr;
	enum ibv_wr_opcode opcode;
	unsigned int n, completed, succeeded; /* n: the number of posted work requests */
};

static void open_ends(struct ends *e, enum ibv_wr_opcode opcode)
{
	struct pair_options o = { .cap = { DEPTH + 1, DEPTH, 1, 1, 0 } };

	memset(e, 0, sizeof(*e));
	pair_open(&e->p, &o);
	e->opcode = opcode;
	e->n = DEPTH;
	e->here = deep_map(ALL);
	e->there = deep_map(ALL);
	e->here_mr = ibv_reg_mr(e->p.a.pd, e->here, ALL, RIGHTS);
	e->there_mr = ibv_reg_mr(e->p.b.pd, e->there, ALL, RIGHTS | IBV_ACCESS_MW_BIND);
	CHECK(e->here_mr && e->there_mr);
}

static void close_ends(struct ends *e)
{
	CHECK_EQ(ibv_dereg_mr(e->here_mr), 0);
	if (e->there_mr)
		CHECK_EQ(ibv_dereg_mr(e->there_mr), 0);
	pair_close(&e->p);
	if (e->here)
		CHECK_EQ(munmap(e->here, ALL), 0);
	if (e->there)
		CHECK_EQ(munmap(e->there, ALL), 0);
}

static void unmap(uint8_t **map)
{
	take_away(*map, ALL);
	*map = NULL;
}

/* Posts messages by one call, so that most messages have later ones in the queue. */
static void post_all(struct ends *e, uint32_t rkey)
{
	static struct ibv_send_wr wr[DEPTH];
	struct ibv_send_wr *bad;
	struct ibv_sge sge[DEPTH];

	for (unsigned int i = 0; i < e->n; i++) {
		size_t at = (size_t)i * SIZE;

		sge[i] = sge_of(e->here_mr, e->here + at, SIZE);
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < e->n ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = e->opcode,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)e->there + at, rkey },
		};
	}
	CHECK_EQ(ibv_post_send(e->p.a.qp, wr, &bad), 0);
}

static void paint_all(uint8_t *at)
{
	for (unsigned int i = 0; i < DEPTH; i++)
		paint(at + (size_t)i * SIZE, SIZE, i);
}

/* Completions come in the order of posting, each once. After a failure, none succeeds. */
static void take(struct ends *e, const struct ibv_wc *wc)
{
	CHECK_EQ(wc->wr_id, e->completed++);
	if (!wc->status)
		CHECK_EQ(++e->succeeded, e->completed);
}

static void poll_some(struct ends *e, double seconds)
{
	double end = now_seconds() + seconds;
	struct ibv_wc wc;

	do {
		if (e->completed < e->n && ibv_poll_cq(e->p.a.send_cq, 1, &wc))
			take(e, &wc);
	} while (now_seconds() < end);
}

static void poll_rest(struct ends *e)
{
	struct ibv_wc wc;

	while (e->completed < e->n) {
		wait_wc(e->p.a.send_cq, &wc);
		take(e, &wc);
	}
	CHECK_EQ(ibv_poll_cq(e->p.a.send_cq, 1, &wc), 0);
}

/* Waits until some of the data is on its way. */
static void begin(struct ends *e, unsigned int moment)
{
	if (e->opcode == IBV_WR_SEND) {
		for (unsigned int i = 0; i < DEPTH; i++) {
			struct ibv_sge sge = sge_of(e->there_mr, e->there + (size_t)i * SIZE, SIZE);

			CHECK_EQ(post_recv(&e->p.b, i, &sge, 1), 0);
		}
	}
	paint_all(e->here);
	deep_cut();
	post_all(e, e->there_mr->rkey);
	poll_some(e, lossy ? 0.02 : moment * 0.0005);
	if (lossy)
		CHECK_EQ(e->completed, 0);
}

/* The end of the QP */

/* A program that no longer waits for completions polls those that are available. */
static void poll_now(struct ends *e)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(e->p.a.send_cq, 1, &wc))
		take(e, &wc);
}

static void destroy(struct ends *e)
{
	rdma_destroy_qp(e->p.a.id);
	e->p.a.qp = NULL;
	/* Polls the available completions. No more will come. */
	poll_now(e);
	CHECK_EQ(e->succeeded, e->completed);
}

static void modify(struct ends *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK_EQ(ibv_modify_qp(e->p.a.qp, &attr, IBV_QP_STATE), 0);
}

static void to_error(struct ends *e)
{
	modify(e, IBV_QPS_ERR);
	poll_rest(e);
}

static void to_reset(struct ends *e)
{
	modify(e, IBV_QPS_RESET);
	poll_now(e);
	CHECK_EQ(e->succeeded, e->completed);
}

static void disconnect(struct ends *e)
{
	CHECK_EQ(rdma_disconnect(e->p.a.id), 0);
	poll_rest(e);
}

/*
 * The peer has as many bytes as the sender had completed, and no bytes that were written to the
 * memory after the end.
 */
static void ends_by(void (*how)(struct ends *e))
{
	for (unsigned int moment = 0; moment < SMALL_DELAYS; moment++) {
		struct ends e;

		open_ends(&e, moment % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE);
		begin(&e, moment);
		how(&e);
		deep_replace(e.here, ALL);
		deep_mend();
		expect_qp_state(e.p.b.qp, IBV_QPS_ERR);
		for (unsigned int i = 0; i < DEPTH; i++) {
			const uint8_t *at = e.there + (size_t)i * SIZE;

			CHECK(i < e.succeeded ? painted(at, SIZE, i) :
						painted_or_zero(at, SIZE, i));
		}
		close_ends(&e);
	}
}

static void test_destroy(void)
{
	ends_by(destroy);
}

static void test_error(void)
{
	ends_by(to_error);
}

static void test_reset(void)
{
	ends_by(to_reset);
}

static void test_disconnect(void)
{
	ends_by(disconnect);
}

/*
 * The peer has the data that was complete before its end, and no bytes that were written to the
 * memory afterwards.
 */
static void peer_ends(bool destroys)
{
	for (unsigned int moment = 0; moment < SMALL_DELAYS; moment++) {
		struct ends e;

		open_ends(&e, moment % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE);
		begin(&e, moment);
		if (destroys) {
			rdma_destroy_qp(e.p.b.id);
			e.p.b.qp = NULL;
		} else {
			CHECK_EQ(rdma_disconnect(e.p.b.id), 0);
		}
		poll_rest(&e);
		expect_qp_state(e.p.a.qp, IBV_QPS_ERR);
		deep_replace(e.here, ALL);
		deep_mend();
		sleep_ms(20);
		for (unsigned int i = 0; i < DEPTH; i++) {
			const uint8_t *at = e.there + (size_t)i * SIZE;

			CHECK(i < e.succeeded ? painted(at, SIZE, i) :
						painted_or_zero(at, SIZE, i));
		}
		close_ends(&e);
	}
}

static void test_peer_disconnects(void)
{
	peer_ends(false);
}

static void test_peer_destroys(void)
{
	peer_ends(true);
}

/* The end of the right to read */

static struct ibv_mw *window;

static void dereg(struct ends *e)
{
	CHECK_EQ(ibv_dereg_mr(e->there_mr), 0);
	e->there_mr = NULL;
}

static void rereg_access(struct ends *e)
{
	CHECK_EQ(ibv_rereg_mr(e->there_mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      IBV_ACCESS_LOCAL_WRITE),
		 0);
}

static void rereg_translation(struct ends *e)
{
	CHECK_EQ(ibv_rereg_mr(e->there_mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, e->p.b.buf,
			      SIDE_BUF, 0),
		 0);
}

static void qp_access(struct ends *e)
{
	struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	CHECK_EQ(ibv_modify_qp(e->p.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
}

/*
 * A work request ends the right, after responses that were sent before. The Reads may fail before
 * its completion.
 */
static void expect_unbound(struct ends *e)
{
	struct ibv_wc wc;

	if (e->n > FEW)
		deep_mend();
	wait_wc(e->p.b.send_cq, &wc);
	CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR);
}

static void invalidate_window(struct ends *e)
{
	CHECK_EQ(post_inv(&e->p.b, IBV_WR_LOCAL_INV, 1, NULL, 0, window->rkey), 0);
	expect_unbound(e);
}

static void invalidate_region(struct ends *e)
{
	CHECK_EQ(post_inv(&e->p.b, IBV_WR_LOCAL_INV, 1, NULL, 0, e->there_mr->rkey), 0);
	expect_unbound(e);
}

static void free_window(struct ends *e)
{
	CHECK_EQ(ibv_dealloc_mw(window), 0);
	window = NULL;
}

static void unbind_window(struct ends *e)
{
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };

	CHECK_EQ(ibv_bind_mw(e->p.b.qp, window, &bind), 0);
	expect_unbound(e);
}

/*
 * The reader's own request ends the right. It is posted after the Reads, and so executes after
 * their responses.
 */
static void invalidate_remotely(struct ends *e, uint32_t rkey)
{
	struct ibv_wc wc;

	CHECK_EQ(post_recv(&e->p.b, 0, NULL, 0), 0);
	CHECK_EQ(post_inv(&e->p.a, IBV_WR_SEND_WITH_INV, e->n++, NULL, 0, rkey), 0);
	expect_wc(e->p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == rkey);
}

static void window_remotely(struct ends *e)
{
	invalidate_remotely(e, window->rkey);
}

static void region_remotely(struct ends *e)
{
	invalidate_remotely(e, e->there_mr->rkey);
}

static void destroy_reader(struct ends *e)
{
	rdma_destroy_qp(e->p.b.id);
	e->p.b.qp = NULL;
}

static void bind_all(struct ends *e, enum ibv_mw_type type)
{
	struct ibv_mw_bind bind = { .wr_id = 0,
				    .send_flags = IBV_SEND_SIGNALED,
				    .bind_info = { e->there_mr, (uintptr_t)e->there, ALL,
						   IBV_ACCESS_REMOTE_READ } };
	struct ibv_wc wc;

	window = ibv_alloc_mw(e->p.b.pd, type);
	CHECK(window);
	if (type == IBV_MW_TYPE_1) {
		CHECK_EQ(ibv_bind_mw(e->p.b.qp, window, &bind), 0);
	} else {
		uint32_t rkey = ibv_inc_rkey(window->rkey);

		CHECK_EQ(post_bind(&e->p.b, 0, window, rkey, e->there_mr, e->there, ALL,
				   IBV_ACCESS_REMOTE_READ),
			 0);
		window->rkey = rkey;
	}
	expect_wc(e->p.b.send_cq, IBV_WC_SUCCESS, &wc);
}

/* The reader gets the old bytes, or an error. type 0: without a window. */
static void reading_of_ends_by(unsigned int n, void (*how)(struct ends *e), enum ibv_mw_type type)
{
	for (unsigned int moment = 0; moment < SMALL_DELAYS; moment++) {
		struct ends e;

		open_ends(&e, IBV_WR_RDMA_READ);
		e.n = n;
		window = NULL;
		if (type)
			bind_all(&e, type);
		paint_all(e.there);
		deep_cut();
		post_all(&e, type ? window->rkey : e.there_mr->rkey);
		poll_some(&e, lossy ? 0.001 * moment : moment * 0.0005);
		if (lossy)
			CHECK_EQ(e.completed, 0);
		how(&e);
		deep_replace(e.there, ALL);
		deep_mend();
		poll_rest(&e);
		/* By then the peer has read, so some of the data has arrived. */
		for (unsigned int i = 0; i < DEPTH; i++) {
			const uint8_t *at = e.here + (size_t)i * SIZE;

			CHECK(i < e.succeeded && i < n ? painted(at, SIZE, i) :
							 painted_or_zero(at, SIZE, i));
		}
		if (e.succeeded < e.n)
			expect_qp_state(e.p.a.qp, IBV_QPS_ERR);
		if (window)
			CHECK_EQ(ibv_dealloc_mw(window), 0);
		close_ends(&e);
	}
}

static void reading_ends_by(void (*how)(struct ends *e), enum ibv_mw_type type)
{
	reading_of_ends_by(DEPTH, how, type);
}

static void test_dereg(void)
{
	reading_ends_by(dereg, 0);
}

static void test_rereg(void)
{
	reading_ends_by(rereg_access, 0);
	reading_ends_by(rereg_translation, 0);
}

static void test_access_flags(void)
{
	reading_ends_by(qp_access, 0);
}

static void test_unbinding(void)
{
	const unsigned int n[] = { FEW, DEPTH };

	for (int i = 0; i < 2; i++) {
		reading_of_ends_by(n[i], invalidate_region, 0);
		reading_of_ends_by(n[i], invalidate_window, IBV_MW_TYPE_2);
		reading_of_ends_by(n[i], free_window, IBV_MW_TYPE_2);
		reading_of_ends_by(n[i], unbind_window, IBV_MW_TYPE_1);
		reading_of_ends_by(n[i], free_window, IBV_MW_TYPE_1);
	}
}

static void test_remotely(void)
{
	reading_of_ends_by(FEW, window_remotely, IBV_MW_TYPE_2);
	reading_of_ends_by(FEW, region_remotely, 0);
}

static void test_read_from_destroyed(void)
{
	reading_ends_by(destroy_reader, 0);
}

/* Memory that is unmapped silently */

/*
 * The memory is unmapped before its transmission: the right work request gets the error, and
 * earlier data has arrived.
 */
static void test_absent(void)
{
	for (unsigned int moment = 0; moment < SMALL_DELAYS; moment++) {
		const unsigned int gone = 10 * moment;
		struct ibv_wc wc;
		struct ends e;

		open_ends(&e, IBV_WR_RDMA_WRITE);
		paint_all(e.here);
		CHECK_EQ(mprotect(e.here + (size_t)gone * SIZE + 3 * 4096, 4096, PROT_NONE), 0);
		post_all(&e, e.there_mr->rkey);
		while (e.completed < gone) {
			expect_wc(e.p.a.send_cq, IBV_WC_SUCCESS, &wc);
			take(&e, &wc);
		}
		expect_wc(e.p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		take(&e, &wc);
		poll_rest(&e);
		CHECK_EQ(e.succeeded, gone);
		expect_qp_state(e.p.b.qp, IBV_QPS_ERR);
		for (unsigned int i = 0; i < gone; i++)
			CHECK(painted(e.there + (size_t)i * SIZE, SIZE, i));
		close_ends(&e);
	}
}

/* Another pair between the same two processes continues, whatever happens to this pair. */
static void test_unmapped(void)
{
	for (unsigned int moment = 0; moment < 2 * SMALL_DELAYS; moment++) {
		struct pair other;
		struct ends e;

		open_ends(&e, moment % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE);
		pair_open(&other, NULL);
		begin(&e, moment);
		unmap(&e.here);
		deep_mend();
		poll_rest(&e);
		if (e.succeeded < DEPTH)
			expect_qp_state(e.p.a.qp, IBV_QPS_ERR);
		for (unsigned int i = 0; i < DEPTH; i++) {
			const uint8_t *at = e.there + (size_t)i * SIZE;

			CHECK(i < e.succeeded ? painted(at, SIZE, i) :
						painted_or_zero(at, SIZE, i));
		}
		write_works(&other, other.b.buf, (uintptr_t)other.b.buf, other.b.mr->rkey,
			    SIDE_BUF);
		pair_close(&other);
		close_ends(&e);
	}
}

/* The same with memory that peers read. */
static void test_unmapped_source(void)
{
	for (unsigned int moment = 0; moment < SMALL_DELAYS; moment++) {
		struct pair other;
		struct ends e;

		open_ends(&e, IBV_WR_RDMA_READ);
		pair_open(&other, NULL);
		paint_all(e.there);
		deep_cut();
		post_all(&e, e.there_mr->rkey);
		poll_some(&e, lossy ? 0.001 * moment : moment * 0.0005);
		unmap(&e.there);
		deep_mend();
		poll_rest(&e);
		for (unsigned int i = 0; i < e.succeeded; i++)
			CHECK(painted(e.here + (size_t)i * SIZE, SIZE, i));
		write_works(&other, other.b.buf, (uintptr_t)other.b.buf, other.b.mr->rkey,
			    SIDE_BUF);
		pair_close(&other);
		close_ends(&e);
	}
}

static const struct test tests[] = {
	{ "destroy", test_destroy },
	{ "error", test_error },
	{ "reset", test_reset },
	{ "disconnect", test_disconnect },
	{ "peer_disconnects", test_peer_disconnects },
	{ "peer_destroys", test_peer_destroys },
	{ "dereg", test_dereg },
	{ "rereg", test_rereg },
	{ "access_flags", test_access_flags },
	{ "unbinding", test_unbinding },
	{ "remotely", test_remotely },
	{ "read_from_destroyed", test_read_from_destroyed },
	{ "absent", test_absent },
	{ "unmapped", test_unmapped },
	{ "unmapped_source", test_unmapped_source },
};

int main(int argc, char **argv)
{
	return deep_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
