/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The child of a fork() and the device that its parent has opened. Queries, domains, regions,
 * windows and device memory still work in the child. All calls for connections fail, with the
 * reason in a log line. The child's calls do not affect its parent.
 */
#define _GNU_SOURCE
#include "child.h"
#include "out_of_band.h"
#include "window.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Objects of a parent. */
static struct family {
	struct side s; /* its QP, CQs, PD and MR */
	struct ibv_srq *srq;
	struct ibv_td *td;
	struct ibv_pd *domain;
	struct ibv_mr *mr; /* on the domain */
	struct ibv_mr *null_mr, *dm_mr;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
} family;

static void family_open(struct family *f)
{
	struct ibv_parent_domain_init_attr domain = { .pd = NULL };
	struct ibv_srq_init_attr srq = { .attr = { 4, 1, 0 } };
	struct ibv_alloc_dm_attr dm = { .length = 4096 };
	struct ibv_td_init_attr td = { 0 };

	oob_open();
	open_side(&f->s);
	f->srq = ibv_create_srq(f->s.pd, &srq);
	f->td = ibv_alloc_td(ctx, &td);
	domain.pd = f->s.pd;
	domain.td = f->td;
	f->domain = ibv_alloc_parent_domain(ctx, &domain);
	f->dm = ibv_alloc_dm(ctx, &dm);
	CHECK(f->srq && f->td && f->domain && f->dm);
	f->mr = ibv_reg_mr(f->domain, f->s.buf, 4096, LOCAL);
	f->null_mr = ibv_alloc_null_mr(f->s.pd);
	f->dm_mr = ibv_reg_dm_mr(f->s.pd, f->dm, 0, 4096, LOCAL | IBV_ACCESS_ZERO_BASED);
	f->mw = ibv_alloc_mw(f->s.pd, IBV_MW_TYPE_2);
	CHECK(f->mr && f->null_mr && f->dm_mr && f->mw);
}

/* Frees all objects, in the required order, and closes the device. */
static void family_close(struct family *f)
{
	CHECK_EQ(ibv_free_dm(f->dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(f->dm_mr), 0);
	CHECK_EQ(ibv_free_dm(f->dm), 0);
	CHECK_EQ(ibv_dealloc_td(f->td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(f->domain), EBUSY);
	CHECK_EQ(ibv_dereg_mr(f->mr), 0);
	CHECK_EQ(ibv_dealloc_pd(f->domain), 0);
	CHECK_EQ(ibv_dealloc_td(f->td), 0);
	CHECK_EQ(ibv_dereg_mr(f->null_mr), 0);
	CHECK_EQ(ibv_dealloc_mw(f->mw), 0);
	CHECK_EQ(ibv_dealloc_pd(f->s.pd), EBUSY);
	CHECK_EQ(ibv_destroy_srq(f->srq), 0);
	CHECK_EQ(ibv_dealloc_pd(f->s.pd), EBUSY);
	close_side(&f->s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Runs run() in a child, which must succeed. */
static void in_child(void (*run)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		run();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* The device's attributes before the fork. */
static struct {
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
} said;

static void ask(void)
{
	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &said.attr), 0);
	CHECK_EQ(ibv_query_port(ctx, 1, &said.port), 0);
	CHECK_EQ(ibv_query_gid(ctx, 1, gid_index, &said.gid), 0);
}

static void queries(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &attr), 0);
	CHECK(!memcmp(&attr, &said.attr, sizeof(attr)));
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.state, said.port.state);
	CHECK_EQ(port.gid_tbl_len, said.port.gid_tbl_len);
	CHECK_EQ(ibv_query_port(ctx, 2, &port), EINVAL);
	CHECK_EQ(ibv_query_gid(ctx, 1, gid_index, &gid), 0);
	CHECK(!memcmp(&gid, &said.gid, sizeof(gid)));
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(ibv_query_rt_values_ex(ctx, &values), 0);
	CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	CHECK(values.raw_clock.tv_nsec > 0);
}

/* The kinds of memory, on the parent's PD or on the child's own. */
static void memory_on(struct ibv_pd *pd)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_mr *mr, *dm_mr, *null_mr;
	uint8_t *map = map_pages(2, PROT_READ | PROT_WRITE);
	uint8_t bytes[64], back[64];
	struct ibv_sge sge;
	struct ibv_mw *mw;
	struct ibv_dm *dm;

	mr = ibv_reg_mr(pd, map, page_size(), LOCAL | READ | WRITE);
	CHECK(mr && mr->lkey && mr->lkey != family.s.mr->lkey);
	CHECK_FAILS(ibv_reg_mr(pd, map, page_size(), WRITE), EINVAL);
	sge = sge_of(mr, map, page_size());
	CHECK_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1), 0);
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, map, 2 * page_size(), 0),
		 0);
	sge = sge_of(mr, map, 2 * page_size());
	CHECK_EQ(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1), 0);
	null_mr = ibv_alloc_null_mr(pd);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	dm = ibv_alloc_dm(ctx, &attr);
	CHECK(null_mr && mw && dm);
	dm_mr = ibv_reg_dm_mr(pd, dm, 0, 64, LOCAL | IBV_ACCESS_ZERO_BASED);
	CHECK(dm_mr);
	fill(bytes, sizeof(bytes), 5);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 0, bytes, 64), 0);
	CHECK_EQ(ibv_memcpy_from_dm(back, dm, 0, 64), 0);
	CHECK(filled(back, sizeof(back), 5));
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(dm_mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	munmap(map, 2 * page_size());
}

static void memory(void)
{
	struct ibv_parent_domain_init_attr domain_attr = { .pd = NULL };
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *domain;
	struct ibv_td *td = ibv_alloc_td(ctx, &td_attr);

	CHECK(pd && td);
	domain_attr.pd = pd;
	domain_attr.td = td;
	domain = ibv_alloc_parent_domain(ctx, &domain_attr);
	CHECK(domain);
	memory_on(pd);
	memory_on(domain);
	memory_on(family.s.pd);
	CHECK_EQ(ibv_dealloc_td(td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(domain), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_rereg_mr(family.s.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, LOCAL), 0);
}

static void grandchild(void)
{
	queries();
	memory();
	family_close(&family);
}

static void child(void)
{
	queries();
	memory();
	in_child(grandchild);
	memory();
	family_close(&family);
}

static void test_memory(void)
{
	struct ibv_alloc_dm_attr all = { 0 };
	struct ibv_dm *dm;

	family_open(&family);
	ask();
	for (int i = 0; i < 3; i++)
		in_child(child);
	queries();
	memory();
	family_close(&family);
	/* No resource of the parent is used up. */
	oob_open();
	all.length = said.attr.max_dm_size;
	dm = ibv_alloc_dm(ctx, &all);
	CHECK(dm);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Closing the device frees the child's objects on it. */
static void leave_all(void)
{
	struct ibv_alloc_dm_attr half = { .length = said.attr.max_dm_size / 2 };
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &half);

	CHECK(pd && dm && ibv_reg_mr(pd, family.s.buf, 100, LOCAL));
	CHECK(ibv_reg_dm_mr(pd, dm, 0, 8, IBV_ACCESS_ZERO_BASED) && ibv_alloc_null_mr(pd));
	CHECK(ibv_alloc_mw(family.s.pd, IBV_MW_TYPE_1));
	CHECK_EQ(ibv_close_device(ctx), 0);
	oob_open(); /* the child's own device */
	half.length = said.attr.max_dm_size;
	dm = ibv_alloc_dm(ctx, &half);
	CHECK(dm);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_leftovers(void)
{
	family_open(&family);
	ask();
	in_child(leave_all);
	queries();
	family_close(&family);
}

/* Children allocate device memory at the same time, each its share. */
static void test_many_children(void)
{
	enum { CHILDREN = 5 };
	pid_t pid[CHILDREN];
	int status;

	oob_open();
	ask();
	fflush(NULL);
	for (int i = 0; i < CHILDREN; i++) {
		struct ibv_alloc_dm_attr attr = { .length = said.attr.max_dm_size / 2 / CHILDREN };

		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			_exit(ibv_alloc_dm(ctx, &attr) ? 0 : 1);
	}
	for (int i = 0; i < CHILDREN; i++) {
		CHECK_EQ(waitpid(pid[i], &status, 0), pid[i]);
		CHECK_EQ(status, 0);
	}
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Queues */

static void refuse_queues(void)
{
	struct ibv_srq_init_attr srq = { .attr = { 4, 1, 0 } };
	struct ibv_cq_init_attr_ex cq_ex = { .cqe = 4 };
	struct ibv_qp_init_attr qp = { .qp_type = IBV_QPT_RC,
				       .send_cq = family.s.send_cq,
				       .recv_cq = family.s.recv_cq,
				       .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_modify_cq_attr moderate = { IBV_CQ_ATTR_MODERATE, { 1, 1 } };
	struct ibv_srq_attr srq_attr = { .srq_limit = 1 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_send_wr send = { .wr_id = 1 }, *bad_send;
	struct ibv_wc wc;

	CHECK_FAILS(ibv_create_cq(ctx, 4, NULL, NULL, 0), EIO);
	CHECK_FAILS(ibv_create_cq_ex(ctx, &cq_ex), EIO);
	CHECK_FAILS(ibv_create_srq(family.s.pd, &srq), EIO);
	CHECK_FAILS(ibv_create_qp(family.s.pd, &qp), EIO);
	CHECK(ibv_poll_cq(family.s.send_cq, 1, &wc) < 0);
	CHECK_EQ(ibv_req_notify_cq(family.s.send_cq, 0), EIO);
	CHECK_EQ(ibv_resize_cq(family.s.send_cq, 10), EIO);
	CHECK_EQ(ibv_modify_cq(family.s.send_cq, &moderate), EIO);
	CHECK_EQ(ibv_query_qp(family.s.qp, &attr, IBV_QP_STATE, &init), EIO);
	CHECK_EQ(ibv_modify_qp(family.s.qp, &attr, IBV_QP_STATE), EIO);
	CHECK_EQ(ibv_post_recv(family.s.qp, &recv, &bad_recv), EIO);
	CHECK_EQ(ibv_post_send(family.s.qp, &send, &bad_send), EIO);
	CHECK_EQ(ibv_query_srq(family.srq, &srq_attr), EIO);
	CHECK_EQ(ibv_modify_srq(family.srq, &srq_attr, IBV_SRQ_LIMIT), EIO);
	CHECK_EQ(ibv_post_srq_recv(family.srq, &recv, &bad_recv), EIO);
}

/* Makes the calls, and checks that standard error has one line, with the cause and the remedy. */
static void refuse_and_say_why(void)
{
	int fd = memfd_create("stderr", 0), was = dup(STDERR_FILENO);
	char text[2048] = "", *end;
	struct side own;

	CHECK(fd >= 0 && was >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	queries();
	memory();
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0); /* calls that work print no line */
	refuse_queues();
	refuse_queues();
	CHECK_EQ(dup2(was, STDERR_FILENO), STDERR_FILENO);
	CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0);
	end = strchr(text, '\n');
	CHECK(end && !end[1]);
	CHECK(strstr(text, "sctpiw: ") == text);
	CHECK(strstr(text, "child") && strstr(text, "Open the device anew"));
	close(fd);
	close(was);
	family_close(&family);
	/* The remedy. */
	oob_open();
	open_side(&own);
	CHECK_EQ(to_init(&own), 0);
	close_side(&own);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_queues(void)
{
	family_open(&family);
	ask();
	in_child(refuse_and_say_why);
	family_close(&family);
}

/* Memory that is in use */

static struct shop shop;

/* A window that the parent has bound does not block the child, in any order of calls. */
static void free_bound(void)
{
	CHECK_EQ(ibv_dereg_mr(shop.mr), 0);
	CHECK_EQ(ibv_dealloc_mw(shop.mw), 0);
}

static void free_window_first(void)
{
	CHECK_EQ(ibv_dealloc_mw(shop.mw), 0);
	CHECK_EQ(ibv_dereg_mr(shop.mr), 0);
}

static void test_bound_windows(void)
{
	for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		shop_open(&shop, type);
		bind_window(&shop, 0, 4096, READ);
		in_child(free_bound);
		in_child(free_window_first);
		read_works(&shop.p, shop.p.b.buf, address(shop.p.b.buf), shop.mw->rkey, 4096);
		shop_close(&shop);
	}
}

#define BIG (1 << 20) /* bytes of a Write, which is sent from its place in memory */
#define WRITES 48

static struct {
	struct side s;
	struct ibv_mr *mr;
	uint8_t *map;
} flow;

/* A peer in a child process: exchanges addresses, and waits for the end. */
static void peer(int in, int out)
{
	struct where me, to;
	struct side s;

	oob_open();
	open_side(&s);
	me = where_is(&s);
	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	oob_connect(&s, &to);
	meet(in, out);
	meet(in, out);
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * The child unmaps its copy of the memory, and sets its own handlers of faults. This does not
 * affect the data that its parent must send.
 */
static void take_memory_away(void)
{
	struct sigaction none = { .sa_handler = SIG_DFL };

	CHECK_EQ(sigaction(SIGSEGV, &none, NULL), 0);
	CHECK_EQ(munmap(flow.map, BIG), 0);
	CHECK_EQ(ibv_dereg_mr(flow.mr), 0);
}

static void write_all(const struct where *to)
{
	struct ibv_sge sge = sge_of(flow.mr, flow.map, BIG);
	struct ibv_send_wr wr[WRITES], *bad;

	for (int i = 0; i < WRITES; i++)
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < WRITES ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { to->addr, to->rkey },
		};
	CHECK_EQ(ibv_post_send(flow.s.qp, wr, &bad), 0);
}

/* Children come while the parent's Writes wait for a stopped peer. The Writes continue. */
static void test_writes_under_way(void)
{
	struct child c = child_start(peer);
	struct where me, to;
	struct ibv_sge sge;
	struct ibv_wc wc;

	oob_open();
	open_side(&flow.s);
	me = where_is(&flow.s);
	get(c.from, &to, sizeof(to));
	put(c.to, &me, sizeof(me));
	oob_connect(&flow.s, &to);
	meet(c.from, c.to);
	flow.map = map_pages(BIG / page_size(), PROT_READ | PROT_WRITE);
	flow.mr = ibv_reg_mr(flow.s.pd, flow.map, BIG, LOCAL);
	CHECK(flow.mr);
	for (int round = 0; round < 3; round++) {
		fill(flow.map, BIG, (unsigned int)round);
		CHECK_EQ(kill(c.pid, SIGSTOP), 0);
		write_all(&to);
		in_child(take_memory_away);
		CHECK_EQ(kill(c.pid, SIGCONT), 0);
		for (int i = 0; i < WRITES; i++)
			expect_wc(flow.s.send_cq, IBV_WC_SUCCESS, &wc);
		sge = sge_of(flow.s.mr, flow.s.buf, SIDE_BUF);
		CHECK_EQ(post_rdma(&flow.s, IBV_WR_RDMA_READ, 1, &sge, 1, to.addr, to.rkey,
				   IBV_SEND_SIGNALED),
			 0);
		expect_wc(flow.s.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(flow.s.buf, BIG, (unsigned int)round));
	}
	meet(c.from, c.to);
	CHECK_EQ(child_end(&c), 0);
	CHECK_EQ(ibv_dereg_mr(flow.mr), 0);
	close_side(&flow.s);
	CHECK_EQ(ibv_close_device(ctx), 0);
	munmap(flow.map, BIG);
}

/* A child forks while another of its threads uses the device's memory. */

static _Atomic bool enough;

static void *alloc_and_free(void *arg)
{
	while (!enough) {
		struct ibv_pd *pd = ibv_alloc_pd(ctx);

		CHECK(pd && !ibv_dealloc_pd(pd));
	}
	return NULL;
}

static void one_pd(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	CHECK(pd && !ibv_dealloc_pd(pd));
}

static void fork_among_threads(void)
{
	pthread_t thread;

	enough = false;
	CHECK_EQ(pthread_create(&thread, NULL, alloc_and_free, NULL), 0);
	for (int i = 0; i < 200; i++)
		in_child(one_pd);
	enough = true;
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void test_threads(void)
{
	oob_open();
	in_child(fork_among_threads);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "memory", test_memory },
		{ "leftovers", test_leftovers },
		{ "many_children", test_many_children },
		{ "queues", test_queues },
		{ "bound_windows", test_bound_windows },
		{ "writes_under_way", test_writes_under_way },
		{ "threads", test_threads },
	};

	return RUN_TESTS(argc, argv, tests);
}
