/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UCX's upper layer between two processes that connect by an address: tagged messages of all sizes
 * to and fro, puts and gets, every byte checked. Each side prints what it has sent beside what the
 * port of the device has sent.
 *
 *  ucp PORT		serves one client
 *  ucp PORT ADDRESS	connects to it, IPv4
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#define LARGEST ((size_t)3 << 20)
#define WINDOW ((size_t)1 << 20)
#define TAG_BACK 1000 /* is added to the tag of the message */
#define TAG_WINDOW 5000
#define TAG_DONE 5001
#define TAG_BYE 5002
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
static bool gone; /* the peer has disconnected */
static uint64_t payload;

/* Where the memory is that a client puts to, and gets from. */
struct window {
	uint64_t address;
	uint64_t rkey_len;
	uint8_t rkey[512];
};

static void start(void)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA };
	ucp_worker_params_t worker_params = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					      .thread_mode = UCS_THREAD_MODE_SINGLE };

	CHECK(ucp_init(&params, NULL, &context) == UCS_OK);
	CHECK(ucp_worker_create(context, &worker_params, &worker) == UCS_OK);
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

/*
 * Messages go there, and come back with another content: sizes around every power of two, for every
 * protocol.
 */
static void messages(uint8_t *buf, bool client)
{
	unsigned int number = 0;

	for (size_t size = 1; size <= LARGEST; size *= 2) {
		for (size_t len = size - 1; len <= size + 1; len++, number++) {
			if (client) {
				fill(buf, len, number);
				send_tagged(buf, len, number);
			}
			memset(buf, 0xa5, len + 1);
			receive(buf, len, client ? number + TAG_BACK : number);
			check(buf, len, client ? number + 1 : number);
			CHECK(buf[len] == 0xa5);
			if (!client) {
				fill(buf, len, number + 1);
				send_tagged(buf, len, number + TAG_BACK);
			}
		}
	}
}

static void flush(void)
{
	ucp_request_param_t param = { 0 };

	finish(ucp_ep_flush_nbx(ep, &param));
}

/* The client fills the window piece by piece, and reads all of it back. */
static void put_and_get(uint8_t *buf)
{
	static const size_t pieces[] = { 1, 7, 64, 1000, 9000, 100001 };
	ucp_request_param_t param = { 0 };
	struct window window;
	size_t offset = 0;
	ucp_rkey_h rkey;

	receive(&window, sizeof(window), TAG_WINDOW);
	CHECK(ucp_ep_rkey_unpack(ep, window.rkey, &rkey) == UCS_OK);
	fill(buf, WINDOW, 77);
	for (int i = 0; offset < WINDOW; i = (i + 1) % 6) {
		size_t len = pieces[i] < WINDOW - offset ? pieces[i] : WINDOW - offset;

		finish(ucp_put_nbx(ep, buf + offset, len, window.address + offset, rkey, &param));
		offset += len;
	}
	flush();
	payload += WINDOW;
	memset(buf, 0, WINDOW);
	finish(ucp_get_nbx(ep, buf, WINDOW, window.address, rkey, &param));
	flush();
	check(buf, WINDOW, 77);
	ucp_rkey_destroy(rkey);
	send_tagged("", 1, TAG_DONE);
}

/* The server checks its memory once it is told that all data is there. */
static void be_put_to(void)
{
	ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
						      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
					.length = WINDOW };
	struct window window = { 0 };
	ucp_mem_h mem;
	void *rkey;
	uint8_t *buf = calloc(1, WINDOW);
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
	CHECK(ucp_mem_unmap(context, mem) == UCS_OK);
	free(buf);
}

/* What the device's port has sent for this process; its counter is in words of four octets. */
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

int main(int argc, char **argv)
{
	uint8_t *buf = malloc(LARGEST * 2);
	bool client = argc == 3;

	CHECK(buf && (argc == 2 || client));
	start();
	if (client)
		connect_to(argv[1], argv[2]);
	else
		serve(argv[1]);
	messages(buf, client);
	if (client)
		put_and_get(buf);
	else
		be_put_to();
	flush();
	printf("sent %lu octets, the port %llu\n", payload, port_octets());
	/*
	 * When a peer disconnects, what it sent last may be lost with the QP; by then it has
	 * nothing left to send.
	 */
	if (client)
		receive(buf, 1, TAG_BYE);
	else
		send_tagged("", 1, TAG_BYE);
	while (!client && !gone)
		ucp_worker_progress(worker);
	hang_up();
	ucp_worker_destroy(worker);
	ucp_cleanup(context);
	free(buf);
	return 0;
}
