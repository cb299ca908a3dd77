/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Memory windows against a model of their bindings; changed regions, and null regions. */
#include "fixture/iw_fixture.h"

#include "iwarp/mw.h"
#include "iwarp/rnic.h"

#define READ IW_ACCESS_REMOTE_READ
#define WRITE IW_ACCESS_REMOTE_WRITE
#define LOCAL IW_ACCESS_LOCAL_WRITE
#define BIND IW_ACCESS_MW_BIND

static struct iw_mr *mr_at(struct fx *x, struct iw_pd *pd, size_t at, uint64_t len, uint32_t access)
{
	struct iw_mr *mr;

	assert_int_equal(iw_mr_new(pd, x->base + at, len, x->base + at, access, NULL, &mr), 0);
	return mr;
}

static struct iw_mw *mw_of(struct iw_pd *pd, enum iw_mw_type type)
{
	struct iw_mw *mw;

	assert_int_equal(iw_mw_new(pd, type, &mw), 0);
	return mw;
}

static int bind_to(struct iw_qp *qp, const struct iw_mw *mw, uint32_t key, const struct iw_mr *mr,
		   uint64_t addr, uint64_t len, uint32_t access)
{
	struct iw_send_wqe wqe = {
		.opcode = IW_WR_BIND_MW,
		.inv_stag = iw_mw_stag(mw),
		.rkey = key,
		.remote_to = addr,
		.bind = { len, mr ? iw_mr_stag(mr) : 0, access },
	};

	return iw_mw_bind(qp, &wqe);
}

static uint32_t next_key(const struct iw_mw *mw)
{
	uint32_t stag = iw_mw_stag(mw);

	return (stag & ~0xffu) | ((stag + 1) & 0xff);
}

static enum iw_remote check(struct fx *x, struct iw_qp *qp, uint32_t stag, uint64_t to,
			    uint32_t len, uint32_t access)
{
	uint8_t *p = NULL;
	enum iw_remote verdict = iw_mr_remote(qp, stag, to, len, access, &p);

	if (!verdict)
		assert_true(p >= x->mem && p + len <= x->mem + FX_MEM);
	return verdict;
}

static void limits(void **state)
{
	struct iw_mw *mw, *other;
	struct fx x;

	fx_start(&x, false);
	assert_int_equal(iw_mw_new(x.pd, 0, &mw), -EINVAL);
	assert_int_equal(iw_mw_new(x.pd, 3, &mw), -EINVAL);
	mw = mw_of(x.pd, IW_MW_TYPE_1);
	assert_int_equal(iw_pd_free(x.pd), -EBUSY);
	x.rnic->mws = IW_MAX_MW;
	assert_int_equal(iw_mw_new(x.pd, IW_MW_TYPE_1, &other), -ENOMEM);
	x.rnic->mws = 1;
	/* Windows and regions have separate limits. */
	x.rnic->mrs.count += IW_MAX_MR - 2;
	assert_int_equal(iw_mr_free(mr_at(&x, x.pd, 0, 1, 0)), 0);
	x.rnic->mrs.count += 1;
	assert_int_equal(iw_mr_new(x.pd, x.base, 1, 0, 0, NULL, &(struct iw_mr *){ NULL }),
			 -ENOMEM);
	x.rnic->mrs.count -= IW_MAX_MR - 1;
	iw_mw_free(mw);
	assert_int_equal(x.rnic->mws, 0);
	fx_stop(&x);
}

/*
 * Windows of one type, and regions to bind them to. All regions but the null one are the 1,000
 * bytes from `at` on.
 */
struct bind_scene {
	struct fx x;
	struct iw_pd *other;
	uint64_t at;
	struct iw_mr *mr;	 /* permits windows */
	struct iw_mr *closed;	 /* without IW_ACCESS_MW_BIND */
	struct iw_mr *read_only; /* without IW_ACCESS_LOCAL_WRITE */
	struct iw_mr *zero;	 /* zero-based */
	struct iw_mr *null_mr;
	struct iw_mr *foreign; /* of the other PD */
	struct iw_mw *mw, *second;
	struct iw_mw *foreign_mw; /* of the other PD */
	uint32_t key;		  /* an STag that mw may get */
};

static void bind_scene_open(struct bind_scene *b, enum iw_mw_type type)
{
	struct fx *x = &b->x;

	fx_start(x, false);
	b->at = x->base + 100;
	b->other = iw_pd_new(x->rnic, NULL);
	b->mr = mr_at(x, x->pd, 100, 1000, LOCAL | BIND);
	b->closed = mr_at(x, x->pd, 100, 1000, LOCAL);
	b->read_only = mr_at(x, x->pd, 100, 1000, BIND);
	b->zero = mr_at(x, x->pd, 100, 1000, LOCAL | BIND | IW_ACCESS_ZERO_BASED);
	b->foreign = mr_at(x, b->other, 100, 1000, LOCAL | BIND);
	assert_int_equal(iw_mr_new_null(x->pd, NULL, &b->null_mr), 0);
	b->mw = mw_of(x->pd, type);
	b->second = mw_of(x->pd, type);
	b->foreign_mw = mw_of(b->other, IW_MW_TYPE_1);
	b->key = next_key(b->mw);
}

static void bind_scene_close(struct bind_scene *b)
{
	iw_mw_free(b->mw);
	assert_int_equal(b->mr->windows, 0);
	iw_mw_free(b->second);
	iw_mw_free(b->foreign_mw);
	assert_int_equal(iw_mr_free(b->mr), 0);
	iw_mr_free(b->closed);
	iw_mr_free(b->read_only);
	iw_mr_free(b->zero);
	iw_mr_free(b->foreign);
	iw_mr_free(b->null_mr);
	assert_int_equal(iw_pd_free(b->other), 0);
	fx_stop(&b->x);
}

#define BAD(...) assert_int_equal(bind_to(b.x.qp, __VA_ARGS__), -EINVAL)

/* Each argument of a bind is checked. A failed bind changes nothing. */
static void bind_arguments(void **state)
{
	for (enum iw_mw_type type = IW_MW_TYPE_1; type <= IW_MW_TYPE_2; type++) {
		struct bind_scene b;

		bind_scene_open(&b, type);
		BAD(b.mw, iw_mw_stag(b.mw), b.mr, b.at, 10, READ);
		BAD(b.mw, next_key(b.second), b.mr, b.at, 10, READ);
		BAD(b.mw, b.key, NULL, 0, 10, READ);
		BAD(b.mw, b.key, b.foreign, b.at, 10, READ);
		BAD(b.mw, b.key, b.closed, b.at, 10, READ);
		BAD(b.mw, b.key, b.zero, b.at, 10, READ);
		BAD(b.mw, b.key, b.null_mr, 0, 10, READ);
		BAD(b.mw, b.key, b.read_only, b.at, 10, WRITE);
		BAD(b.mw, b.key, b.read_only, b.at, 10, IW_ACCESS_REMOTE_ATOMIC);
		BAD(b.mw, b.key, b.mr, b.at - 1, 10, READ);
		BAD(b.mw, b.key, b.mr, b.at, 1001, READ);
		BAD(b.mw, b.key, b.mr, b.at + 999, 2, READ);
		BAD(b.mw, b.key, b.mr, b.at + 1000, 1, READ);
		BAD(b.mw, b.key, b.mr, b.at, UINT64_MAX, READ);
		BAD(b.foreign_mw, next_key(b.foreign_mw), b.mr, b.at, 10, READ);
		BAD(b.foreign_mw, next_key(b.foreign_mw), b.foreign, b.at, 10, READ);
		assert_int_equal(b.mr->windows + b.foreign->windows + b.closed->windows, 0);
		bind_scene_close(&b);
	}
}

/* The STag of a region is not valid for a window, nor that of a window for a region. */
static void bind_mistaken(void **state)
{
	for (enum iw_mw_type type = IW_MW_TYPE_1; type <= IW_MW_TYPE_2; type++) {
		struct iw_send_wqe wqe = { 0 };
		struct bind_scene b;

		bind_scene_open(&b, type);
		wqe.inv_stag = iw_mr_stag(b.mr);
		wqe.rkey = iw_mr_stag(b.mr) + 1;
		wqe.remote_to = b.at;
		wqe.bind.length = 10;
		wqe.bind.lkey = iw_mr_stag(b.mr);
		wqe.bind.access = READ;
		assert_int_equal(iw_mw_bind(b.x.qp, &wqe), -EINVAL);
		wqe.inv_stag = 0;
		wqe.rkey = 1;
		assert_int_equal(iw_mw_bind(b.x.qp, &wqe), -EINVAL);
		wqe.inv_stag = iw_mw_stag(b.mw);
		wqe.rkey = b.key;
		wqe.bind.lkey = iw_mw_stag(b.second);
		assert_int_equal(iw_mw_bind(b.x.qp, &wqe), -EINVAL);
		/* The STag of a window is no region's, even if the window is bound. */
		assert_int_equal(bind_to(b.x.qp, b.mw, b.key, b.mr, b.at, 1000, READ), 0);
		wqe.inv_stag = iw_mw_stag(b.second);
		wqe.rkey = next_key(b.second);
		wqe.bind.lkey = iw_mw_stag(b.mw);
		assert_int_equal(iw_mw_bind(b.x.qp, &wqe), -EINVAL);
		bind_scene_close(&b);
	}
}

/* A window of type 1 may be bound with length 0, and bound again; a window of type 2 may not. */
static void bind_again(void **state)
{
	for (enum iw_mw_type type = IW_MW_TYPE_1; type <= IW_MW_TYPE_2; type++) {
		bool one = type == IW_MW_TYPE_1;
		struct bind_scene b;
		struct iw_qp *qp;

		bind_scene_open(&b, type);
		qp = b.x.qp;
		assert_int_equal(bind_to(qp, b.mw, b.key, b.mr, 0, 0, 0), one ? 0 : -EINVAL);
		if (one) {
			assert_int_equal(iw_mw_stag(b.mw), b.key);
			assert_int_equal(check(&b.x, qp, b.key, b.at, 1, READ), IW_REMOTE_STAG);
			b.key = next_key(b.mw);
		}
		assert_int_equal(bind_to(qp, b.mw, b.key, b.mr, b.at, 1000, READ), 0);
		assert_int_equal(b.mr->windows, 1);
		assert_int_equal(check(&b.x, qp, b.key, b.at, 1000, READ), IW_REMOTE_OK);
		assert_int_equal(check(&b.x, qp, b.key, b.at, 1, WRITE), IW_REMOTE_ACCESS);
		assert_int_equal(iw_mr_free(b.mr), -EBUSY);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(bind_to(qp, b.mw, next_key(b.mw), b.mr, b.at, 5, READ),
					 one ? 0 : -EINVAL);
			assert_int_equal(b.mr->windows, 1);
			assert_int_equal(check(&b.x, qp, b.key, b.at, 1, READ),
					 one ? IW_REMOTE_STAG : IW_REMOTE_OK);
			/* The STag is not for local use */
			assert_null(iw_mr_local(qp, iw_mw_stag(b.mw), b.at, 1, 0));
		}
		bind_scene_close(&b);
	}
}

#undef BAD

/*
 * Random binds, invalidations and ends of sessions on two QPs of one PD. After each step, both QPs
 * try every window with its present and previous key.
 */
enum { WINDOWS = 6, REGIONS = 3, REGION = 1000 };

struct model {
	struct iw_mw *mw;
	bool one_stream;
	int region; /* -1: not bound */
	int qp;
	uint64_t from, len, to;
	uint32_t access, old_key;
};

static void try_window(struct fx *x, struct iw_qp *const *qps, const struct model *m)
{
	uint32_t key = iw_mw_stag(m->mw);

	for (int q = 0; q < 2; q++) {
		enum iw_remote want = IW_REMOTE_OK;
		uint8_t *p;

		if (m->old_key != key)
			assert_int_equal(iw_mr_remote(qps[q], m->old_key, m->to, 1, READ, &p),
					 IW_REMOTE_STAG);
		if (m->region < 0)
			want = IW_REMOTE_STAG;
		else if (m->one_stream && q != m->qp)
			want = IW_REMOTE_PD;
		assert_int_equal(check(x, qps[q], key, m->to, m->len ? (uint32_t)m->len : 1,
				       m->access ? m->access : READ),
				 want);
		if (want)
			continue;
		assert_int_equal(iw_mr_remote(qps[q], key, m->to, 1, m->access, &p), IW_REMOTE_OK);
		assert_ptr_equal(p, x->mem + m->from);
		assert_int_equal(check(x, qps[q], key, m->to + m->len, 1, m->access),
				 IW_REMOTE_BOUNDS);
		assert_int_equal(check(x, qps[q], key, m->to + m->len - 1, 2, m->access),
				 IW_REMOTE_BOUNDS);
		assert_int_not_equal(check(x, qps[q], key, m->to - 1, 1, m->access), IW_REMOTE_OK);
		assert_int_equal(check(x, qps[q], key, m->to, 1, m->access ^ (READ | WRITE)),
				 IW_REMOTE_ACCESS);
	}
}

static void model_step(struct fx *x, struct iw_qp *const *qps, struct iw_mr **regions,
		       struct model *m, uint64_t r)
{
	bool bound = m->region >= 0, mine = bound && m->qp == (int)(r & 1);
	struct iw_qp *qp = qps[r & 1];
	uint32_t key = next_key(m->mw), stag = iw_mw_stag(m->mw);
	int region = (int)((r >> 8) % REGIONS), err;
	uint64_t from = (r >> 16) % REGION, len = 1 + (r >> 32) % (REGION - from);
	uint32_t access = r & 4 ? READ : WRITE;
	bool zero = r & 2;

	switch ((r >> 4) % 8) {
	case 0: /* by the peer of qp */
		err = iw_mr_invalidate_remote(qp, stag);
		assert_int_equal(err, m->one_stream && mine ? 0 : -EINVAL);
		if (!err)
			m->region = -1;
		return;
	case 1:
		err = iw_mr_invalidate_local(qp, stag);
		assert_int_equal(err, m->one_stream && (!bound || mine) ? 0 : -EINVAL);
		if (!err)
			m->region = -1;
		return;
	case 2:
		err = bind_to(qp, m->mw, key, NULL, 0, 0, 0);
		assert_int_equal(err, m->one_stream ? -EINVAL : 0);
		if (!err) {
			m->region = -1;
			m->old_key = stag;
		}
		return;
	default:
		from += 2000u * (unsigned int)region;
		err = bind_to(qp, m->mw, key, regions[region], x->base + from, len,
			      access | (zero ? IW_ACCESS_ZERO_BASED : 0));
		assert_int_equal(err, m->one_stream && bound ? -EINVAL : 0);
		if (err)
			return;
		m->region = region;
		m->qp = (int)(r & 1);
		m->from = from;
		m->access = access;
		m->len = len;
		m->to = zero ? 0 : x->base + m->from;
		m->old_key = stag;
	}
}

static void against_model(void **state)
{
	struct model models[WINDOWS] = { 0 };
	struct iw_mr *regions[REGIONS];
	struct iw_qp *qps[2];
	uint64_t seed = 11;
	struct fx x;

	fx_start(&x, false);
	qps[0] = x.qp;
	qps[1] = fx_qp_sized(&x, x.pd, x.cq, 4);
	for (int i = 0; i < REGIONS; i++)
		regions[i] = mr_at(&x, x.pd, 2000u * (unsigned int)i, REGION, LOCAL | BIND);
	for (int i = 0; i < WINDOWS; i++) {
		models[i].one_stream = i & 1;
		models[i].mw = mw_of(x.pd, i & 1 ? IW_MW_TYPE_2 : IW_MW_TYPE_1);
		models[i].region = -1;
		models[i].old_key = iw_mw_stag(models[i].mw);
	}
	for (int step = 0; step < 20000; step++) {
		uint64_t r = fx_next(&seed);
		unsigned int bound[REGIONS] = { 0 };
		struct model *m = &models[(r >> 56) % WINDOWS];

		if ((r >> 48) % 64 == 0) { /* like the end of a session */
			iw_mw_unbind_all(qps[r & 1]);
			for (int i = 0; i < WINDOWS; i++)
				if (models[i].one_stream && models[i].qp == (int)(r & 1))
					models[i].region = -1;
		} else {
			model_step(&x, qps, regions, m, r);
		}
		for (int i = 0; i < WINDOWS; i++)
			if (models[i].region >= 0)
				bound[models[i].region]++;
		for (int i = 0; i < REGIONS; i++)
			assert_int_equal(regions[i]->windows, bound[i]);
		try_window(&x, qps, m);
	}
	for (int i = 0; i < WINDOWS; i++)
		iw_mw_free(models[i].mw);
	for (int i = 0; i < REGIONS; i++)
		assert_int_equal(iw_mr_free(regions[i]), 0);
	iw_qp_free(qps[1]);
	fx_stop(&x);
}

/* A region with bound windows can neither be invalidated, by either side, nor changed. */
static void region_below_a_window(void **state)
{
	struct iw_mr_attr attr;
	struct iw_mw *mw;
	struct iw_mr *mr;
	struct fx x;

	fx_start(&x, false);
	mr = mr_at(&x, x.pd, 0, 100, LOCAL | READ | BIND);
	mw = mw_of(x.pd, IW_MW_TYPE_2);
	assert_int_equal(bind_to(x.qp, mw, next_key(mw), mr, x.base, 10, READ), 0);
	assert_int_equal(iw_mr_invalidate_local(x.qp, iw_mr_stag(mr)), -EBUSY);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, iw_mr_stag(mr)), -EACCES);
	iw_mr_get(mr, &attr);
	attr.length = 50;
	assert_int_equal(iw_mr_change(mr, &attr), -EBUSY);
	assert_int_equal(iw_mr_free(mr), -EBUSY);
	iw_mw_free(mw);
	assert_int_equal(iw_mr_change(mr, &attr), 0);
	assert_int_equal(iw_mr_free(mr), 0);
	fx_stop(&x);
}

static void changes(void **state)
{
	struct iw_mr_attr attr, old;
	struct iw_pd *other;
	struct iw_mr *mr;
	uint32_t stag;
	struct fx x;

	fx_start(&x, false);
	other = iw_pd_new(x.rnic, NULL);
	mr = mr_at(&x, x.pd, 0, 100, LOCAL | READ);
	stag = iw_mr_stag(mr);
	iw_mr_get(mr, &old);
	assert_true(old.pd == x.pd && old.addr == x.base && old.length == 100 &&
		    old.iova == x.base);
	assert_int_equal(old.access, LOCAL | READ);
	/* Failed changes have no effect. */
	attr = old;
	attr.access = WRITE;
	assert_int_equal(iw_mr_change(mr, &attr), -EINVAL);
	attr = old;
	attr.length = IW_MAX_MR_LENGTH + 1;
	assert_int_equal(iw_mr_change(mr, &attr), -EINVAL);
	attr.length = 100;
	attr.iova = UINT64_MAX - 50;
	assert_int_equal(iw_mr_change(mr, &attr), -EINVAL);
	assert_int_equal(iw_mr_stag(mr), stag);
	assert_int_equal(check(&x, x.qp, stag, x.base, 100, READ), IW_REMOTE_OK);
	/* New rights and PD: the STag stays */
	attr = old;
	attr.pd = other;
	attr.access = LOCAL;
	assert_int_equal(iw_mr_change(mr, &attr), 0);
	assert_int_equal(iw_mr_stag(mr), stag);
	assert_int_equal(check(&x, x.qp, stag, x.base, 100, READ), IW_REMOTE_PD);
	assert_int_equal(iw_pd_free(other), -EBUSY);
	attr = old;
	assert_int_equal(iw_mr_change(mr, &attr), 0);
	assert_int_equal(iw_pd_free(other), 0);
	assert_int_equal(check(&x, x.qp, stag, x.base, 100, READ), IW_REMOTE_OK);
	/* New range, or range taken away before: the STag changes */
	attr.addr += 50;
	assert_int_equal(iw_mr_change(mr, &attr), 0);
	assert_int_not_equal(iw_mr_stag(mr) >> 8, stag >> 8);
	assert_int_equal(check(&x, x.qp, stag, x.base, 1, READ), IW_REMOTE_STAG);
	assert_int_equal(check(&x, x.qp, iw_mr_stag(mr), x.base, 100, READ), IW_REMOTE_OK);
	stag = iw_mr_stag(mr);
	assert_int_equal(iw_mr_invalidate_local(x.qp, stag), 0);
	assert_int_equal(iw_mr_change(mr, &attr), 0);
	assert_int_not_equal(iw_mr_stag(mr), stag);
	assert_int_equal(check(&x, x.qp, iw_mr_stag(mr), x.base, 100, READ), IW_REMOTE_OK);
	assert_int_equal(x.rnic->mrs.count, 2);
	assert_int_equal(iw_mr_free(mr), 0);
	fx_stop(&x);
}

static void null_region(void **state)
{
	struct iw_mr_attr attr;
	struct iw_mr *mr;
	uint8_t *from, *to;
	struct fx x;

	fx_start(&x, false);
	assert_int_equal(iw_mr_new_null(x.pd, NULL, &mr), 0);
	for (uint64_t at = 0; at < 3; at++) {
		from = iw_mr_local(x.qp, iw_mr_stag(mr), at * (UINT64_MAX / 2), 65535, 0);
		to = iw_mr_local(x.qp, iw_mr_stag(mr), at * (UINT64_MAX / 2), 65535, LOCAL);
		assert_true(from && to);
		memset(to, 0xff, 65535);
		for (unsigned int i = 0; i < 65535; i++)
			assert_int_equal(from[i], 0);
	}
	assert_int_equal(iw_mr_remote(x.qp, iw_mr_stag(mr), 7, 65535, READ, &from), IW_REMOTE_OK);
	assert_int_equal(iw_mr_remote(x.qp, iw_mr_stag(mr), 7, 65535, WRITE, &to), IW_REMOTE_OK);
	memset(to, 0xfe, 65535);
	for (unsigned int i = 0; i < 65535; i++)
		assert_int_equal(from[i], 0);
	assert_int_equal(check(&x, x.qp, iw_mr_stag(mr), 0, 8, IW_ACCESS_REMOTE_ATOMIC),
			 IW_REMOTE_ACCESS);
	assert_int_equal(check(&x, x.qp, iw_mr_stag(mr), UINT64_MAX, 2, READ), IW_REMOTE_WRAP);
	assert_int_equal(iw_mr_invalidate_local(x.qp, iw_mr_stag(mr)), -EINVAL);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, iw_mr_stag(mr)), -EINVAL);
	iw_mr_get(mr, &attr);
	assert_int_equal(iw_mr_change(mr, &attr), -EINVAL);
	assert_int_equal(iw_mr_free(mr), 0);
	assert_null(iw_mr_local(x.qp, iw_mr_stag(x.mr), x.base + FX_MEM, 1, 0)); /* only this one */
	fx_stop(&x);
}

static void location(void **state)
{
	struct iw_mr *mr, *read_only, *null_mr;
	struct iw_pd *other;
	struct iw_mw *mw;
	uint64_t at;
	struct fx x;

	fx_start(&x, false);
	other = iw_pd_new(x.rnic, NULL);
	assert_int_equal(iw_mr_new(x.pd, x.base + 7, 100, 0, LOCAL, NULL, &mr), 0);
	assert_int_equal(iw_mr_new_null(x.pd, NULL, &null_mr), 0);
	read_only = mr_at(&x, x.pd, 0, 100, 0);
	mw = mw_of(x.pd, IW_MW_TYPE_1);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(mr), 3, 97, true, &at), 0);
	assert_true(at == x.base + 10);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(mr), 3, 98, true, &at), -EFAULT);
	assert_int_equal(iw_mr_locate(other, iw_mr_stag(mr), 3, 97, false, &at), -EPERM);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(read_only), x.base, 1, true, &at), -EPERM);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(read_only), x.base, 1, false, &at), 0);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(null_mr), 0, 1, false, &at), -EFAULT);
	assert_int_equal(iw_mr_locate(x.pd, iw_mr_stag(mr) + 1, 3, 1, false, &at), -ENOENT);
	mr->access |= BIND;
	mr->iova = x.base;
	assert_int_equal(bind_to(x.qp, mw, next_key(mw), mr, x.base, 10, READ), 0);
	assert_int_equal(iw_mr_locate(x.pd, iw_mw_stag(mw), x.base, 1, false, &at), -EINVAL);
	iw_mw_free(mw);
	iw_mr_free(mr);
	iw_mr_free(null_mr);
	iw_mr_free(read_only);
	iw_pd_free(other);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),	 cmocka_unit_test(bind_arguments),
		cmocka_unit_test(bind_mistaken), cmocka_unit_test(bind_again),
		cmocka_unit_test(against_model), cmocka_unit_test(region_below_a_window),
		cmocka_unit_test(changes),	 cmocka_unit_test(null_region),
		cmocka_unit_test(location),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
