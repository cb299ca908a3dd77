/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ibv_fork_init(), which must be the first call, and affects the whole process. */
#include "fixture.h"
#include "pages.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Huge pages, if available; ibv_fork_init() mishandles them unless RDMAV_HUGEPAGES_SAFE is set. */
static void register_huge_page(struct ibv_pd *pd)
{
	size_t len = (size_t)2 << 20;
	struct ibv_mr *mr;
	void *map;

	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
		   0);
	if (map == MAP_FAILED)
		return;
	mr = ibv_reg_mr(pd, (uint8_t *)map + 4096, 4096, LOCAL);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	munmap(map, len);
}

/*
 * A child has its parent's memory, including registered memory, and ibv_fork_init() reports this.
 */
static void test_fork_init(void)
{
	size_t page = page_size();
	uint8_t *map = map_pages(8, PROT_READ | PROT_WRITE);
	struct ibv_alloc_dm_attr attr = { .length = 8192 };
	struct ibv_mr *mr, *null_mr, *dm_mr, *odp;
	struct ibv_context *ctx;
	struct ibv_dm *dm;
	struct ibv_pd *pd;
	int status;
	pid_t pid;

	CHECK_EQ(ibv_fork_init(), 0);
	CHECK_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	dm = ibv_alloc_dm(ctx, &attr);
	CHECK(pd && dm);
	memset(map, 1, 8 * page);
	mr = ibv_reg_mr(pd, map, 2 * page, LOCAL | READ);
	null_mr = ibv_alloc_null_mr(pd);
	dm_mr = ibv_reg_dm_mr(pd, dm, 0, 8192, IBV_ACCESS_ZERO_BASED);
	odp = ibv_reg_mr(pd, map + 4 * page, 2 * page, LOCAL | ODP);
	CHECK(mr && null_mr && dm_mr && odp);
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, map + 2 * page, 2 * page,
			      0),
		 0);
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)page, page, 0),
		 IBV_REREG_MR_ERR_CMD); /* no memory at that address */
	register_huge_page(pd);
	for (int round = 0; round < 2; round++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			for (size_t i = 0; i < 8 * page; i++)
				if (map[i]++ != 1)
					_exit(1);
			_exit(0);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
		if (round)
			break;
		CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, map + 6 * page,
				      page, 0),
			 0);
	}
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	CHECK_EQ(ibv_dereg_mr(dm_mr), 0);
	CHECK_EQ(ibv_dereg_mr(odp), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
	munmap(map, 8 * page);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { { "fork_init", test_fork_init } };

	return RUN_TESTS(argc, argv, tests);
}
