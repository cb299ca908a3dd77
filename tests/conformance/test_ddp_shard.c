/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The end of LLP streams and connections, as the application sees it (RFC 5041 3, 6.2), and the end
 * of unused associations. A listener of the real shard talks to a peer on a UDP socket.
 */
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture/peer_script.h"
#include "net/memory.h"
#include "runtime/rnic.h"
#include "rnic_api.h"

extern const struct sctpiw_rnic_api sctpiw_rnic_api;
static const struct sctpiw_rnic_api *api = &sctpiw_rnic_api;

enum { CONNECT_REQUEST = 4, ESTABLISHED = 9, DISCONNECTED = 10 };
enum { PS_TCP = 0x0106, RC = 2 };

#define WAIT_MS 20000
#define QPS 2

static struct {
	int socket;
	struct rnic_channel *chan;
	int fd;
	uint32_t listener;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_mr *mr;
	struct iw_qp *qp[QPS];
	uint32_t id[QPS];
	uint8_t mem[4096];
} b;

static void to_listener(const uint8_t *packet, size_t len)
{
	assert_int_equal(send(b.socket, packet, len, 0), len);
}

static size_t from_listener(uint8_t *packet, size_t size)
{
	struct pollfd pfd = { .fd = b.socket, .events = POLLIN };

	return poll(&pfd, 1, WAIT_MS) == 1 ? (size_t)recv(b.socket, packet, size, 0) : 0;
}

/* Waits for a chunk of this type. Only HEARTBEATs, one a second, and SACKs may arrive before. */
static struct wire_sctp_chunk awaits(uint8_t type)
{
	struct wire_sctp_chunk c = { 0 };

	for (unsigned int n = 0; n < 30 && peer_next(&c) && c.type != type; n++)
		if (c.type == WIRE_SCTP_HEARTBEAT) {
			peer_begin();
			peer_chunk(WIRE_SCTP_HEARTBEAT_ACK, 0, "%b", wire_sctp_value(&c),
				   wire_sctp_value_len(&c));
			peer_send();
		}
	assert_int_equal(c.type, type);
	return c;
}

static struct rnic_cm_event event(uint32_t type)
{
	struct pollfd pfd = { .fd = b.fd, .events = POLLIN };
	struct rnic_cm_event ev;

	if (poll(&pfd, 1, WAIT_MS) != 1)
		fail_msg("no event %u", type);
	assert_int_equal(api->cm_get_event(b.chan, &ev), 0);
	assert_int_equal(ev.event, type);
	return ev;
}

static void flushed(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct iw_cqe cqe;

		for (unsigned int tries = 0; !iw_cq_poll(b.cq, 1, &cqe); tries++) {
			assert_true(tries < WAIT_MS);
			usleep(1000);
		}
		assert_int_equal(cqe.status, IW_WC_WR_FLUSH_ERR);
	}
}

static int bench_open(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct iw_qp_attr attr = {
		.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1
	};
	struct rnic_addr_info info;
	socklen_t len = sizeof(to);
	struct shard *s;

	memset(&b, 0, sizeof(b));
	assert_int_equal(api->cm_channel_create(&b.chan, &b.fd), 0);
	assert_int_equal(api->cm_create_id(b.chan, 0, PS_TCP, RC, &b.listener), 0);
	assert_int_equal(api->cm_bind(b.listener, (struct sockaddr *)&to), 0);
	assert_int_equal(api->cm_listen(b.listener, 8), 0);
	assert_int_equal(api->cm_query(b.listener, &info), 0);
	to.sin_port = ((struct sockaddr_in *)&info.src)->sin_port;
	s = &rnic_get()->shard;
	assert_non_null(s);
	assert_int_equal(memory_guard(), 0);
	shard_lock(s);
	b.pd = iw_pd_new(iw_shard_rnic(s->conn.iw), NULL);
	b.cq = iw_cq_new(s->conn.iw, 64, NULL);
	assert_int_equal(iw_mr_new(b.pd, (uintptr_t)b.mem, sizeof(b.mem), 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL, &b.mr),
			 0);
	attr.pd = b.pd;
	attr.send_cq = attr.recv_cq = b.cq;
	for (unsigned int i = 0; i < QPS; i++) {
		assert_int_equal(iw_qp_new(s->conn.iw, &attr, &b.qp[i]), 0);
		assert_int_equal(iw_qp_modify(b.qp[i], IW_QPS_INIT), 0);
	}
	shard_unlock(s);

	b.socket = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(connect(b.socket, (struct sockaddr *)&to, sizeof(to)), 0);
	peer_reset();
	peer.transmit = to_listener;
	peer.receive = from_listener;
	peer.dut_port = ntohs(to.sin_port);
	assert_int_equal(getsockname(b.socket, (struct sockaddr *)&to, &len), 0);
	peer.port = ntohs(to.sin_port);
	peer_calls(&usual);
	return 0;
}

static int bench_close(void **state)
{
	struct shard *s = &rnic_get()->shard;

	close(b.fd);
	api->cm_channel_release(b.chan);
	shard_lock(s);
	for (unsigned int i = 0; i < QPS; i++)
		assert_int_equal(iw_qp_free(b.qp[i]), 0);
	assert_int_equal(iw_cq_free(b.cq), 0);
	assert_int_equal(iw_mr_free(b.mr), 0);
	assert_int_equal(iw_pd_free(b.pd), 0);
	shard_unlock(s);
	close(b.socket);
	return 0;
}

/* Opens session i on stream 2 i, and posts one receive. */
static void open_stream(unsigned int i)
{
	struct rnic_conn_param p = { .qp_num = b.qp[i]->num, .rnr_retry_count = 7 };
	struct iw_recv_wqe *w;

	peer_says(2 * i, CONTROL, "0000 0001");
	b.id[i] = event(CONNECT_REQUEST).id;
	assert_int_equal(api->cm_accept(b.id[i], &p, true, i + 1), 0);
	assert_int_equal(event(ESTABLISHED).uid, i + 1);
	peer_hears(2 * i, CONTROL, "0000 0002");
	peer_sack(peer.cum);
	w = fx_rq_slot(b.qp[i]);
	w->wr_id = i;
	w->num_sge = 0;
	w->length = 0;
	iw_rq_publish(b.qp[i]);
	burst_post(&rnic_get()->shard, &b.qp[i]->doorbell, BURST_AT_ONCE, false);
}

static void lives(unsigned int i, uint16_t ssn)
{
	struct iw_cqe cqe;

	peer_says(2 * i, SEGMENT, "%b 41 43 00000000  00000000 00000001 00000000",
		  (uint8_t[2]){ (uint8_t)(ssn >> 8), (uint8_t)ssn }, (size_t)2);
	for (unsigned int tries = 0; !iw_cq_poll(b.cq, 1, &cqe); tries++) {
		assert_true(tries < WAIT_MS);
		usleep(1000);
	}
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
}

/*
 * The peer ends one of two streams. The event names its id. The other stream and the association
 * stay.
 */
static void stream_torn_down(void **state)
{
	ROWS("5041-3-11 5041-6.1-01 5041-6.2-03 5041-6.2.1-01");
	open_stream(0);
	open_stream(1);
	peer_says(0, CONTROL, "0001 0004");
	assert_int_equal(event(DISCONNECTED).uid, 1);
	flushed(1);
	peer_hears(0, CONTROL, "0001 0004");
	lives(1, 1);
}

/* SHUTDOWN of the association: an event for each id. */
static void connection_torn_down(void **state)
{
	uint64_t uids = 0;

	ROWS("5041-3-12 5041-6.2-02 5041-6.2.2-05");
	open_stream(0);
	open_stream(1);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN, 0, "%w", peer.cum);
	peer_send();
	uids += event(DISCONNECTED).uid;
	uids += event(DISCONNECTED).uid;
	assert_int_equal(uids, 1 + 2);
	flushed(2);
	awaits(WIRE_SCTP_SHUTDOWN_ACK);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN_COMPLETE, 0, "");
	peer_send();
}

/* ABORT: an event for each id, too. */
static void connection_lost(void **state)
{
	uint64_t uids = 0;

	ROWS("5041-6.2.2-01 5041-6.2.2-05 5041-7-01");
	open_stream(0);
	open_stream(1);
	peer_begin();
	peer_chunk(WIRE_SCTP_ABORT, 0, "000c 0004");
	peer_send();
	uids += event(DISCONNECTED).uid;
	uids += event(DISCONNECTED).uid;
	assert_int_equal(uids, 1 + 2);
	flushed(2);
}

/* After the last stream, one ended gracefully and one by an error, the association ends. */
static void last_stream_ends(void **state)
{
	ROWS("5041-3-13 5041-6.2-03");
	open_stream(0);
	open_stream(1);
	peer_says(0, CONTROL, "0001 0004");
	peer_hears(0, CONTROL, "0001 0004");
	peer_says(2, SEGMENT, "0001 c1 40 00000007 0000000000000007 'bad'");
	peer_hears(2, SEGMENT, "0001 41 47 00000000  00000002 00000001 00000000  11 00 ..");
	peer_hears(2, CONTROL, "0002 0004");
	peer_says(2, CONTROL, "0002 0004");
	awaits(WIRE_SCTP_SHUTDOWN);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN_ACK, 0, "");
	peer_send();
	awaits(WIRE_SCTP_SHUTDOWN_COMPLETE);
}

/* An association whose peer requests no session ends. */
static void association_without_sessions(void **state)
{
	ROWS("5042-6.4.2-01");
	awaits(WIRE_SCTP_SHUTDOWN);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN_ACK, 0, "");
	peer_send();
	awaits(WIRE_SCTP_SHUTDOWN_COMPLETE);
}

#define ENGINE_TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(stream_torn_down),
		ENGINE_TEST(connection_torn_down),
		ENGINE_TEST(connection_lost),
		ENGINE_TEST(last_stream_ends),
		ENGINE_TEST(association_without_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
