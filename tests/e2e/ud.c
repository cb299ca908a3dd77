/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A server with UD queue pairs that checks its memory, and a client that checks the server.
 *
 *   e2e-ud serve   ADDRESS PORT          print "ready ECHO EMPTY INIT", the numbers of three QPs;
 *                                        answer requests of rdma_cm with the first QP, which
 *                                        echoes messages; the second has no receives, and the
 *                                        third stays in INIT
 *   e2e-ud connect ADDRESS PORT COUNT    request the QP, and send COUNT messages one by one until
 *                                        each is echoed
 *
 * In the server's memory, only the bytes of a completed receive may change. The server compares the
 * bytes around the receives a thousand times a second, and the rest of a receive after its
 * completion. A message is its seed and the bytes derived from that. Messages of strangers differ,
 * and are not echoed.
 */
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GRH 40
#define RECEIVES 64
#define SIZE 1024 /* bytes of payload of a receive */
#define EDGE 64	  /* bytes around each receive, which must not change */
#define SLOT (EDGE + GRH + SIZE + EDGE)
#define QKEY RDMA_UDP_QKEY
#define MAGIC 0x53435449u
#define SEND_SLOTS 16
#define AGAIN_MS 200 /* after this time, a missing echo is requested again: UD may lose it */
#define GIVE_UP_MS 20000

static uint8_t *memory, *shadow; /* memory of the receives, and its expected contents */
static uint8_t out[SEND_SLOTS][SIZE];
static struct ibv_pd *pd;
static struct ibv_cq *recv_cq, *send_cq;
static struct ibv_mr *memory_mr, *out_mr;
static unsigned int sent, done;
static unsigned long echoes, strangers;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		printf("not so: %s\n", what);
		exit(1);
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- messages ---- */

static uint32_t fill(uint8_t *to, uint32_t seed)
{
	uint32_t len = 8 + seed * 37 % (SIZE - 7), magic = MAGIC;

	memcpy(to, &magic, 4);
	memcpy(to + 4, &seed, 4);
	for (uint32_t i = 8; i < len; i++)
		to[i] = (uint8_t)(seed * 7 + i);
	return len;
}

/* True for a message of e2e-ud, which must then be whole. */
static bool is_ours(const uint8_t *from, uint32_t len, uint32_t *seed)
{
	uint8_t want[SIZE];
	uint32_t magic;

	if (len < 8)
		return false;
	memcpy(&magic, from, 4);
	memcpy(seed, from + 4, 4);
	if (magic != MAGIC)
		return false;
	must(fill(want, *seed) == len && !memcmp(want, from, len), "a message is as it was sent");
	return true;
}

static void reap_sends(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(send_cq, 1, &wc) == 1) {
		must(!wc.status, "sends succeed");
		done++;
	}
}

static void post_send(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t to, uint32_t qkey,
		      uint32_t seed)
{
	uint8_t *buf = out[sent % SEND_SLOTS];
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .lkey = out_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.ud = { .ah = ah, .remote_qpn = to, .remote_qkey = qkey } };
	struct ibv_send_wr *bad;

	while (sent - done == SEND_SLOTS)
		reap_sends();
	sge.length = fill(buf, seed);
	if (ibv_post_send(qp, &wr, &bad))
		die("ibv_post_send");
	sent++;
}

/* ---- queue pairs ---- */

static struct ibv_qp *qp_new(void)
{
	struct ibv_qp_init_attr attr = { .send_cq = send_cq,
					 .recv_cq = recv_cq,
					 .qp_type = IBV_QPT_UD,
					 .cap = { SEND_SLOTS, RECEIVES, 1, 1, 0 } };
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp ||
	    ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		die("a QP");
	return qp;
}

static void make_ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("RTS");
}

/* verbs: the device of an id, or NULL if the id has none, as on the loopback address. */
static void open_device(struct ibv_context *verbs)
{
	struct ibv_context **devices = rdma_get_devices(NULL);

	if (!devices || !devices[0])
		die("rdma_get_devices");
	verbs = verbs ? verbs : devices[0];
	pd = ibv_alloc_pd(verbs);
	send_cq = ibv_create_cq(verbs, SEND_SLOTS, NULL, NULL, 0);
	recv_cq = ibv_create_cq(verbs, RECEIVES, NULL, NULL, 0);
	memory = malloc((size_t)RECEIVES * SLOT);
	shadow = malloc((size_t)RECEIVES * SLOT);
	if (!pd || !send_cq || !recv_cq || !memory || !shadow)
		die("the device");
	memset(memory, 0xa5, (size_t)RECEIVES * SLOT);
	memset(shadow, 0xa5, (size_t)RECEIVES * SLOT);
	memory_mr = ibv_reg_mr(pd, memory, (size_t)RECEIVES * SLOT, IBV_ACCESS_LOCAL_WRITE);
	out_mr = ibv_reg_mr(pd, out, sizeof(out), 0);
	if (!memory_mr || !out_mr)
		die("ibv_reg_mr");
}

static void post_receive(struct ibv_qp *qp, unsigned int i)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + i * SLOT + EDGE,
			       .length = GRH + SIZE,
			       .lkey = memory_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(memory + i * SLOT + EDGE, 0xa5, GRH + SIZE);
	memset(shadow + i * SLOT + EDGE, 0xa5, GRH + SIZE);
	if (ibv_post_recv(qp, &wr, &bad))
		die("ibv_post_recv");
}

/* ---- the server ---- */

/*
 * Checks the bytes around the receives. The contents of an outstanding receive may change at any
 * time.
 */
static void check_memory(void)
{
	for (unsigned int i = 0; i < RECEIVES; i++) {
		must(!memcmp(memory + i * SLOT, shadow + i * SLOT, EDGE),
		     "the bytes in front are untouched");
		must(!memcmp(memory + (i + 1) * SLOT - EDGE, shadow + (i + 1) * SLOT - EDGE, EDGE),
		     "the bytes behind are untouched");
	}
}

static void echo(struct ibv_qp *qp, const struct ibv_wc *wc, uint8_t *grh, uint32_t seed)
{
	struct ibv_wc from = *wc;
	struct ibv_ah *ah = ibv_create_ah_from_wc(pd, &from, (struct ibv_grh *)(void *)grh, 1);

	if (!ah)
		die("ibv_create_ah_from_wc");
	post_send(qp, ah, wc->src_qp, QKEY, seed);
	ibv_destroy_ah(ah);
	echoes++;
}

static void take_receive(struct ibv_qp *qp, const struct ibv_wc *wc)
{
	uint8_t *at = memory + wc->wr_id * SLOT + EDGE;
	uint32_t seed;

	must(!wc->status && wc->byte_len >= GRH && wc->byte_len <= GRH + SIZE,
	     "a receive succeeds");
	must(!memcmp(at + wc->byte_len, shadow + wc->wr_id * SLOT + EDGE + wc->byte_len,
		     GRH + SIZE - wc->byte_len),
	     "the rest of a receive is untouched");
	if (is_ours(at + GRH, wc->byte_len - GRH, &seed))
		echo(qp, wc, at, seed);
	else
		strangers++;
	post_receive(qp, (unsigned int)wc->wr_id);
}

static void take_event(struct rdma_event_channel *channel, const struct ibv_qp *qp)
{
	struct rdma_conn_param param = { .qp_num = qp->qp_num };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	must(event->event == RDMA_CM_EVENT_CONNECT_REQUEST, "there are requests alone");
	id = event->id;
	if (rdma_accept(id, &param))
		die("rdma_accept");
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
}

static void serve(struct rdma_event_channel *channel, struct rdma_cm_id *listener)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_qp *qp, *empty, *init;
	struct ibv_wc wc;

	if (rdma_listen(listener, 8))
		die("rdma_listen");
	open_device(listener->verbs);
	qp = qp_new();
	empty = qp_new();
	init = qp_new();
	for (unsigned int i = 0; i < RECEIVES; i++)
		post_receive(qp, i);
	make_ready(qp);
	make_ready(empty);
	printf("ready %u %u %u\n", qp->qp_num, empty->qp_num, init->qp_num);
	fflush(stdout);
	for (;;) {
		if (poll(&fd, 1, 1) == 1)
			take_event(channel, qp);
		while (ibv_poll_cq(recv_cq, 1, &wc) == 1)
			take_receive(qp, &wc);
		reap_sends();
		check_memory();
	}
}

/* ---- the client ---- */

static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
		   struct rdma_ud_param *ud)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	if (event->event != type) {
		printf("%s (%d) instead of %s\n", rdma_event_str(event->event), event->status,
		       rdma_event_str(type));
		exit(1);
	}
	if (ud)
		*ud = event->param.ud;
	rdma_ack_cm_event(event);
}

/* Sends the message until its echo comes. Skips duplicate echoes. */
static void ping(struct ibv_qp *qp, struct ibv_ah *ah, const struct rdma_ud_param *to,
		 uint32_t seed)
{
	uint64_t again = 0, give_up = now_ms() + GIVE_UP_MS;
	struct ibv_wc wc;
	uint32_t got;
	bool mine;

	for (;;) {
		if (now_ms() >= again) {
			must(now_ms() < give_up, "the echo comes");
			post_send(qp, ah, to->qp_num, to->qkey, seed);
			again = now_ms() + AGAIN_MS;
		}
		if (ibv_poll_cq(recv_cq, 1, &wc) != 1) {
			poll(NULL, 0, 0);
			continue;
		}
		must(!wc.status, "a receive succeeds");
		mine = is_ours(memory + wc.wr_id * SLOT + EDGE + GRH, wc.byte_len - GRH, &got);
		post_receive(qp, (unsigned int)wc.wr_id);
		if (mine && got == seed)
			return;
	}
}

static void talk(struct rdma_event_channel *channel, struct rdma_cm_id *id,
		 struct sockaddr *address, uint32_t count)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_ud_param to;
	struct ibv_qp *qp;
	struct ibv_ah *ah;

	if (rdma_resolve_addr(id, NULL, address, 2000))
		die("rdma_resolve_addr");
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	open_device(id->verbs);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	expect(channel, RDMA_CM_EVENT_ESTABLISHED, &to);
	qp = qp_new();
	for (unsigned int i = 0; i < RECEIVES; i++)
		post_receive(qp, i);
	make_ready(qp);
	ah = ibv_create_ah(pd, &to.ah_attr);
	if (!ah)
		die("ibv_create_ah");
	for (uint32_t i = 0; i < count; i++)
		ping(qp, ah, &to, i);
	printf("%u echoes\n", count);
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_UDP }, *info;
	struct rdma_cm_id *id;
	bool passive;

	if (argc < 4)
		return 2;
	passive = !strcmp(argv[1], "serve");
	hints.ai_flags = passive ? RAI_PASSIVE : 0;
	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_UDP))
		die("rdma_create_id");
	if (rdma_getaddrinfo(argv[2], argv[3], &hints, &info))
		die("rdma_getaddrinfo");
	if (!passive) {
		talk(channel, id, info->ai_dst_addr, (uint32_t)atoi(argv[4]));
		return 0;
	}
	if (rdma_bind_addr(id, info->ai_src_addr))
		die("rdma_bind_addr");
	serve(channel, id);
}
