/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures values that perftest does not measure, over any RDMA device.
 *
 *   verbs-bench server ADDRESS PORT
 *       serves any number of clients; does not end
 *   verbs-bench write ADDRESS PORT BYTES REGION SECONDS spin|events
 *       bandwidth of RDMA Writes of BYTES, which walk through a region of REGION bytes
 *   verbs-bench connect ADDRESS PORT AT-ONCE SECONDS
 *       connections made and ended per second, AT-ONCE of them at a time
 *   verbs-bench idle ADDRESS PORT
 *       keeps a connection without traffic; does not end
 *
 * ADDRESS is an IPv4 address.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "samples.h"

#define DEPTH 128u /* maximum work requests in a queue, as in perftest */
#define RESOLVE_MS 5000
#define BACKLOG 1024

/*
 * The private data, in this machine's byte order. The client requests a region of memory, and the
 * server grants it.
 */
struct ask {
	uint64_t region; /* length in bytes; 0: no region requested */
};

struct grant {
	uint64_t address;
	uint32_t rkey;
	uint32_t reserved;
};

static struct sockaddr_in place;
static struct rdma_event_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *events;
static struct ibv_mr *region;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "verbs-bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "verbs-bench: %s: %s\n", what, why);
	exit(1);
}

static struct ibv_mr *register_memory(size_t len, int access)
{
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct ibv_mr *mr;

	if (memory == MAP_FAILED)
		die("mmap");
	mr = ibv_reg_mr(pd, memory, len, access);
	if (!mr)
		die("ibv_reg_mr");
	return mr;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		events = ibv_create_comp_channel(id->verbs);
		cq = pd && events ? ibv_create_cq(id->verbs, 2 * DEPTH, NULL, events, 0) : NULL;
		if (!cq)
			die("ibv_create_cq");
	}
	attr.send_cq = attr.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attr))
		die("rdma_create_qp");
}

static void end(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* The functions of the server */

static void grant(struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct grant granted = { 0 };
	struct rdma_conn_param param = {
		.private_data = &granted,
		.private_data_len = sizeof(granted),
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};
	struct ask ask = { 0 };

	if (asked->private_data_len >= sizeof(ask))
		memcpy(&ask, asked->private_data, sizeof(ask));
	make_qp(id);
	if (ask.region) {
		if (!region)
			region = register_memory(ask.region,
						 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		if (region->length < ask.region)
			fail("server", "a second client asks for more memory than the first");
		granted.address = (uintptr_t)region->addr;
		granted.rkey = region->rkey;
	}
	if (rdma_accept(id, &param))
		die("rdma_accept");
}

static void serve(void)
{
	struct rdma_cm_id *listener;
	struct rdma_cm_event *ev;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&place) || rdma_listen(listener, BACKLOG))
		die("rdma_listen");
	printf("listening\n");
	while (!rdma_get_cm_event(channel, &ev)) {
		enum rdma_cm_event_type type = ev->event;
		struct rdma_cm_id *id = ev->id;

		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			grant(id, &ev->param.conn);
		rdma_ack_cm_event(ev);
		if (type != RDMA_CM_EVENT_CONNECT_REQUEST && type != RDMA_CM_EVENT_ESTABLISHED)
			end(id);
	}
	die("rdma_get_cm_event");
}

/* Functions that connect a client */

static void begin(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&place, RESOLVE_MS))
		die("rdma_resolve_addr");
}

static void connect_id(struct rdma_cm_id *id, uint64_t bytes)
{
	struct ask ask = { bytes };
	struct rdma_conn_param param = {
		.private_data = &ask,
		.private_data_len = sizeof(ask),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	make_qp(id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
}

/*
 * Handles the next event. If a connection was established, sets *granted to the server's grant and
 * returns true. If a connection has ended, returns false. If a connection failed, exits.
 */
static bool next(uint64_t bytes, struct rdma_cm_id **id, struct grant *granted)
{
	for (;;) {
		enum rdma_cm_event_type type;
		struct rdma_cm_event *ev;

		if (rdma_get_cm_event(channel, &ev))
			die("rdma_get_cm_event");
		type = ev->event;
		*id = ev->id;
		if (type == RDMA_CM_EVENT_ESTABLISHED &&
		    ev->param.conn.private_data_len >= sizeof(*granted))
			memcpy(granted, ev->param.conn.private_data, sizeof(*granted));
		rdma_ack_cm_event(ev);
		switch (type) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			if (rdma_resolve_route(*id, RESOLVE_MS))
				die("rdma_resolve_route");
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			connect_id(*id, bytes);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			return true;
		case RDMA_CM_EVENT_DISCONNECTED:
			return false;
		default:
			fail("connection", rdma_event_str(type));
		}
	}
}

static struct rdma_cm_id *connected(uint64_t bytes, struct grant *granted)
{
	struct rdma_cm_id *id;

	begin();
	if (!next(bytes, &id, granted))
		fail("connection", "ended at once");
	return id;
}

static void connections(size_t at_once, double seconds)
{
	double start = now();
	struct rdma_cm_id *id;
	struct grant granted;
	size_t open, made = 0;

	for (open = 0; open < at_once; open++)
		begin();
	while (open) {
		if (next(0, &id, &granted)) {
			made++;
			if (rdma_disconnect(id))
				die("rdma_disconnect");
			continue;
		}
		end(id);
		open--;
		if (now() - start < seconds) {
			begin();
			open++;
		}
	}
	printf("%.1f connections/s\n", made / (now() - start));
}

static void idle(void)
{
	struct grant granted;

	connected(0, &granted);
	printf("idle\n");
	for (;;)
		pause();
}

/* Functions that measure Writes */

static unsigned int completions(bool sleeping)
{
	struct ibv_wc wc[32];
	struct ibv_cq *of;
	void *context;
	int n;

	while (!(n = ibv_poll_cq(cq, 32, wc)) && sleeping) {
		if (ibv_req_notify_cq(cq, 0))
			die("ibv_req_notify_cq");
		n = ibv_poll_cq(cq, 32, wc); /* handles completions from before the CQ was armed */
		if (n)
			break;
		if (ibv_get_cq_event(events, &of, &context))
			die("ibv_get_cq_event");
		ibv_ack_cq_events(of, 1);
	}
	if (n < 0)
		die("ibv_poll_cq");
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			fail("write", ibv_wc_status_str(wc[i].status));
	return n;
}

static void writes(size_t bytes, size_t whole, double seconds, bool sleeping)
{
	struct grant granted;
	struct rdma_cm_id *id = connected(whole, &granted);
	struct ibv_mr *mr = register_memory(bytes, 0);
	struct ibv_sge sge = { (uintptr_t)mr->addr, bytes, mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
			   *bad;
	double start = now(), last = start, longest = 0;
	uint64_t posted = 0, done = 0;

	printf("writing\n");
	fflush(stdout);
	wr.wr.rdma.rkey = granted.rkey;
	while (now() - start < seconds) {
		for (; posted - done < DEPTH; posted++) {
			wr.wr.rdma.remote_addr = granted.address + posted % (whole / bytes) * bytes;
			if (ibv_post_send(id->qp, &wr, &bad))
				die("ibv_post_send");
		}
		done += completions(sleeping);
		if (now() - last > longest)
			longest = now() - last;
		last = now();
	}
	while (done < posted)
		done += completions(sleeping);
	seconds = now() - start;
	printf("%.3f GiB, %.2f Gbit/s, %.3f M messages/s, %.2f ms without a completion\n",
	       (double)done * bytes / (1 << 30), (double)done * bytes * 8 / seconds / 1e9,
	       done / seconds / 1e6, longest * 1e3);
	rdma_disconnect(id);
	end(id);
}

static int usage(void)
{
	fprintf(stderr, "usage: verbs-bench server ADDRESS PORT\n"
			"       verbs-bench write ADDRESS PORT BYTES REGION SECONDS spin|events\n"
			"       verbs-bench connect ADDRESS PORT AT-ONCE SECONDS\n"
			"       verbs-bench idle ADDRESS PORT\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		return usage();
	place = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_port = htons(number(argv[3], 1, 65535)) };
	if (inet_pton(AF_INET, argv[2], &place.sin_addr) != 1)
		fail(argv[2], "is not an address");
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (argc == 4 && !strcmp(what, "server")) {
		serve();
	} else if (argc == 8 && !strcmp(what, "write") &&
		   (!strcmp(argv[7], "spin") || !strcmp(argv[7], "events"))) {
		size_t bytes = number(argv[4], 1, 1 << 30);

		writes(bytes, number(argv[5], bytes, 1ul << 32), number(argv[6], 1, 3600),
		       !strcmp(argv[7], "events"));
	} else if (argc == 6 && !strcmp(what, "connect")) {
		connections(number(argv[4], 1, BACKLOG), number(argv[5], 1, 3600));
	} else if (argc == 4 && !strcmp(what, "idle")) {
		idle();
	} else {
		return usage();
	}
	return 0;
}
