/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/*
 * SCTP in DTLS over a simulated network: lost and crossing handshakes, key changes, peers that
 * restart or lose their sessions, and links that die before their session. Each message arrives
 * once. Associations come up and continue in time, and are not lost before the silent limit.
 */
#include "fixture/sctp_sealed.h"

#define BULK (1u << 22) /* messages without end */
#define UP (30 * SEC)	/* time to come up, with a fifth of the packets lost */
#define ALL (120 * SEC)

static struct sealed_pair p;

/* Exported, so that libraries call this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	return sealer_clock(ts);
}

static uint32_t below(uint32_t n)
{
	return sim_random_below(&p.w->random, n);
}

static void start(uint64_t seed, uint64_t rekey)
{
	/* The product's preferred key exchange is slow: few seeds use it. */
	sealer_be_quick(seed % 16 != 0);
	sealed_pair_start(&p, seed, rekey);
}

/* Limits the rate of both directions, so that endless flows do not send too much. */
static void narrow(struct simnet_link *link, uint32_t rate)
{
	for (int i = 0; i < 2; i++) {
		link[i].rate = rate;
		link[i].queue = 20000;
	}
}

static void pass(uint32_t msec)
{
	run(p.w, below(msec) * MSEC, NULL);
}

/* Both flows receive something sent after now, within this time. */
static void must_go_on(uint64_t limit)
{
	uint64_t since = p.w->now;
	const struct flow *f, *g;
	uint32_t had[2];

	run(p.w, 200 * MSEC, NULL);
	f = sealed_pair_flow(&p, 0);
	g = sealed_pair_flow(&p, 1);
	assert_true(f && g);
	had[0] = f->received;
	had[1] = g->received;
	while ((f->received == had[0] || g->received == had[1]) && step(p.w, since + 60 * SEC))
		;
	if (f->error || g->error)
		fail_msg("seed %llu: lost with %d, %d", (unsigned long long)p.w->seed, f->error,
			 g->error);
	if (f->received == had[0] || g->received == had[1] || p.w->now - since > limit)
		fail_msg("seed %llu: it takes %llu ms", (unsigned long long)p.w->seed,
			 (unsigned long long)((p.w->now - since) / MSEC));
}

/* Messages that were started arrive. */
static void finish(void)
{
	sealed_pair_heal(&p);
	for (unsigned int i = 0; i < 2; i++) {
		struct flow *f = sealed_pair_flow(&p, i);

		assert_non_null(f);
		f->to_send = f->sent;
	}
	sealed_pair_exchange(&p, ALL);
	sealed_pair_end(&p);
}

static void test_transfer(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(32); seed++) {
		start(seed, DTLS_REKEY);
		sealed_pair_disturb(&p, 20);
		sealed_pair_connect(&p, 0, 20 + below(200), below(200))->max_len = 64 + below(5000);
		sealed_pair_come_up(&p, UP);
		sealed_pair_exchange(&p, ALL);
		assert_int_equal(p.host[0]->flow_count, 1);
		assert_int_equal(p.host[1]->flow_count, 1);
		sctp_assoc_shutdown(p.host[0]->flows[0].a, p.w->now);
		assert_true(run(p.w, ALL, all_ended));
		sealed_pair_end(&p);
	}
}

/*
 * Both sides connect at once: ClientHellos cross, or INITs, or neither. The result is one
 * association, and no further handshakes.
 */
static void test_crossing(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(48); seed++) {
		start(seed, DTLS_REKEY);
		sealed_pair_disturb(&p, seed % 3 ? 20 : 0);
		sealed_pair_connect(&p, 0, 20, 20);
		run(p.w, below(6) * p.w->link[0].delay + below(1000), NULL);
		if (!p.host[1]->flow_count)
			connect_to(p.host[1], p.host[0], 20);
		sealed_pair_exchange(&p, ALL);
		sealed_pair_heal(&p);
		run(p.w, 20 * SEC, NULL);
		for (unsigned int i = 0; i < 2; i++) {
			const struct dtls_peer *peer = sealed_pair_peer(&p, i, false);

			assert_true(peer && peer->now.tx && !peer->next && !peer->n_waiting);
			assert_int_equal(p.sealer[i].port->n, 1);
		}
		sealed_pair_end(&p);
	}
}

/*
 * Keys last for some dozens of records, so that handshakes accompany the data. On a network without
 * loss or reordering, no record comes after its key has ended, and none waits for the next key.
 */
static void test_rekey(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(20); seed++) {
		bool bad = seed % 4;

		start(seed, 200);
		sealed_stop(&p.sealer[seed % 2], false);
		sealed_start(&p.sealer[seed % 2], p.host[seed % 2], SEALER_LAB, 200 + below(300));
		if (bad)
			sealed_pair_disturb(&p, 10);
		else
			p.w->link[0].delay = p.w->link[1].delay = below(2000000);
		narrow(p.w->link, 100000 + below(900000));
		sealed_pair_connect(&p, 0, 500, below(500));
		sealed_pair_exchange(&p, ALL);
		for (unsigned int i = 0; i < 2; i++) {
			const struct sealer *s = &p.sealer[i];

			assert_true(s->stats.handshakes > p.w->link[i].packets / 1000);
			if (!bad && s->stalled + s->stats.bad_records + s->stats.replays)
				fail_msg("seed %llu: %u, %llu, %llu", (unsigned long long)seed,
					 s->stalled, (unsigned long long)s->stats.bad_records,
					 (unsigned long long)s->stats.replays);
		}
		sealed_pair_end(&p);
	}
}

static bool survivor_has_lost(struct world *w)
{
	for (unsigned int i = 0; i < 2; i++)
		if (p.host[i]->flows[0].error)
			return true;
	return false;
}

/*
 * One side is killed or ends, and starts again. This side connects again, or the peer detects the
 * restart and connects.
 */
static void test_restart(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(32); seed++) {
		unsigned int who = seed & 1;

		start(seed, DTLS_REKEY);
		sealed_pair_disturb(&p, 10);
		narrow(p.w->link, 100000);
		sealed_pair_connect(&p, 0, BULK, BULK);
		sealed_pair_come_up(&p, UP);
		pass(3000);
		sealed_stop(&p.sealer[who], seed & 2);
		pass(5000);
		sealed_start(&p.sealer[who], p.host[who], SEALER_LAB, DTLS_REKEY);
		p.host[!who]->flows[0].to_send = 30;
		if (seed & 4) {
			sealed_pair_connect(&p, who, 30, 30);
		} else {
			if (!run(p.w, UP, survivor_has_lost))
				fail_msg("seed %llu: not noticed", (unsigned long long)seed);
			assert_int_equal(p.host[!who]->flows[0].error, -ECONNRESET);
			sealed_pair_connect(&p, !who, 30, 30);
		}
		sealed_pair_come_up(&p, UP);
		sealed_pair_exchange(&p, ALL);
		sealed_pair_end(&p);
	}
}

/* Frees a session of one side, as for a new peer. */
static void forget(unsigned int i, bool second)
{
	struct dtls_peer *peer = sealed_pair_peer(&p, i, second);

	if (peer)
		dtls_peer_free(peer);
}

/* Starts two hosts with a slow link, and any delay up to 20 ms. */
static void start_narrow(uint64_t seed)
{
	start(seed, DTLS_REKEY);
	p.w->link[0].delay = p.w->link[1].delay = 1000 + below(20000000);
	narrow(p.w->link, 100000);
}

/* As above, with an association that is up, and endless data in both directions. */
static void begin_bulk(uint64_t seed)
{
	start_narrow(seed);
	sealed_pair_connect(&p, 0, BULK, BULK);
	sealed_pair_come_up(&p, UP);
}

/* Data continues after one or both sides have lost their session. */
static void test_forgotten(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(16); seed++) {
		begin_bulk(seed);
		for (unsigned int n = 0; n < 5; n++) {
			uint32_t who = below(3);

			pass(2000);
			if (who != 0)
				forget(0, false);
			if (who != 1)
				forget(1, false);
			must_go_on(1900 * MSEC);
		}
		finish();
	}
}

/*
 * No packet passes for a while, less than the silent limit. Meanwhile, sides may lose their
 * sessions.
 */
static void test_break(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(16); seed++) {
		begin_bulk(seed);
		for (unsigned int n = 0; n < 3; n++) {
			pass(2000);
			simnet_cut(p.w->net, p.w->link, true);
			pass(12000);
			if (below(3) == 0)
				forget(below(2), false);
			simnet_cut(p.w->net, p.w->link, false);
			must_go_on(10 * SEC);
		}
		finish();
	}
}

static void expect_end(unsigned int i, int error, uint64_t since)
{
	const struct flow *f = &p.host[i]->flows[p.host[i]->flow_count - 1];
	uint64_t time = f->ended - since;

	assert_int_equal(f->error, error);
	if (time < 29 * SEC || time > 33 * SEC)
		fail_msg("seed %llu: ended after %llu ms", (unsigned long long)p.w->seed,
			 (unsigned long long)(time / MSEC));
}

/*
 * No packet is answered, perhaps from the start: the association ends at its time limit, and the
 * next one comes up.
 */
static void test_silence(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(16); seed++) {
		uint64_t since;

		start_narrow(seed);
		if (seed % 3) {
			sealed_pair_connect(&p, 0, BULK, BULK);
			sealed_pair_come_up(&p, UP);
			pass(2000);
		}
		simnet_cut(p.w->net, p.w->link, true);
		since = p.w->now;
		if (seed % 3 == 0)
			sealed_pair_connect(&p, 0, 20, 20);
		assert_true(run(p.w, 60 * SEC, all_ended));
		for (unsigned int i = 0; i < 2; i++)
			if (p.host[i]->flow_count)
				expect_end(i, -ETIMEDOUT, since);
		pass(5000);
		simnet_cut(p.w->net, p.w->link, false);
		sealed_pair_connect(&p, below(2), 20, 20);
		sealed_pair_come_up(&p, 3 * SEC);
		sealed_pair_exchange(&p, ALL);
		sealed_pair_end(&p);
	}
}

/* The peer's process starts after the local connect. */
static void test_late_peer(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(16); seed++) {
		start(seed, DTLS_REKEY);
		p.w->link[0].delay = p.w->link[1].delay = 1000 + below(20000000);
		sealed_stop(&p.sealer[1], false);
		sealed_pair_connect(&p, 0, 20, 20);
		pass(25000);
		sealed_start(&p.sealer[1], p.host[1], SEALER_LAB, DTLS_REKEY);
		sealed_pair_come_up(&p, 4 * SEC);
		sealed_pair_exchange(&p, ALL);
		sealed_pair_end(&p);
	}
}

/* ---- two links ---- */

static bool have_second(struct world *w)
{
	const struct flow *f = sealed_pair_flow(&p, 0), *g = sealed_pair_flow(&p, 1);

	return f && g && f->up && g->up && f->a->paths.others && g->a->paths.others &&
	       sctp_path_at(f->a, 1)->confirmed && sctp_path_at(g->a, 1)->confirmed;
}

static void start_links(uint64_t seed)
{
	start(seed, DTLS_REKEY);
	sealed_pair_join_again(&p);
	for (int i = 0; i < 2; i++) {
		p.w->link[i].delay = 20000 + below(1500000);
		p.second[i].delay = 20000 + below(1500000);
	}
	narrow(p.w->link, 400000);
	narrow(p.second, 400000);
}

/* The first link dies just after the second one lost its session, on one or both sides. */
static void test_failover(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(16); seed++) {
		uint32_t who;

		start_links(seed);
		who = below(4);
		sealed_pair_connect(&p, 0, BULK, BULK);
		assert_true(run(p.w, UP, have_second));
		pass(3000);
		for (unsigned int i = 0; i < 2; i++)
			if (who >> i & 1)
				forget(i, true);
		simnet_cut(p.w->net, p.w->link, true);
		must_go_on(SEC);
		finish();
	}
}

/*
 * The second link is dead at the setup of the association. The link's handshake waits until the
 * link works. Then the first link dies.
 */
static void test_dead_link(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(20); seed++) {
		start_links(seed);
		simnet_cut(p.w->net, p.second, true);
		sealed_pair_connect(&p, 0, BULK, BULK);
		sealed_pair_come_up(&p, UP);
		pass(20000);
		simnet_cut(p.w->net, p.second, false);
		if (!run(p.w, 20 * SEC, have_second))
			fail_msg("seed %llu: no second link", (unsigned long long)seed);
		pass(2000);
		simnet_cut(p.w->net, p.w->link, true);
		must_go_on(SEC);
		finish();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transfer),  cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_rekey),	  cmocka_unit_test(test_restart),
		cmocka_unit_test(test_forgotten), cmocka_unit_test(test_break),
		cmocka_unit_test(test_silence),	  cmocka_unit_test(test_late_peer),
		cmocka_unit_test(test_failover),  cmocka_unit_test(test_dead_link),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
