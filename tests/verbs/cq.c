/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues beyond polling: moderation, vectors, time stamps, flags, sizes. */
#include "fixture.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

/* A CQ with a QP in the error state: work requests complete at once. */
struct kit {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint64_t posted;
};

static void kit_qp(struct kit *k)
{
	struct ibv_qp_init_attr init = { .send_cq = k->cq,
					 .recv_cq = k->cq,
					 .qp_type = IBV_QPT_RC,
					 .cap = { 1, 256, 1, 1, 0 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	k->qp = ibv_create_qp(k->pd, &init);
	CHECK(k->qp);
	CHECK_EQ(ibv_modify_qp(k->qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS),
		 0);
	attr.qp_state = IBV_QPS_ERR;
	CHECK_EQ(ibv_modify_qp(k->qp, &attr, IBV_QP_STATE), 0);
}

static void kit_open(struct kit *k)
{
	memset(k, 0, sizeof(*k));
	k->ctx = open_device();
	k->pd = ibv_alloc_pd(k->ctx);
	k->channel = ibv_create_comp_channel(k->ctx);
	CHECK(k->pd && k->channel);
}

static void kit_with_cq(struct kit *k, int cqe)
{
	kit_open(k);
	k->cq = ibv_create_cq(k->ctx, cqe, k, k->channel, 0);
	CHECK(k->cq);
	kit_qp(k);
}

static struct ibv_cq_ex *kit_with_cq_ex(struct kit *k, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq;

	kit_open(k);
	attr->channel = k->channel;
	cq = ibv_create_cq_ex(k->ctx, attr);
	CHECK(cq);
	k->cq = ibv_cq_ex_to_cq(cq);
	kit_qp(k);
	return cq;
}

static void kit_close(struct kit *k)
{
	CHECK_EQ(ibv_destroy_qp(k->qp), 0);
	CHECK_EQ(ibv_destroy_cq(k->cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(k->channel), 0);
	CHECK_EQ(ibv_dealloc_pd(k->pd), 0);
	CHECK_EQ(ibv_close_device(k->ctx), 0);
}

static void complete(struct kit *k, unsigned int n)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	while (n--) {
		struct ibv_recv_wr wr = { .wr_id = k->posted++ }, *bad;

		CHECK_EQ(ibv_post_recv(k->qp, &wr, &bad), 0);
	}
	/*
	 * The progress thread may be about to flush them. A call that takes its lock waits for
	 * this.
	 */
	CHECK_EQ(ibv_modify_qp(k->qp, &attr, IBV_QP_STATE), 0);
}

static void take(struct kit *k, uint64_t first, unsigned int n)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < n; i++) {
		expect_wc(k->cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, first + i);
	}
}

static bool event_waits(struct kit *k, int ms)
{
	struct pollfd pfd = { .fd = k->channel->fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

static void get_event(struct kit *k)
{
	struct ibv_cq *cq;
	void *context;

	CHECK(event_waits(k, WAIT_SECONDS * 1000));
	CHECK_EQ(ibv_get_cq_event(k->channel, &cq, &context), 0);
	CHECK(cq == k->cq);
	ibv_ack_cq_events(cq, 1);
}

static int moderate(struct kit *k, uint16_t count, uint16_t usec)
{
	struct ibv_modify_cq_attr attr = { IBV_CQ_ATTR_MODERATE, { count, usec } };

	return ibv_modify_cq(k->cq, &attr);
}

static void test_modify(void)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = 0 };
	struct ibv_device_attr_ex ex;
	struct kit k;

	kit_with_cq(&k, 10);
	CHECK_EQ(ibv_query_device_ex(k.ctx, NULL, &ex), 0);
	CHECK_EQ(ex.cq_mod_caps.max_cq_count, UINT16_MAX);
	CHECK_EQ(ex.cq_mod_caps.max_cq_period, UINT16_MAX);
	CHECK_EQ(ibv_modify_cq(k.cq, &attr), EINVAL);
	attr.attr_mask = IBV_CQ_ATTR_MODERATE | 1 << 1;
	CHECK_EQ(ibv_modify_cq(k.cq, &attr), EOPNOTSUPP);
	CHECK_EQ(moderate(&k, UINT16_MAX, UINT16_MAX), 0);
	CHECK_EQ(moderate(&k, 0, 0), 0);
	kit_close(&k);
}

/*
 * The event comes with the last of this number of completions. With fewer completions, it comes
 * after the period.
 */
static void test_moderation(void)
{
	struct kit k;
	double start;

	kit_with_cq(&k, 256);
	CHECK_EQ(moderate(&k, 4, UINT16_MAX), 0);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	complete(&k, 3);
	CHECK_EQ(moderate(&k, 4, UINT16_MAX), 0); /* a change raises the event */
	get_event(&k);
	take(&k, 0, 3);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	start = now_seconds();
	complete(&k, 3);
	get_event(&k);
	CHECK(now_seconds() - start >= UINT16_MAX * 1e-6);
	take(&k, 3, 3);
	for (int round = 0; round < 50; round++) {
		CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
		complete(&k, 4);
		get_event(&k);
		take(&k, 6 + 4 * round, 4);
	}
	/* Solicited completions are delayed in the same way. */
	CHECK_EQ(ibv_req_notify_cq(k.cq, 1), 0);
	complete(&k, 1);
	get_event(&k);
	take(&k, 206, 1);
	/* Without moderation, or with only one of the two values, the event comes at once. */
	CHECK_EQ(moderate(&k, 200, 0), 0);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	complete(&k, 1);
	get_event(&k);
	CHECK_EQ(moderate(&k, 0, UINT16_MAX), 0);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	complete(&k, 1);
	get_event(&k);
	/* The CQ is destroyed while an event is pending. */
	CHECK_EQ(moderate(&k, 200, UINT16_MAX), 0);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	complete(&k, 1);
	kit_close(&k);
}

static void test_vectors(void)
{
	struct kit k;
	int n;

	kit_with_cq(&k, 10);
	n = k.ctx->num_comp_vectors;
	CHECK_EQ(n, sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 0; i < n; i++) {
		struct ibv_cq_init_attr_ex attr = { .cqe = 1, .comp_vector = i };
		struct ibv_cq *cq = ibv_create_cq(k.ctx, 1, NULL, NULL, i);
		struct ibv_cq_ex *ex = ibv_create_cq_ex(k.ctx, &attr);

		CHECK(cq && ex);
		CHECK_EQ(ibv_destroy_cq(cq), 0);
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
	}
	for (int i = n; i < n + 2; i++) {
		struct ibv_cq_init_attr_ex attr = { .cqe = 1, .comp_vector = i };

		CHECK_FAILS(ibv_create_cq(k.ctx, 1, NULL, NULL, i), EINVAL);
		CHECK_FAILS(ibv_create_cq_ex(k.ctx, &attr), EINVAL);
	}
	kit_close(&k);
}

static uint64_t raw_clock(struct ibv_context *ctx)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	CHECK_EQ(ibv_query_rt_values_ex(ctx, &values), 0);
	CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	CHECK_EQ(values.raw_clock.tv_sec, 0);
	return values.raw_clock.tv_nsec;
}

static uint64_t time_of_day(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/*
 * Completions have the time of their arrival, whenever they are polled, by the clock of
 * ibv_query_rt_values_ex().
 */
static void test_time_stamps(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16,
					    .wc_flags =
						    IBV_WC_STANDARD_FLAGS |
						    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
						    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };
	uint64_t raw[5], wall[5], ticks, second, last = 0;
	struct ibv_values_ex values = { .comp_mask = 1 << 1 };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_device_attr_ex ex;
	struct ibv_cq_ex *cq;
	struct kit k;
	double start;

	cq = kit_with_cq_ex(&k, &attr);
	CHECK_EQ(ibv_query_device_ex(k.ctx, NULL, &ex), 0);
	CHECK(ex.completion_timestamp_mask && ex.hca_core_clock);
	CHECK_EQ(ibv_query_rt_values_ex(k.ctx, &values), 0);
	CHECK_EQ(values.comp_mask, 0); /* the device has none of the requested values */

	for (int i = 0; i < 5; i++) {
		raw[i] = raw_clock(k.ctx);
		wall[i] = time_of_day();
		if (i == 4)
			break;
		complete(&k, 1);
		sleep_ms(2);
		if (i == 1)
			CHECK_EQ(ibv_resize_cq(k.cq, 100), 0);
	}
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), 0);
	for (int i = 0; i < 4; i++) {
		uint64_t stamp = ibv_wc_read_completion_ts(cq);
		uint64_t ns = ibv_wc_read_completion_wallclock_ns(cq);

		CHECK_EQ(cq->wr_id, i);
		CHECK(stamp >= raw[i] && stamp <= raw[i + 1] && stamp >= last);
		/* The time of day may have been set in between, by less than a second. */
		CHECK(ns + 1000000000 >= wall[i] && ns <= wall[i + 1] + 1000000000);
		last = stamp;
		CHECK_EQ(ibv_next_poll(cq), i < 3 ? 0 : ENOENT);
	}
	ibv_end_poll(cq);

	/* A tick has the length that the device reports. */
	start = now_seconds();
	ticks = raw_clock(k.ctx);
	sleep_ms(20);
	ticks = raw_clock(k.ctx) - ticks;
	second = ex.hca_core_clock * UINT64_C(1000);
	CHECK((double)ticks / second >= 0.02 && (double)ticks / second <= now_seconds() - start);
	kit_close(&k);
}

/*
 * The completions of a batch have both times. Times of day and time stamps have the same
 * differences, however often they are read.
 */
static void test_times_agree(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_cq_ex *cq;
	struct kit k;

	cq = kit_with_cq_ex(&k, &attr);
	for (int round = 0; round < 20; round++) {
		uint64_t offset;

		complete(&k, 50);
		CHECK_EQ(ibv_start_poll(cq, &poll_attr), 0);
		offset = ibv_wc_read_completion_wallclock_ns(cq) - ibv_wc_read_completion_ts(cq);
		for (int i = 0; i < 50; i++) {
			CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq) -
					 ibv_wc_read_completion_ts(cq),
				 offset);
			CHECK_EQ(ibv_next_poll(cq), i < 49 ? 0 : ENOENT);
		}
		ibv_end_poll(cq);
	}
	kit_close(&k);
}

/*
 * Every field of a completion may be requested, alone or with all others. Fields that a connected
 * iWARP QP lacks read 0.
 */
static void test_fields(void)
{
	struct ibv_poll_cq_attr poll_attr = { 0 };

	for (uint64_t flags = 1; flags <= IBV_CREATE_CQ_SUP_WC_FLAGS; flags = flags * 2 + 1) {
		for (int alone = 0; alone < 2; alone++) {
			struct ibv_cq_init_attr_ex attr = {
				.cqe = 4,
				.wc_flags = alone ? flags / 2 + 1 : flags,
			};
			struct ibv_wc_tm_info tm = { 1, 1 };
			struct ibv_cq_ex *cq;
			struct kit k;

			cq = kit_with_cq_ex(&k, &attr);
			complete(&k, 1);
			CHECK_EQ(ibv_start_poll(cq, &poll_attr), 0);
			CHECK_EQ(cq->status, IBV_WC_WR_FLUSH_ERR);
			CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
#define HAS(field) (attr.wc_flags & IBV_WC_EX_WITH_##field)
			if (HAS(QP_NUM))
				CHECK_EQ(ibv_wc_read_qp_num(cq), k.qp->qp_num);
			if (HAS(SRC_QP))
				CHECK_EQ(ibv_wc_read_src_qp(cq), 0);
			if (HAS(SLID))
				CHECK_EQ(ibv_wc_read_slid(cq), 0);
			if (HAS(SL))
				CHECK_EQ(ibv_wc_read_sl(cq), 0);
			if (HAS(DLID_PATH_BITS))
				CHECK_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
			if (HAS(COMPLETION_TIMESTAMP))
				CHECK(ibv_wc_read_completion_ts(cq));
			if (HAS(CVLAN))
				CHECK_EQ(ibv_wc_read_cvlan(cq), 0);
			if (HAS(FLOW_TAG))
				CHECK_EQ(ibv_wc_read_flow_tag(cq), 0);
			if (HAS(TM_INFO)) {
				ibv_wc_read_tm_info(cq, &tm);
				CHECK(!tm.tag && !tm.priv);
			}
			if (HAS(COMPLETION_TIMESTAMP_WALLCLOCK))
				CHECK(ibv_wc_read_completion_wallclock_ns(cq));
#undef HAS
			ibv_end_poll(cq);
			kit_close(&k);
		}
	}
}

/* A CQ for a single thread has no lock, and otherwise works like any CQ. */
static void test_single_threaded(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64,
					    .wc_flags = IBV_WC_EX_WITH_QP_NUM,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					    .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;
	struct kit k;

	cq = kit_with_cq_ex(&k, &attr);
	complete(&k, 10);
	CHECK_EQ(ibv_start_poll(cq, &poll_attr), 0);
	CHECK_EQ(cq->wr_id, 0);
	/* Nothing is locked during this poll: both CQs can be polled. */
	CHECK_EQ(ibv_poll_cq(k.cq, 1, &wc), 1);
	CHECK_EQ(wc.wr_id, 1);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, 2);
	ibv_end_poll(cq);
	CHECK_EQ(ibv_resize_cq(k.cq, 7), 0);
	take(&k, 3, 7);
	CHECK_EQ(ibv_req_notify_cq(k.cq, 0), 0);
	complete(&k, 1);
	get_event(&k);
	kit_close(&k);
}

/* A completion that does not fit is lost without an event, and the CQ continues. */
static void test_ignore_overrun(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					    .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN };
	struct ibv_wc wc;
	struct kit k;

	kit_with_cq_ex(&k, &attr);
	complete(&k, 10);
	expect_qp_state(k.qp, IBV_QPS_ERR); /* all are flushed by then */
	take(&k, 0, 4);
	expect_no_wc(k.cq, 10);
	expect_no_async(k.ctx, 20);
	complete(&k, 1);
	expect_wc(k.cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 10);
	kit_close(&k);
}

/* Without the flag, there is one event for the CQ, and later completions are lost. */
static void test_overrun(void)
{
	struct kit k;

	kit_with_cq(&k, 4);
	complete(&k, 6);
	EXPECT_ASYNC(k.ctx, { IBV_EVENT_CQ_ERR, k.cq });
	take(&k, 0, 4);
	complete(&k, 2);
	expect_no_wc(k.cq, 10);
	expect_no_async(k.ctx, 20);
	kit_close(&k);
}

/* A CQ grows and shrinks with entries at any place of the ring. */
static void test_resize(void)
{
	unsigned int size = 5, taken = 0, in = 0;
	struct kit k;

	kit_with_cq(&k, size);
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int next = 1 + round * 7 % 23, put = size - in;

		complete(&k, put);
		in += put;
		CHECK_EQ(ibv_resize_cq(k.cq, in - 1), EINVAL);
		take(&k, taken, in / 2);
		taken += in / 2;
		in -= in / 2;
		if (next < in)
			CHECK_EQ(ibv_resize_cq(k.cq, next), EINVAL);
		next = next < in ? in : next;
		CHECK_EQ(ibv_resize_cq(k.cq, next), 0);
		CHECK_EQ(k.cq->cqe, next);
		size = next;
	}
	take(&k, taken, in);
	expect_no_async(k.ctx, 0);
	kit_close(&k);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "modify", test_modify },
		{ "moderation", test_moderation },
		{ "vectors", test_vectors },
		{ "time_stamps", test_time_stamps },
		{ "times_agree", test_times_agree },
		{ "fields", test_fields },
		{ "single_threaded", test_single_threaded },
		{ "ignore_overrun", test_ignore_overrun },
		{ "overrun", test_overrun },
		{ "resize", test_resize },
	};

	return RUN_TESTS(argc, argv, tests);
}
