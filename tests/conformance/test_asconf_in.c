/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Changes of a peer's addresses (RFC 5061) and authentication (RFC 4895), at the receiver. */
#include "fixture/sctp_asconf.h"

/* ---- INIT and INIT ACK ---- */

static void test_offer(void **state)
{
	struct wire_sctp_init init = asconf_init(), ack;

	ROWS("5061-4.2.7-01 4895-3.1-01 4895-3.2-01 4895-3.3-01");
	read_init_ack(init_exchange(&init), &ack);
	assert_int_equal(get_be16(ack.random + 2), 36);
	assert_memory_equal(ack.chunks, "\x80\x03\0\x06\xc1\x80", 6);
	assert_memory_equal(ack.hmacs, "\x80\x04\0\x08\0\x03\0\x01", 8);
	assert_memory_equal(ack.extensions, "\x80\x08\0\x07\xc1\x80\x0f", 7);
	/* An INIT ACK has these parameters only if the INIT has them. */
	init = our_init();
	read_init_ack(init_exchange(&init), &ack);
	assert_true(!ack.random && !ack.chunks && !ack.hmacs && !ack.extensions);
	/* Every local INIT has these parameters. */
	begin_connect();
	{
		struct wire_sctp_chunk c = chunk_of(take(), 0, WIRE_SCTP_INIT);

		assert_true(wire_sctp_init_get(&c, &init));
		assert_true(init.random && init.chunks && init.hmacs && init.extensions);
	}
}

/* An ABORT answers ASCONF without authentication, or with a wrong length of the Random Number. */
static void test_broken_offers(void **state)
{
	static const uint8_t short_random[8] = { 0x80, 2, 0, 8 };
	struct wire_sctp_init init = asconf_init();
	struct wire_sctp_chunk c;

	ROWS("5061-6-01 4895-6.1-01");
	init.random = init.hmacs = NULL;
	c = chunk_of(init_exchange(&init), 0, WIRE_SCTP_ABORT);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_PROTOCOL);
	init = our_init();
	init.random = short_random;
	chunk_of(init_exchange(&init), 0, WIRE_SCTP_ABORT);
	nothing();
}

static void answer_with(const struct wire_sctp_init *init)
{
	begin_connect();
	keep_init();
	begin_tag(f.a->local_tag);
	add_init(WIRE_SCTP_INIT_ACK, init);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cook", 4);
	sendp();
}

static void test_broken_answer(void **state)
{
	struct wire_sctp_init init = asconf_init();

	ROWS("5061-6-02");
	init.random = NULL;
	answer_with(&init);
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	nothing();
	assert_null(f.a);
	assert_int_equal(f.error, -EPROTO);
}

/* The INIT ACK demands authenticated DATA: the next INIT offers no extensions. */
static void test_demanding_answer(void **state)
{
	static const uint8_t data[] = { 0x80, 3, 0, 6, 0xc1, 0 };
	struct wire_sctp_init init = asconf_init();
	struct wire_sctp_chunk c;

	ROWS("4895-6.2-01");
	init.chunks = data;
	answer_with(&init);
	c = chunk_of(take(), 0, WIRE_SCTP_INIT);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_true(!init.random && !init.extensions);
	nothing();
}

/* ---- AUTH ---- */

/* A change without AUTH, or with a wrong AUTH, changes nothing. */
static void test_forged(void **state)
{
	unsigned int i;

	ROWS("4895-6.3-01 4895-6.3-03 4895-6.3-04 4895-5.1-01 5061-4.1.1-01 5061-5.2-02");
	asconf_establish();
	begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	add_data(f.tsn); /* dropped with the request */
	sendp();
	nothing();
	for (i = 0; i < 8 * 40; i += 7) { /* all bits of AUTH but its flags and its length */
		if (i >= 8 && i < 32)
			continue;
		asconf_begin();
		asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
		asconf_sign();
		f.buf[12 + i / 8] ^= 1u << i % 8;
		if (i / 8 == 6 || i / 8 == 7 || i < 8)
			continue; /* another HMAC, or another chunk */
		sendp();
		nothing();
	}
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_sign();
	f.buf[f.len - 1] ^= 1; /* a bit of the address */
	sendp();
	nothing();
	/* a second AUTH */
	asconf_begin();
	sctp_auth_put(&asconf_peer.auth, f.buf + f.len);
	f.len += 40;
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	sctp_auth_sign(&asconf_peer.auth, f.buf + 52, f.len - 52);
	asconf_sign();
	sendp();
	nothing();
	assert_int_equal(f.a->paths.others, 0);
	/* the right one */
	asconf_request(0, WIRE_SCTP_ADD_IP, 3, &f.path);
	asconf_ack_in(take(), 0);
	assert_int_equal(f.a->paths.others, 1);
}

static void test_unknown_hmac(void **state)
{
	struct wire_sctp_chunk c;

	ROWS("4895-6.3-02");
	asconf_establish();
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	put_be16(f.buf + 18, 2);
	sendp();
	c = chunk_of(take(), 0, WIRE_SCTP_ERROR);
	assert_int_equal(c.len, 10);
	assert_memory_equal(c.raw + 4, "\x01\x05\0\x06\0\x02", 6);
	nothing();
	assert_int_equal(f.a->paths.others, 0);
}

/* The receiver accepts SHA-1, too, and a DATA chunk that follows AUTH and needs none. */
static void test_sha1(void **state)
{
	ROWS("4895-3.3-01 4895-6.3-06");
	asconf_establish();
	asconf_peer.auth.hmac = WIRE_SCTP_HMAC_SHA1;
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	add_data(f.tsn);
	asconf_sign();
	sendp();
	assert_int_equal(f.rx.count, 1);
	assert_int_equal(f.a->paths.others, 1);
}

/* A packet with AUTH and without an association gets the same ABORT as a packet without AUTH. */
static void test_out_of_the_blue(void **state)
{
	struct path_addr stranger = f.path;
	struct packet *p;

	ROWS("4895-6.3-05 5061-5.2-01");
	asconf_establish();
	stranger.remote = simnet_v4(9);
	asconf_begin();
	add_data(f.tsn);
	asconf_sign();
	send_from(&stranger);
	p = take();
	assert_int_equal(chunk_of(p, 0, WIRE_SCTP_ABORT).flags, WIRE_SCTP_T_BIT);
	assert_true(is_to(p, &stranger));
	nothing();
}

/* A stranger's packet causes few look-ups of associations, however many ASCONFs it has. */
static void test_few_are_looked_up(void **state)
{
	struct path_addr stranger = f.path;

	ROWS("5061-5.2-01");
	asconf_establish();
	stranger.remote = simnet_v4(9);
	for (unsigned int k = 5; k > 1; k -= 2) {
		asconf_begin();
		for (unsigned int i = 0; i < k; i++) {
			asconf_add_request(i - k, 0x80fe, 9);
			f.buf[asconf_peer.chunk + 15] =
				8; /* an Address Parameter without an association */
		}
		asconf_add_request(0, WIRE_SCTP_ADD_IP, 9);
		asconf_sign();
		send_from(&stranger);
		if (k == 5)
			chunk_of(take(), 0, WIRE_SCTP_ABORT);
		else
			asconf_ack_in(take(), 0);
		drop_all();
		assert_int_equal(f.a->paths.others, k < 5);
	}
}

/* ---- ASCONF ---- */

static struct path_addr at(uint8_t n)
{
	struct path_addr path = f.path;

	path.remote = simnet_v4(n);
	return path;
}

/* A new address gets only HEARTBEATs, to the UDP port of the ASCONF, until it answers one. */
static void test_add(void **state)
{
	struct path_addr third = at(3), from = f.path;
	struct packet *p;

	ROWS("5061-5.2-04 5061-5.3-02 5061-4.1.2-01 5061-4.2.1-02");
	asconf_establish();
	from.udp_port = third.udp_port = 7777;
	asconf_request(0, WIRE_SCTP_ADD_IP, 3, &from);
	p = take();
	asconf_ack_in(p, 0);
	assert_true(is_to(p, &f.path) && p->to.udp_port == 7777);
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	wait_ns(10 * MSEC);
	while ((p = take())) {
		if (is_to(p, &third)) {
			assert_int_equal(chunks(p), 1);
			assert_int_equal(p->to.udp_port, 7777);
			assert_false(sctp_assoc_has_address(f.a, &third.remote));
			answer_heartbeat(p, &third, 0);
			assert_true(sctp_assoc_has_address(f.a, &third.remote));
			return;
		}
	}
	fail();
}

/* The peer adds addresses of other hosts. All of them together get one HEARTBEAT per RTO. */
static void test_victims(void **state)
{
	unsigned int i, n = 0;
	struct packet *p;

	ROWS("5061-5.3-02");
	asconf_establish();
	for (i = 0; i < 100; i++) {
		asconf_request(2 * i, WIRE_SCTP_ADD_IP, 3, &f.path);
		wait_ns(10 * MSEC);
		asconf_request(2 * i + 1, WIRE_SCTP_DELETE_IP, 3, &f.path);
		wait_ns(10 * MSEC);
		while ((p = take()))
			n += !is_to(p, &f.path);
	}
	assert_in_range(n, 1, 3); /* in two seconds */
}

/* A wildcard adds the source address of the packet, or deletes all other addresses. */
static void test_wildcards(void **state)
{
	struct path_addr third = at(3);
	struct packet *p;

	ROWS("5061-4.2.1-01 5061-4.2.2-01 5061-5.2-01 5061-5.2-06");
	asconf_establish();
	asconf_request(0, WIRE_SCTP_ADD_IP, 0,
		       &third); /* the Address Parameter finds the association */
	p = take();
	asconf_ack_in(p, 0);
	assert_true(is_to(p, &third));
	assert_non_null(sctp_paths_find(f.a, &third.remote));
	asconf_request(1, WIRE_SCTP_ADD_IP, 4, &f.path);
	asconf_request(2, WIRE_SCTP_ADD_IP, 5, &f.path);
	assert_int_equal(f.a->paths.others, 3);
	drop_all();
	asconf_request(3, WIRE_SCTP_DELETE_IP, 0, &third);
	asconf_ack_in(take(), 3);
	assert_int_equal(f.a->paths.others, 0);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &third.remote));
}

/* The peer replaces its only address. The new address gets only a HEARTBEAT until it answers. */
static void test_replaced(void **state)
{
	struct path_addr third = at(3);
	struct packet *p;

	ROWS("5061-5.2-01 5061-5.3-02 5061-5.3-09 5061-5.4-01");
	asconf_establish();
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	take_data();
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_more(WIRE_SCTP_DELETE_IP, 2);
	asconf_more(WIRE_SCTP_SET_PRIMARY, 3);
	asconf_sign();
	send_from(&third);
	p = take();
	asconf_ack_in(p, 0);
	assert_true(is_to(p, &third));
	assert_true(ip_addr_equal(&sctp_paths_primary(f.a)->addr.remote, &third.remote));
	p = take();
	assert_int_equal(chunks(p), 1);
	assert_true(is_to(p, &third));
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	nothing();
	wait_ns(200 * MSEC);
	nothing();
	answer_heartbeat(p, &third, 0);
	assert_true(take_data() != 0); /* immediately, with the outstanding DATA */
	/* Late packets from the old address are dropped. An ABORT would end the association. */
	begin();
	add_data(f.tsn);
	send_from(&f.path);
	assert_int_equal(f.rx.count, 0);
	nothing();
	/* With another tag, a packet from the old address gets an ABORT. */
	begin_tag(f.a->local_tag ^ 1);
	add_data(f.tsn);
	send_from(&f.path);
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
}

/* An association is possible with a host whose address another peer claimed as its primary one. */
static void test_not_that_host(void **state)
{
	struct path_addr third = at(3);
	struct sctp_assoc *a, *other;

	ROWS("5061-5.3-02 5061-5.4-01");
	asconf_establish();
	a = f.a;
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_more(WIRE_SCTP_SET_PRIMARY, 3);
	asconf_sign();
	sendp();
	asconf_ack_in(take(), 0);
	assert_false(sctp_assoc_is_between(a, &third));
	other = sctp_connect(f.ep, &third, sctp_assoc_remote_port(a), 1500, NULL, f.now);
	assert_non_null(other);
	sctp_assoc_abort(other);
	drop_all();
	/* The peer can delete its last address only by an ASCONF from the new address. */
	asconf_begin();
	asconf_add_request(1, WIRE_SCTP_DELETE_IP, 2);
	asconf_sign();
	send_from(&(struct path_addr){ .local = third.local, .remote = simnet_v4(4) });
	asconf_error_in(take(), 1, 1, WIRE_SCTP_CAUSE_DELETE_LAST);
	assert_false(sctp_path_in_doubt(a));
	asconf_request(2, WIRE_SCTP_DELETE_IP, 2, &third);
	drop_all();
	assert_true(sctp_path_in_doubt(a));
	assert_false(sctp_assoc_is_between(a, &third));
	assert_false(sctp_assoc_has_address(a, &third.remote));
	assert_null(sctp_assoc_find(f.ep, &third, sctp_assoc_remote_port(a), 0));
	assert_ptr_equal(sctp_assoc_find(f.ep, &third, sctp_assoc_remote_port(a), a->local_tag), a);
}

/* While a path is in doubt, HEARTBEATs on it are answered. A confirmed path takes over. */
static void test_doubt(void **state)
{
	struct path_addr third = at(3), fourth = at(4);
	struct packet *p, asked = { 0 };

	ROWS("5061-5.3-02");
	asconf_establish();
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_more(WIRE_SCTP_ADD_IP, 4);
	asconf_more(WIRE_SCTP_DELETE_IP, 2);
	asconf_sign();
	send_from(&third);
	assert_true(sctp_path_in_doubt(f.a));
	drop_all();
	begin();
	memcpy(add(WIRE_SCTP_HEARTBEAT, 0, 8),
	       "\0\x01\0\x08"
	       "abcd",
	       8);
	send_from(&third);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT_ACK);
	assert_true(is_to(p, &third));
	for (unsigned int i = 0; i < 20 && !asked.len; i++) {
		wait_ns(100 * MSEC);
		while ((p = take()))
			if (is_to(p, &fourth))
				asked = *p;
	}
	answer_heartbeat(&asked, &fourth, 0);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &fourth.remote));
	drop_all();
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_true(take_data() != 0);
}

/* Establishes an association. The peer replaces its only address, from the new address. */
static void replace_only(const struct path_addr *third)
{
	asconf_establish();
	f.s->config.heartbeat_interval = SEC;
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_more(WIRE_SCTP_DELETE_IP, 2);
	asconf_sign();
	send_from(third);
}

/* The HEARTBEAT to the new address is lost. Another HEARTBEAT follows, whatever the peer sends. */
static void test_replaced_with_loss(void **state)
{
	struct path_addr third = at(3);
	unsigned int i, heartbeats = 0;
	struct packet *p;

	ROWS("5061-5.3-02");
	replace_only(&third);
	drop_all();
	for (i = 0; i < 32; i++) {
		wait_ns(100 * MSEC);
		begin();
		add_data(f.tsn + i);
		send_from(&third);
		while ((p = take())) {
			chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
			assert_int_equal(chunks(p), 1);
			heartbeats++;
		}
	}
	assert_in_range(heartbeats, 2, 4);
}

/*
 * A peer adds a victim's address and forges packets from it. The victim gets only HEARTBEATs, ever
 * less often, until the limit of silence. Only an answer to a HEARTBEAT would keep the association.
 */
static void test_doubt_ends(void **state)
{
	struct path_addr third = at(3);
	unsigned int heartbeats = 0;
	uint64_t start = f.now;
	struct packet *p;

	ROWS("9260-8.3-01 5061-5.3-02");
	replace_only(&third);
	asconf_ack_in(take(), 0);
	for (; f.a && f.now - start < 100 * SEC; wait_ns(100 * MSEC)) {
		begin();
		add(WIRE_SCTP_COOKIE_ACK, 0, 0);
		send_from(&third);
		for (; (p = take()); heartbeats++)
			assert_true(is_to(p, &third) && p->len <= 36);
	}
	assert_int_equal(f.error, -ETIMEDOUT);
	assert_in_range(f.now - start, 30 * SEC, 31 * SEC);
	assert_in_range(heartbeats, 3, 6);
}

/* Before the AUTH of a packet is verified, the packet is no sign of life, whatever its source. */
static void test_forged_is_silent(void **state)
{
	static const uint8_t from[] = { 2, 4 };

	ROWS("4895-6.3-04 9260-8.1-01");
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t heard;

		asconf_establish();
		heard = f.a->heard;
		f.now += SEC;
		asconf_begin();
		asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
		asconf_sign();
		f.buf[f.len - 1] ^= 1;
		send_from(&(struct path_addr){ .local = f.path.local,
					       .remote = simnet_v4(from[i]),
					       .udp_port = (uint16_t)(f.path.udp_port + 1) });
		nothing();
		assert_true(f.a->heard == heard && f.a->path->health.heard <= heard);
		assert_int_equal(f.a->path->addr.udp_port, f.path.udp_port);
		asconf_request(0, WIRE_SCTP_ADD_IP, 3, &f.path);
		assert_true(f.a->heard == f.now);
		sctp_assoc_abort(f.a);
		collect();
		drop_all();
	}
}

static void test_delete_refused(void **state)
{
	struct path_addr third = at(3);

	ROWS("5061-5.3-06 5061-5.3-07");
	asconf_establish();
	asconf_request(0, WIRE_SCTP_DELETE_IP, 2, &f.path);
	asconf_error_in(take(), 0, 1, WIRE_SCTP_CAUSE_DELETE_LAST);
	asconf_request(1, WIRE_SCTP_ADD_IP, 3, &f.path);
	drop_all();
	/* The other address is not confirmed yet. */
	asconf_request(2, WIRE_SCTP_DELETE_IP, 2, &f.path);
	asconf_error_in(take(), 2, 1, WIRE_SCTP_CAUSE_DELETE_LAST);
	sctp_paths_find(f.a, &third.remote)->confirmed = true;
	asconf_request(3, WIRE_SCTP_DELETE_IP, 2, &f.path);
	asconf_error_in(take(), 3, 1, WIRE_SCTP_CAUSE_DELETE_SOURCE);
	assert_int_equal(f.a->paths.others, 1);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &f.path.remote));
}

/* A peer has at most nine addresses. A request that follows a refused addition is refused, too. */
static void test_too_many(void **state)
{
	unsigned int i;

	ROWS("5061-5.3-08");
	asconf_establish();
	for (i = 0; i < SCTP_PATHS_MAX - 1; i++) {
		asconf_request(i, WIRE_SCTP_ADD_IP, (uint8_t)(10 + i), &f.path);
		asconf_ack_in(take(), i);
		drop_all();
	}
	asconf_begin();
	asconf_add_request(i, WIRE_SCTP_ADD_IP, 99);
	asconf_more(WIRE_SCTP_DELETE_IP, 10);
	asconf_sign();
	sendp();
	asconf_error_in(take(), i, 1, WIRE_SCTP_CAUSE_ASCONF_RESOURCE);
	assert_int_equal(f.a->paths.others, SCTP_PATHS_MAX - 1);
	/* No host can have the address 224.0.0.1. */
	asconf_request(++i, WIRE_SCTP_DELETE_IP, 10, &f.path);
	drop_all();
	asconf_begin();
	asconf_add_request(++i, WIRE_SCTP_ADD_IP, 99);
	memcpy(f.buf + f.len - 4, "\xe0\0\0\x01", 4);
	asconf_sign();
	sendp();
	asconf_error_in(take(), i, 1, WIRE_SCTP_CAUSE_ADDRESS);
}

/* A repeated ASCONF is answered again, but not applied. An ASCONF out of order is dropped. */
static void test_serials(void **state)
{
	struct packet first, *p;

	ROWS("5061-5.2-03 5061-5.2-05 5061-5.1-01 5061-5.2-06");
	asconf_establish();
	asconf_request(1, WIRE_SCTP_ADD_IP, 3, &f.path);
	asconf_request((uint32_t)-1, WIRE_SCTP_ADD_IP, 3, &f.path);
	nothing();
	asconf_request(0, WIRE_SCTP_ADD_IP, 3, &f.path);
	first = *take();
	drop_all();
	asconf_request(0, WIRE_SCTP_ADD_IP, 4, &f.path);
	p = take();
	assert_int_equal(p->len, first.len);
	assert_memory_equal(p->data, first.data, p->len);
	nothing();
	assert_int_equal(f.a->paths.others, 1);
	/* One packet answers an old ASCONF and a new ASCONF. */
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_add_request(1, WIRE_SCTP_ADD_IP, 4);
	asconf_sign();
	sendp();
	p = take();
	assert_int_equal(chunks(p), 3);
	assert_int_equal(get_be32(chunk_of(p, 1, WIRE_SCTP_ASCONF_ACK).raw + 4), f.tsn);
	assert_int_equal(get_be32(chunk_of(p, 2, WIRE_SCTP_ASCONF_ACK).raw + 4), f.tsn + 1);
	assert_int_equal(f.a->paths.others, 2);
	/* The answers were lost, and the peer sends the packet again (E2). */
	drop_all();
	asconf_begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	asconf_add_request(1, WIRE_SCTP_ADD_IP, 4);
	asconf_sign();
	sendp();
	p = take();
	assert_int_equal(chunks(p), 3);
	assert_int_equal(get_be32(chunk_of(p, 1, WIRE_SCTP_ASCONF_ACK).raw + 4), f.tsn);
	nothing();
}

/* A short request does not get a long answer again: its source may be a victim. */
static void test_no_amplifier(void **state)
{
	struct path_addr victim = at(9);
	unsigned int i, k;

	ROWS("5061-5.2-05 5061-5.2-06");
	asconf_establish();
	for (k = 0; k < 2; k++) { /* a true retransmission gets the answer again */
		asconf_begin();
		asconf_add_request(0, 0xc0fe, 3);
		for (i = 0; i < 20; i++)
			asconf_more(0xc0fe, 3);
		asconf_sign();
		sendp();
		asconf_error_in(take(), 0, 1, WIRE_SCTP_CAUSE_PARAMS);
	}
	asconf_request(0, 0xc0fe, 3, &victim);
	nothing();
}

/* Unknown requests are reported as their type demands. Unknown addresses cannot be primary. */
static void test_odd_requests(void **state)
{
	ROWS("5061-5.2-04 5061-5.4-01");
	asconf_establish();
	asconf_request(0, 0xc0ff, 3, &f.path);
	asconf_error_in(take(), 0, 1, WIRE_SCTP_CAUSE_PARAMS);
	asconf_request(1, 0x80ff, 3, &f.path);
	asconf_ack_in(take(), 1);
	asconf_request(2, WIRE_SCTP_SET_PRIMARY, 3, &f.path);
	asconf_error_in(take(), 2, 1, WIRE_SCTP_CAUSE_ADDRESS);
	assert_true(f.a->path->primary);
	asconf_begin(); /* a request without an address */
	asconf_add_request(3, WIRE_SCTP_ADD_IP, 3);
	put_be16(f.buf + f.len - 8, 77);
	asconf_sign();
	sendp();
	asconf_error_in(take(), 3, 1, WIRE_SCTP_CAUSE_ADDRESS);
	asconf_begin(); /* more requests than answers fit in the packet */
	asconf_add_request(4, WIRE_SCTP_ADD_IP, 3);
	for (unsigned int i = 0; i < 60; i++)
		asconf_more(0xc0fe, 3);
	asconf_sign();
	sendp();
	asconf_error_in(take(), 4, 1, WIRE_SCTP_CAUSE_ASCONF_RESOURCE);
	assert_int_equal(f.a->paths.others, 0);
}

/* Without the extension, ASCONF is an unknown chunk. */
static void test_not_agreed(void **state)
{
	struct wire_sctp_chunk c;

	ROWS("5061-4.1.1-04");
	establish();
	begin();
	asconf_add_request(0, WIRE_SCTP_ADD_IP, 3);
	sendp();
	c = chunk_of(take(), 0, WIRE_SCTP_ERROR);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_CHUNK);
	assert_int_equal(f.a->paths.others, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, asconf_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_offer),	      T(test_broken_offers),	 T(test_broken_answer),
		T(test_forged),	      T(test_demanding_answer),	 T(test_unknown_hmac),
		T(test_sha1),	      T(test_few_are_looked_up), T(test_out_of_the_blue),
		T(test_add),	      T(test_victims),		 T(test_wildcards),
		T(test_replaced),     T(test_too_many),		 T(test_delete_refused),
		T(test_serials),      T(test_not_agreed),	 T(test_replaced_with_loss),
		T(test_odd_requests), T(test_not_that_host),	 T(test_doubt),
		T(test_no_amplifier), T(test_doubt_ends),	 T(test_forged_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
