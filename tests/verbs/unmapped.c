/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Registered memory that the program unmaps, by every possible call. The region loses the memory
 * permanently, even if other memory is mapped there next. With on-demand paging the memory comes
 * back (odp.c).
 */
#define _GNU_SOURCE
#include "fixture.h"
#include "pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEN ((size_t)8 << 20)
#define ALL (LOCAL | READ | WRITE)
#define SECRET 0xee

/*
 * Maps new memory in the place of the region, which no peer may read or change. Returns false if
 * the place is in use already.
 */
static bool remap(uint8_t *at, size_t len)
{
	uint8_t *map;

	at -= address(at) % page_size();
	map = mmap(at, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (map != MAP_FAILED)
		memset(map, SECRET, len);
	return map == at;
}

static void check_secret(const uint8_t *map, size_t len)
{
	map -= address(map) % page_size();
	for (size_t i = 0; i < len; i++)
		CHECK_EQ(map[i], SECRET);
}

/* A way to get memory, and to lose that memory. */
struct way {
	const char *name;
	/* LEN bytes. */
	uint8_t *(*get)(void);
	/* Loses the pages from `from` up to the end, and returns `from`. */
	uint8_t *(*lose)(uint8_t *map);
};

static uint8_t *get_pages(void)
{
	return map_pages(LEN / page_size(), PROT_READ | PROT_WRITE);
}

static uint8_t *lose_all(uint8_t *map)
{
	CHECK_EQ(munmap(map, LEN), 0);
	return map;
}

static uint8_t *lose_half(uint8_t *map)
{
	CHECK_EQ(munmap(map + LEN / 2, LEN / 2 - 1), 0);
	return map + LEN / 2;
}

static uint8_t *lose_by_move(uint8_t *map)
{
	uint8_t *to = map_pages(LEN / page_size(), PROT_NONE);

	CHECK(mremap(map, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
	CHECK_EQ(munmap(to, LEN), 0);
	return map;
}

static uint8_t *lose_by_target(uint8_t *map)
{
	uint8_t *from = map_pages(LEN / page_size() / 2, PROT_READ | PROT_WRITE);

	memset(from, SECRET, LEN / 2);
	CHECK(mremap(from, LEN / 2, LEN / 2, MREMAP_MAYMOVE | MREMAP_FIXED, map + LEN / 2) ==
	      map + LEN / 2);
	return map + LEN / 2;
}

static uint8_t *lose_by_shrinking(uint8_t *map)
{
	CHECK(mremap(map, LEN, LEN / 4, 0) == map);
	return map + LEN / 4;
}

static uint8_t *lose_by_mapping(uint8_t *map)
{
	CHECK(mmap(map + LEN / 2, LEN / 2, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == map + LEN / 2);
	memset(map + LEN / 2, SECRET, LEN / 2);
	return map + LEN / 2;
}

static int segment(size_t len)
{
	int id = shmget(IPC_PRIVATE, len, 0600);

	CHECK(id >= 0);
	return id;
}

static uint8_t *get_segment(void)
{
	int id = segment(LEN);
	void *map = shmat(id, NULL, 0);

	CHECK(map != (void *)-1);
	CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
	return map;
}

static uint8_t *lose_segment(uint8_t *map)
{
	CHECK_EQ(shmdt(map), 0);
	return map;
}

static uint8_t *lose_by_segment(uint8_t *map)
{
	int id = segment(LEN / 2);

	CHECK(shmat(id, map + LEN / 2, SHM_REMAP) == map + LEN / 2);
	CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
	memset(map + LEN / 2, SECRET, LEN / 2);
	return map + LEN / 2;
}

#ifndef SCTPIW_SANITIZED /* their malloc() keeps freed blocks */
static uint8_t *get_break(void)
{
	uint8_t *at = sbrk(0);
	size_t odd = address(at) % page_size();

	if (odd)
		sbrk((intptr_t)(page_size() - odd));
	at = sbrk(LEN);
	CHECK(at != (void *)-1);
	return at;
}

static uint8_t *lose_break(uint8_t *map)
{
	CHECK(sbrk(0) == map + LEN);
	sbrk(-(intptr_t)(LEN / 2));
	return map + LEN / 2;
}

static uint8_t *lose_break_at(uint8_t *map)
{
	CHECK(sbrk(0) == map + LEN);
	CHECK_EQ(brk(map + LEN / 2), 0);
	return map + LEN / 2;
}

/* A block that malloc() maps. */
static uint8_t *get_block(void)
{
	CHECK_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
	return malloc(LEN);
}

/* volatile hides from the compiler that the block is freed. */
static uint8_t *lose_block(uint8_t *block)
{
	uint8_t *volatile old = block;

	free(block);
	return old;
}

/* The block cannot grow in place, so that it moves, with its pages. */
static uint8_t *lose_grown(uint8_t *block)
{
	uint8_t *volatile old = block;
	uint8_t *behind = block - address(block) % page_size() + LEN + page_size();
	uint8_t *neighbour, *grown;

	neighbour = mmap(behind, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(neighbour != MAP_FAILED);
	grown = realloc(block, 4 * LEN);
	CHECK(grown && grown != old);
	free(grown);
	CHECK_EQ(munmap(neighbour, page_size()), 0);
	return old;
}

static uint8_t *lose_shrunk(uint8_t *block)
{
	uint8_t *volatile old = block;
	uint8_t *shrunk = realloc(block, LEN / 2);

	CHECK(shrunk == old);
	return shrunk + LEN / 2 + page_size();
}

/* A block at the end of the heap. */
static uint8_t *get_heap(void)
{
	CHECK_EQ(mallopt(M_MMAP_THRESHOLD, 32 << 20), 1);
	return malloc(LEN);
}

static uint8_t *lose_heap(uint8_t *block)
{
	uint8_t *volatile old = block;
	void *end = sbrk(0);

	free(block);
	CHECK(sbrk(0) < end);
	return old + (256 << 10);
}
#endif

static const struct way ways[] = {
	{ "munmap", get_pages, lose_all },
	{ "munmap of a half", get_pages, lose_half },
	{ "mremap elsewhere", get_pages, lose_by_move },
	{ "mremap on top", get_pages, lose_by_target },
	{ "mremap to less", get_pages, lose_by_shrinking },
	{ "MAP_FIXED", get_pages, lose_by_mapping },
	{ "shmdt", get_segment, lose_segment },
	{ "SHM_REMAP", get_pages, lose_by_segment },
#ifndef SCTPIW_SANITIZED
	{ "free", get_block, lose_block },
	{ "realloc to more", get_block, lose_grown },
	{ "realloc to less", get_block, lose_shrunk },
	{ "free at the end of the heap", get_heap, lose_heap },
	/* malloc() does not use the memory after these blocks. */
	{ "sbrk", get_break, lose_break },
	{ "brk", get_break, lose_break_at },
#endif
};

/* The peer has one attempt each, since an error ends the connection. */
static void check_way(const struct way *way, enum ibv_wr_opcode opcode)
{
	uint8_t *map, *lost;
	struct ibv_mr *mr;
	struct pair p;
	size_t left;
	bool ours;

	fprintf(stderr, "%s\n", way->name);
	pair_open(&p, NULL);
	map = way->get();
	CHECK(map);
	memset(map, 1, LEN);
	mr = ibv_reg_mr(p.b.pd, map, LEN, ALL);
	CHECK(mr);
	write_works(&p, map, address(map), mr->rkey, 4096);
	lost = way->lose(map);
	left = address(lost) - address(map);
	ours = remap(lost, page_size());
	if (left) {
		write_works(&p, map, address(map), mr->rkey, 4096);
		read_works(&p, map, address(map), mr->rkey, 4096);
	}
	if (opcode == IBV_WR_RDMA_READ)
		read_fails(&p, address(lost), mr->rkey, 100);
	else
		write_fails(&p, address(lost) - !!left, mr->rkey, 100);
	if (ours)
		check_secret(lost, page_size());
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	if (ours)
		CHECK_EQ(munmap(lost - address(lost) % page_size(), page_size()), 0);
}

static void test_ways(void)
{
	ROWS("5041-8.3.2-03");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		check_way(&ways[i], IBV_WR_RDMA_READ);
		check_way(&ways[i], IBV_WR_RDMA_WRITE);
	}
}

/* The program's own requests and receives fail, too. */
static void test_local(void)
{
	for (int way = 0; way < 3; way++) {
		uint8_t *map = map_pages(2, PROT_READ | PROT_WRITE);
		struct ibv_sge sge;
		struct ibv_mr *mr;
		struct ibv_wc wc;
		struct pair p;

		pair_open(&p, NULL);
		mr = ibv_reg_mr(p.a.pd, map, 2 * page_size(), ALL);
		CHECK(mr);
		CHECK_EQ(munmap(map + page_size(), page_size()), 0);
		remap(map + page_size(), page_size());
		sge = sge_of(mr, map, 2 * page_size());
		if (way == 2) {
			CHECK_EQ(post_recv(&p.a, 1, &sge, 1), 0);
			sge = sge_of(p.b.mr, p.b.buf, 2 * page_size());
			CHECK_EQ(post_send(&p.b, 1, &sge, 1, 0), 0);
			expect_wc(p.a.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
		} else {
			CHECK_EQ(post_rdma(&p.a, way ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 1,
					   &sge, 1, address(p.b.buf), p.b.mr->rkey,
					   IBV_SEND_SIGNALED),
				 0);
			expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		}
		check_secret(map + page_size(), page_size());
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
		CHECK_EQ(munmap(map, 2 * page_size()), 0);
	}
}

/*
 * A window covers the parts that its region still has. Registering the memory again restores lost
 * parts.
 */
static void test_window_and_rereg(void)
{
	uint8_t *map = map_pages(4, PROT_READ | PROT_WRITE);
	size_t page = page_size();
	struct ibv_mw *mw;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;

	for (int round = 0; round < 2; round++) {
		pair_open(&p, NULL);
		mr = ibv_reg_mr(p.b.pd, map, 4 * page, ALL | IBV_ACCESS_MW_BIND);
		mw = ibv_alloc_mw(p.b.pd, IBV_MW_TYPE_2);
		CHECK(mr && mw);
		CHECK_EQ(post_bind(&p.b, 1, mw, ibv_inc_rkey(mw->rkey), mr, map, 4 * page,
				   READ | WRITE),
			 0);
		expect_wc(p.b.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(munmap(map + page, page), 0);
		CHECK_EQ(munmap(map + 3 * page, page), 0);
		CHECK(remap(map + page, page) && remap(map + 3 * page, page));
		write_works(&p, map, address(map), ibv_inc_rkey(mw->rkey), page);
		write_works(&p, map + 2 * page, address(map + 2 * page), ibv_inc_rkey(mw->rkey),
			    page);
		if (round)
			write_fails(&p, address(map + 2 * page) - 1, ibv_inc_rkey(mw->rkey), 1);
		else
			read_fails(&p, address(map + 3 * page), ibv_inc_rkey(mw->rkey), 1);
		check_secret(map + page, page);
		check_secret(map + 3 * page, page);
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.b.pd, map, 4 * page, ALL);
	CHECK(mr);
	CHECK_EQ(munmap(map, page), 0);
	CHECK(remap(map, page));
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, map, 4 * page, 0), 0);
	read_works(&p, map, address(map), mr->rkey, 4 * page);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	CHECK_EQ(munmap(map, 4 * page), 0);
}

/*
 * The device copies referenced payloads before the pages are unmapped: the peer gets the sent
 * bytes, or nothing.
 */
static void test_referenced(void)
{
	for (int round = 0; round < 20; round++) {
		uint8_t *map = map_pages(SIDE_BUF / page_size(), PROT_READ | PROT_WRITE);
		struct ibv_sge sge;
		struct ibv_mr *mr;
		struct ibv_wc wc;
		struct pair p;

		memset(map, 0x11, SIDE_BUF);
		pair_open(&p, NULL);
		memset(p.b.buf, 0x11, SIDE_BUF);
		mr = ibv_reg_mr(p.a.pd, map, SIDE_BUF, LOCAL);
		CHECK(mr);
		sge = sge_of(mr, map, SIDE_BUF);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(p.b.buf),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
		CHECK_EQ(munmap(map, SIDE_BUF), 0);
		remap(map, SIDE_BUF);
		wait_wc(p.a.send_cq, &wc);
		for (int i = 0; i < SIDE_BUF; i++)
			CHECK_EQ(p.b.buf[i], 0x11);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
		CHECK_EQ(munmap(map, SIDE_BUF), 0);
	}
}

/* Unmapping other memory, even next to a region, does not affect the region. */
static void test_neighbours(void)
{
	uint8_t *map = map_pages(3, PROT_READ | PROT_WRITE);
	size_t page = page_size();
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.b.pd, map + page, page, ALL);
	CHECK(mr);
	CHECK_EQ(munmap(map, page), 0);
	CHECK_EQ(munmap(map + 2 * page, page), 0);
	/* A call that fails has no effect. */
	CHECK_EQ(munmap(map + page + 1, page), -1);
	CHECK(mremap(map + page, page, 1ul << 46, 0) == MAP_FAILED);
	CHECK(mmap(map + page, page, PROT_READ, MAP_FIXED | MAP_PRIVATE, -1, 0) == MAP_FAILED);
	CHECK(mmap(map + page, page, PROT_READ, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0) == MAP_FAILED);
	write_works(&p, map + page, address(map + page), mr->rkey, page);
	read_works(&p, map + page, address(map + page), mr->rkey, page);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	CHECK_EQ(munmap(map + page, page), 0);
}

#ifndef SCTPIW_SANITIZED /* there, the device's memory comes from the sanitizer */
/* Programs cannot register the device's allocations, such as the objects that it returns. */
static void test_own_memory(void)
{
	for (int way = 0; way < 4; way++) {
		struct ibv_mr *mr;
		struct pair p;
		void *own;

		pair_open(&p, NULL);
		own = way & 1 ? (void *)p.b.mr : (void *)p.b.qp;
		CHECK_FAILS(ibv_reg_mr(p.b.pd, own, 64, LOCAL), EFAULT);
		CHECK_FAILS(ibv_reg_mr(p.b.pd, (uint8_t *)own - page_size(), 8 * page_size(), READ),
			    EFAULT);
		CHECK_EQ(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, own, 64, 0),
			 IBV_REREG_MR_ERR_CMD);
		/* A region with on-demand paging may cover such memory, but does not expose it. */
		mr = way & 2 ? ibv_reg_mr(p.b.pd, own, 64, ALL | ODP) :
			       ibv_reg_mr(p.b.pd, NULL, SIZE_MAX, ALL | ODP);
		CHECK(mr);
		write_works(&p, p.b.buf, address(p.b.buf), way & 2 ? p.b.mr->rkey : mr->rkey, 5000);
		if (way & 1)
			read_fails(&p, address(own), mr->rkey, 8);
		else
			write_fails(&p, address(own) + 3, mr->rkey, 8);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
}

/*
 * Returns true if the byte is unmapped or the program's: the device's own memory can be read, but
 * not registered.
 */
static bool is_not_of_device(struct ibv_pd *pd, uint8_t *at, const int pipe[2], bool *readable)
{
	struct ibv_mr *mr;
	char byte;

	*readable = write(pipe[1], at, 1) == 1;
	if (!*readable)
		return true;
	CHECK_EQ(read(pipe[0], &byte, 1), 1);
	mr = ibv_reg_mr(pd, at, 1, READ);
	return mr && !ibv_dereg_mr(mr);
}

/*
 * No hook sees a raw system call. The hole has room for all later allocations of the device, but
 * these lie elsewhere.
 */
static void test_unseen(void)
{
	struct ibv_alloc_dm_attr dm_attr = { .length = 16 << 20 };
	const size_t len = 8 * LEN;
	uint8_t *map = map_pages(len / page_size(), PROT_READ | PROT_WRITE), *hole = NULL;
	struct pair p, others[8];
	struct ibv_dm *dm;
	struct ibv_mr *mr;
	bool readable;
	int fds[2];

	CHECK_EQ(pipe(fds), 0);
	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.b.pd, map, len, ALL);
	CHECK(mr);
	CHECK_EQ(syscall(SYS_munmap, map, len), 0);
	dm = ibv_alloc_dm(p.b.pd->context, &dm_attr);
	CHECK(dm);
	for (int i = 0; i < 8; i++) {
		pair_open(&others[i], NULL);
		write_works(&others[i], others[i].b.buf, address(others[i].b.buf),
			    others[i].b.mr->rkey, 4096);
	}
	for (size_t at = 0; at < len; at += page_size()) {
		CHECK(is_not_of_device(p.b.pd, map + at, fds, &readable));
		if (!readable)
			hole = map + at;
	}
	CHECK(hole);
	write_fails(&p, address(hole), mr->rkey, 1);
	for (int i = 0; i < 8; i++)
		pair_close(&others[i]);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
	close(fds[0]);
	close(fds[1]);
}
#endif

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "ways", test_ways },
		{ "local", test_local },
		{ "window_and_rereg", test_window_and_rereg },
		{ "referenced", test_referenced },
		{ "neighbours", test_neighbours },
#ifndef SCTPIW_SANITIZED
		{ "own_memory", test_own_memory },
		{ "unseen", test_unseen },
#endif
	};

	return RUN_TESTS(argc, argv, tests);
}
