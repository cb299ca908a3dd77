/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end of a connection for tests.
 *
 *   e2e-peer serve|connect ADDRESS PORT idle     be connected until the peer is gone
 *   e2e-peer serve         ADDRESS PORT reject   reject the one request that comes
 *   e2e-peer serve|connect ADDRESS PORT still    the client sends messages
 *   e2e-peer serve|connect ADDRESS PORT mutate   the same, while a thread changes their memory
 *   e2e-peer connect       ADDRESS PORT leave    send, and disconnect before anything has arrived
 *   e2e-peer serve         ADDRESS PORT decide-nothing   take requests without a decision
 *
 * Every 8-byte word of a message has TAG in its upper half, whatever the thread writes. So the
 * server can detect words that were never in the sender's memory.
 */
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_SIZE 16384
#define WORDS (MESSAGE_SIZE / 8)
#define DEPTH 64
#define BATCH (DEPTH / 2) /* messages for which the server sends a token */
#define BATCHES 96
#define TOKEN DEPTH /* the slot for tokens, sent or received */
#define TOKEN_SIZE 8
#define TAG 0x5ca1ab1eU

static const char no[] = "not today";

static uint64_t memory[DEPTH + 1][WORDS];
static atomic_bool done;

static struct rdma_conn_param param = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.rnr_retry_count = 7, /* a message waits for a receive without limit */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void fill(uint64_t value)
{
	for (unsigned int i = 0; i < DEPTH; i++)
		for (unsigned int j = 0; j < WORDS; j++)
			memory[i][j] = value;
}

/* Changes words all over the memory without pause. */
static void *scribble(void *arg)
{
	for (uint32_t n = 1; !atomic_load_explicit(&done, memory_order_relaxed); n++) {
		volatile uint64_t *word = &memory[n % DEPTH][n * 7919 % WORDS];

		*word = (uint64_t)TAG << 32 | n;
	}
	return NULL;
}

static bool tagged(const uint64_t *message)
{
	for (unsigned int j = 0; j < WORDS; j++)
		if (message[j] >> 32 != TAG)
			return false;
	return true;
}

static struct rdma_cm_id *endpoint(bool passive, char *address, char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_port_space = RDMA_PS_TCP,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(address, port, &hints, &info))
		die("rdma_getaddrinfo");
	if (rdma_create_ep(&id, info, NULL, &attr))
		die("rdma_create_ep");
	rdma_freeaddrinfo(info);
	return id;
}

static struct ibv_mr *register_memory(struct rdma_cm_id *id)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, memory, sizeof(memory));

	if (!mr)
		die("rdma_reg_msgs");
	return mr;
}

static void post_receive(struct rdma_cm_id *id, struct ibv_mr *mr, uintptr_t slot)
{
	if (rdma_post_recv(id, (void *)slot, memory[slot], MESSAGE_SIZE, mr))
		die("rdma_post_recv");
}

/* Accepts a request after posting the receives. */
static struct rdma_cm_id *serve(struct rdma_cm_id *listener, bool reject, struct ibv_mr **mr)
{
	struct rdma_cm_id *id;

	if (rdma_listen(listener, 8))
		die("rdma_listen");
	if (rdma_get_request(listener, &id))
		die("rdma_get_request");
	if (reject) {
		if (rdma_reject(id, no, sizeof(no)))
			die("rdma_reject");
		rdma_destroy_ep(id);
		return NULL;
	}
	*mr = register_memory(id);
	for (unsigned int i = 0; i < DEPTH; i++)
		post_receive(id, *mr, i);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	return id;
}

/* Acknowledges the events of all requests, and keeps their ids, until the program is killed. */
static void decide_nothing(struct rdma_cm_id *listener)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	if (!channel || rdma_migrate_id(listener, channel))
		die("rdma_migrate_id");
	if (rdma_listen(listener, 0))
		die("rdma_listen");
	while (!rdma_get_cm_event(channel, &event))
		rdma_ack_cm_event(event);
	die("rdma_get_cm_event");
}

static void connect_to(struct rdma_cm_id *id)
{
	const struct rdma_conn_param *answer;

	if (!rdma_connect(id, &param))
		return;
	if (id->event && id->event->event == RDMA_CM_EVENT_REJECTED) {
		answer = &id->event->param.conn;
		printf("rejected: %.*s\n", (int)answer->private_data_len,
		       (const char *)answer->private_data);
	}
	die("rdma_connect");
}

/*
 * Waits until the peer has gone: first the event comes, then all receives are flushed. Do not call
 * rdma_disconnect() afterwards: it would wait for a second event.
 */
static void be_idle(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;
	struct ibv_wc wc;

	if (rdma_get_cm_event(id->channel, &event))
		die("rdma_get_cm_event");
	printf("%s status %d\n", rdma_event_str(event->event), event->status);
	if (event->event != RDMA_CM_EVENT_DISCONNECTED)
		exit(1);
	rdma_ack_cm_event(event);
	say("disconnected");
	for (unsigned int i = 0; i < DEPTH; i++) {
		if (rdma_get_recv_comp(id, &wc) != 1)
			die("rdma_get_recv_comp");
		if (wc.status != IBV_WC_WR_FLUSH_ERR) {
			printf("status %s\n", ibv_wc_status_str(wc.status));
			exit(1);
		}
	}
	say("flushed");
}

/*
 * Posts Sends, disconnects, and gets all completions, whether the peer receives the Sends or not.
 */
static void leave(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < DEPTH; i++)
		if (rdma_post_send(id, NULL, memory[i], MESSAGE_SIZE, mr, 0))
			die("rdma_post_send");
	sleep(1);
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	say("disconnected");
	for (unsigned int i = 0; i < DEPTH; i++)
		if (rdma_get_send_comp(id, &wc) != 1)
			die("rdma_get_send_comp");
	say("flushed");
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

static void send_batch(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < BATCH; i++)
		if (rdma_post_send(id, NULL, memory[i * 2], MESSAGE_SIZE, mr, 0))
			die("rdma_post_send");
	for (unsigned int i = 0; i < BATCH; i++)
		completion(rdma_get_send_comp(id, &wc), &wc, "send");
}

static void await_token(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	completion(rdma_get_recv_comp(id, &wc), &wc, "token");
	post_receive(id, mr, TOKEN);
}

static void send_all(struct rdma_cm_id *id, struct ibv_mr *mr, bool mutate)
{
	pthread_t thread;
	double begin;

	fill((uint64_t)TAG << 32);
	if (mutate && pthread_create(&thread, NULL, scribble, NULL))
		die("pthread_create");
	begin = now();
	for (unsigned int i = 0; i < BATCHES; i++) {
		if (i >= 2)
			await_token(id, mr);
		send_batch(id, mr);
	}
	await_token(id, mr);
	await_token(id, mr);
	printf("took %.3f s\n", now() - begin);
	atomic_store(&done, true);
	if (mutate)
		pthread_join(thread, NULL);
}

static void receive_batch(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < BATCH; i++) {
		completion(rdma_get_recv_comp(id, &wc), &wc, "receive");
		if (wc.byte_len != MESSAGE_SIZE || !tagged(memory[wc.wr_id])) {
			printf("message %u, %u bytes, is not what was sent\n", i, wc.byte_len);
			exit(1);
		}
		memset(memory[wc.wr_id], 0, MESSAGE_SIZE);
		post_receive(id, mr, wc.wr_id);
	}
}

static void receive_all(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_wc wc;

	for (unsigned int i = 0; i < BATCHES; i++) {
		receive_batch(id, mr);
		if (rdma_post_send(id, NULL, memory[TOKEN], TOKEN_SIZE, mr, 0))
			die("rdma_post_send");
		completion(rdma_get_send_comp(id, &wc), &wc, "send");
	}
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *listener = NULL, *id;
	struct ibv_mr *mr = NULL;
	bool server, mutate;

	if (argc != 5) {
		fprintf(stderr,
			"usage: %s serve|connect ADDRESS PORT "
			"idle|reject|still|mutate|leave|decide-nothing\n",
			argv[0]);
		return 2;
	}
	server = !strcmp(argv[1], "serve");
	mutate = !strcmp(argv[4], "mutate");
	id = endpoint(server, argv[2], argv[3]);
	if (!strcmp(argv[4], "decide-nothing"))
		decide_nothing(id);
	if (server) {
		listener = id;
		id = serve(listener, !strcmp(argv[4], "reject"), &mr);
		if (!id) {
			rdma_destroy_ep(listener);
			return 0;
		}
	} else {
		mr = register_memory(id);
		for (unsigned int i = 0; i < DEPTH; i++)
			post_receive(id, mr, TOKEN);
		connect_to(id);
	}
	say("connected");
	if (!strcmp(argv[4], "idle")) {
		be_idle(id);
	} else if (!strcmp(argv[4], "leave")) {
		leave(id, mr);
	} else {
		if (server)
			receive_all(id, mr);
		else
			send_all(id, mr, mutate);
		rdma_disconnect(id);
	}
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	if (listener)
		rdma_destroy_ep(listener);
	return 0;
}
