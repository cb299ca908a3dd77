/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.xrc_handles --personality iwarp -- */
/* ALSO: ib.xrc_handles --personality ib -- */
/* XRC domains and handles of XRC_RECV queue pairs: sharing, lifetime and events. */
#include "out_of_band.h"
#include "xrc_steps.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- domains ---- */

static void test_domains(void)
{
	char path[] = "/tmp/sctpiw-xrc-XXXXXX", other_path[] = "/tmp/sctpiw-xrc-XXXXXX";
	struct ibv_context *second = open_device();
	int fd = mkstemp(path), other = mkstemp(other_path), again = open(path, O_RDONLY);
	struct ibv_xrcd_init_attr half = { .comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1 };
	struct ibv_xrcd *a, *b, *c;

	CHECK(fd >= 0 && other >= 0 && again >= 0);
	CHECK_FAILS(ibv_open_xrcd(ctx, &half), EINVAL);
	CHECK_FAILS(open_domain(ctx, 9999, O_CREAT), EBADF);
	CHECK_FAILS(open_domain(ctx, fd, 0), EAGAIN);
	a = open_domain(ctx, fd, O_CREAT | O_EXCL);
	CHECK(a);
	CHECK_FAILS(open_domain(ctx, fd, O_CREAT | O_EXCL), EINVAL);
	CHECK_FAILS(open_domain(ctx, other, 0), EAGAIN);
	b = open_domain(second, again, 0);
	CHECK(b && b->context == second);
	/* The file's name and descriptors may go: the inode identifies the domain. */
	CHECK_EQ(unlink(path), 0);
	close(fd);
	CHECK_EQ(ibv_close_xrcd(a), 0);
	c = open_domain(ctx, again, 0);
	CHECK(c);
	CHECK_EQ(ibv_close_xrcd(b), 0);
	CHECK_EQ(ibv_close_xrcd(c), 0);
	CHECK_FAILS(open_domain(ctx, again, 0), EAGAIN);
	close(again);
	close(other);
	unlink(other_path);
	CHECK_EQ(ibv_close_device(second), 0);
}

/* ---- handles ---- */

static void test_open_qp(void)
{
	char path[] = "/tmp/sctpiw-xrc-XXXXXX";
	struct ibv_context *second = open_device();
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	int fd = mkstemp(path);
	struct ibv_xrcd *a, *b, *stranger;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp, *handle;

	unlink(path);
	a = open_domain(ctx, fd, O_CREAT);
	b = open_domain(second, fd, 0);
	stranger = open_domain(second, -1, O_CREAT);
	CHECK(a && b && stranger);
	qp = new_recv_qp(a);
	CHECK(qp);
	open.qp_num = qp->qp_num;
	open.xrcd = stranger;
	CHECK_FAILS(ibv_open_qp(second, &open), EINVAL);
	open.xrcd = b;
	open.qp_type = IBV_QPT_RC;
	CHECK_FAILS(ibv_open_qp(second, &open), EINVAL);
	open.qp_type = IBV_QPT_XRC_RECV;
	open.qp_num++;
	CHECK_FAILS(ibv_open_qp(second, &open), EINVAL);
	open.qp_num--;
	handle = ibv_open_qp(second, &open);
	CHECK(handle && handle->qp_num == qp->qp_num);
	CHECK_EQ(ibv_modify_qp(handle, &attr, INIT_MASK), 0);
	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_INIT);
	/* The QP lives as long as one handle does. */
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_close_xrcd(a), 0);
	CHECK_EQ(ibv_query_qp(handle, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_INIT);
	CHECK_EQ(ibv_close_xrcd(b), EBUSY);
	CHECK_EQ(ibv_destroy_qp(handle), 0);
	CHECK_FAILS(ibv_open_qp(second, &open), EINVAL);
	CHECK_EQ(ibv_close_xrcd(b), 0);
	CHECK_EQ(ibv_close_xrcd(stranger), 0);
	close(fd);
	CHECK_EQ(ibv_close_device(second), 0);
}

struct destroyer {
	struct ibv_qp *qp;
	atomic_bool acked;
};

static void *destroy(void *arg)
{
	struct destroyer *d = arg;

	CHECK_EQ(ibv_destroy_qp(d->qp), 0);
	CHECK(d->acked);
	return NULL;
}

/*
 * Each handle gets the QP's events. The first handle is not destroyed before its own events are
 * acknowledged.
 */
static void test_events(void)
{
	struct ibv_context *second = open_device();
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	char path[] = "/tmp/sctpiw-xrc-XXXXXX";
	struct ibv_qp *handles[2];
	struct ibv_async_event ev;
	struct destroyer d = { 0 };
	struct ibv_xrcd *a, *b;
	int fd = mkstemp(path);
	pthread_t thread;

	unlink(path);
	a = open_domain(ctx, fd, O_CREAT);
	b = open_domain(second, fd, 0);
	CHECK(a && b);
	d.qp = new_recv_qp(a);
	CHECK(d.qp);
	open.qp_num = d.qp->qp_num;
	open.xrcd = b;
	for (int i = 0; i < 2; i++) {
		handles[i] = ibv_open_qp(second, &open);
		CHECK(handles[i]);
	}
	CHECK_EQ(ibv_destroy_qp(handles[0]), 0);
	CHECK_EQ(ibv_modify_qp(d.qp, &attr, IBV_QP_STATE), 0);
	EXPECT_ASYNC(second, { IBV_EVENT_QP_LAST_WQE_REACHED, handles[1] });
	CHECK_EQ(ibv_get_async_event(ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	CHECK(ev.element.qp == d.qp);
	CHECK_EQ(pthread_create(&thread, NULL, destroy, &d), 0);
	expect_no_async(second, 50);
	CHECK_EQ(ibv_destroy_qp(handles[1]), 0);
	d.acked = true;
	ibv_ack_async_event(&ev);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(ibv_close_xrcd(a), 0);
	CHECK_EQ(ibv_close_xrcd(b), 0);
	close(fd);
	CHECK_EQ(ibv_close_device(second), 0);
}

/* Closing the device ends all its objects, including those with a handle of another context. */
static void test_close_device(void)
{
	struct ibv_context *second = open_device();
	struct ibv_xrcd *xrcd = open_domain(second, -1, O_CREAT);
	struct ibv_pd *pd = ibv_alloc_pd(second);
	struct ibv_cq *cq = ibv_create_cq(second, 16, NULL, NULL, 0);
	uint32_t num;

	CHECK(xrcd && pd && cq);
	CHECK(new_recv_qp(xrcd));
	new_srq(xrcd, pd, cq, &num);
	CHECK_EQ(ibv_close_device(second), 0);
}

static const struct test tests[] = {
	{ "domains", test_domains },
	{ "open_qp", test_open_qp },
	{ "events", test_events },
	{ "close_device", test_close_device },
};

int main(int argc, char **argv)
{
	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
