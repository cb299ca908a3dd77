/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/* WRAP: burst_post */
/*
 * The arguments of both ways to post for runtime/burst.h: the number of bytes, and if a batch ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iwarp/iw_types.h"
#include "runtime/burst.h"
#include "runtime/tuning.h"
#include "verbs/post.h"
#include "verbs/qp.h"
#include "verbs/wr.h"

#define SLOTS 256
#define STRIDE 512
#define LENGTH 64u
#define MANY TUNING_BATCH_MANY

static uint8_t slots[SLOTS * STRIDE];
static struct sctpiw_qp qp;
static struct iw_qp iw;
static unsigned int posts, ends;

void __wrap_burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes,
		       bool ends_batch);
void __wrap_burst_post(struct shard *s, struct iw_doorbell *doorbell, uint64_t bytes,
		       bool ends_batch)
{
	assert_ptr_equal(doorbell, &iw.doorbell);
	assert_int_equal(bytes % LENGTH, 0);
	posts++;
	ends += ends_batch;
}

static int setup(void **state)
{
	memset(&qp, 0, sizeof(qp));
	memset(&iw, 0, sizeof(iw));
	qp.iw = &iw;
	qp.single_threaded = true;
	qp.vqp.qp.qp_type = IBV_QPT_RC;
	iw.type = IW_QPT_RC;
	iw.state = IW_QPS_RTS;
	iw.max_send_sge = 1;
	iw.max_msg = LENGTH;
	iw.wr_opcodes = 1u << IBV_WR_RDMA_WRITE;
	iw.sq = (struct iw_ring){
		.slots = slots, .mask = SLOTS - 1, .stride = STRIDE, .limit = SLOTS
	};
	posts = ends = 0;
	return 0;
}

/* Posts n work requests in one call. The last one is signaled if `asks`. */
static void post_chain(unsigned int n, bool asks)
{
	struct ibv_sge sge = { .length = LENGTH };
	struct ibv_send_wr wr[SLOTS], *bad;

	for (unsigned int i = 0; i < n; i++)
		wr[i] = (struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = asks && i == n - 1 ? IBV_SEND_SIGNALED : 0,
			.next = i == n - 1 ? NULL : &wr[i + 1],
		};
	assert_int_equal(sctpiw_post_send(&qp.vqp.qp, wr, &bad), 0);
}

/* As above, by ibv_wr_*. */
static void start_chain(unsigned int n, bool asks)
{
	struct ibv_qp_ex *ex = &qp.vqp.qp_ex;

	assert_true(pabi_init());
	assert_int_equal(sctpiw_set_send_ops(&qp, IBV_QPT_RC, IBV_QP_EX_WITH_RDMA_WRITE), 0);
	ibv_wr_start(ex);
	for (unsigned int i = 0; i < n; i++) {
		ex->wr_flags = asks && i == n - 1 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_rdma_write(ex, 1, 0);
		ibv_wr_set_sge(ex, 1, 0, LENGTH);
	}
	assert_int_equal(ibv_wr_complete(ex), 0);
}

static void test_one_by_one(void **state)
{
	for (unsigned int i = 0; i < MANY; i++)
		post_chain(1, false);
	post_chain(1, true);
	assert_int_equal(posts, MANY + 1);
	assert_int_equal(ends, 1);
	/* The count restarts. */
	for (unsigned int i = 0; i < MANY - 1; i++)
		post_chain(1, false);
	post_chain(1, true);
	assert_int_equal(ends, 1);
}

static void test_chains(void **state)
{
	post_chain(MANY + 1, true);
	assert_int_equal(ends, 1);
	post_chain(MANY, true);
	assert_int_equal(ends, 1);
	post_chain(MANY + 1, false);
	assert_int_equal(ends, 1);
	assert_int_equal(posts, 3);
}

static void test_wr_api(void **state)
{
	start_chain(MANY, true);
	assert_int_equal(ends, 0);
	start_chain(MANY + 1, true);
	assert_int_equal(ends, 1);
	start_chain(MANY + 1, false);
	assert_int_equal(ends, 1);
	assert_int_equal(posts, 3);
}

/* If all are signaled, none ends a batch. */
static void test_all_signaled(void **state)
{
	iw.sq_sig_all = true;
	for (unsigned int i = 0; i <= MANY; i++)
		post_chain(1, i == MANY);
	start_chain(MANY + 1, true);
	assert_int_equal(ends, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_by_one, setup),
		cmocka_unit_test_setup(test_chains, setup),
		cmocka_unit_test_setup(test_wr_api, setup),
		cmocka_unit_test_setup(test_all_signaled, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
