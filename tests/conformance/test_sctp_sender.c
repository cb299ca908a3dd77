/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Transmissions and retransmissions (RFC 9260 6.1, 6.2.1, 6.3, 6.9, 6.10, 7, 8). */
#include "fixture/sctp_paths.h"
#include "fixture/sctp_script.h"

#define PMDCS 1460u /* 1500 - 20 - 8 - 12 */
/* local DATA of 8 or 1444 bytes */
#define SMALL(n) " / 00 ?? 0018 D+" #n " 0003 0000 00000010 ??*8"
#define FULL(n) " / 00 ?? 05b4 D+" #n " 0003 0000 00000010 ??*1444"
/* SACK of the peer: only a cumulative TSN, or with one gap block */
#define ACK(n) "> Dtag / 03 00 0010 D+" #n " 00100000 0000 0000"
#define ACK_GAP(n, from, to) "> Dtag / 03 00 0014 D" #n " 00100000 0001 0000 " #from " " #to

/*
 * Takes the sent packets. Returns the bytes of their DATA chunks, new or not, and the number of
 * packets with DATA.
 */
static uint32_t sent_bytes(unsigned int *packets)
{
	uint32_t bytes = 0;
	struct packet *p;

	for (*packets = 0; (p = take()); ++*packets) {
		const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
		struct wire_sctp_chunk c;

		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			if (c.type == WIRE_SCTP_DATA)
				bytes += round_up4(c.len);
	}
	return bytes;
}

static void ack(uint32_t cum)
{
	begin();
	add_sack(cum, 10000000, NULL, 0);
	sendp();
}

/* The initial window, and the excess of the last packet (6.1 B, 7.2.1). */
static void test_initial_window(void **state)
{
	static const struct {
		uint32_t mtu, window, pmdcs;
		bool v6;
	} cases[] = {
		{ 1500, 4404, 1460, false }, /* 3 * PMDCS and a bit */
		{ 1500, 4344, 1440, true },	 { 600, 4 * 560, 560, false },
		{ 4000, 2 * 3960, 3960, false }, { 4000, 2 * 3940, 3940, true },
	};
	unsigned int i, small, packets;
	uint32_t bytes;

	ROWS("9260-7.2.1-01 9260-6.1-04 6951-5.6-01");
	for (i = 0; i < 2 * 5; i++) {
		small = i % 2;
		teardown(NULL);
		setup(NULL);
		if (cases[i / 2].v6)
			f.path.remote.b[0] = 0x20;
		f.a = sctp_connect(f.ep, &f.path, PEER_PORT, cases[i / 2].mtu, NULL, f.now);
		collect();
		keep_init();
		script(PEER_INIT_ACK, "drop", "> Dtag / 0b 00 0004");
		assert_int_equal(sctp_assoc_max_msg(f.a), cases[i / 2].pmdcs - 16);
		script_post(10000, small ? 84 : cases[i / 2].pmdcs - 16);
		bytes = sent_bytes(&packets);
		assert_in_range(bytes, cases[i / 2].window,
				cases[i / 2].window + cases[i / 2].pmdcs - 1);
		script("-");
	}
}

/*
 * No new chunk exceeds the peer's window, and lost chunks do not count. Fewer bytes leave than RFC
 * 9260 6.2.1 permits, because a packet takes more of the peer's buffer than its bytes.
 */
static void test_peer_window(void **state)
{
	uint32_t out = 6 * 1016, bytes;
	unsigned int packets;

	ROWS("9260-6.1-01 9260-6.2.1-01");
	associate();
	primary()->cc.cwnd = 100000;
	script("post 6 1000", "drop", "> Dtag / 03 00 0010 D-1 00004e20 0000 0000",
	       "post 100 1000");
	bytes = sent_bytes(&packets);
	assert_in_range(bytes, 1, 20000 - out);
	script("wait 900", "drop",
	       "wait 100"); /* T3: all chunks are lost, and one packet is resent */
	bytes = sent_bytes(&packets);
	assert_in_range(bytes, 1016, PMDCS);
	script("> Dtag / 03 00 0010 D+0 00004e20 0000 0000");
	bytes = sent_bytes(&packets);
	assert_true(bytes > 0);
	/* All chunks are acknowledged, and the window is closed. */
	begin();
	add_sack(f.a->out.next - 1, 0, NULL, 0);
	sendp();
	script("drop", "wait 900", "-");
	/* Nothing is outstanding, so earlier chunks must not reduce the window. */
	begin();
	add_sack(f.a->out.next - 1, 3000, NULL, 0);
	sendp();
	bytes = sent_bytes(&packets);
	assert_in_range(bytes, 1016, 3000);
}

/*
 * A window that stays closed for minutes is probed with one chunk at growing intervals. The
 * association stays.
 */
static void closed_window(bool takes_probes)
{
	uint64_t last = 0, gap = 0;
	unsigned int probes = 0;
	uint32_t cum;
	uint64_t end;

	associate();
	script("post 1 100", "drop", "> Dtag / 03 00 0010 D+0 00000000 0000 0000", "post 100 100",
	       "-", "wait 999", "-");
	cum = f.their_tsn;
	for (end = f.now + 180 * SEC; f.now < end; wait_ns(MSEC)) {
		struct packet *p = take();
		bool fresh;

		if (!p)
			continue;
		assert_int_equal(chunks(p), 1);
		chunk_of(p, 0, WIRE_SCTP_DATA);
		assert_int_equal(get_be32(p->data + 16), cum + 1);
		fresh = takes_probes || !probes;
		if (last && fresh)
			assert_true(f.now - last >= 2 * gap - MSEC || f.now - last > 30 * SEC);
		gap = last ? f.now - last : SEC / 2;
		last = f.now;
		probes++;
		cum += takes_probes;
		begin();
		add_sack(cum, 0, NULL, 0);
		sendp();
	}
	assert_non_null(f.a);
	assert_in_range(probes, 5, 20);
	ack(cum);
	assert_true(take_data() > cum);
	script("state ESTABLISHED");
}

static void test_closed_window(void **state)
{
	ROWS("9260-6.1-02");
	closed_window(true);
	teardown(NULL);
	setup(NULL);
	closed_window(false);
}

static void test_silly_window(void **state)
{
	ROWS("9260-6.1-03");
	associate();
	script("post 1 8", "drop", "> Dtag / 03 00 0010 D+0 00000000 0000 0000", "post 100 8", "-",
	       "> Dtag / 03 00 0010 D+0 00000032 0000 0000", "-",
	       "> Dtag / 03 00 0010 D+0 00000100 0000 0000", "-",
	       "> Dtag / 03 00 0010 D+0 00001000 0000 0000", "< Ptag / 00 ?? 0018 D+1 ...");
}

/* After T3, the first lost chunk is sent first, before new DATA. */
static void test_lost_before_new(void **state)
{
	ROWS("9260-6.1-05 9260-6.3.3-01 9260-7.2.1-03");
	associate();
	script("post 100 1444", "< Ptag" FULL(0), "< Ptag" FULL(1), "< Ptag" FULL(2),
	       "< Ptag" FULL(3), "-", "wait 999", "drop", "wait 1", "< Ptag" FULL(0), "-",
	       "wait 1999", "-", "wait 1", "< Ptag" FULL(0), "-", ACK(0), "< Ptag" FULL(1),
	       "< Ptag" FULL(2), "-", ACK(2), "< Ptag" FULL(3), "< Ptag" FULL(4), "< Ptag" FULL(5),
	       "< Ptag" FULL(6), "-");
}

/*
 * The same with messages smaller than a packet. One packet is in flight until something is
 * acknowledged. While the next lost chunk does not fit, no new chunk takes its place.
 */
static void test_small_lost_before_new(void **state)
{
	ROWS("9260-6.1-05 9260-7.2.1-03");
	associate();
	script("post 3 1000", "drop", "wait 999", "drop", "wait 1", "< Ptag / 00 ?? 03f8 D+0 ...",
	       "-", "post 2 8", "-", ACK(0), "< Ptag / 00 ?? 03f8 D+1 0003 0000 00000010 ??*1000",
	       "< Ptag / 00 ?? 03f8 D+2 0003 0000 00000010 ??*1000", "< Ptag" SMALL(3) SMALL(4),
	       "-");
}

/* After T3, as many chunks leave as fit in one packet, the lowest first. */
static void test_one_packet_of_many_chunks(void **state)
{
	ROWS("9260-6.3.3-01");
	associate();
	script("post 20 200", "drop", "wait 999", "drop", "wait 1",
	       "< Ptag / 00 ?? 00d8 D+0 ???????? 00000010 ??*200 / 00 ?? 00d8 D+1 ???????? 00000010 ??*200"
	       " / 00 ?? 00d8 D+2 ...");
}

/* A waiting SACK is sent with DATA, before it, if it fits. */
static void test_sack_with_data(void **state)
{
	ROWS("9260-6.1-07 9260-6.9-02 9260-6.10-01");
	associate();
	script("> Dtag" PEER_DATA(0), "drop", "> Dtag" PEER_DATA(1), "-", "post 1 8",
	       "< Ptag / 03 00 0010 P+1 ???????? 0000 0000" SMALL(0), "-", ACK(0), "wait 200", "-",
	       /* the SACK just fits in the packet, or exceeds it by one byte */
	       "> Dtag" PEER_DATA(2), "-", "post 1 1428",
	       "< Ptag / 03 00 0010 P+2 ???????? 0000 0000 / 00 07 05a4 D+1 ???????? 00000010 ??*1428",
	       "-", ACK(1), "> Dtag" PEER_DATA(3), "-", "post 1 1429",
	       "< Ptag / 00 07 05a5 D+2 ???????? 00000010 ??*1429 00*3", "-", "wait 20",
	       "< Ptag / 03 00 0010 P+3 ???????? 0000 0000");
}

/*
 * A packet has control chunks, a SACK, old chunks and new chunks in this order, with rising TSNs.
 */
static void test_order_in_packet(void **state)
{
	ROWS("9260-6.10-01 9260-6.1-05");
	associate();
	script("> Dtag" PEER_DATA(0), "drop", "post 1 8", "< Ptag" SMALL(0), "post 1 8",
	       "< Ptag" SMALL(1), "post 1 8", "< Ptag" SMALL(2), "wait 1", ACK_GAP(-1, 0002, 0003),
	       "-");
	f.messages = 2;
	f.message_len = 8;
	sctp_assoc_doorbell(f.a);
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 8), 0x5a, 8);
	add_data(f.tsn + 1);
	wire_sctp_checksum_put(f.buf, f.len);
	f.now += MSEC; /* missing chunks count as lost now */
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	sctp_timers(f.s, f.now);
	collect();
	script("< Ptag / 05 00 000c 5a*8 / 03 00 0010 P+1 ???????? 0000 0000" SMALL(0) SMALL(3)
		       SMALL(4),
	       "-");
}

/*
 * T3 runs from the first chunk, regardless of later chunks. It is restarted when the first chunk is
 * acknowledged.
 */
static void test_t3(void **state)
{
	uint64_t start;
	unsigned int i;

	ROWS("9260-6.1-08 9260-6.3.2-01 9260-6.3.1-03");
	associate();
	start = f.now;
	script("post 1 8", "< Ptag" SMALL(0));
	/* D+0 is repeated after one RTO, although other chunks were sent meanwhile */
	for (i = 0; i < 40; i++) {
		struct packet *p;

		script("post 1 8");
		while ((p = take()))
			assert_int_not_equal(get_be32(p->data + 16), conversation.dut_tsn);
		wait_ns(25 * MSEC - 1);
		while ((p = take()))
			assert_int_not_equal(get_be32(p->data + 16), conversation.dut_tsn);
		wait_ns(1);
	}
	assert_int_equal(f.now - start, SEC);
	script("< Ptag" SMALL(0) SMALL(1) " ...");
	/* a partial acknowledgement after 600 ms restarts T3 */
	teardown(NULL);
	setup(NULL);
	associate();
	script("post 1 8", "post 1 8", "post 1 8", "drop", "wait 600", "drop", ACK(0), "wait 999");
	while (f.head != f.tail)
		/* tail-loss probes */
		assert_int_equal(get_be32(take()->data + 16), conversation.dut_tsn + 2);
	script("wait 1", "< Ptag" SMALL(1) SMALL(2), "-",
	       /* all acknowledged: T3 stops */
	       ACK(2), "wait 100000", "-");
}

/*
 * RTO is 1 s at first, then SRTT + 4 * RTTVAR, never below 1 s. An RTT of 400 ms gives 1 to 1.2 s.
 */
static void test_rto(void **state)
{
	unsigned int i;

	ROWS("9260-6.3.1-01 9260-6.3.1-03");
	script(PEER_INIT);
	keep_init_ack();
	f.now += 2 * SEC; /* no sample after more than an RTO: the chunk may be a retransmission */
	script("> Dtag / cookie-echo", "drop");
	f.a = f.rx.assoc;
	assert_int_equal(sctp_rtt_rto(&primary()->rtt), SEC);
	for (i = 0; i < 20; i++) {
		uint64_t rto;

		script("post 1 8", "post 1 8", "drop", "wait 400", "drop");
		ack(f.a->out.next - 1);
		rto = sctp_rtt_rto(&primary()->rtt);
		if (!i)
			assert_int_equal(rto, 1200 * MSEC); /* 400 + 4 * 200 */
		if (i == 1)
			assert_int_equal(rto, 1000 * MSEC); /* 400 + 4 * 150 */
		assert_in_range(rto, SEC, 1200 * MSEC);
	}
	assert_int_equal(primary()->rtt.srtt, 400 * MSEC);
	script("drop", "post 1 8", "post 1 8", "drop", "wait 999", "drop", "wait 1");
	assert_int_equal(get_be32(take()->data + 16), f.a->out.next - 2);
}

/* Karn's rule: neither a repeated chunk nor a chunk outstanding at that time is measured. */
static void test_karn(void **state)
{
	uint64_t rto, srtt;

	ROWS("9260-6.3.1-02");
	associate();
	script("post 1 8", "drop", "wait 3500", "drop"); /* T3 has expired twice */
	srtt = primary()->rtt.srtt;
	rto = sctp_rtt_rto(&primary()->rtt);
	assert_int_equal(rto, 4 * SEC);
	script("wait 10", ACK(0));
	assert_int_equal(primary()->rtt.srtt, srtt);
	assert_int_equal(sctp_rtt_rto(&primary()->rtt), rto);
	/* D+1 is being measured, and is sent again */
	script("post 1 8", "drop", "wait 1");
	primary()->rtt.backoff = 0;
	script("post 1 8", "drop", "wait 2", ACK_GAP(+0, 0002, 0002), "< Ptag" SMALL(1), "wait 2",
	       "-");
	srtt = primary()->rtt.srtt;
	script(ACK(2));
	assert_int_equal(primary()->rtt.srtt, srtt);
	/* A new chunk is measured again. */
	script("post 1 8", "drop", "wait 20", ACK(3));
	assert_int_not_equal(primary()->rtt.srtt, srtt);
}

/* A chunk whose gap block is revoked is sent again with the same bytes. */
static void test_renege(void **state)
{
	ROWS("9260-6.2.1-03 9260-7.1-01");
	associate();
	script("post 2 8", "drop", "post 1 8", "drop", "post 1 8", "drop", ACK_GAP(+0, 0002, 0003));
	assert_int_equal(sctp_assoc_acked(f.a), 1);
	assert_false(sctp_assoc_is_drained(f.a));
	script("wait 1000", "drop", ACK(1), "wait 5000",
	       "< Ptag / 00 0f 0018 D+3 0003 0000 00000010 01*8");
	script("drop", ACK(3), "wait 60000", "-");
	/* all outstanding chunks were in the gap block: its revocation starts T3 */
	script("post 1 8", "< Ptag / 00 07 0018 D+4 0003 0000 00000010 01*8", "post 1 8", "drop",
	       ACK_GAP(+3, 0002, 0002), "wait 3000", "drop", ACK(4), "wait 5000",
	       "< Ptag / 00 ?? 0018 D+5 0003 0000 00000010 01*8");
}

/*
 * A chunk below the cumulative TSN is never sent again. A missing chunk is sent again after three
 * reports.
 */
static void test_three_reports(void **state)
{
	ROWS("9260-6.7-02 9260-7.2.4-01");
	associate();
	script("post 1 1444", "drop", "post 4 1444", "drop", ACK(0), "drop", "post 1 1444", "drop",
	       ACK_GAP(+0, 0002, 0002), "-", ACK_GAP(+0, 0002, 0003), "-", ACK_GAP(+0, 0002, 0004),
	       "< Ptag" FULL(1), "-", ACK(5), "wait 60000", "-");
}

/* A chunk above the highest TSN newly acknowledged by a SACK does not count as missing (HTNA). */
static void test_no_reports_above(void **state)
{
	ROWS("9260-7.2.4-01");
	associate();
	script("post 1 1444", "drop", "post 4 1444", "drop", ACK(0), "drop",
	       "> Dtag / 03 00 0014 D+0 00100000 0001 0000 0004 0004", "-", /* D+1 to D+3: once */
	       /* D+1: twice; D+3: once */
	       "> Dtag / 03 00 0018 D+0 00100000 0002 0000 0002 0002 0004 0004", "-",
	       /* nothing new */
	       "> Dtag / 03 00 0018 D+0 00100000 0002 0000 0002 0002 0004 0004", "-");
}

/* The window does not grow while the user sends little. */
static void test_limited_by_user(void **state)
{
	unsigned int i, packets;

	ROWS("9260-7.2.1-02");
	associate();
	for (i = 0; i < 100; i++) {
		script("post 1 1000", "drop");
		ack(f.a->out.next - 1);
	}
	script("post 1000 1444");
	assert_int_equal(sent_bytes(&packets), 4 * PMDCS);
}

/*
 * In slow start, the window grows at most by the acknowledged bytes. Departure from RFC 9260 7.2.1:
 * one SACK may add more than a packet, because a SACK acknowledges many packets.
 */
static void test_slow_start(void **state)
{
	unsigned int packets, i;
	uint32_t window = 4404;

	ROWS("9260-7.2.1-02 9260-7.2-01");
	associate();
	script_post(100000, 1444);
	for (i = 0; i < 4; i++) {
		uint32_t bytes = sent_bytes(&packets), last = f.a->out.next - 1;

		assert_in_range(bytes, window, window + PMDCS - 1);
		window += bytes;
		ack(last);
	}
}

/* Congestion avoidance adds one packet per round trip, and only while the window is used. */
static void test_congestion_avoidance(void **state)
{
	unsigned int packets, i;

	ROWS("9260-7.2.2-01 9260-7.2-01");
	associate();
	primary()->cc.ssthresh = 10 * PMDCS;
	primary()->cc.cwnd = 10 * PMDCS + 1;
	script_post(100000, 1444);
	for (i = 0; i < 20; i++) { /* 11, 12, 13 packets and so on; a SACK for each two */
		uint32_t bytes = sent_bytes(&packets), first = f.a->out.cum + 1,
			 last = f.a->out.next - 1;

		assert_in_range(bytes, 1, (11 + i) * PMDCS);
		for (; first + 2 <= last; first += 2)
			ack(first + 1);
		ack(last);
		assert_true(primary()->cc.cwnd <= (11 + i) * PMDCS + 1);
	}
	assert_true(primary()->cc.cwnd >= 25 * PMDCS);
	f.messages = 0;
	ack(f.a->out.next - 1);
	i = primary()->cc.cwnd;
	for (packets = 0; packets < 200; packets++) {
		script("post 1 1444", "drop");
		ack(f.a->out.next - 1);
	}
	assert_int_equal(primary()->cc.cwnd, i);
}

/* Losses in one window halve the window once, but never below four packets. */
static void test_fast_recovery(void **state)
{
	const struct wire_sctp_gap gap = { 2, 5 };
	uint32_t exit, window;

	ROWS("9260-7.2.3-01 9260-7.2.4-03");
	associate();
	primary()->cc.cwnd = 20 * PMDCS;
	primary()->cc.pristine = false;
	script("post 1000 1444", "drop", "wait 50");
	/* D+0 and D+3 are lost */
	script("> Dtag / 03 00 0018 D-1 00100000 0002 0000 0002 0003 0005 000a", "wait 50");
	exit = f.a->path->recovery.now.exit;
	assert_int_equal(primary()->cc.cwnd, 10 * PMDCS);
	assert_int_equal(primary()->cc.ssthresh, 10 * PMDCS);
	assert_int_equal(primary()->cc.partial, 0);
	script("drop", "> Dtag / 03 00 0018 D+2 00100000 0002 0000 0002 0007 0009 000a", "wait 50",
	       "drop", "> Dtag / 03 00 0018 D+2 00100000 0002 0000 0002 0007 0009 000c", "wait 50");
	assert_int_equal(primary()->cc.cwnd, 10 * PMDCS);
	/* after the exit point, another loss counts again */
	ack(exit);
	assert_false(f.a->path->recovery.now.recovering);
	drop_all();
	window = primary()->cc.cwnd;
	begin();
	add_sack(exit, 10000000, &gap, 1);
	sendp();
	script("wait 100");
	assert_int_equal(primary()->cc.cwnd, window / 2);
	/* four packets remain */
	teardown(NULL);
	setup(NULL);
	associate();
	primary()->cc.cwnd = 6 * PMDCS;
	primary()->cc.pristine = false;
	script("post 1000 1444", "drop", "wait 10", ACK_GAP(-1, 0002, 0005), "wait 50");
	assert_int_equal(primary()->cc.ssthresh, 4 * PMDCS);
	assert_int_equal(primary()->cc.cwnd, 4 * PMDCS);
}

/* A SACK moves the cumulative TSN and shows a loss: the window grows first, and is then halved. */
static void test_growth_before_loss(void **state)
{
	ROWS("9260-7.2.4-02");
	associate();
	primary()->cc.cwnd = 10 * PMDCS;
	primary()->cc.pristine = false;
	script("post 1000 1444", "drop", "wait 100", "drop",
	       /* D+0, D+1 and D+3 to D+9 arrived, D+2 did not */
	       "> Dtag / 03 00 0014 D+1 00100000 0001 0000 0002 0008", "wait 100");
	assert_int_equal(primary()->cc.ssthresh, (10 + 9) * PMDCS / 2);
}

/* There is no Max.Burst: after a SACK for everything, the whole window leaves at once. */
static void test_burst(void **state)
{
	unsigned int packets;

	ROWS("9260-6.1-06");
	associate();
	primary()->cc.cwnd = 50 * PMDCS;
	script_post(100000, 1444);
	sent_bytes(&packets);
	assert_int_equal(packets, 50);
	ack(f.a->out.next - 1);
	sent_bytes(&packets);
	assert_true(packets > 50);
	assert_true(packets <= 100);
}

static void test_unsent_tsn(void **state)
{
	static const char *const sacks[] = {
		"> Dtag / 03 00 0010 D+1 00100000 0000 0000",
		"> Dtag / 03 00 0014 D-1 00100000 0001 0000 0002 0003",
		"> Dtag / 07 00 0008 D+1",
	};
	unsigned int i;

	ROWS("9260-12.4-02 9260-3.3.10-01");
	for (i = 0; i < 3; i++) {
		teardown(NULL);
		setup(NULL);
		associate();
		script("post 1 8", "drop", sacks[i], "< Ptag / 06 00 0008 000d 0004", "-",
		       "error 71");
	}
}

/* Any number of losses is harmless if something is acknowledged from time to time. */
static void test_errors_forgotten(void **state)
{
	unsigned int i;

	ROWS("9260-8.1-02");
	associate();
	script("post 1000 8");
	for (i = 0; i < 30; i++) {
		script("wait 25000", "drop", "state ESTABLISHED");
		ack(f.a->out.cum + 1);
		script_post(f.messages ? f.messages : 100, 8);
	}
}

/* Silence is measured in time: the association ends after 30 s and some HEARTBEATs. */
static void test_silence(void **state)
{
	struct sctp_config config;
	uint64_t start;

	ROWS("9260-8.1-01 9260-8.3-01");
	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	setup_config(&config);
	associate();
	start = f.now;
	script("post 100 1000");
	while (f.a)
		wait_ns(10 * MSEC);
	assert_in_range(f.now - start, 30 * SEC, 32 * SEC);
	assert_int_equal(f.error, -ETIMEDOUT);
	/* The association also ends if a live peer acknowledges nothing. */
	teardown(NULL);
	setup_config(&config);
	associate();
	start = f.now;
	script("post 100 1000");
	while (f.a)
		script("> Dtag / 04 00 000c 0001 0008 12345678", "drop", "wait 100");
	assert_in_range(f.now - start, 30 * SEC, 64 * SEC);
	assert_int_equal(f.error, -ETIMEDOUT);
}

/* During silence, a HEARTBEAT leaves every second, each with a random nonce. */
static void test_heartbeats(void **state)
{
	struct sctp_config config;
	uint8_t info[24];
	uint64_t srtt;
	unsigned int i;

	ROWS("9260-3.3.5-01 9260-8.3-01 9260-8.3-03");
	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	setup_config(&config);
	associate();
	while (f.head == f.tail)
		wait_ns(MSEC);
	answer_heartbeat(take(), &f.path, 0);
	for (i = 0; i < 25; i++) {
		uint64_t asked = f.now;
		struct wire_sctp_chunk c;
		struct packet *p;

		while (!(p = take()))
			wait_ns(MSEC);
		assert_in_range(f.now - asked, 900 * MSEC, SEC);
		check_packet("HEARTBEAT", "Ptag / 04 00 0018 0001 0014 ...", p);
		c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
		assert_memory_not_equal(info + 8, c.raw + 8, 8);
		assert_memory_not_equal(info + 16, c.raw + 16, 8);
		memcpy(info, c.raw, 24);
		script("-");
	}
	/* an answer after 2 s measures this path, and is a sign of life */
	srtt = primary()->rtt.srtt;
	script("wait 900", "-");
	f.now += 1100 * MSEC;
	begin();
	memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, 20), info + 4, 20);
	sendp();
	assert_in_range(primary()->rtt.srtt - srtt, 200 * MSEC, 300 * MSEC);
	assert_true(sctp_rtt_rto(&primary()->rtt) > SEC);
	for (i = 0; i < 25; i++)
		script("wait 1000", "drop", "state ESTABLISHED");
	/* A HEARTBEAT ACK without a HEARTBEAT has no effect. */
	srtt = primary()->rtt.srtt;
	begin();
	memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, 20), info + 4, 20);
	sendp();
	assert_int_equal(primary()->rtt.srtt, srtt);
}

static void test_defaults(void **state)
{
	struct sctp_config c;

	ROWS("9260-16-01");
	sctp_config_default(&c);
	assert_int_equal(c.rto_initial, 1 * SEC);
	assert_int_equal(c.rto_min, 1 * SEC);
	assert_int_equal(c.rto_max, 60 * SEC);
	assert_int_equal(c.cookie_life, 60 * SEC);
	/* defaults that RFC 9260 does not set */
	assert_int_equal(c.sack_delay, 10 * MSEC);
	assert_int_equal(c.heartbeat_interval, 1 * SEC);
	assert_int_equal(c.silent_limit, 30 * SEC);
	assert_int_equal(c.connect_limit, 30 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_initial_window),
		PEER_TEST(test_peer_window),
		PEER_TEST(test_closed_window),
		PEER_TEST(test_silly_window),
		PEER_TEST(test_lost_before_new),
		PEER_TEST(test_small_lost_before_new),
		PEER_TEST(test_one_packet_of_many_chunks),
		PEER_TEST(test_sack_with_data),
		PEER_TEST(test_order_in_packet),
		PEER_TEST(test_t3),
		PEER_TEST(test_rto),
		PEER_TEST(test_karn),
		PEER_TEST(test_renege),
		PEER_TEST(test_three_reports),
		PEER_TEST(test_no_reports_above),
		PEER_TEST(test_limited_by_user),
		PEER_TEST(test_slow_start),
		PEER_TEST(test_congestion_avoidance),
		PEER_TEST(test_fast_recovery),
		PEER_TEST(test_growth_before_loss),
		PEER_TEST(test_burst),
		PEER_TEST(test_unsent_tsn),
		PEER_TEST(test_errors_forgotten),
		PEER_TEST(test_silence),
		PEER_TEST(test_heartbeats),
		PEER_TEST(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
