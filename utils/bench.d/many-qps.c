/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connects many QPs between two processes, checks that each byte arrives on all of them, and
 * measures the memory of an idle QP.
 *
 *   many-qps ADDRESS COUNT DEPTH IRD
 *       connects COUNT QPs of DEPTH send and DEPTH receive WRs, 1 SGE each, and
 *       of this IRD and ORD, over ADDRESS (of IPv4) to a child of its own
 *
 * First, the program connects half of the QPs and sends data on them. Then it connects the other
 * half, and sends data on all QPs. The second half increases the private memory of the process;
 * this increase is the cost of the QPs. It includes librdmacm's memory, but neither the buffers nor
 * the CQ that all QPs of a process share. Finally, the program destroys all QPs, and repeats
 * everything three times. If more memory is in use after the repetitions than after the first time,
 * memory has leaked.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <malloc.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "samples.h"

#define MESSAGES 4u /* outstanding messages of a QP in each direction */
#define BYTES 256u  /* size of a message */
#define WORDS (BYTES / sizeof(uint32_t))
#define AT_ONCE 32u /* number of connections that are set up at the same time */
#define AGAIN 3	    /* number of repetitions */
#define RESOLVE_MS 5000
#define MAX_QPS 65536

enum way { TO_SERVER, TO_CLIENT };

static const char *name;
static bool server;
static int other; /* socket of the connection to the other process */
static size_t count, depth, ird;
static struct sockaddr_in place;
static struct rdma_event_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct rdma_cm_id **ids;
static uint32_t (*out)[MESSAGES][WORDS], (*in)[MESSAGES][WORDS]; /* buffers of each QP */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "many-qps: %s: %s: %s\n", name, what, strerror(errno));
	exit(1);
}

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "many-qps: %s: %s: %s\n", name, what, why);
	exit(1);
}

/* Waits until the other process also calls meet(). */
static void meet(void)
{
	char c = 0;

	if (write(other, &c, 1) != 1 || read(other, &c, 1) != 1)
		fail("the other process", "is gone");
}

static void *memory(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* Returns the private memory of this process in bytes. */
static size_t private_memory(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[128];
	size_t kib, sum = 0;

	if (!f)
		die("/proc/self/smaps_rollup");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Clean: %zu", &kib) == 1 ||
		    sscanf(line, "Private_Dirty: %zu", &kib) == 1)
			sum += kib << 10;
	fclose(f);
	return sum;
}

static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	if (!dir)
		die("/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Functions that make connections */

static void open_device(struct ibv_context *verbs)
{
	size_t len = count * sizeof(*in);
	void *buffers = memory(2 * len);

	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, (int)(2 * MESSAGES * count), NULL, NULL, 0);
	if (!pd || !cq)
		die("ibv_create_cq");
	mr = ibv_reg_mr(pd, buffers, 2 * len, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die("ibv_reg_mr");
	out = buffers;
	in = out + count;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = depth,
			 .max_recv_wr = depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	if (!pd)
		open_device(id->verbs);
	attr.send_cq = attr.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attr))
		die("rdma_create_qp");
}

/* The private data contains the index of the QP, which is the same in both processes. */
static struct rdma_conn_param param_of(const uint32_t *index)
{
	return (struct rdma_conn_param){
		.private_data = index,
		.private_data_len = sizeof(*index),
		.responder_resources = ird,
		.initiator_depth = ird,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static void begin(size_t index)
{
	if (rdma_create_id(channel, &ids[index], (void *)index, RDMA_PS_TCP) ||
	    rdma_resolve_addr(ids[index], NULL, (struct sockaddr *)&place, RESOLVE_MS))
		die("rdma_resolve_addr");
}

static void start_connect(struct rdma_cm_id *id)
{
	uint32_t index = (uintptr_t)id->context;
	struct rdma_conn_param param = param_of(&index);

	make_qp(id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
}

static void accept_id(struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct rdma_conn_param param;
	uint32_t index;

	memcpy(&index, asked->private_data, sizeof(index));
	if (index >= count || ids[index])
		fail("connection request", "of a wrong number");
	ids[index] = id;
	make_qp(id);
	param = param_of(&index);
	if (rdma_accept(id, &param))
		die("rdma_accept");
}

/* Handles the next event, and returns the type of the event. */
static enum rdma_cm_event_type next(void)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &ev))
		die("rdma_get_cm_event");
	type = ev->event;
	id = ev->id;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		accept_id(id, &ev->param.conn);
	rdma_ack_cm_event(ev);
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED) {
		if (rdma_resolve_route(id, RESOLVE_MS))
			die("rdma_resolve_route");
	} else if (type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		start_connect(id);
	} else if (type != RDMA_CM_EVENT_CONNECT_REQUEST && type != RDMA_CM_EVENT_ESTABLISHED &&
		   type != RDMA_CM_EVENT_DISCONNECTED) {
		fail("connection", rdma_event_str(type));
	}
	return type;
}

static void await(enum rdma_cm_event_type type, size_t n)
{
	while (n)
		n -= next() == type;
}

/* Connects the QPs with the indices [from, to). */
static void connect_all(size_t from, size_t to)
{
	size_t begun = from;

	if (server) {
		await(RDMA_CM_EVENT_ESTABLISHED, to - from);
		return;
	}
	while (begun < to && begun - from < AT_ONCE)
		begin(begun++);
	for (size_t done = from; done < to; done++) {
		await(RDMA_CM_EVENT_ESTABLISHED, 1);
		if (begun < to)
			begin(begun++);
	}
}

static void end_all(void)
{
	meet();
	for (size_t i = 0; i < count && !server; i++)
		if (rdma_disconnect(ids[i]))
			die("rdma_disconnect");
	await(RDMA_CM_EVENT_DISCONNECTED, count);
	for (size_t i = 0; i < count; i++) {
		rdma_destroy_qp(ids[i]);
		if (rdma_destroy_id(ids[i]))
			die("rdma_destroy_id");
		ids[i] = NULL;
	}
	meet();
}

/* Functions that send and check data */

static uint32_t word(enum way way, uint32_t round, size_t index, uint32_t message, uint32_t at)
{
	uint32_t n = (uint32_t)index * MESSAGES + message;

	return ((n * 2 + way) * 64 + at) * 2654435761u ^ round * 0x9e3779b9u;
}

static void post_receives(size_t index)
{
	for (uint32_t m = 0; m < MESSAGES; m++) {
		struct ibv_sge sge = { (uintptr_t)in[index][m], BYTES, mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = index * MESSAGES + m,
					  .sg_list = &sge,
					  .num_sge = 1 },
				   *bad;

		memset(in[index][m], 0, BYTES);
		if (ibv_post_recv(ids[index]->qp, &wr, &bad))
			die("ibv_post_recv");
	}
}

static void post_sends(size_t index, uint32_t round)
{
	for (uint32_t m = 0; m < MESSAGES; m++) {
		struct ibv_sge sge = { (uintptr_t)out[index][m], BYTES, mr->lkey };
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 },
				   *bad;

		for (uint32_t w = 0; w < WORDS; w++)
			out[index][m][w] = word(server ? TO_CLIENT : TO_SERVER, round, index, m, w);
		if (ibv_post_send(ids[index]->qp, &wr, &bad))
			die("ibv_post_send");
	}
}

static void check(size_t index, uint32_t message, uint32_t round)
{
	for (uint32_t w = 0; w < WORDS; w++)
		if (in[index][message][w] !=
		    word(server ? TO_SERVER : TO_CLIENT, round, index, message, w))
			fail("data", "not what was sent");
}

/*
 * Exchanges data over the first n QPs. All of them post their messages in both directions before
 * the first poll.
 */
static void exchange(size_t n, uint32_t round)
{
	size_t left = 2 * n * MESSAGES;
	struct ibv_wc wc[32];

	for (size_t i = 0; i < n; i++)
		post_receives(i);
	meet();
	for (size_t i = 0; i < n; i++)
		post_sends(i, round);
	while (left) {
		int got = ibv_poll_cq(cq, 32, wc);

		if (got < 0)
			die("ibv_poll_cq");
		for (int i = 0; i < got; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				fail("completion", ibv_wc_status_str(wc[i].status));
			if (wc[i].opcode == IBV_WC_RECV)
				check(wc[i].wr_id / MESSAGES, wc[i].wr_id % MESSAGES, round);
		}
		left -= got;
	}
	meet();
}

static void listen_here(void)
{
	struct rdma_cm_id *listener;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&place) ||
	    rdma_listen(listener, 2 * AT_ONCE))
		die("rdma_listen");
	place.sin_port = rdma_get_src_port(listener);
	if (write(other, &place.sin_port, sizeof(place.sin_port)) != sizeof(place.sin_port))
		die("write");
}

struct use {
	size_t memory, descriptors;
};

static struct use use(void)
{
	return (struct use){ private_memory(), descriptors() };
}

static double kib_each(size_t now_is, size_t was, size_t qps)
{
	return ((double)now_is - (double)was) / 1024 / (double)qps;
}

/*
 * Connects all QPs, uses them, and destroys them. Records the resources in use with half of the
 * QPs, with all of them, and after they were destroyed.
 */
static void cycle(struct use *half, struct use *all, struct use *left)
{
	size_t rest = count - count / 2;
	double start;

	connect_all(0, count / 2);
	exchange(count / 2, 0);
	exchange(count / 2, 1); /* the first exchange has touched every page of the CQ */
	*half = use();
	start = now();
	connect_all(count / 2, count);
	start = now() - start;
	exchange(count, 2);
	*all = use();
	end_all();
	malloc_trim(0);
	*left = use();
	if (!server)
		printf("%zu queue pairs: every byte right, %.0f connections/s\n", count,
		       (double)rest / start);
}

static void run(void)
{
	struct use half, all, left, again;
	size_t more = count - count / 2;

	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	ids = memory(count * sizeof(struct rdma_cm_id *));
	if (server)
		listen_here();
	else if (read(other, &place.sin_port, sizeof(place.sin_port)) != sizeof(place.sin_port))
		fail("the server", "is gone");
	cycle(&half, &all, &left);
	printf("%s: %.2f KiB a queue pair, %zu descriptors for %zu\n", name,
	       kib_each(all.memory, half.memory, more), all.descriptors - half.descriptors, more);
	/* The memory that the allocator keeps varies, but a leak grows each time. */
	for (int i = 0; i < AGAIN; i++)
		cycle(&half, &all, &again);
	printf("%s: %.2f KiB of each and %zd descriptors are left\n", name,
	       kib_each(again.memory, left.memory, AGAIN * count),
	       (ssize_t)(again.descriptors - left.descriptors));
}

int main(int argc, char **argv)
{
	int sockets[2], status;
	pid_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	name = "client";
	if (argc != 5) {
		fprintf(stderr, "usage: many-qps ADDRESS COUNT DEPTH IRD\n");
		return 2;
	}
	count = number(argv[2], 2, MAX_QPS);
	depth = number(argv[3], MESSAGES, 16384);
	ird = number(argv[4], 1, 128);
	place.sin_family = AF_INET;
	if (inet_pton(AF_INET, argv[1], &place.sin_addr) != 1)
		fail(argv[1], "is not an address");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		die("socketpair");
	child = fork();
	if (child < 0)
		die("fork");
	server = !child;
	other = sockets[server];
	close(sockets[!server]);
	if (server)
		name = "server";
	run();
	if (server)
		return 0;
	return waitpid(child, &status, 0) == child && !status ? 0 : 1;
}
