/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Registration of memory: changes, null MRs, device memory, and refused calls. odp.c has on-demand
 * paging.
 */
#include "fixture.h"
#include "pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Rereg_mr */

#define TRANS IBV_REREG_MR_CHANGE_TRANSLATION
#define PD IBV_REREG_MR_CHANGE_PD
#define ACCESS IBV_REREG_MR_CHANGE_ACCESS

/* Another range gets another key, so that the old key is invalid. */
static void test_rereg_translation(void)
{
	ROWS("5041-8.3-02 5041-8.3.1-05");
	struct ibv_mr *mr;
	uint32_t old;
	struct pair p;

	for (int stale = 0; stale < 2; stale++) {
		pair_open(&p, NULL);
		fill(p.b.buf, SIDE_BUF, 1);
		mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL | READ | WRITE);
		CHECK(mr);
		old = mr->rkey;
		read_works(&p, p.b.buf, address(p.b.buf), old, 4096);
		CHECK_EQ(ibv_rereg_mr(mr, TRANS, NULL, p.b.buf + 8192, 5000, 0), 0);
		CHECK(mr->addr == p.b.buf + 8192 && mr->length == 5000);
		CHECK(mr->rkey == mr->lkey && mr->rkey != old && mr->rkey >> 8 != old >> 8);
		read_works(&p, p.b.buf + 8192, address(p.b.buf + 8192), mr->rkey, 5000);
		write_works(&p, p.b.buf + 8192, address(p.b.buf + 8192), mr->rkey, 5000);
		if (stale)
			read_fails(&p, address(p.b.buf + 8192), old, 1);
		else
			read_fails(&p, address(p.b.buf), mr->rkey, 1);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
}

/* The key stays the same, with other access rights. */
static void test_rereg_access(void)
{
	ROWS("5041-8.3.1-06");
	struct ibv_mr *mr;
	uint32_t old;
	struct pair p;

	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL);
	CHECK(mr);
	old = mr->rkey;
	CHECK_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, LOCAL | READ | WRITE), 0);
	CHECK_EQ(mr->rkey, old);
	read_works(&p, p.b.buf, address(p.b.buf), old, 4096);
	write_works(&p, p.b.buf, address(p.b.buf), old, 4096);
	CHECK_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, READ), 0);
	read_works(&p, p.b.buf, address(p.b.buf), old, 4096);
	write_fails(&p, address(p.b.buf), old, 4096);
	CHECK(filled(p.b.buf, 4096, 77));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);

	/* Addresses become offsets, and addresses again. */
	pair_open(&p, NULL);
	fill(p.b.buf, 4096, 5);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL | READ);
	CHECK(mr);
	CHECK_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, READ | IBV_ACCESS_ZERO_BASED), 0);
	read_works(&p, p.b.buf + 1, 1, mr->rkey, 4095);
	CHECK_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, READ), 0);
	read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
	read_fails(&p, 1, mr->rkey, 1);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

static void test_rereg_pd(void)
{
	ROWS("5042-6.1.1-01");
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct pair p;

	pair_open(&p, NULL);
	pd = ibv_alloc_pd(p.b.pd->context);
	CHECK(pd);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL | READ);
	CHECK(mr);
	read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
	CHECK_EQ(ibv_rereg_mr(mr, PD, pd, NULL, 0, 0), 0);
	CHECK(mr->pd == pd);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_rereg_mr(mr, PD | ACCESS, p.b.pd, NULL, 0, LOCAL | READ), 0);
	read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
	/* Everything is changed at once. */
	fill(p.b.buf, SIDE_BUF, 9);
	CHECK_EQ(ibv_rereg_mr(mr, PD | ACCESS | TRANS, pd, p.b.buf + 10, 10, LOCAL), 0);
	CHECK_EQ(ibv_rereg_mr(mr, PD | ACCESS | TRANS, p.b.pd, p.b.buf + 100, 100, READ), 0);
	read_works(&p, p.b.buf + 100, address(p.b.buf + 100), mr->rkey, 100);
	CHECK_EQ(ibv_rereg_mr(mr, PD, pd, NULL, 0, 0), 0);
	read_fails(&p, address(p.b.buf + 100), mr->rkey, 100);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	pair_close(&p);
}

/*
 * After each failure, the old registration is unchanged. The error codes are those of the manual
 * page.
 */
static void test_rereg_refused(void)
{
	struct ibv_context *other = open_device();
	struct ibv_pd *foreign = ibv_alloc_pd(other);
	uint8_t *read_only = map_pages(1, PROT_READ);
	struct ibv_mr *mr, *null_mr, *dm_mr, before;
	struct ibv_alloc_dm_attr dm_attr = { .length = 100 };
	struct ibv_dm *dm;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	struct pair p;
	void *gone;

	pair_open(&p, NULL);
	fill(p.b.buf, 4096, 2);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL | READ | IBV_ACCESS_MW_BIND);
	null_mr = ibv_alloc_null_mr(p.b.pd);
	dm = ibv_alloc_dm(p.b.pd->context, &dm_attr);
	CHECK(foreign && mr && null_mr && dm);
	dm_mr = ibv_reg_dm_mr(p.b.pd, dm, 0, 100, IBV_ACCESS_ZERO_BASED);
	CHECK(dm_mr);
	gone = map_pages(1, PROT_READ | PROT_WRITE);
	take_away(gone, page_size());
	before = *mr;
#define REFUSED(code, error, ...)                                                                  \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK_EQ(ibv_rereg_mr(mr, __VA_ARGS__), code);                                     \
		CHECK_EQ(errno, error);                                                            \
		CHECK(!memcmp(mr, &before, sizeof(before)));                                       \
		read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);                         \
	} while (0)
#define INPUT IBV_REREG_MR_ERR_INPUT
#define CMD IBV_REREG_MR_ERR_CMD
	REFUSED(INPUT, EINVAL, 8, NULL, NULL, 0, 0);
	REFUSED(INPUT, EINVAL, TRANS, NULL, NULL, 100, 0);
	REFUSED(INPUT, EINVAL, TRANS, NULL, p.b.buf, 0, 0);
	REFUSED(INPUT, EINVAL, PD, p.b.pd, NULL, 0, READ);
	REFUSED(CMD, EINVAL, 0, NULL, NULL, 0, 0);
	REFUSED(CMD, EINVAL, PD, NULL, NULL, 0, 0);
	REFUSED(CMD, EINVAL, PD, foreign, NULL, 0, 0);
	REFUSED(CMD, EINVAL, ACCESS, NULL, NULL, 0, WRITE);
	REFUSED(CMD, EINVAL, ACCESS, NULL, NULL, 0, 1 << 18);
	REFUSED(CMD, EFAULT, TRANS, NULL, gone, 100, 0);
	REFUSED(CMD, EFAULT, TRANS, NULL, read_only, 100, 0);
	REFUSED(CMD, EFAULT, TRANS | ACCESS, NULL, read_only, 100, LOCAL | WRITE);
	REFUSED(CMD, EINVAL, TRANS, NULL, p.b.buf, SIZE_MAX - 10, 0);
	REFUSED(CMD, EFAULT, TRANS | ACCESS, NULL, p.b.buf, 1ul << 62, ODP);
	mw = ibv_alloc_mw(p.b.pd, IBV_MW_TYPE_2);
	CHECK(mw);
	CHECK_EQ(post_bind(&p.b, 1, mw, ibv_inc_rkey(mw->rkey), mr, p.b.buf, 10, READ), 0);
	expect_wc(p.b.send_cq, IBV_WC_SUCCESS, &wc);
	REFUSED(CMD, EBUSY, TRANS, NULL, p.b.buf, 100, 0);
	REFUSED(CMD, EBUSY, ACCESS, NULL, NULL, 0, READ);
	REFUSED(CMD, EBUSY, PD, p.b.pd, NULL, 0, 0);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
#undef REFUSED
	CHECK_EQ(ibv_rereg_mr(null_mr, ACCESS, NULL, NULL, 0, 0), INPUT);
	CHECK_EQ(ibv_rereg_mr(dm_mr, ACCESS, NULL, NULL, 0, 0), INPUT);
	/* A read-only mapping suffices for reading. */
	CHECK_EQ(ibv_rereg_mr(mr, TRANS | ACCESS, NULL, read_only, 100, READ), 0);
	read_works(&p, read_only, address(read_only), mr->rkey, 100);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	CHECK_EQ(ibv_dereg_mr(dm_mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	pair_close(&p);
	munmap(read_only, page_size());
	CHECK_EQ(ibv_close_device(other), 0);
}

/* Once ibv_rereg_mr() has returned, nothing is written to the old range. */
static void test_rereg_under_traffic(void)
{
	ROWS("5041-8.3.1-07 5042-6.2.2-01");
	static const int flags[] = { TRANS, ACCESS, PD };

	for (int round = 0; round < 9; round++) {
		struct ibv_pd *pd;
		struct stream stream;
		struct ibv_mr *mr;
		struct pair p;

		pair_open(&p, NULL);
		pd = ibv_alloc_pd(p.b.pd->context);
		CHECK(pd);
		memset(p.a.buf, 0x11, 30000);
		mr = ibv_reg_mr(p.b.pd, p.b.buf, 30000, LOCAL | WRITE);
		CHECK(mr);
		stream_start(&stream, &p, address(p.b.buf), mr->rkey, 30000, 20 + 5 * round);
		CHECK_EQ(ibv_rereg_mr(mr, flags[round % 3], pd, p.b.buf + 40000, 30000, 0), 0);
		memset(p.b.buf, 0xcc, 100000);
		stream_join(&stream);
		expect_broken(&p);
		for (int i = 0; i < 100000; i++)
			CHECK(p.b.buf[i] == 0xcc);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		CHECK_EQ(ibv_dealloc_pd(pd), 0);
		pair_close(&p);
	}
}

/* First TO of a region */

static void test_iova(void)
{
	ROWS("5040-5.1-04 5041-4.2-13");
	const uint64_t last = page_size() - 100; /* offset in a page that leaves 100 bytes */
	const uint64_t iovas[] = { last, 0x7700000000 + last, UINT64_MAX - 99 };
	struct pair p;

	for (size_t i = 0; i < 3; i++) {
		for (int off = -1; off <= 1; off++) {
			struct ibv_mr *mr;
			uint8_t *at;

			pair_open(&p, NULL);
			at = p.b.buf + (last - address(p.b.buf)) % page_size();
			fill(at, 100, 6);
			mr = ibv_reg_mr_iova(p.b.pd, at, 100, iovas[i],
					     LOCAL | READ | WRITE | IBV_ACCESS_RELAXED_ORDERING);
			CHECK(mr && mr->addr == at);
			read_works(&p, at, iovas[i], mr->rkey, 100);
			read_works(&p, at + 99, iovas[i] + 99, mr->rkey, 1);
			if (off)
				read_fails(&p, iovas[i] + off, mr->rkey, 100);
			else
				write_works(&p, at, iovas[i], mr->rkey, 100);
			CHECK_EQ(ibv_dereg_mr(mr), 0);
			pair_close(&p);
		}
	}
	pair_open(&p, NULL);
	CHECK_FAILS(ibv_reg_mr_iova(p.b.pd, p.b.buf, page_size() + 1,
				    address(p.b.buf) % page_size() - page_size(), LOCAL),
		    EINVAL);
	/*
	 * An address and its iova have the same offset in a page, as the kernel requires for all
	 * devices.
	 */
	CHECK_FAILS(ibv_reg_mr_iova(p.b.pd, p.b.buf, 100, address(p.b.buf) + 1, LOCAL), EINVAL);
	CHECK_FAILS(ibv_reg_mr_iova(p.b.pd, p.b.buf, 100, address(p.b.buf) - 1, LOCAL | ODP),
		    EINVAL);
	pair_close(&p);
}

/* Memory that a process may register */

static int temporary_file(size_t len)
{
	char name[] = "/tmp/sctpiw-memory-XXXXXX";
	int fd = mkstemp(name);

	CHECK(fd >= 0);
	CHECK_EQ(unlink(name), 0);
	CHECK_EQ(ftruncate(fd, len), 0);
	return fd;
}

/* Files: shared and private mappings, read-only ones, and one whose file shrinks under the MR. */
static void test_files(void)
{
	ROWS("5041-8.3.2-03");
	size_t len = 4 * page_size();
	int fd = temporary_file(len), read_only_fd;
	uint8_t *shared, *private, *read_only;
	struct ibv_mr *mr[3];
	char path[64];
	uint8_t byte;
	struct pair p;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_only_fd = open(path, O_RDONLY);
	CHECK(read_only_fd >= 0);
	shared = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	private = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	read_only = mmap(NULL, len, PROT_READ, MAP_SHARED, read_only_fd, 0);
	CHECK(shared != MAP_FAILED && private != MAP_FAILED && read_only != MAP_FAILED);

	pair_open(&p, NULL);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, read_only, len, LOCAL), EFAULT);
	CHECK_FAILS(ibv_reg_mr(p.b.pd, read_only, len, LOCAL | WRITE), EFAULT);
	mr[0] = ibv_reg_mr(p.b.pd, shared, len, LOCAL | READ | WRITE);
	mr[1] = ibv_reg_mr(p.b.pd, private, len, LOCAL | READ | WRITE);
	mr[2] = ibv_reg_mr(p.b.pd, read_only, len, READ);
	CHECK(mr[0] && mr[1] && mr[2]);
	write_works(&p, private + 5, address(private + 5), mr[1]->rkey, 3000);
	CHECK_EQ(pread(fd, &byte, 1, 5), 1);
	CHECK_EQ(byte, 0);
	write_works(&p, shared + 5, address(shared + 5), mr[0]->rkey, 3000);
	CHECK_EQ(pread(fd, &byte, 1, 5), 1);
	CHECK_EQ(byte, shared[5]);
	read_works(&p, shared, address(read_only), mr[2]->rkey, len);
	/* the application would get SIGBUS; here, a request for the page fails */
	CHECK_EQ(ftruncate(fd, page_size()), 0);
	read_works(&p, shared, address(shared), mr[0]->rkey, page_size());
	read_fails(&p, address(shared) + page_size() - 1, mr[0]->rkey, 2);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
	pair_close(&p);
	munmap(shared, len);
	munmap(private, len);
	munmap(read_only, len);
	close(read_only_fd);
	close(fd);
}

/* The null MR */

static void test_null_mr(void)
{
	struct ibv_mr *null_mr;
	struct ibv_sge sge[3];
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	null_mr = ibv_alloc_null_mr(p.a.pd);
	CHECK(null_mr && null_mr->lkey && !null_mr->addr && null_mr->length == SIZE_MAX);
	CHECK(null_mr->pd == p.a.pd && null_mr->context == p.a.pd->context);
	/* A null MR sends zeros, whatever the address and the length. */
	memset(p.b.buf, 0x5a, SIDE_BUF);
	memset(p.a.buf, 0x11, SIDE_BUF);
	sge[0] = sge_of(p.a.mr, p.a.buf, 100);
	sge[1] = (struct ibv_sge){ UINT64_MAX - 5, 200000, null_mr->lkey };
	sge[2] = sge_of(p.a.mr, p.a.buf, 100);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, sge, 3, address(p.b.buf), p.b.mr->rkey, 0),
		 0);
	/* Data received into a null MR is dropped. */
	sge[1].length = 5000;
	CHECK_EQ(post_recv(&p.a, 2, sge, 3), 0);
	sge[0] = (struct ibv_sge){ 0, 150000, null_mr->lkey };
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 3, sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 3);
	for (int i = 0; i < SIDE_BUF; i++)
		CHECK_EQ(p.b.buf[i], i >= 200200 ? 0x5a : i < 100 || i >= 200100 ? 0x11 : 0);
	fill(p.b.buf, 5200, 8);
	sge[0] = sge_of(p.b.mr, p.b.buf, 5200);
	CHECK_EQ(post_send(&p.b, 4, sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 5200);
	CHECK(!memcmp(p.a.buf, p.b.buf + 5100, 100));
	/* A null MR does not return data that it has dropped. */
	sge[0] = (struct ibv_sge){ 7, 60000, null_mr->lkey };
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 5, sge, 1, address(p.b.buf), p.b.mr->rkey, 0),
		 0);
	sge[0] = sge_of(p.a.mr, p.a.buf, 60000);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 6, sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	for (int i = 0; i < 60000; i++)
		CHECK(!p.a.buf[i] && !p.b.buf[i]);
	CHECK_EQ(ibv_dealloc_pd(p.a.pd), EBUSY);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	pair_close(&p);

	/* QPs of another PD cannot use the null MR. */
	pair_open(&p, NULL);
	null_mr = ibv_alloc_null_mr(p.b.pd);
	CHECK(null_mr);
	sge[0] = (struct ibv_sge){ 0, 10, null_mr->lkey };
	CHECK_EQ(post_send(&p.a, 1, sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	expect_broken(&p);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	pair_close(&p);
}

/*
 * Programs give the key of a null MR to their peers (perftest --use-null-mr). The peers' Writes
 * have no effect, and their Reads return zeros, at any address.
 */
static void test_null_mr_of_peer(void)
{
	static const uint64_t at[] = { 0, 0x7f0000000123, UINT64_MAX - SIDE_BUF };
	struct ibv_send_wr atomic = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .num_sge = 1 }, *bad;
	struct ibv_mr *null_mr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	null_mr = ibv_alloc_null_mr(p.b.pd);
	CHECK(null_mr && null_mr->rkey == null_mr->lkey);
	fill(p.b.buf, SIDE_BUF, 9);
	for (size_t i = 0; i < 3; i++) {
		fill(p.a.buf, SIDE_BUF, 10);
		CHECK_EQ(access_remote(&p, IBV_WR_RDMA_WRITE, at[i], null_mr->lkey, SIDE_BUF),
			 IBV_WC_SUCCESS);
		CHECK_EQ(access_remote(&p, IBV_WR_RDMA_READ, at[i], null_mr->lkey, SIDE_BUF),
			 IBV_WC_SUCCESS);
		for (size_t k = 0; k < SIDE_BUF; k++)
			CHECK(!p.a.buf[k]);
	}
	CHECK(filled(p.b.buf, SIDE_BUF, 9));
	/* An atomic has no memory to change. */
	sge = sge_of(p.a.mr, p.a.buf, 8);
	atomic.sg_list = &sge;
	atomic.wr.atomic.rkey = null_mr->lkey;
	CHECK_EQ(ibv_post_send(p.a.qp, &atomic, &bad), 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	expect_broken(&p);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	pair_close(&p);

	/*
	 * Peers of another PD's QPs cannot use the null MR, nor can peers of a QP without the
	 * access right.
	 */
	pair_open(&p, NULL);
	null_mr = ibv_alloc_null_mr(p.a.pd);
	CHECK(null_mr);
	read_fails(&p, 0, null_mr->lkey, 1);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	pair_close(&p);
}

/* Device memory */

static void test_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 10004, .log_align_req = 3 };
	uint8_t host[10004], back[10004];
	struct ibv_device_attr_ex dev;
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_device_ex(p.b.pd->context, NULL, &dev), 0);
	dm = ibv_alloc_dm(p.b.pd->context, &attr);
	CHECK(dm && dm->context == p.b.pd->context && dm->handle);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 0, sizeof(back)), 0);
	for (size_t i = 0; i < sizeof(back); i++)
		CHECK(!back[i]);
	fill(host, sizeof(host), 4);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 0, host, sizeof(host)), 0);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 10004, host, 0), 0);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 10004, host, 4), EFAULT);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 4, host, 10004), EFAULT);
	CHECK_EQ(ibv_memcpy_to_dm(dm, UINT64_MAX - 3, host, 8), EFAULT);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 10000, 8), EFAULT);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 4, SIZE_MAX - 3), EFAULT);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 2, host, 4), EINVAL);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 4, 3), EINVAL);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 104, 9900), 0);
	CHECK(!memcmp(back, host + 104, 9900));

#define REG(offset, length, access)                                                                \
	ibv_reg_dm_mr(p.b.pd, dm, offset, length, (access) | IBV_ACCESS_ZERO_BASED)
	CHECK_FAILS(ibv_reg_dm_mr(p.b.pd, dm, 0, 100, LOCAL), EINVAL);
	CHECK_FAILS(REG(0, 100, IBV_ACCESS_MW_BIND), EINVAL);
	CHECK_FAILS(REG(0, 100, ODP), EINVAL);
	CHECK_FAILS(REG(0, 100, WRITE), EINVAL);
	CHECK_FAILS(REG(0, 10005, LOCAL), EINVAL);
	CHECK_FAILS(REG(10004, 1, LOCAL), EINVAL);
	CHECK_FAILS(REG(2, UINT64_MAX, LOCAL), EINVAL);
	mr = REG(1, 10001, LOCAL | READ | WRITE | IBV_ACCESS_RELAXED_ORDERING);
#undef REG
	CHECK(mr && mr->lkey == mr->rkey && mr->pd == p.b.pd);
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	read_works(&p, host + 1, 0, mr->rkey, 10001);
	fill(p.a.buf, 5000, 13);
	CHECK_EQ(access_remote(&p, IBV_WR_RDMA_WRITE, 5000, mr->rkey, 5000), IBV_WC_SUCCESS);
	fill(host + 5001, 5000, 13);
	read_works(&p, host + 1, 0, mr->rkey, 10001);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 0, 10004), 0);
	CHECK(!memcmp(back, host, 10004));
	read_fails(&p, 10000, mr->rkey, 2);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);

	attr.length = dev.max_dm_size + 1;
	CHECK_FAILS(ibv_alloc_dm(p.b.pd->context, &attr), EINVAL);
	attr.length = 0;
	CHECK_FAILS(ibv_alloc_dm(p.b.pd->context, &attr), EINVAL);
	attr = (struct ibv_alloc_dm_attr){ .length = 8, .comp_mask = 1 };
	CHECK_FAILS(ibv_alloc_dm(p.b.pd->context, &attr), EINVAL);
	attr = (struct ibv_alloc_dm_attr){ .length = 8, .log_align_req = 200 };
	CHECK_FAILS(ibv_alloc_dm(p.b.pd->context, &attr), EINVAL);
	/*
	 * All device memory can be allocated, and not a byte more. Freed memory can be allocated
	 * again.
	 */
	attr = (struct ibv_alloc_dm_attr){ .length = dev.max_dm_size };
	for (int i = 0; i < 3; i++) {
		struct ibv_alloc_dm_attr one = { .length = 1 };

		dm = ibv_alloc_dm(p.b.pd->context, &attr);
		CHECK(dm);
		CHECK_FAILS(ibv_alloc_dm(p.b.pd->context, &one), ENOMEM);
		CHECK_EQ(ibv_free_dm(dm), 0);
	}
	pair_close(&p);
}

static _Atomic bool enough;

/* Repeatedly requests more device memory than is available. */
static void *ask_for_too_much(void *ctx)
{
	struct ibv_alloc_dm_attr attr = { .length = 16 << 20 };

	while (!enough)
		CHECK_FAILS(ibv_alloc_dm(ctx, &attr), ENOMEM);
	return NULL;
}

/* A request for too much device memory never takes any from others, not even for a moment. */
static void test_device_memory_by_threads(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_context *ctx = open_device();
	struct ibv_dm *held = ibv_alloc_dm(ctx, &attr), *dm;
	pthread_t thread;

	CHECK(held);
	CHECK(!pthread_create(&thread, NULL, ask_for_too_much, ctx));
	for (int i = 0; i < 20000; i++) {
		dm = ibv_alloc_dm(ctx, &attr);
		CHECK(dm);
		CHECK_EQ(ibv_free_dm(dm), 0);
	}
	enough = true;
	pthread_join(thread, NULL);
	CHECK_EQ(ibv_free_dm(held), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * Closing the device frees DMs, with their MRs and windows. The memory can then be allocated again.
 */
static void test_leftovers(void)
{
	for (int i = 0; i < 10; i++) {
		struct ibv_context *ctx = open_device();
		struct ibv_pd *pd = ibv_alloc_pd(ctx);
		struct ibv_device_attr_ex dev;
		struct ibv_alloc_dm_attr attr = { 0 };
		struct ibv_dm *dm;

		CHECK(pd);
		CHECK_EQ(ibv_query_device_ex(ctx, NULL, &dev), 0);
		attr.length = dev.max_dm_size;
		dm = ibv_alloc_dm(ctx, &attr);
		CHECK(dm && ibv_reg_dm_mr(pd, dm, 0, 10, IBV_ACCESS_ZERO_BASED));
		CHECK(ibv_alloc_mw(pd, IBV_MW_TYPE_1) && ibv_alloc_null_mr(pd));
		CHECK_EQ(ibv_close_device(ctx), 0);
	}
}

/* Unsupported calls, which return this error */

static void test_not_supported(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_alloc_dm_attr attr = { .length = 8 };
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &attr);
	uint8_t buf[64];
	struct ibv_mr *mr;

	CHECK(pd && dm);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), LOCAL);
	CHECK(mr);
	CHECK_FAILS(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, LOCAL), EOPNOTSUPP);
	/* NCCL and UCX check for dma-buf in these ways. Any other errno would indicate support. */
	CHECK_FAILS(ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0), EOPNOTSUPP);
	CHECK_FAILS(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, LOCAL | READ | WRITE), EOPNOTSUPP);
	CHECK_FAILS(ibv_import_device(ctx->cmd_fd), EOPNOTSUPP);
	CHECK_FAILS(ibv_import_device(-1), EINVAL);
	CHECK_FAILS(ibv_import_pd(ctx, pd->handle), EOPNOTSUPP);
	CHECK_FAILS(ibv_import_mr(pd, mr->handle), EOPNOTSUPP);
	CHECK_FAILS(ibv_import_dm(ctx, dm->handle), EOPNOTSUPP);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "rereg_translation", test_rereg_translation },
		{ "rereg_access", test_rereg_access },
		{ "rereg_pd", test_rereg_pd },
		{ "rereg_refused", test_rereg_refused },
		{ "rereg_under_traffic", test_rereg_under_traffic },
		{ "iova", test_iova },
		{ "files", test_files },
		{ "null_mr", test_null_mr },
		{ "null_mr_of_peer", test_null_mr_of_peer },
		{ "dm", test_dm },
		{ "device_memory_by_threads", test_device_memory_by_threads },
		{ "leftovers", test_leftovers },
		{ "not_supported", test_not_supported },
	};

	return RUN_TESTS(argc, argv, tests);
}
