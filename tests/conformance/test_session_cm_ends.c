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

static void qp_destroy(struct end *end)
{
	struct shard *s = &rnic_get()->shard;

	shard_lock(s);
	assert_int_equal(iw_qp_free(end->qp), 0);
	end->qp = NULL;
	shard_unlock(s);
}

/* An illegal message on one of two sessions. */
static void errors_end_the_session(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-06 5043-6.1-10 5043-11.3-05 5043-6.2-06");
	static const struct {
		uint32_t ppid;
		const char *message;
	} cases[] = { { CONTROL, "0001 0099" },
		      { CONTROL, "0001 0001 'again'" },
		      { 0, "0001 0000" } };
	struct rnic_cm_event ev;
	struct end other, end;
	uint16_t sid = 1;

	listening(0);
	app_qp_open(&other);
	peer_says(0, CONTROL, "0000 0001");
	accept_with(app_event(CONNECT_REQUEST, 0).id, &other, "");
	hears_soon(0, CONTROL, "0000 0002");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++, sid++) {
		app_qp_open(&end);
		peer_says(sid, CONTROL, "0000 0001");
		ev = app_event(CONNECT_REQUEST, 0);
		accept_with(ev.id, &end, "");
		hears_soon(sid, CONTROL, "0000 0002");
		peer_says(sid, cases[i].ppid, cases[i].message);
		hears_soon(sid, CONTROL, "0001 0004");
		assert_int_equal(app_event(DISCONNECTED, 0).id, ev.id);
		assert_int_equal(atomic_load(&end.qp->state), IW_QPS_ERR);
		no_event();
		app_qp_close(&end);
	}
	assert_int_equal(atomic_load(&other.qp->state), IW_QPS_RTS);
	peer_says(0, CONTROL, "0001 0004");
	hears_soon(0, CONTROL, "0001 0004");
	app_event(DISCONNECTED, 0);
	assert_int_equal(peer.heard[WIRE_SCTP_ABORT], 0);
	app_done();
	app_qp_close(&other);
}

/* Every call that ends a session sends a Terminate. */
static void ends_of_every_kind(void **state)
{
	ROWS("5043-6.2-06 5043-5.2.3-05 5043-5.2.3-12 5043-6.1-03 6581-7-12 6581-7-16");
	struct rnic_cm_event ev;
	struct end end;

	listening(0);
	for (uint16_t how = 0; how < 6; how++) {
		bool enhanced = how & 1;

		app_qp_open(&end);
		peer_says(how, CONTROL, enhanced ? "0000 0005 0001 0001" : "0000 0001");
		ev = app_event(CONNECT_REQUEST, 0);
		accept_with(ev.id, &end, "");
		hears_soon(how, CONTROL, enhanced ? "0000 0006 0003 0001" : "0000 0002");
		peer_says(how, SEGMENT, "0001 C1 40 00000000 0000000000000000");
		switch (how / 2) {
		case 0:
			assert_int_equal(app_api->cm_disconnect(ev.id), 0);
			app_event(DISCONNECTED, 0);
			break;
		case 1:
			app_destroy_id(ev.id);
			break;
		default:
			qp_destroy(&end);
			app_event(DISCONNECTED, 0);
		}
		hears_soon(how, CONTROL, "0001 0004");
		peer_says(how, CONTROL, "0002 0004");
		app_qp_close(&end);
	}
	app_silence();
	app_done();
}

static void the_association_ends(void **state)
{
	ROWS("5043-11.3-02 5043-11.3-03 5043-11.3-01");
	struct end end[3];

	for (unsigned int how = 0; how < 2; how++) {
		listening(0);
		for (uint16_t i = 0; i < 3; i++) {
			app_qp_open(&end[i]);
			peer_says(i, CONTROL, "0000 0001");
			accept_with(app_event(CONNECT_REQUEST, 0).id, &end[i], "");
			hears_soon(i, CONTROL, "0000 0002");
		}
		app_silence();
		if (how) { /* DATA without data: the local SCTP ends the association */
			peer_begin();
			peer_data(peer.tsn++, WHOLE, 1, SEGMENT, "");
			peer_send();
		} else {
			peer_begin();
			peer_chunk(WIRE_SCTP_ABORT, 0, "");
			peer_send();
		}
		for (unsigned int i = 0; i < 3; i++)
			app_event(DISCONNECTED, 0);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(atomic_load(&end[i].qp->state), IW_QPS_ERR);
			app_qp_close(&end[i]);
		}
		no_event();
		app_silence(); /* no RDMAP Terminate on any stream */
		assert_int_equal(peer.heard[WIRE_SCTP_ABORT], how);
		app_done();
	}
}

/* ---- local caller ---- */

static void answers_to_our_initiate(void **state)
{
	ROWS("5043-5.2.3-06 5043-5.2.3-13 5043-6.2-01 5043-7.2-02 5043-8-02 5043-8-04 "
	     "5043-11.1-01 5043-11.1-05 5043-6.3-04 5043-6.5-02 6581-7-02 6581-7-08 6581-7-13 "
	     "6581-7-22 6581-9.1-01 6581-9.1-02 6581-9.1-06 6581-9.1-16 6581-9.2-18 6581-9.2-20 "
	     "6581-10-06");
	struct rnic_cm_event ev;
	struct end end;
	uint32_t id;

	for (unsigned int answer = 0; answer < 5; answer++) {
		id = call_peer(&end, "20 bytes of private!");
		assert_int_equal(peer_is_called(&usual).os, 65535);
		hears_soon(0, CONTROL, "0000 0005 0003 0002 '20 bytes of private!'");
		assert_int_equal(peer.cum, peer.first); /* the first DATA chunk */
		app_silence();
		switch (answer) {
		case 0:
			peer_says(0, CONTROL, "0000 0006 0002 0003 'welcome'");
			ev = app_event(ESTABLISHED, 0);
			assert_int_equal(ev.param.initiator_depth, 2);
			assert_int_equal(ev.param.responder_resources, 3);
			assert_int_equal(ev.param.private_data_len, 7);
			assert_memory_equal(ev.param.private_data, "welcome", 7);
			assert_int_equal(app_api->cm_disconnect(id), 0);
			app_event(DISCONNECTED, 0);
			hears_soon(0, CONTROL, "0001 0004");
			peer_says(0, CONTROL, "0001 0004");
			break;
		case 1:
			peer_says(0, CONTROL, "0000 0007 0004 0005 'no'");
			ev = app_event(REJECTED, -ECONNREFUSED);
			assert_int_equal(ev.param.initiator_depth, 4);
			assert_int_equal(ev.param.responder_resources, 5);
			assert_int_equal(ev.param.private_data_len, 2);
			assert_memory_equal(ev.param.private_data, "no", 2);
			break;
		case 2: /* too many sessions, or not enhanced: a plain Initiate follows */
			peer_says(0, CONTROL, "0000 0004");
			hears_soon(2, CONTROL, "0000 0001 '20 bytes of private!'");
			peer_says(2, CONTROL, "0000 0004");
			app_event(REJECTED, -ECONNREFUSED);
			break;
		case 3: /* a wrong Accept */
			peer_says(0, CONTROL, "0000 0002 'plain'");
			hears_soon(0, CONTROL, "0001 0004");
			app_event(CONNECT_ERROR, -EPROTO);
			break;
		case 4: /* a plain Reject lacks only the depths */
			peer_says(0, CONTROL, "0000 0003 'no'");
			ev = app_event(REJECTED, -ECONNREFUSED);
			assert_int_equal(ev.param.private_data_len, 2);
			assert_memory_equal(ev.param.private_data, "no", 2);
			break;
		}
		app_silence();
		no_event();
		app_done();
		app_qp_close(&end);
	}
}

/*
 * Caller and callee both call on one stream: both sessions are illegal (6.1). The local call is
 * repeated on a stream of the other parity. If that crosses, too, the application gets an event.
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
			app_event(REJECTED, -ECONNRESET);
		} else {
			peer_says(1, CONTROL, "0000 0006 0002 0003");
			app_event(ESTABLISHED, 0);
			assert_int_equal(atomic_load(&end.qp->state), IW_QPS_RTS);
		}
		app_silence();
		no_event();
		app_done();
		app_qp_close(&end);
	}
}

/* No indication, or another one: no DDP is sent, and the application gets an event. */
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
		app_event(CONNECT_ERROR, -EPROTO);
		app_silence();
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		assert_int_equal(peer.heard[WIRE_SCTP_COOKIE_ECHO], 0);
		app_done();
		app_qp_close(&end);
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
		app_silence();
		assert_int_equal(peer.heard[WIRE_SCTP_INIT_ACK], 0);
		no_event();
		close(app_sock);
	}
	/* a caller with DDP */
	peer_open(app.port);
	peer_calls(&usual);
	peer_says(0, CONTROL, "0000 0001");
	app_event(CONNECT_REQUEST, 0);
	app_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_end_the_session),
		cmocka_unit_test(ends_of_every_kind),
		cmocka_unit_test(the_association_ends),
		cmocka_unit_test(answers_to_our_initiate),
		cmocka_unit_test(calls_that_cross),
		cmocka_unit_test(a_callee_that_is_not_ddp),
		cmocka_unit_test(a_caller_that_is_not_ddp),
	};

	setenv("SCTPIW_PERSONALITY", "iwarp", 1); /* the events of an iWARP device */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
