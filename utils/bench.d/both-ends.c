/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends data between two connected queue pairs of one process, or two for each of several threads.
 * callgrind can then count the instructions of both ends.
 *
 *   both-ends write|send|read|pingpong BYTES WINDOW COUNT [THREADS [cm]]
 *
 * Each thread posts COUNT signaled work requests of BYTES in lists of WINDOW. COUNT is a multiple
 * of WINDOW. The thread polls until a list is complete at both ends. For pingpong, WINDOW is 1, and
 * each end sends after it has received. Each thread has its own CQs; all share the PD. Normally,
 * the queue pairs are connected out of band, by their numbers. With cm, rdma_cm connects them over
 * the loopback address, with one listener, and with an event channel for each thread. The program
 * prints the number of work requests that all threads together complete per second.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"

#define WINDOW_MAX 1024u
#define THREADS_MAX 64
#define BATCH 64 /* maximum number of completions per poll */
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct rdma_cm_id *listener; /* NULL if the queue pairs are connected by their numbers */

/* The data of one thread. */
struct ends {
	pthread_t thread;
	struct ibv_cq *requests, *receives; /* CQs for the completions of sends and of receives */
	struct ibv_qp *qp[2];		    /* the requester and the responder */
	struct ibv_send_wr wr[WINDOW_MAX];
	struct ibv_recv_wr receive[WINDOW_MAX];
	struct ibv_sge source[WINDOW_MAX], sink[WINDOW_MAX];
};

static struct {
	enum ibv_wr_opcode opcode;
	bool bounces;
	size_t bytes, window, count;
} work;

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "both-ends: %s: %s\n", what, strerror(error));
	exit(1);
}

static void use_device(struct ibv_context *device)
{
	context = device;
	pd = ibv_alloc_pd(context);
	if (!pd)
		die("ibv_alloc_pd", errno);
}

static void open_device(void)
{
	struct ibv_context *opened;
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		die("no device", ENODEV);
	opened = ibv_open_device(list[0]);
	if (!opened)
		die("ibv_open_device", errno);
	ibv_free_device_list(list);
	use_device(opened);
}

static void make_cqs(struct ends *e)
{
	e->requests = ibv_create_cq(context, 2 * WINDOW_MAX, NULL, NULL, 0);
	e->receives = ibv_create_cq(context, 2 * WINDOW_MAX, NULL, NULL, 0);
	if (!e->requests || !e->receives)
		die("ibv_create_cq", errno);
}

static struct ibv_qp_init_attr qp_attr(const struct ends *e)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.send_cq = e->requests,
		.recv_cq = e->receives,
		.cap = { .max_send_wr = WINDOW_MAX,
			 .max_recv_wr = WINDOW_MAX,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static void make_qp(struct ends *e, struct ibv_qp **made)
{
	struct ibv_qp_init_attr attr = qp_attr(e);

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

/* Connects the two queue pairs. Both use the first GID of the device. */
static void connect_qps(struct ends *e)
{
	union ibv_gid gid;
	int i;

	if (ibv_query_gid(context, 1, 0, &gid))
		die("ibv_query_gid", errno);
	for (i = 0; i < 2; i++)
		modify(e->qp[i],
		       (struct ibv_qp_attr){
			       .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS },
		       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	for (i = 0; i < 2; i++)
		modify(e->qp[i],
		       (struct ibv_qp_attr){
			       .qp_state = IBV_QPS_RTR,
			       .path_mtu = IBV_MTU_4096,
			       .dest_qp_num = e->qp[!i]->qp_num,
			       .max_dest_rd_atomic = 16,
			       .min_rnr_timer = 12,
			       .ah_attr = { .is_global = 1,
					    .port_num = 1,
					    .grh = { .dgid = gid, .hop_limit = 64 } } },
		       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	for (i = 0; i < 2; i++)
		modify(e->qp[i],
		       (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
					     .timeout = 14,
					     .retry_cnt = 7,
					     .rnr_retry = 7,
					     .max_rd_atomic = 16 },
		       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* ---- by rdma_cm ---- */

static void check(const char *what, int result)
{
	if (result)
		die(what, errno);
}

static struct rdma_cm_id *new_id(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id", errno);
	return id;
}

/* Waits for an event of this type on the channel of the id. Returns the event's id. */
static struct rdma_cm_id *await_event(struct rdma_cm_id *id, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_id *whose;
	struct rdma_cm_event *event;

	check("rdma_get_cm_event", rdma_get_cm_event(id->channel, &event));
	if (event->event != wanted) {
		fprintf(stderr, "both-ends: %s\n", rdma_event_str(event->event));
		exit(1);
	}
	whose = event->id;
	rdma_ack_cm_event(event);
	return whose;
}

static void listen_for_all(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	listener = new_id();
	check("rdma_bind_addr", rdma_bind_addr(listener, (struct sockaddr *)&at));
	check("rdma_listen", rdma_listen(listener, THREADS_MAX));
}

static void make_qp_of(struct ends *e, struct rdma_cm_id *id, struct ibv_qp **made)
{
	struct ibv_qp_init_attr attr;

	if (!context)
		use_device(id->verbs);
	if (!e->requests)
		make_cqs(e);
	attr = qp_attr(e);
	check("rdma_create_qp", rdma_create_qp(id, pd, &attr));
	*made = id->qp;
}

static void connect_by_cm(struct ends *e)
{
	struct rdma_conn_param param = { .responder_resources = 16,
					 .initiator_depth = 16,
					 .retry_count = 7,
					 .rnr_retry_count = 7 };
	struct rdma_cm_id *id = new_id(), *asked;

	check("rdma_resolve_addr",
	      rdma_resolve_addr(id, NULL, rdma_get_local_addr(listener), 2000));
	await_event(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	check("rdma_resolve_route", rdma_resolve_route(id, 2000));
	await_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp_of(e, id, &e->qp[0]);
	check("rdma_connect", rdma_connect(id, &param));
	asked = await_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp_of(e, asked, &e->qp[1]);
	check("rdma_accept", rdma_accept(asked, &param));
	await_event(listener, RDMA_CM_EVENT_ESTABLISHED);
	await_event(id, RDMA_CM_EVENT_ESTABLISHED);
}

/* Makes the lists of `window` work requests. The program posts these lists repeatedly. */
static void make_lists(struct ends *e)
{
	size_t i, bytes = work.bytes, window = work.window, half = bytes * window;
	/* Each thread has cache lines of its own. */
	uint8_t *memory = aligned_alloc(64, (2 * half + 63) / 64 * 64);
	struct ibv_mr *mr = memory ? ibv_reg_mr(pd, memory, 2 * half, ACCESS) : NULL;

	if (!mr)
		die("ibv_reg_mr", errno);
	memset(memory, 0, 2 * half);
	for (i = 0; i < window; i++) {
		e->source[i] = (struct ibv_sge){ (uintptr_t)memory + i * bytes, (uint32_t)bytes,
						 mr->lkey };
		e->sink[i] =
			(struct ibv_sge){ e->source[i].addr + half, (uint32_t)bytes, mr->lkey };
		e->wr[i] = (struct ibv_send_wr){
			.next = i + 1 < window ? &e->wr[i + 1] : NULL,
			.sg_list = &e->source[i],
			.num_sge = 1,
			.opcode = work.opcode,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { .remote_addr = e->sink[i].addr, .rkey = mr->rkey },
		};
		e->receive[i] = (struct ibv_recv_wr){
			.next = i + 1 < window ? &e->receive[i + 1] : NULL,
			.sg_list = &e->sink[i],
			.num_sge = 1,
		};
	}
}

/* Removes completions from cq. Returns their number. */
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

static void transfer_list(struct ends *e)
{
	bool receives_wanted = work.opcode == IBV_WR_SEND;
	size_t window = work.window;
	size_t sent = 0, received = receives_wanted ? 0 : window;
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;
	int error = receives_wanted ? ibv_post_recv(e->qp[1], e->receive, &bad_receive) : 0;

	if (!error)
		error = ibv_post_send(e->qp[0], e->wr, &bad);
	if (error)
		die("ibv_post_send", error);
	while (sent < window || received < window) {
		sent += take(e->requests);
		if (received < window)
			received += take(e->receives);
	}
}

/* Sends one message back and forth: each end sends after it has received. */
static void bounce(struct ends *e)
{
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;
	int error = 0;

	for (size_t i = 0; !error && i < work.count; i++) {
		error = ibv_post_recv(e->qp[!(i % 2)], e->receive, &bad_receive);
		if (!error)
			error = ibv_post_send(e->qp[i % 2], e->wr, &bad);
		while (!error && !take(e->receives))
			;
		take(e->requests);
	}
	if (error)
		die("ibv_post_send", error);
}

static void *transfer(void *arg)
{
	struct ends *e = arg;

	if (work.bounces)
		bounce(e);
	else
		for (size_t done = 0; done + work.window <= work.count; done += work.window)
			transfer_list(e);
	return NULL;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Runs `threads` threads at once. */
static void run_threads(size_t threads)
{
	struct ends *ends = calloc(threads, sizeof(*ends));
	double start;

	if (!ends)
		die("no memory", ENOMEM);
	for (size_t i = 0; i < threads; i++) {
		if (listener) {
			connect_by_cm(&ends[i]);
		} else {
			make_cqs(&ends[i]);
			make_qp(&ends[i], &ends[i].qp[0]);
			make_qp(&ends[i], &ends[i].qp[1]);
			connect_qps(&ends[i]);
		}
		make_lists(&ends[i]);
	}
	start = seconds();
	for (size_t i = 1; i < threads; i++) {
		int error = pthread_create(&ends[i].thread, NULL, transfer, &ends[i]);

		if (error)
			die("pthread_create", error);
	}
	transfer(&ends[0]);
	for (size_t i = 1; i < threads; i++)
		pthread_join(ends[i].thread, NULL);
	printf("%.0f work requests a second\n",
	       (double)(work.count * threads) / (seconds() - start));
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
	size_t operation = 0;

	if (argc < 5 || argc > 7 || (argc == 7 && strcmp(argv[6], "cm") != 0)) {
		fprintf(stderr,
			"usage: both-ends write|send|read|pingpong BYTES WINDOW COUNT [THREADS [cm]]\n");
		return 2;
	}
	while (operation < known && strcmp(operations[operation].name, argv[1]) != 0)
		operation++;
	if (operation == known) {
		fprintf(stderr, "both-ends: %s is not write, send, read or pingpong\n", argv[1]);
		return 2;
	}
	work.opcode = operations[operation].opcode;
	work.bounces = !strcmp(argv[1], "pingpong");
	work.bytes = number(argv[2], 1, 1 << 20);
	work.window = number(argv[3], 1, WINDOW_MAX);
	work.count = number(argv[4], work.window, 1 << 30);
	if (argc == 7)
		listen_for_all();
	else
		open_device();
	run_threads(argc > 5 ? number(argv[5], 1, THREADS_MAX) : 1);
	return 0;
}
