/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* The format of chunks, and the handling of other formats (RFC 9260 3; RFC 4820; RFC 5061). */
#include "fixture/sctp_script.h"

/* The common part of the peer's INITs; further parameters follow. */
#define INIT(len) "> 00000000 / 01 00 " len " Ptag 00100000 0014 001e P+0 c006 0008 00000001 "
#define INIT_ACK(len) "> Dtag / 02 00 " len " Ptag 00100000 0014 001e P+0 c006 0008 00000001 "

static void test_unknown_chunks(void **state)
{
	ROWS("9260-3.2-01 9260-3.2-02 9260-3.2-03 9260-3.2-04 9260-3.3.10-01");
	associate();
	script("> Dtag" PEER_DATA(0), "< Ptag / 03 00 0010 P+0 ???????? 0000 0000",
	       /* 00: stop */
	       "> Dtag / 3e 55 0009 aa*5 ff*3" PEER_DATA(1), "got 0", "wait 200", "-",
	       /* 01: stop and report the whole chunk */
	       "> Dtag / 7e 55 0009 aa*5 ff*3" PEER_DATA(1), "got 0",
	       "< Ptag / 09 00 0011 0006 000d 7e 55 0009 aa*5 00*3", "wait 200", "-",
	       /* 10: skip */
	       "> Dtag / be 55 0009 aa*5 ff*3" PEER_DATA(1), "got 1", "wait 200",
	       "< Ptag / 03 00 0010 P+1 ???????? 0000 0000", "-",
	       /* 11: skip and report */
	       "> Dtag / fe 55 0009 aa*5 ff*3" PEER_DATA(2), "got 1",
	       "< Ptag / 09 00 0011 0006 000d fe 55 0009 aa*5 00*3", "wait 200",
	       "< Ptag / 03 00 0010 P+2 ???????? 0000 0000", "-");
}

/* Undefined flags are ignored in received chunks, and never set in sent chunks. */
static void test_flags(void **state)
{
	ROWS("9260-3.2-05");
	begin_connect();
	keep_init();
	script("> Dtag / 02 ff 0028 Ptag 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c0*8",
	       "< Ptag / 0a 00 000c c0*8", "> Dtag / 0b ff 0004", "state ESTABLISHED", "post 1 8",
	       "< Ptag / 00 07 0018 D+0 0003 0000 00000010 01*8",
	       /* nothing is resent */
	       "> Dtag / 03 ff 0010 D+0 00100000 0000 0000", "wait 5000", "-",
	       "> Dtag / 04 ff 000c 0001 0008 12345678", "< Ptag / 05 00 000c 0001 0008 12345678",
	       "> Dtag / 00 f7 0011 P+0 0001 0000 00000010 77 000000", "got 1",
	       "< Ptag / 03 00 0010 P+0 ???????? 0000 0000", "> Dtag / 07 ff 0008 D+0",
	       "< Ptag / 08 00 0004", "> Dtag / 0e fe 0004", "state CLOSED");
}

static void test_chunk_padding(void **state)
{
	ROWS("9260-3.2-06 9260-3-02 9260-3.3.1-01");
	associate();
	script("post 1 45", "< Ptag / 00 07 003d D+0 0003 0000 00000010 01*45 00*3",
	       "> Dtag / 00 07 0011 P+0 0001 0000 00000010 77 ff*3 / 00 07 0012 P+1 0001 0000 00000010 7788 ff*2",
	       "got 2", "< Ptag / 03 00 0010 P+1 ???????? 0000 0000", "-");
	assert_int_equal(f.rx.data[0].len, 1);
	assert_int_equal(f.rx.data[1].len, 2);
}

/* The Chunk Length of an INIT may or may not include the padding of its last parameter. */
static void test_length_of_last_padding(void **state)
{
	ROWS("9260-3.2-07");
	script(INIT("0028") "8008 0009 81*5 00*3", "< Ptag / 02 00 ...", "-",
	       INIT("0025") "8008 0009 81*5 00*3", "< Ptag / 02 00 ...", "-");
}

static void test_parameter_padding(void **state)
{
	static const uint8_t tail[] = { 0, 8, 0, 9, 0xff, 0xfe, 0, 5, 0xaa, 0, 0, 0,
					0, 8, 0, 9, 0xff, 0xfd, 0, 5, 0xbb, 0, 0, 0 };
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-3.2.1-01 9260-3.2-06");
	script(INIT("0029") "fffe 0005 aa ff*3 fffd 0005 bb ff*3");
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	assert_memory_equal(p->data + p->len - sizeof(tail), tail, sizeof(tail));
	assert_int_equal(12 + c.len, p->len - 3);
	/* an INIT ACK: a padded cookie of 5 bytes, and an unknown parameter */
	begin_connect();
	keep_init();
	script(INIT_ACK("002d") "0007 0009 c0*5 ff*3 fffe 0005 aa ff*3",
	       "< Ptag / 0a 00 0009 c0*5 00*3 / 09 00 0010 0008 000c fffe 0005 aa 00*3");
}

/*
 * An address after an unknown parameter counts only if that parameter's type permits further
 * parsing.
 */
static void test_unknown_parameters(void **state)
{
	static const struct {
		const char *init;
		uint16_t type;
		bool reported, goes_on;
	} cases[] = {
		{ INIT("002c") "3ffe 0005 aa 000000 0005 0008 0a000003", 0x3ffe, false, false },
		{ INIT("002c") "7ffe 0005 aa 000000 0005 0008 0a000003", 0x7ffe, true, false },
		{ INIT("002c") "bffe 0005 aa 000000 0005 0008 0a000003", 0xbffe, false, true },
		{ INIT("002c") "fffe 0005 aa 000000 0005 0008 0a000003", 0xfffe, true, true },
	};
	struct path_addr second;
	unsigned int i;

	ROWS("9260-3.2.1-02 9260-3.2.1-03");
	for (i = 0; i < 4; i++) {
		struct wire_sctp_init ack;
		uint8_t report[9] = { 0, 8, 0, 9, 0, 0, 0, 5, 0xaa };
		struct packet *p;

		teardown(NULL);
		setup(NULL);
		second = f.path;
		second.remote = simnet_v4(3);
		script(cases[i].init);
		put_be16(report + 4, cases[i].type);
		p = &f.out[f.head % PACKETS];
		ack = keep_init_ack();
		if (cases[i].reported)
			assert_memory_equal(p->data + p->len - 12, report, sizeof(report));
		else
			assert_ptr_equal(ack.cookie + ack.cookie_len, p->data + p->len);
		script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004");
		script_say("from the listed address", "Dtag" PEER_DATA(0), &second);
		assert_int_equal(f.rx.count, cases[i].goes_on);
		script(cases[i].goes_on ? "< Ptag / 03 00 0010 P+0 ???????? 0000 0000" :
					  "< Dtag / 06 01 0004");
	}
}

static void test_reported_to_initiator(void **state)
{
	static const uint8_t report[] = { 0, 8, 0, 8, 0xc0, 0, 0, 4 };
	struct packet *p;

	ROWS("9260-3.2.2-01");
	script(INIT("0020") "c000 0004");
	p = take();
	chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	assert_memory_equal(p->data + p->len - sizeof(report), report, sizeof(report));
}

static void test_cookie_echo(void **state)
{
	ROWS("9260-3.2.2-02 9260-3.2.2-03 9260-3.3.11-01 9260-3.3.10-01");
	begin_connect();
	keep_init();
	script(INIT_ACK("0155") "0007 0131 c0*301 000000 fffe 0005 61",
	       "< Ptag / 0a 00 0131 c0*301 000000 / 09 00 0010 0008 000c fffe 0005 61 000000", "-");
}

/*
 * The longest INIT ACK, which arrives in IP fragments, is accepted, and its whole cookie returns.
 */
static void test_large_init_ack(void **state)
{
	ROWS("9260-3.3.3-04 9260-3.3.11-01");
	begin_connect();
	keep_init();
	script(INIT_ACK("0fc0") "0007 0fa4 c5*4000", "< Ptag / 0a 00 0fa4 c5*4000", "-");
}

static void test_data_layout(void **state)
{
	ROWS("9260-3.3.1-01 9260-3.3.1-05 9260-3.3.1-06 9260-3-02 9260-3.1-02");
	associate();
	script("post 3 8",
	       "< Ptag / 00 07 0018 D+0 0003 0000 00000010 03*8"
	       "      / 00 07 0018 D+1 0003 0000 00000010 02*8"
	       "      / 00 07 0018 D+2 0003 0000 00000010 01*8",
	       "-", "post 1 8", "< Ptag / 00 0f 0018 D+3 0003 0000 00000010 01*8", "-",
	       "> Dtag / 00 f7 0011 P+0 0001 0000 00000010 77 000000", "got 1");
	assert_int_equal(f.rx.data[0].ppid, 16);
	assert_int_equal(f.rx.data[0].sid, 1);
	script("> Dtag / 00 07 0011 P+1 000a 0000 00000011 77 000000", "got 1");
	assert_int_equal(f.rx.data[0].ppid, 17);
	assert_int_equal(f.rx.data[0].sid, 10);
}

/* A message up to the path MTU leaves as one whole chunk. A longer message is not sent. */
static void test_never_fragmented(void **state)
{
	uint32_t len;

	ROWS("9260-3.3.1-02 9260-6.9-03");
	associate();
	assert_int_equal(sctp_assoc_max_msg(f.a), 1500 - 20 - 8 - 12 - 16);
	for (len = 1; len <= 1444; len += len % 100 ? 1 : 50) {
		struct packet *p;

		script_post(1, len);
		p = take();
		assert_int_equal(p->len, 12 + round_up4(16 + len));
		assert_int_equal(p->data[13] & ~WIRE_SCTP_DATA_I, 7);
		assert_int_equal(get_be16(p->data + 14), 16 + len);
		begin();
		add_sack(get_be32(p->data + 16), 1000000, NULL, 0);
		sendp();
	}
	script("post 1 1445", "-");
	assert_int_equal(f.messages, 1);
}

/* Messages are unordered: neither the SSN nor a missing TSN delays a message. */
static void test_unordered(void **state)
{
	ROWS("9260-3.3.1-03 9260-3.3.1-04");
	associate();
	script("> Dtag / 00 07 0011 P+2 0001 0000 00000010 22 000000", "got 1",
	       "> Dtag / 00 07 0011 P+1 0001 1234 00000010 11 000000", "got 1",
	       "> Dtag / 00 07 0011 P+0 0001 0009 00000010 00 000000", "got 1",
	       "> Dtag / 00 07 0011 P+3 0001 0000 00000010 33 000000", "got 1");
	assert_int_equal(f.rx.data[0].data[0], 0x33);
}

static void test_init(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-3-01 9260-3.3.2-01 9260-3.3.2.1-01 5061-4.2.6-01 6951-3.2-01 6951-5.7-01");
	begin_connect();
	script_post(1, 8); /* waiting DATA is not sent with the INIT */
	p = take();
	check_packet("INIT",
		     "00000000 / 01 00 0024 ???????? ???????? ffff ffff ????????"
		     "000c 0006 0005 0000 c006 0008 00000001",
		     p);
	c = chunk_of(p, 0, WIRE_SCTP_INIT);
	assert_int_not_equal(get_be32(c.raw + 4), 0);
	assert_true(get_be32(c.raw + 8) >= 1500);
	script("-");
	/* an INIT ACK, except its cookie */
	teardown(NULL);
	setup(NULL);
	script(PEER_INIT);
	p = take();
	assert_int_equal(chunks(p), 1);
	c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	check_packet(
		"INIT ACK",
		"Ptag / 02 00 ???? ???????? ???????? 0014 0014 ???????? c006 0008 00000001 0007 ...",
		p);
	assert_int_equal(c.len, 28 + get_be16(c.raw + 30));
	assert_int_not_equal(get_be32(c.raw + 4), 0);
	assert_true(get_be32(c.raw + 8) >= 1500);
}

/* INITs that are refused, with and without an association. */
static void test_init_refused(void **state)
{
	static const struct {
		const char *init;
		const char *answer;
	} cases[] = {
		{ "> 00000000 / 01 00 001c 00000000 00100000 0014 001e P+0 c006 0008 00000001",
		  "-" },
		{ "> 00000000 / 01 00 001c 99999999 000005db 0014 001e P+0 c006 0008 00000001",
		  "< 99999999 / 06 00 0008 0007 0004" }, /* 1499 */
		{ "> 00000000 / 01 00 001c 99999999 000005dc 0014 001e P+0 c006 0008 00000001",
		  "< 99999999 / 02 00 ..." }, /* 1500 */
		{ "> 00000000 / 01 00 001c 99999999 00100000 0000 001e P+0 c006 0008 00000001",
		  "< 99999999 / 06 00 0008 0007 0004" },
		{ "> 00000000 / 01 00 001c 99999999 00100000 0014 0000 P+0 c006 0008 00000001",
		  "< 99999999 / 06 00 0008 0007 0004" },
		{ "> 00000000 / 01 00 0024 99999999 00100000 0014 001e P+0 c006 0008 00000001"
		  " 000b 0008 61626300",
		  "< 99999999 / 06 00 0010 0005 000c 000b 0008 61626300" },
	};
	unsigned int i;

	ROWS("9260-3.3.2-02 9260-3.3.2-03 9260-3.3.2-04 9260-3.3.2.1-03 9260-3.3.7-03 9260-3.3.10-01");
	for (i = 0; i < 6; i++)
		script(cases[i].init, cases[i].answer, "-");
	associate();
	for (i = 0; i < 6; i++) {
		script(cases[i].init, cases[i].answer, "-", "state ESTABLISHED",
		       "> Dtag" PEER_DATA(0), "drop", "post 1 8", "< Ptag / ...");
		/* the window of the association's INIT is unchanged */
		assert_int_equal(f.a->window.peer_rwnd, 1000000);
	}
}

/* Initial TSNs and tags of many associations with one peer are random. */
static void test_random_numbers(void **state)
{
	uint32_t tsn[100], tag[100];
	unsigned int i, k, rising = 0, rising_tags = 0;

	ROWS("9260-3.3.2-05 9260-5.3.1-01");
	for (i = 0; i < 100; i++) {
		begin_connect();
		keep_init();
		tsn[i] = conversation.dut_tsn;
		tag[i] = f.their_tag;
		assert_int_not_equal(tag[i], 0);
		for (k = 0; k < i; k++)
			assert_true(tsn[i] != tsn[k] && tag[i] != tag[k]);
		rising += i && tsn[i] > tsn[i - 1];
		rising_tags += i && tag[i] > tag[i - 1];
		sctp_assoc_abort(f.a);
		collect();
		drop_all();
	}
	assert_in_range(rising, 25, 75);
	assert_in_range(rising_tags, 25, 75);
}

static void test_cookie_preservative(void **state)
{
	ROWS("9260-3.3.2.1-04");
	script(INIT("0024") "0009 0008 0000ea60");
	keep_init_ack();
	f.now += 61 * SEC;
	script_say("late", "Dtag / cookie-echo", &f.path);
	chunk_of(take(), 0, WIRE_SCTP_ERROR);
}

/* INIT ACKs that end the attempt. */
static void test_init_ack_refused(void **state)
{
	static const struct {
		const char *ack;
		const char *answer;
	} cases[] = {
		/* no cookie */
		{ "> Dtag / 02 00 001c Ptag 00100000 0014 001e P+0 c006 0008 00000001",
		  "< Ptag / 06 00 000e 0002 000a 00000001 0007 0000" },
		/* Initiate Tag 0: the ABORT has the tag of the packet */
		{ "> Dtag / 02 00 0028 00000000 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c0*8",
		  "< Dtag / 06 01 0008 0007 0004" },
		{ "> Dtag / 02 00 0028 Ptag 00100000 0000 001e P+0 c006 0008 00000001 0007 000c c0*8",
		  "< Ptag / 06 00 0008 0007 0004" },
		{ "> Dtag / 02 00 0028 Ptag 00100000 0014 0000 P+0 c006 0008 00000001 0007 000c c0*8",
		  "< Ptag / 06 00 0008 0007 0004" },
		{ "> Dtag / 02 00 0028 Ptag 000005db 0014 001e P+0 c006 0008 00000001 0007 000c c0*8",
		  "< Ptag / 06 00 0008 0007 0004" },
		{ "> Dtag / 02 00 0030 Ptag 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c0*8"
		  " 000b 0008 61626300",
		  "< Ptag / 06 00 0010 0005 000c 000b 0008 61626300" },
	};
	unsigned int i;

	ROWS("9260-3.3.3-01 9260-3.3.3-03 9260-3.3.2-03 9260-3.3.2.1-03 9260-3.3.10-01 9260-3.2-06");
	for (i = 0; i < 6; i++) {
		begin_connect();
		keep_init();
		script(cases[i].ack, cases[i].answer, "-", "error 71"); /* EPROTO */
		assert_int_equal(f.s->table.assoc_count, 0);
	}
	/* 1500 is enough */
	begin_connect();
	keep_init();
	script("> Dtag / 02 00 0028 Ptag 000005dc 0014 001e P+0 c006 0008 00000001 0007 000c c0*8",
	       "< Ptag / 0a 00 000c c0*8");
}

static void test_streams_of_init_ack(void **state)
{
	ROWS("9260-3.3.3-02 9260-5.1.1-01 9260-5.1.1-02");
	script("> 00000000 / 01 00 001c Ptag 00100000 0014 0003 P+0 c006 0008 00000001",
	       "< Ptag / 02 00 ???? ???????? ???????? 0003 0003 ...");
}

/* An association requires DDP's Adaptation Code Point. */
static void test_adaptation(void **state)
{
	/* Departure from RFC 5061 4.2.6: SCTP itself refuses, instead of its only user. */
	static const char *const refused[] = {
		/*
		 * missing, in an INIT and in an INIT ACK; the peer returned the local one as
		 * unknown
		 */
		"< Ptag / 06 00 000e 0002 000a 00000001 c006 0000",
		"> Dtag / 02 00 0020 Ptag 00100000 0014 001e P+0 0007 000c c0*8",
		"> Dtag / 02 00 002c Ptag 00100000 0014 001e P+0 0007 000c c0*8 0008 000c c006 0008 00000001",
	};
	unsigned int i;

	ROWS("5061-4.2.6-03 5061-4.2.6-04");
	script("> 00000000 / 01 00 0014 Ptag 00100000 0014 001e P+0", refused[0], "-",
	       "> 00000000 / 01 00 001c Ptag 00100000 0014 001e P+0 c006 0008 00000000",
	       "< Ptag / 06 00 0008 0007 0004", "-");
	for (i = 1; i < 3; i++) {
		begin_connect();
		keep_init();
		script(refused[i], refused[0], "-", "error 71");
	}
	begin_connect();
	keep_init();
	script("> Dtag / 02 00 0028 Ptag 00100000 0014 001e P+0 c006 0008 00000002 0007 000c c0*8",
	       "< Ptag / 06 00 0008 0007 0004", "-", "error 71");
}

/* In other chunks the indication has no effect. */
static void test_adaptation_elsewhere(void **state)
{
	ROWS("5061-4.2.6-02");
	associate_out();
	script("> Dtag / 04 00 000c c006 0008 00000002", "< Ptag / 05 00 000c c006 0008 00000002",
	       "> Dtag / 09 00 0010 0008 000c c006 0008 00000002", "-", "state ESTABLISHED",
	       "post 1 8", "< Ptag / 00 07 0018 D+0 ...");
}

static void test_pad_chunk(void **state)
{
	ROWS("4820-3-01");
	associate();
	script("> Dtag / 84 ff 0064 ee*96" PEER_DATA(0), "got 1",
	       "< Ptag / 03 00 0010 P+0 ???????? 0000 0000",
	       "> Dtag / 84 00 0004 / 84 01 0007 06*3 00" PEER_DATA(1), "got 1", "wait 200",
	       "< Ptag / 03 00 0010 P+1 ???????? 0000 0000", "-");
}

static void test_pad_parameter(void **state)
{
	struct wire_sctp_init ack;
	struct packet *p;
	size_t cookie_len;

	ROWS("4820-4-01");
	script(PEER_INIT);
	cookie_len = keep_init_ack().cookie_len;
	/* the parameter that follows counts */
	script("> 00000000 / 01 00 0408 Ptag 00100000 0014 001e P+0 8005 03ec ab*1000 c006 0008 00000001");
	p = &f.out[f.head % PACKETS];
	ack = keep_init_ack();
	assert_int_equal(ack.cookie_len, cookie_len);
	assert_ptr_equal(ack.cookie + ack.cookie_len, p->data + p->len); /* no report */
	for (; cookie_len--; ack.cookie++)
		assert_memory_not_equal(ack.cookie, "\xab\xab\xab\xab", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_unknown_chunks),
		PEER_TEST(test_flags),
		PEER_TEST(test_chunk_padding),
		PEER_TEST(test_length_of_last_padding),
		PEER_TEST(test_parameter_padding),
		PEER_TEST(test_unknown_parameters),
		PEER_TEST(test_reported_to_initiator),
		PEER_TEST(test_cookie_echo),
		PEER_TEST(test_large_init_ack),
		PEER_TEST(test_data_layout),
		PEER_TEST(test_never_fragmented),
		PEER_TEST(test_unordered),
		PEER_TEST(test_init),
		PEER_TEST(test_init_refused),
		PEER_TEST(test_random_numbers),
		PEER_TEST(test_cookie_preservative),
		PEER_TEST(test_init_ack_refused),
		PEER_TEST(test_streams_of_init_ack),
		PEER_TEST(test_adaptation),
		PEER_TEST(test_adaptation_elsewhere),
		PEER_TEST(test_pad_chunk),
		PEER_TEST(test_pad_parameter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
