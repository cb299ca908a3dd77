/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/mr.h"
#include "iwarp/table.h"

static void table_against_model(void **state)
{
	static void *model[4096];
	struct iw_table t = { 0 };
	uint64_t seed = 7;
	int dummy;

	for (unsigned int i = 0; i < 200000; i++) {
		uint32_t r = (uint32_t)fx_next(&seed),
			 key = (r >> 8) % 4096 * 64; /* they collide */
		void **m = &model[key / 64];

		assert_ptr_equal(iw_table_find(&t, key), *m);
		if (*m) {
			iw_table_remove(&t, key);
			*m = NULL;
		} else if (r & 1) {
			*m = (char *)&dummy + 1;
			assert_int_equal(iw_table_insert(&t, key, *m), 0);
		}
	}
	for (unsigned int i = 0; i < 4096; i++)
		assert_ptr_equal(iw_table_find(&t, i * 64), model[i]);
	iw_table_fini(&t);
}

static void registration_rules(void **state)
{
	struct fx x;
	struct iw_mr *mr;

	fx_start(&x, false);
	assert_int_equal(iw_mr_new(x.pd, 4096, 10, 4096, IW_ACCESS_REMOTE_WRITE, NULL, &mr),
			 -EINVAL);
	assert_int_equal(iw_mr_new(x.pd, 4096, 10, 4096, IW_ACCESS_REMOTE_ATOMIC, NULL, &mr),
			 -EINVAL);
	assert_int_equal(iw_mr_new(x.pd, UINT64_MAX - 8, 10, 0, 0, NULL, &mr), -EINVAL);
	assert_int_equal(iw_mr_new(x.pd, 4096, 10, UINT64_MAX - 8, 0, NULL, &mr), -EINVAL);
	assert_int_equal(iw_mr_new(x.pd, 4096, UINT64_C(1) << 48, 4096, 0, NULL, &mr), -EINVAL);
	/* up to the very end of the address space */
	assert_int_equal(iw_mr_new(x.pd, 4096, 10, UINT64_MAX - 9, 0, NULL, &mr), 0);
	assert_int_equal(iw_pd_free(x.pd), -EBUSY);
	iw_mr_free(mr);
	fx_stop(&x);
}

static int compare(const void *a, const void *b)
{
	uint32_t u = *(const uint32_t *)a, v = *(const uint32_t *)b;

	return u < v ? -1 : u > v;
}

/*
 * STags are hard to predict, spread over 32 bits (RFC 5040 8.1.1), and not reused soon (RFC 5042).
 */
static void stags(void **state)
{
	ROWS("5040-8.1.1-04 5040-8.1.1-05 5042-6.1.1-05");
	enum { N = 100000 };
	uint32_t *seen = calloc(2 * N, sizeof(*seen));
	unsigned int tops[256] = { 0 }, strides = 0;
	struct fx x;

	fx_start(&x, false);
	for (unsigned int i = 0; i < N; i++) {
		struct iw_mr *mr;

		assert_int_equal(iw_mr_new(x.pd, x.base, 10, x.base, 0, NULL, &mr), 0);
		seen[i] = iw_mr_stag(mr);
		tops[seen[i] >> 24]++;
		if (i > 1 && seen[i] - seen[i - 1] == seen[i - 1] - seen[i - 2])
			strides++;
		iw_mr_free(mr);
	}
	assert_true(strides < 3);
	for (unsigned int i = 0; i < 256; i++)
		assert_in_range(tops[i], N / 256 / 2, N / 256 * 2);
	for (uint32_t i = 0; i < N; i++) /* STags of reads never equal those of MRs */
		seen[N + i] = iw_mr_read_stag(x.rnic, i);
	qsort(seen, 2 * N, sizeof(*seen), compare);
	for (unsigned int i = 0; i < 2 * N; i++) {
		assert_int_not_equal(seen[i], 0);
		assert_true(!i || seen[i] != seen[i - 1]);
	}
	free(seen);
	fx_stop(&x);
}

static void remote_checks(void **state)
{
	ROWS("5040-8.1.1-02 5041-7.1-13 5041-7.1-14 5041-7.1-15 5041-7.1-16 5041-7.1-17 "
	     "5041-8.2-05 5042-6.2.1-01 5042-6.3.5-01");
	struct fx x;
	struct iw_pd *other;
	struct iw_mr *ro, *foreign, *high;
	uint8_t *p;

	fx_start(&x, false);
	other = iw_pd_new(x.rnic, NULL);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &ro), 0);
	assert_int_equal(iw_mr_new(other, x.base, 100, 0, IW_ACCESS_REMOTE_READ, NULL, &foreign),
			 0);
	assert_int_equal(iw_mr_new(x.pd, x.base, 0xf00, 0xfffffffffffff000ull,
				   IW_ACCESS_REMOTE_READ, NULL, &high),
			 0);
#define CHECK(stag, to, len, access) iw_mr_remote(x.qp, stag, to, len, access, &p)
	assert_int_equal(CHECK(x.stag, x.base, FX_MEM, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_OK);
	assert_ptr_equal(p, x.mem);
	assert_int_equal(CHECK(x.stag, x.base + FX_MEM - 1, 1, IW_ACCESS_REMOTE_WRITE),
			 IW_REMOTE_OK);
	assert_ptr_equal(p, x.mem + FX_MEM - 1);
	assert_int_equal(CHECK(x.stag, x.base - 1, 1, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_BOUNDS);
	assert_int_equal(CHECK(x.stag, x.base + FX_MEM, 1, IW_ACCESS_REMOTE_WRITE),
			 IW_REMOTE_BOUNDS);
	assert_int_equal(CHECK(x.stag, x.base + FX_MEM - 1, 2, IW_ACCESS_REMOTE_WRITE),
			 IW_REMOTE_BOUNDS);
	assert_int_equal(CHECK(x.stag, x.base, FX_MEM + 1, IW_ACCESS_REMOTE_WRITE),
			 IW_REMOTE_BOUNDS);
	assert_int_equal(CHECK(x.stag ^ 1, x.base, 1, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_STAG);
	assert_int_equal(CHECK(x.stag ^ 0x100, x.base, 1, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_STAG);
	assert_int_equal(CHECK(0, x.base, 1, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_STAG);
	assert_int_equal(CHECK(iw_mr_stag(ro), x.base, 1, IW_ACCESS_REMOTE_WRITE),
			 IW_REMOTE_ACCESS);
	assert_int_equal(CHECK(iw_mr_stag(ro), x.base, 1, IW_ACCESS_REMOTE_READ), IW_REMOTE_OK);
	assert_int_equal(CHECK(iw_mr_stag(foreign), 0, 1, IW_ACCESS_REMOTE_READ), IW_REMOTE_PD);
	/* wrap is checked before bounds */
	assert_int_equal(CHECK(iw_mr_stag(high), 0xfffffffffffffe00ull, 1024,
			       IW_ACCESS_REMOTE_READ),
			 IW_REMOTE_WRAP);
	assert_int_equal(CHECK(iw_mr_stag(high), 0xfffffffffffffe00ull, 0x100,
			       IW_ACCESS_REMOTE_READ),
			 IW_REMOTE_OK);
	assert_ptr_equal(p, x.mem + 0xe00);
	assert_int_equal(CHECK(iw_mr_stag(high), 0xfffffffffffffe00ull, 0x101,
			       IW_ACCESS_REMOTE_READ),
			 IW_REMOTE_BOUNDS);
	/* the QP's own access rights */
	x.qp->access = IW_ACCESS_REMOTE_READ;
	assert_int_equal(CHECK(x.stag, x.base, 1, IW_ACCESS_REMOTE_WRITE), IW_REMOTE_ACCESS);
#undef CHECK
	iw_mr_free(ro);
	iw_mr_free(foreign);
	iw_mr_free(high);
	assert_int_equal(iw_pd_free(other), 0);
	fx_stop(&x);
}

static void invalidation(void **state)
{
	ROWS("5040-8.1.1-03 5041-8.3-03 5042-6.4.5-01");
	struct fx x;
	struct iw_mr *local;
	struct iw_qp *second;
	uint8_t *p;

	fx_start(&x, false);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, 0, NULL, &local), 0);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, iw_mr_stag(local)), -EACCES);
	second = fx_qp_sized(&x, x.pd, x.cq, 4);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, x.stag), -EACCES);
	iw_qp_free(second);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, x.stag), 0);
	assert_int_equal(iw_mr_remote(x.qp, x.stag, x.base, 1, IW_ACCESS_REMOTE_READ, &p),
			 IW_REMOTE_STAG);
	assert_int_equal(iw_mr_invalidate_remote(x.qp, x.stag), -EINVAL);
	assert_non_null(iw_mr_local(x.qp, iw_mr_stag(local), x.base, 100, 0));
	assert_null(iw_mr_local(x.qp, iw_mr_stag(local), x.base, 100, IW_ACCESS_LOCAL_WRITE));
	assert_null(iw_mr_local(x.qp, iw_mr_stag(local), x.base, 101, 0));
	assert_int_equal(iw_mr_invalidate_local(x.qp, iw_mr_stag(local)), 0);
	assert_null(iw_mr_local(x.qp, iw_mr_stag(local), x.base, 100, 0));
	iw_mr_free(local);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_against_model),
		cmocka_unit_test(registration_rules),
		cmocka_unit_test(stags),
		cmocka_unit_test(remote_checks),
		cmocka_unit_test(invalidation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
