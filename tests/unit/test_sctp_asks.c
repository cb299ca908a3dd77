/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Requests for SACKs: if both sides announce that they request SACKs by the I bit, other SACKs are
 * few (docs/wire.md). An error here stalls a sender until a timer expires.
 */
#include "fixture/sctp_receipts_user.h"
#include "fixture/sctp_script.h"
#include "sctp/assoc.h"

#define SACK(n) "03 00 0010 P+" #n " ???????? 0000 0000"
#define ASKING_DATA(n) " / 00 0f 0011 P+" #n " 0001 0000 00000010 77 000000 "
#define ASK "< Ptag / be 02 0008 ????????"

/* Both sides request SACKs. The peer's first DATA was acknowledged. */
static int setup_asking(void **state)
{
	(void)state;
	receipts_user_start(1, 1);
	receipts_user_ask(true, true);
	associate();
	assert_true(sctp_assoc_agreed(f.a)->asks);
	script("> Dtag" PEER_DATA(0), "< Ptag / " SACK(0), "-");
	return 0;
}
#define ASKING_TEST(name) cmocka_unit_test_setup_teardown(name, setup_asking, teardown)

/* Delivers n packets of one chunk from the peer, from TSN P+first on. */
static void give(unsigned int first, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		begin();
		add_data(f.tsn + first + i);
		sendp();
	}
}

/* ---- local SACKs ---- */

static void test_unasked(void **state)
{
	give(1, SCTP_UNASKED_PACKETS - 1);
	nothing();
	give(SCTP_UNASKED_PACKETS, 1);
	script("< Ptag / " SACK(88), "-");
	/* The rest of a quarter without a request does not wait long. */
	give(SCTP_UNASKED_PACKETS + 1, 3);
	script("-", "wait 9", "-", "wait 2", "< Ptag / " SACK(91), "-");
}

static void test_asked(void **state)
{
	give(1, 5);
	script("-", "> Dtag" ASKING_DATA(6), "< Ptag / " SACK(6), "-");
	/*
	 * The SACK of a single packet waits for the user's answer, but not beyond a second packet.
	 */
	f.busy = true;
	script("> Dtag" ASKING_DATA(7), "-", "> Dtag" PEER_DATA(8), "< Ptag / " SACK(8), "-");
	/* The SACK has answered the request. */
	give(9, 5);
	nothing();
}

/*
 * A SACK about a gap comes without a request: a sender that repairs a loss may have nothing else to
 * send.
 */
static void test_gap(void **state)
{
	script("> Dtag" PEER_DATA(2), "< Ptag / 03 00 0014 P+0 ???????? 0001 0000 0002 0002", "-");
	script("> Dtag" PEER_DATA(1), "< Ptag / " SACK(2), "-");
	script("> Dtag" PEER_DATA(3), "-", "> Dtag" PEER_DATA(4), "-");
}

/* A remaining gap is reported for each packet, as usual. */
static void test_gaps(void **state)
{
	script("> Dtag" PEER_DATA(2), "< Ptag / 03 00 0014 P+0 ???????? 0001 0000 0002 0002", "-");
	script("> Dtag" PEER_DATA(4),
	       "< Ptag / 03 00 0018 P+0 ???????? 0002 0000 0002 0002 0004 0004", "-");
	script("> Dtag" PEER_DATA(1), "< Ptag / 03 00 0014 P+2 ???????? 0001 0000 0002 0002", "-");
	script("> Dtag" PEER_DATA(3), "< Ptag / " SACK(4), "-");
}

/* Only one side supports requests. */
static void only_one_asks(bool instance, bool peer)
{
	receipts_user_start(1, 1);
	receipts_user_ask(instance, peer);
	associate();
	assert_false(sctp_assoc_agreed(f.a)->asks);
	script("> Dtag" PEER_DATA(0), "< Ptag / " SACK(0), "> Dtag" PEER_DATA(1), "-",
	       "> Dtag" PEER_DATA(2), "< Ptag / " SACK(2), "-");
	receipts_user.plain_len = 1400;
	receipts_user.boasts = true;
	receipts_user_say(2, 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_false(chunk_of(take(), 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
	nothing();
}

static void test_peer_does_not_ask(void **state)
{
	only_one_asks(true, false);
	teardown(state);
}

/* A flag with version 0 is ignored. */
static void test_version_0(void **state)
{
	receipts_user_start(1, 0);
	receipts_user_ask(true, true);
	associate();
	assert_false(f.a->receipts.agreed.asks);
	teardown(state);
	receipts_user_start(0, 1);
	receipts_user_ask(true, true);
	associate();
	assert_false(f.a->receipts.agreed.asks);
	teardown(state);
}

static void test_instance_does_not_ask(void **state)
{
	only_one_asks(false, true);
	teardown(state);
}

/* ---- local requests ---- */

/*
 * Takes all packets. Returns the bytes of the longest series in which only the last packet has a
 * request.
 */
static uint32_t longest_unasked(void)
{
	uint32_t unasked = 0, longest = 0;
	struct packet *p;

	while ((p = take())) {
		struct wire_sctp_chunk c;
		const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
		bool asks = false;

		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			asks |= c.type == WIRE_SCTP_DATA && c.flags & WIRE_SCTP_DATA_I;
		unasked += (uint32_t)p->len;
		longest = unasked > longest ? unasked : longest;
		if (asks)
			unasked = 0;
	}
	assert_int_equal(unasked, 0); /* the last one has a request */
	return longest;
}

static void test_quarters(void **state)
{
	struct sctp_path *path = primary();
	uint32_t longest;

	receipts_user.plain_len = 1444; /* fills a packet */
	path->cc.cwnd = 80 * 1500;
	receipts_user_say(200, 0);
	longest = longest_unasked();
	assert_in_range(longest, path->cc.cwnd / 4, path->cc.cwnd / 4 + 1500);
	assert_in_range(path->flight, path->cc.cwnd, path->cc.cwnd + 1500);
}

/* Messages are so small that the TSN limit is reached before the window's. */
static void test_quarters_of_tsns(void **state)
{
	const unsigned int in_packet = 12;

	primary()->cc.cwnd = 1000 * 1500;
	f.a->window.peer_rwnd = 1000 * 1500;
	f.a->s->config.max_tsn_distance = 16 * in_packet;
	receipts_user_say(32 * in_packet, 0);
	assert_in_range(longest_unasked(), 3 * 1500, 4 * 1500);
	assert_int_equal(sctp_outq_count(&f.a->out), 16 * in_packet);
}

/* The user announced another message, but has none: no later packet can carry a request. */
static void test_nothing_follows(void **state)
{
	struct sctp_path *path = primary();

	sctp_rtt_sample(&path->rtt, 1000000);
	receipts_user.boasts = true;
	receipts_user_say(1, 0);
	script("< Ptag / 00 07 0074 D+0 0003 0000 00000010 70*100", ASK, "-");
	receipts_user_doorbell();
	script("-");
	/* The peer does not delay this SACK, so its loss is noticed soon. */
	assert_in_range(path->recovery.due[SCTP_PATH_TIMER(SCTP_TIMER_TLP)] - f.now, 1,
			SCTP_SACK_DELAY - 1);
	/* The last of several packets. */
	path->cc.cwnd = 80 * 1500;
	receipts_user.plain_len = 1400;
	receipts_user_say(3, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_false(chunk_of(take(), 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
	script(ASK, "-");
}

/* The peer's window is smaller than the local one. */
static void test_quarters_of_peer(void **state)
{
	uint32_t longest;

	receipts_user.plain_len = 1444;
	primary()->cc.cwnd = 1000 * 1500;
	f.a->window.peer_rwnd = 80 * 1500;
	receipts_user_say(200, 0);
	longest = longest_unasked();
	assert_in_range(longest, 20 * 1500, 21 * 1500);
}

/*
 * A tail-loss probe has a request, even if messages follow. The time of the next probe relies on
 * this.
 */
static void test_probe(void **state)
{
	struct sctp_path *path = primary();
	const uint64_t *due = &path->recovery.due[SCTP_PATH_TIMER(SCTP_TIMER_TLP)];

	receipts_user.plain_len = 1444;
	sctp_rtt_sample(&path->rtt, 1000000);
	receipts_user_say(10, 0);
	drop_all();
	assert_true(f.a->want_pull);
	wait_ns(*due - f.now);
	assert_true(chunk_of(take(), 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
	nothing();
	assert_in_range(*due - f.now, 1, SCTP_SACK_DELAY - 1);
}

/* The last retransmission that fits cwnd has a request, if others must wait. */
static void test_resent(void **state)
{
	struct sctp_path *path = primary();
	struct packet *p;

	receipts_user.plain_len = 1444;
	path->cc.cwnd = 80 * 1500;
	receipts_user_say(200, 0);
	drop_all();
	wait_ns(path->recovery.due[SCTP_PATH_TIMER(SCTP_TIMER_T3)] - f.now);
	drop_all();
	path->cc.cwnd = 10 * 1500; /* 11 packets, of which 3 are a quarter */
	path->cc.ssthresh = 1;
	begin();
	add_sack(f.their_tsn, 1000000, NULL, 0);
	sendp();
	assert_true(f.a->inflight.lost > 0);
	p = take();
	for (struct packet *next = take(); next; next = take())
		p = next;
	assert_true(chunk_of(p, 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
}

/*
 * A single packet whose completion nobody waits for has no request, whatever its share of the
 * window.
 */
static void test_lone(void **state)
{
	receipts_user.plain_len = 1444;
	receipts_user_say(1, 0);
	assert_true(primary()->cc.cwnd < 4 * 1444);
	assert_false(chunk_of(take(), 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
	script("> Dtag / 03 00 0010 D+0 00100000 0000 0000", "-");
	receipts_user.plain_len = 100;
	receipts_user_say(1, 0);
	script("< Ptag / 00 07 0074 D+1 0003 0000 00000010 70*100", "-");
	receipts_user_doorbell();
	script("-");
}

/* A request for a SACK is answered. */
static void test_ask_is_answered(void **state)
{
	give(1, 3);
	script("-", "> Dtag / be 02 0008 00000000", "< Ptag / " SACK(3), "-");
}

/* A request before a late or lost COOKIE ACK is answered only after DATA. */
static void test_early_ask(void **state)
{
	receipts_user_start(1, 1);
	receipts_user_ask(true, true);
	begin_connect();
	keep_init();
	script("> Dtag / 02 00 0034 Ptag 00100000 0014 001e P+0 c006 0008 00000001 "
	       "bf57 000c 01000004 00012345 0007 000c c0*8",
	       "< Ptag / 0a 00 000c c0*8", "> Dtag / be 02 0008 00000000", "-",
	       "> Dtag / 0b 00 0004", "-", "> Dtag" PEER_DATA(0), "< Ptag / " SACK(0), "-");
	assert_true(f.a->receipts.agreed.asks);
	teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASKING_TEST(test_unasked),
		ASKING_TEST(test_asked),
		ASKING_TEST(test_gap),
		ASKING_TEST(test_gaps),
		cmocka_unit_test(test_peer_does_not_ask),
		cmocka_unit_test(test_instance_does_not_ask),
		cmocka_unit_test(test_version_0),
		ASKING_TEST(test_quarters),
		ASKING_TEST(test_quarters_of_peer),
		ASKING_TEST(test_quarters_of_tsns),
		ASKING_TEST(test_probe),
		ASKING_TEST(test_resent),
		ASKING_TEST(test_nothing_follows),
		ASKING_TEST(test_lone),
		ASKING_TEST(test_ask_is_answered),
		cmocka_unit_test(test_early_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
