/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The connection manager, through the table of rnic_api.h: requests of the application, and their
 * effect on the wire (RFC 5043 5.2.3, 6, 11). The peer is a script with its own SCTP on a UDP
 * socket of 127.0.0.1.
 */
#include "fixture/peer_script.h"

#include <netinet/in.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "runtime/rnic.h"
#include "rnic_api.h"
#include "fixture/session_cm.h"

/* ---- local listener ---- */

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
	app_qp_open(&early);
	listening(0);
	for (size_t i = 0; i < sizeof(lengths); i++) {
		for (int enhanced = 0; enhanced < 2; enhanced++) {
			size_t n = lengths[i];
			struct rnic_conn_param p;

			if (enhanced)
				peer_says(sid, CONTROL, "0000 0005 0007 0009 %b", data, n);
			else
				peer_says(sid, CONTROL, "0000 0001 %b", data, n);
			ev = app_event(CONNECT_REQUEST, 0);
			assert_int_equal(ev.param.private_data_len, n);
			assert_memory_equal(ev.param.private_data, data, n);
			if (enhanced) {
				assert_int_equal(ev.param.initiator_depth, 7);
				assert_int_equal(ev.param.responder_resources, 9);
			}
			/* The QP may be made before or after the request. */
			if (i)
				app_qp_open(&late);
			p = conn_param(i ? &late : &early, data, lengths[i]);
			assert_int_equal(app_api->cm_accept(ev.id, &p, false, 0), 0);
			app_event(ESTABLISHED, 0);
			if (enhanced)
				hears_soon(sid, CONTROL, "0000 0006 0009 0002 %b", data, n);
			else
				hears_soon(sid, CONTROL, "0000 0002 %b", data, n);
			peer_says(sid, CONTROL, "0001 0004");
			hears_soon(sid, CONTROL, "0001 0004");
			app_event(DISCONNECTED, 0);
			app_destroy_id(ev.id);
			if (i) {
				app_qp_close(&late);
			} else {
				app_qp_close(&early);
				app_qp_open(&early);
			}
			sid++;
		}
	}
	no_event();
	app_done();
	app_qp_close(&early);
}

/* rdma_cm would silently truncate longer private data. */
static void more_private_data_than_rdma_cm_shows(void **state)
{
	ROWS("5043-5.2.3-14 6581-7-14 5043-6.4-04");
	static const uint16_t lengths[] = { 256, 257, 508, 512 };
	uint8_t data[512];
	uint16_t sid = 0;

	memset(data, 'd', sizeof(data));
	listening(0);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		peer_says(sid, CONTROL, "0000 0001 %b", data, (size_t)lengths[i]);
		hears_soon(sid++, CONTROL, "0000 0004");
		if (lengths[i] > 508)
			continue;
		peer_says(sid, CONTROL, "0000 0005 0007 0009 %b", data, (size_t)lengths[i]);
		hears_soon(sid++, CONTROL, "0000 0004");
	}
	no_event();
	peer_says(sid, CONTROL, "0000 0001 %b", data, (size_t)255);
	assert_int_equal(app_event(CONNECT_REQUEST, 0).param.private_data_len, 255);
	app_done();
}

/* Before the application decides, nothing is sent. */
static void undecided(void **state)
{
	ROWS("5043-6.4-01 5043-6.3-05");
	struct rnic_cm_event ev;

	listening(0);
	peer_says(1, CONTROL, "0000 0001");
	peer_says(2, CONTROL, "0000 0005 0001 0001");
	app_silence();
	ev = app_event(CONNECT_REQUEST, 0);
	app_event(CONNECT_REQUEST, 0);
	app_silence();
	assert_int_equal(app_api->cm_reject(ev.id, 0, NULL, 0), 0);
	hears_soon(1, CONTROL, "0000 0003");
	app_silence();
	app_done();
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
	app_silence();
	app_event(CONNECT_REQUEST, 0);
	app_event(CONNECT_REQUEST, 0);
	no_event();
	app_done();
}

/* Without a backlog of the application, a limit exists, too. */
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
		app_within(PATIENCE);
		assert_true(peer_takes(&d));
		assert_int_equal(d.sid, sid);
		assert_int_equal(d.ppid, CONTROL);
		assert_int_equal(d.len, 4);
		assert_memory_equal(d.data, "\0\0\0\4", 4);
		refused++;
	}
	assert_int_equal(refused, 3000 - 1024);
	for (unsigned int i = 0; i < 1024; i++)
		app_event(CONNECT_REQUEST, 0);
	no_event();
	app_done();
}

/*
 * Reading a request is not a decision. Undecided requests have their own limit, and only a decision
 * makes room.
 */
static void thousands_that_were_read(void **state)
{
	ROWS("5043-6.4-03 5043-6.4-04");
	uint32_t id[1024];
	uint16_t sid = 0;
	struct end end;

	listening(0);
	app_qp_open(&end);
	for (; sid < 1024; sid++) {
		peer_says(sid, CONTROL, "0000 0001");
		id[sid] = app_event(CONNECT_REQUEST, 0).id;
	}
	for (; sid < 1124; sid++) {
		peer_says(sid, CONTROL, "0000 0001");
		hears_soon(sid, CONTROL, "0000 0004");
	}
	no_event();
	/* A request that the peer withdraws stays until the application decides. */
	peer_says(7, CONTROL, "0001 0004");
	hears_soon(7, CONTROL, "0000 0004");
	peer_says(sid, CONTROL, "0000 0001");
	hears_soon(sid++, CONTROL, "0000 0004");
	/* Each decision makes room for one request. */
	accept_with(id[0], &end, "");
	hears_soon(0, CONTROL, "0000 0002");
	assert_int_equal(app_api->cm_reject(id[1], 0, NULL, 0), 0);
	hears_soon(1, CONTROL, "0000 0003");
	app_destroy_id(id[2]);
	hears_soon(2, CONTROL, "0000 0003");
	assert_int_equal(app_api->cm_reject(id[7], 0, NULL, 0), 0);
	for (unsigned int i = 0; i < 4; i++) {
		peer_says(sid++, CONTROL, "0000 0001");
		app_event(CONNECT_REQUEST, 0);
	}
	peer_says(sid, CONTROL, "0000 0001");
	hears_soon(sid, CONTROL, "0000 0004");
	no_event();
	app_done();
	app_qp_close(&end);
}

static void only_the_application_rejects(void **state)
{
	ROWS("5043-6.3-05 5043-6.3-03 5043-5.2.3-04 5043-5.2.3-08 6581-7-04 6581-7-06");
	struct rnic_conn_param p = conn_param(NULL, NULL, 0);
	struct rnic_cm_event ev;
	struct end other;

	listening(0);
	/* This session keeps the association when the listener is gone. */
	app_qp_open(&other);
	peer_says(0, CONTROL, "0000 0001");
	accept_with(app_event(CONNECT_REQUEST, 0).id, &other, "");
	hears_soon(0, CONTROL, "0000 0002");
	peer_says(1, CONTROL, "0000 0001");
	ev = app_event(CONNECT_REQUEST, 0);
	assert_int_equal(app_api->cm_reject(ev.id, 0, "go away", 7), 0);
	hears_soon(1, CONTROL, "0000 0003 'go away'");
	peer_says(2, CONTROL, "0000 0005 0000 0001");
	ev = app_event(CONNECT_REQUEST, 0);
	assert_int_equal(app_api->cm_reject(ev.id, 0, "go away", 7), 0);
	hears_soon(2, CONTROL, "0000 0007 0001 0000 'go away'");
	/* by destroying the id of a request */
	peer_says(3, CONTROL, "0000 0001");
	ev = app_event(CONNECT_REQUEST, 0);
	app_destroy_id(ev.id);
	hears_soon(3, CONTROL, "0000 0003");
	/* An accept that fails rejects the request. */
	peer_says(4, CONTROL, "0000 0001");
	ev = app_event(CONNECT_REQUEST, 0);
	assert_int_equal(app_api->cm_accept(ev.id, &p, false, 0), -EINVAL);
	hears_soon(4, CONTROL, "0000 0003");
	assert_int_equal(app_api->cm_accept(ev.id, &p, false, 0), -EINVAL);
	assert_int_equal(app_api->cm_reject(ev.id, 0, NULL, 0), -EINVAL);
	/* Requests that the application has not read. */
	peer_says(5, CONTROL, "0000 0001");
	peer_says(6, CONTROL, "0000 0005 0001 0001");
	app_silence();
	app_destroy_id(app.listener);
	hears_soon(5, CONTROL, "0000 0004");
	hears_soon(6, CONTROL, "0000 0004");
	no_event();
	/* Requests without a listener, and none follows for a while. */
	peer_says(7, CONTROL, "0000 0001");
	peer_says(8, CONTROL, "0000 0005 0001 0001");
	app_silence();
	hears_soon(7, CONTROL, "0000 0004");
	hears_soon(8, CONTROL, "0000 0004");
	assert_int_equal(atomic_load(&other.qp->state), IW_QPS_RTS);
	app_done();
	app_qp_close(&other);
}

/* Makes the application listen on the same port again. */
static void listen_again(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(app.port) };

	assert_int_equal(app_api->cm_create_id(app.chan, 2, PS_TCP, RC, &app.listener), 0);
	assert_int_equal(app_api->cm_bind(app.listener, (struct sockaddr *)&any), 0);
	assert_int_equal(app_api->cm_listen(app.listener, 8), 0);
}

/* Takes a request from the second listener, and rejects it on this stream. */
static void request_on(uint16_t sid, char data)
{
	struct rnic_cm_event ev = app_event(CONNECT_REQUEST, 0);

	assert_int_equal(ev.uid, 2);
	assert_int_equal(ev.param.private_data_len, 1);
	assert_int_equal(ev.param.private_data[0], data);
	assert_int_equal(app_api->cm_reject(ev.id, 0, NULL, 0), 0);
	hears_soon(sid, CONTROL, sid % 2 ? "0000 0003" : "0000 0007 0001 0001");
}

/*
 * Requests without a listener wait for the next listener, in the order of arrival. Perftest listens
 * for the first connection, and again for the peer's further connections.
 */
static void a_listener_that_changes(void **state)
{
	ROWS("5043-6.4-01 6581-10-01 6581-10-02");
	struct end first;

	listening(0);
	app_qp_open(&first);
	peer_says(0, CONTROL, "0000 0001");
	accept_with(app_event(CONNECT_REQUEST, 0).id, &first, "");
	hears_soon(0, CONTROL, "0000 0002");
	app_destroy_id(app.listener);
	peer_says(4, CONTROL, "0000 0005 0001 0001 'a'");
	peer_says(1, CONTROL, "0000 0001 'b'");
	peer_says(3, CONTROL, "0000 0001 'c'");
	peer_says(2, CONTROL, "0000 0005 0001 0001 'd'");
	/* The peer withdraws a request meanwhile: no event. */
	peer_says(3, CONTROL, "0001 0004");
	hears_soon(3, CONTROL, "0000 0004");
	app_silence();
	listen_again();
	peer_says(6, CONTROL, "0000 0005 0001 0001 'e'");
	request_on(4, 'a');
	request_on(1, 'b');
	request_on(2, 'd');
	request_on(6, 'e');
	no_event();
	assert_int_equal(atomic_load(&first.qp->state), IW_QPS_RTS);
	app_done();
	app_qp_close(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_their_data),
		cmocka_unit_test(more_private_data_than_rdma_cm_shows),
		cmocka_unit_test(undecided),
		cmocka_unit_test(a_full_backlog),
		cmocka_unit_test(thousands_of_requests),
		cmocka_unit_test(thousands_that_were_read),
		cmocka_unit_test(only_the_application_rejects),
		cmocka_unit_test(a_listener_that_changes),
	};

	setenv("SCTPIW_PERSONALITY", "iwarp", 1); /* the events of an iWARP device */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
