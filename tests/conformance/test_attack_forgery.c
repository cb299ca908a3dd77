/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Forged packets. An attacker off the path must guess the tag and never changes anything. An
 * attacker with the tag can break this one association only (RFC 9260 8.5, 12).
 */
#include "fixture/sctp_script.h"

/* ---- the states that an association may be in ---- */

static void reach_cookie_wait(void)
{
	begin_connect();
	keep_init();
}

static void reach_cookie_echoed(void)
{
	reach_cookie_wait();
	script(PEER_INIT_ACK, "drop");
}

static void reach_established(void)
{
	associate();
	script("> Dtag" PEER_DATA(0), "drop", "post 3 100", "drop");
}

static void reach_shutdown_pending(void)
{
	reach_established();
	script("shutdown", "-");
}

static void reach_shutdown_sent(void)
{
	associate();
	script("shutdown", "drop");
}

static void reach_shutdown_received(void)
{
	reach_established();
	script("> Dtag / 07 00 0008 D-1", "drop");
}

static void reach_shutdown_ack_sent(void)
{
	associate();
	script("> Dtag / 07 00 0008 D-1", "drop");
}

static const struct {
	const char *name;
	void (*reach)(void);
} states[] = {
	{ "COOKIE-WAIT", reach_cookie_wait },
	{ "COOKIE-ECHOED", reach_cookie_echoed },
	{ "ESTABLISHED", reach_established },
	{ "SHUTDOWN-PENDING", reach_shutdown_pending },
	{ "SHUTDOWN-SENT", reach_shutdown_sent },
	{ "SHUTDOWN-RECEIVED", reach_shutdown_received },
	{ "SHUTDOWN-ACK-SENT", reach_shutdown_ack_sent },
};

#define STATES (sizeof(states) / sizeof(states[0]))

/* ---- what the attacker sends ---- */

/*
 * Chunks that would have an effect with the right tag. The attacker has guessed the TSNs D and P.
 */
static const char *const chunks_forged[] = {
	"00 07 0011 P+1 0001 0000 00000010 77 000000",			      /* DATA */
	"00 04 0011 P+1 0001 0000 00000010 77 000000",			      /* a fragment */
	"01 00 001c 55555555 00100000 0014 001e 00000001 c006 0008 00000001", /* INIT */
	"02 00 0028 55555555 00100000 0014 001e 00000001 c006 0008 00000001 0007 000c c1*8",
	"03 00 0010 D+0 00100000 0000 0000",	       /* SACK */
	"03 00 0010 D-1 00000000 0000 0000",	       /* closing the window */
	"03 00 0014 D-1 00100000 0001 0000 0002 0002", /* with a gap */
	"03 00 0010 D+1000 00100000 0000 0000",	       /* of a TSN never sent */
	"04 00 000c 0001 0008 deadbeef",	       /* HEARTBEAT */
	"05 00 0018 0001 0014 00*16",		       /* HEARTBEAT ACK */
	"06 00 0004",				       /* ABORT */
	"06 00 0008 000c 0004",
	"07 00 0008 D-1",		 /* SHUTDOWN */
	"08 00 0004",			 /* SHUTDOWN ACK */
	"09 00 000c 0003 0008 00000000", /* ERROR: Stale Cookie */
	"09 00 0008 000d 0004",
	"0a 00 000c c0*8", /* COOKIE ECHO */
	"0b 00 0004",	   /* COOKIE ACK */
	"0c 00 0008 D-1",  /* ECNE, CWR */
	"0d 00 0008 D-1",
	"0e 00 0004", /* SHUTDOWN COMPLETE */
	"84 00 0004", /* PAD */
	"c1 00 0004", /* ASCONF */
	"ff 00 0008 00000000",
	"3f 00 0004",
};

#define FORGED (sizeof(chunks_forged) / sizeof(chunks_forged[0]))

static unsigned int forged_type(size_t i)
{
	return (unsigned int)strtoul(chunks_forged[i], NULL, 16);
}

/* Sends forged chunk i under this tag, with its flags changed by xor. */
static void forge(size_t i, uint32_t tag, uint8_t flags)
{
	char line[256];

	snprintf(line, sizeof(line), "%08x / %.2s %02x %s", tag, chunks_forged[i],
		 (unsigned int)strtoul(chunks_forged[i] + 3, NULL, 16) ^ flags,
		 chunks_forged[i] + 6);
	script_say(chunks_forged[i], line, &f.path);
}

/* ---- all state of an association ---- */

static struct {
	struct sctp_assoc a;
	struct sctp_out ring[64];
	uint64_t bits[64];
	size_t count;
	uint64_t timeout;
	unsigned int events;
} kept;

/* Returns a copy of an association without its list nodes. */
static struct sctp_assoc alone(const struct sctp_assoc *a)
{
	struct sctp_assoc copy;

	memcpy(&copy, a, sizeof(copy));
	memset(&copy.hash_node, 0, sizeof(copy.hash_node));
	memset(&copy.ep_node, 0, sizeof(copy.ep_node));
	memset(&copy.timers.node, 0, sizeof(copy.timers.node));
	return copy;
}

static void keep_of(const struct sctp_assoc *a)
{
	memset(&kept, 0, sizeof(kept));
	kept.a = alone(a);
	assert_true(a->out.size <= 64 && a->rx.map.size <= 64 * 64);
	if (a->out.size)
		memcpy(kept.ring, a->out.ring, a->out.size * sizeof(*a->out.ring));
	if (a->rx.map.size)
		memcpy(kept.bits, a->rx.map.bits, a->rx.map.size / 8);
	kept.count = f.s->table.assoc_count;
	kept.timeout = sctp_next_timeout(f.s);
	kept.events = f.events;
}

static bool is_as_kept(const struct sctp_assoc *a)
{
	struct sctp_assoc now;

	if (!a)
		return false;
	now = alone(a);
	return !memcmp(&kept.a, &now, sizeof(now)) &&
	       (!a->out.size ||
		!memcmp(kept.ring, a->out.ring, a->out.size * sizeof(*a->out.ring))) &&
	       (!a->rx.map.size || !memcmp(kept.bits, a->rx.map.bits, a->rx.map.size / 8)) &&
	       kept.count == f.s->table.assoc_count && kept.timeout == sctp_next_timeout(f.s) &&
	       kept.events == f.events;
}

/* ---- off the path ---- */

/*
 * Checks that a forged chunk changes nothing and gets no answer. As an exception, a SHUTDOWN ACK
 * during the setup is answered as out of the blue (8.5.1 E).
 */
static void is_ignored(size_t state, size_t i, uint32_t tag, uint8_t flags)
{
	memset(f.s->rations, 0,
	       sizeof(f.s->rations)); /* the limit of answers is tested elsewhere */
	forge(i, tag, flags);
	f.rx.up = false;
	if (!is_as_kept(f.a))
		fail_msg("%s under tag %08x, flags ^ %x, changed something in %s", chunks_forged[i],
			 tag, flags, states[state].name);
	assert_int_equal(f.rx.count, 0);
	if (tag && forged_type(i) == WIRE_SCTP_SHUTDOWN_ACK && state < 2)
		check_packet("SHUTDOWN COMPLETE", "???????? / 0e 01 0004", take());
	if (f.head != f.tail)
		fail_msg("%s under tag %08x was answered in %s", chunks_forged[i], tag,
			 states[state].name);
}

/*
 * Sends every chunk in every state with wrong tags: similar ones, the peer's own, 0, random ones.
 */
static void test_wrong_tags(void **state)
{
	size_t s, i;
	unsigned int n;

	ROWS("9260-8.5-01 9260-8.5.1-01 9260-8.5.1-02 9260-12.3-01 5042-5.1.1-01");
	for (s = 0; s < STATES; s++) {
		uint32_t tag;

		teardown(NULL);
		setup(NULL);
		states[s].reach();
		assert_string_equal(state_name(), states[s].name);
		tag = f.a->local_tag;
		keep_of(f.a);
		for (i = 0; i < FORGED; i++) {
			for (n = 0; n < 32; n++)
				is_ignored(s, i, tag ^ 1u << n, 0);
			for (n = 0; n < 1000; n++)
				is_ignored(s, i,
					   ((uint32_t)sim_random_u64(&f.random) | 1) ^ (tag & 1),
					   0);
			is_ignored(s, i, f.tag, 0); /* reflected, but without the T bit */
			if (forged_type(i) != WIRE_SCTP_INIT)
				is_ignored(s, i, 0, 0);
			if (forged_type(i) == WIRE_SCTP_ABORT ||
			    forged_type(i) == WIRE_SCTP_SHUTDOWN_COMPLETE) {
				is_ignored(s, i, tag, WIRE_SCTP_T_BIT);
				is_ignored(s, i, f.tag ^ 0x100, WIRE_SCTP_T_BIT);
				is_ignored(s, i, 0, WIRE_SCTP_T_BIT);
			}
		}
	}
}

/* Every INIT is answered, as it has no tag. The association does not change. */
static void test_forged_init(void **state)
{
	size_t s, i;

	ROWS("9260-5.2.2-01 6951-5.4-02");
	for (s = 2; s < STATES - 1; s++) {
		struct path_addr elsewhere;

		teardown(NULL);
		setup(NULL);
		states[s].reach();
		keep_of(f.a);
		elsewhere = f.path;
		elsewhere.udp_port = 4444;
		for (i = 0; i < 100; i++) {
			script_say(
				"INIT",
				"00000000 / 01 00 001c 55555555 00100000 0014 001e 00000001 c006 0008 00000001",
				i & 1 ? &elsewhere : &f.path);
			assert_true(is_as_kept(f.a));
			check_packet("INIT ACK", "55555555 / 02 00 ...", take());
			script("-");
		}
	}
	/* before the peer's tag is known, it is not taken from a forged INIT */
	for (s = 0; s < 2; s++) {
		teardown(NULL);
		setup(NULL);
		states[s].reach();
		script_say(
			"INIT",
			"00000000 / 01 00 001c 55555555 00100000 0014 001e 00000001 c006 0008 00000001",
			&f.path);
		drop_all();
		assert_string_equal(state_name(), states[s].name);
		if (s == 0)
			script(PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8");
		script("> Dtag / 0b 00 0004", "state ESTABLISHED", "> Dtag" PEER_DATA(0), "got 1");
		assert_int_equal(f.a->peer_tag, f.tag);
		assert_true(sctp_assoc_is_initiator(f.a));
	}
}

/* A guess takes 2^32 packets, as tags and initial TSNs are random. */
static void test_tags_are_random(void **state)
{
	enum { N = 4096 };
	static uint32_t tags[N], tsns[N];
	unsigned int ones[2][32] = { 0 }, i, k, bit, equal = 0;

	ROWS("9260-5.3.1-01 5042-5.1.1-01");
	for (i = 0; i < N; i++) {
		f.now += MSEC; /* permits a further answer */
		script(PEER_INIT);
		keep_init_ack();
		tags[i] = f.their_tag;
		tsns[i] = conversation.dut_tsn;
		for (bit = 0; bit < 32; bit++) {
			ones[0][bit] += tags[i] >> bit & 1;
			ones[1][bit] += tsns[i] >> bit & 1;
		}
		for (k = 0; k < i; k++)
			equal += tags[k] == tags[i];
		assert_int_not_equal(tags[i], 0);
	}
	/* 32 is a standard deviation */
	for (i = 0; i < 2; i++)
		for (bit = 0; bit < 32; bit++)
			assert_in_range(ones[i][bit], N / 2 - 160, N / 2 + 160);
	assert_true(equal <= 1);
}

/* ---- on the path ---- */

/* With the right tag, a chunk of any content leaves this state unchanged. */
static void test_right_tag(void **state)
{
	static const struct {
		unsigned int type;
		const char *state; /* after ESTABLISHED */
	} effects[] = {
		{ WIRE_SCTP_ABORT, "CLOSED" },
		{ WIRE_SCTP_SHUTDOWN, "SHUTDOWN-RECEIVED" },
	};
	size_t i, e;

	ROWS("9260-5.2.3-01 9260-5.2.5-01 9260-5.2.6-01 9260-9.2-06 9260-8.4-03");
	for (i = 0; i < FORGED; i++) {
		const char *want = "ESTABLISHED";
		uint32_t cum, next, cwnd;
		struct sctp_rtt rtt;

		teardown(NULL);
		setup(NULL);
		reach_established();
		cum = f.a->out.cum;
		next = f.a->out.next;
		cwnd = f.a->path->cc.cwnd;
		rtt = f.a->path->rtt;
		if (strstr(chunks_forged[i], "D+1000"))
			want = "CLOSED";
		for (e = 0; e < sizeof(effects) / sizeof(effects[0]); e++)
			if (forged_type(i) == effects[e].type)
				want = effects[e].state;
		forge(i, f.their_tag, 0);
		if (strcmp(state_name(), want))
			fail_msg("%s led to %s", chunks_forged[i], state_name());
		if (!f.a) {
			assert_int_equal(f.error,
					 forged_type(i) == WIRE_SCTP_ABORT ? -ECONNRESET : -EPROTO);
			assert_int_equal(f.s->table.assoc_count, 0);
			assert_true(sctp_next_timeout(f.s) == TIME_NEVER);
			continue;
		}
		assert_int_equal(f.a->out.next, next);
		if (forged_type(i) != WIRE_SCTP_SACK) {
			assert_int_equal(f.a->out.cum, cum);
			assert_int_equal(f.a->path->cc.cwnd, cwnd);
			assert_memory_equal(&f.a->path->rtt, &rtt, sizeof(rtt));
		}
		/* the true peer continues */
		drop_all();
		assert_int_equal(f.a->peer_tag, f.tag);
		script("> Dtag / 03 00 0010 D+2 00100000 0000 0000", "drop");
		if (!strcmp(want, "ESTABLISHED")) {
			script("> Dtag" PEER_DATA(2), "got 1");
			assert_true(sctp_assoc_is_drained(f.a));
		}
	}
}

/* Another peer's association at the same port is not affected. */
static void test_neighbour(void **state)
{
	struct path_addr first, second;
	struct sctp_assoc *victim;
	uint32_t tag;
	size_t i;

	for (i = 0; i < FORGED; i++) {
		teardown(NULL);
		setup(NULL);
		first = second = f.path;
		second.remote = simnet_v4(3);
		f.path = second;
		reach_established();
		victim = f.a;
		f.path = first;
		script(PEER_INIT);
		keep_init_ack();
		script("> Dtag / cookie-echo", "< Ptag / 0b 00 0004", "-");
		tag = f.a->local_tag;
		assert_ptr_not_equal(f.a, victim);
		keep_of(victim);
		forge(i, tag, 0);
		kept.count = f.s->table.assoc_count;
		kept.timeout = sctp_next_timeout(f.s);
		kept.events = f.events;
		assert_true(is_as_kept(victim));
		f.path = second; /* the tag of the other association */
		keep_of(victim);
		if (forged_type(i) != WIRE_SCTP_INIT)
			forge(i, tag, 0);
		assert_true(is_as_kept(victim));
		f.path = first;
	}
}

/* ---- false acknowledgements ---- */

/* Makes n messages of one packet each outstanding. */
static void outstanding(unsigned int n)
{
	associate();
	f.a->path->cc.cwnd = n * 1452;
	f.a->window.peer_rwnd = 10000000;
	script_post(n, 1436);
	drop_all();
	f.messages = 0;
	assert_int_equal(sctp_outq_count(&f.a->out), n);
	f.a->path->recovery.now.cwnd_limited = true;
}

/*
 * However a peer divides its acknowledgements, cwnd grows only by the acknowledged bytes. Repeated
 * acknowledgements count once.
 */
static void test_sack_division(void **state)
{
	const uint32_t n = 40;
	uint32_t cwnd, i, k;

	ROWS("9260-7.2.1-02");
	outstanding(n);
	cwnd = f.a->path->cc.cwnd;
	for (i = 0; i < n; i++)
		for (k = 0; k < 5; k++) {
			begin();
			add_sack(f.their_tsn + i, 10000000, NULL, 0);
			sendp();
			drop_all();
			assert_true(f.a->path->cc.cwnd - cwnd <= (i + 1) * 1452);
		}
	assert_true(f.a->path->cc.cwnd > cwnd);
	/* one SACK of everything adds at most two batches */
	teardown(NULL);
	setup(NULL);
	outstanding(4 * n);
	cwnd = f.a->path->cc.cwnd;
	begin();
	add_sack(f.their_tsn + 4 * n - 1, 10000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->path->cc.cwnd - cwnd, 128 * f.a->path->cc.pmdcs);
	/* gap blocks that are reported and revoked, for ever, add nothing */
	teardown(NULL);
	setup(NULL);
	outstanding(n);
	cwnd = f.a->path->cc.cwnd;
	for (i = 0; i < 1000; i++) {
		const struct wire_sctp_gap gap = { (uint16_t)(2 + i % (n - 2)), (uint16_t)n };

		begin();
		add_sack(f.their_tsn - 1, 10000000, &gap, i & 1);
		sendp();
		drop_all();
		assert_true(f.a->path->cc.cwnd <= cwnd);
		assert_true(f.a->path->flight <= n * 1452);
	}
}

/*
 * A peer can acknowledge DATA before its arrival. If the DATA was never sent, the association ends.
 */
static void test_optimistic_ack(void **state)
{
	static const struct {
		unsigned int ahead; /* distance to the last TSN sent */
		unsigned int gap;
	} cases[] = {
		{ 1, 0 },  { 2, 0 },  { 4095, 0 },  { 0x7fffffff - 40, 0 },
		{ 0, 41 }, { 0, 42 }, { 0, 65535 },
	};
	size_t i;

	ROWS("9260-12.4-02");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_sctp_gap gap = { 2, (uint16_t)cases[i].gap };
		uint32_t last;

		teardown(NULL);
		setup(NULL);
		outstanding(40);
		last = f.their_tsn + 39;
		begin();
		add_sack(gap.end ? f.their_tsn - 1 : last + cases[i].ahead, 1000000, &gap,
			 gap.end ? 1 : 0);
		sendp();
		script("error 71"); /* EPROTO */
		check_packet("ABORT", "Ptag / 06 00 0008 000d 0004", take());
		script("-");
		assert_int_equal(f.s->table.assoc_count, 0);
	}
	/* At most the last TSN sent can be acknowledged. */
	teardown(NULL);
	setup(NULL);
	outstanding(40);
	begin();
	add_sack(f.their_tsn + 39, 1000000, NULL, 0);
	sendp();
	script("state ESTABLISHED");
	assert_true(sctp_assoc_is_drained(f.a));
}

/*
 * Each SACK of a full packet would need a look at all outstanding chunks. Only the first few count.
 * The others are treated as lost; the next packet repeats their content.
 */
static void test_packet_of_sacks(void **state)
{
	unsigned int i;

	outstanding(40);
	begin();
	for (i = 0; i < 400; i++)
		add_sack(f.their_tsn + i / 10, 1000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->out.cum, f.their_tsn);
	begin();
	add_sack(f.their_tsn + 39, 1000000, NULL, 0);
	sendp();
	assert_true(sctp_assoc_is_drained(f.a));
	/* SHUTDOWNs are limited like SACKs */
	teardown(NULL);
	setup(NULL);
	outstanding(40);
	begin();
	for (i = 0; i < 400; i++)
		put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn + i / 10);
	sendp();
	assert_int_equal(f.a->out.cum, f.their_tsn);
	script("state SHUTDOWN-RECEIVED", "> Dtag / 07 00 0008 D+39", "state SHUTDOWN-ACK-SENT");
}

/* Hundreds of chunks without a value, of every type, have no effect. Few are answered. */
static void test_tiny_chunks(void **state)
{
	unsigned int type, len, packets;

	ROWS("9260-12.4-01");
	for (type = 0; type < 256; type++)
		for (len = 0; len < 8; len++) {
			teardown(NULL);
			setup(NULL);
			reach_established();
			begin();
			while (f.len + 8 <= 1400) {
				uint8_t *p = add((uint8_t)type, 0, 4);

				wire_sctp_chunk_put(p - 4, (uint8_t)type, 0, len);
				if (len <= 4)
					f.len -= 4; /* the next header follows immediately */
			}
			sendp();
			assert_int_equal(f.rx.count, 0);
			for (packets = 0; take(); packets++)
				;
			assert_true(packets <= 1);
			if (type == WIRE_SCTP_ABORT && len >= 4) {
				assert_null(f.a);
				continue;
			}
			if (type == WIRE_SCTP_DATA && len >= 4) { /* a truncated header */
				script("error 71");
				continue;
			}
			script("state ESTABLISHED");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_wrong_tags),	 PEER_TEST(test_forged_init),
		PEER_TEST(test_tags_are_random), PEER_TEST(test_right_tag),
		PEER_TEST(test_neighbour),	 PEER_TEST(test_sack_division),
		PEER_TEST(test_optimistic_ack),	 PEER_TEST(test_packet_of_sacks),
		PEER_TEST(test_tiny_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
