/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For the tests of iwarp/: an RNIC with seeded randomness, and a peer that is nothing but the
 * messages that a test writes.
 */
#ifndef IW_FIXTURE_H
#define IW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iwarp.h"
#include "util/bytes.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"

#define MSEC 1000000ull

static inline uint64_t fx_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

struct fx_random {
	struct random_source source;
	uint64_t seed;
};

static inline void fx_fill(struct random_source *self, void *buf, size_t len)
{
	struct fx_random *r = (struct fx_random *)self;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(fx_next(&r->seed) >> 24);
}

static inline void fx_random_init(struct fx_random *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	r->source.fill = fx_fill;
	r->source.used = sizeof(r->source.pool);
	r->seed = seed * 0x9e3779b97f4a7c15ull + 1;
}

/* Memory that "was unmapped". */
static const uint8_t *fx_hole;
static size_t fx_hole_len;

static inline bool fx_in_hole(const void *p, size_t len)
{
	const uint8_t *b = p;

	return fx_hole && b < fx_hole + fx_hole_len && b + len > fx_hole;
}

static inline int fx_copy(void *dst, const void *src, size_t len)
{
	if (fx_in_hole(dst, len) || fx_in_hole(src, len))
		return -EFAULT;
	memcpy(dst, src, len);
	return 0;
}

static inline int fx_atomic(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
			    const void *arg, uint64_t *old)
{
	if (fx_in_hole(at, sizeof(*at)))
		return -EFAULT;
	*old = *at;
	*at = next(*old, arg);
	return 0;
}

#define FX_SID 0
#define FX_MEM 8192

/* The RNIC under test, one association (we are its passive side unless said otherwise), one QP. */
struct fx {
	struct fx_random random;
	struct iw_rnic *rnic;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_assoc *assoc;
	struct iw_session *session;
	struct iw_mr *mr; /* of mem, all rights */
	uint32_t stag;
	uint8_t *mem;
	uint64_t base;
	unsigned int doorbells;
	uint32_t acked;
	uint64_t now;
	uint16_t ssn; /* the peer's next */
	uint16_t sid;
	uint8_t out[65536]; /* the message pulled last */
	size_t out_len;
	struct iw_msg msg;
};

static inline void fx_doorbell(void *llp)
{
	((struct fx *)llp)->doorbells++;
}

static inline uint32_t fx_acked(void *llp)
{
	return ((struct fx *)llp)->acked;
}

static inline struct iw_qp *fx_qp_sized(struct fx *x, struct iw_pd *pd, struct iw_cq *cq,
					uint32_t wrs)
{
	struct iw_qp_attr attr = { .pd = pd, .send_cq = cq, .recv_cq = cq, .max_send_wr = wrs,
				   .max_recv_wr = wrs, .max_send_sge = 4, .max_recv_sge = 4,
				   .max_inline = 64 };
	struct iw_qp *qp;

	assert_int_equal(iw_qp_new(x->rnic, &attr, &qp), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	return qp;
}

static inline void fx_start(struct fx *x, bool initiator)
{
	static const struct iw_rnic_ops ops = { .copy = fx_copy, .atomic = fx_atomic };
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_config config = { .unexpected_bytes_per_qp = 65536 };

	memset(x, 0, sizeof(*x));
	fx_hole = NULL;
	fx_random_init(&x->random, 42);
	x->rnic = iw_rnic_new(&config, &ops, &x->random.source);
	x->pd = iw_pd_new(x->rnic, NULL);
	x->cq = iw_cq_new(x->rnic, 256, NULL);
	x->qp = fx_qp_sized(x, x->pd, x->cq, 64);
	x->mem = calloc(1, FX_MEM);
	x->base = (uint64_t)(uintptr_t)x->mem;
	assert_int_equal(iw_mr_new(x->pd, x->base, FX_MEM, x->base,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
					   IW_ACCESS_REMOTE_READ, NULL, &x->mr), 0);
	x->stag = iw_mr_stag(x->mr);
	x->assoc = iw_assoc_new(x->rnic, &llp, x, initiator, 64, 1452);
	x->now = 1000;
	iw_set_now(x->rnic, x->now);
}

static inline void fx_stop(struct fx *x)
{
	struct iw_event ev;

	iw_assoc_lost(x->assoc, -ECONNRESET);
	while (iw_next_event(x->rnic, &ev))
		;
	if (x->qp)
		iw_qp_free(x->qp);
	if (x->mr)
		iw_mr_free(x->mr);
	assert_int_equal(iw_cq_free(x->cq), 0);
	assert_int_equal(iw_pd_free(x->pd), 0);
	iw_rnic_free(x->rnic);
	free(x->mem);
}

static inline bool fx_pull_room(struct fx *x, size_t room)
{
	memset(x->out, 0xee, sizeof(x->out));
	x->out_len = iw_assoc_pull(x->assoc, x->out, room, &x->msg);
	assert_true(x->out_len <= room);
	return x->out_len > 0;
}

static inline bool fx_pull(struct fx *x)
{
	return fx_pull_room(x, 1452);
}

static inline void fx_ack(struct fx *x, uint32_t n)
{
	x->acked += n;
	x->now += 200 * MSEC;
	iw_timers(x->rnic, x->now);
}

/* The event, which must come, of this type. */
static inline struct iw_event fx_event(struct fx *x, enum iw_event_type type)
{
	struct iw_event ev;

	assert_true(iw_next_event(x->rnic, &ev));
	assert_int_equal(ev.type, type);
	return ev;
}

static inline void fx_no_event(struct fx *x)
{
	struct iw_event ev;

	assert_false(iw_next_event(x->rnic, &ev));
}

static inline struct iw_cqe fx_cqe(struct fx *x)
{
	struct iw_cqe cqe = { 0 };

	assert_int_equal(iw_cq_poll(x->cq, 1, &cqe), 1);
	return cqe;
}

/* The peer says something, with a DDP-SSN of its choice. The message has its own heap block. */
static inline int fx_feed(struct fx *x, uint32_t ppid, uint16_t ssn, const void *body, size_t len)
{
	uint8_t *m = malloc(len + 2);
	int err;

	put_be16(m, ssn);
	if (len)
		memcpy(m + 2, body, len);
	err = iw_assoc_receive(x->assoc, x->sid, ppid, m, len + 2);
	free(m);
	return err;
}

static inline void fx_control(struct fx *x, uint16_t function, const void *data, size_t len)
{
	uint8_t m[600];

	put_be16(m, function);
	memcpy(m + 2, data ? data : "", len);
	fx_feed(x, 17, x->ssn++, m, len + 2);
}

static inline size_t fx_make_untagged(uint8_t *m, uint8_t control, uint8_t op, uint32_t inv,
				      uint32_t qn, uint32_t msn, uint32_t mo, const void *data,
				      size_t len)
{
	ddp_put_untagged(m, true, op, inv, qn, msn, mo);
	m[0] = control;
	if (len)
		memcpy(m + 18, data, len);
	return 18 + len;
}

static inline size_t fx_make_tagged(uint8_t *m, uint8_t control, uint8_t op, uint32_t stag,
				    uint64_t to, const void *data, size_t len)
{
	ddp_put_tagged(m, true, op, stag, to);
	m[0] = control;
	if (len)
		memcpy(m + 14, data, len);
	return 14 + len;
}

static inline void fx_send(struct fx *x, uint32_t msn, const void *data, size_t len)
{
	uint8_t m[2048];

	fx_feed(x, 16, x->ssn++, m,
		fx_make_untagged(m, 0x41, 0x43, 0, 0, msn, 0, data, len));
}

static inline void fx_write(struct fx *x, uint32_t stag, uint64_t to, const void *data, size_t len)
{
	uint8_t m[2048];

	fx_feed(x, 16, x->ssn++, m, fx_make_tagged(m, 0xc1, 0x40, stag, to, data, len));
}

/* A slot that must be there. */
__attribute__((returns_nonnull)) static inline struct iw_send_wqe *fx_sq_slot(struct iw_qp *qp)
{
	struct iw_send_wqe *w = iw_sq_slot(qp);

	if (!w)
		abort();
	return w;
}

__attribute__((returns_nonnull)) static inline struct iw_recv_wqe *fx_rq_slot(struct iw_qp *qp)
{
	struct iw_recv_wqe *w = iw_rq_slot(qp);

	if (!w)
		abort();
	return w;
}

static inline void fx_post_recv(struct fx *x, uint64_t wr_id, uint64_t addr, uint32_t len,
				uint32_t lkey)
{
	struct iw_recv_wqe *w = fx_rq_slot(x->qp);

	w->wr_id = wr_id;
	w->num_sge = len ? 1 : 0;
	w->length = len;
	w->sge[0] = (struct iw_sge){ addr, len, lkey };
	iw_rq_publish(x->qp);
	if (iw_rq_is_awaited(x->qp))
		iw_qp_doorbell(x->qp);
}

/* A signaled work request with a buffer of x, unless len is 0; what else it takes is set before fx_publish(). */
static inline struct iw_send_wqe *fx_begin(struct fx *x, uint64_t wr_id, uint8_t opcode,
					   uint64_t addr, uint32_t len, uint32_t rkey, uint64_t to,
					   uint8_t flags)
{
	struct iw_send_wqe *w = fx_sq_slot(x->qp);

	memset(w, 0, sizeof(*w));
	w->wr_id = wr_id;
	w->opcode = opcode;
	w->flags = flags | IW_SEND_SIGNALED;
	w->num_sge = len ? 1 : 0;
	w->length = len;
	w->remote_to = to;
	w->rkey = rkey;
	w->sge[0] = (struct iw_sge){ addr, len, x->stag };
	return w;
}

static inline void fx_publish(struct fx *x)
{
	iw_sq_publish(x->qp);
	iw_qp_doorbell(x->qp);
}

static inline void fx_post(struct fx *x, uint64_t wr_id, uint8_t opcode, uint64_t addr,
			   uint32_t len, uint32_t rkey, uint64_t to, uint8_t flags)
{
	struct iw_send_wqe *w = fx_begin(x, wr_id, opcode, addr, len, rkey, to, flags);

	w->inv_stag = rkey;
	fx_publish(x);
}

static inline void fx_post_atomic(struct fx *x, uint64_t wr_id, uint8_t opcode, uint64_t addr,
				  uint32_t rkey, uint64_t to, uint64_t compare_add, uint64_t swap)
{
	struct iw_send_wqe *w = fx_begin(x, wr_id, opcode, addr, 8, rkey, to, 0);

	w->compare_add = compare_add;
	w->swap = swap;
	fx_publish(x);
}

/* A plain session that the peer opened; our Accept is pulled and acknowledged. */
static inline void fx_passive(struct fx *x, uint32_t ird, uint32_t ord, uint8_t rnr)
{
	struct iw_session_param p = { .ird = ird, .ord = ord, .rnr_retry_count = rnr };
	struct iw_event ev;

	fx_start(x, false);
	x->sid = FX_SID;
	fx_control(x, SESSION_INITIATE, "hi", 2);
	ev = fx_event(x, IW_EVENT_INITIATE);
	x->session = ev.session;
	assert_int_equal(iw_session_accept(x->session, x->qp, &p), 0);
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_memory_equal(x->out, "\0\0\0\2", 4);
	x->acked++;
}

/* Our Terminate is next: this error, this much of the header, then a session Terminate. */
static inline void fx_expect_terminate(struct fx *x, uint16_t error, const uint8_t *header,
				       size_t segment_len, const uint8_t *read_request)
{
	size_t n = header ? ddp_header_len(header[0]) : 0;
	size_t want = 2 + 18 + 4 + (header ? 2 + n : 0) + (read_request ? 28 : 0);
	uint16_t ssn;

	assert_true(fx_pull(x));
	ssn = get_be16(x->out);
	assert_int_equal(x->msg.ppid, 16);
	assert_memory_equal(x->out + 2, "\x41\x47\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0", 18);
	assert_int_equal(get_be16(x->out + 20), error);
	assert_int_equal(get_be16(x->out + 22), (header ? 0xc000 : 0) | (read_request ? 0x2000 : 0));
	assert_int_equal(x->out_len, want);
	if (header) {
		assert_int_equal(get_be16(x->out + 24), segment_len);
		assert_memory_equal(x->out + 26, header, n);
	}
	if (read_request)
		assert_memory_equal(x->out + 26 + n, read_request, 28);
	fx_ack(x, 1);
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->out_len, 4);
	assert_int_equal(get_be16(x->out), (uint16_t)(ssn + 1));
	assert_int_equal(get_be16(x->out + 2), SESSION_TERMINATE);
	assert_false(fx_pull(x));
}

#endif
