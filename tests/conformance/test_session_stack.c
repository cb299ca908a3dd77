/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * Sessions on SCTP: an RNIC and an SCTP instance, connected as in conn/user_sctp.c, on a virtual
 * clock (RFC 5043 5.1, 5.2, 8 to 11). The peer is a script for both protocols.
 */
#include "fixture/peer_script.h"

#include "sctp/sctp.h"
#include "sim/simnet.h"
#include "fixture/session_stack.h"

/* ---- setup of associations ---- */

static void the_stack_answers(void **state)
{
	ROWS("5043-5.1-03 5043-5.1-04 5043-5.1-05 5043-7.2-02 5043-8-04 5043-8-06 5043-11.1-02 "
	     "5043-11.1-03 5043-12-01");
	static const struct {
		struct peer_offer offer;
		uint16_t pairs;
	} cases[] = {
		{ { "0040 0040", "C006 0008 00000001" }, 64 },
		{ { "000A FFFF", "C006 0008 00000001" }, 10 }, /* Linux */
		{ { "FFFF 0007", "C006 0008 00000001" }, 7 },
		{ { "FFFF FFFF", "C006 0008 00000001" }, 65535 },
		{ { "0001 0001", "0005 0008 0A000002 C006 0008 00000001" }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_sctp_init init;

		stack_start();
		init = peer_calls(&cases[i].offer);
		assert_int_equal(init.os, cases[i].pairs);
		assert_true(stack_st.up);
		assert_int_equal(sctp_assoc_streams(stack_st.a), cases[i].pairs);
		peer_hears_nothing();
		stack_stop();
	}
}

static void the_stack_asks(void **state)
{
	ROWS("5043-5.1-03 5043-5.1-04 5043-7.2-02 5043-8-02 5043-8-04 5043-8-06 5043-11.1-01 "
	     "5043-11.1-05");
	static const struct peer_offer few = { "0003 0009", "C006 0008 00000001" };
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_session *s;
	struct iw_qp *qp[3];

	stack_start();
	open_out();
	assert_int_equal(peer_is_called(&few).os, 65535); /* the maximum */
	assert_true(stack_st.up);
	for (unsigned int i = 0; i < 3; i++) {
		qp[i] = fx_qp_sized(stack_x, stack_x->pd, stack_x->cq, 1);
		assert_int_equal(iw_session_initiate(stack_st.iw, qp[i], &p, NULL, &s),
				 i < 2 ? 0 : -EAGAIN);
	}
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	peer_hears(2, CONTROL, "0000 0005 0001 0001");
	peer_hears_nothing();
	for (unsigned int i = 0; i < 3; i++)
		iw_qp_free(qp[i]);
	stack_stop();
}

static const struct peer_offer strangers[] = {
	{ "0040 0040", "" },
	{ "0040 0040", "C006 0008 00000000" },
	{ "0040 0040", "C006 0008 00000002" },
	{ "0040 0040", "C006 0008 01000000" },
	{ "0040 0040", "C006 0008 80000001" },
	{ "0040 0040", "8FFF 0008 00000001" },
};

#define STRANGERS (sizeof(strangers) / sizeof(strangers[0]))

static void a_caller_that_is_not_ddp(void **state)
{
	ROWS("5043-5.1-02 5043-5.1-05 5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06 "
	     "5043-11.1-07 5043-11.1-08 5043-7.1-05");

	for (size_t i = 0; i < STRANGERS; i++) {
		stack_start();
		if (i & 1) { /* with and without an existing association */
			peer_calls(&usual);
			stack_st.path.udp_port = peer.port = 7001;
			peer.at = NULL;
		}
		peer_sends_init(&strangers[i]);
		peer_hears_chunk(WIRE_SCTP_ABORT);
		peer_hears_nothing();
		assert_int_equal(peer.heard[WIRE_SCTP_INIT_ACK], i & 1);
		assert_int_equal(stack_st.up, i & 1);
		fx_no_event(stack_x);
		stack_stop();
	}
}

static void a_callee_that_is_not_ddp(void **state)
{
	ROWS("5043-5.1-05 5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06");
	struct wire_sctp_chunk c;

	for (size_t i = 0; i < STRANGERS; i++) {
		stack_start();
		open_out();
		c = peer_hears_chunk(WIRE_SCTP_INIT);
		peer_reads_init(&c);
		peer_sends_init_ack(&strangers[i]);
		peer_hears_chunk(WIRE_SCTP_ABORT);
		peer_hears_nothing();
		assert_true(stack_st.lost && !stack_st.up);
		assert_int_equal(stack_st.error, -EPROTO);
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		stack_stop();
	}
}

/* The user of an SCTP instance sets the adaptation indication that it sends and accepts. */
static void another_indication(void **state)
{
	ROWS("5043-7.1-01 5043-7.1-03");
	struct sctp_config config = usual_config();
	struct wire_sctp_init init;
	struct wire_sctp_chunk c;

	config.adaptation = 0x12345678;
	start_with(&config);
	open_out();
	c = peer_hears_chunk(WIRE_SCTP_INIT);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_true(init.has_adaptation && init.adaptation == 0x12345678);
	stack_stop();
	start_with(&config);
	peer_sends_init(&usual);
	peer_hears_chunk(WIRE_SCTP_ABORT);
	peer_sends_init(&(struct peer_offer){ "0040 0040", "C006 0008 12345678" });
	c = peer_hears_chunk(WIRE_SCTP_INIT_ACK);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_int_equal(init.adaptation, 0x12345678);
	stack_stop();
}

/* ---- messages and chunks ---- */

/* From the INIT to the end of the association. peer_takes() checks each chunk. */
static void a_whole_life(void **state)
{
	ROWS("5043-1-01 5043-4-01 5043-4-02 5043-5.1-01 5043-5.2-02 5043-5.2-03 5043-5.2.1-02 "
	     "5043-6-02 5043-6.1-03 5043-6.5-02 5043-6.5-03 5043-9-01 5043-9-05 5043-10-01 "
	     "5043-6.2-01 5043-6.2-02");
	uint32_t got = 0, segments = 0;
	struct wire_sctp_data d;

	connected();
	for (unsigned int i = 0; i < 4000; i++)
		stack_x->mem[i] = (uint8_t)(i * 7 + i / 256);
	fx_post_recv(stack_x, 1, stack_x->base + 5000, 100, stack_x->stag);
	peer_says(3, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'hello'");
	assert_int_equal(fx_cqe(stack_x).byte_len, 5);
	fx_post(stack_x, 2, IW_WR_SEND, stack_x->base, 4000, 0, 0, 0);
	fx_post(stack_x, 3, IW_WR_RDMA_WRITE, stack_x->base, 4000, 0x77, 0, 0);
	for (; got < 8000; segments++) {
		bool send = got < 4000;
		size_t head = send ? 20 : 16;
		uint32_t at = got % 4000;

		assert_true(peer_takes(&d));
		assert_int_equal(d.ppid, SEGMENT);
		assert_int_equal(d.data[2] & ~DDP_LAST, send ? 0x01 : 0x81);
		assert_int_equal(d.data[3], send ? 0x43 : 0x40);
		if (send)
			assert_int_equal(get_be32(d.data + 16), at);
		else
			assert_true(get_be64(d.data + 8) == at);
		assert_memory_equal(d.data + head, stack_x->mem + at, d.len - head);
		assert_int_equal(!!(d.data[2] & DDP_LAST), at + d.len - head == 4000);
		got += (uint32_t)(d.len - head);
	}
	assert_int_equal(segments, 7);
	peer_says(3, SEGMENT,
		  "0002 41 41 00000000  00000001 00000001 00000000"
		  "00000005 0000000000000000 00000004 %w %q",
		  stack_x->stag, stack_x->base);
	peer_hears(3, SEGMENT, "0008 C1 42 00000005 0000000000000000 %b", stack_x->mem, (size_t)4);
	iw_session_close(stack_x->session);
	peer_hears(3, CONTROL, "0009 0004");
	peer_says(3, CONTROL, "0003 0004");
	peer_hears_nothing();
	stack_wait_ns(SECOND);
	peer_hears_nothing();
	assert_int_equal(iw_assoc_sessions(stack_st.iw), 0);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN, 0, "%w", peer.cum);
	peer_send();
	peer_hears_chunk(WIRE_SCTP_SHUTDOWN_ACK);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN_COMPLETE, 0, "");
	peer_send();
	assert_true(stack_st.lost && !stack_st.error);
	peer_hears_nothing();
	assert_int_equal(peer.heard[WIRE_SCTP_ABORT] + peer.heard[WIRE_SCTP_ERROR], 0);
	assert_int_equal(peer.heard_again, 0);
	stack_stop();
}

static bool all_true(const bool *b, unsigned int n)
{
	while (n--)
		if (!b[n])
			return false;
	return true;
}

/* A lost message is sent again with the same contents, even if its source memory has changed. */
static void retransmissions_are_the_same(void **state)
{
	ROWS("5043-2-02 5043-10-01 5043-9-01");
	struct wire_sctp_data d = { 0 };
	bool again[4] = { false };
	struct wire_sctp_chunk c;
	uint8_t first[4][21];
	uint32_t tsn;

	connected();
	peer.mute = true;
	tsn = peer.cum + 1;
	for (unsigned int i = 0; i < 4; i++) {
		stack_x->mem[i] = (uint8_t)('a' + i);
		fx_post(stack_x, i, IW_WR_SEND, stack_x->base + i, 1, 0, 0, 0);
		assert_true(peer_takes(&d));
		assert_int_equal(d.len, sizeof(first[i]));
		memcpy(first[i], d.data, sizeof(first[i]));
		stack_x->mem[i] = 0;
	}
	for (unsigned int tries = 0; !all_true(again, 4); tries++) {
		assert_true(tries < 20);
		peer_sack(tsn - 1);
		stack_wait_ns(SECOND);
		while (peer_next(&c)) {
			if (c.type != WIRE_SCTP_DATA)
				continue;
			assert_true(wire_sctp_data_get(&c, &d));
			assert_int_equal(d.flags & ~WIRE_SCTP_DATA_I, WHOLE);
			assert_in_range(d.tsn - tsn, 0, 3);
			again[d.tsn - tsn] = true;
			assert_int_equal(d.len, sizeof(first[0]));
			assert_memory_equal(d.data, first[d.tsn - tsn], d.len);
		}
	}
	stack_stop();
}

static void fragments_are_put_together(void **state)
{
	ROWS("5043-9-06 5043-9-04 5043-5.2.2-02");
	struct iw_session_param p = session_param(1, 1, "");
	uint8_t data[512];
	struct iw_event ev;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 5 + i / 256);
	for (unsigned int backwards = 0; backwards < 2; backwards++) {
		stack_start();
		fx_post_recv(stack_x, 1, stack_x->base, 100, stack_x->stag);
		peer_calls(&usual);
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int i = backwards ? 2 - k : k;

			peer_begin();
			if (i == 0)
				peer_data(peer.tsn, 6, 3, CONTROL, "0000 0001 %b", data,
					  (size_t)200);
			else
				peer_data(peer.tsn + i, i == 1 ? 4 : 5, 3, CONTROL, "%b",
					  data + 200 * i, (size_t)(i == 1 ? 200 : 112));
			fx_no_event(stack_x);
			peer_send();
		}
		peer.tsn += 3;
		ev = fx_event(stack_x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.private_data_len, 512);
		assert_memory_equal(ev.param.private_data, data, 512);
		assert_int_equal(iw_session_accept(ev.session, stack_x->qp, &p), 0);
		peer_hears(3, CONTROL, "0000 0002");
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int i = backwards ? 2 - k : k;

			assert_true(iw_cq_is_empty(stack_x->cq));
			peer_begin();
			if (i == 0) /* also inside the header */
				peer_data(peer.tsn, 6, 3, SEGMENT, "0001 41 43 000000");
			else if (i == 1)
				peer_data(peer.tsn + 1, 4, 3, SEGMENT,
					  "00 00000000 00000001 00000000 'th'");
			else
				peer_data(peer.tsn + 2, 5, 3, SEGMENT, "'ree'");
			peer_send();
		}
		peer.tsn += 3;
		assert_int_equal(fx_cqe(stack_x).byte_len, 5);
		assert_memory_equal(stack_x->mem, "three", 5);
		peer_hears_nothing();
		stack_stop();
	}
}

static void many_chunks_in_a_packet(void **state)
{
	ROWS("5043-11.2-01 5043-8-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *second;
	struct iw_event ev;

	connected();
	second = fx_qp_sized(stack_x, stack_x->pd, stack_x->cq, 8);
	fx_post_recv(stack_x, 1, stack_x->base, 8, stack_x->stag);
	peer_begin();
	peer_data(peer.tsn++, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'write'", stack_x->stag,
		  stack_x->base + 32);
	peer_data(peer.tsn++, WHOLE, 5, CONTROL, "0000 0001 'second'");
	peer_data(peer.tsn++, WHOLE, 3, SEGMENT,
		  "0002 41 43 00000000  00000000 00000001 00000000 'send'");
	peer_data(peer.tsn++, WHOLE, 7, CONTROL, "0000 0001 'third'");
	peer_data(peer.tsn++, WHOLE, 3, CONTROL, "0003 0004");
	peer_send();
	assert_memory_equal(stack_x->mem + 32, "write", 5);
	assert_int_equal(fx_cqe(stack_x).status, IW_WC_SUCCESS);
	ev = fx_event(stack_x, IW_EVENT_INITIATE);
	assert_memory_equal(ev.param.private_data, "second", 6);
	assert_int_equal(iw_session_accept(ev.session, second, &p), 0);
	ev = fx_event(stack_x, IW_EVENT_INITIATE);
	assert_memory_equal(ev.param.private_data, "third", 5);
	assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
	assert_int_equal(fx_event(stack_x, IW_EVENT_CLOSED).error, 0);
	peer_hears(3, CONTROL, "0001 0004");
	peer_hears(5, CONTROL, "0000 0002");
	peer_hears(7, CONTROL, "0000 0003 'no'");
	peer_hears_nothing();
	iw_qp_free(second);
	stack_stop();
}

/*
 * The order of TSNs differs from the DDP-SSNs: the last message is acknowledged long before the
 * others.
 */
static void tsns_say_nothing_of_order(void **state)
{
	ROWS("5043-5.2.1-05 5043-5.2.1-06 5043-10-02 5043-10-03 5043-10-04");
	uint32_t tsn;

	connected();
	fx_post_recv(stack_x, 1, stack_x->base, 8, stack_x->stag);
	tsn = peer.tsn;
	peer_begin();
	peer_data(tsn, WHOLE, 3, SEGMENT, "0004 41 43 00000000  00000000 00000001 00000004 'end'");
	peer_send();
	peer_begin();
	peer_data(tsn + 1, WHOLE, 3, SEGMENT,
		  "0003 01 43 00000000  00000000 00000001 00000000 'the '");
	peer_send();
	peer_begin(); /* TSN + 2 is in transit */
	peer_data(tsn + 3, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'one'", stack_x->stag,
		  stack_x->base + 32);
	peer_send();
	peer_hears_nothing();
	assert_memory_equal(stack_x->mem + 32, "one", 3); /* without waiting */
	assert_true(iw_cq_is_empty(stack_x->cq));
	peer_begin();
	peer_data(tsn + 2, WHOLE, 3, SEGMENT, "0002 C1 40 %w %q 'two'", stack_x->stag,
		  stack_x->base + 35);
	peer_send();
	assert_int_equal(fx_cqe(stack_x).byte_len, 7);
	assert_memory_equal(stack_x->mem, "the end", 7);
	assert_memory_equal(stack_x->mem + 32, "onetwo", 6);
	stack_stop();
}

/* A peer sends ordered messages: the DDP-SSN still sets the order. */
static void ordered_chunks(void **state)
{
	ROWS("5043-8-05");
	struct iw_session_param p = session_param(1, 1, "");

	stack_start();
	peer_calls(&usual);
	peer_begin();
	peer_data(peer.tsn++, 3, 3, CONTROL, "0000 0001");
	peer_send();
	accept_call(stack_x, &p);
	peer_hears(3, CONTROL, "0000 0002");
	peer_begin();
	peer_data(peer.tsn++, 3, 3, SEGMENT, "0001 C1 40 %w %q 'one'", stack_x->stag,
		  stack_x->base);
	peer_send();
	assert_memory_equal(stack_x->mem, "one", 3);
	stack_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_answers),
		cmocka_unit_test(the_stack_asks),
		cmocka_unit_test(a_caller_that_is_not_ddp),
		cmocka_unit_test(a_callee_that_is_not_ddp),
		cmocka_unit_test(another_indication),
		cmocka_unit_test(a_whole_life),
		cmocka_unit_test(retransmissions_are_the_same),
		cmocka_unit_test(fragments_are_put_together),
		cmocka_unit_test(many_chunks_in_a_packet),
		cmocka_unit_test(tsns_say_nothing_of_order),
		cmocka_unit_test(ordered_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
