/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Verification tags, packets out of the blue, shutdown and abort, and the destination of packets
 * (RFC 9260 3.3.7, 6, 8, 9, 10; RFC 6951).
 */
#include "fixture/sctp_script.h"

#define SMALL(n) " / 00 07 0018 D+" #n " 0003 0000 00000010 ??*8"
#define ACK(n) "> Dtag / 03 00 0010 D+" #n " 00100000 0000 0000"
#define SACK(n) " / 03 00 0010 P+" #n " ???????? 0000 0000"
#define HEARTBEAT "> Dtag / 04 00 000c 0001 0008 12345678"
#define HEARTBEAT_ACK " / 05 00 000c 0001 0008 12345678"

/* Packets without an association (8.4). */
static void test_out_of_the_blue(void **state)
{
	static const char *const lines[][2] = {
		{ "> 00000063 / 06 00 0004", "-" }, /* ABORT */
		{ "> 00000063 / 06 01 0004", "-" },
		{ "> 00000063 / 0e 00 0004", "-" },		       /* SHUTDOWN COMPLETE */
		{ "> 00000063 / 0b 00 0004", "-" },		       /* COOKIE ACK */
		{ "> 00000063 / 09 00 000c 0003 0008 00000000", "-" }, /* ERROR: stale cookie */
		{ "> 00000063 / 00 07 0011 00000001 0001 0000 00000010 77 000000 / 06 00 0004",
		  "-" },
		/* tag 0 */
		{ "> 00000000 / 00 07 0011 00000001 0001 0000 00000010 77 000000", "-" },
		{ "> 00000000 / 08 00 0004", "-" },
		{ "> 00000063 / 08 00 0004", "< 00000063 / 0e 01 0004" }, /* SHUTDOWN ACK */
		{ "> 00000063 / 00 07 0011 00000001 0001 0000 00000010 77 000000",
		  "< 00000063 / 06 01 0004" },
		{ "> 00000063 / 03 00 0010 00000001 00100000 0000 0000",
		  "< 00000063 / 06 01 0004" },
		{ "> 00000063 / 04 00 0008 00000000", "< 00000063 / 06 01 0004" },
		/* another ERROR */
		{ "> 00000063 / 09 00 0008 0006 0004", "< 00000063 / 06 01 0004" },
		{ "> 00000063 / c0 00 0004", "< 00000063 / 06 01 0004" },
	};
	unsigned int i;

	ROWS("9260-8.4-01 9260-8.4-02 9260-8.4-03 9260-8.5.1-02 9260-3.3.7-02 9260-3.3.7-03");
	f.path.udp_port = 20009;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		script(lines[i][0]);
		if (f.head != f.tail)
			assert_memory_equal(&f.out[f.head % PACKETS].to, &f.path, sizeof(f.path));
		script(lines[i][1], "-");
	}
	f.path.remote.b[12] = 239; /* a packet from a multicast address gets no answer */
	for (i = 8; i < 11; i++)
		script(lines[i][0], "-");
	assert_int_equal(f.s->table.assoc_count, 0);
}

/* Port 0 is never used. */
static void test_port_zero(void **state)
{
	unsigned int i;

	ROWS("9260-3.1-01");
	errno = 0;
	assert_null(sctp_connect(f.ep, &f.path, 0, 1500, NULL, f.now));
	assert_int_equal(errno, EINVAL);
	for (i = 0; i < 4; i++) {
		struct wire_sctp_init init = our_init();

		begin_tag(i < 2 ? 0 : 99);
		if (i < 2)
			add_init(WIRE_SCTP_INIT, &init);
		else
			add_data(1);
		put_be16(f.buf + 2 * (i % 2), 0);
		sendp();
		script("-");
	}
}

/*
 * Delivers the packet in f.buf to a port next to the local port, and checks the answer from there.
 * If type is 0, no answer may follow.
 */
static void to_another_port(uint8_t type, uint8_t flags, uint32_t tag)
{
	static struct packet p;
	struct sctp_batch b;

	put_be16(f.buf + 2, LOCAL_PORT + 1);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	assert_null(f.rx.assoc);
	assert_int_equal(sctp_output_ootb(f.s, &b), type != 0);
	if (!type)
		return;
	assert_true(wire_sctp_checksum_ok(b.data, b.len));
	assert_memory_equal(&b.to, &f.path, sizeof(b.to));
	p.len = b.len;
	memcpy(p.data, b.data, b.len);
	sctp_batch_done(f.s, &b);
	assert_int_equal(chunk_of(&p, 0, type).flags, flags);
	assert_int_equal(chunks(&p), 1);
	assert_int_equal(vtag_of(&p), tag);
	assert_int_equal(get_be16(p.data), LOCAL_PORT + 1);
	assert_int_equal(get_be16(p.data + 2), PEER_PORT);
	assert_int_equal(sctp_output_ootb(f.s, &b), 0);
}

/*
 * The UDP port has one SCTP port. Packets to another SCTP port are out of the blue, even if the
 * peer has an association, because no other stack can answer.
 */
static void test_another_port(void **state)
{
	struct wire_sctp_init init = our_init();

	ROWS("9260-8.4-01 9260-8.4-02 9260-8.4-03 9260-8.4-04");
	for (int connected = 0; connected < 2; connected++) {
		if (connected)
			associate();
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		to_another_port(WIRE_SCTP_ABORT, 0, init.tag);
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		add(WIRE_SCTP_COOKIE_ACK, 0, 0); /* not the only chunk */
		to_another_port(0, 0, 0);
		begin_tag(77);
		add_init(WIRE_SCTP_INIT, &init);
		to_another_port(0, 0, 0);
		init.tag = 0;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		to_another_port(0, 0, 0);
		init = our_init();
		begin_tag(f.their_tag + !connected);
		add_data(f.tsn);
		to_another_port(WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT, f.their_tag + !connected);
		begin_tag(0);
		add_data(f.tsn);
		to_another_port(0, 0, 0);
		begin_tag(99);
		add(WIRE_SCTP_SHUTDOWN_ACK, 0, 0);
		to_another_port(WIRE_SCTP_SHUTDOWN_COMPLETE, WIRE_SCTP_T_BIT, 99);
		begin_tag(99);
		add(WIRE_SCTP_ABORT, 0, 0);
		to_another_port(0, 0, 0);
		begin_tag(99);
		add(WIRE_SCTP_COOKIE_ECHO, 0, 100);
		to_another_port(0, 0, 0);
	}
	script("state ESTABLISHED", "> Dtag" PEER_DATA(0), "got 1");
}

/*
 * A peer that returns the local packets gets no answer. An ABORT would return, too, as if it were
 * the peer's.
 */
static void test_echo(void **state)
{
	struct packet *p;

	ROWS("9260-8.4-04");
	begin_connect();
	p = take();
	sctp_input(f.ep, &f.path, p->data, p->len, f.now, &f.rx);
	collect();
	script("-", "state COOKIE-WAIT");
	teardown(NULL);
	setup(NULL);
	associate();
	script_post(1, 8);
	p = take();
	sctp_input(f.ep, &f.path, p->data, p->len, f.now, &f.rx);
	collect();
	script("-", "state ESTABLISHED");
}

/* However many strangers send packets, the number of waiting answers is limited. */
static void test_many_strangers(void **state)
{
	struct wire_sctp_init init = our_init();
	unsigned int answers = 0;
	struct sctp_batch b;

	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	put_be16(f.buf + 2, LOCAL_PORT + 1);
	wire_sctp_checksum_put(f.buf, f.len);
	for (int i = 0; i < 200; i++)
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	while (sctp_output_ootb(f.s, &b)) {
		sctp_batch_done(f.s, &b);
		answers++;
	}
	assert_int_equal(answers, 64);
}

/* The verification tag is the only proof of the sender (8.5, 8.5.1). */
static void test_tags(void **state)
{
	uint32_t good;

	ROWS("9260-8.5-01 9260-8.5.1-01 9260-8.5.1-02 9260-3.3.7-02");
	associate();
	good = f.their_tag;
	f.their_tag = good + 1;
	script("> Dtag" PEER_DATA(0), "got 0", HEARTBEAT, "wait 200", "-", "> Dtag / 06 00 0004",
	       "state ESTABLISHED", "> Dtag / 06 01 0004", "state ESTABLISHED",
	       "> 00000000" PEER_DATA(0), "got 0", "-", "> 00000000 / 06 00 0004",
	       "state ESTABLISHED");
	f.their_tag = good;
	script(/* ABORT: the local tag with T, the peer's tag without */
	       "> Dtag / 06 01 0004", "state ESTABLISHED", "> Ptag / 06 00 0004",
	       "state ESTABLISHED",
	       /* also after another chunk (PAD) */
	       "> Dtag / 84 00 0004 / 06 01 0004", "state ESTABLISHED",
	       /* malformed */
	       "> Dtag / 06 00 0003", "state ESTABLISHED", "> Dtag / 06 00 0008",
	       "state ESTABLISHED",
	       /* SHUTDOWN COMPLETE in the wrong state, with either tag */
	       "> Dtag / 0e 00 0004", "> Ptag / 0e 01 0004", "state ESTABLISHED", "-",
	       /* a reflected tag is valid for one chunk only */
	       "> Ptag / 0e 01 0004" PEER_DATA(0), "got 0", "wait 200", "-", "> Dtag" PEER_DATA(0),
	       "got 1", "drop", "> Dtag / 06 00 0004", "-", "error 104");
	teardown(NULL);
	setup(NULL);
	associate();
	script("> Ptag / 06 01 0004", "-", "error 104"); /* ECONNRESET */
}

static void test_shutdown_complete_tags(void **state)
{
	ROWS("9260-8.5.1-01 9260-9.2-05");
	associate();
	script("> Dtag / 07 00 0008 D-1", "< Ptag / 08 00 0004", "> Dtag / 0e 01 0004",
	       "> Ptag / 0e 00 0004", "state SHUTDOWN-ACK-SENT", "> Ptag / 0e 01 0004", "-",
	       "state CLOSED");
	assert_true(f.events & 1 << SCTP_EVENT_CLOSED);
	teardown(NULL);
	setup(NULL);
	associate();
	script("> Dtag / 07 00 0008 D-1", "< Ptag / 08 00 0004", "> Dtag / 0e 00 0004", "-",
	       "state CLOSED");
}

/* The user's abort sends one ABORT with its cause, and no other chunk. */
static void test_abort(void **state)
{
	ROWS("9260-9.1-01 9260-3.3.7-01 9260-3.3.7-03 9260-3.3.10-01");
	associate();
	begin();
	add_data(f.tsn);
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 8), 1, 8);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	sctp_assoc_abort(f.a);
	f.a = NULL;
	collect();
	script("< Ptag / 06 00 0008 000c 0004", "-");
	assert_int_equal(f.s->table.assoc_count, 0);
}

/*
 * The user ends the attempt during the setup. Either no peer has answered yet, or an ABORT
 * (user-initiated) is sent.
 */
static void test_close_in_setup(void **state)
{
	ROWS("9260-9.1-01 9260-3.3.7-03");
	begin_connect();
	keep_init();
	script("shutdown", "-", "state CLOSED");
	assert_int_equal(f.s->table.assoc_count, 0);
	begin_connect();
	keep_init();
	script(PEER_INIT_ACK, "drop", "state COOKIE-ECHOED", "shutdown",
	       "< Ptag / 06 00 0008 000c 0004", "-", "state CLOSED");
	assert_int_equal(f.s->table.assoc_count, 0);
}

/* The local shutdown waits for outstanding DATA (9.2). */
static void test_shutdown(void **state)
{
	ROWS("9260-9.2-01 9260-9.2-05 9260-8.5.1-03 9260-6-01 9260-3-01");
	associate();
	script("post 1 8", "< Ptag" SMALL(0), "shutdown", "-", "state SHUTDOWN-PENDING", "post 3 8",
	       "-");
	assert_int_equal(f.messages, 3);
	script("wait 3000", "< Ptag / 00 ?? 0018 D+0 ...", "drop", "state SHUTDOWN-PENDING", ACK(0),
	       "state SHUTDOWN-SENT", "< Ptag / 07 00 0008 P-1", "-", "post 3 8", "-",
	       "> Dtag / 08 00 0004", "< Ptag / 0e 00 0004", "-", "state CLOSED");
	assert_int_equal(f.messages, 3);
	assert_true(f.events & 1 << SCTP_EVENT_CLOSED);
}

/*
 * In SHUTDOWN-SENT, DATA is accepted and answered with a SHUTDOWN, and with a SACK if the SHUTDOWN
 * cannot acknowledge all.
 */
static void test_data_after_shutdown(void **state)
{
	ROWS("9260-9.2-04 9260-6-02");
	associate();
	script("shutdown", "< Ptag / 07 00 0008 P-1", "> Dtag" PEER_DATA(0), "got 1",
	       "< Ptag / 07 00 0008 P+0", "-", "wait 600", "-", "> Dtag" PEER_DATA(2), "got 1",
	       "< Ptag / 07 00 0008 P+0 / 03 00 0014 P+0 ???????? 0001 0000 0002 0002", "-",
	       "> Dtag" PEER_DATA(2), "got 0",
	       "< Ptag / 07 00 0008 P+0 / 03 00 0018 P+0 ???????? 0001 0001 0002 0002 P+2", "-",
	       "wait 999", "-", "wait 1", "< Ptag / 07 00 0008 P+0", "-", /* T2 was restarted */
	       "> Dtag" PEER_DATA(1), "got 1", "< Ptag / 07 00 0008 P+2", "-");
}

/* T2 repeats SHUTDOWN and SHUTDOWN ACK at growing intervals, until the association ends. */
static void test_t2(void **state)
{
	static const char *const begin_shutdown[] = { "shutdown", "> Dtag / 07 00 0008 D-1" };
	static const char *const again[] = { "< Ptag / 07 00 0008 P-1", "< Ptag / 08 00 0004" };
	unsigned int i;

	ROWS("9260-9.2-02");
	for (i = 0; i < 2; i++) {
		teardown(NULL);
		setup(NULL);
		associate();
		script(begin_shutdown[i], again[i], "wait 999", "-", "wait 1", again[i], "-",
		       "wait 1999", "-", "wait 1", again[i], "-", "wait 3999", "-", "wait 1",
		       again[i], "-", "wait 60000", "drop", "error 110"); /* ETIMEDOUT */
	}
}

/* A repeated SHUTDOWN acknowledges the DATA that has arrived meanwhile. */
static void test_t2_updated(void **state)
{
	ROWS("9260-9.2-02 9260-9.2-04");
	associate();
	script("shutdown", "< Ptag / 07 00 0008 P-1", "> Dtag" PEER_DATA(0),
	       "< Ptag / 07 00 0008 P+0", "wait 1000", "< Ptag / 07 00 0008 P+0", "-");
}

/*
 * The peer's shutdown waits for outstanding DATA, and no new DATA is sent. The peer may repeat its
 * SHUTDOWN.
 */
static void test_shutdown_received(void **state)
{
	ROWS("9260-9.2-03 9260-6-02 9260-6-01");
	associate();
	script("post 1 8", "post 1 8", "drop", "> Dtag / 07 00 0008 D-1", "-",
	       "state SHUTDOWN-RECEIVED");
	assert_int_equal(f.events, 1 << SCTP_EVENT_SHUTDOWN);
	script("post 3 8", "-", "> Dtag" PEER_DATA(0), "got 0", "wait 200", "drop", ">>",
	       "got 0", /* DATA comes too late */
	       "> Dtag / 07 00 0008 D+0", "state SHUTDOWN-RECEIVED", "wait 5000",
	       "< Ptag / 00 ?? 0018 D+1 ...", "drop", ACK(1), "state SHUTDOWN-ACK-SENT",
	       "< Ptag / 08 00 0004", "-", "> Dtag" PEER_DATA(0), "got 0", "-", "post 1 8", "-",
	       "> Dtag / 07 00 0008 D+1", "< Ptag / 08 00 0004", "-", "wait 1000", "drop",
	       "> Dtag / 0e 00 0004", "-", "state CLOSED");
	assert_int_equal(f.messages, 1);
}

/* If both sides shut down at once, both pass through SHUTDOWN-ACK-SENT. */
static void test_crossed_shutdowns(void **state)
{
	ROWS("9260-9.2-05 9260-8.5.1-03");
	associate();
	script("shutdown", "< Ptag / 07 00 0008 P-1", "> Dtag / 07 00 0008 D-1",
	       "state SHUTDOWN-ACK-SENT", "< Ptag / 08 00 0004", "-", "> Dtag / 08 00 0004",
	       "< Ptag / 0e 00 0004", "-", "state CLOSED");
}

/* Shutdown chunks in the wrong state. */
static void test_shutdown_misplaced(void **state)
{
	ROWS("9260-9.2-06");
	begin_connect();
	keep_init();
	script("> Dtag / 07 00 0008 D-1", "-", "state COOKIE-WAIT", "> Dtag / 08 00 0004",
	       "< Dtag / 0e 01 0004", "-", "state COOKIE-WAIT", PEER_INIT_ACK,
	       "< Ptag / 0a 00 000c c0*8", "> Dtag / 07 00 0008 D-1", "-", "state COOKIE-ECHOED",
	       "> Dtag / 08 00 0004", "< Dtag / 0e 01 0004", "-", "state COOKIE-ECHOED",
	       "> Dtag / 0b 00 0004", "state ESTABLISHED", "> Dtag / 08 00 0004", "-",
	       "state ESTABLISHED", "> Dtag / 07 00 0008 D-1", "< Ptag / 08 00 0004",
	       "> 00000000 / 01 00 001c 99999999 00100000 0014 001e P+0 c006 0008 00000001",
	       "< Ptag / 08 00 0004", "-", "state SHUTDOWN-ACK-SENT");
}

/* A SHUTDOWN has no gap blocks, but revokes none. */
static void test_shutdown_reneges_nothing(void **state)
{
	struct packet *p;

	ROWS("9260-3.3.8-01");
	associate();
	script("post 1 8", "post 1 8", "post 1 8", "drop",
	       /* D+2 has arrived, D+1 is missing */
	       "> Dtag / 03 00 0014 D+0 00100000 0001 0000 0002 0002", "> Dtag / 07 00 0008 D+0",
	       "wait 5000");
	while ((p = take())) {
		assert_int_equal(chunks(p), 1);
		assert_int_equal(get_be32(p->data + 16), conversation.dut_tsn + 1);
	}
	script(ACK(2), "< Ptag / 08 00 0004");
}

/* HEARTBEATs are answered as long as the association lasts. */
static void test_heartbeat_states(void **state)
{
	ROWS("9260-8.3-02");
	begin_connect();
	keep_init();
	script(HEARTBEAT, "-", PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8", HEARTBEAT,
	       "< Ptag / 0a 00 000c c0*8" HEARTBEAT_ACK, "-", "> Dtag / 0b 00 0004", HEARTBEAT,
	       "< Ptag" HEARTBEAT_ACK, "-", "post 1 8", "drop", "shutdown",
	       "state SHUTDOWN-PENDING", HEARTBEAT, "< Ptag" HEARTBEAT_ACK, "-", ACK(0),
	       "< Ptag / 07 00 0008 P-1", HEARTBEAT, "< Ptag" HEARTBEAT_ACK, "-",
	       "> Dtag / 07 00 0008 D+0", "< Ptag / 08 00 0004", HEARTBEAT, "< Ptag" HEARTBEAT_ACK,
	       "-");
	teardown(NULL);
	setup(NULL);
	associate();
	script("post 1 8", "drop", "> Dtag / 07 00 0008 D-1", "state SHUTDOWN-RECEIVED", HEARTBEAT,
	       "< Ptag" HEARTBEAT_ACK);
}

/* SACKs count only in states in which DATA may be outstanding. */
static void test_sack_states(void **state)
{
	ROWS("9260-6-02");
	begin_connect();
	script_post(2, 8);
	keep_init();
	script(PEER_INIT_ACK, "drop", ACK(0), "state COOKIE-ECHOED");
	assert_int_equal(sctp_assoc_acked(f.a), 0);
	script("> Dtag / 0b 00 0004", ACK(0));
	assert_int_equal(sctp_assoc_acked(f.a), 1);
	script("shutdown", ACK(1), "state SHUTDOWN-SENT", "drop", ACK(7), "-",
	       "state SHUTDOWN-SENT");
}

/* The INIT that keep_init() has taken. */
#define INIT_AGAIN "< 00000000 / 01 00 00?? Dtag ..."

/* An ICMP error counts only if it quotes a local packet (10; RFC 6951 5.5). */
static void test_icmp(void **state)
{
	static uint8_t quoted[20];
	unsigned int i;

	ROWS("9260-10-01 6951-5.5-01 6951-5.5-02");
	begin_connect();
	keep_init();
	memset(quoted, 0, sizeof(quoted));
	put_be16(quoted, LOCAL_PORT);
	put_be16(quoted + 2, PEER_PORT);
	quoted[12] = WIRE_SCTP_INIT;
	put_be32(quoted + 16, f.their_tag + 1); /* another host's INIT */
	for (i = 0; i < 10; i++)
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	/* The quotation is too short to show the INIT's tag, or the packet's ports. */
	for (i = 0; i < sizeof(quoted); i++)
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, i, f.now);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, NULL, 0, f.now);
	script("-", "state COOKIE-WAIT");
	/*
	 * The quoted INIT is local: it is repeated once, a little later. An error after that ends
	 * the attempt.
	 */
	put_be32(quoted + 16, f.their_tag);
	for (i = 0; i < 10; i++)
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	script("-", "state COOKIE-WAIT", "wait 30", INIT_AGAIN, "-", "state COOKIE-WAIT");
	sctp_unreachable(f.ep, &f.path, -EHOSTUNREACH, quoted, sizeof(quoted), f.now);
	collect();
	script("-", "error 113"); /* EHOSTUNREACH */
	/* After an answer to the INIT, the error has no effect. */
	teardown(NULL);
	setup(NULL);
	begin_connect();
	keep_init();
	put_be32(quoted + 16, f.their_tag);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	script(PEER_INIT_ACK, "drop");
	for (i = 0; i < 3; i++) {
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
		script("wait 30", "-", "state COOKIE-ECHOED");
	}
	/*
	 * with an association: wrong tag; wrong port; right ones, which cause a HEARTBEAT, and a
	 * live peer keeps the association
	 */
	teardown(NULL);
	setup(NULL);
	associate();
	primary()->health.proof = f.now;
	put_be32(quoted + 4, f.tag + 1);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	put_be32(quoted + 4, f.tag);
	put_be16(quoted, LOCAL_PORT + 1);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, NULL, 0, f.now);
	put_be16(quoted, LOCAL_PORT);
	/* EHOSTUNREACH has no effect: routers and firewalls may reach the host later. */
	for (i = 0; i < 10; i++)
		sctp_unreachable(f.ep, &f.path, -EHOSTUNREACH, quoted, sizeof(quoted), f.now);
	script("wait 5000", "-", "state ESTABLISHED");
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	collect();
	script("< Ptag / 04 00 0018 0001 0014 ...", HEARTBEAT, "< Ptag" HEARTBEAT_ACK, "wait 5000",
	       "-", "state ESTABLISHED");
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	script("wait 1000", "drop", "error 104"); /* ECONNRESET */
}

/*
 * After a valid packet of the peer from another UDP port, packets go to that port (RFC 6951 5.4).
 */
static void test_udp_ports(void **state)
{
	struct path_addr moved;
	struct packet *p;
	uint32_t i;

	ROWS("6951-5.4-01 6951-5.4-02 6951-5.1-01 6951-5.3-01");
	associate();
	script("> Dtag" PEER_DATA(0), "drop");
	moved = f.path;
	moved.udp_port = 20001;
	script_say("a wrong tag", "00000063" PEER_DATA(1), &moved);
	script_say("an INIT",
		   "00000000 / 01 00 001c 99999999 00100000 0014 001e P+0 c006 0008 00000001",
		   &moved);
	p = take();
	check_packet("INIT ACK", "99999999 / 02 00 ...", p);
	assert_int_equal(p->to.udp_port, 20001);
	begin();
	add_data(f.tsn + 1);
	wire_sctp_checksum_put(f.buf, f.len);
	f.buf[11] ^= 1; /* a wrong checksum */
	sctp_input(f.ep, &moved, f.buf, f.len, f.now, &f.rx);
	script("-", "post 1 8");
	p = take();
	check_packet("DATA", "Ptag" SMALL(0), p);
	assert_int_equal(p->to.udp_port, PEER_PORT);
	script(ACK(0), "-");
	script_say("a good one", "Dtag" PEER_DATA(1), &moved);
	for (i = 0; i < 3; i++) { /* permanently */
		script("post 1 8");
		p = take();
		assert_int_equal(p->to.udp_port, 20001);
		script_say("SACK", "Dtag / 03 00 0010 D+1 00100000 0000 0000", &moved);
		conversation.dut_tsn++;
	}
}

/*
 * If SCTP arrives without UDP, the answers are sent without UDP, and a packet may have 8 bytes more
 * (RFC 6951 5.4, 5.6).
 */
static void test_without_udp(void **state)
{
	struct path_addr plain;
	struct packet *p;

	ROWS("6951-5.4-03 6951-5.6-01");
	associate();
	assert_int_equal(sctp_assoc_max_msg(f.a), 1500 - 20 - 8 - 12 - 16);
	plain = f.path;
	plain.udp_port = 0;
	script_say("DATA", "Dtag" PEER_DATA(0), &plain);
	p = take();
	check_packet("SACK", "Ptag" SACK(0), p);
	assert_int_equal(p->to.udp_port, 0);
	assert_int_equal(sctp_assoc_max_msg(f.a), 1500 - 20 - 12 - 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_out_of_the_blue),
		PEER_TEST(test_port_zero),
		PEER_TEST(test_another_port),
		PEER_TEST(test_echo),
		PEER_TEST(test_many_strangers),
		PEER_TEST(test_tags),
		PEER_TEST(test_shutdown_complete_tags),
		PEER_TEST(test_abort),
		PEER_TEST(test_close_in_setup),
		PEER_TEST(test_shutdown),
		PEER_TEST(test_data_after_shutdown),
		PEER_TEST(test_t2),
		PEER_TEST(test_t2_updated),
		PEER_TEST(test_shutdown_received),
		PEER_TEST(test_crossed_shutdowns),
		PEER_TEST(test_shutdown_misplaced),
		PEER_TEST(test_shutdown_reneges_nothing),
		PEER_TEST(test_heartbeat_states),
		PEER_TEST(test_sack_states),
		PEER_TEST(test_icmp),
		PEER_TEST(test_udp_ports),
		PEER_TEST(test_without_udp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
