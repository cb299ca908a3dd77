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

/* A chunk of an ended session arrives again while the stream has the next session. */
static void late_duplicates_are_no_part_of_the_next_session(void **state)
{
	ROWS("5043-6-01 5043-2-04 5043-6.1-01");
	struct iw_session_param p = session_param(1, 1, "");
	uint32_t old;

	connected();
	old = peer.tsn;
	peer_says(3, SEGMENT, "0001 C1 40 %w %q 'old'", stack_x->stag, stack_x->base);
	assert_memory_equal(stack_x->mem, "old", 3);
	peer_says(3, CONTROL, "0002 0004");
	peer_hears(3, CONTROL, "0001 0004");
	fx_event(stack_x, IW_EVENT_CLOSED);
	memset(stack_x->mem, 0, 8);
	reuse_qp(stack_x);
	peer_says(3, CONTROL, "0000 0001");
	accept_call(stack_x, &p);
	peer_hears(3, CONTROL, "0000 0002");
	peer_begin();
	peer_data(old, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'old'", stack_x->stag, stack_x->base);
	peer_data(old + 1, WHOLE, 3, CONTROL, "0002 0004");
	peer_send();
	peer_hears_nothing();
	fx_no_event(stack_x);
	assert_int_equal(stack_x->mem[0], 0);
	peer_says(3, SEGMENT, "0001 C1 40 %w %q 'new'", stack_x->stag, stack_x->base);
	assert_memory_equal(stack_x->mem, "new", 3);
	stack_stop();
}

/* ---- messages that wait for acknowledgements, or do not ---- */

static void a_terminate_waits_for_the_sack(void **state)
{
	ROWS("5043-6.6-01");
	struct iw_session_param p = session_param(1, 1, "");

	for (unsigned int active = 0; active < 2; active++) {
		uint16_t sid = active ? 0 : 3;

		stack_start();
		peer.mute = true;
		if (active) {
			open_out();
			peer_is_called(&usual);
			assert_int_equal(iw_session_initiate(stack_st.iw, stack_x->qp, &p, NULL,
							     &stack_x->session),
					 0);
			peer_hears(0, CONTROL, "0000 0005 0001 0001");
		} else {
			peer_calls(&usual);
			peer_says(3, CONTROL, "0000 0001");
			accept_call(stack_x, &p);
			peer_hears(3, CONTROL, "0000 0002");
		}
		iw_session_close(stack_x->session);
		stack_wait_ns(900 * MSEC);
		peer_hears_nothing();
		peer_sack(peer.cum);
		stack_wait_ns(200 * MSEC);
		peer_hears(sid, CONTROL, "0001 0004");
		stack_stop();
	}
}

/* The association has only one stream. */
static void a_new_initiate_waits_for_the_sack(void **state)
{
	ROWS("5043-6.6-04");
	static const struct peer_offer one = { "0001 0001", "C006 0008 00000001" };
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_session *s;

	stack_start();
	open_out();
	peer_is_called(&one);
	assert_int_equal(iw_session_initiate(stack_st.iw, stack_x->qp, &p, NULL, &stack_x->session),
			 0);
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	peer_says(0, CONTROL, "0000 0006 0001 0001");
	fx_event(stack_x, IW_EVENT_ACCEPT);
	peer_hears_nothing();
	peer.mute = true;
	iw_session_close(stack_x->session);
	peer_hears(0, CONTROL, "0001 0004");
	peer_says(0, CONTROL, "0001 0004");
	stack_wait_ns(200 * MSEC);
	reuse_qp(stack_x);
	assert_int_equal(iw_session_initiate(stack_st.iw, stack_x->qp, &p, NULL, &s), -EAGAIN);
	peer_sack(peer.cum);
	assert_int_equal(iw_session_initiate(stack_st.iw, stack_x->qp, &p, NULL, &s), 0);
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	stack_stop();
}

/* There is no Nagle algorithm: a small Send leaves before earlier messages are acknowledged. */
static void small_sends_go_at_once(void **state)
{
	ROWS("5043-11.2-02 5043-11.2-03");

	connected();
	peer.mute = true;
	for (uint32_t i = 1; i <= 20; i++) {
		fx_post(stack_x, i, IW_WR_SEND, stack_x->base, 1, 0, 0, 0);
		peer_hears(3, SEGMENT, "%b 41 43 00000000  00000000 %w ..",
			   (uint8_t[]){ 0, (uint8_t)i }, (size_t)2, i);
	}
	fx_post(stack_x, 99, IW_WR_RDMA_WRITE, stack_x->base, 1, 0x77, 0, 0);
	peer_hears(3, SEGMENT, "0015 C1 40 ..");
	stack_stop();
}

static void never_more_than_the_window(void **state)
{
	ROWS("5043-6.2-04");
	struct wire_sctp_data d;
	uint32_t bytes = 0;

	stack_start();
	peer.a_rwnd = 4000;
	peer.mute = true;
	peer_calls(&usual);
	session_on(3);
	peer_sack(peer.cum);
	for (unsigned int i = 0; i < 8; i++)
		fx_post(stack_x, i, IW_WR_RDMA_WRITE, stack_x->base, 4000, 0x77, 0, 0);
	while (peer_takes(&d))
		bytes += d.len;
	assert_in_range(bytes, 1000, 4000);
	stack_stop();
}

/*
 * One chunk is lost again and again, all others arrive. The sender stops before its DDP-SSNs become
 * ambiguous. All messages are Writes, which need no receives.
 */
static void too_far_ahead(uint32_t distance)
{
	const uint32_t total = 24 << 20;
	struct sctp_config config = usual_config();
	uint8_t *source = calloc(1, total);
	struct wire_sctp_data d = { 0 };
	struct wire_sctp_chunk c;
	uint32_t lost, highest;
	struct iw_send_wqe *w;
	struct iw_mr *mr;

	if (distance)
		config.max_tsn_distance = distance;
	start_with(&config);
	peer_calls(&usual);
	session_on(3);
	assert_int_equal(iw_mr_new(stack_x->pd, (uintptr_t)source, total, 0, 0, NULL, &mr), 0);
	set_mtu(576);
	peer.mute = true;
	lost = highest = peer.cum + 1;
	w = fx_sq_slot(stack_x->qp);
	*w = (struct iw_send_wqe){
		.opcode = IW_WR_RDMA_WRITE, .num_sge = 1, .length = total, .rkey = 0x77
	};
	w->sge[0] = (struct iw_sge){ 0, total, iw_mr_stag(mr) };
	iw_sq_publish(stack_x->qp);
	iw_qp_doorbell(stack_x->qp);
	for (unsigned int idle = 0; idle < 3; idle++) {
		while (peer_next(&c)) {
			if (c.type != WIRE_SCTP_DATA)
				continue;
			assert_true(wire_sctp_data_get(&c, &d));
			if ((int32_t)(d.tsn - highest) > 0) {
				highest = d.tsn;
				idle = 0;
			}
			/* the lost chunk has DDP-SSN 1 */
			assert_in_range((uint16_t)(get_be16(d.data) - 1), 0, 32767);
			assert_in_range(highest - lost, 0, 32767);
		}
		peer_begin();
		if (highest == lost)
			peer_chunk(WIRE_SCTP_SACK, 0, "%w %w 0000 0000", lost - 1, 64u << 20);
		else
			peer_chunk(WIRE_SCTP_SACK, 0, "%w %w 0001 0000 %w", lost - 1, 64u << 20,
				   2u << 16 | (highest - lost + 1));
		peer_send();
	}
	assert_in_range(highest - lost, distance ? 32000 : 4000, 32767);
	iw_qp_free(stack_x->qp); /* aborts the Write */
	stack_x->qp = NULL;
	iw_mr_free(mr);
	stack_stop();
	free(source);
}

static void never_too_far_ahead(void **state)
{
	ROWS("5043-10-06 5043-10-07");

	too_far_ahead(0);
	too_far_ahead(UINT32_MAX); /* whatever the configuration */
}

/* ---- sizes ---- */

/* A Write of 8000 bytes on paths of these MTUs (IPv4, UDP): whole chunks of maximum size. */
static void segments_follow_the_mtu(void **state)
{
	ROWS("5043-2-06 5043-9-01 5043-9-02 5043-9-03 5043-9-05 5043-4-01");
	static const struct {
		uint32_t mtu;
		size_t longest; /* user message */
	} cases[] = { { 1500, 1444 }, { 9000, 8016 }, { 1280, 1224 }, { 576, 520 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_sctp_data d;
		size_t longest = 0;

		connected();
		set_mtu(cases[i].mtu);
		stack_st.longest = 0;
		fx_post(stack_x, 1, IW_WR_RDMA_WRITE, stack_x->base, 8000, 0x77, 0, 0);
		while (peer_takes(&d))
			longest = d.len > longest ? d.len : longest;
		assert_int_equal(longest, cases[i].longest);
		assert_true(stack_st.longest + 28 <= cases[i].mtu);
		assert_int_equal(fx_cqe(stack_x).status, IW_WC_SUCCESS);
		stack_stop();
	}
}

/* Chunks sent before the MTU shrank are repeated in one piece. IP may fragment them. */
static void a_shrunken_mtu(void **state)
{
	ROWS("5043-9-05 5043-9-01");
	struct wire_sctp_data d;
	unsigned int n = 0;

	connected();
	peer.mute = true;
	fx_post(stack_x, 1, IW_WR_RDMA_WRITE, stack_x->base, 1428, 0x77, 0, 0);
	assert_true(peer_takes(&d));
	assert_int_equal(d.len, 1444);
	set_mtu(600);
	peer.cum--;
	peer.stream[3].next--;
	while (!peer_takes(&d)) {
		assert_true(n++ < 100);
		stack_wait_ns(SECOND);
	}
	assert_int_equal(d.len, 1444); /* peer_takes() checks flags and DDP-SSN */
	stack_stop();
}

/* The floor of 516 bytes: maximum private data on the smallest path. */
static void largest_control_message_on_the_smallest_path(void **state)
{
	ROWS("5043-9-04 5043-9-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_event ev;

	memset(p.private_data, 'd', sizeof(p.private_data));
	p.private_data_len = 508;
	stack_start();
	peer_calls(&usual);
	set_mtu(576);
	peer_says(3, CONTROL, "0000 0005 0001 0001 %b", p.private_data, (size_t)508);
	ev = fx_event(stack_x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 508);
	assert_int_equal(iw_session_accept(ev.session, stack_x->qp, &p), 0);
	peer_hears(3, CONTROL, "0000 0006 0001 0001 %b", p.private_data, (size_t)508);
	peer_says(5, CONTROL, "0000 0001 %b", p.private_data, (size_t)512);
	ev = fx_event(stack_x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 512);
	assert_true(stack_st.longest + 28 <= 576);
	stack_stop();
}

/*
 * Bulk data in both directions: packets have a SACK and segments, which are cut to the remaining
 * room.
 */
static void sacks_share_packets_with_segments(void **state)
{
	ROWS("5043-9-07");
	struct wire_sctp_data d = { 0 };
	const uint8_t *sack_in = NULL;
	struct wire_sctp_chunk c;
	unsigned int together = 0;

	connected();
	stack_st.longest = 0;
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t fill[1000] = { 0 };

		peer_begin();
		peer_data(peer.tsn++, WHOLE, 3, SEGMENT, "%b C1 40 %w %q %b",
			  (uint8_t[]){ 0, (uint8_t)(i + 1) }, (size_t)2, stack_x->stag,
			  stack_x->base, fill, sizeof(fill));
		fx_post(stack_x, i, IW_WR_RDMA_WRITE, stack_x->base, 4000, 0x77, 0, 0);
		peer_send();
		while (peer_next(&c)) {
			if (c.type == WIRE_SCTP_SACK) {
				sack_in = c.raw;
			} else if (c.type == WIRE_SCTP_DATA) {
				assert_true(wire_sctp_data_get(&c, &d));
				together += sack_in == peer.in + 12 && c.raw > sack_in &&
					    d.len > 1300;
				peer.cum = d.tsn;
			}
			if (peer.at == peer.in + peer.in_len)
				sack_in = NULL;
		}
		peer_sack(peer.cum);
	}
	assert_true(together > 0);
	assert_true(stack_st.longest + 28 <= 1500);
	stack_stop();
}

/* ---- the end of associations ---- */

/*
 * The peer breaks SCTP's rules: SCTP ends the association, and RDMAP sends nothing on any stream.
 */
static void errors_of_the_association(void **state)
{
	ROWS("5043-11.3-01 5043-11.3-02 5043-11.3-03 6581-8-06");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *qp[3];

	for (unsigned int how = 0; how < 4; how++) {
		stack_start();
		peer_calls(&usual);
		for (uint16_t i = 0; i < 3; i++) {
			qp[i] = fx_qp_sized(stack_x, stack_x->pd, stack_x->cq, 8);
			peer_says(i, CONTROL, "0000 0001");
			assert_int_equal(
				iw_session_accept(fx_event(stack_x, IW_EVENT_INITIATE).session,
						  qp[i], &p),
				0);
			peer_hears(i, CONTROL, "0000 0002");
		}
		peer_hears_nothing();
		memset(peer.heard, 0, sizeof(peer.heard));
		if (how == 0) { /* DATA without data */
			peer_begin();
			peer_data(peer.tsn++, WHOLE, 1, SEGMENT, "");
			peer_send();
		} else if (how == 1) { /* acknowledges a TSN never sent */
			peer_sack(peer.cum + 1000);
		} else if (how == 2) {
			peer_begin();
			peer_chunk(WIRE_SCTP_ABORT, 0, "");
			peer_send();
		} else { /* becomes silent */
			for (unsigned int i = 0; i < 3; i++) {
				struct iw_qp *first = stack_x->qp;

				stack_x->qp = qp[i];
				fx_post(stack_x, 1, IW_WR_SEND, stack_x->base, 1, 0, 0, 0);
				stack_x->qp = first;
			}
			peer.mute = true;
			for (unsigned int i = 0; i < 100 && !stack_st.lost; i++) {
				stack_wait_ns(SECOND);
				stack_st.head = stack_st.tail;
			}
			assert_true(stack_st.lost);
		}
		peer_hears_nothing();
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		assert_int_equal(peer.heard[WIRE_SCTP_ABORT], how < 2);
		assert_true(stack_st.lost);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(atomic_load(&qp[i]->state), IW_QPS_ERR);
			iw_qp_free(qp[i]);
		}
		stack_stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_duplicates_are_no_part_of_the_next_session),
		cmocka_unit_test(a_terminate_waits_for_the_sack),
		cmocka_unit_test(a_new_initiate_waits_for_the_sack),
		cmocka_unit_test(small_sends_go_at_once),
		cmocka_unit_test(never_more_than_the_window),
		cmocka_unit_test(never_too_far_ahead),
		cmocka_unit_test(segments_follow_the_mtu),
		cmocka_unit_test(a_shrunken_mtu),
		cmocka_unit_test(largest_control_message_on_the_smallest_path),
		cmocka_unit_test(sacks_share_packets_with_segments),
		cmocka_unit_test(errors_of_the_association),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
