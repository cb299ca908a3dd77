/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Every message of a peer in every state of a stream (RFC 5043 6, RFC 6581 7): the messages sent,
 * and the application's events.
 */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#define BODY(s) s, sizeof(s) - 1
#define TAGGED "\xc1\x40STAGTOTOTOTO" /* an RDMA Write: STag and TO are filled in */
#define UNTAGGED "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0" /* a Send, MSN 1 */

/* Messages after the DDP-SSN. */
static const struct message {
	const char *name;
	uint32_t ppid;
	const char *body;
	size_t len;
} messages[] = {
	{ "function code 0", 17, BODY("\0\0") },
	{ "Initiate", 17, BODY("\0\1data") },
	{ "Accept", 17, BODY("\0\2data") },
	{ "Reject", 17, BODY("\0\3data") },
	{ "Terminate", 17, BODY("\0\4") },
	{ "Enhanced Initiate", 17, BODY("\0\5\0\1\0\1data") },
	{ "Enhanced Accept", 17, BODY("\0\6\0\1\0\1data") },
	{ "Enhanced Reject", 17, BODY("\0\7\0\1\0\1data") },
	{ "function code 0x0008", 17, BODY("\0\x8") },
	{ "function code 0x0100", 17, BODY("\1\0") },
	{ "function code 0xffff", 17, BODY("\xff\xff") },
	{ "Terminate with data", 17, BODY("\0\4data") },
	{ "Enhanced Initiate of 3 bytes", 17, BODY("\0\5\0\1\0") },
	{ "half a function code", 17, BODY("\0") },
	{ "no function code", 17, BODY("") },
	{ "Write", 16, BODY(TAGGED "w") },
	{ "Send", 16, BODY(UNTAGGED "s") },
	{ "13 bytes of a Write", 16, TAGGED, 13 },
	{ "17 bytes of a Send", 16, UNTAGGED, 17 },
	{ "no segment", 16, BODY("") },
	{ "PPID 0", 0, BODY("\0\1data") },
	{ "PPID 18", 18, BODY(UNTAGGED "s") },
};

#define MESSAGES (sizeof(messages) / sizeof(messages[0]))
#define WRITE_AT 100

/*
 * Reactions, one letter for each message:
 *	i	event: a request; nothing is sent
 *	a	event: the Accept; nothing is sent
 *	r	event: the Reject; nothing is sent, and the stream is free
 *	f	a plain Initiate is sent on another stream
 *	u	event: the Initiate was refused; nothing is sent, and the stream is free
 *	e	the orderly end: an event, and a session Terminate is sent
 *	c	illegal, as both sides have called: a session Terminate is sent immediately;
 *		an event, and the same QP may call once more
 *	T	illegal: a session Terminate is sent immediately; event: a protocol error, if the
 *		application knows of the session
 *	w	the segment is placed and delivered
 *	-	no reaction
 *	x	no reaction, but the stream is free
 */
struct state {
	void (*enter)(struct fx *x);
	uint16_t our_ssn; /* of the next local message */
	bool known;	  /* to the application */
	/*                      0 I A R T EI EA ER 8 256 ffff T+ EI- half none W S W- S- none P0 P18 */
	const char *reactions;
};

static void expect_session_terminate(struct fx *x, uint16_t ssn)
{
	uint8_t want[] = { ssn >> 8, (uint8_t)ssn, 0, 4 };

	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->msg.sid, x->sid);
	assert_int_equal(x->out_len, sizeof(want));
	assert_memory_equal(x->out, want, sizeof(want));
}

static void expect_closed(struct fx *x, int error)
{
	struct iw_event ev = fx_event(x, IW_EVENT_CLOSED);

	assert_int_equal(ev.error, error);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
	assert_int_equal(fx_cqe(x).status, IW_WC_WR_FLUSH_ERR);
}

/* A wrong message must be handled as soon as it arrives. */
static void expect_protocol_error(struct fx *x, const struct state *st)
{
	struct iw_event ev;

	fx_ack(x, 1); /* all messages sent before have arrived */
	expect_session_terminate(x, st->our_ssn);
	if (!st->known)
		return;
	assert_true(iw_next_event(x->iw, &ev));
	if (ev.type == IW_EVENT_QP_FATAL)
		assert_true(iw_next_event(x->iw, &ev));
	assert_int_equal(ev.type, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -EPROTO);
	assert_int_equal(ev.param.private_data_len, 0);
	if (ev.qp) {
		assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
		assert_int_equal(fx_cqe(x).status, IW_WC_WR_FLUSH_ERR);
	}
}

static void expect_data(const struct iw_event *ev)
{
	assert_int_equal(ev->param.private_data_len, 4);
	assert_memory_equal(ev->param.private_data, "data", 4);
}

static void expect_delivery(struct fx *x, const struct message *m)
{
	if (m->body[0] & DDP_TAGGED) {
		assert_int_equal(x->mem[WRITE_AT], 'w');
		x->mem[WRITE_AT] = 0;
	} else {
		struct iw_cqe cqe = fx_cqe(x);

		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.byte_len, 1);
		assert_int_equal(x->mem[0], 's');
		x->mem[0] = 0;
	}
}

static void expect_plain_initiate(struct fx *x)
{
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->msg.sid, 2);
	assert_int_equal(x->out_len, 4);
	assert_memory_equal(x->out, "\0\0\0\1", 4);
}

static void react(struct fx *x, const struct state *st, const struct message *m, char reaction)
{
	struct iw_event ev;

	switch (reaction) {
	case 'i':
		ev = fx_event(x, IW_EVENT_INITIATE);
		expect_data(&ev);
		break;
	case 'a':
		ev = fx_event(x, IW_EVENT_ACCEPT);
		expect_data(&ev);
		assert_int_equal(atomic_load(&x->qp->state), IW_QPS_RTS);
		break;
	case 'r':
		ev = fx_event(x, IW_EVENT_REJECT);
		expect_data(&ev);
		assert_int_equal(iw_assoc_sessions(x->assoc), 0);
		break;
	case 'f':
		expect_plain_initiate(x);
		break;
	case 'u':
		expect_closed(x, -ECONNREFUSED);
		assert_int_equal(iw_assoc_sessions(x->assoc), 0);
		break;
	case 'e':
		expect_session_terminate(x, st->our_ssn);
		ev = fx_event(x, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, 0);
		fx_ack(x, 1);
		assert_int_equal(iw_assoc_sessions(x->assoc), 0);
		break;
	case 'c':
		expect_session_terminate(x, st->our_ssn);
		ev = fx_event(x, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, -ECONNRESET);
		assert_int_equal(atomic_load(&x->qp->state), IW_QPS_INIT);
		break;
	case 'T':
		expect_protocol_error(x, st);
		break;
	case 'w':
		expect_delivery(x, m);
		break;
	case 'x':
		assert_int_equal(iw_assoc_sessions(x->assoc), 0);
		break;
	default:
		assert_int_equal(reaction, '-');
	}
	assert_false(fx_pull(x));
	fx_no_event(x);
	/* No illegal message has reached memory. */
	for (size_t i = 0; i < FX_MEM; i++)
		assert_int_equal(x->mem[i], 0);
}

static void check_state(const struct state *st)
{
	assert_int_equal(strlen(st->reactions), MESSAGES);
	for (size_t i = 0; i < MESSAGES; i++) {
		const struct message *m = &messages[i];
		uint8_t body[64];
		struct fx x;

		print_message("%s: %c\n", m->name, st->reactions[i]);
		st->enter(&x);
		memcpy(body, m->body, m->len);
		if (m->ppid == 16 && m->len > 13 && (body[0] & DDP_TAGGED)) {
			put_be32(body + 2, x.stag);
			put_be64(body + 6, x.base + WRITE_AT);
		}
		fx_feed(&x, m->ppid, x.ssn, body, m->len);
		react(&x, st, m, st->reactions[i]);
		fx_stop(&x);
	}
}

/* ---- the states ---- */

static void enter_idle(struct fx *x)
{
	fx_start(x, false);
	x->sid = 5;
}

static void stream_without_session(void **state)
{
	ROWS("5043-6.1-05 5043-6.1-07 5043-6.1-09 5043-6.1-10 5043-12-01 5043-5.2-01 "
	     "5043-5.2.3-13 6581-12-01 5043-6.1-04 6581-7-13 6581-11-01");
	static const struct state idle = {
		enter_idle,
		0,
		false,
		"TiTTTiTTTTTTTTTTTTTTTT",
	};

	check_state(&idle);
}

/* The peer's Initiate waits for the application's decision. */
static void enter_requested(struct fx *x)
{
	enter_idle(x);
	fx_control(x, SESSION_INITIATE, NULL, 0);
	fx_event(x, IW_EVENT_INITIATE);
}

static void enter_requested_enhanced(struct fx *x)
{
	enter_idle(x);
	fx_control(x, SESSION_ENHANCED_INITIATE, "\0\1\0\1", 4);
	fx_event(x, IW_EVENT_INITIATE);
}

static void initiate_undecided(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-06 5043-6.1-07 5043-6.1-09 5043-6.1-10 5043-6.1-11 "
	     "5043-6.4-01 5043-6.3-01");
	static const struct state plain = {
		enter_requested, 0, true, "TTTTeTTTTTTTTTTTTTTTTT",
	}, enhanced = {
		enter_requested_enhanced, 0, true, "TTTTeTTTTTTTTTTTTTTTTT",
	};

	check_state(&plain);
	check_state(&enhanced);
}

/* The local Initiate waits for its answer. */
static void enter_initiating(struct fx *x)
{
	struct iw_session_param p = { .ird = 1, .ord = 1, .rnr_retry_count = 7 };

	fx_start(x, true);
	fx_post_recv(x, 1, x->base, 16, x->stag);
	assert_int_equal(iw_session_initiate(x->assoc, x->qp, &p, NULL, &x->session), 0);
	assert_true(fx_pull(x));
	assert_int_equal(x->out_len, 8);
	assert_memory_equal(x->out, "\0\0\0\5\0\1\0\1", 8);
}

static void enhanced_initiate_unanswered(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-05 5043-6.1-06 5043-6.1-09 5043-6.1-10 5043-6.3-04 "
	     "5043-5.2.3-13 6581-7-13 6581-7-21 6581-7-22 6581-7-20 6581-8-06");
	static const struct state initiating = {
		enter_initiating,
		1,
		true,
		"TcTrfcarTTTTTTTTTTTTTT",
	};

	check_state(&initiating);
}

static void enter_initiating_plain(struct fx *x)
{
	enter_initiating(x);
	fx_control(x, SESSION_TERMINATE, NULL, 0); /* so send a plain Initiate */
	x->acked++;
	expect_plain_initiate(x);
	x->sid = 2;
	x->ssn = 0;
}

static void plain_initiate_unanswered(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-05 5043-6.1-06 5043-6.1-09 5043-6.1-10 5043-6.3-04 "
	     "5043-5.2.3-13 6581-7-21");
	static const struct state initiating = {
		enter_initiating_plain,
		1,
		true,
		"TcarucTTTTTTTTTTTTTTTT",
	};

	check_state(&initiating);
}

static void enter_established_passive(struct fx *x)
{
	fx_passive(x, 1, 1, 7);
	fx_post_recv(x, 1, x->base, 16, x->stag);
}

static void enter_established_active(struct fx *x)
{
	enter_initiating(x);
	x->acked++;
	fx_control(x, SESSION_ENHANCED_ACCEPT, "\0\1\0\1", 4);
	fx_event(x, IW_EVENT_ACCEPT);
}

static void established(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-06 5043-6.1-07 5043-6.1-09 5043-6.1-10 5043-6.1-11 "
	     "5043-5.2-01 5043-5.2.3-13 5043-6.2-05 6581-8-06");
	static const struct state passive = {
		enter_established_passive, 1, true, "TTTTeTTTTTTTTTTwwTTTTT",
	}, active = {
		enter_established_active, 1, true, "TTTTeTTTTTTTTTTwwTTTTT",
	};

	check_state(&passive);
	check_state(&active);
}

/* The local Terminate has been sent, the peer's has not arrived. */
static void enter_closing(struct fx *x)
{
	fx_passive(x, 1, 1, 7);
	iw_session_close(x->session);
	expect_session_terminate(x, 1);
	x->acked++;
}

static void terminate_sent(void **state)
{
	ROWS("5043-6.2-07 5043-6.1-11");
	static const struct state closing = {
		enter_closing,
		2,
		false,
		"----x------x----------",
	};

	check_state(&closing);
}

/* Both sides have sent their Terminates. */
static void enter_over(struct fx *x)
{
	enter_closing(x);
	fx_control(x, SESSION_TERMINATE, NULL, 0);
}

static void behind_the_end(void **state)
{
	ROWS("5043-6.1-08 5043-6-01");
	static const struct state over = {
		enter_over,
		0,
		false,
		"----------------------",
	};

	check_state(&over);
}

/* The peer's Terminate has arrived, the local one is not acknowledged yet. */
static void enter_ended_by_peer(struct fx *x)
{
	enter_established_passive(x);
	fx_control(x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(fx_cqe(x).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(fx_event(x, IW_EVENT_CLOSED).error, 0);
	expect_session_terminate(x, 1);
}

static void behind_the_peers_terminate(void **state)
{
	ROWS("5043-6.1-08 5043-6-01");
	static const struct state ended = {
		enter_ended_by_peer,
		2,
		false,
		"----------------------",
	};

	check_state(&ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream_without_session),
		cmocka_unit_test(initiate_undecided),
		cmocka_unit_test(enhanced_initiate_unanswered),
		cmocka_unit_test(plain_initiate_unanswered),
		cmocka_unit_test(established),
		cmocka_unit_test(terminate_sent),
		cmocka_unit_test(behind_the_end),
		cmocka_unit_test(behind_the_peers_terminate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
