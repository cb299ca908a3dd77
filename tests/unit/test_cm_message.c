/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * Messages of the connection manager beside private data (conn/cm_message.h): the bytes, and the
 * reaction to wrong bytes. The peer is scripted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/cm_message.h"
#include "fixture/session_cm.h"
#include "util/sockaddr.h"

/* One peer knows the whole sctpiw extension; the other peer does not know flag C. */
static const struct peer_offer knows = { "0040 0040",
					 "C006 0008 00000001 BF57 000C 01000003 00010000" };
static const struct peer_offer knows_not = { "0040 0040",
					     "C006 0008 00000001 BF57 000C 01000001 00010000" };

static void test_bytes(void **state)
{
	const struct cm_message m = {
		.type = CM_MESSAGE_XRC,
		.reason = CM_MESSAGE_OF_TYPE,
		.counts = { .retry = 5, .rnr_retry = 3, .srq = true },
		.qp_num = 0xff123456,
	};
	const struct cm_message initiate = { .port = 0x1234 };
	static const uint8_t want[] = { 's', 'c', 't', 'p',  'i',  'w',	 'C',  'M', 1,
					1,   0,	  2,   0xab, 0x12, 0x34, 0x56, 'd', 'a' };
	struct iw_session_param p = { .private_data_len = 2, .private_data = "da" };
	struct cm_message got;

	cm_message_add(&m, &p);
	assert_int_equal(p.private_data_len, sizeof(want));
	assert_memory_equal(p.private_data, want, sizeof(want));
	p.private_data[10] = 0xff; /* ignored in a Reject */
	assert_true(cm_message_take(&got, &p));
	assert_int_equal(got.type, CM_MESSAGE_XRC);
	assert_int_equal(got.reason, CM_MESSAGE_OF_TYPE);
	assert_int_equal(got.counts.retry, 5);
	assert_int_equal(got.counts.rnr_retry, 3);
	assert_true(got.counts.srq && !got.counts.flow_control);
	assert_int_equal(got.qp_num, 0x123456);
	assert_int_equal(p.private_data_len, 2);
	assert_memory_equal(p.private_data, "da", 2);
	cm_message_add(&initiate, &p);
	assert_memory_equal(p.private_data + 8, "\1\x12\x34\0", 4);
	assert_true(cm_message_take(&got, &p));
	assert_int_equal(got.port, 0x1234);
	for (p.private_data_len = 0; p.private_data_len < CM_MESSAGE_LEN; p.private_data_len++)
		assert_false(cm_message_take(&got, &p));
	cm_message_add(&m, &p);
	for (int i = 0; i < 9; i++) {
		p.private_data[i] ^= 1;
		assert_false(cm_message_take(&got, &p));
		p.private_data[i] ^= 1;
	}
	assert_true(cm_message_take(&got, &p));
	assert_string_equal(cm_message_type_name(CM_MESSAGE_RC), "RC");
	assert_string_equal(cm_message_type_name(CM_MESSAGE_XRC), "XRC");
	assert_string_equal(cm_message_type_name(1), "unknown");
}

/* ---- this device listens ---- */

static void called_by(const struct peer_offer *offer)
{
	listen_with(0);
	peer_open(app.port);
	peer_calls(offer);
}

static void expect_request(const char *data, uint32_t qp_num, uint32_t *id)
{
	struct rnic_cm_event ev = app_event(CONNECT_REQUEST, 0);

	assert_int_equal(ev.param.qp_num, qp_num);
	assert_int_equal(ev.param.private_data_len, strlen(data));
	assert_memory_equal(ev.param.private_data, data, strlen(data));
	*id = ev.id;
}

/* Returns the port of an id, or of its peer. */
static uint16_t port_of(uint32_t id, bool theirs)
{
	struct rnic_addr_info info;

	assert_int_equal(app_api->cm_query(id, &info), 0);
	return sockaddr_port((struct sockaddr *)(theirs ? &info.dst : &info.src));
}

static void test_request(void **state)
{
	struct rnic_conn_param p;
	struct end end;
	uint32_t id;

	app_qp_open(&end);
	called_by(&knows);
	peer_says(0, CONTROL, "0000 0005 0007 0009 'sctpiwCM' 01 12FF 00 FF123456 'hello'");
	expect_request("hello", 0x123456, &id);
	assert_int_equal(port_of(id, true), 0x12ff);
	p = conn_param(&end, "welcome", 7);
	assert_int_equal(app_api->cm_accept(id, &p, false, 0), 0);
	app_event(ESTABLISHED, 0);
	hears_soon(0, CONTROL, "0000 0006 0009 0002 'sctpiwCM' 01 00 00 00 %w 'welcome'",
		   end.qp->num | 7u << 24);
	/* A plain Initiate has the message as well. */
	peer_says(1, CONTROL, "0000 0001 'sctpiwCM' 01 00 00 00 00123456");
	expect_request("", 0x123456, &id);
	assert_int_equal(port_of(id, true), peer.port);
	assert_int_equal(app_api->cm_reject(id, 0, "no", 2), 0);
	hears_soon(1, CONTROL, "0000 0003 'sctpiwCM' 01 00 00 00 00000000 'no'");
	/* A Reject that answers no request has the message as well. */
	peer_says(2, CONTROL, "0000 0005 0007 0009 'sctpiwCM' 01 00 00 00 00123456");
	expect_request("", 0x123456, &id);
	app_destroy_id(id);
	hears_soon(2, CONTROL, "0000 0007 0009 0007 'sctpiwCM' 01 00 00 00 00000000");
	app_done();
	app_qp_close(&end);
}

/* The listener accepts RC only. */
static void test_wrong_type(void **state)
{
	called_by(&knows);
	peer_says(0, CONTROL, "0000 0005 0007 0009 'sctpiwCM' 01 00 00 02 00123456 'hello'");
	hears_soon(0, CONTROL, "0000 0007 0009 0007 'sctpiwCM' 01 01 00 00 00000000");
	peer_says(1, CONTROL, "0000 0001 'sctpiwCM' 01 00 00 FF 00123456");
	hears_soon(1, CONTROL, "0000 0003 'sctpiwCM' 01 01 00 00 00000000");
	no_event();
	app_done();
}

static void test_short_request(void **state)
{
	uint8_t data[CM_MESSAGE_LEN] = { 0 }, long_data[256] = { 0 };
	uint32_t id;

	called_by(&knows);
	for (size_t n = 0; n < sizeof(data); n++) {
		uint16_t sid = (uint16_t)n;

		peer_says(sid, CONTROL, "0000 0005 0007 0009 %b", data, n);
		hears_soon(sid, CONTROL, "0000 0004");
	}
	no_event();
	/* The longest private data that rdma_cm can show, and longer data. */
	peer_says(20, CONTROL, "0000 0005 0007 0009 'sctpiwCM' 01 00 00 00 00123456 %b", long_data,
		  sizeof(long_data));
	hears_soon(20, CONTROL, "0000 0004");
	peer_says(21, CONTROL, "0000 0005 0007 0009 'sctpiwCM' 01 00 00 00 00123456 'x'");
	expect_request("x", 0x123456, &id);
	app_done();
}

/* A peer without flag C sends only private data. */
static void test_older_peer(void **state)
{
	struct rnic_conn_param p;
	struct end end;
	uint32_t id;

	app_qp_open(&end);
	called_by(&knows_not);
	peer_says(0, CONTROL, "0000 0005 0007 0009 02");
	expect_request("\2", 0, &id);
	p = conn_param(&end, "welcome", 7);
	assert_int_equal(app_api->cm_accept(id, &p, false, 0), 0);
	app_event(ESTABLISHED, 0);
	hears_soon(0, CONTROL, "0000 0006 0009 0002 'welcome'");
	app_done();
	app_qp_close(&end);
}

/* ---- this device connects ---- */

/* Connects to a peer that knows the extension, until the Initiate arrives. */
static void reach(struct end *end)
{
	uint32_t id = call_peer(end, "data");
	uint8_t port[2];

	put_be16(port, port_of(id, false));
	peer_is_called(&knows);
	hears_soon(0, CONTROL, "0000 0005 0003 0002 'sctpiwCM' 01 %b 00 %w 'data'", port,
		   sizeof(port), end->qp->num | 7u << 24);
}

static void done(struct end *end)
{
	no_event();
	app_done();
	app_qp_close(end);
}

static void test_accepted(void **state)
{
	struct rnic_cm_event ev;
	struct end end;

	reach(&end);
	peer_says(0, CONTROL, "0000 0006 0001 0001 'sctpiwCM' 01 00 00 00 00123456 'welcome'");
	ev = app_event(ESTABLISHED, 0);
	assert_int_equal(ev.param.qp_num, 0x123456);
	assert_int_equal(ev.param.private_data_len, 7);
	assert_memory_equal(ev.param.private_data, "welcome", 7);
	done(&end);
}

/* The peer answers an INIT, and aborts the association before this device knows that it is up. */
static void gives_up(void)
{
	struct wire_sctp_chunk c = peer_hears_chunk(WIRE_SCTP_INIT);

	peer_reads_init(&c);
	peer_sends_init_ack(&knows);
	peer_hears_chunk(WIRE_SCTP_COOKIE_ECHO);
	peer_begin();
	peer_chunk(WIRE_SCTP_ABORT, 0, "");
	peer_send();
}

/* The peer had the association, so the device tries another one, once. */
static void test_given_up(void **state)
{
	struct end end;

	call_peer(&end, "data");
	app_within(PATIENCE);
	gives_up();
	peer_reset();
	gives_up();
	app_event(REJECTED, -ECONNRESET);
	done(&end);
}

/* An Accept without the message that the peer agreed to use is an error. */
static void test_short_accept(void **state)
{
	struct wire_sctp_data receipt;
	struct end end;

	reach(&end);
	peer_says(0, CONTROL, "0000 0006 0001 0001 'welcome'");
	app_event(CONNECT_ERROR, -EPROTO);
	app_within(PATIENCE);
	assert_true(peer_takes(&receipt));
	hears_soon(0, CONTROL, "0002 0004");
	assert_int_equal(atomic_load(&end.qp->state), IW_QPS_ERR);
	done(&end);
}

static void test_rejected(void **state)
{
	/* Reason, status of the event, and remaining private data. */
	static const struct {
		const char *says;
		int status;
		const char *data;
	} cases[] = {
		{ "0000 0007 0001 0001 'sctpiwCM' 01 00 00 00 00000000 'no'", -ECONNREFUSED, "no" },
		{ "0000 0007 0001 0001 'sctpiwCM' 01 01 00 02 00000000", -EPROTOTYPE, "" },
		{ "0000 0007 0001 0001 'sctpiwCM' 01 01 00 FF 00000000 'sorry'", -EPROTOTYPE,
		  "sorry" },
		{ "0000 0007 0001 0001 'sctpiwCM' 01 FF 00 00 00000000", -ECONNREFUSED, "" },
		{ "0000 0007 0001 0001 'no'", -ECONNREFUSED, "no" },
		{ "0000 0003", -ECONNREFUSED, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rnic_cm_event ev;
		struct end end;

		reach(&end);
		peer_says(0, CONTROL, cases[i].says);
		ev = app_event(REJECTED, cases[i].status);
		assert_int_equal(ev.param.private_data_len, strlen(cases[i].data));
		assert_memory_equal(ev.param.private_data, cases[i].data, strlen(cases[i].data));
		assert_int_equal(atomic_load(&end.qp->state), IW_QPS_INIT);
		done(&end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	   cmocka_unit_test(test_request),
		cmocka_unit_test(test_wrong_type), cmocka_unit_test(test_short_request),
		cmocka_unit_test(test_given_up),   cmocka_unit_test(test_older_peer),
		cmocka_unit_test(test_accepted),   cmocka_unit_test(test_short_accept),
		cmocka_unit_test(test_rejected),
	};

	setenv("SCTPIW_PERSONALITY", "iwarp", 1); /* the events of an iWARP device */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
