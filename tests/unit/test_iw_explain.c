/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* The log lines when a QP ends (iwarp/explain.c). */
#include <stdio.h>

#include "fixture/iw_script.h"
#include "fixture/iw_session.h"
#include "iwarp/assoc.h"
#include "iwarp/iw_ud.h"

static struct {
	enum iw_say_level level;
	char text[512];
} said[8];
static unsigned int n_said;
static enum iw_say_level heard; /* the highest level that is logged */
static unsigned int described;	/* lines that were started */

static void say(enum iw_say_level level, const char *line)
{
	assert_true(n_said < 8);
	said[n_said].level = level;
	snprintf(said[n_said++].text, sizeof(said[0].text), "%s", line);
}

static bool hears(enum iw_say_level level)
{
	return level <= heard;
}

static void describe(void *llp, char *buf, size_t len)
{
	described++;
	snprintf(buf, len, "10.0.0.2:4791");
}

static void listen_to(struct fx *x)
{
	x->rnic->ops.say = say;
	x->rnic->ops.hears = hears;
	heard = IW_SAY_INFO;
	described = 0;
	x->assoc->ops.describe = describe;
	n_said = 0;
}

static void start(struct fx *x)
{
	open_session(x, 4, 4);
	listen_to(x);
}

/* Checks the level of line i, and its text after the QP and the peer. */
static void expect(const struct fx *x, unsigned int i, enum iw_say_level level, const char *rest)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "QP %u, peer 10.0.0.2:4791: %s", x->qp->num, rest);
	assert_true(i < n_said);
	assert_string_equal(said[i].text, whole);
	assert_int_equal(said[i].level, level);
}

/* The peer has no access: the line has the request, and the rights of the STag. */
static void refused_here(void **state)
{
	char want[512];
	struct fx x;

	start(&x);
	iw_qp_set_access(x.qp, IW_ACCESS_REMOTE_READ);
	in(&x, "C1 40 %w %q 'Write'", x.stag, x.base + 8);
	snprintf(want, sizeof(want),
		 "Terminate sent: there is no such STag, or it does not give that right "
		 "(DDP error 0x1100); RDMA Write of 5 bytes at 0x%llx, STag 0x%x; STag 0x%x has "
		 "%u bytes from 0x%llx, remote rights: read",
		 (unsigned long long)x.base + 8, x.stag, x.stag, FX_MEM,
		 (unsigned long long)x.base);
	expect(&x, 0, IW_SAY_INFO, want);
	assert_int_equal(n_said, 1);
	fx_stop(&x);
}

/* The peer refuses a local work request. */
static void refused_there(void **state)
{
	struct fx x;

	start(&x);
	fx_post(&x, 0x77, IW_WR_RDMA_READ, x.base, 10, 0x99, 0x1000, 0);
	out(&x, "41 41 ..");
	in(&x, "41 47 00000000  00000002 00000001 00000000  0101C000 002E"
	       "  41 41 00000000  00000001 00000001 00000000");
	expect(&x, 0, IW_SAY_ERROR,
	       "work request 0x77, RDMA Read of 10 bytes at 0x1000, rkey 0x99: remote access error: "
	       "the peer reports: outside the memory of the STag, or no longer mapped "
	       "(RDMAP error 0x0101)");
	expect(&x, 1, IW_SAY_INFO,
	       "Terminate received: outside the memory of the STag, or no longer mapped "
	       "(RDMAP error 0x0101)");
	assert_int_equal(n_said, 2);
	fx_stop(&x);
}

/* An invalid lkey. */
static void wrong_here(void **state)
{
	struct fx x;

	start(&x);
	fx_post_recv(&x, 5, x.base, 16, 0x123);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'fault'");
	expect(&x, 0, IW_SAY_ERROR, "a receive: local protection error");
	expect(&x, 1, IW_SAY_INFO,
	       "Terminate sent: an error of that side's own (DDP error 0x1000)");
	fx_stop(&x);
}

static void lost(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct fx x;

	start(&x);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 0x1000, 0);
	out(&x, "41 41 ..");
	iw_assoc_lost(x.assoc, -ETIMEDOUT);
	expect(&x, 0, IW_SAY_INFO,
	       "work request 0x1, RDMA Read of 10 bytes at 0x1000, rkey 0x99: transport retry counter "
	       "exceeded: the association is lost: Connection timed out");
	assert_int_equal(n_said, 1);
	x.assoc = iw_assoc_new(x.iw, &llp, &x, false, 64, 1452);
	fx_stop(&x);
}

/* Lines of a disabled level are not created; at level error, only errors are. */
static void errors_alone(void **state)
{
	struct fx x;

	start(&x);
	heard = IW_SAY_ERROR;
	fx_post(&x, 0x77, IW_WR_RDMA_READ, x.base, 10, 0x99, 0x1000, 0);
	out(&x, "41 41 ..");
	in(&x, "41 47 00000000  00000002 00000001 00000000  0101C000 002E"
	       "  41 41 00000000  00000001 00000001 00000000");
	assert_int_equal(n_said, 1);
	assert_int_equal(said[0].level, IW_SAY_ERROR);
	assert_int_equal(described, 1);
	fx_stop(&x);

	start(&x);
	heard = IW_SAY_ERROR;
	fx_post_recv(&x, 5, x.base, 16, 0x123);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'fault'");
	assert_int_equal(n_said, 1);
	assert_int_equal(said[0].level, IW_SAY_ERROR);
	assert_int_equal(described, 1);
	fx_stop(&x);
}

static void lost_unheard(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct fx x;

	start(&x);
	heard = IW_SAY_ERROR;
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 0x1000, 0);
	out(&x, "41 41 ..");
	iw_assoc_lost(x.assoc, -ETIMEDOUT);
	assert_int_equal(n_said + described, 0);
	x.assoc = iw_assoc_new(x.iw, &llp, &x, false, 64, 1452);
	fx_stop(&x);
}

/* A datagram has no session, and has no peer until its work request is examined. */
static void datagram(void **state)
{
	struct iw_qp_attr attr = {
		.type = IW_QPT_UD, .max_send_wr = 1, .max_send_sge = 1, .num = 5 << 8
	};
	struct iw_send_wqe *w;
	char want[512];
	struct iw_qp *qp;
	uint32_t len;
	struct fx x;

	start(&x);
	attr.pd = x.pd;
	attr.send_cq = attr.recv_cq = x.cq;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), 0);
	w = iw_sq_slot(qp);
	w->wr_id = 0x77;
	w->opcode = IW_WR_SEND;
	w->num_sge = 1;
	w->length = 10;
	w->sge[0] = (struct iw_sge){ .addr = x.base, .length = 10, .lkey = 0x123 };
	iw_sq_publish(qp);
	assert_non_null(iw_ud_peek(qp, &len));
	assert_int_equal(iw_ud_pull(qp, x.out), 0);
	snprintf(want, sizeof(want),
		 "QP %u: work request 0x77, Send of 10 bytes: local protection error", qp->num);
	assert_int_equal(n_said, 1);
	assert_string_equal(said[0].text, want);
	assert_int_equal(said[0].level, IW_SAY_ERROR);
	iw_qp_free(qp);
	fx_stop(&x);
}

/* A request times out: the line has its progress. */
static void no_answer(void **state)
{
	static const char *const want[] = {
		"the request was not acknowledged (stream 0; 1 messages sent, 0 received, 0 more out "
		"of turn; 1 sessions)",
		"the peer's device has the request, but its program has neither accepted nor rejected "
		"it in time (stream 0; 1 messages sent, 0 received, 1 more out of turn; 1 sessions)",
	};

	for (int acked = 0; acked < 2; acked++) {
		struct fx x;

		open_active(&x, 1, 1);
		listen_to(&x);
		if (acked) {
			fx_ack(&x, 1);
			fx_post_recv(&x, 0, x.base, 8, x.stag);
			in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'early'");
		}
		iw_session_abandon(x.session);
		expect(&x, 0, IW_SAY_ERROR, want[acked]);
		assert_int_equal(n_said, 1);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_here), cmocka_unit_test(refused_there),
		cmocka_unit_test(wrong_here),	cmocka_unit_test(lost),
		cmocka_unit_test(errors_alone), cmocka_unit_test(lost_unheard),
		cmocka_unit_test(datagram),	cmocka_unit_test(no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
