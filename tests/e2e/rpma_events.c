/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * librpma without blocking calls: each side polls all its descriptors. The server rejects the first
 * request. Then several clients of one process connect at once. Each client writes a block, and
 * flushes it to persistence, which the server's configuration allows. Then it sends a message. The
 * server returns the message after comparing the block.
 *
 *   rpma_events serve|connect ADDRESS PORT
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rpma_check.h"

enum { CONNECTIONS = 5, BLOCK = 100000, SIZE = 100, PATIENCE_MS = 20000 };

struct connection {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *remote; /* the client's; NULL at the server */
	size_t number;		       /* in the client's order */
	bool right;		       /* the server has the message, or the client has it back */
};

static struct rpma_peer *peer;
static struct connection connections[CONNECTIONS];
/* A block of each connection, then the buffers to receive and send of each connection. */
static unsigned char memory[CONNECTIONS * (BLOCK + 2 * SIZE)];
static struct rpma_mr_local *mr;
/*
 * The descriptors in the order of the connections: events, completions. The server's endpoint comes
 * last.
 */
static struct pollfd fds[2 * CONNECTIONS + 1];
static size_t opened, closed;

static size_t block(const struct connection *c)
{
	return c->number * BLOCK;
}

static size_t received(const struct connection *c)
{
	return (size_t)CONNECTIONS * BLOCK + 2 * (size_t)(c - connections) * SIZE;
}

static unsigned char octet(size_t at)
{
	return (unsigned char)(at * 31 + (at >> 8) * 7 + 1);
}

static void start(const char *address, enum rpma_util_ibv_context_type type, int usage, int advice)
{
	struct ibv_context *context;

	OK(rpma_utils_get_ibv_context(address, type, &context));
	OK(rpma_peer_new(context, &peer));
	OK(rpma_mr_reg(peer, memory, sizeof(memory),
		       RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | usage, &mr));
	OK(rpma_mr_advise(mr, 0, sizeof(memory), advice, IBV_ADVISE_MR_FLAG_FLUSH));
}

static void watch(size_t i, int fd)
{
	CHECK(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
	fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static void watch_connection(struct connection *c)
{
	size_t i = 2 * (size_t)(c - connections);
	int fd;

	OK(rpma_conn_get_event_fd(c->conn, &fd));
	watch(i, fd);
	OK(rpma_conn_get_cq(c->conn, &c->cq));
	OK(rpma_cq_get_fd(c->cq, &fd));
	watch(i + 1, fd);
}

static void end(struct connection *c)
{
	size_t i = 2 * (size_t)(c - connections);

	CHECK(c->right);
	if (c->remote)
		OK(rpma_mr_remote_delete(&c->remote));
	OK(rpma_conn_delete(&c->conn));
	fds[i].fd = fds[i + 1].fd = -1;
	closed++;
}

/* Handles a message: the server compares the block, the client gets back its own message. */
static void take(struct connection *c)
{
	CHECK(!c->right);
	c->right = true;
	if (c->remote) {
		CHECK(!memcmp(memory + received(c), memory + received(c) + SIZE, SIZE));
		OK(rpma_conn_disconnect(c->conn));
		return;
	}
	c->number = memory[received(c)];
	CHECK(c->number < CONNECTIONS);
	for (size_t i = block(c); i < block(c) + BLOCK; i++)
		CHECK(memory[i] == octet(i));
	OK(rpma_send(c->conn, mr, received(c), SIZE, RPMA_F_COMPLETION_ON_ERROR, NULL));
}

static void tell(struct connection *c)
{
	unsigned char *message = memory + received(c) + SIZE;

	memset(message, 'x', SIZE);
	message[0] = (unsigned char)c->number;
	OK(rpma_send(c->conn, mr, received(c) + SIZE, SIZE, RPMA_F_COMPLETION_ON_ERROR, NULL));
}

static void completions(struct connection *c)
{
	struct ibv_wc wc;
	int rc = rpma_cq_wait(c->cq);

	if (rc == RPMA_E_NO_COMPLETION)
		return;
	OK(rc);
	while (!(rc = rpma_cq_get_wc(c->cq, 1, &wc, NULL))) {
		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_RECV)
			take(c);
		else
			tell(c); /* the flush is complete */
	}
	CHECK(rc == RPMA_E_NO_COMPLETION);
}

/*
 * Writes and flushes the block. The server's private data is the length of its memory's descriptor,
 * this descriptor, and its configuration's descriptor.
 */
static void write_block(struct connection *c)
{
	struct rpma_conn_private_data data;
	struct rpma_peer_cfg *cfg;
	const unsigned char *at;
	bool direct = false;
	int flushes = 0;
	size_t len;

	OK(rpma_conn_get_private_data(c->conn, &data));
	at = data.ptr;
	CHECK(data.len > 1 && at[0] + 1 < data.len);
	len = at[0];
	OK(rpma_mr_remote_from_descriptor(at + 1, len, &c->remote));
	OK(rpma_mr_remote_get_flush_type(c->remote, &flushes));
	CHECK(flushes == RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
	OK(rpma_peer_cfg_from_descriptor(at + 1 + len, data.len - 1 - len, &cfg));
	OK(rpma_peer_cfg_get_direct_write_to_pmem(cfg, &direct));
	CHECK(direct);
	OK(rpma_conn_apply_remote_peer_cfg(c->conn, cfg));
	OK(rpma_peer_cfg_delete(&cfg));
	OK(rpma_write(c->conn, c->remote, block(c), mr, block(c), BLOCK, RPMA_F_COMPLETION_ON_ERROR,
		      NULL));
	OK(rpma_flush(c->conn, c->remote, block(c), BLOCK, RPMA_FLUSH_TYPE_PERSISTENT,
		      RPMA_F_COMPLETION_ALWAYS, NULL));
}

static void event(struct connection *c, bool is_client)
{
	enum rpma_conn_event event;
	int rc = rpma_conn_next_event(c->conn, &event);

	if (rc == RPMA_E_NO_EVENT)
		return;
	OK(rc);
	if (event == RPMA_CONN_ESTABLISHED) {
		if (is_client)
			write_block(c);
		return;
	}
	CHECK(event == RPMA_CONN_CLOSED);
	if (!is_client)
		OK(rpma_conn_disconnect(c->conn));
	end(c);
}

static struct rpma_conn_private_data server_data(void)
{
	static unsigned char descriptors[256];
	struct rpma_conn_private_data data = { .ptr = descriptors };
	struct rpma_peer_cfg *cfg;
	size_t len, cfg_len;

	OK(rpma_mr_get_descriptor_size(mr, &len));
	OK(rpma_peer_cfg_new(&cfg));
	OK(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true));
	OK(rpma_peer_cfg_get_descriptor_size(cfg, &cfg_len));
	CHECK(1 + len + cfg_len < sizeof(descriptors));
	descriptors[0] = (unsigned char)len;
	OK(rpma_mr_get_descriptor(mr, descriptors + 1));
	OK(rpma_peer_cfg_get_descriptor(cfg, descriptors + 1 + len));
	OK(rpma_peer_cfg_delete(&cfg));
	data.len = (uint8_t)(1 + len + cfg_len);
	return data;
}

static void request(struct rpma_ep *ep)
{
	struct rpma_conn_private_data data = server_data();
	struct connection *c = &connections[opened];
	struct rpma_conn_req *request;
	static bool refused;
	int rc = rpma_ep_next_conn_req(ep, NULL, &request);

	if (rc == RPMA_E_NO_EVENT)
		return;
	OK(rc);
	if (!refused) {
		refused = true;
		OK(rpma_conn_req_delete(&request));
		return;
	}
	CHECK(opened < CONNECTIONS);
	OK(rpma_conn_req_recv(request, mr, received(c), SIZE, NULL));
	OK(rpma_conn_req_connect(&request, &data, &c->conn));
	watch_connection(c);
	opened++;
}

/*
 * Handles events until all connections have ended. ep is the server's endpoint, or NULL at the
 * client.
 */
static void run(struct rpma_ep *ep)
{
	while (closed < CONNECTIONS) {
		CHECK(poll(fds, 2 * CONNECTIONS + 1, PATIENCE_MS) > 0);
		if (ep && fds[2 * CONNECTIONS].revents)
			request(ep);
		for (size_t i = 0; i < opened; i++) {
			/* Completions first: the end of a connection deletes their queue. */
			if (fds[2 * i + 1].fd >= 0 && fds[2 * i + 1].revents)
				completions(&connections[i]);
			if (fds[2 * i].fd >= 0 && fds[2 * i].revents)
				event(&connections[i], !ep);
		}
	}
}

static void serve(const char *address, const char *port)
{
	struct rpma_ep *ep;
	int fd;

	start(address, RPMA_UTIL_IBV_CONTEXT_LOCAL,
	      RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
		      RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
	      IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	OK(rpma_ep_listen(peer, address, port, &ep));
	OK(rpma_ep_get_fd(ep, &fd));
	watch(2 * CONNECTIONS, fd);
	run(ep);
	OK(rpma_ep_shutdown(&ep));
}

static void be_refused(const char *address, const char *port)
{
	struct rpma_conn_req *request;
	enum rpma_conn_event event;
	struct rpma_conn *conn;

	OK(rpma_conn_req_new(peer, address, port, NULL, &request));
	OK(rpma_conn_req_connect(&request, NULL, &conn));
	OK(rpma_conn_next_event(conn, &event));
	CHECK(event == RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&conn));
}

static void connect_all(const char *address, const char *port)
{
	struct rpma_conn_req *requests[CONNECTIONS];

	start(address, RPMA_UTIL_IBV_CONTEXT_REMOTE,
	      RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, IBV_ADVISE_MR_ADVICE_PREFETCH);
	for (size_t i = 0; i < (size_t)CONNECTIONS * BLOCK; i++)
		memory[i] = octet(i);
	be_refused(address, port);
	for (size_t i = 0; i < CONNECTIONS; i++) {
		connections[i].number = i;
		OK(rpma_conn_req_new(peer, address, port, NULL, &requests[i]));
		OK(rpma_conn_req_recv(requests[i], mr, received(&connections[i]), SIZE, NULL));
	}
	for (size_t i = 0; i < CONNECTIONS; i++) {
		OK(rpma_conn_req_connect(&requests[i], NULL, &connections[i].conn));
		watch_connection(&connections[i]);
	}
	opened = CONNECTIONS;
	fds[2 * CONNECTIONS].fd = -1;
	run(NULL);
}

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	for (size_t i = 0; i < 2 * CONNECTIONS + 1; i++)
		fds[i].fd = -1;
	if (!strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	else
		connect_all(argv[2], argv[3]);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	printf("%d blocks right\n", CONNECTIONS);
	return 0;
}
