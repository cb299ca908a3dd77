/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A server whose connections share their receives, and a client that checks the server.
 *
 *   e2e-shared serve   ADDRESS PORT          accept all, and echo the first bytes of each message
 *   e2e-shared connect ADDRESS PORT COUNT    send COUNT messages one by one, and check the echoes;
 *                                            then make the server keep all its receives
 *   e2e-shared connect ADDRESS PORT COUNT ROUNDS   the same ROUNDS times, in one process; SIGUSR1
 *                                                  starts each further round
 *
 * The private data of the server's answer is the address and the rkey of MEMORY bytes that peers
 * may write and read. The server has RECEIVES receives in total. It posts each receive again after
 * a message. But it keeps receives with messages that begin with KEEP, until it has all receives.
 * If a connection that has ended has lost a receive, the client's last echo never comes.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECEIVES 32
#define RECEIVE_SIZE 4096
#define ECHO 16	  /* bytes of an echo */
#define ECHOES 16 /* maximum outstanding echoes of a connection; further echoes are not sent */
#define MEMORY 65536
#define CQ_DEPTH 16384
#define KEEP 'K'
#define SENT RECEIVES /* the wr_id of sends; a receive has a lower wr_id */

struct offer {
	uint64_t address;
	uint32_t rkey;
} __attribute__((packed));

struct connection {
	struct rdma_cm_id *id;
	struct connection *next;
	unsigned int echoes; /* outstanding */
	bool over;	     /* the peer has gone */
	bool last; /* its QP takes no more receives, and all its completions are in the CQ */
};

static char messages[RECEIVES][RECEIVE_SIZE];
static char memory[MEMORY];
static struct connection *connections;
static struct ibv_comp_channel *completions;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *messages_mr, *memory_mr;
static unsigned int kept[RECEIVES], kept_count;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void post(unsigned int slot)
{
	struct ibv_sge sge = { (uintptr_t)messages[slot], RECEIVE_SIZE, messages_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_srq_recv(srq, &wr, &bad))
		die("ibv_post_srq_recv");
}

static void make_shared(struct ibv_context *verbs)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = RECEIVES, .max_sge = 1 } };

	pd = ibv_alloc_pd(verbs);
	completions = ibv_create_comp_channel(verbs);
	cq = completions ? ibv_create_cq(verbs, CQ_DEPTH, NULL, completions, 0) : NULL;
	if (!pd || !cq || ibv_req_notify_cq(cq, 0))
		die("ibv_create_cq");
	srq = ibv_create_srq(pd, &attr);
	messages_mr = ibv_reg_mr(pd, messages, sizeof(messages), IBV_ACCESS_LOCAL_WRITE);
	memory_mr = ibv_reg_mr(pd, memory, sizeof(memory),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_READ);
	if (!srq || !messages_mr || !memory_mr)
		die("ibv_create_srq");
	for (unsigned int i = 0; i < RECEIVES; i++)
		post(i);
}

static void end(struct connection *c)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!c->over && ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE))
		die("ibv_modify_qp");
	c->over = true;
}

static void request(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = ECHOES, .max_send_sge = 1, .max_inline_data = ECHO },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct offer offer;
	struct rdma_conn_param param = {
		.private_data = &offer,
		.private_data_len = sizeof(offer),
		.responder_resources = 4,
		.initiator_depth = 4,
		.rnr_retry_count = 7,
	};
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		die("calloc");
	if (!srq)
		make_shared(id->verbs);
	attr.srq = srq;
	attr.send_cq = attr.recv_cq = cq;
	offer = (struct offer){ htobe64((uintptr_t)memory), htobe32(memory_mr->rkey) };
	c->id = id;
	id->context = c;
	if (rdma_create_qp(id, pd, &attr))
		die("rdma_create_qp");
	c->next = connections;
	connections = c;
	if (rdma_accept(id, &param))
		end(c); /* the peer has gone meanwhile */
}

static struct connection *by_number(uint32_t qp_num)
{
	struct connection *c = connections;

	while (c && c->id->qp->qp_num != qp_num)
		c = c->next;
	return c;
}

static void echo(struct connection *c, const char *message)
{
	struct ibv_sge sge = { (uintptr_t)message, ECHO, 0 };
	struct ibv_send_wr wr = { .wr_id = SENT,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_INLINE },
			   *bad;

	if (c && !c->over && c->echoes < ECHOES && !ibv_post_send(c->id->qp, &wr, &bad))
		c->echoes++;
}

static void completed(const struct ibv_wc *wc)
{
	struct connection *c = by_number(wc->qp_num);
	unsigned int slot = wc->wr_id;

	if (wc->wr_id == SENT) {
		if (c)
			c->echoes--;
		return;
	}
	if (wc->status || messages[slot][0] != KEEP) {
		if (!wc->status)
			echo(c, messages[slot]);
		post(slot);
		return;
	}
	kept[kept_count++] = slot;
	if (kept_count < RECEIVES)
		return;
	echo(c, messages[slot]);
	while (kept_count)
		post(kept[--kept_count]);
}

static void drain(void)
{
	struct ibv_wc wc;
	int got;

	while ((got = ibv_poll_cq(cq, 1, &wc)) > 0)
		completed(&wc);
	if (got < 0)
		die("ibv_poll_cq");
}

/* Frees the connections that are over, once all their receives are posted again. */
static void forget(void)
{
	for (struct connection **at = &connections; *at;) {
		struct connection *c = *at;

		if (!c->over || !c->last) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		rdma_destroy_qp(c->id);
		if (rdma_destroy_id(c->id))
			die("rdma_destroy_id");
		free(c);
	}
}

static void cm_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	type = event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		request(id);
	else if (type != RDMA_CM_EVENT_ESTABLISHED && type != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		end(id->context);
}

static void async_event(struct ibv_context *verbs)
{
	struct ibv_async_event event;
	struct connection *c = connections;

	if (ibv_get_async_event(verbs, &event))
		die("ibv_get_async_event");
	if (event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED) {
		while (c && c->id->qp != event.element.qp)
			c = c->next;
		if (c)
			c->last = true;
	}
	ibv_ack_async_event(&event);
}

static void cq_event(void)
{
	struct ibv_cq *which;
	void *context;

	if (ibv_get_cq_event(completions, &which, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		die("ibv_req_notify_cq");
}

static void serve(struct rdma_addrinfo *info)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener = NULL;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_bind_addr(listener, info->ai_src_addr) || rdma_listen(listener, 128))
		die("rdma_listen");
	for (;;) {
		struct pollfd fds[] = {
			{ channel->fd, POLLIN, 0 },
			{ cq ? completions->fd : -1, POLLIN, 0 },
			{ cq ? cq->context->async_fd : -1, POLLIN, 0 },
		};

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			die("poll");
		if (fds[2].revents)
			async_event(cq->context);
		if (fds[1].revents)
			cq_event();
		if (cq)
			drain();
		forget();
		if (fds[0].revents)
			cm_event(channel);
	}
}

static void completion(int ret, const struct ibv_wc *wc, const char *what)
{
	if (ret != 1)
		die(what);
	if (wc->status) {
		printf("%s: %s\n", what, ibv_wc_status_str(wc->status));
		exit(1);
	}
}

static void say(struct rdma_cm_id *id, unsigned int slot, unsigned int count)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < count; i++)
		if (rdma_post_send(id, NULL, messages[slot], RECEIVE_SIZE, messages_mr, 0))
			die("rdma_post_send");
	for (unsigned int i = 0; i < count; i++)
		completion(rdma_get_send_comp(id, &wc), &wc, "send");
}

static void hear(struct rdma_cm_id *id, unsigned int slot)
{
	struct ibv_wc wc;

	completion(rdma_get_recv_comp(id, &wc), &wc, "receive");
	if (wc.byte_len != ECHO || memcmp(messages[1], messages[slot], ECHO)) {
		puts("the echo is not what was sent");
		exit(1);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void ask(struct rdma_addrinfo *info, unsigned int count)
{
	struct ibv_qp_init_attr attr = {
		.cap = { RECEIVES, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id;
	double begin;

	if (rdma_create_ep(&id, info, NULL, &attr))
		die("rdma_create_ep");
	messages_mr = rdma_reg_msgs(id, messages, sizeof(messages));
	if (!messages_mr || rdma_post_recv(id, NULL, messages[1], RECEIVE_SIZE, messages_mr))
		die("rdma_post_recv");
	begin = now();
	if (rdma_connect(id, &param))
		die("rdma_connect");
	printf("connected in %.3f s\n", now() - begin);
	for (unsigned int i = 0; i < count; i++) {
		memcpy(messages[0], &(uint32_t[]){ 0, i, ~i, i * 7919 }, ECHO);
		say(id, 0, 1);
		hear(id, 0);
		if (rdma_post_recv(id, NULL, messages[1], RECEIVE_SIZE, messages_mr))
			die("rdma_post_recv");
	}
	puts("all echoes have come");
	fflush(stdout);
	messages[2][0] = KEEP;
	say(id, 2, RECEIVES);
	hear(id, 2);
	puts("all receives are there");
	fflush(stdout);
	rdma_disconnect(id);
	rdma_dereg_mr(messages_mr);
	rdma_destroy_ep(id);
}

static void ask_again(struct rdma_addrinfo *info, unsigned int count, unsigned int rounds)
{
	sigset_t again;
	int number;

	sigemptyset(&again);
	sigaddset(&again, SIGUSR1);
	sigprocmask(SIG_BLOCK, &again, NULL);
	ask(info, count);
	while (--rounds && !sigwait(&again, &number))
		ask(info, count);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;

	if (argc == 4 && !strcmp(argv[1], "serve")) {
		hints.ai_flags = RAI_PASSIVE;
	} else if ((argc != 5 && argc != 6) || strcmp(argv[1], "connect")) {
		fprintf(stderr,
			"usage: %s serve ADDRESS PORT | connect ADDRESS PORT COUNT [ROUNDS]\n",
			argv[0]);
		return 2;
	}
	if (rdma_getaddrinfo(argv[2], argv[3], &hints, &info))
		die("rdma_getaddrinfo");
	if (argc == 4)
		serve(info);
	else
		ask_again(info, strtoul(argv[4], NULL, 0),
			  argc == 6 ? strtoul(argv[5], NULL, 0) : 1);
	rdma_freeaddrinfo(info);
	return 0;
}
