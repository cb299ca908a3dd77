/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UCX's upper layer between two processes: tagged messages, active messages and streams of all
 * sizes to and fro, puts and gets, atomics, every byte checked. Each side prints the octets that it
 * has sent, and the octets that the device's port has sent.
 *
 *  ucp PORT			serves one client, which UCX connects by the address of a socket
 *  ucp PORT ADDRESS		connects to the server, IPv4
 *  ucp --workers PORT [ADDRESS]	The same, by the addresses of the workers. Both sides
 *				exchange them over their own TCP connection, as MPI does.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#define LARGEST ((size_t)3 << 20)
#define WINDOW ((size_t)1 << 20)
#define NUMBERS 64 /* octets after the window, for atomics */
#define ROUNDS 50
#define BIG ((uint64_t)1 << 40)
#define TAG_BACK 1000 /* added to the tag of the message */
#define TAG_WINDOW 5000
#define TAG_DONE 5001
#define TAG_BYE 5002
#define AM_ID 7
#define COUNTER "/sys/class/infiniband/sctpiw0/ports/1/counters/port_xmit_data"

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "FAIL ucp.c:%d: %s\n", __LINE__, #what);                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static ucp_conn_request_h request;
static bool gone;    /* the peer has disconnected */
static int tcp = -1; /* the connection that exchanges the workers' addresses */
static uint64_t payload;

/* The last active message. */
static struct {
	bool here;
	size_t len;
	uint8_t buf[LARGEST + 1]; /* its data, unless the data is still at the peer */
	void *at_peer;
} am;

/* The place of the memory for puts and gets of a client. */
struct window {
	uint64_t address;
	uint64_t rkey_len;
	uint8_t rkey[512];
};

static ucs_status_t active(void *arg, const void *header, size_t header_len, void *data, size_t len,
			   const ucp_am_recv_param_t *param)
{
	(void)arg;
	(void)header;
	CHECK(!am.here && !header_len && len <= sizeof(am.buf));
	am.here = true;
	am.len = len;
	if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
		am.at_peer = data;
		return UCS_INPROGRESS;
	}
	memcpy(am.buf, data, len);
	return UCS_OK;
}

static void start(void)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM |
					    UCP_FEATURE_STREAM | UCP_FEATURE_AMO32 |
					    UCP_FEATURE_AMO64 };
	ucp_worker_params_t worker_params = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					      .thread_mode = UCS_THREAD_MODE_SINGLE };
	ucp_am_handler_param_t handler = { .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
							 UCP_AM_HANDLER_PARAM_FIELD_CB,
					   .id = AM_ID,
					   .cb = active };

	CHECK(ucp_init(&params, NULL, &context) == UCS_OK);
	CHECK(ucp_worker_create(context, &worker_params, &worker) == UCS_OK);
	CHECK(ucp_worker_set_am_recv_handler(worker, &handler) == UCS_OK);
}

static void lost(void *arg, ucp_ep_h which, ucs_status_t status)
{
	(void)arg;
	(void)which;
	(void)status;
	gone = true;
}

static void requested(ucp_conn_request_h conn, void *arg)
{
	(void)arg;
	request = conn;
}

static ucs_sock_addr_t sock_addr(struct sockaddr_in *sin, const char *port, const char *host)
{
	*sin = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(port)) };
	CHECK(inet_pton(AF_INET, host, &sin->sin_addr) == 1);
	return (ucs_sock_addr_t){ (struct sockaddr *)sin, sizeof(*sin) };
}

static void serve(const char *port)
{
	struct sockaddr_in sin;
	ucp_listener_params_t params = { .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
						       UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
					 .sockaddr = sock_addr(&sin, port, "0.0.0.0"),
					 .conn_handler.cb = requested };
	ucp_ep_params_t ep_params = { .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST |
						    UCP_EP_PARAM_FIELD_ERR_HANDLER,
				      .err_handler.cb = lost };
	ucp_listener_h listener;

	CHECK(ucp_listener_create(worker, &params, &listener) == UCS_OK);
	while (!request)
		ucp_worker_progress(worker);
	ep_params.conn_request = request;
	CHECK(ucp_ep_create(worker, &ep_params, &ep) == UCS_OK);
	ucp_listener_destroy(listener);
}

static void connect_to(const char *port, const char *host)
{
	struct sockaddr_in sin;
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_FLAGS |
						 UCP_EP_PARAM_FIELD_SOCK_ADDR,
				   .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
				   .sockaddr = sock_addr(&sin, port, host) };

	CHECK(ucp_ep_create(worker, &params, &ep) == UCS_OK);
}

/* Opens the TCP connection that exchanges the workers' addresses. */
static void open_tcp(const char *port, const char *host)
{
	struct sockaddr_in sin;
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	sock_addr(&sin, port, host ? host : "0.0.0.0");
	CHECK(s >= 0 && !setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	if (host) {
		CHECK(!connect(s, (struct sockaddr *)&sin, sizeof(sin)));
		tcp = s;
		return;
	}
	CHECK(!bind(s, (struct sockaddr *)&sin, sizeof(sin)) && !listen(s, 1));
	tcp = accept(s, NULL, NULL);
	CHECK(tcp >= 0);
	close(s);
}

static void exchange_addresses(void)
{
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *own, *peer;
	size_t own_len, peer_len;

	CHECK(ucp_worker_get_address(worker, &own, &own_len) == UCS_OK);
	CHECK(write(tcp, &own_len, sizeof(own_len)) == sizeof(own_len));
	CHECK(write(tcp, own, own_len) == (ssize_t)own_len);
	CHECK(recv(tcp, &peer_len, sizeof(peer_len), MSG_WAITALL) == sizeof(peer_len));
	peer = malloc(peer_len);
	CHECK(peer && recv(tcp, peer, peer_len, MSG_WAITALL) == (ssize_t)peer_len);
	params.address = peer;
	CHECK(ucp_ep_create(worker, &params, &ep) == UCS_OK);
	ucp_worker_release_address(worker, own);
	free(peer);
}

/* Returns once both sides have called it. Until then, the peer may need this worker's progress. */
static void meet(void)
{
	char here = 1;

	CHECK(write(tcp, &here, 1) == 1);
	while (recv(tcp, &here, 1, MSG_DONTWAIT) != 1)
		ucp_worker_progress(worker);
}

static void finish(ucs_status_ptr_t op)
{
	ucs_status_t status;

	if (!op)
		return;
	CHECK(!UCS_PTR_IS_ERR(op));
	while ((status = ucp_request_check_status(op)) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	ucp_request_free(op);
	CHECK(status == UCS_OK);
}

static void send_tagged(const void *buf, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = { 0 };

	finish(ucp_tag_send_nbx(ep, buf, len, tag, &param));
	payload += len;
}

static void receive(void *buf, size_t len, ucp_tag_t tag)
{
	ucp_tag_recv_info_t info = { 0 };
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO |
						      UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
				      .recv_info.tag_info = &info };

	finish(ucp_tag_recv_nbx(worker, buf, len, tag, (ucp_tag_t)-1, &param));
}

static void send_active(const void *buf, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = { 0 };

	(void)tag;
	finish(ucp_am_send_nbx(ep, AM_ID, NULL, 0, buf, len, &param));
	payload += len;
}

static void receive_active(void *buf, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = { 0 };

	(void)tag;
	while (!am.here)
		ucp_worker_progress(worker);
	CHECK(am.len == len);
	if (am.at_peer)
		finish(ucp_am_recv_data_nbx(worker, am.at_peer, buf, len, &param));
	else
		memcpy(buf, am.buf, len);
	am.at_peer = NULL;
	am.here = false;
}

static void send_stream(const void *buf, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = { 0 };

	(void)tag;
	if (len) /* a stream has no empty messages: UCX's receiver asserts this */
		finish(ucp_stream_send_nbx(ep, buf, len, &param));
	payload += len;
}

static void receive_stream(void *buf, size_t len, ucp_tag_t tag)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS |
						      UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
				      .flags = UCP_STREAM_RECV_FLAG_WAITALL };
	size_t got;

	(void)tag;
	if (len)
		finish(ucp_stream_recv_nbx(ep, buf, len, &got, &param));
}

static uint8_t octet(size_t i, unsigned int number)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16) + number * 13);
}

static void fill(uint8_t *buf, size_t len, unsigned int number)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = octet(i, number);
}

static void check(const uint8_t *buf, size_t len, unsigned int number)
{
	for (size_t i = 0; i < len; i++)
		CHECK(buf[i] == octet(i, number));
}

struct way {
	void (*send)(const void *buf, size_t len, ucp_tag_t tag);
	void (*receive)(void *buf, size_t len, ucp_tag_t tag);
};

/*
 * Sends messages, which come back with another content. Sizes are around every power of two, for
 * every protocol.
 */
static void messages(const struct way *way, uint8_t *buf, bool client)
{
	unsigned int number = 0;

	for (size_t size = 1; size <= LARGEST; size *= 2) {
		for (size_t len = size - 1; len <= size + 1; len++, number++) {
			if (client) {
				fill(buf, len, number);
				way->send(buf, len, number);
			}
			memset(buf, 0xa5, len + 1);
			way->receive(buf, len, client ? number + TAG_BACK : number);
			check(buf, len, client ? number + 1 : number);
			CHECK(buf[len] == 0xa5);
			if (!client) {
				fill(buf, len, number + 1);
				way->send(buf, len, number + TAG_BACK);
			}
		}
	}
}

static void flush(void)
{
	ucp_request_param_t param = { 0 };

	finish(ucp_ep_flush_nbx(ep, &param));
}

/* Fills the window in pieces, and reads all of it back. */
static void put_and_get(uint8_t *buf, const struct window *window, ucp_rkey_h rkey)
{
	static const size_t pieces[] = { 1, 7, 64, 1000, 9000, 100001 };
	ucp_request_param_t param = { 0 };
	size_t offset = 0;

	fill(buf, WINDOW, 77);
	for (int i = 0; offset < WINDOW; i = (i + 1) % 6) {
		size_t len = pieces[i] < WINDOW - offset ? pieces[i] : WINDOW - offset;

		finish(ucp_put_nbx(ep, buf + offset, len, window->address + offset, rkey, &param));
		offset += len;
	}
	flush();
	payload += WINDOW;
	memset(buf, 0, WINDOW);
	finish(ucp_get_nbx(ep, buf, WINDOW, window->address, rkey, &param));
	flush();
	check(buf, WINDOW, 77);
}

/* An atomic on a number of 4 or 8 octets after the window. Returns the old value. */
static uint64_t atomic(ucp_atomic_op_t op, uint64_t operand, uint64_t reply, uint64_t address,
		       ucp_rkey_h rkey, size_t size)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
						      UCP_OP_ATTR_FIELD_REPLY_BUFFER,
				      .datatype = ucp_dt_make_contig(size),
				      .reply_buffer = &reply };

	finish(ucp_atomic_op_nbx(ep, op, &operand, 1, address, rkey, &param));
	return reply;
}

/* The numbers after the window are 0 at first. be_used() checks their final values. */
static void atomics(uint64_t at, ucp_rkey_h rkey)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
				      .datatype = ucp_dt_make_contig(8) };
	uint64_t three = 3;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		finish(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &three, 1, at, rkey, &param));
		CHECK(atomic(UCP_ATOMIC_OP_ADD, BIG, 0, at + 8, rkey, 8) == i * BIG);
		CHECK((uint32_t)atomic(UCP_ATOMIC_OP_ADD, 5, 0, at + 16, rkey, 4) == i * 5);
		CHECK(atomic(UCP_ATOMIC_OP_SWAP, i + BIG, 0, at + 24, rkey, 8) ==
		      (i ? i - 1 + BIG : 0));
		CHECK(atomic(UCP_ATOMIC_OP_CSWAP, i, i + 1, at + 32, rkey, 8) == i);
		CHECK(atomic(UCP_ATOMIC_OP_CSWAP, i, 99, at + 32, rkey, 8) == i + 1);
		CHECK((uint32_t)atomic(UCP_ATOMIC_OP_SWAP, i + 1, 0, at + 40, rkey, 4) == i);
	}
	flush();
}

static void use_window(uint8_t *buf)
{
	struct window window;
	ucp_rkey_h rkey;

	receive(&window, sizeof(window), TAG_WINDOW);
	CHECK(ucp_ep_rkey_unpack(ep, window.rkey, &rkey) == UCS_OK);
	put_and_get(buf, &window, rkey);
	atomics(window.address + WINDOW, rkey);
	ucp_rkey_destroy(rkey);
	send_tagged("", 1, TAG_DONE);
}

static void check_numbers(const uint8_t *buf)
{
	const uint64_t expected[NUMBERS / 8] = { 3 * ROUNDS,	   ROUNDS * BIG, 5 * ROUNDS,
						 ROUNDS - 1 + BIG, ROUNDS,	 ROUNDS };
	CHECK(!memcmp(buf, expected, NUMBERS));
}

/* The server checks its memory after the client's message that all data has arrived. */
static void be_used(void)
{
	ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
						      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
					.length = WINDOW + NUMBERS };
	struct window window = { 0 };
	ucp_mem_h mem;
	void *rkey;
	uint8_t *buf = calloc(1, WINDOW + NUMBERS);
	uint8_t done;
	size_t len;

	CHECK(buf);
	params.address = buf;
	CHECK(ucp_mem_map(context, &params, &mem) == UCS_OK);
	CHECK(ucp_rkey_pack(context, mem, &rkey, &len) == UCS_OK);
	CHECK(len <= sizeof(window.rkey));
	window.address = (uintptr_t)buf;
	window.rkey_len = len;
	memcpy(window.rkey, rkey, len);
	ucp_rkey_buffer_release(rkey);
	send_tagged(&window, sizeof(window), TAG_WINDOW);
	receive(&done, 1, TAG_DONE);
	check(buf, WINDOW, 77);
	check_numbers(buf + WINDOW);
	CHECK(ucp_mem_unmap(context, mem) == UCS_OK);
	free(buf);
}

/*
 * The octets that the device's port has sent for this process. The port's counter has words of four
 * octets.
 */
static unsigned long long port_octets(void)
{
	unsigned long long words = 0;
	FILE *fp = fopen(COUNTER, "r");

	CHECK(fp && fscanf(fp, "%llu", &words) == 1);
	fclose(fp);
	return words * 4;
}

static void hang_up(void)
{
	ucp_request_param_t param = { 0 };
	ucs_status_ptr_t op = ucp_ep_close_nbx(ep, &param);

	if (!UCS_PTR_IS_PTR(op))
		return;
	while (ucp_request_check_status(op) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	ucp_request_free(op);
}

/*
 * When a peer that was connected by a socket's address disconnects, its last data may be lost with
 * the QP. So it disconnects only after all its data has arrived.
 */
static void part(bool client)
{
	char bye;

	if (tcp >= 0) {
		meet();
		hang_up();
		meet();
		return;
	}
	if (client)
		receive(&bye, 1, TAG_BYE);
	else
		send_tagged("", 1, TAG_BYE);
	while (!client && !gone)
		ucp_worker_progress(worker);
	hang_up();
}

int main(int argc, char **argv)
{
	static const struct way ways[] = {
		{ send_tagged, receive },
		{ send_active, receive_active },
		{ send_stream, receive_stream },
	};
	uint8_t *buf = malloc(LARGEST * 2);
	bool by_workers = argc > 1 && !strcmp(argv[1], "--workers");
	bool client = argc == 3 + by_workers;
	char **args = argv + 1 + by_workers;

	CHECK(buf && (argc == 2 + by_workers || client));
	start();
	if (by_workers) {
		open_tcp(args[0], client ? args[1] : NULL);
		exchange_addresses();
	} else if (client) {
		connect_to(args[0], args[1]);
	} else {
		serve(args[0]);
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		messages(&ways[i], buf, client);
	if (client)
		use_window(buf);
	else
		be_used();
	flush();
	printf("sent %lu octets, the port %llu\n", payload, port_octets());
	part(client);
	ucp_worker_destroy(worker);
	ucp_cleanup(context);
	free(buf);
	return 0;
}
