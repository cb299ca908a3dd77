/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues of librpma. A server's connections take their receives from one shared queue. A client's
 * connections have a separate completion queue for receives, and one connection has a completion
 * channel for both queues. Messages go to and fro with immediate data. Writes with immediate data
 * come last. Every octet is compared.
 *
 *   rpma_queues serve|connect ADDRESS PORT
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rpma_check.h"

enum { CONNECTIONS = 2, ROUNDS = 50, RECEIVES = 8, SIZE = 1000, BLOCK = 100000 };
#define WRITTEN 0x80000000u /* in the immediate data of a Write; not in that of a message */

static struct rpma_peer *peer;
static unsigned char memory[CONNECTIONS * BLOCK + (RECEIVES + 1) * SIZE];
static struct rpma_mr_local *mr;
/* Messages after the blocks: RECEIVES to receive into, and one to send. */
#define MESSAGE(i) ((size_t)CONNECTIONS * BLOCK + (size_t)(i)*SIZE)

static unsigned char octet(uint32_t connection, uint32_t number, size_t at)
{
	return (unsigned char)(at * 31 + (at >> 8) * 7 + connection * 101 + number * 13);
}

static void fill(unsigned char *at, size_t len, uint32_t connection, uint32_t number)
{
	for (size_t i = 0; i < len; i++)
		at[i] = octet(connection, number, i);
}

static void compare(const unsigned char *at, size_t len, uint32_t connection, uint32_t number)
{
	for (size_t i = 0; i < len; i++)
		CHECK(at[i] == octet(connection, number, i));
}

static void start(const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;

	OK(rpma_utils_get_ibv_context(address, type, &context));
	OK(rpma_peer_new(context, &peer));
	OK(rpma_mr_reg(peer, memory, sizeof(memory),
		       RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC |
			       RPMA_MR_USAGE_WRITE_DST,
		       &mr));
}

static void wait_for_event(struct rpma_conn *conn, enum rpma_conn_event want)
{
	enum rpma_conn_event event;

	OK(rpma_conn_next_event(conn, &event));
	CHECK(event == want);
}

/* Waits for the next completion of a queue. After the event, the queue must have a completion. */
static struct ibv_wc next_completion(struct rpma_cq *cq)
{
	struct ibv_wc wc;

	OK(rpma_cq_wait(cq));
	OK(rpma_cq_get_wc(cq, 1, &wc, NULL));
	CHECK(wc.status == IBV_WC_SUCCESS);
	return wc;
}

/* ---- the server ---- */

struct client {
	struct rpma_conn *conn;
	uint32_t qp_num;
	uint32_t number;   /* the client's number of the connection */
	uint32_t messages; /* received */
	bool written;
};

static struct rpma_srq *shared_queue(void)
{
	struct rpma_srq_cfg *cfg;
	struct rpma_srq *srq;

	OK(rpma_srq_cfg_new(&cfg));
	OK(rpma_srq_cfg_set_rq_size(cfg, RECEIVES));
	OK(rpma_srq_cfg_set_rcq_size(cfg, RECEIVES + CONNECTIONS));
	OK(rpma_srq_new(peer, cfg, &srq));
	OK(rpma_srq_cfg_delete(&cfg));
	for (uintptr_t i = 0; i < RECEIVES; i++)
		OK(rpma_srq_recv(srq, mr, MESSAGE(i), SIZE, (void *)i));
	return srq;
}

static void accept_client(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg, struct client *c)
{
	unsigned char descriptor[256];
	struct rpma_conn_private_data data = { .ptr = descriptor }, theirs;
	struct rpma_conn_req *request;
	size_t size;

	OK(rpma_mr_get_descriptor_size(mr, &size));
	CHECK(size <= sizeof(descriptor));
	OK(rpma_mr_get_descriptor(mr, descriptor));
	data.len = (uint8_t)size;
	OK(rpma_ep_next_conn_req(ep, cfg, &request));
	OK(rpma_conn_req_get_private_data(request, &theirs));
	CHECK(theirs.len >= 1);
	c->number = *(unsigned char *)theirs.ptr;
	OK(rpma_conn_req_connect(&request, &data, &c->conn));
	wait_for_event(c->conn, RPMA_CONN_ESTABLISHED);
	OK(rpma_conn_get_qp_num(c->conn, &c->qp_num));
}

/* Returns a message with each octet inverted. */
static void answer(const struct client *c, const unsigned char *message)
{
	unsigned char *back = memory + MESSAGE(RECEIVES);
	struct rpma_cq *cq;

	for (size_t i = 0; i < SIZE; i++)
		back[i] = (unsigned char)~message[i];
	OK(rpma_send(c->conn, mr, MESSAGE(RECEIVES), SIZE, RPMA_F_COMPLETION_ALWAYS, NULL));
	OK(rpma_conn_get_cq(c->conn, &cq));
	CHECK(next_completion(cq).opcode == IBV_WC_SEND);
}

static void take(struct client *clients, struct rpma_srq *srq, const struct ibv_wc *wc)
{
	struct client *c = clients;
	uint32_t imm = ntohl(wc->imm_data);

	while (c->qp_num != wc->qp_num)
		CHECK(++c < clients + CONNECTIONS);
	CHECK(wc->wc_flags & IBV_WC_WITH_IMM);
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		CHECK(imm == (WRITTEN | c->number) && c->messages == ROUNDS && !c->written);
		compare(memory + (size_t)c->number * BLOCK, BLOCK, c->number, ROUNDS);
		c->written = true;
	} else {
		CHECK(wc->opcode == IBV_WC_RECV && wc->byte_len == SIZE && imm == c->messages);
		compare(memory + MESSAGE(wc->wr_id), SIZE, c->number, c->messages++);
		answer(c, memory + MESSAGE(wc->wr_id));
	}
	OK(rpma_srq_recv(srq, mr, MESSAGE(wc->wr_id), SIZE, (void *)(uintptr_t)wc->wr_id));
}

static void serve(const char *address, const char *port)
{
	struct client clients[CONNECTIONS] = { 0 };
	struct rpma_conn_cfg *cfg;
	struct rpma_srq *srq;
	struct rpma_cq *rcq;
	struct rpma_ep *ep;
	struct ibv_wc wc;

	start(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	srq = shared_queue();
	OK(rpma_srq_get_rcq(srq, &rcq));
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));
	OK(rpma_ep_listen(peer, address, port, &ep));
	for (int i = 0; i < CONNECTIONS; i++)
		accept_client(ep, cfg, &clients[i]);
	while (!clients[0].written || !clients[1].written) {
		wc = next_completion(rcq);
		take(clients, srq, &wc);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		wait_for_event(clients[i].conn, RPMA_CONN_CLOSED);
		OK(rpma_conn_disconnect(clients[i].conn));
		OK(rpma_conn_delete(&clients[i].conn));
	}
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_srq_delete(&srq));
}

/* ---- the client ---- */

static struct rpma_conn *connect_one(const char *address, const char *port, unsigned char number)
{
	struct rpma_conn_private_data data = { .ptr = &number, .len = 1 };
	struct rpma_conn_req *request;
	struct rpma_conn_cfg *cfg;
	struct rpma_conn *conn;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 4));
	OK(rpma_conn_cfg_set_compl_channel(cfg, number == 1));
	OK(rpma_conn_req_new(peer, address, port, cfg, &request));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_conn_req_connect(&request, &data, &conn));
	wait_for_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

/*
 * Waits for the completions of the send and, if receive is true, of the receive. They come by the
 * channel of both queues, or by each queue's channel.
 */
static void wait_for_completions(struct rpma_conn *conn, uint32_t number, enum ibv_wc_opcode sent,
				 bool receive)
{
	bool wants_sent = true, wants_receive = receive, is_rcq;
	struct rpma_cq *cq, *rcq;
	struct ibv_wc wc;

	OK(rpma_conn_get_cq(conn, &cq));
	OK(rpma_conn_get_rcq(conn, &rcq));
	if (number != 1) {
		CHECK(!receive || next_completion(rcq).opcode == IBV_WC_RECV);
		CHECK(next_completion(cq).opcode == sent);
		return;
	}
	while (wants_sent || wants_receive) {
		OK(rpma_conn_wait(conn, 0, &cq, &is_rcq));
		while (!rpma_cq_get_wc(cq, 1, &wc, NULL)) {
			CHECK(wc.status == IBV_WC_SUCCESS);
			CHECK(wc.opcode == (is_rcq ? IBV_WC_RECV : sent));
			*(is_rcq ? &wants_receive : &wants_sent) = false;
		}
	}
}

static void exchange(struct rpma_conn *conn, uint32_t number, uint32_t round)
{
	unsigned char *back = memory + MESSAGE(0), *message = memory + MESSAGE(RECEIVES);

	fill(message, SIZE, number, round);
	memset(back, 0, SIZE);
	OK(rpma_recv(conn, mr, MESSAGE(0), SIZE, NULL));
	OK(rpma_send_with_imm(conn, mr, MESSAGE(RECEIVES), SIZE, RPMA_F_COMPLETION_ALWAYS, round,
			      NULL));
	wait_for_completions(conn, number, IBV_WC_SEND, true);
	for (size_t i = 0; i < SIZE; i++)
		back[i] = (unsigned char)~back[i];
	compare(back, SIZE, number, round);
}

static void write_block(struct rpma_conn *conn, uint32_t number)
{
	struct rpma_conn_private_data data;
	struct rpma_mr_remote *remote;
	size_t at = (size_t)number * BLOCK;

	OK(rpma_conn_get_private_data(conn, &data));
	OK(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote));
	fill(memory + at, BLOCK, number, ROUNDS);
	OK(rpma_write_with_imm(conn, remote, at, mr, at, BLOCK, RPMA_F_COMPLETION_ALWAYS,
			       WRITTEN | number, NULL));
	wait_for_completions(conn, number, IBV_WC_RDMA_WRITE, false);
	OK(rpma_mr_remote_delete(&remote));
}

static void connect_all(const char *address, const char *port)
{
	struct rpma_conn *conn[CONNECTIONS];

	start(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	for (int i = 0; i < CONNECTIONS; i++)
		conn[i] = connect_one(address, port, (unsigned char)i);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < CONNECTIONS; i++)
			exchange(conn[i], i, round);
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		write_block(conn[i], i);
	for (int i = 0; i < CONNECTIONS; i++) {
		OK(rpma_conn_disconnect(conn[i]));
		wait_for_event(conn[i], RPMA_CONN_CLOSED);
		OK(rpma_conn_delete(&conn[i]));
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	if (!strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	else
		connect_all(argv[2], argv[3]);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	printf("%d messages and a Write right on each connection\n", ROUNDS);
	return 0;
}
