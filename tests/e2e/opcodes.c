/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connection that sends one of each RDMAP message, and a Terminate at its end.
 *
 *   e2e-opcodes serve ADDRESS PORT	accepts one connection, and serves it until the peer
 * 					breaks the rules
 *   e2e-opcodes connect ADDRESS PORT	posts Sends of all kinds, a Write, a Read, atomics,
 * 					immediate data, and a Send that must wait for its
 * 					receive; then a Write to an invalid STag
 */
#include <arpa/inet.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 3000
#define RECEIVES 6
#define IMMEDIATES 2	 /* these come first */
#define SENDS_WITH_IMM 2 /* these come next */
#define LATE RECEIVES	 /* the receive that is posted while its Send waits */
#define REGIONS 3
#define FLAG memory[2][0] /* of the server; not 0 after the early Send */

/* The place of the server's memory, in the private data of its answer. */
struct advert {
	uint64_t addr[REGIONS];
	uint32_t rkey[REGIONS];
};

static uint8_t memory[REGIONS][SIZE] __attribute__((aligned(8)));
static uint8_t inbox[RECEIVES + 1][SIZE];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct rdma_cm_id *endpoint(bool passive, char *address, char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_port_space = RDMA_PS_TCP,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
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

static struct ibv_mr *expose(struct rdma_cm_id *id, void *addr, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(id->pd, addr, len,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	if (!mr)
		die("ibv_reg_mr");
	return mr;
}

static void await_end(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(id->channel, &event) || event->event != RDMA_CM_EVENT_DISCONNECTED)
		die("the end of the connection");
	rdma_ack_cm_event(event);
}

static enum ibv_wc_status transfer(struct rdma_cm_id *id, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (ibv_post_send(id->qp, wr, &bad))
		die("ibv_post_send");
	if (rdma_get_send_comp(id, &wc) != 1)
		die("rdma_get_send_comp");
	return wc.status;
}

static void must_transfer(struct rdma_cm_id *id, struct ibv_send_wr *wr)
{
	enum ibv_wc_status status = transfer(id, wr);

	if (status) {
		printf("opcode %d: %s\n", wr->opcode, ibv_wc_status_str(status));
		exit(1);
	}
}

static void must_receive(struct rdma_cm_id *id, int receive)
{
	bool with_imm = receive < SENDS_WITH_IMM;
	struct ibv_wc wc;

	if (rdma_get_recv_comp(id, &wc) != 1 || wc.status || wc.byte_len != SIZE ||
	    with_imm != ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) ||
	    (with_imm && ntohl(wc.imm_data) != 0xabcd10 + (uint32_t)receive)) {
		printf("receive %d: %s\n", receive, ibv_wc_status_str(wc.status));
		exit(1);
	}
	for (int i = 0; i < SIZE; i++) {
		if (inbox[receive][i] != (uint8_t)i) {
			printf("receive %d: wrong data at %d\n", receive, i);
			exit(1);
		}
	}
}

/*
 * A Send has arrived, and waits for its receive. The receive is posted after the client has sent a
 * later message: this side's report on the waiting Send has left by then.
 */
static void receive_late(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct ibv_send_wr nothing = { .opcode = IBV_WR_RDMA_WRITE };

	while (!__atomic_load_n(&FLAG, __ATOMIC_ACQUIRE))
		sched_yield();
	must_transfer(id, &nothing);
	if (rdma_post_recv(id, NULL, inbox[LATE], SIZE, mr))
		die("rdma_post_recv");
	must_receive(id, LATE);
}

static void serve(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
	struct advert advert;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		die("rdma_get_request");
	for (int i = 0; i < REGIONS; i++) {
		mr = expose(id, memory[i], SIZE);
		advert.addr[i] = (uintptr_t)memory[i];
		advert.rkey[i] = mr->rkey;
	}
	mr = expose(id, inbox, sizeof(inbox));
	for (int i = 0; i < IMMEDIATES; i++)
		if (rdma_post_recv(id, NULL, inbox[i], SIZE, mr))
			die("rdma_post_recv");
	for (int i = 0; i < RECEIVES; i++)
		if (rdma_post_recv(id, NULL, inbox[i], SIZE, mr))
			die("rdma_post_recv");
	param.private_data = &advert;
	param.private_data_len = sizeof(advert);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	for (uint32_t i = 0; i < IMMEDIATES; i++) {
		if (rdma_get_recv_comp(id, &wc) != 1 || wc.status ||
		    ntohl(wc.imm_data) != 0xabcd00 + i || wc.wc_flags != IBV_WC_WITH_IMM ||
		    wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM || wc.byte_len != SIZE) {
			printf("immediate data %u: %s\n", i, ibv_wc_status_str(wc.status));
			exit(1);
		}
	}
	for (int i = 0; i < RECEIVES; i++)
		must_receive(id, i);
	receive_late(id, mr);
	await_end(id);
	puts("served");
}

/* Atomics change the server's second region, which is zero at first, and return the old values. */
static void atomics(struct rdma_cm_id *id, const struct advert *advert, struct ibv_mr *mr)
{
	uint64_t *result = (uint64_t *)(void *)(memory[1] + SIZE - SIZE % 8 - 8);
	uint64_t kept = *result;
	struct ibv_sge sge = { .addr = (uintptr_t)result, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };

	wr.wr.atomic.remote_addr = advert->addr[1];
	wr.wr.atomic.rkey = advert->rkey[1];
	wr.wr.atomic.compare_add = 7;
	must_transfer(id, &wr);
	if (*result != 0) {
		puts("what was added to is not what was there");
		exit(1);
	}
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	must_transfer(id, &wr);
	if (*result != 7) {
		puts("what was swapped is not the sum");
		exit(1);
	}
	*result = kept;
}

/* Posts a Send that finds no receive, then a Write that notifies the server. */
static void send_early(struct rdma_cm_id *id, struct ibv_send_wr *wr, const struct advert *advert)
{
	struct ibv_sge one = *wr->sg_list;
	struct ibv_send_wr tell = { .sg_list = &one,
				    .num_sge = 1,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .wr.rdma = { .remote_addr = advert->addr[2],
						 .rkey = advert->rkey[2] } };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	one.addr++; /* a byte that is not 0 */
	one.length = 1;
	wr->opcode = IBV_WR_SEND;
	wr->next = &tell;
	if (ibv_post_send(id->qp, wr, &bad))
		die("ibv_post_send");
	for (int i = 0; i < 2; i++) {
		if (rdma_get_send_comp(id, &wc) != 1 || wc.status) {
			printf("a Send without a receive: %s\n", ibv_wc_status_str(wc.status));
			exit(1);
		}
	}
	wr->next = NULL;
}

static void connect_to(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
	struct ibv_mr *mr = expose(id, memory, sizeof(memory));
	struct ibv_sge sge = { .addr = (uintptr_t)memory[0], .length = SIZE, .lkey = mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 };
	struct advert advert;

	for (int i = 0; i < SIZE; i++)
		memory[0][i] = (uint8_t)i;
	if (rdma_connect(id, &param))
		die("rdma_connect");
	memcpy(&advert, id->event->param.conn.private_data, sizeof(advert));

	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = advert.addr[0];
	wr.wr.rdma.rkey = advert.rkey[0];
	must_transfer(id, &wr);
	wr.opcode = IBV_WR_RDMA_READ;
	sge.addr = (uintptr_t)memory[1];
	must_transfer(id, &wr);
	if (memcmp(memory[0], memory[1], SIZE)) {
		puts("what was read is not what was written");
		exit(1);
	}
	atomics(id, &advert, mr);
	for (uint32_t i = 0; i < IMMEDIATES; i++) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htonl(0xabcd00 + i);
		wr.send_flags = i ? IBV_SEND_SOLICITED : 0;
		must_transfer(id, &wr);
	}
	for (uint32_t i = 0; i < SENDS_WITH_IMM; i++) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(0xabcd10 + i);
		wr.send_flags = i ? IBV_SEND_SOLICITED : 0;
		must_transfer(id, &wr);
	}
	wr.send_flags = 0;
	wr.opcode = IBV_WR_SEND;
	must_transfer(id, &wr);
	wr.send_flags = IBV_SEND_SOLICITED;
	must_transfer(id, &wr);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = advert.rkey[0];
	must_transfer(id, &wr);
	wr.send_flags = 0;
	wr.invalidate_rkey = advert.rkey[1];
	must_transfer(id, &wr);
	send_early(id, &wr, &advert);
	/* The STag is invalid by now, so the Write ends the connection. */
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = advert.addr[1];
	wr.wr.rdma.rkey = advert.rkey[1];
	transfer(id, &wr);
	await_end(id);
	puts("terminated");
}

int main(int argc, char **argv)
{
	bool passive;

	if (argc != 4) {
		fprintf(stderr, "usage: %s serve|connect ADDRESS PORT\n", argv[0]);
		return 2;
	}
	passive = !strcmp(argv[1], "serve");
	(passive ? serve : connect_to)(endpoint(passive, argv[2], argv[3]));
	return 0;
}
