/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * The setup of an association, and INITs and cookies that arrive for an existing association (RFC
 * 9260 4, 5).
 */
#include "fixture/sctp_script.h"

static struct path_addr second_path(void)
{
	struct path_addr second = f.path;

	second.remote = simnet_v4(3);
	second.udp_port = 20002;
	return second;
}

static void test_one_association(void **state)
{
	ROWS("9260-1.3-01");
	associate();
	errno = 0;
	assert_null(sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now));
	assert_int_equal(errno, EISCONN);
	script("-");
	assert_int_equal(f.s->table.assoc_count, 1);
}

/* If the peer is silent, the same INIT is repeated 8 times at growing intervals. */
static void silent_peer(uint8_t type)
{
	unsigned int sent = 0;
	uint64_t last = 0, gap = 0;
	struct packet first = { 0 };

	while (f.a) {
		struct packet *p = take();

		if (!p) {
			wait_ns(10 * MSEC);
			continue;
		}
		assert_int_equal(p->data[12], type);
		if (!sent++) {
			first = *p;
		} else {
			assert_int_equal(p->len, first.len);
			assert_memory_equal(p->data, first.data, p->len);
			if (sent == 3 || sent == 4) /* 1 s, 2 s, 4 s */
				assert_int_equal(f.now - last, 2 * gap);
			assert_true(f.now - last + 10 * MSEC >= gap);
			gap = f.now - last;
		}
		last = f.now;
	}
	assert_int_equal(sent, 1 + 8);
	assert_int_equal(f.error, -ETIMEDOUT);
}

static void test_silence(void **state)
{
	ROWS("9260-4-01");
	begin_connect();
	silent_peer(WIRE_SCTP_INIT);
	/* the peer sends an INIT ACK in time, but never a COOKIE ACK */
	begin_connect();
	keep_init();
	script(PEER_INIT_ACK);
	silent_peer(WIRE_SCTP_COOKIE_ECHO);
}

static void test_init_ack_goes_back(void **state)
{
	struct path_addr from = f.path;
	struct packet *p;
	unsigned int i;

	ROWS("9260-5.1-01 9260-3.1-02");
	for (i = 0; i < 3; i++) {
		if (i == 1)
			from.udp_port = 20001;
		if (i == 2)
			from.remote = simnet_v4(7);
		script_say("INIT",
			   "00000000 / 01 00 001c Ptag 00100000 0014 001e P+0 c006 0008 00000001",
			   &from);
		p = take();
		check_packet("INIT ACK", "Ptag / 02 00 ...", p);
		assert_memory_equal(&p->to, &from, sizeof(from));
	}
}

/* Until the COOKIE ACK arrives, every packet begins with the COOKIE ECHO. */
static void test_only_cookie_echo(void **state)
{
	ROWS("9260-5.1-03 9260-6-01 9260-5.1.4-01");
	begin_connect();
	script("post 2 8");
	keep_init();
	script("-", PEER_INIT_ACK,
	       "< Ptag / 0a 00 000c c0*8 / 00 07 0018 D+0 0003 0000 00000010 02*8"
	       " / 00 07 0018 D+1 0003 0000 00000010 01*8",
	       "-", "> Dtag" PEER_DATA(0), "got 0", "> Dtag / 04 00 000c 0001 0008 12345678",
	       "< Ptag / 0a 00 000c c0*8 / 05 00 000c 0001 0008 12345678", "-",
	       "> Dtag / fe 00 0004", "> Dtag / 03 00 0010 D+1 00100000 0000 0000", "post 3 8",
	       "wait 999", "-", "wait 1",
	       "< Ptag / 0a 00 000c c0*8"
	       " / 00 07 0018 D+0 0003 0000 00000010 02*8 / 00 ?? 0018 D+1 0003 0000 00000010 01*8",
	       "-", "wait 1999", "-", "wait 1", "< Ptag / 0a 00 000c c0*8 / 00 07 0018 D+0 ...",
	       "-", "wait 1990", "-", "state COOKIE-ECHOED");
}

/* DATA that follows the COOKIE ECHO is delivered. An immediate SACK follows the COOKIE ACK. */
static void test_data_with_cookie_echo(void **state)
{
	ROWS("9260-5.1-04 9260-3.3.12-01 9260-5.1-07 9260-5.1.5-04");
	script(PEER_INIT);
	keep_init_ack();
	script("> Dtag / cookie-echo" PEER_DATA(0), "got 1",
	       "< Ptag / 0b 00 0004 / 03 00 0010 P+0 ???????? 0000 0000", "-");
	assert_true(f.rx.up);
}

static void test_first_data(void **state)
{
	ROWS("9260-5.1-07");
	associate();
	script("> Dtag" PEER_DATA(0), "< Ptag / 03 00 0010 P+0 ???????? 0000 0000",
	       "> Dtag" PEER_DATA(1), "-"); /* its SACK is delayed */
}

/*
 * The first cumulative TSN is one below the first TSN. A SACK of this TSN counts, and a lower SACK
 * is old.
 */
static void test_ack_point(void **state)
{
	ROWS("9260-5.1-08 9260-6.2.1-02");
	associate();
	script("> Dtag / 03 00 0010 D-1 00000000 0000 0000", "post 1 8", "-",
	       "> Dtag / 03 00 0010 D-2 00100000 0000 0000", "-",
	       "> Dtag / 03 00 0010 D-1 00100000 0000 0000", "< Ptag / 00 07 0018 D+0 ...");
}

static void test_too_many(void **state)
{
	size_t count = f.s->table.assoc_count;

	ROWS("9260-5.1-06 9260-3.3.10-01");
	f.s->table.assoc_count = SCTP_ASSOCS_MAX;
	script(PEER_INIT, "< Ptag / 06 00 0008 0004 0004", "-");
	f.s->table.assoc_count = count;
}

/* The number of streams is the minimum of both directions. */
static void test_streams(void **state)
{
	static const struct {
		const char *ack;
		unsigned int streams;
	} cases[] = {
		{ "> Dtag / 02 00 0028 Ptag 00100000 000a ffff P+0 c006 0008 00000001 0007 000c c0*8",
		  10 },
		{ "> Dtag / 02 00 0028 Ptag 00100000 0014 0002 P+0 c006 0008 00000001 0007 000c c0*8",
		  2 },
	};
	unsigned int i;

	ROWS("9260-5.1.1-01 9260-5.1.1-02");
	for (i = 0; i < 2; i++) {
		begin_connect();
		keep_init(); /* 65535 in each direction, see test_init in test_sctp_wire_format.c */
		script(cases[i].ack, "drop", "> Dtag / 0b 00 0004");
		assert_int_equal(sctp_assoc_streams(f.a), cases[i].streams);
		sctp_assoc_abort(f.a);
		collect();
		drop_all();
	}
}

/*
 * Addresses of both families in one INIT cause no error. Parameters after the other family's
 * address count.
 */
static void test_address_families(void **state)
{
	struct path_addr second = second_path();
	struct wire_sctp_init ack;
	struct packet *p;

	ROWS("9260-5.1.2-03");
	script("> 00000000 / 01 00 0048 Ptag 00100000 0014 001e P+0 c006 0008 00000001"
	       " 000c 0008 0005 0006 0006 0014 20010db8 00*11 02 0005 0008 0a000002 0005 0008 0a000003");
	p = &f.out[f.head % PACKETS];
	ack = keep_init_ack();
	assert_ptr_equal(ack.cookie + ack.cookie_len, p->data + p->len);
	script("-", "> Dtag / cookie-echo", "< Ptag / 0b 00 0004");
	script_say("from the second address", "Dtag" PEER_DATA(0), &second);
	script("got 1", "< Ptag / 03 00 0010 P+0 ???????? 0000 0000");
}

static void test_cookies_differ(void **state)
{
	static uint8_t first[sizeof(conversation.cookie)];
	size_t len;

	ROWS("9260-5.1.3-02 9260-5.1.3-01 9260-5.1.5-01");
	script(PEER_INIT);
	keep_init_ack();
	len = conversation.cookie_len;
	memcpy(first, conversation.cookie, len);
	script(PEER_INIT);
	keep_init_ack();
	assert_true(conversation.cookie_len <= 512);
	assert_memory_not_equal(first, conversation.cookie, len);
	/* a new instance knows neither cookie */
	teardown(NULL);
	setup(NULL);
	sim_random_init(&f.random, 43);
	script(PEER_INIT);
	drop_all();
	script("> Dtag / cookie-echo" PEER_DATA(0), "got 0", "-");
}

static void test_stale_cookie(void **state)
{
	ROWS("9260-5.1.5-03 9260-3.3.10-01");
	script(PEER_INIT);
	keep_init_ack();
	script("wait 61000", "> Dtag / cookie-echo" PEER_DATA(0), "got 0",
	       "< Ptag / 09 00 000c 0003 0008 00000000", "-");
	assert_int_equal(f.s->table.assoc_count, 0);
}

/* The cookie restores the INIT's window, streams and TSN. */
static void test_cookie_remembers(void **state)
{
	ROWS("9260-5.1.5-04 9260-5.1.1-01");
	script("> 00000000 / 01 00 001c Ptag 000005dc 0002 0005 P+0 c006 0008 00000001");
	keep_init_ack();
	script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "post 10 1000",
	       "< Ptag / 00 ?? 03f8 D+0 0003 0000 00000010 0a*1000", "-",
	       "> Dtag / 00 07 0011 P+0 0002 0000 00000010 77 000000", "got 0",
	       "< Ptag / 09 00 000c 0001 0008 0002 0000 / 03 00 0010 P+0 ...");
	assert_int_equal(sctp_assoc_streams(f.a), 2);
}

/* An INIT in COOKIE-WAIT is answered with the values of the local INIT, and changes nothing. */
static void test_init_in_cookie_wait(void **state)
{
	struct packet first, answer;

	ROWS("9260-5.2.1-01 9260-5.2.4-03");
	begin_connect();
	first = f.out[f.head % PACKETS];
	keep_init();
	script(PEER_INIT, "state COOKIE-WAIT");
	answer = f.out[f.head % PACKETS];
	keep_init_ack();
	assert_memory_equal(answer.data + 16, first.data + 16, 8);  /* tag, window */
	assert_memory_equal(answer.data + 28, first.data + 28, 20); /* TSN, parameters */
	script("-", "wait 999", "-", "wait 1");
	assert_memory_equal(take()->data, first.data, first.len);
	/* action B: the cookie has the peer's tag */
	script("-", "> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "state ESTABLISHED",
	       "wait 60000", "-", "post 1 8", "< Ptag / 00 07 0018 D+0 ...");
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	assert_int_equal(f.s->table.assoc_count, 1);
}

/* The same holds in COOKIE-ECHOED, unless the INIT adds an address. */
static void test_init_in_cookie_echoed(void **state)
{
	struct packet first, answer;

	ROWS("9260-5.2.1-02 9260-5.2.4-03 9260-3.3.10-01");
	begin_connect();
	first = f.out[f.head % PACKETS];
	keep_init();
	script(PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8",
	       "> 00000000 / 01 00 0024 99999999 00100000 0014 001e P+0 c006 0008 00000001 0005 0008 0a000003",
	       "< 99999999 / 06 00 0010 000b 000c 0005 0008 0a000003", "-", "state COOKIE-ECHOED");
	f.tag = 0x55667788;
	script(PEER_INIT, "state COOKIE-ECHOED");
	answer = f.out[f.head % PACKETS];
	keep_init_ack();
	assert_memory_equal(answer.data + 16, first.data + 16, 8);
	assert_memory_equal(answer.data + 28, first.data + 28, 20);
	/* action B: the peer's tag is now the cookie's */
	script("-", "> Dtag / cookie-echo", "< 55667788 / 0b 00 0004", "state ESTABLISHED",
	       "post 1 8", "< 55667788 / 00 07 0018 D+0 ...");
}

/* For an INIT that meets an association, a cookie is made, and nothing else happens. */
static void test_init_meets_association(void **state)
{
	uint32_t old_dut, old_peer;

	ROWS("9260-5.2.2-01 9260-5.2.2-02 9260-3.3.2.1-02 9260-3.3.10-01");
	associate();
	old_dut = f.their_tag;
	old_peer = f.tag;
	f.tag = 0x99999999;
	script("post 1 8", "< 11223344 / 00 07 0018 D+0 ...", PEER_INIT, "state ESTABLISHED");
	keep_init_ack();
	assert_int_not_equal(f.their_tag, old_dut);
	f.their_tag = old_dut;
	f.tag = old_peer;
	conversation.dut_tsn = f.their_tsn;
	script("-", "> Dtag / 03 00 0010 D+0 00100000 0000 0000", "> Dtag" PEER_DATA(0), "got 1",
	       "< Ptag / 03 00 0010 P+0 ???????? 0000 0000", "post 1 8",
	       "< Ptag / 00 07 0018 D+1 0003 0000 00000010 01*8",
	       /* an INIT that adds an address, of either family */
	       "> 00000000 / 01 00 0024 99999999 00100000 0014 001e P+0 c006 0008 00000001 0005 0008 0a000003",
	       "< 99999999 / 06 00 0010 000b 000c 0005 0008 0a000003", "-",
	       "> 00000000 / 01 00 0030 99999999 00100000 0014 001e P+0 c006 0008 00000001"
	       " 0006 0014 20010db8 00*11 02",
	       "< 99999999 / 06 00 001c 000b 0018 0006 0014 20010db8 00*11 02", "-",
	       "> Dtag / 03 00 0010 D+1 00100000 0000 0000", "> Dtag" PEER_DATA(1), "got 1");
}

/* Action A: the peer has restarted. */
static void test_restart(void **state)
{
	unsigned int i, packets = 0;
	uint32_t old_tag;

	ROWS("9260-5.2.4-01");
	associate();
	script("post 1000 1444"); /* until the window is much larger than at first */
	for (i = 0; i < 6; i++) {
		uint32_t last = take_data();

		begin();
		add_sack(last, 10000000, NULL, 0);
		sendp();
	}
	drop_all();
	old_tag = f.their_tag;
	f.tag = 0x99999999;
	f.messages = 0;
	f.tsn = conversation.peer_tsn = 5000;
	script(PEER_INIT);
	keep_init_ack();
	script("> Dtag / cookie-echo" PEER_DATA(0), "got 1");
	assert_true(f.rx.restart);
	assert_false(f.rx.up);
	script("< 99999999 / 0b 00 0004 / 03 00 0010 P+0 ???????? 0000 0000");
	drop_all();
	assert_int_equal(f.s->table.assoc_count, 1);
	assert_true(sctp_assoc_is_drained(f.a));
	script("post 1000 1444");
	while (f.head != f.tail) {
		struct packet *p = take();

		check_packet("new", "99999999 / 00 ...", p);
		assert_int_equal(get_be32(p->data + 16), conversation.dut_tsn + packets++);
	}
	assert_int_equal(packets, 4); /* the initial window */
	/* the old tag is invalid */
	f.their_tag = old_tag;
	script("> Dtag" PEER_DATA(1), "got 0", "-");
}

static void test_restart_in_shutdown(void **state)
{
	uint32_t old_tag;

	ROWS("9260-5.2.4-02 9260-3.3.10-01 9260-9.2-06");
	associate();
	old_tag = f.their_tag;
	f.tag = 0x99999999;
	script(PEER_INIT);
	keep_init_ack();
	f.tag = 0x11223344;
	begin_tag(old_tag);
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn - 1);
	sendp();
	script("< 11223344 / 08 00 0004", "state SHUTDOWN-ACK-SENT", "> Dtag / cookie-echo",
	       "< 11223344 / 09 00 0008 000a 0004 / 08 00 0004", "-", "state SHUTDOWN-ACK-SENT");
	assert_false(f.rx.restart || f.rx.up);
	/* an INIT does not get a cookie */
	script("> 00000000 / 01 00 001c 99999999 00100000 0014 001e P+0 c006 0008 00000001",
	       "< 11223344 / 08 00 0004", "-");
}

/* Action C, and a case missing in the table: cookies older than the association are dropped. */
static void test_old_cookies(void **state)
{
	static uint8_t old[sizeof(conversation.cookie)];
	uint32_t tag, old_tag[2];
	unsigned int i;
	size_t len;

	ROWS("9260-5.2.4-04");
	for (i = 0; i < 2; i++) { /* with the same peer's tag, and with another */
		teardown(NULL);
		setup(NULL);
		f.tag = i ? 0x99999999 : 0x11223344;
		script(PEER_INIT);
		keep_init_ack();
		len = conversation.cookie_len;
		memcpy(old, conversation.cookie, len);
		old_tag[i] = f.their_tag;
		f.tag = 0x11223344;
		associate();
		tag = f.their_tag;
		conversation.cookie_len = len;
		memcpy(conversation.cookie, old, len);
		f.their_tag = old_tag[i];
		script("> Dtag / cookie-echo" PEER_DATA(0), "got 0", "-", "state ESTABLISHED");
		f.their_tag = tag;
		script("> Dtag" PEER_DATA(0), "got 1", "< Ptag / 03 00 0010 P+0 ???????? 0000 0000",
		       "post 1 8", "< Ptag / 00 07 0018 D+0 ...");
	}
}

/* Action D: the same cookie arrives again, even when stale. */
static void test_cookie_again(void **state)
{
	ROWS("9260-5.2.4-05");
	script(PEER_INIT);
	keep_init_ack();
	script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", ">>", "< Ptag / 0b 00 0004", "-",
	       "wait 61000", ">>", "< Ptag / 0b 00 0004", "-");
	assert_false(f.rx.restart || f.rx.up);
	assert_int_equal(f.s->table.assoc_count, 1);
}

/* Handshake chunks in the wrong state. */
static void test_out_of_place(void **state)
{
	ROWS("9260-5.2.3-01 9260-5.2.5-01 9260-5.2.6-01");
	begin_connect();
	keep_init();
	script("> Dtag / 0b 00 0004", "-", "state COOKIE-WAIT",
	       "> Dtag / 09 00 000c 0003 0008 00000000", "-", "state COOKIE-WAIT", PEER_INIT_ACK,
	       "< Ptag / 0a 00 000c c0*8",
	       "> Dtag / 02 00 0028 99999999 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c1*8",
	       "-", "state COOKIE-ECHOED", "> Dtag / 0b 00 0004", "state ESTABLISHED",
	       "> Dtag / 02 00 0028 99999999 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c1*8",
	       "> Dtag / 0b 00 0004", "> Dtag / 09 00 000c 0003 0008 00000000", "-",
	       "state ESTABLISHED", "post 1 8", "< Ptag / 00 07 0018 D+0 ...",
	       "> Dtag" PEER_DATA(0), "got 1");
}

static void test_stale_cookie_error(void **state)
{
	uint32_t first;

	ROWS("9260-5.2.6-01");
	begin_connect();
	keep_init();
	first = f.their_tag;
	script(PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8", "> Dtag / 09 00 000c 0003 0008 00000000",
	       "state COOKIE-WAIT");
	keep_init();
	assert_int_not_equal(f.their_tag, first);
	first = f.their_tag;
	/* After a second Stale Cookie error, the next INIT waits as long as for a silent peer. */
	script("-", PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8",
	       "> Dtag / 09 00 000c 0003 0008 00000000", "-", "state COOKIE-WAIT", "wait 1999", "-",
	       "wait 1");
	keep_init();
	assert_int_not_equal(f.their_tag, first);
	script("-", PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8", "> Dtag / 0b 00 0004",
	       "state ESTABLISHED");
}

/* An unconfirmed address of the peer gets only HEARTBEATs. */
static void test_unconfirmed_address(void **state)
{
	struct path_addr second = second_path();
	struct sctp_config config;
	struct packet *p;
	unsigned int i;

	ROWS("9260-5.4-01 9260-5.4-02");
	teardown(NULL);
	sctp_config_default(&config);
	setup_config(&config);
	begin_connect();
	keep_init();
	script("> Dtag / 02 00 0030 Ptag 00100000 0014 001e P+0 c006 0008 00000001 0005 0008 0a000003"
	       " 0007 000c c0*8",
	       "< Ptag / 0a 00 000c c0*8", "> Dtag / 0b 00 0004", "post 100 1000");
	/* The peer acknowledges nothing, but is alive. */
	for (i = 0; i < 200 && f.a; i++) {
		while ((p = take())) {
			const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
			struct wire_sctp_chunk c;

			if (!ip_addr_equal(&p->to.remote, &second.remote))
				continue;
			while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
				assert_true(c.type == WIRE_SCTP_HEARTBEAT ||
					    c.type == WIRE_SCTP_PAD ||
					    c.type == WIRE_SCTP_HEARTBEAT_ACK);
		}
		script("> Dtag / 04 00 000c 0001 0008 12345678", "wait 100");
		/* a HEARTBEAT ACK without a HEARTBEAT confirms no address */
		if (i == 50)
			script_say("HEARTBEAT ACK", "Dtag / 05 00 0018 0001 0014 5a*16", &second);
	}
	assert_int_equal(i, 200);
}

static void test_init_not_alone(void **state)
{
	unsigned int i;

	ROWS("9260-12.3-01 9260-3-01");
	for (i = 0; i < 2; i++) {
		script(PEER_INIT PEER_DATA(0), "-", PEER_INIT " / 0b 00 0004", "-",
		       "> 00000005 / 01 00 001c Ptag 00100000 0014 001e P+0 c006 0008 00000001",
		       "-");
		if (i) /* an INIT after another chunk is dropped, with the chunks that follow */
			script("> Dtag" PEER_DATA(0) " / 01 00 001c 99999999 00100000 0014 001e P+0 c006 0008 00000001" PEER_DATA(
				       1),
			       "got 1", "< Ptag / 03 00 0010 P+0 ???????? 0000 0000", "-");
		else
			associate();
	}
}

/* The answer to an INIT is not much longer than the INIT, whatever its contents. */
static void test_many_unknown_parameters(void **state)
{
	static const char *const inits[] = {
		"> 00000000 / 01 00 04cc Ptag 00100000 0014 001e P+0 c006 0008 00000001 fffe0004*300",
		"> 00000000 / 01 00 051c Ptag 00100000 0014 001e P+0 c006 0008 00000001"
		" fffe 0100 a1*252 fffe 0100 a2*252 fffe 0100 a3*252 fffe 0100 a4*252 fffe 0100 a5*252",
	};
	unsigned int i;

	ROWS("9260-12.4-03");
	for (i = 0; i < 2; i++) {
		struct packet *p;

		script(inits[i]);
		p = &f.out[f.head % PACKETS];
		keep_init_ack();
		assert_true(p->len <= f.len + 4 + conversation.cookie_len);
		assert_true(p->len <= 1200);
		script("-");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_one_association),
		PEER_TEST(test_silence),
		PEER_TEST(test_init_ack_goes_back),
		PEER_TEST(test_only_cookie_echo),
		PEER_TEST(test_data_with_cookie_echo),
		PEER_TEST(test_first_data),
		PEER_TEST(test_ack_point),
		PEER_TEST(test_too_many),
		PEER_TEST(test_streams),
		PEER_TEST(test_address_families),
		PEER_TEST(test_cookies_differ),
		PEER_TEST(test_stale_cookie),
		PEER_TEST(test_cookie_remembers),
		PEER_TEST(test_init_in_cookie_wait),
		PEER_TEST(test_init_in_cookie_echoed),
		PEER_TEST(test_init_meets_association),
		PEER_TEST(test_restart),
		PEER_TEST(test_restart_in_shutdown),
		PEER_TEST(test_old_cookies),
		PEER_TEST(test_cookie_again),
		PEER_TEST(test_out_of_place),
		PEER_TEST(test_stale_cookie_error),
		PEER_TEST(test_unconfirmed_address),
		PEER_TEST(test_init_not_alone),
		PEER_TEST(test_many_unknown_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
