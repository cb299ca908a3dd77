/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Scarce resources (RFC 5042 3, 6.4, RFC 5041 8.3.2): limits, and the independence of streams. */
#include "fixture/iw_script.h"
#include "iwarp/cq.h"
#include "iwarp/mr.h"
#include "iwarp/rc.h"
#include "iwarp/rnic.h"
#include "iwarp/session.h"
#include "wire/session.h"

/* Opens a second session on this stream of the association, with its own QP and depths. */
static struct iw_qp *second_session(struct fx *x, uint16_t sid, struct iw_cq *cq, uint32_t ird)
{
	struct iw_qp *qp = fx_qp_sized(x, x->pd, cq, 16);
	uint16_t ssn = x->ssn, was = x->sid;

	x->sid = sid;
	x->ssn = 0;
	fx_control(x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(x, IW_EVENT_INITIATE).session, qp,
					   &(struct iw_session_param){
						   .ird = ird, .ord = ird, .rnr_retry_count = 7 }),
			 0);
	assert_true(fx_pull(x));
	x->acked++;
	x->sid = was;
	x->ssn = ssn;
	return qp;
}

/*
 * Objects beyond the limit fail cleanly. Existing objects work, and freed objects can be made
 * again.
 */
static void limits_of_objects(void **state)
{
	static struct iw_pd *pds[IW_MAX_PD];
	static struct iw_cq *cqs[IW_MAX_CQ];
	static struct iw_mr *mrs[IW_MAX_MR];
	static struct iw_qp *qps[IW_MAX_QP];
	struct iw_qp_attr attr = { .max_send_wr = 1, .max_recv_wr = 1 };
	unsigned int n_pd, n_cq, n_mr, n_qp;
	struct iw_qp *qp;
	struct iw_mr *mr;
	struct fx x;

	ROWS("5041-8.3.2-03 5042-3-02 5042-6.4.1-01");
	open_session(&x, 4, 4);
	for (n_pd = 0; n_pd < IW_MAX_PD && (pds[n_pd] = iw_pd_new(x.rnic, NULL)); n_pd++)
		;
	for (n_cq = 0; n_cq < IW_MAX_CQ && (cqs[n_cq] = iw_cq_new(x.iw, 1, NULL)); n_cq++)
		;
	for (n_mr = 0; n_mr < IW_MAX_MR && !iw_mr_new(pds[0], 4096, 1, 0, 0, NULL, &mrs[n_mr]);
	     n_mr++)
		;
	attr.pd = x.pd;
	attr.send_cq = attr.recv_cq = x.cq;
	for (n_qp = 0; n_qp < IW_MAX_QP && !iw_qp_new(x.iw, &attr, &qps[n_qp]); n_qp++)
		;
	/* one of each existed before */
	assert_int_equal(n_pd, IW_MAX_PD - 1);
	assert_int_equal(n_cq, IW_MAX_CQ - 1);
	assert_int_equal(n_mr, IW_MAX_MR - 1);
	assert_int_equal(n_qp, IW_MAX_QP - 1);
	assert_int_equal(iw_mr_new(x.pd, 4096, 1, 0, 0, NULL, &mr), -ENOMEM);
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), -ENOMEM);
	/* the stream still works */
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'on'");
	completions(&x, { 1, IW_WC_SUCCESS });
	while (n_mr)
		iw_mr_free(mrs[--n_mr]);
	while (n_qp)
		iw_qp_free(qps[--n_qp]);
	while (n_cq)
		assert_int_equal(iw_cq_free(cqs[--n_cq]), 0);
	while (n_pd)
		assert_int_equal(iw_pd_free(pds[--n_pd]), 0);
	assert_int_equal(iw_mr_new(x.pd, 4096, 1, 0, 0, NULL, &mr), 0);
	iw_mr_free(mr);
	fx_stop(&x);
}

static void limits_of_sizes(void **state)
{
	struct iw_qp_attr attr;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct fx x;

	ROWS("5041-8.3.2-03 5042-3-02 5042-6.4.3.2-01");
	fx_start(&x, false);
	assert_null(iw_cq_new(x.iw, IW_MAX_CQE + 1, NULL));
	assert_null(iw_cq_new(x.iw, 0, NULL));
	assert_int_equal(iw_cq_resize(x.cq, IW_MAX_CQE + 1), -EINVAL);
	cq = iw_cq_new(x.iw, 1000, NULL);
	assert_true(cq->limit >= 1000);
	for (unsigned int i = 0; i < 1000; i++)
		assert_true(iw_cq_push(cq, cq->shard, &(struct iw_cqe){ .polled = fx_no_slot() },
				       false));
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		attr = (struct iw_qp_attr){ .pd = x.pd, .send_cq = cq, .recv_cq = cq };            \
		attr.field = value;                                                                \
		assert_int_equal(iw_qp_new(x.iw, &attr, &qp), -EINVAL);                            \
	} while (0)
	REFUSED(max_send_wr, IW_MAX_QP_WR + 1);
	REFUSED(max_recv_wr, IW_MAX_QP_WR + 1);
	REFUSED(max_send_sge, IW_MAX_SGE + 1);
	REFUSED(max_recv_sge, IW_MAX_SGE + 1);
	REFUSED(max_inline, IW_MAX_INLINE + 1);
#undef REFUSED
	assert_int_equal(iw_cq_free(cq), 0);
	fx_stop(&x);
}

/* A CQ with an entry for each possible request never overflows, whatever the peer does. */
static void cq_of_queue_depths(void **state)
{
	struct iw_qp_attr attr;
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct fx x;

	ROWS("5042-6.4.3.2-02");
	for (unsigned int round = 0; round < 3; round++) {
		unsigned int n = 0;
		struct iw_cqe cqe;

		fx_start(&x, false);
		cq = iw_cq_new(x.iw, 8 + 8, NULL);
		attr = (struct iw_qp_attr){ .pd = x.pd,
					    .send_cq = cq,
					    .recv_cq = cq,
					    .max_send_wr = 8,
					    .max_recv_wr = 8,
					    .max_send_sge = 1,
					    .max_recv_sge = 1 };
		assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
		assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
		fx_control(&x, SESSION_INITIATE, NULL, 0);
		assert_int_equal(
			iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, qp,
					  &(struct iw_session_param){
						  .ird = 4, .ord = 4, .rnr_retry_count = 7 }),
			0);
		assert_true(fx_pull(&x));
		iw_qp_free(x.qp);
		x.qp = qp;
		for (unsigned int i = 0; i < 8; i++) {
			fx_post_recv(&x, i, x.base, 16, x.stag);
			fx_post(&x, 100 + i, IW_WR_SEND, x.base, 4, 0, 0, 0);
		}
		assert_null(iw_sq_slot(qp)); /* a ninth request does not fit */
		assert_null(iw_rq_slot(qp));
		if (round != 1)
			while (fx_pull(&x))
				;
		for (uint32_t msn = 1; round != 2 && msn <= 100; msn++) /* more than the receives */
			in(&x, "41 43 00000000  00000000 %w 00000000 'flood'", msn);
		in(&x, "41 43 00000000  00000009 00000001 00000000"); /* ends the session */
		while (iw_cq_poll(cq, 1, &cqe))
			n++;
		assert_int_equal(n, 16);
		assert_false(cq->overflown);
		iw_qp_free(qp);
		x.qp = NULL;
		assert_int_equal(iw_cq_free(cq), 0);
		fx_stop(&x);
	}
}

/* One CQ overflows: its QPs are in error, and other QPs continue. */
static void cq_overflow_stays_at_home(void **state)
{
	struct iw_qp *victim, *other;
	struct iw_cq *small;
	struct fx x;

	ROWS("5042-6.4.6-01 5041-1.1-01");
	open_session(&x, 4, 4);
	small = iw_cq_new(x.iw, 2, NULL);
	other = x.qp;
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	victim = second_session(&x, 2, small, 1);
	x.qp = victim;
	for (unsigned int i = 0; i < 4; i++)
		fx_post_recv(&x, 10 + i, x.base + 100, 16, x.stag);
	x.sid = 2;
	for (uint32_t msn = 1; msn <= 3; msn++)
		in_at(&x, (uint16_t)msn, "41 43 00000000  00000000 %w 00000000 'x'", msn);
	assert_ptr_equal(fx_event(&x, IW_EVENT_CQ_ERROR).cq, small);
	assert_ptr_equal(fx_event(&x, IW_EVENT_QP_FATAL).qp, victim);
	assert_ptr_equal(fx_event(&x, IW_EVENT_CLOSED).qp, victim);
	fx_no_event(&x);
	assert_int_equal(atomic_load(&victim->state), IW_QPS_ERR);
	while (fx_pull(&x))
		assert_int_equal(x.msg.sid, 2);
	x.sid = FX_SID;
	x.qp = other;
	in(&x, "41 43 00000000  00000000 00000001 00000000 'on'");
	completions(&x, { 1, IW_WC_SUCCESS });
	fx_post(&x, 2, IW_WR_SEND, x.base, 4, 0, 0, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000 ..");
	completions(&x, { 2, IW_WC_SUCCESS });
	iw_qp_free(victim);
	assert_int_equal(iw_cq_free(small), 0);
	fx_stop(&x);
}

/* The peer fills the read queue of one stream. A read on the other stream is answered. */
static void read_queues_are_not_shared(void **state)
{
	struct iw_qp *second;
	struct fx x;

	ROWS("5042-6.4.3.3-01 5042-3-03");
	open_session(&x, 4, 4);
	second = second_session(&x, 2, x.cq, 1);
	/* a Send without a receive delays later reads */
	in(&x, "41 43 00000000  00000000 00000001 00000000 'unexpected'");
	for (uint32_t msn = 1; msn <= 4; msn++)
		in(&x,
		   "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 00000001 %w %q",
		   msn, x.stag, x.base);
	silent(&x);
	x.sid = 2;
	script_out_ssn = 1;
	in_at(&x, 1,
	      "41 41 00000000  00000001 00000001 00000000  00000009 0000000000000000 00000001 %w "
	      "%q",
	      x.stag, x.base);
	out(&x, "c1 42 00000009 0000000000000000 00");
	iw_qp_free(second);
	x.sid = FX_SID;
	fx_stop(&x);
}

/* IRD 1: a second outstanding read is an error, and ends this stream only. */
static void read_queues_are_limited(void **state)
{
	struct iw_qp *second;
	struct fx x;

	ROWS("5042-6.4.3.3-02 5041-7.2-09");
	open_session(&x, 1, 1);
	second = second_session(&x, 2, x.cq, 1);
	for (uint32_t msn = 1; msn <= 2; msn++)
		in(&x,
		   "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 00001000 %w %q",
		   msn, x.stag, x.base);
	fx_event(&x, IW_EVENT_QP_REQUEST);
	fx_event(&x, IW_EVENT_CLOSED);
	out(&x, "41 47 00000000  00000002 00000001 00000000  12 02 c000 002e "
		"41 41 00000000  00000001 00000002 00000000");
	fx_ack(&x, 1);
	out_end(&x);
	assert_int_equal(atomic_load(&second->state), IW_QPS_RTS);
	/* successive reads are permitted */
	x.sid = 2;
	script_out_ssn = 1;
	for (uint32_t msn = 1; msn <= 100; msn++) {
		in_at(&x, (uint16_t)msn,
		      "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 00000001 %w "
		      "%q",
		      msn, x.stag, x.base);
		out(&x, "c1 42 00000009 0000000000000000 00");
	}
	iw_qp_free(second);
	x.sid = FX_SID;
	fx_stop(&x);

	/* the same if requests overtake the Accept, whose ORD sets the local IRD */
	for (unsigned int ord = 1; ord <= 2; ord++) {
		fx_start(&x, true);
		assert_int_equal(iw_session_initiate(x.assoc, x.qp,
						     &(struct iw_session_param){ .ird = 1 }, NULL,
						     &x.session),
				 0);
		assert_true(fx_pull(&x));
		x.sid = x.msg.sid;
		for (uint16_t msn = 1; msn <= 2; msn++)
			in_at(&x, msn,
			      "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 "
			      "00000001 "
			      "%w %q",
			      (uint32_t)msn, x.stag, x.base);
		silent(&x);
		fx_feed(&x, 17, 0, ord == 1 ? "\0\6\0\1\0\1" : "\0\6\0\1\0\2", 6);
		fx_event(&x, IW_EVENT_ACCEPT);
		script_out_ssn = 1;
		if (ord == 1) {
			fx_event(&x, IW_EVENT_CLOSED);
			fx_event(&x, IW_EVENT_QP_REQUEST);
			out(&x, "41 47 00000000  00000002 00000001 00000000  12 02 ..");
		} else {
			out(&x, "c1 42 00000009 0000000000000000 00");
		}
		fx_stop(&x);
	}
}

/* No QP gets more read queue entries than exist, whatever the application and the peer request. */
static void read_depths_are_clamped(void **state)
{
	static const struct {
		const char *offer; /* the peer's IRD and ORD */
		uint32_t ird, ord; /* the resulting local values */
	} cases[] = {
		{ "\x3f\xfe\x3f\xfe", IW_MAX_IRD,
		  IW_MAX_ORD }, /* 16383 would mean "left to the ULP" */
		{ "\0\1\0\1", IW_MAX_IRD, 1 },
	};

	ROWS("5042-7.2-01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_event ev;
		struct fx x;

		fx_start(&x, false);
		fx_control(&x, SESSION_ENHANCED_INITIATE, cases[i].offer, 4);
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(
			iw_session_accept(ev.session, x.qp,
					  &(struct iw_session_param){ .ird = 10000, .ord = 10000 }),
			0);
		assert_true(fx_pull(&x));
		assert_int_equal(get_be16(x.out + 2), SESSION_ENHANCED_ACCEPT);
		assert_int_equal(get_be16(x.out + 4) & 0x3fff, cases[i].ird);
		assert_int_equal(get_be16(x.out + 6) & 0x3fff, cases[i].ord);
		assert_int_equal(iw_rc_of(x.qp)->irq.ird, cases[i].ird);
		assert_int_equal(iw_rc_of(x.qp)->reads.ord, cases[i].ord);
		fx_stop(&x);
	}
}

/*
 * The memory for early segments and for Sends without receives is limited, by number and by octets.
 */
static void memory_is_bounded(void **state)
{
	uint8_t data[1400] = { 0 };
	unsigned int n;
	struct fx x;

	ROWS("5042-6.4.1-01 5041-7.1-06");
	open_session(&x, 4, 4);
	for (n = 1; n < 60000; n++) /* DDP-SSN 1 never arrives */
		in_at(&x, (uint16_t)(n + 1), "c1 40 %w %q %b", x.stag, x.base, data, sizeof(data));
	assert_true(x.session->rx.order.size <= 32768); /* entries of 16 octets */
	fx_no_event(&x);
	fx_stop(&x);

	for (size_t len = 0; len <= sizeof(data); len += sizeof(data)) {
		open_session(&x, 4, 4);
		for (n = 1; n < 10000 && atomic_load(&x.qp->state) == IW_QPS_RTS; n++) {
			in(&x, "41 43 00000000  00000000 %w 00000000 %b", n, data, len);
			if (iw_rc_of(x.qp)->session) /* the fixture's limit is 64 KiB */
				assert_true(iw_rc_of(x.qp)->rx.unexpected.bytes <= 65536);
		}
		assert_true(n < 1000);
		assert_int_equal(iw_rc_of(x.qp)->rx.unexpected.bytes, 0);
		out(&x, "41 47 00000000  00000002 00000001 00000000  12 02 ..");
		fx_stop(&x);
	}
}

/* Thousands of wrong segments cause one event of each kind. */
static void events_do_not_pile_up(void **state)
{
	struct fx x;

	ROWS("5042-2.2.7-01");
	open_session(&x, 4, 4);
	for (unsigned int i = 0; i < 10000; i++)
		in(&x, "c1 40 00000000 %q 'bad'", (uint64_t)i);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_no_event(&x);
	fx_stop(&x);

	/* sessions that begin and end before their events are fetched cause no events */
	fx_start(&x, false);
	for (unsigned int i = 0; i < 10000; i++) {
		x.ssn = 0;
		fx_control(&x, SESSION_INITIATE, NULL, 0);
		fx_control(&x, SESSION_TERMINATE, NULL, 0);
		while (fx_pull(&x))
			;
		fx_ack(&x, 1);
	}
	fx_no_event(&x);
	assert_true(x.iw->session_count <= 64);
	fx_stop(&x);
}

/* At most one session per stream, however many requests the peer sends. */
static void sessions_are_limited(void **state)
{
	unsigned int n = 0;
	struct iw_event ev;
	struct fx x;

	ROWS("5042-6.4.1-01 5042-6.4.1-02");
	fx_start(&x, false);
	for (unsigned int round = 0; round < 3; round++)
		for (unsigned int sid = 0; sid < 64; sid++) {
			x.sid = (uint16_t)sid;
			x.ssn = 0;
			fx_control(&x, SESSION_INITIATE, NULL, 0);
		}
	assert_int_equal(iw_assoc_receive(x.assoc, 64, 17, (const uint8_t *)"\0\0\0\1", 4),
			 -EPROTO);
	assert_int_equal(iw_assoc_sessions(x.assoc), 64);
	while (iw_next_event(x.iw, &ev)) {
		assert_int_equal(ev.type, IW_EVENT_INITIATE);
		if (n++ >= 10) /* as with a backlog of 10 */
			iw_session_refuse(ev.session);
	}
	assert_int_equal(n, 64);
	n = 0;
	while (fx_pull(&x)) {
		assert_int_equal(get_be16(x.out + 2), SESSION_TERMINATE);
		n++;
	}
	assert_int_equal(n, 54);
	fx_ack(&x, 54);
	assert_int_equal(iw_assoc_sessions(x.assoc), 10);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_of_objects),
		cmocka_unit_test(limits_of_sizes),
		cmocka_unit_test(cq_of_queue_depths),
		cmocka_unit_test(cq_overflow_stays_at_home),
		cmocka_unit_test(read_queues_are_not_shared),
		cmocka_unit_test(read_queues_are_limited),
		cmocka_unit_test(read_depths_are_clamped),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(events_do_not_pile_up),
		cmocka_unit_test(sessions_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
