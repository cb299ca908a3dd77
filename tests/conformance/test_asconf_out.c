/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Changes of the local addresses (RFC 5061), in the ASCONFs that the peer gets. */
#include "fixture/sctp_asconf.h"

#define OWN(...) asconf_own((const uint8_t[]){ __VA_ARGS__, 0 })

/*
 * Checks that a packet is an authentic ASCONF from 10.0.0.source, with the Sequence Number
 * f.their_tsn + serial and the Address Parameter 10.0.0.known. Returns its requests.
 */
static struct wire_sctp_asconf asconf_in(const struct packet *p, uint32_t serial, uint8_t source,
					 uint8_t known)
{
	struct wire_sctp_chunk c = asconf_authentic(p, WIRE_SCTP_ASCONF);
	struct wire_sctp_asconf asconf;

	assert_int_equal(chunks(p), 2);
	assert_true(is_to(p, &f.path));
	assert_int_equal(p->to.local.b[15], source);
	assert_true(wire_sctp_asconf_get(&c, &asconf));
	assert_int_equal(asconf.serial, f.their_tsn + serial);
	assert_int_equal(asconf.address.b[15], known);
	return asconf;
}

/* Checks the next request of an ASCONF. */
static void request(struct wire_sctp_asconf *asconf, uint32_t id, uint16_t type, uint8_t n)
{
	struct wire_sctp_asconf_param param;

	assert_true(wire_sctp_asconf_next(&asconf->params, asconf->end, &param));
	assert_int_equal(param.id, id);
	assert_int_equal(param.type, type);
	assert_true(param.has_address);
	assert_int_equal(param.address.b[15], n);
}

static void no_more(const struct wire_sctp_asconf *asconf)
{
	assert_ptr_equal(asconf->params, asconf->end);
}

static bool knows(uint8_t n)
{
	const struct ip_addr addr = simnet_v4(n);

	return sctp_locals_has(f.a, &addr);
}

static void test_added(void **state)
{
	struct wire_sctp_asconf asconf;
	const struct ip_addr new = simnet_v4(11);

	ROWS("5061-5.1-01 5061-5.1-04 5061-5.3-02 5061-4.1.1-02 5061-4.1.1-01");
	asconf_establish();
	OWN(1, 11);
	asconf = asconf_in(take(), 0, 1, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 11);
	no_more(&asconf);
	nothing();
	assert_false(knows(11));
	asconf_acknowledge(0);
	assert_true(knows(11) && knows(1));
	assert_true(ip_addr_equal(&f.a->locals.addr[1], &new));
	nothing();
	wait_ns(5 * SEC);
	nothing();
}

/*
 * Both sides open. The peer's late cookie has another tag than its INIT ACK, so the association
 * restarts.
 */
static void test_late_cookie(void **state)
{
	struct wire_sctp_init init = asconf_init(), ack;
	struct wire_sctp_asconf asconf;
	struct packet copy;

	ROWS("5061-5.1-01");
	begin_connect();
	keep_init();
	drop_all();
	copy = *init_exchange(&init);
	read_init_ack(&copy, &ack);
	f.their_tag = ack.tag;
	f.their_tsn = ack.tsn;
	sctp_auth_agree(&asconf_peer.auth, &asconf_peer.random, &ack);
	init.tag++;
	begin();
	add_init(WIRE_SCTP_INIT_ACK, &init);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cook", 4);
	sendp();
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	sendp();
	assert_int_equal(f.a->state, SCTP_ESTABLISHED);
	drop_all();
	begin();
	add_cookie_echo(&ack);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ACK);
	OWN(1, 11);
	asconf = asconf_in(take(), 0, 1, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 11);
	no_more(&asconf);
}

/* T4 repeats the same chunk, each time after twice the time. Only one ASCONF is outstanding. */
static void test_repeated(void **state)
{
	struct packet first;
	struct wire_sctp_asconf asconf;

	ROWS("5061-5.1-02 5061-5.1-03");
	asconf_establish();
	OWN(1, 11);
	first = *take();
	OWN(1, 11, 12);
	nothing();
	wait_ns(900 * MSEC);
	nothing();
	for (unsigned int i = 0; i < 3; i++) {
		struct packet *p;

		wait_ns((1000u << i) * MSEC);
		p = take();
		assert_non_null(p);
		assert_int_equal(p->len, first.len);
		assert_memory_equal(p->data, first.data, p->len);
		nothing();
	}
	asconf_acknowledge(0);
	asconf = asconf_in(take(), 1, 1, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 12);
	no_more(&asconf);
	asconf_acknowledge(1);
	wait_ns(200 * SEC);
	nothing();
}

/* T4 repeats the ASCONF to another address of the peer. */
static void test_repeated_elsewhere(void **state)
{
	struct path_addr third = f.path;
	struct packet *p;

	ROWS("5061-5.1-03");
	asconf_establish();
	third.remote = simnet_v4(3);
	asconf_request(0, WIRE_SCTP_ADD_IP, 3, &f.path);
	wait_ns(10 * MSEC);
	while ((p = take()))
		if (is_to(p, &third))
			answer_heartbeat(p, &third, 0);
	OWN(1, 11);
	p = take();
	asconf_authentic(p, WIRE_SCTP_ASCONF);
	assert_true(is_to(p, &f.path));
	wait_ns(1100 * MSEC);
	p = take();
	asconf_authentic(p, WIRE_SCTP_ASCONF);
	assert_true(is_to(p, &third));
}

/*
 * The peer sends a DATA chunk to 10.0.0.11. Returns the copies of the first ASCONF sent since the
 * last call.
 */
static unsigned int asconfs_after_data(uint32_t number)
{
	struct path_addr to = f.path;
	const struct packet *p;
	unsigned int n = 0;

	to.local = simnet_v4(11);
	begin();
	add_data(f.tsn + number);
	send_from(&to);
	while ((p = take())) {
		/* SACKs leave from the old address. */
		if (p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_AUTH)
			continue;
		asconf_in(p, 0, 11, 1);
		n++;
	}
	return n;
}

/*
 * DATA to the new address shows that the request has arrived. The ASCONF is then repeated once
 * before T4 expires.
 */
static void test_answer_lost(void **state)
{
	ROWS("5061-5.1-02 5061-5.1-03");
	asconf_establish();
	OWN(11);
	asconf_in(take(), 0, 11, 1);
	assert_int_equal(asconfs_after_data(0), 0); /* the answer may still be under way */
	wait_ns(100 * MSEC);
	assert_int_equal(asconfs_after_data(1), 1);
	wait_ns(100 * MSEC);
	assert_int_equal(asconfs_after_data(2), 0);
	wait_ns(850 * MSEC);
	assert_int_equal(asconfs_after_data(3), 2); /* T4 has expired, and the DATA arrived */
	wait_ns(1800 * MSEC);
	assert_int_equal(asconfs_after_data(4), 0); /* T4 now takes twice as long */
	wait_ns(300 * MSEC);
	assert_int_equal(asconfs_after_data(5), 2);
	asconf_acknowledge(0);
	assert_true(knows(11));
}

/*
 * The only address is replaced. Only the ASCONF leaves from the new address before the peer
 * acknowledges it.
 */
static void test_replaced(void **state)
{
	struct wire_sctp_asconf asconf;
	struct packet *p;

	ROWS("5061-5.3-02 5061-5.3-05 5061-5.3-04 5061-4.1.1-02");
	asconf_establish();
	OWN(11);
	asconf = asconf_in(take(), 0, 11, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 11);
	request(&asconf, 2, WIRE_SCTP_DELETE_IP, 1);
	request(&asconf, 3, WIRE_SCTP_SET_PRIMARY, 11);
	no_more(&asconf);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_DATA);
	assert_int_equal(p->to.local.b[15], 1);
	/* Packets to the old address are accepted. ABORTs to either address are ignored (5.3.1). */
	for (uint8_t n = 1; n <= 11; n += 10) {
		struct path_addr to = f.path;

		to.local = simnet_v4(n);
		begin();
		add(WIRE_SCTP_ABORT, 0, 0);
		send_from(&to);
		begin_tag(f.tag);
		add(WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT, 0);
		send_from(&to);
		assert_non_null(f.a);
	}
	begin();
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.rx.count, 1);
	drop_all();
	asconf_acknowledge(0);
	assert_true(knows(11) && !knows(1));
	/* Outstanding DATA is sent again. */
	for (bool again = false; !again;) {
		p = take();
		assert_non_null(p);
		assert_int_equal(p->to.local.b[15], 11);
		for (unsigned int i = 0; i < chunks(p); i++) {
			const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
			struct wire_sctp_chunk c;

			while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
				again |= c.type == WIRE_SCTP_DATA;
		}
	}
	assert_int_equal(f.a->setup.local.b[15], 11);
}

/*
 * The old address returns before the peer answers. The ASCONF that deletes it is not sent from it
 * (F6). The next ASCONF adds it again.
 */
static void test_back(void **state)
{
	struct wire_sctp_asconf asconf;

	ROWS("5061-5.3-05");
	asconf_establish();
	OWN(11);
	asconf_in(take(), 0, 11, 1);
	OWN(1, 11);
	nothing();
	wait_ns(1100 * MSEC);
	asconf_in(take(), 0, 11, 1);
	asconf_acknowledge(0);
	for (struct packet *p; (p = take());)
		if (p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_AUTH) {
			asconf = asconf_in(p, 1, 11, 11);
			request(&asconf, 1, WIRE_SCTP_ADD_IP, 1);
			return;
		}
	fail();
}

/* The host has no address for a while. Nothing is deleted: one address must stay (F5). */
static void test_none(void **state)
{
	struct wire_sctp_asconf asconf;

	ROWS("5061-5.3-05");
	asconf_establish();
	asconf_own((const uint8_t[]){ 0 });
	wait_ns(15 * SEC);
	nothing();
	OWN(12);
	asconf = asconf_in(take(), 0, 12, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 12);
	request(&asconf, 2, WIRE_SCTP_DELETE_IP, 1);
	/*
	 * If that address goes, too, before the peer answers, the same ASCONF leaves from the next
	 * address.
	 */
	OWN(13);
	asconf = asconf_in(take(), 0, 13, 1);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 12);
}

/*
 * A missing address is deleted after 10 s, from another address (F6). If the first address returns,
 * it becomes the primary address again.
 */
static void test_gone(void **state)
{
	struct wire_sctp_asconf asconf;

	ROWS("5061-5.3-05");
	asconf_establish();
	OWN(1, 11);
	drop_all();
	asconf_acknowledge(0);
	OWN(1);
	wait_ns(9 * SEC);
	nothing();
	OWN(1, 11);
	OWN(1);
	wait_ns(9 * SEC);
	nothing();
	wait_ns(2 * SEC);
	asconf = asconf_in(take(), 1, 1, 1);
	request(&asconf, 1, WIRE_SCTP_DELETE_IP, 11);
	no_more(&asconf);
	asconf_acknowledge(1);
	assert_false(knows(11));
	OWN(12);
	drop_all();
	asconf_acknowledge(2);
	drop_all();
	assert_int_equal(f.a->setup.local.b[15], 12);
	OWN(1, 12);
	asconf = asconf_in(take(), 3, 12, 12);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 1);
	request(&asconf, 2, WIRE_SCTP_SET_PRIMARY, 1);
	no_more(&asconf);
	asconf_acknowledge(3);
	assert_int_equal(f.a->setup.local.b[15], 1);
	assert_true(knows(12));
}

/* The peer answers the ASCONF with this serial with an error for one request. */
static void refuse(uint32_t serial, uint32_t id, uint16_t cause, bool and_success)
{
	uint8_t *p;

	asconf_begin();
	p = add(WIRE_SCTP_ASCONF_ACK, 0, and_success ? 24 : 16);
	put_be32(p, f.their_tsn + serial);
	wire_sctp_asconf_error_put(p + 4, id, cause, NULL, 0);
	if (and_success) {
		put_be16(p + 16, WIRE_SCTP_ASCONF_SUCCESS);
		put_be16(p + 18, 8);
		put_be32(p + 20, id + 1);
	}
	asconf_sign();
	sendp();
}

/* Requests after a failed request have failed, too, unless the peer reports success (A7). */
static void test_refused(void **state)
{
	ROWS("5061-5.1-04 5061-5.3-10");
	asconf_establish();
	OWN(1, 11, 12, 13);
	drop_all();
	refuse(0, 2, WIRE_SCTP_CAUSE_ASCONF_RESOURCE, false);
	assert_true(knows(11) && !knows(12) && !knows(13));
	/* The request is not repeated before the addresses change again. */
	wait_ns(100 * SEC);
	nothing();
	OWN(1, 11, 12, 13);
	asconf_in(take(), 1, 1, 1);
	refuse(1, 1, WIRE_SCTP_CAUSE_ASCONF_RESOURCE, true);
	assert_true(knows(11) && !knows(12) && knows(13));
}

/* The peer does not know the chunk, or a request, and gets no further one. */
static void test_unknown(void **state)
{
	uint8_t *p;

	ROWS("5061-4.1.1-03 5061-5.3-03");
	asconf_establish();
	OWN(1, 11);
	drop_all();
	begin();
	p = add(WIRE_SCTP_ERROR, 0, 8);
	wire_sctp_cause_put(p, WIRE_SCTP_CAUSE_CHUNK, "\xc1\0\0\x04", 4);
	sendp();
	wait_ns(100 * SEC);
	OWN(1, 12);
	nothing();
}

static void test_unknown_request(void **state)
{
	ROWS("5061-5.3-03");
	asconf_establish();
	OWN(1, 11);
	drop_all();
	refuse(0, 1, WIRE_SCTP_CAUSE_PARAMS, false);
	OWN(1, 12);
	nothing();
}

/* The peer does not know Set Primary. Other requests continue. */
static void test_unknown_primary(void **state)
{
	struct wire_sctp_asconf asconf;

	ROWS("5061-5.3-03");
	asconf_establish();
	OWN(11);
	drop_all();
	refuse(0, 3, WIRE_SCTP_CAUSE_PARAMS, false);
	assert_true(knows(11) && !knows(1));
	drop_all();
	OWN(12);
	asconf = asconf_in(take(), 1, 12, 11);
	request(&asconf, 1, WIRE_SCTP_ADD_IP, 12);
	request(&asconf, 2, WIRE_SCTP_DELETE_IP, 11);
	no_more(&asconf);
}

/* An ASCONF ACK with a future number ends the association. An old or unauthentic one is ignored. */
static void test_illegal_ack(void **state)
{
	struct wire_sctp_chunk c;

	ROWS("5061-5.3-01 5061-4.1.2-01");
	asconf_establish();
	OWN(1, 11);
	drop_all();
	begin();
	put_be32(add(WIRE_SCTP_ASCONF_ACK, 0, 4), f.their_tsn);
	sendp();
	assert_false(knows(11));
	asconf_acknowledge(0);
	assert_true(knows(11));
	asconf_acknowledge(0);
	asconf_acknowledge((uint32_t)-1);
	nothing();
	asconf_acknowledge(1);
	c = chunk_of(take(), 0, WIRE_SCTP_ABORT);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_ILLEGAL_ASCONF_ACK);
	assert_null(f.a);
}

/* In SHUTDOWN-ACK-SENT, ASCONFs are neither sent nor obeyed. */
static void test_states(void **state)
{
	ROWS("5061-5.1.1-01");
	asconf_establish();
	begin();
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn - 1);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
	OWN(1, 11);
	asconf_request(0, WIRE_SCTP_ADD_IP, 3, &f.path);
	nothing();
	assert_int_equal(f.a->paths.others, 0);
}

/*
 * The host did not have this address when the association came up, so its loss cannot be detected.
 */
static void test_borrowed(void **state)
{
	ROWS("5061-5.3-05");
	OWN(11);
	asconf_establish();
	OWN(12);
	nothing();
}

#define T(name) cmocka_unit_test_setup_teardown(name, asconf_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_added),
		T(test_answer_lost),
		T(test_repeated),
		T(test_repeated_elsewhere),
		T(test_none),
		T(test_replaced),
		T(test_unknown_request),
		T(test_gone),
		T(test_refused),
		T(test_unknown_primary),
		T(test_unknown),
		T(test_states),
		T(test_illegal_ack),
		T(test_borrowed),
		T(test_back),
		T(test_late_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
