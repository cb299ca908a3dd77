/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Referenced memory is copied before it, or the right to read it, may be lost (iwarp/zcopy.c). At
 * the end of a session its messages become void instead (iwarp/void.c).
 */
#include "fixture/iw_zcopy.h"
#include "iwarp/zcopy.h"

/* Checks that the messages of x's session became void, after this number of completions. */
static void expect_void(const struct fx *x, uint32_t completions)
{
	assert_int_equal(n_copy_outs, 0);
	assert_int_equal(n_voids, 1);
	assert_ptr_equal(voids[0].llp, x);
	assert_int_equal(voids[0].sid, FX_SID);
	assert_int_equal(voids[0].completions, completions);
	n_voids = 0;
}

static void drop_events(struct fx *x)
{
	struct iw_event ev;

	while (iw_next_event(x->iw, &ev))
		;
}

/* Starts another QP on its own association. */
static void start_elsewhere(struct fx *other, struct fx *x)
{
	static const struct iw_llp_ops llp = {
		.doorbell = fx_doorbell,
		.acked = fx_acked,
		.placed = fx_acked,
		.copy_out = copy_out,
		.void_messages = void_messages,
	};
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };

	*other = *x;
	other->qp = fx_qp_sized(x, x->pd, x->cq, 64);
	other->assoc = iw_assoc_new(x->iw, &llp, other, false, 64, 1452);
	other->ssn = 0;
	fx_control(other, SESSION_INITIATE, NULL, 0);
	other->session = fx_event(other, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(other->session, other->qp, &p), 0);
	assert_true(fx_pull(other));
	other->acked = 1;
}

static void stop_elsewhere(struct fx *other)
{
	iw_qp_free(other->qp);
	iw_assoc_lost(other->assoc, -ECONNRESET);
}

/* ---- the end of a session ---- */

enum end { BY_CLOSE, BY_ABANDON, BY_MODIFY, BY_FAILURE, BY_PEER, BY_TERMINATE, BY_LOSS, ENDS };

static void end_session(struct fx *x, enum end end)
{
	static const uint8_t why[4] = { 0x00, 0x00 };
	uint8_t m[64];

	switch (end) {
	case BY_CLOSE:
		iw_session_close(x->session);
		break;
	case BY_ABANDON:
		iw_session_abandon(x->session);
		break;
	case BY_MODIFY:
		assert_int_equal(iw_qp_modify(x->qp, IW_QPS_ERR), 0);
		break;
	case BY_FAILURE:
		fx_write(x, 0xbad, 0, "x", 1);
		break;
	case BY_PEER:
		fx_control(x, SESSION_TERMINATE, NULL, 0);
		break;
	case BY_TERMINATE:
		fx_feed(x, 16, x->ssn++, m, fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, why, 4));
		break;
	default:
		iw_assoc_lost(x->assoc, -ECONNRESET);
		x->assoc = iw_assoc_new(x->iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, x,
					false, 64, 1452);
	}
}

/*
 * An unplaced WQE is flushed, with its memory referenced or copied. If the association is lost, the
 * oldest one gets the peer's error. Only the messages of this stream become void, before the
 * application is notified, and nothing is copied.
 */
static void session_ends(void **state)
{
	for (enum end end = 0; end < ENDS; end++) {
		struct fx x, y;

		zcopy_start(&x);
		zcopy_start_second(&y, &x);
		zcopy_post_some(&x, 1, 3, 1000);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(zcopy_pull(&x), 1000);
		zcopy_post_some(&y, 11, 2, 1000);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(zcopy_pull(&y), 1000);
		zcopy_post_some(&x, 4, 3, 1000);
		zcopy_ack(&x, 1);
		fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		end_session(&x, end);
		assert_ptr_equal(voids[0].llp, &x);
		assert_int_equal(voids[0].sid, FX_SID);
		assert_int_equal(voids[0].completions, 0);
		assert_int_equal(n_copy_outs, 0);
		fx_expect_cqe(&x, 2, end == BY_LOSS ? IW_WC_RETRY_EXC_ERR : IW_WC_WR_FLUSH_ERR);
		fx_expect_cqes(&x, 3, 4, IW_WC_WR_FLUSH_ERR);
		if (end == BY_LOSS) { /* both sessions */
			assert_int_equal(n_voids, 2);
			assert_int_equal(voids[1].sid, SECOND_SID);
			fx_expect_cqe(&x, 11, IW_WC_RETRY_EXC_ERR);
			fx_expect_cqe(&x, 12, IW_WC_WR_FLUSH_ERR);
			assert_false(zcopy_references(&x));
		} else {
			assert_int_equal(n_voids, 1);
			fx_no_cqe(&x);
			zcopy_ack(&x, 2);
			fx_no_cqe(&x);
			zcopy_ack(&x, 2); /* the second session continues */
			fx_expect_cqes(&x, 11, 2, IW_WC_SUCCESS);
			assert_true(zcopy_references(&x));
		}
		fx_no_cqe(&x);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
		drop_events(&x);
		iw_qp_free(y.qp);
		zcopy_stop(&x);
	}
}

/* The current WQE is incomplete. A WQE without references is flushed as well. */
static void half_sent(void **state)
{
	for (enum end end = 0; end < ENDS; end++) {
		struct fx x;

		zcopy_start(&x);
		zcopy_post(&x, 1, 10);
		zcopy_post_some(&x, 2, 2, LONG);
		assert_int_equal(zcopy_pull(&x), 0);
		assert_int_equal(zcopy_pull(&x), CUT);
		end_session(&x, end);
		expect_void(&x, 0);
		fx_expect_cqe(&x, 1, end == BY_LOSS ? IW_WC_RETRY_EXC_ERR : IW_WC_WR_FLUSH_ERR);
		fx_expect_cqes(&x, 2, 2, IW_WC_WR_FLUSH_ERR);
		fx_no_cqe(&x);
		zcopy_stop(&x);
	}
}

/* A placed WQE after an unanswered read is flushed with the read. */
static void beside_reads(void **state)
{
	for (unsigned int before = 0; before < 2; before++) {
		struct fx x;

		zcopy_start(&x);
		if (before)
			fx_post(&x, 0, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
		zcopy_post(&x, 1, LONG);
		fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
		zcopy_post(&x, 3, LONG);
		for (unsigned int i = 0; i < 6 + before; i++)
			zcopy_pull(&x);
		zcopy_ack(&x, 4 + before);
		end_session(&x, BY_PEER);
		expect_void(&x, before ? 0 : 1);
		if (before)
			fx_expect_cqe(&x, 0, IW_WC_WR_FLUSH_ERR);
		fx_expect_cqe(&x, 1, before ? IW_WC_WR_FLUSH_ERR : IW_WC_SUCCESS);
		fx_expect_cqes(&x, 2, 2, IW_WC_WR_FLUSH_ERR);
		fx_no_cqe(&x);
		zcopy_stop(&x);
	}
}

/*
 * A WR cannot be sent: only this WR is at fault, and fails once those before it are placed. Nothing
 * after it is sent meanwhile.
 */
static void local_failure(void **state)
{
	struct fx x;

	zcopy_start(&x);
	zcopy_post_some(&x, 1, 2, 1400);
	fx_begin(&x, 3, IW_WR_RDMA_WRITE, x.base, 1400, 1, 1, 0)->sge[0].lkey = 0xbad;
	fx_publish(&x);
	zcopy_post_some(&x, 4, 2, 1400);
	assert_int_equal(zcopy_pull(&x), 1400);
	assert_int_equal(zcopy_pull(&x), 1400);
	zcopy_ack(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_false(fx_pull(&x));
	fx_no_cqe(&x);
	zcopy_ack(&x, 2);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out[3], 0x47);
	assert_null(x.msg.ref);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	fx_expect_cqe(&x, 3, IW_WC_LOC_PROT_ERR);
	fx_expect_cqes(&x, 4, 2, IW_WC_WR_FLUSH_ERR);
	zcopy_stop(&x);
}

/* The peer's Terminate is about the Write of this index, which gets its status. */
static void blamed(void **state)
{
	for (uint64_t index = 0; index < 3; index++) {
		uint8_t header[64], body[64] = { 0 }, m[128];
		struct fx x;

		zcopy_start(&x);
		for (uint64_t i = 0; i < 6; i++)
			fx_post(&x, i, IW_WR_RDMA_WRITE, x.base, 1000, 0x1234, i * 0x10000, 0);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(zcopy_pull(&x), 1000);
		put_be16(body, TERM_RDMAP_ACCESS);
		put_be16(body + 2, 0xc000);
		put_be16(body + 4, 1014);
		fx_make_tagged(header, 0xc1, 0x40, 0x1234, index * 0x10000, NULL, 0);
		memcpy(body + 6, header, 14);
		fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x41, 0x47, 0, 2, 1, 0, body, 20));
		expect_void(&x, 0);
		fx_expect_cqes(&x, 0, (unsigned int)index, IW_WC_WR_FLUSH_ERR);
		fx_expect_cqe(&x, index, IW_WC_REM_ACCESS_ERR);
		fx_expect_cqes(&x, index + 1, 5 - (unsigned int)index, IW_WC_WR_FLUSH_ERR);
		fx_no_cqe(&x);
		zcopy_stop(&x);
	}
}

static void reset_and_free(void **state)
{
	for (int freed = 0; freed < 2; freed++) {
		struct fx x;

		zcopy_start(&x);
		zcopy_post_some(&x, 1, 6, 1000);
		zcopy_pull(&x);
		if (freed) {
			assert_int_equal(iw_qp_free(x.qp), 0);
			x.qp = NULL;
		} else {
			assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
			assert_true(iw_sq_is_empty(x.qp));
		}
		expect_void(&x, 0);
		fx_no_cqe(&x);
		zcopy_ack(&x, 1);
		fx_no_cqe(&x);
		fx_stop(&x);
	}
}

/* The third WQE is placed as well, but its completion has no room: the session ends. */
static void full_cq(void **state)
{
	for (unsigned int placed = 3; placed <= 4; placed++) {
		struct fx x;

		zcopy_start(&x);
		x.cq->limit = 2;
		zcopy_post_some(&x, 1, 7, 1000);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(zcopy_pull(&x), 1000);
		zcopy_ack(&x, placed);
		expect_void(&x, 2);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
		assert_true(iw_sq_is_empty(x.qp));
		fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		fx_event(&x, IW_EVENT_CQ_ERROR);
		zcopy_stop(&x);
	}
}

/*
 * The peer of a QP connected out of band is lost. Unplaced WQEs stay in the queue until the QP
 * fails.
 */
static void out_of_band(void **state)
{
	static const enum end ends[] = { BY_PEER, BY_CLOSE, BY_LOSS };

	for (size_t i = 0; i < 3; i++) {
		struct fx x;

		zcopy_start(&x);
		x.qp->oob = (void *)&x;
		zcopy_post_some(&x, 1, 6, 1000);
		for (unsigned int k = 0; k < 3; k++)
			zcopy_pull(&x);
		zcopy_ack(&x, 1);
		fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
		end_session(&x, ends[i]);
		expect_void(&x, 0);
		fx_no_cqe(&x);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
		iw_qp_give_up(x.qp);
		fx_expect_cqe(&x, 2, IW_WC_RETRY_EXC_ERR);
		fx_expect_cqes(&x, 3, 4, IW_WC_WR_FLUSH_ERR);
		zcopy_stop(&x);
	}
}

/* ---- revoked access ---- */

enum revocation {
	MR_FREE,
	MR_CHANGE,
	MR_INVALIDATE_LOCAL,
	MR_INVALIDATE_REMOTE,
	MW_FREE,
	MW_INVALIDATE_LOCAL,
	MW_INVALIDATE_REMOTE,
	MW_BIND_ANEW,
	MW_SESSION_END,
	QP_ACCESS,
	REVOCATIONS,
};

/* A region of x's memory, and a window on it if the revocation needs a window. */
struct right {
	struct iw_mr *mr;
	struct iw_mw *mw;
};

static bool is_of_window(enum revocation how)
{
	return how >= MW_FREE && how <= MW_SESSION_END;
}

static int bind_for(struct fx *x, const struct right *r, uint64_t len, uint32_t access)
{
	uint32_t stag = iw_mw_stag(r->mw);
	struct iw_send_wqe wqe = {
		.opcode = IW_WR_BIND_MW,
		.inv_stag = stag,
		.rkey = (stag & ~0xffu) | ((stag + 1) & 0xff),
		.remote_to = x->base,
		.bind = { len, iw_mr_stag(r->mr), access },
	};

	return iw_mw_bind(x->qp, &wqe);
}

static int bind_window(struct fx *x, const struct right *r, uint64_t len)
{
	return bind_for(x, r, len, IW_ACCESS_REMOTE_READ);
}

static void give(struct fx *x, struct right *r, enum revocation how)
{
	enum iw_mw_type type = how == MW_BIND_ANEW ? IW_MW_TYPE_1 : IW_MW_TYPE_2;

	r->mw = NULL;
	assert_int_equal(iw_mr_new(x->pd, x->base, 100, x->base,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_READ |
					   IW_ACCESS_MW_BIND,
				   NULL, &r->mr),
			 0);
	watched = x;
	watched_stag = iw_mr_stag(r->mr);
	if (!is_of_window(how))
		return;
	assert_int_equal(iw_mw_new(x->pd, type, &r->mw), 0);
	assert_int_equal(bind_window(x, r, 100), 0);
	watched_stag = iw_mw_stag(r->mw);
}

/* Frees the rest of the right. */
static void take_away(const struct right *r)
{
	if (r->mw)
		iw_mw_free(r->mw);
	if (r->mr)
		assert_int_equal(iw_mr_free(r->mr), 0);
	watched = NULL;
}

/* While a window is bound to mr, mr itself is not revoked. */
static void revoke(struct fx *x, struct right *r, enum revocation how)
{
	struct iw_mr_attr attr;

	switch (how) {
	case MR_FREE:
		assert_int_equal(iw_mr_free(r->mr), 0);
		r->mr = NULL;
		break;
	case MR_CHANGE:
		iw_mr_get(r->mr, &attr);
		attr.access = 0;
		assert_int_equal(iw_mr_change(r->mr, &attr), 0);
		break;
	case MR_INVALIDATE_LOCAL:
	case MW_INVALIDATE_LOCAL:
		assert_int_equal(iw_mr_invalidate_local(x->qp, watched_stag), 0);
		break;
	case MR_INVALIDATE_REMOTE:
	case MW_INVALIDATE_REMOTE:
		x->pd->qps -= 2; /* as if the PD had only this QP */
		assert_int_equal(iw_mr_invalidate_remote(x->qp, watched_stag), 0);
		x->pd->qps += 2;
		break;
	case MW_FREE:
		iw_mw_free(r->mw);
		r->mw = NULL;
		break;
	case MW_BIND_ANEW:
		assert_int_equal(bind_window(x, r, 0), 0);
		break;
	case MW_SESSION_END:
		iw_session_close(x->session);
		break;
	default:
		iw_qp_set_access(x->qp, IW_ACCESS_REMOTE_WRITE);
	}
}

/*
 * All referenced memory is copied while the right still exists. Later placements complete as usual,
 * and later messages reference again.
 */
static void revoked(void **state)
{
	for (enum revocation how = 0; how < REVOCATIONS; how++) {
		struct fx x, other, idle;
		struct right r;

		zcopy_start(&x);
		start_elsewhere(&other, &x);
		start_elsewhere(&idle, &x);
		give(&x, &r, how);
		n_copy_outs = n_voids = 0;
		zcopy_post_some(&other, 1, 6, 1000);
		assert_int_equal(zcopy_pull(&other), 1000);
		zcopy_ask(&x, 1, 1400);
		assert_int_equal(zcopy_pull(&x), 1400);
		revoke(&x, &r, how);
		assert_false(right_stands());
		assert_int_equal(n_copy_outs, 2);
		assert_ptr_not_equal(copy_outs[0].llp, copy_outs[1].llp);
		assert_false(zcopy_references(&x));
		/* Messages of the session that ends are void first. */
		assert_int_equal(n_voids, how == MW_SESSION_END);
		assert_true(!n_voids || voids[0].right_stood);
		for (unsigned int i = 0; i < n_copy_outs; i++) {
			assert_true(copy_outs[i].right_stood);
			assert_true(copy_outs[i].llp == &x || copy_outs[i].llp == &other);
		}
		fx_no_cqe(&x);
		zcopy_ack(&other, 1);
		fx_expect_cqe(&other, 1, IW_WC_SUCCESS);
		assert_int_equal(zcopy_pull(&other), 1000);
		assert_true(zcopy_references(&x));
		take_away(&r);
		stop_elsewhere(&other);
		stop_elsewhere(&idle);
		zcopy_stop(&x);
	}
}

/* If nothing is referenced, or the right stays, the LLP is not called. */
static void not_revoked(void **state)
{
	for (enum revocation how = 0; how < REVOCATIONS; how++) {
		struct fx x, y, z;
		struct right r;

		zcopy_start(&x);
		start_elsewhere(&y, &x);
		start_elsewhere(&z, &x);
		give(&x, &r, how);
		if (is_of_window(how)) {
			struct iw_mr_attr attr;

			zcopy_ask(&x, 1, 1400);
			assert_int_equal(zcopy_pull(&x), 1400);
			n_copy_outs = 0;
			iw_mr_get(r.mr, &attr);
			assert_int_equal(iw_mr_free(r.mr), -EBUSY);
			assert_int_equal(iw_mr_change(r.mr, &attr), -EBUSY);
			assert_int_equal(iw_mr_invalidate_local(x.qp, iw_mr_stag(r.mr)), -EBUSY);
			assert_int_equal(iw_mr_invalidate_remote(x.qp, iw_mr_stag(r.mr)), -EACCES);
			assert_int_equal(n_copy_outs, 0);
			iw_zcopy_copy_out(x.iw);
			n_copy_outs = 0;
		}
		revoke(&x, &r, how);
		assert_int_equal(n_copy_outs, 0);
		take_away(&r);
		stop_elsewhere(&y);
		stop_elsewhere(&z);
		zcopy_stop(&x);
	}
}

/*
 * An unbound window, or one bound for Writes, gives no right to read. Binding or freeing it revokes
 * nothing, and other access rights do not matter.
 */
static void unbound_window(void **state)
{
	struct right r, unbound;
	struct fx x;

	zcopy_start(&x);
	give(&x, &r, MR_FREE);
	assert_int_equal(iw_mw_new(x.pd, IW_MW_TYPE_2, &r.mw), 0);
	assert_int_equal(iw_mw_new(x.pd, IW_MW_TYPE_2, &unbound.mw), 0);
	zcopy_ask(&x, 1, 1400);
	assert_int_equal(zcopy_pull(&x), 1400);
	unbound.mr = r.mr;
	assert_int_equal(bind_for(&x, &unbound, 100, IW_ACCESS_REMOTE_WRITE), 0);
	iw_mw_free(unbound.mw);
	assert_int_equal(bind_window(&x, &r, 100), 0);
	iw_qp_set_access(x.qp, IW_ACCESS_REMOTE_READ);
	assert_int_equal(n_copy_outs, 0);
	watched_stag = iw_mw_stag(r.mw);
	assert_true(right_stands());
	iw_mw_free(r.mw);
	assert_int_equal(n_copy_outs, 1);
	assert_int_equal(iw_mr_free(r.mr), 0);
	watched = NULL;
	zcopy_stop(&x);
}

/* ---- lost bytes ---- */

/* A receiver refuses a poisoned message of any kind. */
static void poisoned(void **state)
{
	for (int tagged = 0; tagged < 2; tagged++) {
		uint8_t m[64], was[64], *ddp = m + SESSION_SSN_LEN;
		struct fx x;
		size_t len;

		zcopy_start(&x);
		fx_post_recv(&x, 1, x.base, 64, x.stag);
		len = tagged ? fx_make_tagged(ddp, 0xc1, 0x40, x.stag, x.base, "data", 4) :
			       fx_make_untagged(ddp, 0x41, 0x43, 0, 0, 1, 0, "data", 4);
		put_be16(m, x.ssn);
		memcpy(was, m, sizeof(m));
		iw_poison(m);
		assert_int_equal(ddp_version(ddp[0]), 0);
		assert_int_equal(ddp[0] & ~DDP_VERSION_MASK, was[2] & ~DDP_VERSION_MASK);
		ddp[0] = was[2];
		assert_memory_equal(m, was, sizeof(m));
		iw_poison(m);
		iw_assoc_receive(x.assoc, x.sid, 16, m, len + SESSION_SSN_LEN);
		fx_expect_terminate(&x,
				    tagged ? TERM_DDP_TAGGED_VERSION : TERM_DDP_UNTAGGED_VERSION,
				    ddp, len, NULL);
		assert_int_equal(x.mem[1], 7);
		fx_expect_cqe(&x, 1, IW_WC_WR_FLUSH_ERR);
		zcopy_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_ends),	  cmocka_unit_test(half_sent),
		cmocka_unit_test(beside_reads),	  cmocka_unit_test(local_failure),
		cmocka_unit_test(blamed),	  cmocka_unit_test(reset_and_free),
		cmocka_unit_test(full_cq),	  cmocka_unit_test(out_of_band),
		cmocka_unit_test(revoked),	  cmocka_unit_test(not_revoked),
		cmocka_unit_test(unbound_window), cmocka_unit_test(poisoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
