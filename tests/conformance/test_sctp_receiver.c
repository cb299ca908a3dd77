/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Incoming DATA and the SACKs for it (RFC 9260 1.6, 3.3.4, 6.2, 6.5 to 6.10). */
#include "fixture/sctp_script.h"
#include "util/crc32c.h"

/* The window advertised while the buffer is empty: four fifths of the fixture's 425984 bytes. */
#define WINDOW " 00053330 "
#define SACK(cum) "< Ptag / 03 00 0010 P+" #cum WINDOW "0000 0000"

static void test_tsn_wrap(void **state)
{
	uint32_t before = 0xfffffffd;

	ROWS("9260-1.6-01");
	associate();
	conversation.peer_tsn = 0xfffffffe;
	script("> Dtag" PEER_DATA(0) PEER_DATA(1) PEER_DATA(2) PEER_DATA(3) PEER_DATA(4), "got 5",
	       "< Ptag / 03 00 0010 00000002" WINDOW "0000 0000");
	/* the same as the sender */
	sctp_assoc_abort(f.a);
	collect();
	drop_all();
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	f.a->setup.init_tsn = before;
	sctp_tx_start(f.a, before);
	collect();
	keep_init();
	script(PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8", "> Dtag / 0b 00 0004", "post 5 4",
	       "< Ptag / 00 07 0014 fffffffd ???????? 00000010 05*4"
	       " / 00 07 0014 fffffffe ???????? 00000010 04*4 / 00 07 0014 ffffffff ???????? 00000010 03*4"
	       " / 00 07 0014 00000000 ???????? 00000010 02*4 / 00 07 0014 00000001 ???????? 00000010 01*4",
	       "> Dtag / 03 00 0010 ffffffff 00100000 0000 0000", "state ESTABLISHED");
	assert_int_equal(sctp_assoc_acked(f.a), 3);
	script("> Dtag / 03 00 0010 00000001 00100000 0000 0000", "wait 5000", "-");
	assert_true(sctp_assoc_is_drained(f.a));
}

static void test_gap_blocks(void **state)
{
	ROWS("9260-3.3.4-01 9260-3.3.4-02 9260-6.2-01");
	associate();
	script("> Dtag" PEER_DATA(1), "got 1",
	       "< Ptag / 03 00 0014 P-1" WINDOW "0001 0000 0002 0002", "-",
	       "> Dtag" PEER_DATA(0) PEER_DATA(2) PEER_DATA(4) PEER_DATA(5) PEER_DATA(7), "got 5",
	       "< Ptag / 03 00 0018 P+2" WINDOW "0002 0000 0002 0003 0005 0005", "-",
	       "> Dtag" PEER_DATA(6) PEER_DATA(3), "got 2", "wait 200", SACK(7), "-");
}

static void test_duplicates(void **state)
{
	ROWS("9260-3.3.4-03 9260-6.2-08");
	associate();
	script("> Dtag" PEER_DATA(0) PEER_DATA(0) PEER_DATA(0), "got 1",
	       "< Ptag / 03 00 0018 P+0" WINDOW "0000 0002 P+0 P+0", "-", "> Dtag" PEER_DATA(0),
	       "got 0", "< Ptag / 03 00 0014 P+0" WINDOW "0000 0001 P+0", "-",
	       /* duplicates: one in a gap block, and one from long ago */
	       "> Dtag" PEER_DATA(5), "got 1", "drop", "> Dtag" PEER_DATA(5) PEER_DATA(0), "got 0",
	       "< Ptag / 03 00 001c P+0" WINDOW "0001 0002 0005 0005 P+5 P+0", "-");
}

/*
 * Alternate TSNs make more gap blocks than a SACK can hold. The SACK lists the lowest, as many as
 * fit in the packet.
 */
static void test_many_gaps(void **state)
{
	const unsigned int room = (1500 - 20 - 8 - 12 - 16) / 4;
	unsigned int i, k;

	ROWS("9260-6.2-06 9260-6.10-01");
	associate();
	for (i = 0; i < 1000; i++) {
		struct wire_sctp_sack s;
		struct packet *p;

		begin();
		add_data(f.tsn + 1 + 2 * i);
		sendp();
		p = take();
		s = sack_in(p, 0);
		assert_true(p->len <= 1472);
		assert_int_equal(s.gaps, i + 1 < room ? i + 1 : room);
		for (k = 0; k < s.gaps; k += i % 50 ? s.gaps : 1) {
			assert_int_equal(wire_sctp_sack_gap(&s, k).start, 2 + 2 * k);
			assert_int_equal(wire_sctp_sack_gap(&s, k).end, 2 + 2 * k);
		}
		script("-");
	}
}

/*
 * A SACK is sent for every second packet, after the delay, and for a gap, a duplicate or the I bit.
 */
static void test_sack_pace(void **state)
{
	struct sctp_config config;

	ROWS("9260-6.2-03 9260-6.2-07 9260-6.7-01 9260-6.2-04");
	associate();
	script("> Dtag" PEER_DATA(0), SACK(0), /* the first DATA of the association */
	       "> Dtag" PEER_DATA(1), "-", "> Dtag" PEER_DATA(2), SACK(2), "-", "wait 1000", "-",
	       "> Dtag" PEER_DATA(3), "-", "> Dtag" PEER_DATA(4), SACK(4), "-",
	       "> Dtag" PEER_DATA(5), "-", "wait 200", SACK(5), "-",
	       "> Dtag / 00 0f 0011 P+6 0001 0000 00000010 77 000000", SACK(6), "-",
	       /* during a gap, one for each packet */
	       "> Dtag" PEER_DATA(8), "< Ptag / 03 00 0014 P+6" WINDOW "0001 0000 0002 0002", "-",
	       "> Dtag" PEER_DATA(9), "< Ptag / 03 00 0014 P+6" WINDOW "0001 0000 0002 0003", "-",
	       "> Dtag" PEER_DATA(10), "< Ptag / 03 00 0014 P+6" WINDOW "0001 0000 0002 0004", "-",
	       "> Dtag" PEER_DATA(11) PEER_DATA(13) PEER_DATA(11),
	       "< Ptag / 03 00 001c P+6" WINDOW "0002 0001 0002 0005 0007 0007 P+11", "-",
	       "> Dtag" PEER_DATA(7) PEER_DATA(12), "wait 200", SACK(13), "wait 60000", "-");
	/* the delay is at most 500 ms */
	teardown(NULL);
	sctp_config_default(&config);
	config.heartbeat_interval = 3600 * SEC;
	config.sack_delay = 501 * MSEC;
	config.mtu_probe = false;
	setup_config(&config);
	associate();
	script("> Dtag" PEER_DATA(0), SACK(0), "> Dtag" PEER_DATA(1), "wait 499", "-", "wait 1",
	       SACK(1));
}

/* Buffered DATA reduces the window until it is delivered. */
static void test_window(void **state)
{
	ROWS("9260-6.2-09");
	associate();
	script("> Dtag / 00 04 0074 P+1 0001 0000 00000010 aa*100", "got 0",
	       "< Ptag / 03 00 0014 P-1 000532cc 0001 0000 0002 0002",
	       "> Dtag / 00 05 0074 P+2 0001 0000 00000010 aa*100", "got 0",
	       "< Ptag / 03 00 0014 P-1 00053268 0001 0000 0002 0003",
	       /* whole messages take no window */
	       "> Dtag / 00 07 0074 P+4 0001 0000 00000010 aa*100", "got 1",
	       "< Ptag / 03 00 0018 P-1 00053268 0002 0000 0002 0003 0005 0005",
	       "> Dtag / 00 06 0074 P+0 0001 0000 00000010 aa*100", "got 1",
	       "< Ptag / 03 00 0014 P+2" WINDOW "0001 0000 0002 0002", "wait 60000", "-");
	assert_int_equal(f.rx.data[0].len, 300);
}

/*
 * Sends first fragments of endless messages on every second TSN: P+1, P+3, ... Returns the last
 * SACK.
 */
static struct wire_sctp_sack fill(unsigned int n)
{
	struct wire_sctp_sack s = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++) {
		begin();
		add_data_flags(f.tsn + 1 + 2 * i, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B, 1000, 1);
		sendp();
		s = sack_in(take(), 0);
		script("-"); /* one immediate SACK */
	}
	return s;
}

/*
 * With a window of 0, DATA above the highest TSN is dropped, and an immediate SACK reports the
 * closed window.
 */
static void test_zero_window(void **state)
{
	struct wire_sctp_sack s;

	ROWS("9260-6.2-02 9260-6.2-04");
	f.ep->rcvbuf = 50000;
	associate();
	s = fill(40);
	assert_int_equal(s.a_rwnd, 0);
	assert_int_equal(s.gaps, 40);
	script("> Dtag" PEER_DATA(81), "got 0", "< Ptag / 03 00 00b0 P-1 00000000 0028 0000 ...",
	       "-",
	       /* a lower hole can still be filled */
	       "> Dtag" PEER_DATA(0), "got 1", "< Ptag / 03 00 00ac P+1 00000000 0027 0000 ...",
	       "-",
	       /* the window opens with the last fragment of a message in the buffer */
	       "> Dtag / 00 05 0011 P+2 0001 0000 00000010 77 000000", "got 1",
	       "< Ptag / 03 00 00a8 P+3 000003e8 0026 0000 ...", "-", "> Dtag" PEER_DATA(81),
	       "got 1");
}

/*
 * The window opens in steps of at least a message. No SACK reports a smaller step, or is sent
 * without incoming DATA.
 */
static void test_no_silly_window(void **state)
{
	struct wire_sctp_sack s;
	uint32_t window = 0;
	unsigned int i;

	ROWS("9260-6.2-05 9260-6.2-04");
	f.ep->rcvbuf = 50000;
	associate();
	fill(40);
	script("wait 60000", "-");
	for (i = 0; i < 40; i++) {
		begin();
		if (!i)
			add_data(f.tsn);
		add_data_flags(f.tsn + 2 + 2 * i, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_E, 10, 1);
		sendp();
		wait_ns(200 * MSEC);
		s = sack_in(take(), 0);
		assert_true(s.a_rwnd >= window + 1000);
		window = s.a_rwnd;
		script("-");
	}
	script("wait 60000", "-");
}

/*
 * However full the buffer is, every SACK repeats all gap blocks until the cumulative TSN passes
 * them.
 */
static void test_never_reneges(void **state)
{
	static bool told[4000];
	unsigned int i, k;

	ROWS("9260-6.2-10");
	associate();
	memset(told, 0, sizeof(told));
	for (i = 0; i < 1200; i++) {
		struct wire_sctp_sack s;

		begin();
		add_data_flags(f.tsn + 1 + (i * 7 % 1200) * 2, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B,
			       1000, 1);
		sendp();
		s = sack_in(take(), 0);
		assert_true(s.gaps < 361); /* otherwise, some gap blocks may be omitted */
		for (k = 0; k < s.gaps; k++) {
			struct wire_sctp_gap gap = wire_sctp_sack_gap(&s, k);

			assert_int_equal(gap.start, gap.end);
			told[gap.start] = true;
		}
		for (k = 0; k < sizeof(told);
		     k++) /* as many gap blocks as ever reported, so none is missing */
			s.gaps -= told[k];
		assert_int_equal(s.gaps, 0);
	}
}

static void test_no_user_data(void **state)
{
	ROWS("9260-6.2-11 9260-3.3.10-01 9260-3.3.7-01");
	associate();
	script("post 1 0", "-", "> Dtag / 00 07 0010 P+0 0001 0000 00000010", "got 0",
	       "< Ptag / 06 00 000c 0009 0008 P+0", "-", "error 71");
}

static void test_short_data(void **state)
{
	ROWS("9260-3.3.10-01");
	associate();
	script("> Dtag / 00 07 000c P+0 0001 0000", "got 0", "< Ptag / 06 00 0008 000d 0004", "-",
	       "error 71");
}

static void test_invalid_stream(void **state)
{
	ROWS("9260-6.5-01 9260-3.3.10-01");
	associate();
	script("> Dtag / 00 07 0011 P+0 0014 0000 00000010 77 000000", "got 0",
	       "< Ptag / 09 00 000c 0001 0008 0014 0000 / 03 00 0010 P+0" WINDOW "0000 0000", "-",
	       "> Dtag / 00 07 0011 P+1 0013 0000 00000010 77 000000", "got 1");
}

/*
 * Departure from RFC 9260 6.6: ordered messages are not delivered in order either. The DDP-SSNs
 * give the order of DDP segments (RFC 5043).
 */
static void test_ordered(void **state)
{
	ROWS("9260-6.6-01");
	associate();
	script("> Dtag / 00 03 0011 P+1 0001 0001 00000010 77 000000", "got 1",
	       "> Dtag / 00 03 0011 P+0 0001 0000 00000010 77 000000", "got 1", "drop",
	       "> Dtag / 00 02 0011 P+2 0001 0002 00000010 77 000000"
	       " / 00 01 0011 P+3 0001 0002 00000010 78 000000",
	       "got 1");
	assert_int_equal(f.rx.data[0].len, 2);
}

static void test_fragments(void **state)
{
	ROWS("9260-6-03 9260-6.9-01");
	associate();
	script("> Dtag / 00 06 0014 P+0 0001 0000 00000010 01020304 / 00 04 0014 P+1 0001 0000 00000010 05060708"
	       " / 00 05 0011 P+2 0001 0000 00000010 09 000000" PEER_DATA(3) PEER_DATA(4),
	       "got 3");
	assert_int_equal(f.rx.data[0].len, 9);
	assert_memory_equal(f.rx.data[0].data, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
	/* two messages of one stream, in reverse order, one packet each */
	script("> Dtag / 00 05 0014 P+8 0001 0000 00000010 d1d2d3d4", "got 0",
	       "> Dtag / 00 06 0014 P+7 0001 0000 00000010 c1c2c3c4", "got 1");
	assert_memory_equal(f.rx.data[0].data, "\xc1\xc2\xc3\xc4\xd1\xd2\xd3\xd4", 8);
	script("> Dtag / 00 05 0014 P+6 0001 0000 00000010 b1b2b3b4", "got 0",
	       "> Dtag / 00 06 0014 P+5 0001 0000 00000010 a1a2a3a4", "got 1");
	assert_memory_equal(f.rx.data[0].data, "\xa1\xa2\xa3\xa4\xb1\xb2\xb3\xb4", 8);
	script("> Dtag / 00 05 0014 P+8 0001 0000 00000010 d1d2d3d4",
	       "got 0"); /* delivered only once */
}

static void test_checksum(void **state)
{
	uint8_t sum[4];
	unsigned int bit;

	ROWS("9260-6.8-01 9260-6.8-02");
	put_le32(sum, crc32c("123456789", 9));
	assert_memory_equal(sum, "\x83\x92\x06\xe3", 4);
	associate();
	script("drop");
	begin();
	add_data(f.tsn);
	wire_sctp_checksum_put(f.buf, f.len);
	for (bit = 0; bit < 8 * f.len; bit++) {
		f.buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		f.buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_null(f.rx.assoc);
		script("got 0", "wait 200", "-");
	}
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	collect();
	script("got 1", SACK(0));
}

/* Chunks are processed in their order. A chunk beyond the packet's end is ignored. */
static void test_cut_chunks(void **state)
{
	ROWS("9260-6.10-02");
	associate();
	script("post 1 8", "drop",
	       "> Dtag / 03 00 0010 D+0 00100000 0000 0000 / 00 07 07d0 P+0 0001 0000 00000010 77*152",
	       "got 0", "wait 200", "-");
	assert_true(sctp_assoc_is_drained(f.a));
	script("> Dtag" PEER_DATA(0) " / 80 00 0003 00000000" PEER_DATA(1), "got 1", SACK(0),
	       "> Dtag / 80 00 0000 00000000" PEER_DATA(1), "got 0", "wait 200", "-",
	       "> Dtag" PEER_DATA(1) " / 00 07", "got 1");
}

/* Each packet gets at most one answer, whatever it contains. */
static void test_one_answer(void **state)
{
	struct packet *p;

	ROWS("9260-12.4-01 9260-6.10-01");
	associate();
	script("> Dtag 0400001400010010aaaaaaaabbbbbbbbcccccccc*100");
	p = take();
	check_packet("HEARTBEAT ACKs", "Ptag 0500001400010010aaaaaaaabbbbbbbbcccccccc*10 ...", p);
	assert_true(p->len <= 1472);
	script("-", "> Dtag fe000014111111112222222233333333*100");
	p = take();
	check_packet("ERRORs", "Ptag 0900001c00060018fe000014111111112222222233333333 ...", p);
	assert_true(p->len <= 1472);
	script("-");
}

static void test_heartbeat(void **state)
{
	ROWS("9260-3.3.6-01 9260-8.3-02");
	associate();
	script("> Dtag / 04 00 03ec 0001 03e8 5a*996", "< Ptag / 05 00 03ec 0001 03e8 5a*996",
	       "> Dtag / 04 00 0009 0001 0005 17 ffffff", "< Ptag / 05 00 0009 0001 0005 17 000000",
	       "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_tsn_wrap),      PEER_TEST(test_gap_blocks),
		PEER_TEST(test_duplicates),    PEER_TEST(test_many_gaps),
		PEER_TEST(test_sack_pace),     PEER_TEST(test_window),
		PEER_TEST(test_zero_window),   PEER_TEST(test_no_silly_window),
		PEER_TEST(test_never_reneges), PEER_TEST(test_no_user_data),
		PEER_TEST(test_short_data),    PEER_TEST(test_invalid_stream),
		PEER_TEST(test_ordered),       PEER_TEST(test_fragments),
		PEER_TEST(test_checksum),      PEER_TEST(test_cut_chunks),
		PEER_TEST(test_one_answer),    PEER_TEST(test_heartbeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
