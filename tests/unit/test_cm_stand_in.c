/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The QPs that stand in for no QP (conn/stand_in.h) end with their ids, however a connection ends.
 */
#include <stdlib.h>

#include "conn/stand_in.h"
#include "iwarp/iw_inspect.h"
#include "runtime/report.h"
#include "runtime/shard.h"
#include "fixture/cm_pair.h"

#define NOBODY 0xabcdef /* the number of no QP */
#define CONNECT_RESPONSE 5

static struct rnic_conn_param named(uint32_t qp_num)
{
	struct rnic_conn_param param = param_of(NULL, "data");

	param.qp_num = qp_num;
	return param;
}

/* Checks the number of stand-ins. The first one creates their common PD and CQ. */
static void expect_stand_ins(unsigned int n)
{
	struct rnic *rnic = rnic_get();
	struct iw_counts counts;
	unsigned int found;

	shard_lock(&rnic->shard);
	found = rnic->shard.conn.stand_ins.n;
	iw_count(rnic->iw, &counts);
	shard_unlock(&rnic->shard);
	assert_int_equal(found, n);
	assert_int_equal(counts.qps, n);
	assert_int_equal(counts.pds, n ? 1 : 0);
	assert_int_equal(counts.cqs, n ? 1 : 0);
}

struct ends {
	struct chan cc, sc;
	uint32_t listener, cid, sid;
};

static void ask(struct ends *e)
{
	struct rnic_conn_param param = named(NOBODY);

	chan_open(&e->cc);
	chan_open(&e->sc);
	e->listener = listen_on(&e->sc, loopback(AF_INET, 0), 4);
	e->cid = resolve(&e->cc, 1, loopback(AF_INET, port_of(e->listener)));
	assert_int_equal(pair_api->cm_connect(e->cid, &param), 0);
	expect_stand_ins(1);
	e->sid = pair_expect(&e->sc, CONNECT_REQUEST, 0).id;
}

static void close_all(struct ends *e)
{
	chan_close(&e->cc);
	chan_close(&e->sc);
	expect_stand_ins(0);
}

static void test_accepted(void **state)
{
	struct rnic_conn_param param = named(NOBODY + 1);
	struct ends e;

	ask(&e);
	assert_int_equal(pair_api->cm_accept(e.sid, &param, false, 0), 0);
	expect_stand_ins(2);
	pair_expect(&e.cc, CONNECT_RESPONSE, 0);
	pair_expect(&e.sc, ESTABLISHED, 0);
	assert_int_equal(pair_api->cm_disconnect(e.cid), 0);
	pair_expect(&e.sc, DISCONNECTED, 0);
	close_all(&e);
}

static void test_rejected(void **state)
{
	struct ends e;

	ask(&e);
	assert_int_equal(pair_api->cm_reject(e.sid, 0, NULL, 0), 0);
	pair_expect(&e.cc, REJECTED, CM_REJ_CONSUMER_DEFINED);
	close_all(&e);
}

/* Neither side sends anything more. */
static void test_let_go(void **state)
{
	struct ends e;

	ask(&e);
	close_all(&e);
}

/* Calls in a wrong state, or without a QP number, change nothing. */
static void test_fails(void **state)
{
	struct rnic_conn_param param = named(NOBODY);
	struct ends e;

	ask(&e);
	assert_int_equal(pair_api->cm_connect(e.cid, &param), -EINVAL);
	param.qp_num = 0;
	assert_int_equal(pair_api->cm_accept(e.sid, &param, false, 0), -EINVAL);
	expect_stand_ins(1);
	close_all(&e);
}

/* The report of `sctpiw stat` marks stand-ins: the program has no QP of type RC. */
static void test_told(void **state)
{
	static char text[2 * REPORT_ROOM];
	struct report r;
	struct ends e;
	size_t len = 0, n;

	ask(&e);
	report_init(&r);
	report_begin(&r, &rnic_get()->shard, "1 json stat");
	while ((n = report_more(&r, &rnic_get()->shard, text + len))) {
		len += n;
		assert_true(len <= REPORT_ROOM);
	}
	text[len] = 0;
	assert_non_null(strstr(text, "\"type\":\"STAND_IN\""));
	assert_null(strstr(text, "\"RC\""));
	close_all(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted), cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_let_go),	 cmocka_unit_test(test_fails),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
