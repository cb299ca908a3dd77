/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Start and end of associations over a simulated network. */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

static void test_handshake_loss(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);

		a->config.connect_limit = 80 * SEC;
		/* b is up long before a, which sends several COOKIE ECHOs */
		b->config.silent_limit = 80 * SEC;
		host_restart(a);
		host_restart(b);
		simnet_faults_both(w->net, w->link,
				   "packets: duplicate, probability 0.2; "
				   "packets: drop, probability 0.3");
		connect_to(a, b, 3);
		assert_true(run(w, 200 * SEC, both_up));
		simnet_faults_both(w->net, w->link, "packets: duplicate, probability 0.2");
		assert_true(run(w, 20 * SEC, all_sent));
		assert_int_equal(b->flows[0].received, 3);
		assert_int_equal(b->flow_count, 1);
		world_free(w);
	}
}

/*
 * Both sides connect at once: the result is one association. One side uses the even streams,
 * whichever INITs are lost.
 */
static void test_collision(void **state)
{
	unsigned int collisions = 0;
	uint64_t seed;

	ROWS("9260-1.3-01 9260-5.2.1-01");
	for (seed = 1; seed <= 200; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f, *g;

		if (seed > 100)
			simnet_faults_both(w->net, w->link, "packets: drop, probability 0.2");
		w->link[0].delay = 1 + sim_random_below(&w->random, 100000);
		w->link[1].delay = 1 + sim_random_below(&w->random, 100000);
		f = connect_to(a, b, 10);
		if (seed % 3) {
			uint64_t until = w->now + sim_random_below(&w->random, 150000);

			flush(w);
			while (w->hosts[1]->flow_count == 0 && step(w, until))
				;
		}
		if (b->flow_count) {
			world_free(w);
			continue;
		}
		g = connect_to(b, a, 10);
		assert_true(run(w, 60 * SEC, all_sent));
		assert_int_equal(a->flow_count, 1);
		assert_int_equal(b->flow_count, 1);
		assert_int_equal(f->received, 10);
		assert_int_equal(g->received, 10);
		assert_int_equal(f->a->local_tag, g->a->peer_tag);
		assert_int_equal(f->a->peer_tag, g->a->local_tag);
		assert_true(sctp_assoc_is_initiator(f->a) != sctp_assoc_is_initiator(g->a));
		collisions++;
		world_free(w);
	}
	assert_true(collisions > 150);
}

static void test_restart(void **state)
{
	uint64_t seed;

	ROWS("9260-5.2.4-01");
	for (seed = 1; seed <= 60; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;

		b->reply = 50;
		connect_to(a, b, 50);
		assert_true(run(w, 60 * SEC, all_sent));
		if (seed % 2) {
			b->flows[0].to_send += 500; /* with DATA in flight */
			sctp_assoc_doorbell(b->flows[0].a);
			flush(w);
		}
		host_kill(a);
		a->dead = false;
		a->flow_count = 0;
		host_start(a);
		if (seed > 30)
			simnet_faults_both(w->net, w->link, "packets: drop, probability 0.1");
		b->flows[0].to_send = 70;
		f = connect_to(a, b, 60);
		assert_true(run(w, 60 * SEC, all_sent));
		assert_int_equal(b->flow_count, 1);
		assert_int_equal(b->flows[0].restarts, 1);
		assert_int_equal(b->flows[0].received, 60);
		assert_int_equal(f->received, 70);
		world_free(w);
	}
}

static void test_shutdown(void **state)
{
	uint64_t seed;

	ROWS("9260-9.2-01 9260-9.2-05");
	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;

		b->reply = 30;
		f = connect_to(a, b, 30);
		assert_true(run(w, 60 * SEC, both_up));
		run(w, sim_random_below(&w->random, 300000), NULL);
		if (seed > 50)
			simnet_faults_both(w->net, w->link, "packets: drop, probability 0.2");
		sctp_assoc_shutdown(f->a, w->now);
		if (seed % 2 && b->flows[0].a)
			sctp_assoc_shutdown(b->flows[0].a, w->now);
		assert_true(run(w, 200 * SEC, all_ended));
		if (seed <= 50) {
			assert_true(f->closed && b->flows[0].closed);
			/* messages taken from the user arrived */
			assert_int_equal(b->flows[0].received, f->sent);
			assert_int_equal(f->received, b->flows[0].sent);
			assert_int_equal(a->s->table.assoc_count, 0);
			assert_true(list_empty(&a->s->events));
		}
		world_free(w);
	}
}

static void test_abort(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(3, &a, &b);
	struct flow *f;

	ROWS("9260-9.1-01");
	f = connect_to(a, b, 100);
	assert_true(run(w, SEC, both_up));
	sctp_assoc_abort(f->a);
	f->a = NULL;
	run(w, SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_int_equal(b->flows[0].error, -ECONNRESET);
	assert_int_equal(a->s->table.assoc_count, 0);
	/* An abort during the connect, in every state. */
	f = connect_to(a, b, 1);
	sctp_assoc_abort(f->a);
	f->a = NULL;
	f = connect_to(a, b, 1);
	flush(w);
	step(w, w->now + SEC);
	step(w, w->now + SEC);
	sctp_assoc_abort(f->a);
	f->a = NULL;
	run(w, 10 * SEC, NULL);
	assert_int_equal(a->s->table.assoc_count, 0);
	assert_int_equal(b->s->table.assoc_count, 0);
	world_free(w);
}

/* A connect is refused, reaches nobody, or gets no answer at all. */
static void test_refused(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(4, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	ROWS("6951-5.5-02");
	sctp_endpoint_set_accept(b->ep, false);
	f = connect_to(a, b, 1);
	run(w, 100 * MSEC, NULL);
	assert_int_equal(f->error, -ECONNREFUSED);

	simnet_set_state(w->net, b->node, SIMNET_GONE);
	f = connect_to(a, b, 1);
	run(w, SEC, all_ended);
	assert_int_equal(f->error, -ECONNREFUSED);
	assert_true(w->now - start < SEC);

	simnet_set_state(w->net, b->node, SIMNET_SILENT);
	f = connect_to(a, b, 1);
	start = w->now;
	run(w, 100 * SEC, all_ended);
	assert_int_equal(f->error, -ETIMEDOUT);
	assert_int_equal(w->now - start, a->config.connect_limit);
	world_free(w);
}

/* A peer is killed, idle or during a transfer, while its host lives. */
static void test_killed(void **state)
{
	unsigned int busy;

	ROWS("6951-5.5-02");
	for (busy = 0; busy < 2; busy++) {
		struct host *a, *b;
		struct world *w = world_new(5 + busy, &a, &b);
		struct flow *f = connect_to(a, b, busy ? 100000 : 1);
		uint64_t start;

		run(w, 20 * MSEC, NULL);
		assert_true(f->up);
		host_kill(b);
		simnet_set_state(w->net, b->node, SIMNET_GONE);
		b->flow_count = 0;
		start = w->now;
		assert_true(run(w, 60 * SEC, all_ended));
		assert_int_equal(f->error, -ECONNRESET);
		assert_true(w->now - start < 2500 * MSEC);
		world_free(w);
	}
}

/* A false hint does no harm, nor does a pause shorter than the limit. */
static void test_hint(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(6, &a, &b);
	struct flow *f = connect_to(a, b, 1);
	struct path_addr to = path_to(a, b);
	uint8_t quoted[8];
	unsigned int i;

	assert_true(run(w, SEC, all_sent));
	put_be16(quoted, a->port);
	put_be16(quoted + 2, b->port);
	put_be32(quoted + 4, f->a->peer_tag);
	for (i = 0; i < 10; i++) {
		sctp_unreachable(a->ep, &to, -ECONNREFUSED, quoted, sizeof(quoted), w->now);
		run(w, 300 * MSEC, NULL);
		assert_int_equal(f->error, 0);
	}
	simnet_set_state(w->net, b->node, SIMNET_SILENT);
	f->to_send += 10;
	sctp_assoc_doorbell(f->a);
	run(w, 25 * SEC, NULL);
	simnet_set_state(w->net, b->node, SIMNET_UP);
	run(w, 3 * SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_int_equal(b->flows[0].received, 11); /* without delay */
	world_free(w);
}

static void test_silent(void **state)
{
	unsigned int busy;

	ROWS("9260-8.1-01 6951-5.5-01");
	for (busy = 0; busy < 2; busy++) {
		struct host *a, *b;
		struct world *w = world_new(5, &a, &b);
		struct flow *f = connect_to(a, b, busy ? 1000000 : 1);
		uint64_t start;

		run(w, 50 * MSEC, NULL);
		simnet_set_state(w->net, b->node, SIMNET_SILENT);
		start = w->now;
		run(w, 60 * SEC, all_ended);
		assert_int_equal(f->error, -ETIMEDOUT);
		assert_true(w->now - start >= 29 * SEC && w->now - start <= 33 * SEC);
		world_free(w);
	}
}

/* The local process was stopped for a minute: the timers run before the peer's packets are read. */
static void test_stopped(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(5, &a, &b);
	struct flow *f = connect_to(a, b, 1);

	b->config.silent_limit = 300 * SEC;
	host_kill(b);
	b->dead = false;
	host_start(b);
	assert_true(run(w, SEC, all_sent));
	w->now += 60 * SEC;
	sctp_timers(a->s, w->now);
	events(a);
	run(w, 5 * SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_true(f->a && sctp_assoc_is_up(f->a));
	world_free(w);
}

static void test_adaptation(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(11, &a, &b);
	struct flow *f;

	b->config.adaptation = 2;
	host_kill(b);
	b->dead = false;
	host_start(b);
	f = connect_to(a, b, 1);
	run(w, SEC, all_ended);
	assert_int_equal(f->error, -ECONNREFUSED);
	assert_int_equal(b->flow_count, 0);
	world_free(w);
}

/* The number of streams is the minimum of both directions. */
static void test_streams(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(12, &a, &b);
	struct flow *f;

	ROWS("9260-5.1.1-02");
	b->config.streams = 10;
	host_kill(b);
	b->dead = false;
	host_start(b);
	f = connect_to(a, b, 100);
	assert_true(run(w, SEC, all_sent));
	assert_int_equal(sctp_assoc_streams(f->a), 10);
	assert_int_equal(sctp_assoc_streams(b->flows[0].a), 10);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake_loss), cmocka_unit_test(test_collision),
		cmocka_unit_test(test_restart),	       cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_abort),	       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_killed),	       cmocka_unit_test(test_hint),
		cmocka_unit_test(test_silent),	       cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_adaptation),     cmocka_unit_test(test_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
