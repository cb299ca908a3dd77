/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The other end of foreign.c: a program over librdmacm and libibverbs that runs on sctpiw. It
 * executes the commands of the foreign end (talk.h), on any number of connections. Each connection
 * has its own thread and protection domain.
 *
 * A connection is over when RDMA_CM_EVENT_DISCONNECTED has arrived, and every work request has
 * completed; both must happen. The result of each connection is printed on one line. At the end the
 * program waits for SIGTERM, because the end of an RNIC aborts its associations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "talk.h"

#define RECEIVES 8
#define RECEIVE_SIZE (LARGEST + 4096)
#define SENDS 64
#define FLOOD_SIZE 65536
#define DEPTH 4 /* the local IRD and ORD */
#define CONNECTIONS 64

struct conn {
	unsigned int number;
	pthread_t thread;
	struct rdma_cm_id *id;
	struct rdma_event_channel *events; /* of id */
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr, *receive_mr, *answer_mr;
	uint8_t *memory, *receives;
	struct answer *answer;
	unsigned int posted_sends, posted_receives; /* not completed yet */
	unsigned int completed;			    /* total of work requests */
	enum ibv_wc_status error;		    /* the first error */
	bool over;
	struct ibv_wc kept[RECEIVES]; /* receive completions that arrived before awaited sends */
	unsigned int first_kept, n_kept;
};

/* The wr_id of a receive is its slot. The wr_id of a send has this bit. */
#define A_SEND (1ull << 32)

static bool listening, rejecting;
static unsigned int connections = 1, at_once = 1;
static uint8_t background[MEMORY];
static struct conn conns[CONNECTIONS];

static void check(const void *p, const char *what)
{
	if (!p)
		fail("%s: %s", what, strerror(errno));
}

static void check_zero(int ret, const char *what)
{
	if (ret)
		fail("%s: %s", what, strerror(ret > 0 ? ret : errno));
}

/* ------------------------------------------------------------------ CM */

/* Waits for the next event of the channel. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *events, const char *expected)
{
	struct pollfd p = { .fd = events->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&p, 1, PATIENCE * 1000) <= 0)
		fail("no %s", expected);
	check_zero(rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	return event;
}

static void print_event(const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	const char *text = param->private_data;

	say("event %s, status %d, private data '%.*s'", rdma_event_str(event->event), event->status,
	    text ? (int)strnlen(text, param->private_data_len) : 0, text ? text : "");
}

/* Waits for this event. Returns false if another event arrives. */
static bool await_event(struct rdma_event_channel *events, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_event(events, rdma_event_str(type));
	bool right = event->event == type;

	if (!right || type == RDMA_CM_EVENT_ESTABLISHED)
		print_event(event);
	rdma_ack_cm_event(event);
	return right;
}

static struct rdma_conn_param param(void)
{
	return (struct rdma_conn_param){
		.private_data = RNIC_TEXT,
		.private_data_len = sizeof(RNIC_TEXT),
		.responder_resources = DEPTH,
		.initiator_depth = DEPTH,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

/* ------------------------------------------------------------------ queues */

static void post_receive(struct conn *c, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(c->receives + (size_t)slot * RECEIVE_SIZE),
		.length = RECEIVE_SIZE,
		.lkey = c->receive_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	check_zero(ibv_post_recv(c->id->qp, &wr, &bad), "ibv_post_recv");
	c->posted_receives++;
}

static void post(struct conn *c, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->wr_id = A_SEND;
	wr->send_flags |= IBV_SEND_SIGNALED;
	check_zero(ibv_post_send(c->id->qp, wr, &bad), "ibv_post_send");
	c->posted_sends++;
}

/* Waits for the next completion. */
static struct ibv_wc next_completion(struct conn *c)
{
	struct pollfd p = { .fd = c->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	for (bool armed = false; !ibv_poll_cq(c->cq, 1, &wc); armed = !armed) {
		if (!armed) {
			check_zero(ibv_req_notify_cq(c->cq, 0), "ibv_req_notify_cq");
			continue;
		}
		if (poll(&p, 1, PATIENCE * 1000) <= 0)
			fail("connection %u: %u sends and %u receives do not complete", c->number,
			     c->posted_sends, c->posted_receives);
		check_zero(ibv_get_cq_event(c->channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
	c->completed++;
	if (wc.wr_id & A_SEND)
		c->posted_sends--;
	else
		c->posted_receives--;
	if (wc.status && !c->over) {
		c->error = wc.status;
		c->over = true;
	}
	return wc;
}

/*
 * Waits until all sends are done. Returns false if the connection is over. The peer's next command
 * may arrive before the completion of the local Send: the packet with the acknowledgement may be
 * lost.
 */
static bool await_sends(struct conn *c)
{
	while (c->posted_sends && !c->over) {
		struct ibv_wc wc = next_completion(c);

		if (!c->over && !(wc.wr_id & A_SEND))
			c->kept[(c->first_kept + c->n_kept++) % RECEIVES] = wc;
	}
	return !c->over;
}

/* Waits for the next Send. Returns false if the connection is over. */
static bool await_receive(struct conn *c, struct ibv_wc *wc)
{
	if (c->n_kept && !c->over) {
		*wc = c->kept[c->first_kept++ % RECEIVES];
		c->n_kept--;
		return true;
	}
	do
		*wc = next_completion(c);
	while (!c->over && (wc->wr_id & A_SEND));
	return !c->over;
}

/* ------------------------------------------------------------------ commands */

static bool send_answer(struct conn *c, uint32_t what, int status, uint32_t rkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->answer,
			       .length = sizeof(*c->answer),
			       .lkey = c->answer_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };

	*c->answer = (struct answer){
		.what = what,
		.status = status,
		.addr = (uintptr_t)c->memory,
		.rkey = rkey,
		.size = MEMORY,
	};
	post(c, &wr);
	return await_sends(c);
}

static bool hello(struct conn *c, const struct command *cmd)
{
	if (c->mr) /* was invalidated; registers the memory again */
		ibv_dereg_mr(c->mr);
	c->mr = ibv_reg_mr(c->pd, c->memory, MEMORY,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE);
	check(c->mr, "ibv_reg_mr");
	return send_answer(c, cmd->what, 0, c->mr->rkey);
}

static bool expect(struct conn *c, const struct command *cmd)
{
	struct ibv_wc wc;
	const uint8_t *p;
	int status = 0;

	if (!await_receive(c, &wc))
		return false;
	p = c->receives + wc.wr_id * RECEIVE_SIZE;
	if (wc.byte_len != cmd->length)
		status = 1;
	else if (!filled(p, cmd->seed, cmd->length))
		status = 2;
	post_receive(c, (unsigned int)wc.wr_id);
	return send_answer(c, cmd->what, status,
			   wc.wc_flags & IBV_WC_WITH_INV ? wc.invalidated_rkey : 0);
}

static bool send_data(struct conn *c, const struct command *cmd)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->memory + cmd->offset,
			       .length = cmd->length,
			       .lkey = c->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = cmd->length ? 1 : 0,
				  .opcode = IBV_WR_SEND };

	if (cmd->what == TALK_SEND_INV) {
		wr.opcode = IBV_WR_SEND_WITH_INV;
		wr.invalidate_rkey = cmd->rkey;
		wr.send_flags = IBV_SEND_SOLICITED;
	}
	fill(c->memory + cmd->offset, cmd->seed, cmd->length);
	post(c, &wr);
	if (!await_sends(c)) /* afterwards the memory may be used again */
		return false;
	wipe(c->memory, background, cmd->offset, cmd->length);
	return send_answer(c, cmd->what, 0, 0);
}

static bool fill_memory(struct conn *c, const struct command *cmd)
{
	fill(c->memory + cmd->offset, cmd->seed, cmd->length);
	return send_answer(c, cmd->what, 0, 0);
}

static bool check_memory(struct conn *c, const struct command *cmd)
{
	bool good = intact(c->memory, background, cmd->seed, cmd->offset, cmd->length);

	wipe(c->memory, background, cmd->offset, cmd->length);
	return send_answer(c, cmd->what, !good, 0);
}

static struct ibv_send_wr rdma(enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey,
			       struct ibv_sge *sge)
{
	return (struct ibv_send_wr){
		.opcode = opcode,
		.sg_list = sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};
}

static bool write_there(struct conn *c, const struct command *cmd)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->memory + cmd->offset,
			       .length = cmd->length,
			       .lkey = c->mr->lkey };
	struct ibv_send_wr wr = rdma(IBV_WR_RDMA_WRITE, cmd->addr, cmd->rkey, &sge);

	fill(c->memory + cmd->offset, cmd->seed, cmd->length);
	post(c, &wr);
	if (!await_sends(c))
		return false;
	wipe(c->memory, background, cmd->offset, cmd->length);
	return send_answer(c, cmd->what, 0, 0);
}

/* Reads cmd->count pieces at once. */
static bool read_there(struct conn *c, const struct command *cmd)
{
	uint32_t piece = cmd->length / cmd->count;
	bool good;

	for (uint32_t i = 0; i < cmd->count; i++) {
		uint32_t offset = i * piece;
		uint32_t len = i + 1 < cmd->count ? piece : cmd->length - offset;
		struct ibv_sge sge = { .addr = (uintptr_t)c->memory + cmd->offset + offset,
				       .length = len,
				       .lkey = c->mr->lkey };
		struct ibv_send_wr wr = rdma(IBV_WR_RDMA_READ, cmd->addr + offset, cmd->rkey, &sge);

		post(c, &wr);
	}
	if (!await_sends(c))
		return false;
	good = intact(c->memory, background, cmd->seed, cmd->offset, cmd->length);
	wipe(c->memory, background, cmd->offset, cmd->length);
	return send_answer(c, cmd->what, !good, 0);
}

/* Writes and reads until the connection is over. */
static bool flood(struct conn *c, const struct command *cmd)
{
	struct ibv_sge sge = { .addr = (uintptr_t)c->memory,
			       .length = FLOOD_SIZE,
			       .lkey = c->mr->lkey };

	if (!send_answer(c, cmd->what, 0, 0))
		return false;
	for (unsigned int i = 0;; i++) {
		bool read = i % 4 == 3;
		struct ibv_send_wr wr = rdma(read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, cmd->addr,
					     cmd->rkey, &sge);

		while (c->posted_sends == SENDS / 2 && !c->over)
			next_completion(c);
		if (c->over)
			return false;
		post(c, &wr);
	}
}

/* Executes one command. Returns false if the connection is over. */
static bool obey(struct conn *c, const struct command *cmd)
{
	switch (cmd->what) {
	case TALK_HELLO:
		return hello(c, cmd);
	case TALK_EXPECT:
		return expect(c, cmd);
	case TALK_SEND:
	case TALK_SEND_INV:
		return send_data(c, cmd);
	case TALK_FILL:
		return fill_memory(c, cmd);
	case TALK_CHECK:
		return check_memory(c, cmd);
	case TALK_WRITE:
		return write_there(c, cmd);
	case TALK_READ:
		return read_there(c, cmd);
	case TALK_FLOOD:
		return flood(c, cmd);
	case TALK_DISCONNECT:
		check_zero(rdma_disconnect(c->id), "rdma_disconnect");
		return true; /* the flushed receives follow */
	default:
		fail("connection %u: command %u", c->number, cmd->what);
	}
}

static void serve(struct conn *c)
{
	struct ibv_wc wc;

	while (await_receive(c, &wc)) {
		struct command cmd;

		if (wc.byte_len != sizeof(cmd))
			fail("connection %u: a command of %u bytes", c->number, wc.byte_len);
		memcpy(&cmd, c->receives + wc.wr_id * RECEIVE_SIZE, sizeof(cmd));
		post_receive(c, (unsigned int)wc.wr_id);
		if (cmd.length > LARGEST || cmd.offset > MEMORY - LARGEST)
			fail("connection %u: %u bytes at %u", c->number, cmd.length, cmd.offset);
		if (!obey(c, &cmd))
			break;
	}
	while (c->posted_sends + c->posted_receives)
		next_completion(c);
	if (!await_event(c->events, RDMA_CM_EVENT_DISCONNECTED))
		fail("connection %u: another event than DISCONNECTED", c->number);
	say("connection %u: over by '%s', all %u work requests completed", c->number,
	    ibv_wc_status_str(c->error), c->completed);
}

/* ------------------------------------------------------------------ connections */

static struct ibv_mr *allocate(struct conn *c, void *memory, size_t size)
{
	struct ibv_mr *mr;

	*(void **)memory = calloc(1, size);
	check(*(void **)memory, "calloc");
	mr = ibv_reg_mr(c->pd, *(void **)memory, size, IBV_ACCESS_LOCAL_WRITE);
	check(mr, "ibv_reg_mr");
	return mr;
}

static void make_qp(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = SENDS,
			 .max_recv_wr = RECEIVES + 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	c->pd = ibv_alloc_pd(c->id->verbs);
	check(c->pd, "ibv_alloc_pd");
	c->channel = ibv_create_comp_channel(c->id->verbs);
	check(c->channel, "ibv_create_comp_channel");
	c->cq = ibv_create_cq(c->id->verbs, SENDS + RECEIVES + 1, NULL, c->channel, 0);
	check(c->cq, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = c->cq;
	check_zero(rdma_create_qp(c->id, c->pd, &attr), "rdma_create_qp");
	c->memory = malloc(MEMORY);
	check(c->memory, "malloc");
	memcpy(c->memory, background, MEMORY);
	c->receive_mr = allocate(c, &c->receives, (size_t)RECEIVES * RECEIVE_SIZE);
	c->answer_mr = allocate(c, &c->answer, sizeof(*c->answer));
	for (unsigned int i = 0; i < RECEIVES; i++)
		post_receive(c, i);
}

static void destroy(struct conn *c)
{
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	ibv_dereg_mr(c->receive_mr);
	ibv_dereg_mr(c->answer_mr);
	check_zero(ibv_destroy_cq(c->cq), "ibv_destroy_cq");
	ibv_destroy_comp_channel(c->channel);
	check_zero(ibv_dealloc_pd(c->pd), "ibv_dealloc_pd");
	check_zero(rdma_destroy_id(c->id), "rdma_destroy_id");
	rdma_destroy_event_channel(c->events);
	free(c->memory);
	free(c->receives);
	free(c->answer);
}

static void *accept_thread(void *arg)
{
	struct rdma_conn_param p = param();
	struct conn *c = arg;

	make_qp(c);
	check_zero(rdma_accept(c->id, &p), "rdma_accept");
	if (!await_event(c->events, RDMA_CM_EVENT_ESTABLISHED))
		fail("connection %u: not established", c->number);
	serve(c);
	destroy(c);
	return NULL;
}

static struct sockaddr_storage address;

static void *connect_thread(void *arg)
{
	struct rdma_conn_param p = param();
	struct conn *c = arg;

	c->events = rdma_create_event_channel();
	check(c->events, "rdma_create_event_channel");
	check_zero(rdma_create_id(c->events, &c->id, c, RDMA_PS_TCP), "rdma_create_id");
	check_zero(rdma_resolve_addr(c->id, NULL, (struct sockaddr *)&address, 2000),
		   "rdma_resolve_addr");
	if (!await_event(c->events, RDMA_CM_EVENT_ADDR_RESOLVED))
		fail("the address is not resolved");
	check_zero(rdma_resolve_route(c->id, 2000), "rdma_resolve_route");
	if (!await_event(c->events, RDMA_CM_EVENT_ROUTE_RESOLVED))
		fail("the route is not resolved");
	make_qp(c);
	check_zero(rdma_connect(c->id, &p), "rdma_connect");
	if (await_event(c->events, RDMA_CM_EVENT_ESTABLISHED))
		serve(c);
	destroy(c); /* another event arrived, which is already in the log */
	return NULL;
}

static void start(unsigned int i, void *(*thread)(void *))
{
	conns[i].number = i;
	check_zero(pthread_create(&conns[i].thread, NULL, thread, &conns[i]), "pthread_create");
}

/* Opens connections, at most at_once at a time. */
static void connect_all(void)
{
	for (unsigned int i = 0; i < connections; i++) {
		if (i >= at_once)
			pthread_join(conns[i - at_once].thread, NULL);
		start(i, connect_thread);
	}
	for (unsigned int i = connections > at_once ? connections - at_once : 0; i < connections;
	     i++)
		pthread_join(conns[i].thread, NULL);
}

static void take_request(struct rdma_event_channel *events, struct conn *c)
{
	struct rdma_cm_event *event = next_event(events, "CONNECT_REQUEST");

	print_event(event);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		fail("not a CONNECT_REQUEST");
	c->id = event->id;
	rdma_ack_cm_event(event);
	c->events = rdma_create_event_channel();
	check(c->events, "rdma_create_event_channel");
	check_zero(rdma_migrate_id(c->id, c->events), "rdma_migrate_id");
}

static void listen_for_all(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct rdma_cm_id *id;

	check(events, "rdma_create_event_channel");
	check_zero(rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	check_zero(rdma_bind_addr(id, (struct sockaddr *)&address), "rdma_bind_addr");
	check_zero(rdma_listen(id, CONNECTIONS), "rdma_listen");
	say("listening");
	for (unsigned int i = 0; i < connections; i++) {
		take_request(events, &conns[i]);
		if (!rejecting) {
			start(i, accept_thread);
			continue;
		}
		check_zero(rdma_reject(conns[i].id, RNIC_TEXT, sizeof(RNIC_TEXT)), "rdma_reject");
		rdma_destroy_id(conns[i].id);
		rdma_destroy_event_channel(conns[i].events);
	}
	for (unsigned int i = 0; i < connections && !rejecting; i++)
		pthread_join(conns[i].thread, NULL);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(events);
}

/* ------------------------------------------------------------------ main */

static _Noreturn void usage(void)
{
	fputs("usage: rnic-side [OPTION...] connect|listen ADDRESS PORT\n"
	      "  --connections N   how many, then it ends\n"
	      "  --at-once N       (connect) how many of them at a time\n"
	      "  --reject          (listen) reject them\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "connections", 1, NULL, 'n' },
						 { "at-once", 1, NULL, 'a' },
						 { "reject", 0, NULL, 'r' },
						 { NULL, 0, NULL, 0 } };
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *info;
	sigset_t wait;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		unsigned int n = optarg ? (unsigned int)atoi(optarg) : 0;

		if (c == 'n' && n && n <= CONNECTIONS)
			connections = n;
		else if (c == 'a' && n)
			at_once = n;
		else if (c == 'r')
			rejecting = true;
		else
			usage();
	}
	if (argc - optind != 3 || getaddrinfo(argv[optind + 1], argv[optind + 2], &hints, &info))
		usage();
	memcpy(&address, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	listening = !strcmp(argv[optind], "listen");
	sigemptyset(&wait);
	sigaddset(&wait, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &wait, NULL); /* all threads inherit it */
	fill(background, 0, MEMORY);
	if (listening)
		listen_for_all();
	else
		connect_all();
	say("all served");
	sigwait(&wait, &c);
	return 0;
}
