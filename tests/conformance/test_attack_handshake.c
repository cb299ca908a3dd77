/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* WRAP: malloc calloc realloc aligned_alloc */
/*
 * Attacks on the handshake: floods from invented addresses, and cookies that are replayed, stolen,
 * old, or made elsewhere (RFC 9260 5.1, 5.1.3, 5.1.5, 5.2.4, 12). Wrappers of the linker count
 * allocations.
 */
#include "fixture/sctp_script.h"

#define FLOOD 100000u
#define HOUR (3600 * SEC)

/* ---- allocations ---- */

static unsigned long allocations, allocated;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	allocations++;
	allocated += size;
	return __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	allocated += n * size;
	return __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	allocations++;
	allocated += size;
	return __real_realloc(p, size);
}

void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size)
{
	allocations++;
	allocated += size;
	return __real_aligned_alloc(align, size);
}

/* ---- floods ---- */

/* Sends the waiting packets without an association. Returns their number. */
static unsigned int answers(void)
{
	struct sctp_batch b;
	unsigned int n = 0;

	while (sctp_output_ootb(f.s, &b) > 0) {
		n++;
		sctp_batch_done(f.s, &b);
	}
	return n;
}

/* Delivers f.buf from address number `number`. */
static void from_address(uint32_t number)
{
	struct path_addr from = f.path;

	put_be32(from.remote.b + 12, 0x0b000000 + number);
	from.udp_port = (uint16_t)(number | 1);
	put_be32(f.buf + 8, 0);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &from, f.buf, f.len, f.now, &f.rx);
	assert_null(f.rx.assoc);
	assert_false(f.rx.up);
}

static void flood(void)
{
	struct sctp_endpoint endpoint = *f.ep;
	size_t associations = f.s->table.assoc_count, buckets = f.s->table.bucket_count;
	uint64_t timeout = sctp_next_timeout(f.s);
	unsigned int answered = 0;
	uint32_t i;

	for (i = 0; i < FLOOD; i++) {
		struct wire_sctp_init init = our_init();

		if (i == 1)
			allocations = 0; /* the first INIT makes the key and the queue of answers */
		init.tag = i + 1;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		from_address(i);
		if (i % 100 < 70) /* at times no answer leaves, and the queue is full */
			answered += answers();
		f.now += SEC / 20; /* changes the key, too */
	}
	answers();
	assert_true(answered >= FLOOD / 10 * 7);
	assert_int_equal(allocations, 0);
	assert_int_equal(f.s->table.assoc_count, associations);
	assert_int_equal(f.s->table.bucket_count, buckets);
	assert_memory_equal(f.ep, &endpoint, sizeof(endpoint));
	assert_true(sctp_next_timeout(f.s) == timeout);
}

/* INITs from 100,000 addresses are answered without any state. The real peer can still connect. */
static void test_init_flood(void **state)
{
	ROWS("9260-5.1-02");
	flood();
	establish();
	script_post(1, 100);
	assert_non_null(take());
}

/* The flood does not change the state and timers of an association. */
static void test_init_flood_while_up(void **state)
{
	static struct sctp_assoc before;

	ROWS("9260-5.1-02");
	associate();
	script_post(3, 100);
	drop_all();
	before = *f.a;
	flood();
	assert_memory_equal(f.a, &before, sizeof(before));
}

/* As many COOKIE ECHOs with invented cookies get no answer. */
static void test_cookie_flood(void **state)
{
	uint32_t i;

	ROWS("9260-5.1.3-01 9260-5.1.5-01");
	script(PEER_INIT);
	keep_init_ack();
	allocations = 0;
	for (i = 0; i < FLOOD; i++) {
		begin_tag(f.their_tag);
		memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, conversation.cookie_len), conversation.cookie,
		       conversation.cookie_len);
		/* changes a bit, the length, or the source address */
		f.buf[16 + i / 8 % conversation.cookie_len] ^= (uint8_t)(1 << i % 8);
		if (i % 50 == 49)
			wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_COOKIE_ECHO, 0,
					    4 + i / 50 % conversation.cookie_len);
		if (i & 1) {
			from_address(i);
		} else {
			put_be32(f.buf + 8, 0);
			wire_sctp_checksum_put(f.buf, f.len);
			sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
			assert_null(f.rx.assoc);
		}
		assert_int_equal(answers(), 0);
	}
	assert_int_equal(allocations, 0);
	assert_int_equal(f.s->table.assoc_count, 0);
}

/*
 * A peer opens associations from many ports and never uses them. Each costs its struct and a place
 * in the tables, but no send block. Without answers to HEARTBEATs they end after the silent limit,
 * and all memory is freed.
 */
static void test_associations_without_end(void **state)
{
	enum { N = 5000 };
	struct wire_sctp_init init, ack;
	struct wire_sctp_chunk c;
	struct sctp_config config;
	struct sctp_batch b;
	struct sctp_event ev;
	struct sctp_assoc *a;
	const uint8_t *q;
	unsigned int i, lost = 0;
	uint64_t end;

	ROWS("5042-6.4.2-01 5042-6.4.1-02");
	teardown(NULL);
	sctp_config_default(&config);
	setup_config(&config);
	init = our_init();
	for (i = 0; i < N; i++) {
		if (i == 10)
			allocated = 0;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		put_be16(f.buf, (uint16_t)(10000 + i));
		wire_sctp_checksum_put(f.buf, f.len);
		f.now += MSEC; /* renews the address's ration of answers */
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		assert_int_equal(sctp_output_ootb(f.s, &b), 1);
		q = b.data + WIRE_SCTP_COMMON_LEN;
		assert_true(wire_sctp_chunk_next(&q, b.data + b.len, &c));
		assert_true(wire_sctp_init_get(&c, &ack));
		begin_tag(ack.tag);
		add_cookie_echo(&ack);
		sctp_batch_done(f.s, &b);
		put_be16(f.buf, (uint16_t)(10000 + i));
		wire_sctp_checksum_put(f.buf, f.len);
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		assert_true(f.rx.up);
		while ((a = sctp_next_ready(f.s)))
			while (sctp_output(a, f.now, &b) > 0)
				sctp_batch_done(f.s, &b);
	}
	assert_int_equal(f.ep->assoc_count, N);
	/* tables that double take at most twice their final contents */
	assert_true(allocated <= N * (sizeof(struct sctp_assoc) + 256));
	for (end = f.now + 45 * SEC; sctp_next_timeout(f.s) < end;) {
		f.now = sctp_next_timeout(f.s);
		sctp_timers(f.s, f.now);
		while ((a = sctp_next_ready(f.s)))
			while (sctp_output(a, f.now, &b) > 0)
				sctp_batch_done(f.s, &b);
		while (sctp_next_event(f.s, &ev))
			lost += ev.type == SCTP_EVENT_LOST && ev.error == -ETIMEDOUT;
	}
	assert_int_equal(lost, N);
	assert_int_equal(f.s->table.assoc_count, 0);
}

/* Sends n INITs from an address. Returns the number of answers. */
static unsigned int ask_from(const struct ip_addr *from, unsigned int n)
{
	unsigned int answered = 0;

	while (n--) {
		struct wire_sctp_init init = our_init();
		struct path_addr path = f.path;

		path.remote = *from;
		path.udp_port = (uint16_t)(n | 1);
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		wire_sctp_checksum_put(f.buf, f.len);
		sctp_input(f.ep, &path, f.buf, f.len, f.now, &f.rx);
		answered += answers();
	}
	return answered;
}

/*
 * INITs and other packets with one host's source address get 512 answers at once, and then one per
 * millisecond.
 */
static void test_reflection(void **state)
{
	struct ip_addr v4 = simnet_v4(7), other = simnet_v4(8);
	struct ip_addr v6 = { .b = { 0x20, 1, [15] = 7 } }, near = { .b = { 0x20, 1, [15] = 8 } };

	ROWS("9260-12.4-03");
	assert_int_equal(ask_from(&v4, 10000), 512);
	begin_tag(77); /* a tag without an association */
	add(WIRE_SCTP_HEARTBEAT, 0, 8);
	send_from(&(struct path_addr){ .local = f.path.local, .remote = v4, .udp_port = 1 });
	nothing();
	assert_int_equal(ask_from(&other, 1), 1);
	assert_int_equal(ask_from(&v6, 300), 300);
	assert_int_equal(ask_from(&near, 300), 212);
	f.now += 100 * MSEC;
	assert_int_equal(ask_from(&v4, 1000), 100);
}

/*
 * Checks that this INIT is answered, and checks the length of the answer's IP packet. The
 * association uses only the local addresses that the answer lists.
 */
static void answer_is_short(const struct path_addr *from, const struct wire_sctp_init *init)
{
	size_t headers = ip_addr_is_v4(&from->remote) ? 28 : 48, in;
	struct wire_sctp_init ack;
	struct packet *p;

	begin_tag(0);
	add_init(WIRE_SCTP_INIT, init);
	in = headers + f.len;
	send_from(from);
	p = take();
	read_init_ack(p, &ack);
	assert_in_range(headers + p->len, in, 3 * in);
	assert_int_not_equal(ack.addrs, 0);
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	send_from(from);
	f.a = f.rx.assoc;
	assert_int_equal(f.a->locals.n, ack.addrs);
	sctp_assoc_abort(f.a);
	collect();
	drop_all();
}

static unsigned int many_addresses(void *ctx, const struct path_addr *to, struct ip_addr *addr,
				   unsigned int max)
{
	for (unsigned int i = 0; i < max; i++)
		addr[i] = ip_addr_is_v4(&to->remote) ?
				  simnet_v4((uint8_t)(100 + i)) :
				  (struct ip_addr){ .b = { 0x20, 1, [15] = (uint8_t)(100 + i) } };
	return max;
}

/* The answer to any INIT is at most three times as long as the INIT. */
static void test_short_answer(void **state)
{
	struct wire_sctp_init init = {
		.tag = f.tag, .a_rwnd = 5000, .os = 1, .mis = 1, .adaptation = 1
	};
	struct sctp_auth_random random;
	struct path_addr from = f.path;

	ROWS("9260-12.4-03");
	f.s->ops.addresses = many_addresses;
	f.s->config.asconf = true;
	f.s->config.receipts.version = WIRE_SCTP_RECEIPTS_VERSION;
	for (unsigned int i = 0; i < 2; i++) {
		answer_is_short(&from, &init);
		init.receipts = f.s->config.receipts;
		answer_is_short(&from, &init);
		sctp_auth_random(f.s->random, &random);
		sctp_auth_tell(&random, &init);
		answer_is_short(&from, &init);
		from.remote = from.local = (struct ip_addr){ .b = { 0x20, 1, [15] = 7 } };
		from.local.b[15]++;
		init.random = init.chunks = init.hmacs = init.extensions = NULL;
		init.receipts.version = 0;
	}
}

/*
 * Returns the bytes of IP packets sent since the last call. Raises *longest to the length of the
 * longest packet.
 */
static size_t sent(size_t *longest)
{
	size_t bytes = 0;
	struct packet *p;

	for (collect(); (p = take()); bytes += 28 + p->len)
		if (p->len > *longest)
			*longest = p->len;
	return bytes;
}

/*
 * A stranger that completes a handshake and then is silent gets at most three times its own bytes,
 * in small packets.
 */
static void test_silent_stranger(void **state)
{
	size_t longest = 0, in, out;
	struct sctp_config config;
	struct wire_sctp_init ack;
	uint64_t start = f.now;
	struct packet *p;

	ROWS("9260-8.3-01");
	teardown(NULL);
	sctp_config_default(&config);
	setup_config(&config);
	begin_tag(0);
	add_init(WIRE_SCTP_INIT,
		 &(struct wire_sctp_init){
			 .tag = f.tag, .a_rwnd = 5000, .os = 1, .mis = 1, .adaptation = 1 });
	in = 28 + f.len;
	sendp();
	p = take();
	out = 28 + p->len;
	read_init_ack(p, &ack);
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	in += 28 + f.len;
	sendp();
	f.a = f.rx.assoc;
	assert_non_null(f.a);
	sctp_assoc_set_mtu(f.a, 65535);
	for (; f.a; wait_ns(10 * MSEC))
		out += sent(&longest);
	assert_int_equal(f.error, -ETIMEDOUT);
	assert_in_range(f.now - start, 30 * SEC, 31 * SEC);
	assert_true(longest <= 36);
	assert_in_range(out, in, 3 * in);
}

/* ---- cookies ---- */

/* The attacker's copy of a cookie and its tag. */
struct stolen {
	uint32_t tag;
	size_t len;
	uint8_t cookie[sizeof(conversation.cookie)];
};

static void steal(struct stolen *c)
{
	c->tag = f.their_tag;
	c->len = conversation.cookie_len;
	memcpy(c->cookie, conversation.cookie, c->len);
}

static void echo(const struct stolen *c, const struct path_addr *from)
{
	begin_tag(c->tag);
	memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, c->len), c->cookie, c->len);
	add_data(conversation.peer_tsn);
	send_from(from);
}

/* Sends the peer's INIT, and keeps its cookie. */
static void ask(struct stolen *c)
{
	script(PEER_INIT);
	keep_init_ack();
	steal(c);
}

/* Sends the peer's INIT, and establishes the association with the cookie. */
static void ask_and_enter(struct stolen *c)
{
	ask(c);
	script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "-");
	assert_true(f.rx.up);
}

/*
 * While the association is up, its cookie gets only a COOKIE ACK. The DATA that follows the cookie
 * is old.
 */
static void test_replay_while_up(void **state)
{
	static struct stolen c;
	unsigned int i;

	ROWS("9260-5.2.4-05");
	ask_and_enter(&c);
	script("> Dtag" PEER_DATA(0), "got 1", "> Dtag" PEER_DATA(1), "got 1");
	script_post(2, 100);
	drop_all();
	for (i = 0; i < 1000; i++) {
		f.now += SEC / 10; /* makes the cookie stale in the end */
		echo(&c, &f.path);
		assert_false(f.rx.up || f.rx.restart);
		script("got 0");
		drop_all();
		assert_int_equal(f.a->out.cum, conversation.dut_tsn - 1);
		assert_int_equal(f.a->out.next, conversation.dut_tsn + 2);
		assert_int_equal(f.a->rx.map.cum, conversation.peer_tsn + 1);
		assert_int_equal(f.s->table.assoc_count, 1);
	}
	script("> Dtag / 03 00 0010 D+1 00100000 0000 0000", "> Dtag" PEER_DATA(2), "got 1",
	       "state ESTABLISHED");
}

/*
 * After the association has ended, a cookie within its lifetime makes another association (RFC 9260
 * 5.1.5), but only one at a time. This association ends with the ABORT of a host that does not know
 * it, or with the silent limit. A stale cookie makes none.
 */
static void test_replay_after_the_end(void **state)
{
	static struct stolen c;
	struct sctp_config config;
	unsigned int i;

	ROWS("9260-5.1.5-03");
	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	setup_config(&config);
	ask_and_enter(&c);
	script("> Dtag / 06 00 0004", "error 104");
	for (i = 0; i < 3; i++) {
		echo(&c, &f.path);
		assert_true(f.rx.up);
		echo(&c, &f.path);
		assert_false(f.rx.up);
		assert_int_equal(f.s->table.assoc_count, 1);
		drop_all();
		script("> Ptag / 06 01 0004", "error 104", "-");
		assert_int_equal(f.ep->assoc_count, 0);
	}
	echo(&c, &f.path); /* nothing answers its HEARTBEATs */
	script("wait 45000", "error 110");
	drop_all();
	script("wait 20000");
	echo(&c, &f.path);
	assert_false(f.rx.up);
	script("< Ptag / 09 00 000c 0003 0008 00000000", "-");
	assert_int_equal(f.ep->assoc_count, 0);
}

/* Cookies from before a restart do not undo the restart, even within their lifetime. */
static void test_replay_after_a_restart(void **state)
{
	static struct stolen first, second;
	unsigned int i;

	ROWS("9260-5.2.4-04 9260-5.2.4-05");
	ask_and_enter(&first);
	f.tag = 0x99999999;
	f.tsn = 5000;
	ask(&second);
	echo(&second, &f.path);
	assert_true(f.rx.restart);
	drop_all();
	for (i = 0; i < 2; i++) {
		echo(&first, &f.path);
		assert_false(f.rx.up || f.rx.restart);
		script("got 0");
		if (i) /* to the peer's former tag */
			script("< 11223344 / 09 00 000c 0003 0008 00000000");
		script("-");
		f.their_tag = second.tag;
		echo(&second, &f.path);
		assert_false(f.rx.up || f.rx.restart);
		script("got 0");
		drop_all();
		assert_int_equal(f.a->local_tag, second.tag);
		assert_int_equal(f.a->peer_tag, 0x99999999);
		script("wait 61000");
		drop_all();
	}
	script("> Dtag" PEER_DATA(1), "got 1", "state ESTABLISHED");
}

/* A host with another host's cookie gets no answer. */
static void test_theft(void **state)
{
	static struct stolen c;
	struct path_addr thief = f.path;
	struct sctp_endpoint *other = sctp_endpoint_new(f.s, LOCAL_PORT + 1, 425984, NULL);
	unsigned int i;

	ROWS("9260-5.1.5-02");
	sctp_endpoint_set_accept(other, true);
	ask(&c);
	for (i = 0; i < 128; i++) { /* from an address that differs in a bit */
		thief = f.path;
		thief.remote.b[i / 8] ^= (uint8_t)(1 << i % 8);
		echo(&c, &thief);
		script("got 0", "-");
	}
	for (i = 0; i < 16; i++) { /* from another SCTP port */
		begin_tag(c.tag);
		memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, c.len), c.cookie, c.len);
		put_be16(f.buf, (uint16_t)(PEER_PORT ^ 1 << i));
		sendp();
		script("got 0", "-");
	}
	for (i = 0; i < 32; i++) { /* with another tag */
		c.tag ^= 1u << i;
		echo(&c, &f.path);
		script("got 0", "-");
		c.tag ^= 1u << i;
	}
	begin_tag(c.tag); /* to another listener of the same process */
	memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, c.len), c.cookie, c.len);
	put_be16(f.buf + 2, LOCAL_PORT + 1);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(other, &f.path, f.buf, f.len, f.now, &f.rx);
	assert_null(f.rx.assoc);
	script("-");
	assert_int_equal(f.s->table.assoc_count, 0);
	echo(&c, &f.path); /* the cookie itself is valid */
	assert_true(f.rx.up);
	drop_all();
}

/*
 * A host that lists the peer's address, to take over its association, is refused before a cookie is
 * made (RFC 9260 5.2.2).
 */
static void test_takeover(void **state)
{
	static struct sctp_assoc before;
	struct path_addr thief = f.path;

	ROWS("9260-5.2.2-02");
	associate();
	before = *f.a;
	thief.remote = simnet_v4(9);
	script_say("INIT",
		   "00000000 / 01 00 0024 99999999 00100000 0014 001e P+0 c006 0008 00000001"
		   " 0005 0008 0a000002",
		   &thief);
	assert_memory_equal(f.a, &before, sizeof(before));
	script("< 99999999 / 06 00 ...", "-");
	/* with an address that no association uses, the INIT gets an INIT ACK */
	script_say("INIT",
		   "00000000 / 01 00 0024 99999999 00100000 0014 001e P+0 c006 0008 00000001"
		   " 0005 0008 0a000007",
		   &thief);
	script("< 99999999 / 02 00 ...", "-");
}

/* A cookie works until the last nanosecond of its lifetime. */
static void test_lifespan(void **state)
{
	static struct stolen c;

	ROWS("9260-5.1.5-03");
	ask(&c);
	f.now += 60 * SEC + 1;
	echo(&c, &f.path);
	script("got 0", "< Ptag / 09 00 000c 0003 0008 00000000", "-");
	assert_int_equal(f.s->table.assoc_count, 0);
	f.now--;
	echo(&c, &f.path);
	script("got 1");
	assert_true(f.rx.up);
	drop_all();
}

/* A cookie is valid until the second change of its secret. */
static void test_former_secret(void **state)
{
	static struct stolen c, newer;
	struct sctp_config config;

	ROWS("9260-5.1.3-02 9260-5.1.5-01");
	teardown(NULL);
	sctp_config_default(&config);
	config.cookie_life = 24 * HOUR;
	config.heartbeat_interval = 1000 * HOUR;
	config.mtu_probe = false;
	setup_config(&config);
	ask(&c);
	f.now += HOUR;
	ask(&newer); /* with the next secret */
	f.now += HOUR - 1;
	echo(&c, &f.path);
	assert_true(f.rx.up);
	drop_all();
	script("> Ptag / 06 01 0004", "-");
	f.now++;
	script(PEER_INIT); /* with the secret after that */
	drop_all();
	echo(&c, &f.path);
	script("got 0", "-");
	assert_int_equal(f.ep->assoc_count, 0);
	echo(&newer, &f.path);
	assert_true(f.rx.up);
	drop_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_init_flood),
		PEER_TEST(test_init_flood_while_up),
		PEER_TEST(test_cookie_flood),
		PEER_TEST(test_associations_without_end),
		PEER_TEST(test_reflection),
		PEER_TEST(test_short_answer),
		PEER_TEST(test_silent_stranger),
		PEER_TEST(test_replay_while_up),
		PEER_TEST(test_replay_after_the_end),
		PEER_TEST(test_replay_after_a_restart),
		PEER_TEST(test_theft),
		PEER_TEST(test_takeover),
		PEER_TEST(test_lifespan),
		PEER_TEST(test_former_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
