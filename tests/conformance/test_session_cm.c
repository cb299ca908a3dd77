/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The connection manager, through the table of rnic_api.h, against a peer that speaks SCTP by hand
 * on a UDP socket of 127.0.0.1: what the application asks for, and what becomes of it on the wire
 * (RFC 5043 5.2.3, 6, 11).
 */
#include "fixture/peer_script.h"

#include <netinet/in.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "runtime/rnic.h"
#include "rnic_api.h"

extern const struct sctpiw_rnic_api sctpiw_rnic_api;
static const struct sctpiw_rnic_api *const api = &sctpiw_rnic_api;

enum { ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4, CONNECT_ERROR = 6, UNREACHABLE = 7,
       REJECTED = 8, ESTABLISHED = 9, DISCONNECTED = 10 };
enum { PS_TCP = 0x0106, RC = 2 };

#define PATIENCE 10000 /* ms that an answer may take */
#define SILENCE 60     /* ms after which we believe that nothing comes */

/* ---- the peer's socket ---- */

static int sock;
static struct sockaddr_in dut;
static int64_t deadline; /* ms */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void within(int ms)
{
	deadline = now_ms() + ms;
}

static void transmit(const uint8_t *packet, size_t len)
{
	assert_int_equal(sendto(sock, packet, len, 0, (struct sockaddr *)&dut, sizeof(dut)), len);
}

static size_t receive(uint8_t *packet, size_t size)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int64_t left = deadline - now_ms();
	ssize_t n;

	if (left < 0 || poll(&pfd, 1, (int)left) != 1)
		return 0;
	n = recvfrom(sock, packet, size, 0, (struct sockaddr *)&from, &len);
	assert_true(n > 0);
	if (!dut.sin_port) {
		dut = from;
		peer.dut_port = ntohs(from.sin_port);
	}
	assert_int_equal(from.sin_port, dut.sin_port);
	return (size_t)n;
}

/* port 0: whoever calls */
static void peer_open(uint16_t dut_port)
{
	struct sockaddr_in self = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(self);

	sock = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(sock >= 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&self, sizeof(self)), 0);
	assert_int_equal(getsockname(sock, (struct sockaddr *)&self, &len), 0);
	dut = self;
	dut.sin_port = htons(dut_port);
	peer_reset();
	peer.transmit = transmit;
	peer.receive = receive;
	peer.port = ntohs(self.sin_port);
	peer.dut_port = dut_port;
	within(PATIENCE);
}

static void peer_close(void)
{
	peer_begin();
	peer_chunk(WIRE_SCTP_ABORT, 0, "");
	peer_send();
	close(sock);
}

#define hears_soon(...) (within(PATIENCE), peer_hears(__VA_ARGS__))

static void silence(void)
{
	within(SILENCE);
	peer_hears_nothing();
	within(PATIENCE);
}

/* ---- the application ---- */

static struct app {
	struct rnic_channel *chan;
	int fd;
	uint32_t listener;
	uint16_t port;
} app;

struct end {
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
};

static void qp_open(struct end *end)
{
	struct shard *s = &rnic_get()->shard;
	struct iw_qp_attr attr = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1,
				   .max_recv_sge = 1 };

	assert_non_null(s);
	shard_lock(s);
	attr.pd = end->pd = iw_pd_new(s->conn.rnic, NULL);
	attr.send_cq = attr.recv_cq = end->cq = iw_cq_new(s->conn.rnic, 16, NULL);
	assert_int_equal(iw_qp_new(s->conn.rnic, &attr, &end->qp), 0);
	assert_int_equal(iw_qp_modify(end->qp, IW_QPS_INIT), 0);
	shard_unlock(s);
}

static void qp_close(struct end *end)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	if (end->qp)
		assert_int_equal(iw_qp_free(end->qp), 0);
	assert_int_equal(iw_cq_free(end->cq), 0);
	assert_int_equal(iw_pd_free(end->pd), 0);
	shard_unlock(s);
	*end = (struct end){ 0 };
}

static void qp_destroy(struct end *end)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	assert_int_equal(iw_qp_free(end->qp), 0);
	end->qp = NULL;
	shard_unlock(s);
}

static void listen_with(int backlog)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rnic_addr_info info;

	assert_int_equal(api->cm_channel_create(&app.chan, &app.fd), 0);
	assert_int_equal(api->cm_create_id(app.chan, 1, PS_TCP, RC, &app.listener), 0);
	assert_int_equal(api->cm_bind(app.listener, (struct sockaddr *)&any), 0);
	assert_int_equal(api->cm_listen(app.listener, backlog), 0);
	assert_int_equal(api->cm_query(app.listener, &info), 0);
	app.port = ntohs(((struct sockaddr_in *)&info.src)->sin_port);
}

/* With all its ids. */
static void app_close(void)
{
	close(app.fd);
	api->cm_channel_release(app.chan);
}

static void destroy_id(uint32_t id)
{
	uint32_t n;

	assert_int_equal(api->cm_destroy_id(id, &n), 0);
}

static struct rnic_cm_event event(uint32_t type, int status)
{
	struct pollfd pfd = { .fd = app.fd, .events = POLLIN };
	struct rnic_cm_event ev;

	assert_int_equal(poll(&pfd, 1, PATIENCE), 1);
	assert_int_equal(api->cm_get_event(app.chan, &ev), 0);
	assert_int_equal(ev.event, type);
	assert_int_equal(ev.status, status);
	return ev;
}

static void no_event(void)
{
	struct rnic_cm_event ev;

	assert_int_equal(api->cm_get_event(app.chan, &ev), -EAGAIN);
}

static struct rnic_conn_param conn_param(const struct end *end, const void *data, uint8_t len)
{
	struct rnic_conn_param p = { .qp_num = end && end->qp ? end->qp->num : 0,
				     .responder_resources = 3, .initiator_depth = 2,
				     .rnr_retry_count = 7, .private_data_len = len };

	if (len)
		memcpy(p.private_data, data, len);
	return p;
}

static void accept_with(uint32_t id, const struct end *end, const char *data)
{
	struct rnic_conn_param p = conn_param(end, data, (uint8_t)strlen(data));

	assert_int_equal(api->cm_accept(id, &p, false, 0), 0);
	event(ESTABLISHED, 0);
}

/* A listener, and an association that the peer opened. */
static void listening(int backlog)
{
	static const struct peer_offer many = { "1000 1000", "C006 0008 00000001" };

	listen_with(backlog);
	peer_open(app.port);
	peer_calls(&many);
}

static void done(void)
{
	peer_close();
	app_close();
}

/* ---- we listen ---- */

static void requests_and_their_data(void **state)
{
	ROWS("5043-5.2.3-01 5043-5.2.3-07 5043-5.2.3-09 5043-5.2.3-13 5043-5.2.3-14 "
	     "5043-6.4-01 5043-6.4-02 5043-6.3-01 5043-6-05 5043-7.2-02 5043-8-04 5043-11.1-02 "
	     "6581-9.1-05 6581-7-14 6581-9-05 6581-10-01 6581-10-02");
	static const uint8_t lengths[] = { 0, 1, 7, 251, 255 };
	struct rnic_cm_event ev;
	struct end early, late;
	uint8_t data[255];
	uint16_t sid = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 3 + 1);
	qp_open(&early);
	listening(0);
	for (size_t i = 0; i < sizeof(lengths); i++) {
		for (int enhanced = 0; enhanced < 2; enhanced++) {
			size_t n = lengths[i];
			struct rnic_conn_param p;

			if (enhanced)
				peer_says(sid, CONTROL, "0000 0005 0007 0009 %b", data, n);
			else
				peer_says(sid, CONTROL, "0000 0001 %b", data, n);
			ev = event(CONNECT_REQUEST, 0);
			assert_int_equal(ev.param.private_data_len, n);
			assert_memory_equal(ev.param.private_data, data, n);
			if (enhanced) {
				assert_int_equal(ev.param.initiator_depth, 7);
				assert_int_equal(ev.param.responder_resources, 9);
			}
			/* The QP was made before or after the request: no difference. */
			if (i)
				qp_open(&late);
			p = conn_param(i ? &late : &early, data, lengths[i]);
			assert_int_equal(api->cm_accept(ev.id, &p, false, 0), 0);
			event(ESTABLISHED, 0);
			if (enhanced)
				hears_soon(sid, CONTROL, "0000 0006 0009 0002 %b", data, n);
			else
				hears_soon(sid, CONTROL, "0000 0002 %b", data, n);
			peer_says(sid, CONTROL, "0001 0004");
			hears_soon(sid, CONTROL, "0001 0004");
			event(DISCONNECTED, 0);
			destroy_id(ev.id);
			if (i) {
				qp_close(&late);
			} else {
				qp_close(&early);
				qp_open(&early);
			}
			sid++;
		}
	}
	no_event();
	done();
	qp_close(&early);
}

/* As long as nobody decides nothing is said. */
static void undecided(void **state)
{
	ROWS("5043-6.4-01 5043-6.3-05");
	struct rnic_cm_event ev;

	listening(0);
	peer_says(1, CONTROL, "0000 0001");
	peer_says(2, CONTROL, "0000 0005 0001 0001");
	silence();
	ev = event(CONNECT_REQUEST, 0);
	event(CONNECT_REQUEST, 0);
	silence();
	assert_int_equal(api->cm_reject(ev.id, NULL, 0), 0);
	hears_soon(1, CONTROL, "0000 0003");
	silence();
	done();
}

static void a_full_backlog(void **state)
{
	ROWS("5043-5.2.3-15 5043-5.2.3-16 5043-6.3-05 5043-6.4-03 5043-6.4-04 5043-6.1-03 "
	     "6581-7-20");

	listening(2);
	peer_says(0, CONTROL, "0000 0001");
	peer_says(1, CONTROL, "0000 0005 0001 0001");
	peer_says(2, CONTROL, "0000 0001 'data'");
	hears_soon(2, CONTROL, "0000 0004");
	peer_says(3, CONTROL, "0000 0005 0001 0001");
	hears_soon(3, CONTROL, "0000 0004");
	silence();
	event(CONNECT_REQUEST, 0);
	event(CONNECT_REQUEST, 0);
	no_event();
	done();
}

/* Without a backlog of the application's own there is a limit all the same. */
static void thousands_of_requests(void **state)
{
	ROWS("5043-6.4-03 5043-6.4-04 5043-5.2.3-16");
	struct wire_sctp_data d;
	uint16_t refused = 0;

	listening(0);
	for (uint16_t sid = 0; sid < 3000; sid++) {
		peer_says(sid, CONTROL, "0000 0001");
		if (sid < 1024)
			continue;
		within(PATIENCE);
		assert_true(peer_takes(&d));
		assert_int_equal(d.sid, sid);
		assert_int_equal(d.ppid, CONTROL);
		assert_int_equal(d.len, 4);
		assert_memory_equal(d.data, "\0\0\0\4", 4);
		refused++;
	}
	assert_int_equal(refused, 3000 - 1024);
	for (unsigned int i = 0; i < 1024; i++)
		event(CONNECT_REQUEST, 0);
	no_event();
	done();
}

static void only_the_application_rejects(void **state)
{
	ROWS("5043-6.3-05 5043-6.3-03 5043-5.2.3-04 5043-5.2.3-08 6581-7-04 6581-7-06");
	struct rnic_conn_param p = conn_param(NULL, NULL, 0);
	struct rnic_cm_event ev;
	struct end other;

	listening(0);
	/* One that lives on: the association is there for it, when nobody listens any more. */
	qp_open(&other);
	peer_says(0, CONTROL, "0000 0001");
	accept_with(event(CONNECT_REQUEST, 0).id, &other, "");
	hears_soon(0, CONTROL, "0000 0002");
	peer_says(1, CONTROL, "0000 0001");
	ev = event(CONNECT_REQUEST, 0);
	assert_int_equal(api->cm_reject(ev.id, "go away", 7), 0);
	hears_soon(1, CONTROL, "0000 0003 'go away'");
	peer_says(2, CONTROL, "0000 0005 0000 0001");
	ev = event(CONNECT_REQUEST, 0);
	assert_int_equal(api->cm_reject(ev.id, "go away", 7), 0);
	hears_soon(2, CONTROL, "0000 0007 0001 0000 'go away'");
	/* by letting go of what it has read */
	peer_says(3, CONTROL, "0000 0001");
	ev = event(CONNECT_REQUEST, 0);
	destroy_id(ev.id);
	hears_soon(3, CONTROL, "0000 0003");
	/* What it wanted to accept, and could not. */
	peer_says(4, CONTROL, "0000 0001");
	ev = event(CONNECT_REQUEST, 0);
	assert_int_equal(api->cm_accept(ev.id, &p, false, 0), -EINVAL);
	hears_soon(4, CONTROL, "0000 0004");
	/* What it has never seen. */
	peer_says(5, CONTROL, "0000 0001");
	peer_says(6, CONTROL, "0000 0005 0001 0001");
	silence();
	destroy_id(app.listener);
	hears_soon(5, CONTROL, "0000 0004");
	hears_soon(6, CONTROL, "0000 0004");
	no_event();
	/* And what comes when nobody listens. */
	peer_says(7, CONTROL, "0000 0001");
	hears_soon(7, CONTROL, "0000 0004");
	assert_int_equal(atomic_load(&other.qp->state), IW_QPS_RTS);
	done();
	qp_close(&other);
}

/* An illegal message on one of two sessions. */
static void errors_end_the_session(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-06 5043-6.1-10 5043-11.3-05 5043-6.2-06");
	static const struct {
		uint32_t ppid;
		const char *message;
	} cases[] = { { CONTROL, "0001 0099" }, { CONTROL, "0001 0001 'again'" }, { 0, "0001 0000" } };
	struct rnic_cm_event ev;
	struct end other, end;
	uint16_t sid = 1;

	listening(0);
	qp_open(&other);
	peer_says(0, CONTROL, "0000 0001");
	accept_with(event(CONNECT_REQUEST, 0).id, &other, "");
	hears_soon(0, CONTROL, "0000 0002");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++, sid++) {
		qp_open(&end);
		peer_says(sid, CONTROL, "0000 0001");
		ev = event(CONNECT_REQUEST, 0);
		accept_with(ev.id, &end, "");
		hears_soon(sid, CONTROL, "0000 0002");
		peer_says(sid, cases[i].ppid, cases[i].message);
		hears_soon(sid, CONTROL, "0001 0004");
		assert_int_equal(event(DISCONNECTED, -EPROTO).id, ev.id);
		assert_int_equal(atomic_load(&end.qp->state), IW_QPS_ERR);
		no_event();
		qp_close(&end);
	}
	assert_int_equal(atomic_load(&other.qp->state), IW_QPS_RTS);
	peer_says(0, CONTROL, "0001 0004");
	hears_soon(0, CONTROL, "0001 0004");
	event(DISCONNECTED, 0);
	assert_int_equal(peer.heard[WIRE_SCTP_ABORT], 0);
	done();
	qp_close(&other);
}

/* By whatever call: a Terminate. */
static void ends_of_every_kind(void **state)
{
	ROWS("5043-6.2-06 5043-5.2.3-05 5043-5.2.3-12 5043-6.1-03 6581-7-12 6581-7-16");
	struct rnic_cm_event ev;
	struct end end;

	listening(0);
	for (uint16_t how = 0; how < 6; how++) {
		bool enhanced = how & 1;

		qp_open(&end);
		peer_says(how, CONTROL, enhanced ? "0000 0005 0001 0001" : "0000 0001");
		ev = event(CONNECT_REQUEST, 0);
		accept_with(ev.id, &end, "");
		hears_soon(how, CONTROL, enhanced ? "0000 0006 0003 0001" : "0000 0002");
		peer_says(how, SEGMENT, "0001 C1 40 00000000 0000000000000000");
		switch (how / 2) {
		case 0:
			assert_int_equal(api->cm_disconnect(ev.id), 0);
			event(DISCONNECTED, 0);
			break;
		case 1:
			destroy_id(ev.id);
			break;
		default:
			qp_destroy(&end);
			event(DISCONNECTED, -ECONNABORTED);
		}
		hears_soon(how, CONTROL, "0001 0004");
		peer_says(how, CONTROL, "0002 0004");
		qp_close(&end);
	}
	silence();
	done();
}

static void the_association_ends(void **state)
{
	ROWS("5043-11.3-02 5043-11.3-03 5043-11.3-01");
	struct end end[3];

	for (unsigned int how = 0; how < 2; how++) {
		listening(0);
		for (uint16_t i = 0; i < 3; i++) {
			qp_open(&end[i]);
			peer_says(i, CONTROL, "0000 0001");
			accept_with(event(CONNECT_REQUEST, 0).id, &end[i], "");
			hears_soon(i, CONTROL, "0000 0002");
		}
		silence();
		if (how) { /* DATA without data: our SCTP ends it */
			peer_begin();
			peer_data(peer.tsn++, WHOLE, 1, SEGMENT, "");
			peer_send();
		} else {
			peer_begin();
			peer_chunk(WIRE_SCTP_ABORT, 0, "");
			peer_send();
		}
		for (unsigned int i = 0; i < 3; i++)
			event(DISCONNECTED, how ? -EPROTO : -ECONNRESET);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(atomic_load(&end[i].qp->state), IW_QPS_ERR);
			qp_close(&end[i]);
		}
		no_event();
		silence(); /* no RDMAP Terminate on any stream */
		assert_int_equal(peer.heard[WIRE_SCTP_ABORT], how);
		done();
	}
}

/* ---- we call ---- */

static uint32_t call_peer(struct end *end, const char *data)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rnic_conn_param p;
	uint32_t id;

	peer_open(0);
	to.sin_port = htons(peer.port);
	assert_int_equal(api->cm_channel_create(&app.chan, &app.fd), 0);
	assert_int_equal(api->cm_create_id(app.chan, 1, PS_TCP, RC, &id), 0);
	assert_int_equal(api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	event(ADDR_RESOLVED, 0);
	assert_int_equal(api->cm_resolve_route(id, 1000), 0);
	event(ROUTE_RESOLVED, 0);
	qp_open(end);
	p = conn_param(end, data, (uint8_t)strlen(data));
	assert_int_equal(api->cm_connect(id, &p), 0);
	return id;
}

static void answers_to_our_initiate(void **state)
{
	ROWS("5043-5.2.3-06 5043-5.2.3-13 5043-6.2-01 5043-7.2-02 5043-8-02 5043-8-04 "
	     "5043-11.1-01 5043-11.1-05 5043-6.3-04 5043-6.5-02 6581-7-02 6581-7-08 6581-7-13 "
	     "6581-9.1-01 6581-9.1-02 6581-9.1-06 6581-9.1-16 6581-9.2-18 6581-9.2-20 "
	     "6581-10-06");
	struct rnic_cm_event ev;
	struct end end;
	uint32_t id;

	for (unsigned int answer = 0; answer < 4; answer++) {
		id = call_peer(&end, "20 bytes of private!");
		assert_int_equal(peer_is_called(&usual).os, 65535);
		hears_soon(0, CONTROL, "0000 0005 0003 0002 '20 bytes of private!'");
		assert_int_equal(peer.cum, peer.first); /* it is the first DATA chunk of all */
		silence();
		switch (answer) {
		case 0:
			peer_says(0, CONTROL, "0000 0006 0002 0003 'welcome'");
			ev = event(ESTABLISHED, 0);
			assert_int_equal(ev.param.initiator_depth, 2);
			assert_int_equal(ev.param.responder_resources, 3);
			assert_int_equal(ev.param.private_data_len, 7);
			assert_memory_equal(ev.param.private_data, "welcome", 7);
			assert_int_equal(api->cm_disconnect(id), 0);
			event(DISCONNECTED, 0);
			hears_soon(0, CONTROL, "0001 0004");
			peer_says(0, CONTROL, "0001 0004");
			break;
		case 1:
			peer_says(0, CONTROL, "0000 0007 0004 0005 'no'");
			ev = event(REJECTED, -ECONNREFUSED);
			assert_int_equal(ev.param.initiator_depth, 4);
			assert_int_equal(ev.param.responder_resources, 5);
			assert_int_equal(ev.param.private_data_len, 2);
			assert_memory_equal(ev.param.private_data, "no", 2);
			break;
		case 2: /* too many, or not enhanced: once more, plainly */
			peer_says(0, CONTROL, "0000 0004");
			hears_soon(2, CONTROL, "0000 0001 '20 bytes of private!'");
			peer_says(2, CONTROL, "0000 0004");
			event(REJECTED, -ECONNREFUSED);
			break;
		case 3: /* an Accept that is none */
			peer_says(0, CONTROL, "0000 0002 'plain'");
			hears_soon(0, CONTROL, "0001 0004");
			event(CONNECT_ERROR, -EPROTO);
			break;
		}
		silence();
		no_event();
		done();
		qp_close(&end);
	}
}

/*
 * A callee that calls on the stream where we do: neither session can be (6.1), so ours is tried once more where the
 * callee does not call: it says more. If that is crossed, too, the application hears of it.
 */
static void calls_that_cross(void **state)
{
	ROWS("5043-6.1-03 5043-6.1-04 5043-6.1-06");
	struct end end;

	for (unsigned int again = 0; again < 2; again++) {
		call_peer(&end, "ours");
		peer_is_called(&usual);
		hears_soon(0, CONTROL, "0000 0005 0003 0002 'ours'");
		peer_says(0, CONTROL, "0000 0005 0001 0001 'theirs'");
		hears_soon(0, CONTROL, "0001 0004");
		hears_soon(1, CONTROL, "0000 0005 0003 0002 'ours'");
		peer_says(0, CONTROL, "0001 0004");
		if (again) {
			peer_says(1, CONTROL, "0000 0005 0001 0001 'theirs'");
			hears_soon(1, CONTROL, "0001 0004");
			event(REJECTED, -ECONNRESET);
		} else {
			peer_says(1, CONTROL, "0000 0006 0002 0003");
			event(ESTABLISHED, 0);
			assert_int_equal(atomic_load(&end.qp->state), IW_QPS_RTS);
		}
		silence();
		no_event();
		done();
		qp_close(&end);
	}
}

/* No indication, or another one: not a word of DDP, and the application hears of it. */
static void a_callee_that_is_not_ddp(void **state)
{
	ROWS("5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06 5043-5.1-02");
	static const char *const indications[] = { "", "C006 0008 00000002", "C006 0008 01000000" };
	struct wire_sctp_chunk c;
	struct end end;

	for (size_t i = 0; i < sizeof(indications) / sizeof(indications[0]); i++) {
		call_peer(&end, "");
		c = peer_hears_chunk(WIRE_SCTP_INIT);
		peer_reads_init(&c);
		peer_sends_init_ack(&(struct peer_offer){ "0040 0040", indications[i] });
		peer_hears_chunk(WIRE_SCTP_ABORT);
		event(CONNECT_ERROR, -EPROTO);
		silence();
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		assert_int_equal(peer.heard[WIRE_SCTP_COOKIE_ECHO], 0);
		done();
		qp_close(&end);
	}
}

static void a_caller_that_is_not_ddp(void **state)
{
	ROWS("5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06 5043-11.1-07 5043-11.1-08 "
	     "5043-5.1-02");
	static const char *const indications[] = { "", "C006 0008 00000002", "C006 0008 01000000" };

	listen_with(0);
	for (size_t i = 0; i < sizeof(indications) / sizeof(indications[0]); i++) {
		peer_open(app.port);
		peer_sends_init(&(struct peer_offer){ "0040 0040", indications[i] });
		peer_hears_chunk(WIRE_SCTP_ABORT);
		silence();
		assert_int_equal(peer.heard[WIRE_SCTP_INIT_ACK], 0);
		no_event();
		close(sock);
	}
	/* and one that is */
	peer_open(app.port);
	peer_calls(&usual);
	peer_says(0, CONTROL, "0000 0001");
	event(CONNECT_REQUEST, 0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_their_data),
		cmocka_unit_test(undecided),
		cmocka_unit_test(a_full_backlog),
		cmocka_unit_test(thousands_of_requests),
		cmocka_unit_test(only_the_application_rejects),
		cmocka_unit_test(errors_end_the_session),
		cmocka_unit_test(ends_of_every_kind),
		cmocka_unit_test(the_association_ends),
		cmocka_unit_test(answers_to_our_initiate),
		cmocka_unit_test(calls_that_cross),
		cmocka_unit_test(a_callee_that_is_not_ddp),
		cmocka_unit_test(a_caller_that_is_not_ddp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
