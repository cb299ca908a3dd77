/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On-demand paging: pages that come and go under their MR, explicit and implicit; and advice about
 * pages.
 */
#include "fixture.h"
#include "pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void test_attributes(void)
{
	const uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			    IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
			    IBV_ODP_SUPPORT_SRQ_RECV;
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr_ex attr;

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &attr), 0);
	CHECK_EQ(attr.odp_caps.general_caps, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	CHECK_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps & rc, rc);
	CHECK_EQ(attr.odp_caps.per_transport_caps.uc_odp_caps,
		 IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE);
	CHECK_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps,
		 IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV);
	CHECK_EQ(attr.xrc_odp_caps, rc & ~(uint32_t)IBV_ODP_SUPPORT_RECV);
	CHECK(attr.max_dm_size > 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_explicit(void)
{
	size_t page = page_size();
	struct rlimit none = { 0, 0 };
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	uint8_t *map;

	pair_open(&p, NULL);
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0); /* nothing is pinned */
	map = map_pages(8, PROT_READ | PROT_WRITE);
	take_away(map + 4 * page, 4 * page);
	/* Half of the range is not mapped yet. */
	CHECK_FAILS(ibv_reg_mr(p.b.pd, map, 8 * page, LOCAL | READ | WRITE), EFAULT);
	mr = ibv_reg_mr(p.b.pd, map, 8 * page, LOCAL | READ | WRITE | ODP);
	CHECK(mr && mr->addr == map && mr->length == 8 * page);
	write_works(&p, map + 10, address(map + 10), mr->rkey, 3 * page);
	CHECK(mmap(map + 4 * page, 4 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == map + 4 * page);
	write_works(&p, map + 10, address(map + 10), mr->rkey, 8 * page - 10);
	/* Other pages replace these, and the MR uses the new pages. */
	CHECK(mmap(map, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0) == map);
	read_works(&p, map, address(map), mr->rkey, page);
	/* The MR is source and sink of local requests. */
	sge = sge_of(mr, map, 2 * page);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	fill(p.a.buf, 2 * page, 21);
	sge = sge_of(p.a.mr, p.a.buf, 2 * page);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(map, 2 * page, 21));
	sge = sge_of(mr, map, 2 * page);
	CHECK_EQ(post_rdma(&p.b, IBV_WR_RDMA_WRITE, 3, &sge, 1, address(p.a.buf + 500000),
			   p.a.mr->rkey, IBV_SEND_SIGNALED),
		 0);
	CHECK_EQ(post_rdma(&p.b, IBV_WR_RDMA_READ, 4, &sge, 1, address(p.a.buf + 500000),
			   p.a.mr->rkey, IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.b.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.b.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(map, 2 * page, 21) && filled(p.a.buf + 500000, 2 * page, 21));
	/* A page is unmapped again, and the peer's request fails. */
	CHECK_EQ(mprotect(map + 7 * page, page, PROT_NONE), 0);
	read_fails(&p, address(map + 7 * page) - 1, mr->rkey, 2);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	munmap(map, 8 * page);
}

/* Receives of an SRQ are in memory that was unmapped at registration. */
static void test_srq(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	struct ibv_recv_wr wr = { .wr_id = 7, .num_sge = 1 }, *bad;
	struct pair_options o = { .cap = { 16, 1, 1, 1, 64 } };
	size_t page = page_size();
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct ibv_wc wc;
	struct pair p;
	uint8_t *map;

	pd = ibv_alloc_pd(cm_device());
	CHECK(pd);
	o.srq = ibv_create_srq(pd, &srq_attr);
	o.recv_cq = ibv_create_cq(pd->context, 16, NULL, NULL, 0);
	CHECK(o.srq && o.recv_cq);
	pair_open(&p, &o);
	map = map_pages(2, PROT_NONE);
	mr = ibv_reg_mr(pd, map, 2 * page, LOCAL | ODP);
	CHECK(mr);
	sge = sge_of(mr, map, 2 * page);
	wr.sg_list = &sge;
	CHECK_EQ(ibv_post_srq_recv(o.srq, &wr, &bad), 0);
	CHECK_EQ(ibv_post_srq_recv(o.srq, &wr, &bad), 0);
	CHECK_EQ(mprotect(map, 2 * page, PROT_READ | PROT_WRITE), 0);
	fill(p.a.buf, 2 * page, 33);
	sge = sge_of(p.a.mr, p.a.buf, 2 * page);
	CHECK_EQ(post_send(&p.a, 1, &sge, 1, 0), 0);
	expect_wc(o.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 7);
	CHECK(filled(map, 2 * page, 33));
	/* The second page is unmapped again. */
	CHECK_EQ(mprotect(map + page, page, PROT_NONE), 0);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, 0), 0);
	expect_wc(o.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 7);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	CHECK_EQ(ibv_destroy_srq(o.srq), 0);
	CHECK_EQ(ibv_destroy_cq(o.recv_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	munmap(map, 2 * page);
}

/* A local request to an unmapped page fails with its completion, without a signal. */
static void test_local_fault(void)
{
	uint8_t *map = map_pages(1, PROT_NONE);

	for (int way = 0; way < 4; way++) {
		struct ibv_mr *mr;
		struct ibv_sge sge;
		struct ibv_wc wc;
		struct pair p;

		pair_open(&p, NULL);
		mr = way & 1 ? ibv_reg_mr(p.a.pd, map, 100, LOCAL | ODP) :
			       ibv_reg_mr(p.a.pd, NULL, SIZE_MAX, LOCAL | ODP);
		CHECK(mr);
		sge = sge_of(mr, map, 100);
		if (way & 2) {
			CHECK_EQ(post_recv(&p.a, 5, &sge, 1), 0);
			sge = sge_of(p.b.mr, p.b.buf, 100);
			CHECK_EQ(post_send(&p.b, 6, &sge, 1, IBV_SEND_SIGNALED), 0);
			expect_wc(p.a.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
		} else {
			CHECK_EQ(post_send(&p.a, 5, &sge, 1, IBV_SEND_SIGNALED), 0);
			expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		}
		CHECK_EQ(wc.wr_id, 5);
		expect_broken(&p);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
	munmap(map, page_size());
}

/*
 * One key covers the whole address space. Mapped memory can be accessed. Access to unmapped memory
 * ends the connection.
 */
static void test_implicit(void)
{
	static const uint64_t bad[] = {
		0, 1, 4096, (1ull << 47) - 1, 1ull << 47, 1ull << 63, 0xffff800000000000, UINT64_MAX
	};
	uint8_t stack[100];
	struct ibv_mr *mr;
	uint8_t *map;
	struct pair p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pair_open(&p, NULL);
		mr = ibv_reg_mr(p.b.pd, NULL, SIZE_MAX, LOCAL | READ | WRITE | ODP);
		CHECK(mr && !mr->addr && mr->length == SIZE_MAX);
		map = map_pages(2, PROT_READ | PROT_WRITE); /* later than the MR */
		write_works(&p, map, address(map), mr->rkey, 2 * page_size());
		fill(stack, sizeof(stack), 3);
		read_works(&p, stack, address(stack), mr->rkey, sizeof(stack));
		munmap(map, 2 * page_size());
		if (i & 1)
			read_fails(&p, bad[i], mr->rkey, 1);
		else
			write_fails(&p, bad[i], mr->rkey, 1);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
	pair_open(&p, NULL);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, NULL, SIZE_MAX, LOCAL), EFAULT);
	CHECK_FAILS(ibv_reg_mr_iova(p.b.pd, NULL, SIZE_MAX, 4096, LOCAL | ODP), EINVAL);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, p.b.buf, SIZE_MAX, LOCAL | ODP), EINVAL);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, (void *)(1ul << 47), 1, LOCAL | ODP), EFAULT);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, NULL, 4096, LOCAL | ODP), EFAULT);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, (void *)0xffff800000000000, 4096, ODP), EFAULT);
	pair_close(&p);
}

static bool is_resident(void *page)
{
	unsigned char vec = 0;

	CHECK_EQ(mincore(page, page_size(), &vec), 0);
	return vec & 1;
}

static void test_advise(void)
{
	const enum ibv_advise_mr_advice prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
	const enum ibv_advise_mr_advice to_write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const enum ibv_advise_mr_advice no_fault = IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	const uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
	struct ibv_mr *mr, *read_only, *implicit;
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *other = ibv_alloc_pd(ctx);
	size_t page = page_size();
	uint8_t *map = map_pages(8, PROT_READ | PROT_WRITE);
	struct ibv_sge sge[2];
	struct ibv_mw *mw;

	CHECK(pd && other);
	take_away(map + 6 * page, 2 * page);
	mr = ibv_reg_mr(pd, map, 8 * page, LOCAL | ODP);
	read_only = ibv_reg_mr(pd, map, 8 * page, ODP);
	implicit = ibv_reg_mr(pd, NULL, SIZE_MAX, LOCAL | ODP);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	CHECK(mr && read_only && implicit && mw);
#define ADVISE(pd, advice, flags, n) ibv_advise_mr(pd, advice, flags, sge, n)
	/* The device detects resident pages, and populates pages on advice. */
	sge[0] = sge_of(mr, map + 1, 10);
	sge[1] = sge_of(mr, map + 2 * page - 1, 2);
	CHECK_EQ(ADVISE(pd, no_fault, flush, 2), 0);
	CHECK(!is_resident(map) && !is_resident(map + page));
	CHECK_EQ(ADVISE(pd, to_write, flush, 2), 0);
	CHECK(is_resident(map) && is_resident(map + page) && is_resident(map + 2 * page));
	CHECK(!is_resident(map + 3 * page));
	sge[0] = sge_of(implicit, map + 3 * page, 1);
	CHECK_EQ(ADVISE(pd, to_write, 0, 1), 0);
	CHECK(is_resident(map + 3 * page));
	sge[0] = sge_of(read_only, map + 4 * page, 2 * page);
	CHECK_EQ(ADVISE(pd, prefetch, flush, 1), 0);

	CHECK_EQ(ADVISE(pd, (enum ibv_advise_mr_advice)77, 0, 1), EOPNOTSUPP);
	CHECK_EQ(ADVISE(pd, prefetch, 2, 1), EINVAL);
	CHECK_EQ(ADVISE(pd, prefetch, 0, 0), EINVAL);
	CHECK_EQ(ADVISE(pd, to_write, 0, 1), EPERM); /* the MR does not permit writing */
	CHECK_EQ(ADVISE(other, prefetch, 0, 1), EPERM);
	sge[0].lkey++;
	CHECK_EQ(ADVISE(pd, prefetch, 0, 1), ENOENT);
	sge[0] = sge_of(mr, map - 1, 2);
	CHECK_EQ(ADVISE(pd, prefetch, 0, 1), EFAULT);
	sge[0] = sge_of(mr, map, 8 * page + 1);
	CHECK_EQ(ADVISE(pd, prefetch, 0, 1), EFAULT);
	sge[0] = sge_of(mr, map + 5 * page, 2 * page); /* in bounds, but not mapped */
	CHECK_EQ(ADVISE(pd, prefetch, 0, 1), EFAULT);
	CHECK_EQ(mprotect(map, page, PROT_READ), 0);
	sge[0] = sge_of(mr, map, page);
	CHECK_EQ(ADVISE(pd, to_write, 0, 1), EFAULT);
	CHECK_EQ(ADVISE(pd, prefetch, 0, 1), 0);
	/* If an element after a good one is bad, the good one has no effect either. */
	CHECK_EQ(madvise(map + 3 * page, page, MADV_DONTNEED), 0);
	sge[0] = sge_of(mr, map + 3 * page, page);
	sge[1] = sge_of(mr, map - 1, 1);
	CHECK_EQ(ADVISE(pd, to_write, flush, 2), EFAULT);
	CHECK(!is_resident(map + 3 * page));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ADVISE(pd, to_write, flush, 1), ENOENT);
#undef ADVISE
	CHECK_EQ(ibv_close_device(ctx), 0);
	munmap(map, 6 * page);
}

/* Registration pins nothing, so regions without on-demand paging also have pages to populate. */
static void test_advise_any_region(void)
{
	const enum ibv_advise_mr_advice to_write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ibv_alloc_dm_attr dm_attr = { .length = 4096 };
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	uint8_t *map = map_pages(4, PROT_READ | PROT_WRITE);
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &dm_attr);
	struct ibv_mr *mr, *read_only, *dm_mr, *null_mr;
	size_t page = page_size();
	struct ibv_sge sge[2];

	CHECK(pd && dm);
	mr = ibv_reg_mr(pd, map, 4 * page, LOCAL);
	read_only = ibv_reg_mr(pd, map, 4 * page, READ);
	dm_mr = ibv_reg_dm_mr(pd, dm, 0, 4096, LOCAL | IBV_ACCESS_ZERO_BASED);
	null_mr = ibv_alloc_null_mr(pd);
	CHECK(mr && read_only && dm_mr && null_mr);
	CHECK(!is_resident(map) && !is_resident(map + page));
	sge[0] = sge_of(mr, map + page - 1, 2);
	sge[1] = (struct ibv_sge){ 100, 200, dm_mr->lkey };
	CHECK_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0, sge, 2), 0);
	CHECK(!is_resident(map) && !is_resident(map + page));
	CHECK_EQ(ibv_advise_mr(pd, to_write, IBV_ADVISE_MR_FLAG_FLUSH, sge, 2), 0);
	CHECK(is_resident(map) && is_resident(map + page) && !is_resident(map + 2 * page));
	sge[0] = sge_of(read_only, map, page);
	CHECK_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sge, 1), 0);
	CHECK_EQ(ibv_advise_mr(pd, to_write, 0, sge, 1), EPERM);
	sge[0] = sge_of(mr, map + page, 3 * page + 1);
	CHECK_EQ(ibv_advise_mr(pd, to_write, 0, sge, 1), EFAULT);
	sge[0] = (struct ibv_sge){ 0, 1, null_mr->lkey }; /* a null MR has no memory */
	CHECK_EQ(ibv_advise_mr(pd, to_write, 0, sge, 1), EFAULT);
	/* Unmapped memory cannot be populated. */
	take_away(map + 3 * page, page);
	sge[0] = sge_of(mr, map + 2 * page, 2 * page);
	CHECK_EQ(ibv_advise_mr(pd, to_write, 0, sge, 1), EFAULT);
	CHECK_EQ(ibv_close_device(ctx), 0);
	munmap(map, 3 * page);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "attributes", test_attributes },
		{ "explicit", test_explicit },
		{ "srq", test_srq },
		{ "local_fault", test_local_fault },
		{ "implicit", test_implicit },
		{ "advise", test_advise },
		{ "advise_any_region", test_advise_any_region },
	};

	return RUN_TESTS(argc, argv, tests);
}
