/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For the tests of iwarp/zcopy.c: the fixture with an LLP that takes memory referenced, and notes when it is called back. */
#ifndef IW_ZCOPY_H
#define IW_ZCOPY_H

#include "unit/iw_fixture.h"

#include "iwarp/private.h"

#define WINDOW 4000
#define ZCOPY_MIN 1000
#define LONG 5000     /* three cuts that reference, and one that is too short */
#define CUT 1436      /* of a Write in a message of 1,452 bytes */
#define SECOND_SID 2

/* What the LLP was asked to give back, and what the application had seen of it by then. */
static struct copy_out {
	const void *llp;
	int sid;
	uint32_t completions;
	bool unexpected; /* the right that is about to end */
} copy_outs[16];
static unsigned int n_copy_outs;

/* Whose right to read the first byte of its memory, by this STag, is looked at. */
static const struct fx *watched;
static uint32_t watched_stag;

static inline bool is_unexpected(void)
{
	uint8_t *p;

	return watched && !iw_mr_remote(watched->qp, watched_stag, watched->base, 1,
					IW_ACCESS_REMOTE_READ, &p);
}

static inline void copy_out(void *llp, int sid)
{
	const struct fx *x = llp;

	assert_true(n_copy_outs < 16);
	copy_outs[n_copy_outs++] = (struct copy_out){ llp, sid, iw_cq_count(x->cq), is_unexpected() };
}

static unsigned int probes;

static inline int probe(const void *src, size_t len)
{
	assert_true(len > 0);
	probes++;
	return fx_in_hole(src, len) ? -EFAULT : 0;
}

static inline void start(struct fx *x)
{
	fx_passive(x, 4, 4, 7);
	x->rnic->ops.probe = probe;
	x->rnic->config.zcopy_min = ZCOPY_MIN;
	x->assoc->ops.copy_out = copy_out;
	x->msg.zcopy_window = WINDOW;
	for (unsigned int i = 0; i < FX_MEM; i++)
		x->mem[i] = (uint8_t)(i * 7 + i / 256);
	n_copy_outs = 0;
	watched = NULL;
}

static inline void stop(struct fx *x)
{
	iw_qp_modify(x->qp, IW_QPS_ERR);
	assert_int_equal(x->rnic->zcopy_qps, 0);
	fx_stop(x);
}

/* Another QP on a stream of the same association; first has the LLP. */
static inline void start_second(struct fx *second, struct fx *first)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };

	*second = *first;
	second->qp = fx_qp_sized(first, first->pd, first->cq, 64);
	second->sid = SECOND_SID;
	second->ssn = 0;
	fx_control(second, SESSION_INITIATE, NULL, 0);
	second->session = fx_event(second, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(second->session, second->qp, &p), 0);
	assert_true(fx_pull(second));
	first->acked++;
}

/* Pulls a message; what it referenced was left unwritten, and goes there now. Returns how much that was. */
static inline uint32_t pull_in(struct fx *x, size_t room)
{
	const struct iw_msg *m = &x->msg;

	assert_true(fx_pull_room(x, room));
	if (!m->ref)
		return 0;
	assert_true(m->ref_len >= x->rnic->config.zcopy_min && m->ref_len < x->out_len);
	for (uint32_t i = 0; i < m->ref_len; i++)
		assert_int_equal(x->out[x->out_len - 1 - i], 0xee);
	memcpy(x->out + x->out_len - m->ref_len, m->ref, m->ref_len);
	return m->ref_len;
}

static inline uint32_t pull(struct fx *x)
{
	return pull_in(x, 1452);
}

static inline void post(struct fx *x, uint64_t wr_id, uint32_t len)
{
	fx_post(x, wr_id, IW_WR_RDMA_WRITE, x->base, len, 0x1234, 0x10000, 0);
}

/* n Writes of len bytes, the first with this wr_id. */
static inline void post_some(struct fx *x, uint64_t wr_id, unsigned int n, uint32_t len)
{
	while (n--)
		post(x, wr_id++, len);
}

/* So many more messages are acknowledged. */
static inline void ack(struct fx *x, uint32_t n)
{
	x->acked += n;
	iw_assoc_acked(x->assoc);
}

static inline void expect(struct fx *x, uint64_t wr_id, uint32_t status)
{
	struct iw_cqe cqe = fx_cqe(x);

	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.status, status);
}

static inline void expect_some(struct fx *x, uint64_t wr_id, unsigned int n, uint32_t status)
{
	while (n--)
		expect(x, wr_id++, status);
}

static inline void expect_nothing(struct fx *x)
{
	assert_true(iw_cq_is_empty(x->cq));
}

/* The peer reads. */
static inline void ask(struct fx *x, uint32_t msn, uint32_t len)
{
	struct rdmap_read_request r = { .sink_stag = 0x77, .size = len, .src_stag = x->stag,
					.src_to = x->base };
	uint8_t body[28], m[64];

	rdmap_put_read_request(body, &r);
	fx_feed(x, 16, x->ssn++, m, fx_make_untagged(m, 0x41, 0x41, 0, 1, msn, 0, body, 28));
}

#endif
