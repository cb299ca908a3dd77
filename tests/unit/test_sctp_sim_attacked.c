/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/*
 * SCTP in DTLS over a simulated network (test_sctp_sim_sealed.c). An attacker without the key sees
 * all datagrams, and sends from any address. The attacker replays, truncates, changes and forges
 * records, and sends SCTP in the clear. None of this reaches SCTP, and the transfer continues.
 */
#include "fixture/sctp_sealed.h"

#define KEPT 48u
#define UP (30 * SEC)
#define ALL (240 * SEC)

static struct sealed_pair p;
static struct sealer stranger;

/* Exported, so that libraries call this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	return sealer_clock(ts);
}

static uint32_t below(uint32_t n)
{
	return sim_random_below(&p.w->random, n);
}

/* ---- the attacker ---- */

struct kept {
	struct sealer *from;
	struct path_addr to;
	size_t len;
	uint8_t data[DTLS_PLAIN_MAX + DTLS_OVERHEAD];
};

enum deed {
	REPLAY,
	CUT,	  /* truncates */
	FLIP,	  /* flips a bit */
	RENUMBER, /* changes the number */
	RETYPE,	  /* changes the type */
	SPLICE,	  /* joins the head of one record to the rest of another */
	APPEND,	  /* two records in one datagram */
	CLEAR,	  /* the last packet of SCTP, in the clear */
	ALERT,	  /* close_notify, a warning, or "no session", in the clear */
	FAREWELL, /* a close_notify that is not sealed properly */
	DEEDS,
};

static struct {
	struct kept kept[KEPT];
	unsigned int n;	      /* kept datagrams */
	unsigned int percent; /* datagrams that trigger a deed */
	bool spares;	      /* handshakes: an attacker can end them early (docs/security.md) */
	unsigned int deeds;
} third;

static bool is_data(const struct kept *k)
{
	return k->data[0] == DTLS_DATA;
}

static size_t forge_alert(uint8_t *data)
{
	/* close_notify, "no session" */
	static const uint8_t alerts[] = { 0, 240 };
	uint8_t alert[] = { DTLS_ALERT, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 1, 0 };

	alert[14] = alerts[below(2)];
	memcpy(data, alert, sizeof(alert));
	return sizeof(alert);
}

/* Joins the header of one record to the ciphertext of another. */
static size_t splice(const struct kept *k, uint8_t *data)
{
	const struct kept *other = &third.kept[below(third.n)];
	size_t len = other->len;

	if (k->len < DTLS_HEADER || len <= DTLS_HEADER)
		return 0;
	memcpy(data, k->data, 11);
	memcpy(data + 11, other->data + 11, len - 11);
	return len;
}

/* Makes a datagram from k. Returns its length, or 0 for none. */
static size_t make(enum deed deed, const struct kept *k, uint8_t *data)
{
	size_t len = k->len;
	uint32_t n;

	memcpy(data, k->data, len);
	switch (deed) {
	case CUT:
		return below((uint32_t)len);
	case FLIP:
		n = below((uint32_t)len * 8);
		data[n / 8] ^= (uint8_t)(1 << n % 8);
		return len;
	case RENUMBER:
		data[5 + below(6)] ^= (uint8_t)(1 + below(255));
		return len;
	case RETYPE:
		data[0] = (uint8_t)(DTLS_CHANGE_CIPHER_SPEC + below(4));
		return len;
	case SPLICE:
		return splice(k, data);
	case APPEND:
		if (2 * len > DTLS_PLAIN_MAX)
			return 0;
		memcpy(data + len, k->data, len);
		return 2 * len;
	case CLEAR:
		memcpy(data, k->from->last, k->from->last_len);
		return k->from->last_len;
	case ALERT:
		return forge_alert(data);
	case FAREWELL:
		data[0] = DTLS_ALERT;
		return len;
	default:
		return len;
	}
}

static void see(struct sealer *from, const struct path_addr *to, const uint8_t *data, size_t len)
{
	static uint8_t forged[65536];
	struct kept *k = &third.kept[third.n < KEPT ? third.n++ : below(KEPT)];
	enum deed deed = (enum deed)below(DEEDS);

	k->from = from;
	k->to = *to;
	k->len = len;
	memcpy(k->data, data, len);
	if (below(100) >= third.percent)
		return;
	k = &third.kept[below(third.n)];
	if (third.spares && deed != CLEAR && deed != ALERT && (deed == SPLICE || !is_data(k)))
		return;
	len = make(deed, k, forged);
	third.deeds++;
	if (len)
		host_transmit(k->from->ctx, &k->to, false, forged, len);
}

static void attack(unsigned int percent, bool spares)
{
	third.n = third.deeds = 0;
	third.percent = percent;
	third.spares = spares;
	sealer_tap = see;
}

static void start(uint64_t seed, uint64_t rekey)
{
	sealer_be_quick(seed % 16 != 0);
	sealed_pair_start(&p, seed, rekey);
}

/* Both sides send at most this number of messages. */
static void send_more(uint32_t most)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct flow *f = sealed_pair_flow(&p, i);

		f->to_send += 1 + below(most);
		sctp_assoc_doorbell(f->a);
	}
}

/* ---- limits of the attacker ---- */

/* With a session, the attacker may do anything, even while the keys change. */
static void test_data(void **state)
{
	uint64_t replays = 0, bad = 0, refused = 0;

	for (uint64_t seed = sim_first(); seed <= sim_last(60); seed++) {
		start(seed, seed % 2 ? DTLS_REKEY : 60 + seed % 200);
		sealed_pair_disturb(&p, 10);
		sealed_pair_connect(&p, 0, 0, 0);
		sealed_pair_come_up(&p, UP);
		attack(1 + below(60), false);
		send_more(200);
		sealed_pair_exchange(&p, ALL);
		for (unsigned int i = 0; i < 2; i++) {
			replays += p.sealer[i].stats.replays;
			bad += p.sealer[i].stats.bad_records;
			refused += p.sealer[i].stats.refused;
		}
		sealed_pair_end(&p);
	}
	assert_true(replays && bad && refused);
}

/* On a good network, the attacker causes no delay. */
static void test_no_time(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(40); seed++) {
		start(seed, DTLS_REKEY);
		p.w->link[0].delay = p.w->link[1].delay = below(5000000);
		sealed_pair_connect(&p, 0, 0, 0);
		sealed_pair_come_up(&p, UP);
		attack(1 + below(60), true);
		send_more(200);
		sealed_pair_exchange(&p, SEC);
		sealed_pair_end(&p);
	}
}

/* The attacker is present from the start, but spares handshakes. */
static void test_early(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(60); seed++) {
		start(seed, DTLS_REKEY);
		sealed_pair_disturb(&p, 10);
		attack(1 + below(60), true);
		sealed_pair_connect(&p, 0, 20, 20);
		if (seed % 2)
			connect_to(p.host[1], p.host[0], 20);
		sealed_pair_come_up(&p, UP);
		sealed_pair_exchange(&p, ALL);
		sealed_pair_end(&p);
	}
}

static bool stranger_has_lost(struct world *w)
{
	const struct host *h = stranger.ctx;

	return h->flows[h->flow_count - 1].error;
}

/* A host with another key connects repeatedly. Each connect fails soon, and disturbs nobody. */
static void test_stranger(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(20); seed++) {
		struct host *c;

		start(seed, 100);
		c = host_new(p.w, 5003);
		memset(&stranger, 0, sizeof(stranger));
		sealed_start(&stranger, c, SEALER_OTHER, DTLS_REKEY);
		sealed_pair_disturb(&p, 5);
		sealed_pair_connect(&p, 0, 100, 100);
		for (unsigned int n = 0; n < 4; n++) {
			connect_to(c, p.host[n % 2], 10);
			if (!run(p.w, 10 * SEC, stranger_has_lost))
				fail_msg("seed %llu: it waits", (unsigned long long)seed);
		}
		assert_true(stranger.stats.refused && !stranger.stats.handshakes);
		send_more(200);
		sealed_pair_exchange(&p, ALL);
		assert_int_equal(p.host[0]->flow_count, 1);
		assert_int_equal(p.host[1]->flow_count, 1);
		sealed_stop(&stranger, false);
		sealed_pair_end(&p);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_stranger),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
