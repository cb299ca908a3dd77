/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two connected queue pairs in one process, for callgrind to count the instructions of both ends.
 *
 *   both-ends write|send|read|pingpong BYTES WINDOW COUNT
 *
 * It posts COUNT signaled work requests of BYTES in lists of WINDOW, COUNT a multiple of it, and polls until those of
 * a list are complete at both ends. For pingpong WINDOW is 1, and each end sends when it has received.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"

#define WINDOW_MAX 1024u
#define BATCH 64 /* completions of a poll */
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *requests, *receives; /* whose completions they are for */
static struct ibv_qp *qp[2];		   /* the requester, the responder */

static struct ibv_send_wr wr[WINDOW_MAX];
static struct ibv_recv_wr receive[WINDOW_MAX];
static struct ibv_sge source[WINDOW_MAX], sink[WINDOW_MAX];

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "both-ends: %s: %s\n", what, strerror(error));
	exit(1);
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		die("no device", ENODEV);
	context = ibv_open_device(list[0]);
	if (!context)
		die("ibv_open_device", errno);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	requests = ibv_create_cq(context, 2 * WINDOW_MAX, NULL, NULL, 0);
	receives = ibv_create_cq(context, 2 * WINDOW_MAX, NULL, NULL, 0);
	if (!pd || !requests || !receives)
		die("ibv_create_cq", errno);
}

static void make_qp(struct ibv_qp **made)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = requests,
		.recv_cq = receives,
		.cap = { .max_send_wr = WINDOW_MAX,
			 .max_recv_wr = WINDOW_MAX,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	*made = ibv_create_qp(pd, &attr);
	if (!*made)
		die("ibv_create_qp", errno);
}

static void modify(struct ibv_qp *of, struct ibv_qp_attr attr, int mask)
{
	int error = ibv_modify_qp(of, &attr, mask);

	if (error)
		die("ibv_modify_qp", error);
}

/* Connects each queue pair to the other one, at the first address of the device. */
static void connect_qps(void)
{
	union ibv_gid gid;
	int i;

	if (ibv_query_gid(context, 1, 0, &gid))
		die("ibv_query_gid", errno);
	for (i = 0; i < 2; i++)
		modify(qp[i],
		       (struct ibv_qp_attr){
			       .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS },
		       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (i = 0; i < 2; i++)
		modify(qp[i],
		       (struct ibv_qp_attr){
			       .qp_state = IBV_QPS_RTR,
			       .path_mtu = IBV_MTU_4096,
			       .dest_qp_num = qp[!i]->qp_num,
			       .max_dest_rd_atomic = 16,
			       .min_rnr_timer = 12,
			       .ah_attr = { .is_global = 1,
					    .port_num = 1,
					    .grh = { .dgid = gid, .hop_limit = 64 } } },
		       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	for (i = 0; i < 2; i++)
		modify(qp[i],
		       (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
					     .timeout = 14,
					     .retry_cnt = 7,
					     .rnr_retry = 7,
					     .max_rd_atomic = 16 },
		       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Makes the lists of window work requests that are posted again and again. */
static void make_lists(enum ibv_wr_opcode opcode, size_t bytes, size_t window)
{
	size_t i, half = bytes * window;
	uint8_t *memory = calloc(2, half);
	struct ibv_mr *mr = memory ? ibv_reg_mr(pd, memory, 2 * half, ACCESS) : NULL;

	if (!mr)
		die("ibv_reg_mr", errno);
	for (i = 0; i < window; i++) {
		source[i] = (struct ibv_sge){ (uintptr_t)memory + i * bytes, (uint32_t)bytes,
					      mr->lkey };
		sink[i] = (struct ibv_sge){ source[i].addr + half, (uint32_t)bytes, mr->lkey };
		wr[i] = (struct ibv_send_wr){
			.next = i + 1 < window ? &wr[i + 1] : NULL,
			.sg_list = &source[i],
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = sink[i].addr, .rkey = mr->rkey },
		};
		receive[i] = (struct ibv_recv_wr){
			.next = i + 1 < window ? &receive[i + 1] : NULL,
			.sg_list = &sink[i],
			.num_sge = 1,
		};
	}
}

/* Takes completions from cq, and returns how many there were. */
static size_t take(struct ibv_cq *cq)
{
	struct ibv_wc wc[BATCH];
	int i, n = ibv_poll_cq(cq, BATCH, wc);

	if (n < 0)
		die("ibv_poll_cq", EIO);
	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			fprintf(stderr, "both-ends: completion: %s\n",
				ibv_wc_status_str(wc[i].status));
			exit(1);
		}
	}
	return (size_t)n;
}

static void transfer_list(bool receives_wanted, size_t window)
{
	size_t sent = 0, received = receives_wanted ? 0 : window;
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;
	int error = receives_wanted ? ibv_post_recv(qp[1], receive, &bad_receive) : 0;

	if (!error)
		error = ibv_post_send(qp[0], wr, &bad);
	if (error)
		die("ibv_post_send", error);
	while (sent < window || received < window) {
		sent += take(requests);
		if (received < window)
			received += take(receives);
	}
}

/* One Send after the other, each by the end that has received the one before. */
static void bounce(size_t count)
{
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;
	int error = 0;

	for (size_t i = 0; !error && i < count; i++) {
		error = ibv_post_recv(qp[!(i % 2)], receive, &bad_receive);
		if (!error)
			error = ibv_post_send(qp[i % 2], wr, &bad);
		while (!error && !take(receives))
			;
		take(requests);
	}
	if (error)
		die("ibv_post_send", error);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} operations[] = {
		{ "write", IBV_WR_RDMA_WRITE },
		{ "send", IBV_WR_SEND },
		{ "read", IBV_WR_RDMA_READ },
		{ "pingpong", IBV_WR_SEND },
	};
	const size_t known = sizeof(operations) / sizeof(operations[0]);
	size_t operation = 0, bytes, window, count;

	if (argc != 5) {
		fprintf(stderr, "usage: both-ends write|send|read|pingpong BYTES WINDOW COUNT\n");
		return 2;
	}
	while (operation < known && strcmp(operations[operation].name, argv[1]) != 0)
		operation++;
	if (operation == known) {
		fprintf(stderr, "both-ends: %s is not write, send, read or pingpong\n", argv[1]);
		return 2;
	}
	bytes = number(argv[2], 1, 1 << 20);
	window = number(argv[3], 1, WINDOW_MAX);
	count = number(argv[4], window, 1 << 30);
	open_device();
	make_qp(&qp[0]);
	make_qp(&qp[1]);
	connect_qps();
	make_lists(operations[operation].opcode, bytes, window);
	if (!strcmp(argv[1], "pingpong")) {
		bounce(count);
		return 0;
	}
	for (; count >= window; count -= window)
		transfer_list(operations[operation].opcode == IBV_WR_SEND, window);
	return 0;
}
