/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * librpma between two processes: Writes of all sizes into the peer's memory, flushes, Reads of the
 * written data, and messages. Both sides compare every byte.
 *
 *   rpma serve|connect ADDRESS PORT
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rpma_check.h"

#define WINDOW ((size_t)4 << 20)
#define MESSAGE 64
#define IMM 0x600dda7aU
#define ATOMIC_AT (WINDOW - 64) /* the place of the only atomic write, after all other data */
static const char atomic_value[8] = "eight by";

static struct rpma_peer *peer;
static struct rpma_conn *conn;
static struct rpma_cq *cq;
static unsigned char *window, *message;
static struct rpma_mr_local *window_mr, *message_mr;

static void *pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void start(const char *address, enum rpma_util_ibv_context_type type, int usage)
{
	struct ibv_context *context;
	int odp;

	OK(rpma_utils_get_ibv_context(address, type, &context));
	OK(rpma_utils_ibv_context_is_odp_capable(context, &odp));
	printf("on-demand paging: %s\n", odp ? "yes" : "no");
	OK(rpma_peer_new(context, &peer));
	window = pages(WINDOW);
	message = pages(2 * MESSAGE);
	OK(rpma_mr_reg(peer, window, WINDOW, usage, &window_mr));
	OK(rpma_mr_reg(peer, message, (size_t)2 * MESSAGE, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
		       &message_mr));
}

static void wait_for_event(enum rpma_conn_event want)
{
	enum rpma_conn_event event;

	OK(rpma_conn_next_event(conn, &event));
	CHECK(event == want);
}

static struct ibv_wc next_completion(enum ibv_wc_opcode want)
{
	struct ibv_wc wc;

	OK(rpma_cq_wait(cq));
	OK(rpma_cq_get_wc(cq, 1, &wc, NULL));
	CHECK(wc.status == IBV_WC_SUCCESS);
	CHECK(wc.opcode == want);
	return wc;
}

/* The octet that the client writes at this place. */
static unsigned char octet(size_t at)
{
	return (unsigned char)(at * 31 + (at >> 8) * 7 + (at >> 16) * 3 + 1);
}

/* Compares the window with the client's data, and its end with the atomic write. */
static void compare(void)
{
	for (size_t i = 0; i < ATOMIC_AT; i++) {
		if (window[i] != octet(i)) {
			fprintf(stderr, "FAIL rpma.c: octet %zu is 0x%02x, not 0x%02x\n", i,
				window[i], octet(i));
			exit(1);
		}
	}
	CHECK(!memcmp(window + ATOMIC_AT, atomic_value, sizeof(atomic_value)));
	printf("%zu octets right\n", ATOMIC_AT + sizeof(atomic_value));
}

static void serve(const char *address, const char *port)
{
	unsigned char descriptor[256];
	struct rpma_conn_private_data data = { .ptr = descriptor };
	struct rpma_conn_req *request;
	struct rpma_ep *ep;
	struct ibv_wc wc;
	size_t size;

	start(address, RPMA_UTIL_IBV_CONTEXT_LOCAL,
	      RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
		      RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	OK(rpma_mr_get_descriptor_size(window_mr, &size));
	CHECK(size <= sizeof(descriptor));
	OK(rpma_mr_get_descriptor(window_mr, descriptor));
	data.len = (uint8_t)size;
	OK(rpma_ep_listen(peer, address, port, &ep));
	OK(rpma_ep_next_conn_req(ep, NULL, &request));
	OK(rpma_conn_req_recv(request, message_mr, 0, MESSAGE, NULL));
	OK(rpma_conn_req_connect(&request, &data, &conn));
	wait_for_event(RPMA_CONN_ESTABLISHED);
	OK(rpma_conn_get_cq(conn, &cq));

	wc = next_completion(IBV_WC_RECV);
	CHECK(wc.byte_len == MESSAGE);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM);
	CHECK(ntohl(wc.imm_data) == IMM);
	for (size_t i = 0; i < MESSAGE; i++)
		CHECK(message[i] == octet(i));
	compare();
	memcpy(message + MESSAGE, message, MESSAGE);
	OK(rpma_send(conn, message_mr, MESSAGE, MESSAGE, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(IBV_WC_SEND);
	wait_for_event(RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(conn));
	OK(rpma_ep_shutdown(&ep));
}

/* Writes the whole window in pieces of varying sizes, with a flush after each. */
static void write_all(struct rpma_mr_remote *remote)
{
	size_t at = 0, piece = 1;

	for (size_t i = 0; i < ATOMIC_AT; i++)
		window[i] = octet(i);
	while (at < ATOMIC_AT) {
		size_t size = piece < ATOMIC_AT - at ? piece : ATOMIC_AT - at;

		OK(rpma_write(conn, remote, at, window_mr, at, size, RPMA_F_COMPLETION_ON_ERROR,
			      NULL));
		OK(rpma_flush(conn, remote, at, size, RPMA_FLUSH_TYPE_VISIBILITY,
			      RPMA_F_COMPLETION_ALWAYS, NULL));
		next_completion(IBV_WC_RDMA_READ);
		at += size;
		piece = piece * 2 + 1;
	}
	OK(rpma_atomic_write(conn, remote, ATOMIC_AT, atomic_value, RPMA_F_COMPLETION_ALWAYS,
			     NULL));
	next_completion(IBV_WC_RDMA_WRITE);
}

static void connect_to(const char *address, const char *port)
{
	struct rpma_conn_private_data data;
	struct rpma_mr_remote *remote;
	struct rpma_conn_req *request;
	size_t size;

	start(address, RPMA_UTIL_IBV_CONTEXT_REMOTE,
	      RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST);
	OK(rpma_conn_req_new(peer, address, port, NULL, &request));
	OK(rpma_conn_req_connect(&request, NULL, &conn));
	wait_for_event(RPMA_CONN_ESTABLISHED);
	OK(rpma_conn_get_private_data(conn, &data));
	OK(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote));
	OK(rpma_mr_remote_get_size(remote, &size));
	CHECK(size == WINDOW);
	OK(rpma_conn_get_cq(conn, &cq));
	OK(rpma_recv(conn, message_mr, MESSAGE, MESSAGE, NULL));

	write_all(remote);
	memset(window, 0, WINDOW);
	OK(rpma_read(conn, window_mr, 0, remote, 0, WINDOW, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(IBV_WC_RDMA_READ);
	compare();

	for (size_t i = 0; i < MESSAGE; i++)
		message[i] = octet(i);
	OK(rpma_send_with_imm(conn, message_mr, 0, MESSAGE, RPMA_F_COMPLETION_ON_ERROR, IMM, NULL));
	CHECK(next_completion(IBV_WC_RECV).byte_len == MESSAGE);
	CHECK(!memcmp(message, message + MESSAGE, MESSAGE));
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_conn_disconnect(conn));
	wait_for_event(RPMA_CONN_CLOSED);
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	if (!strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	else
		connect_to(argv[2], argv[3]);
	OK(rpma_conn_delete(&conn));
	OK(rpma_mr_dereg(&window_mr));
	OK(rpma_mr_dereg(&message_mr));
	OK(rpma_peer_delete(&peer));
	return 0;
}
