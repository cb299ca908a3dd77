/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* VALGRIND: yes */
/* Both roles of the handshake, against a scripted peer (RFC 9260 5). */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"

static void test_passive(void **state)
{
	establish();
	assert_true(sctp_assoc_is_up(f.a));
	assert_int_equal(sctp_assoc_max_msg(f.a), 1472 - 28);
}

/* DATA after the COOKIE ECHO is delivered, and acknowledged with the COOKIE ACK. */
static void test_cookie_echo_with_data(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct wire_sctp_sack s;
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-5.1-04 9260-3.3.12-01");
	read_init_ack(init_exchange(&init), &ack);
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	add_data(f.tsn);
	sendp();
	assert_true(f.rx.up);
	assert_int_equal(f.rx.count, 1);
	assert_int_equal(f.rx.data[0].len, 10);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ACK);
	c = chunk_of(p, 1, WIRE_SCTP_SACK);
	assert_true(wire_sctp_sack_get(&c, &s));
	assert_int_equal(s.cum, f.tsn);
}

/* The peer also connects to another local address, from its same address and port. */
static struct sctp_assoc *establish_at(const struct path_addr *path, uint32_t tag)
{
	struct wire_sctp_init init, ack;

	f.path = *path;
	f.tag = tag;
	init = our_init();
	read_init_ack(init_exchange(&init), &ack);
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
	assert_false(f.rx.restart);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ACK);
	return f.a;
}

static void expect_data_for(struct sctp_assoc *a, const struct path_addr *path, uint32_t tsn)
{
	begin_tag(a->local_tag);
	add_data(tsn);
	send_from(path);
	assert_ptr_equal(f.rx.assoc, a);
	assert_int_equal(f.rx.count, 1);
}

/* With the same peer, each local address has its own association, which ends independently. */
static void test_several_of_our_addresses(void **state)
{
	struct path_addr one = f.path, two = f.path, any = f.path;
	struct wire_sctp_init init, ack;
	struct sctp_assoc *a, *b;
	uint8_t quoted[8];

	two.local = simnet_v4(9);
	memset(&any.local, 0, sizeof(any.local));
	a = establish_at(&one, 0x11111111);
	b = establish_at(&two, 0x22222222);
	assert_ptr_not_equal(a, b);
	assert_true(sctp_assoc_is_up(a) && sctp_assoc_is_up(b));
	expect_data_for(a, &one, f.tsn);
	expect_data_for(b, &two, f.tsn);
	drop_all();
	/* The tag selects the association, whatever the destination address. */
	expect_data_for(a, &two, f.tsn + 1);
	drop_all();
	/* An ICMP error does not contain the source address of the quoted packet. */
	put_be16(quoted, LOCAL_PORT);
	put_be16(quoted + 2, PEER_PORT);
	put_be32(quoted + 4, a->peer_tag);
	assert_ptr_equal(sctp_path_quoted(f.ep, &any, quoted, sizeof(quoted)), a);
	put_be32(quoted + 4, b->peer_tag);
	assert_ptr_equal(sctp_path_quoted(f.ep, &any, quoted, sizeof(quoted)), b);
	/*
	 * Neither association can be opened again from here, nor can one from an address that
	 * routing selects.
	 */
	assert_null(sctp_connect(f.ep, &one, PEER_PORT, 1500, NULL, f.now));
	assert_null(sctp_connect(f.ep, &two, PEER_PORT, 1500, NULL, f.now));
	assert_null(sctp_connect(f.ep, &any, PEER_PORT, 1500, NULL, f.now));
	/* The peer restarts the first association: the other one continues. */
	f.path = one;
	f.tag = 0x33333333;
	init = our_init();
	read_init_ack(init_exchange(&init), &ack);
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.restart);
	assert_ptr_equal(f.rx.assoc, a);
	drop_all();
	expect_data_for(b, &two, f.tsn + 1);
	drop_all();
	/* A host that lost the association reflects the local tag. */
	begin_tag(b->peer_tag);
	add(WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT, 0);
	send_from(&two);
	assert_null(f.a);
	assert_int_equal(f.error, -ECONNRESET);
	expect_data_for(a, &one, f.tsn);
	assert_int_equal(f.s->table.assoc_count, 1);
	drop_all();
	assert_non_null(sctp_connect(f.ep, &two, PEER_PORT, 1500, NULL, f.now));
}

static void test_init_refused(void **state)
{
	struct wire_sctp_init good = our_init(), init;
	struct wire_sctp_chunk c;
	struct packet *p;
	unsigned int i;

	ROWS("9260-3.3.2-02 9260-3.3.2-03 9260-3.3.2-04 9260-3.3.2.1-03 9260-12.3-01");
	for (i = 0; i < 5; i++) {
		init = good;
		if (i == 0)
			init.os = 0;
		else if (i == 1)
			init.mis = 0;
		else if (i == 2)
			init.a_rwnd = 1499;
		else if (i == 3)
			init.adaptation = 2;
		else
			sctp_endpoint_set_accept(f.ep, false);
		p = init_exchange(&init);
		c = chunk_of(p, 0, WIRE_SCTP_ABORT);
		assert_int_equal(c.flags, 0);
		assert_int_equal(vtag_of(p), f.tag);
	}
	sctp_endpoint_set_accept(f.ep, true);
	/* An unknown parameter replaces the adaptation. */
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &good);
	put_be16(f.buf + f.len - 8, 0x8fff);
	sendp();
	c = chunk_of(take(), 0, WIRE_SCTP_ABORT);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_MISSING_PARAM);
	/* The INIT has a host name. */
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &good);
	f.len += wire_sctp_param_put(f.buf + f.len, WIRE_SCTP_PARAM_HOST_NAME, "abc", 4);
	wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_INIT, 0, f.len - 12);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	/*
	 * An INIT with Initiate Tag 0, with other chunks, with a verification tag, or with a bad
	 * checksum gets no answer.
	 */
	init = good;
	init.tag = 0;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	nothing();
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &good);
	add_data(1);
	sendp();
	nothing();
	begin_tag(5);
	add_init(WIRE_SCTP_INIT, &good);
	sendp();
	nothing();
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &good);
	wire_sctp_checksum_put(f.buf, f.len);
	f.buf[20] ^= 1;
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	nothing();
}

/* An endpoint that will accept soon drops INITs until then, or until that time. */
static void test_init_too_early(void **state)
{
	struct wire_sctp_init init = our_init();

	sctp_endpoint_set_accept(f.ep, false);
	sctp_endpoint_set_quiet(f.ep, f.now + SEC);
	f.now += SEC - 1;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	assert_null(take());
	f.now++;
	chunk_of(init_exchange(&init), 0, WIRE_SCTP_ABORT);
	/* An endpoint that stops accepting refuses at once. */
	sctp_endpoint_set_quiet(f.ep, f.now + SEC);
	sctp_endpoint_set_accept(f.ep, true);
	chunk_of(init_exchange(&init), 0, WIRE_SCTP_INIT_ACK);
	sctp_endpoint_set_accept(f.ep, false);
	chunk_of(init_exchange(&init), 0, WIRE_SCTP_ABORT);
}

/* Unknown parameters are reported as their upper bits demand, and otherwise harmless (3.2.1). */
static void test_init_unknown_params(void **state)
{
	static const uint16_t types[] = { 0xc000, 0x8abc, 0xffff, 0x4001, 0xc001 };
	struct wire_sctp_init init = our_init();
	struct wire_sctp_chunk c;
	const uint8_t *p, *end;
	unsigned int i, reports = 0;

	ROWS("9260-3.2.2-01 9260-3.2.1-03");
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	for (i = 0; i < 5; i++)
		f.len += wire_sctp_param_put(f.buf + f.len, types[i], "12345", 5);
	wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_INIT, 0, f.len - 12);
	sendp();
	c = chunk_of(take(), 0, WIRE_SCTP_INIT_ACK);
	end = c.raw + c.len;
	for (p = c.raw + WIRE_SCTP_INIT_LEN; p < end; p += round_up4(get_be16(p + 2))) {
		if (get_be16(p) != WIRE_SCTP_PARAM_UNRECOGNIZED)
			continue;
		/* the last one follows 0x4001, which stops */
		assert_int_equal(get_be16(p + 4), reports == 2 ? 0x4001 : types[reports * 2]);
		assert_int_equal(get_be16(p + 6), 9);
		reports++;
	}
	assert_int_equal(reports, 3);
}

static void test_cookie_checks(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet *p = init_exchange(&init);
	struct path_addr other = f.path;
	struct wire_sctp_chunk c;
	unsigned int i;

	ROWS("9260-5.1.3-01 9260-5.1.5-01 9260-5.1.5-02 9260-5.1.5-03");
	read_init_ack(p, &ack);
	f.their_tag = ack.tag;
	for (i = 0; i < ack.cookie_len; i++) { /* any bit flipped */
		begin();
		add_cookie_echo(&ack);
		f.buf[16 + i] ^= 1u << (i % 8);
		add_data(f.tsn);
		sendp();
		nothing();
		assert_null(f.rx.assoc);
	}
	begin_tag(f.their_tag + 1);
	add_cookie_echo(&ack);
	sendp();
	nothing();
	begin();
	add_cookie_echo(&ack);
	put_be16(f.buf, PEER_PORT + 1);
	sendp();
	nothing();
	other.remote = simnet_v4(3);
	begin();
	add_cookie_echo(&ack);
	send_from(&other);
	nothing();
	/* A stale cookie gets an ERROR, and sets up no association. */
	f.now += 61 * SEC;
	begin();
	add_cookie_echo(&ack);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_ERROR);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_STALE_COOKIE);
	assert_int_equal(vtag_of(p), f.tag);
	assert_int_equal(f.s->table.assoc_count, 0);
}

/* The key changes, but a cookie from before the change still works. */
static void test_cookie_key_change(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet first = *init_exchange(&init);

	ROWS("9260-5.1.3-02");
	f.now += 3599 * SEC + 990 * MSEC;
	first = *init_exchange(&init);
	f.now += 5 * SEC;
	init.tag++;
	init_exchange(&init);
	read_init_ack(&first, &ack);
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
}

/* A repeated COOKIE ECHO (action D) is answered again, even a stale one. */
static void test_cookie_again(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet p = *init_exchange(&init);

	ROWS("9260-5.2.4-05");
	read_init_ack(&p, &ack);
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	sendp();
	drop_all();
	f.now += 100 * SEC;
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_false(f.rx.up || f.rx.restart);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ACK);
	assert_int_equal(f.s->table.assoc_count, 1);
}

static void connect_out(void)
{
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	assert_null(sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now));
	collect();
}

static struct wire_sctp_init read_init(struct packet *p)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT);
	struct wire_sctp_init init;

	assert_int_equal(vtag_of(p), 0);
	assert_int_equal(chunks(p), 1);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_true(init.tag != 0 && init.os == init.mis && init.a_rwnd >= 1500);
	assert_true(init.has_adaptation && init.adaptation == 1);
	f.their_tag = init.tag;
	f.their_tsn = init.tsn;
	return init;
}

static void add_init_ack(const struct wire_sctp_init *init, size_t cookie_len)
{
	uint8_t *p = f.buf + f.len;
	uint8_t cookie[5000];
	size_t len = wire_sctp_init_put(p, WIRE_SCTP_INIT_ACK, init);

	memset(cookie, 0xc0, sizeof(cookie));
	if (cookie_len)
		len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_COOKIE, cookie, cookie_len);
	wire_sctp_chunk_put(p, WIRE_SCTP_INIT_ACK, 0, len);
	f.len += len;
}

static void test_active(void **state)
{
	struct wire_sctp_init ack = our_init();
	struct packet first, *p;
	struct wire_sctp_chunk c;
	unsigned int i;

	ROWS("9260-4-01 9260-3.2.2-02 9260-3.3.11-01 9260-9.2-06");
	connect_out();
	p = take();
	read_init(p);
	first = *p;
	/* The INIT is retransmitted unchanged, at doubled intervals. */
	wait_ns(999 * MSEC);
	nothing();
	wait_ns(1 * MSEC);
	p = take();
	assert_int_equal(p->len, first.len);
	assert_memory_equal(p->data, first.data, p->len);
	wait_ns(1999 * MSEC);
	nothing();
	wait_ns(1 * MSEC);
	assert_non_null(take());
	/* The cookie is echoed unchanged, followed by a report of unknown parameters. */
	begin();
	add_init_ack(&ack, 301);
	f.len += wire_sctp_param_put(f.buf + f.len, 0xfffe, "x", 1);
	wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_INIT_ACK, 0, f.len - 12);
	sendp();
	p = take();
	assert_int_equal(vtag_of(p), f.tag);
	c = chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	assert_int_equal(c.len, 305);
	for (i = 4; i < 305; i++)
		assert_int_equal(c.raw[i], 0xc0);
	c = chunk_of(p, 1, WIRE_SCTP_ERROR);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_PARAMS);
	assert_int_equal(get_be16(c.raw + 8), 0xfffe);
	/* Nothing else is sent until the COOKIE ACK. A SHUTDOWN ACK is out of the blue. */
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 8), 1, 8);
	add_data(f.tsn);
	sendp();
	/* A HEARTBEAT shows that the peer is up: COOKIE ECHO is retransmitted at once (8.3). */
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	chunk_of(p, chunks(p) - 1, WIRE_SCTP_HEARTBEAT_ACK);
	nothing();
	begin_tag(77);
	add(WIRE_SCTP_SHUTDOWN_ACK, 0, 0);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_SHUTDOWN_COMPLETE);
	assert_int_equal(c.flags, WIRE_SCTP_T_BIT);
	assert_int_equal(vtag_of(p), 77);
	assert_false(f.events);
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	assert_int_equal(f.rx.count, 1);
	assert_int_equal(sctp_assoc_streams(f.a), 20);
	assert_true(sctp_assoc_is_initiator(f.a));
	p = take();
	chunk_of(p, 0, WIRE_SCTP_SACK);
	nothing();
}

/*
 * After an early doorbell, the first messages follow the COOKIE ECHO, also in its retransmission.
 */
static void test_data_with_cookie_echo(void **state)
{
	struct wire_sctp_init ack = our_init();
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-6-01");
	f.messages = 40;
	connect_out();
	sctp_assoc_doorbell(f.a);
	collect();
	read_init(take());
	nothing();
	begin();
	add_init_ack(&ack, 100);
	sendp();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	c = chunk_of(p, 1, WIRE_SCTP_DATA);
	assert_int_equal(get_be32(c.raw + 4), f.their_tsn);
	assert_true(p->len <= 1472);
	nothing();
	assert_true(f.messages > 20);
	wait_ns(SEC);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	c = chunk_of(p, 1, WIRE_SCTP_DATA);
	assert_int_equal(get_be32(c.raw + 4), f.their_tsn);
	nothing();
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	add_sack(f.their_tsn + 40 - f.messages - 1, 1000000, NULL, 0);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_DATA);
	assert_int_equal(f.messages, 0);
}

static void test_init_ack_faults(void **state)
{
	struct wire_sctp_init ack;
	struct wire_sctp_chunk c;
	struct packet *p;
	unsigned int i;

	ROWS("9260-3.3.3-01 9260-3.3.3-03");
	for (i = 0; i < 7; i++) {
		ack = our_init();
		connect_out();
		read_init(take());
		ack.tag = i == 0 ? 0 : ack.tag;
		ack.os = i == 1 ? 0 : ack.os;
		ack.mis = i == 2 ? 0 : ack.mis;
		ack.adaptation = i == 3 ? 7 : 1;
		begin();
		add_init_ack(&ack, i == 4 ? 0 : 50);
		if (i == 5)
			put_be16(f.buf + 12 + WIRE_SCTP_INIT_LEN, 0x8fff);
		if (i == 6) {
			f.len += wire_sctp_param_put(f.buf + f.len, WIRE_SCTP_PARAM_HOST_NAME, "x",
						     1);
			wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_INIT_ACK, 0, f.len - 12);
		}
		f.events = 0;
		sendp();
		p = take();
		c = chunk_of(p, 0, WIRE_SCTP_ABORT);
		assert_int_equal(c.flags, i == 0 ? WIRE_SCTP_T_BIT : 0);
		assert_int_equal(vtag_of(p), i == 0 ? f.their_tag : f.tag);
		assert_int_equal(f.events, 1 << SCTP_EVENT_LOST);
		assert_int_equal(f.error, -EPROTO);
		assert_int_equal(f.s->table.assoc_count, 0);
	}
}

/* A cookie larger than the path MTU is echoed whole, with IP fragmentation. */
static void test_large_cookie(void **state)
{
	struct wire_sctp_init ack = our_init();
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-3.3.3-04");
	connect_out();
	read_init(take());
	begin();
	add_init_ack(&ack, 3999);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	assert_int_equal(c.len, 4003);
	assert_false(p->df);
}

static void test_stale_cookie_error(void **state)
{
	struct wire_sctp_init ack = our_init();
	uint32_t first;
	uint8_t *p;

	ROWS("9260-5.2.6-01");
	connect_out();
	read_init(take());
	first = f.their_tag;
	begin();
	add_init_ack(&ack, 100);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
	begin();
	p = add(WIRE_SCTP_ERROR, 0, 8);
	put_be16(p, WIRE_SCTP_CAUSE_STALE_COOKIE);
	put_be16(p + 2, 8);
	sendp();
	read_init(take());
	assert_true(f.their_tag != first);
	begin();
	add_init_ack(&ack, 100);
	sendp();
	acknowledge_cookie();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_passive),
		PEER_TEST(test_cookie_echo_with_data),
		PEER_TEST(test_several_of_our_addresses),
		PEER_TEST(test_init_refused),
		PEER_TEST(test_init_too_early),
		PEER_TEST(test_init_unknown_params),
		PEER_TEST(test_cookie_checks),
		PEER_TEST(test_cookie_key_change),
		PEER_TEST(test_cookie_again),
		PEER_TEST(test_active),
		PEER_TEST(test_data_with_cookie_echo),
		PEER_TEST(test_init_ack_faults),
		PEER_TEST(test_large_cookie),
		PEER_TEST(test_stale_cookie_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
