/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * A genuine peer uses up everything it can: windows, time, memory, streams, events (RFC 5042 6.4,
 * RFC 9260 12). It gets only its own share, and does not affect other peers.
 */
#include "fixture/llp_script.h"

#include "iwarp/mr.h"
#include "iwarp/rnic.h"
#include "iwarp/session.h"
#include "wire/session.h"

/* ---- a second peer ---- */

static struct {
	struct sctp_assoc *a;
	struct path_addr path;
	uint32_t tag;	    /* the instance's */
	uint32_t cum;	    /* the peer's cumulative TSN */
	unsigned int wants; /* messages that the peer still gets */
} other;

static size_t pull_both(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	if (user != &other)
		return pull_rnic(user, buf, room, msg);
	if (!other.wants || room < 100)
		return 0;
	other.wants--;
	memset(buf, 1, 100);
	*msg = (struct sctp_msg){ .sid = 1, .ppid = 16 };
	return 100;
}

/* Opens another association, with another host. The first association stays f.a. */
static void open_other(void)
{
	struct sctp_assoc *first = f.a;
	struct path_addr path = f.path;
	struct wire_sctp_init init = our_init(), ack;

	memset(&other, 0, sizeof(other));
	f.path.remote = simnet_v4(3);
	read_init_ack(init_exchange(&init), &ack);
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
	drop_all();
	other.a = f.a;
	other.tag = ack.tag;
	other.cum = ack.tsn - 1;
	other.path = f.path;
	sctp_assoc_set_user(other.a, &other);
	f.s->ops.pull = pull_both;
	f.path = path;
	f.a = first;
}

/* The second peer gets a message and acknowledges it. */
static void other_works(void)
{
	struct packet *p;
	bool came = false;

	drop_all();
	other.wants = 1;
	sctp_assoc_doorbell(other.a);
	collect();
	while ((p = take()))
		if (ip_addr_equal(&p->to.remote, &other.path.remote)) {
			struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_DATA);

			assert_int_equal(get_be32(c.raw + 4), other.cum + 1);
			came = true;
		}
	assert_true(came);
	begin_tag(other.tag);
	add_sack(++other.cum, 1000000, NULL, 0);
	send_from(&other.path);
	assert_true(sctp_assoc_is_drained(other.a));
}

/* ---- time ---- */

/* The answer of the first association's peer to DATA. */
enum manner { SILENT, NOTHING_NEW, NO_WINDOW };

/* Answers HEARTBEATs, and answers DATA in the given manner. */
static void peer_answers(enum manner manner)
{
	struct packet *p;

	while ((p = take())) {
		const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
		struct wire_sctp_chunk c;

		if (!f.a || vtag_of(p) != f.a->peer_tag ||
		    !ip_addr_equal(&p->to.remote, &f.path.remote))
			continue;
		while (f.a && wire_sctp_chunk_next(&q, p->data + p->len, &c)) {
			begin();
			if (c.type == WIRE_SCTP_HEARTBEAT)
				memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, c.len - 4u), c.raw + 4,
				       c.len - 4u);
			else if (c.type == WIRE_SCTP_DATA && manner != SILENT)
				add_sack(f.their_tsn - 1, manner == NO_WINDOW ? 0 : 1000000, NULL,
					 0);
			else
				continue;
			sendp();
		}
	}
}

/* Lets ns nanoseconds pass, or less if the association ends before. */
static void live(enum manner manner, uint64_t ns)
{
	uint64_t end = f.now + ns;

	while (f.a && f.now < end) {
		wait_ns(100 * MSEC);
		iw_set_now(x.iw, f.now);
		peer_answers(manner);
	}
}

static void with_heartbeats(void)
{
	f.s->config.heartbeat_interval = SEC;
	sctp_path_start(f.a, f.now);
}

/* Takes all completions. Returns the number of flushed ones. */
static unsigned int flushed(void)
{
	struct iw_cqe cqe;
	unsigned int n = 0;

	while (iw_cq_poll(x.cq, 1, &cqe))
		n += cqe.status == IW_WC_WR_FLUSH_ERR;
	return n;
}

static void post_sends(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		fx_post(&x, 100 + i, IW_WR_SEND, x.base, 4096, 0, 0, 0);
	for (i = 0; i < 10; i++)
		fx_post_recv(&x, i, x.base, 16, x.stag);
	collect();
}

/* Checks that the association is lost, and reports the loss to iwarp as conn/ does. */
static void is_lost(int error)
{
	static const struct iw_llp_ops llp = { .doorbell = doorbell_sctp, .acked = acked_by_sctp };
	struct iw_event ev;

	assert_null(f.a);
	assert_int_equal(f.error, error);
	/* The connection manager reports the loss to the listener. */
	iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = &x });
	iw_assoc_lost(x.assoc, f.error);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_ptr_equal(ev.qp, x.qp);
	assert_int_equal(ev.error, error);
	fx_no_event(&x);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
	x.assoc = iw_assoc_new(x.iw, &llp, NULL, false, 4, 1452);
}

/*
 * A live peer never acknowledges, or acknowledges the same TSN again and again. The association
 * ends after the silent limit and one more retransmission. Every work request completes.
 */
static void never_acknowledges(void **state)
{
	enum manner manner;

	ROWS("9260-8.1-01");
	for (manner = SILENT; manner <= NOTHING_NEW; manner++) {
		uint64_t begun;

		close_all(state);
		open_all(state);
		with_heartbeats();
		post_sends(60);
		begun = f.now;
		live(manner, 29 * SEC);
		assert_non_null(f.a);
		live(manner, 300 * SEC);
		assert_true(f.now - begun <= 64 * SEC);
		is_lost(-ETIMEDOUT);
		assert_true(flushed() >= 10 + 50);
		assert_true(iw_cq_is_empty(x.cq));
	}
}

/*
 * A peer may keep its window closed for ever (RFC 9260 6.1 A). The messages already sent stay
 * outstanding, other peers are not affected, and the QP can be destroyed at any time.
 */
static void zero_window_for_ever(void **state)
{
	unsigned int i;

	ROWS("9260-6.1-02 5042-6.4.1-01");
	open_other();
	with_heartbeats();
	post_sends(60);
	peer_answers(NO_WINDOW);
	for (i = 0; i < 60; i++) {
		live(NO_WINDOW, 10 * SEC);
		assert_non_null(f.a);
		assert_true(sctp_outq_count(&f.a->out) <= 8);
		other_works();
	}
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	assert_true(flushed() >= 50 + 10);
	iw_qp_free(x.qp); /* does not wait for the peer */
	x.qp = NULL;
	live(NO_WINDOW, 10 * SEC);
	other_works();
	sctp_assoc_abort(f.a);
	f.a = NULL;
	collect();
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	other_works();
}

/* A peer with a closed window does not delay a shutdown for longer than T5 (RFC 9260 9.2). */
static void zero_window_at_the_end(void **state)
{
	uint64_t begun;

	ROWS("9260-9.2-02");
	with_heartbeats();
	post_sends(60);
	peer_answers(NO_WINDOW);
	begun = f.now;
	sctp_assoc_shutdown(f.a, f.now);
	live(NO_WINDOW, 1000 * SEC);
	assert_true(f.now - begun <= 302 * SEC);
	is_lost(-ETIMEDOUT);
	assert_true(flushed() >= 60);
}

/* A host on the path forges an ABORT: the session ends, and the work requests are flushed. */
static void forged_abort(void **state)
{
	ROWS("5043-11.3-03");
	open_other();
	post_sends(60);
	begin();
	add(WIRE_SCTP_ABORT, 0, 0);
	sendp();
	is_lost(-ECONNRESET);
	assert_true(flushed() >= 60);
	other_works();
}

/* ---- memory ---- */

static void send_data(uint32_t data_tsn, uint8_t flags, size_t len)
{
	begin();
	add_data_flags(data_tsn, flags, len, 7);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	collect();
	drop_all();
}

/* Fragments in every order never become a whole message. */
static void fragments_for_ever(void **state)
{
	unsigned int round, i;

	ROWS("5042-6.4.1-01");
	for (round = 0; round < 3; round++) {
		close_all(state);
		open_all(state);
		open_other();
		for (i = 0; i < 20000 && f.a; i++) {
			uint32_t at = round == 0 ? i :			   /* no message ends */
				      round == 1 ? 2 * i + 1 :		   /* holes in between */
						   /* random */
						   sim_random_below(&f.random, 40000);

			send_data(tsn + at, (uint8_t)(U | (round == 1 && i & 1 ? B : 0)), 1000);
			if (!f.a)
				break;
			assert_int_equal(f.rx.count, 0);
			assert_true(f.a->rx.reasm.bytes <= 384u << 10);
			assert_true(f.a->rx.reasm.count <= 512);
			assert_true(f.a->rx.map.size <= 32768);
		}
		/* an association with a message that cannot end is aborted */
		if (round == 0)
			assert_null(f.a);
		other_works();
		if (!f.a)
			is_lost(-EPROTO);
	}
}

/*
 * The first TSN never arrives. The memory for later TSNs is limited, and so is the SACK's length.
 */
static void gaps_for_ever(void **state)
{
	unsigned int i;

	ROWS("9260-6.2-06 5042-6.4.1-01");
	open_other();
	for (i = 0; i < 100000; i++) {
		uint32_t ahead = i < 50000 ? 1 + 2 * i : (uint32_t)sim_random_u64(&f.random) | 1;

		begin();
		add_data(tsn + ahead);
		wire_sctp_checksum_put(f.buf, f.len);
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		assert_non_null(f.a);
		if (ahead > 32768)
			assert_int_equal(f.rx.count, 0);
		assert_true(f.a->rx.map.size <= 32768);
		assert_int_equal(f.a->rx.map.cum, tsn - 1);
		if (i % 1000 == 0) {
			struct packet *p;

			collect();
			while ((p = take()))
				assert_true(p->len <= 1472);
			other_works();
		}
	}
	collect();
	drop_all();
}

/* DDP segments of a stream arrive with the highest possible DDP-SSNs, and then the first one. */
static void segments_far_ahead(void **state)
{
	uint32_t i;

	ROWS("5042-6.4.1-01");
	open_other();
	for (i = 2; i < 70000; i += i < 200 ? 1 : 37) {
		begin();
		add_message(tsn++, WHOLE, 16, "%b c1 40 %w %q 'x'",
			    (const uint8_t[]){ (uint8_t)(i >> 8), (uint8_t)i }, (size_t)2, x.stag,
			    x.base);
		send_packet();
		drop_all();
		assert_true(x.session->rx.order.size <= 32768);
	}
	fx_no_event(&x);
	other_works();
	begin();
	add_message(tsn++, WHOLE, 16, "0001 c1 40 %w %q 'x'", x.stag, x.base);
	send_packet();
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	assert_int_equal(x.session->rx.order.used > 0, 1); /* segments after the next hole */
}

/* ---- sessions ---- */

/* Private data of every length is passed on unchanged, or the session ends. */
static void private_data_of_all_lengths(void **state)
{
	uint8_t body[700];
	size_t len, i;

	ROWS("5043-5.2.3-10");
	for (i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)(i * 7);
	for (len = 0; len <= 590; len++)
		for (i = 0; i < 2; i++) {
			const size_t head = i ? 4 : 0; /* the depths of an Enhanced Initiate */
			struct iw_event ev;
			bool any;

			x.sid = 5;
			x.ssn = 0;
			fx_control(&x, i ? SESSION_ENHANCED_INITIATE : SESSION_INITIATE, body, len);
			any = iw_next_event(x.iw, &ev);
			assert_int_equal(any, len >= head && len <= IW_MAX_PRIVATE_DATA);
			if (any) {
				assert_int_equal(ev.type, IW_EVENT_INITIATE);
				assert_int_equal(ev.param.private_data_len, len - head);
				assert_memory_equal(ev.param.private_data, body + head, len - head);
				iw_session_refuse(ev.session);
			}
			assert_true(fx_pull(&x));
			assert_int_equal(get_be16(x.out + 2), SESSION_TERMINATE);
			x.sid = 5;
			fx_control(&x, SESSION_TERMINATE, NULL, 0);
			while (fx_pull(&x))
				;
			iw_assoc_lost(x.assoc, 0);
			while (iw_next_event(x.iw, &ev))
				;
			x.assoc = iw_assoc_new(x.iw,
					       &(struct iw_llp_ops){ .doorbell = fx_doorbell,
								     .acked = fx_acked },
					       &x, false, 64, 1452);
		}
}

/*
 * All 65535 streams of an association begin, twice. Each gets one session, and other associations
 * are not affected.
 */
static void initiates_everywhere(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	unsigned int n = 0, round, i;
	struct iw_assoc *flood;
	struct iw_event ev;

	ROWS("5042-6.4.1-02");
	flood = iw_assoc_new(x.iw, &llp, &x, false, 65535, 1452);
	for (round = 0; round < 2; round++)
		for (i = 0; i < 65535; i++)
			assert_int_equal(iw_assoc_receive(flood, (uint16_t)i, 17,
							  (const uint8_t *)"\0\0\0\1", 4),
					 0);
	assert_int_equal(iw_assoc_receive(flood, 65535, 17, (const uint8_t *)"\0\0\0\1", 4),
			 -EPROTO);
	assert_int_equal(iw_assoc_sessions(flood), 65535);
	assert_true(x.iw->session_count <= 65536);
	/* the first session works */
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	begin();
	add_message(tsn++, WHOLE, 16, "0001 41 43 00000000  00000000 00000001 00000000 'on'");
	send_packet();
	assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	while (iw_next_event(x.iw, &ev)) {
		assert_int_equal(ev.type, IW_EVENT_INITIATE);
		if (n++ >= 10)
			iw_session_refuse(ev.session);
	}
	assert_int_equal(n, 65535);
	for (n = 0; iw_assoc_pull(flood, x.out, 1452, &x.msg); n++)
		assert_int_equal(get_be16(x.out + 2), SESSION_TERMINATE);
	assert_int_equal(n, 65525);
	iw_assoc_lost(flood, -ECONNRESET);
	while (iw_next_event(x.iw, &ev))
		;
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	/* Sessions without a decision stay until the application decides. */
	assert_true(x.iw->session_count <= 11);
}

/* Thousands of Terminates of both kinds arrive. A session ends once, with one event. */
static void terminate_storm(void **state)
{
	unsigned int i, messages = 0;

	ROWS("5042-2.2.7-01");
	open_other();
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	for (i = 0; i < 5000; i++) {
		begin();
		switch (i % 3) {
		case 0:
			add_message(tsn++, WHOLE, 16,
				    "%b 41 47 00000000  00000002 %w 00000000  12 02 0000",
				    (const uint8_t[]){ (uint8_t)((i + 1) >> 8), (uint8_t)(i + 1) },
				    (size_t)2, i + 1);
			break;
		case 1:
			add_message(tsn++, WHOLE, 17, "%b 0004",
				    (const uint8_t[]){ (uint8_t)((i + 1) >> 8), (uint8_t)(i + 1) },
				    (size_t)2);
			break;
		default: /* the first message of a new stream */
			sid = (uint8_t)(1 + i % 19);
			add_message(tsn++, WHOLE, 17, "0000 0004");
			sid = 0;
		}
		send_packet();
		for (; next_chunk().raw; messages++)
			acknowledge(f.their_tsn++);
	}
	fx_event(&x, IW_EVENT_QP_FATAL);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_no_event(&x);
	assert_int_equal(flushed(), 1);
	assert_true(messages <= 2 + 5000 / 3 + 1); /* at most one for each new stream */
	assert_true(x.iw->session_count <= 64);
	other_works();
}

/* ---- STags ---- */

/* Only the first of a packet's guessed STags counts: a wrong STag ends the session. */
static void packet_of_guesses(void **state)
{
	unsigned int i;

	ROWS("5042-5.1.1-01 5042-6.1.1-01");
	memset(x.mem, 0x11, FX_MEM);
	begin();
	for (i = 1; i < 40; i++)
		add_message(tsn++, WHOLE, 16, "00 %b c1 40 %w %q 'guess'",
			    &(const uint8_t){ (uint8_t)i }, (size_t)1,
			    x.stag + (i == 20 ? 0 : i << 8), x.base);
	send_packet();
	for (i = 0; i < FX_MEM; i++)
		assert_int_equal(x.mem[i], 0x11);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
	drop_all();
}

#define TAGS 65536u

/* True if chi-squared is close to its expected value, buckets - 1. */
static bool is_even(const unsigned int *counts, unsigned int buckets, unsigned int total)
{
	double want = (double)total / buckets, sum = 0;
	unsigned int i;

	for (i = 0; i < buckets; i++)
		sum += (counts[i] - want) * (counts[i] - want) / want;
	/* six standard deviations of sqrt(2 * buckets) */
	return (sum - buckets) * (sum - buckets) < 36.0 * 2 * buckets;
}

/*
 * The next of 65,536 successive STags is not predictable. Every byte is even in the STags, in the
 * differences of neighbours, and in those of STags that are 65,536 apart. No bit correlates with
 * any bit of the next STag.
 */
static void unpredictable_stags(void **state)
{
	static uint32_t tags[2 * TAGS];
	static unsigned int bytes[4][4][256], index[2][4096];
	unsigned int i, bit, next, k;
	struct iw_mr *mr;

	ROWS("5042-6.1.1-05");
	for (i = 0; i < 2 * TAGS; i++) {
		assert_int_equal(iw_mr_new(x.pd, x.base, 10, x.base, 0, NULL, &mr), 0);
		tags[i] = iw_mr_stag(mr);
		iw_mr_free(mr);
	}
	memset(bytes, 0, sizeof(bytes));
	memset(index, 0, sizeof(index));
	for (i = 0; i < TAGS; i++) {
		uint32_t before = tags[i ? i - 1 : TAGS - 1];
		const uint32_t views[4] = { tags[i], tags[i] ^ before, tags[i] - before,
					    tags[i] ^ tags[i + TAGS] };

		for (k = 0; k < 4; k++)
			for (bit = 0; bit < 4; bit++)
				bytes[k][bit][views[k] >> 8 * bit & 255]++;
		index[0][tags[i] >> 8 & 4095]++;
		index[1][tags[i] >> 20]++;
	}
	for (k = 0; k < 4; k++)
		for (bit = 0; bit < 4; bit++)
			assert_true(is_even(bytes[k][bit], 256, TAGS));
	for (k = 0; k < 2; k++)
		assert_true(is_even(index[k], 4096, TAGS));
	for (bit = 0; bit < 32; bit++)
		for (next = 0; next < 32; next++) {
			unsigned int same = 0;

			for (i = 1; i < TAGS; i++)
				same += (tags[i - 1] >> bit & 1) == (tags[i] >> next & 1);
			/* 128 is a standard deviation */
			assert_in_range(same, TAGS / 2 - 6 * 128, TAGS / 2 + 6 * 128);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LLP_TEST(never_acknowledges),	  LLP_TEST(zero_window_for_ever),
		LLP_TEST(zero_window_at_the_end), LLP_TEST(forged_abort),
		LLP_TEST(fragments_for_ever),	  LLP_TEST(gaps_for_ever),
		LLP_TEST(segments_far_ahead),	  LLP_TEST(private_data_of_all_lengths),
		LLP_TEST(initiates_everywhere),	  LLP_TEST(terminate_storm),
		LLP_TEST(packet_of_guesses),	  LLP_TEST(unpredictable_stags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
