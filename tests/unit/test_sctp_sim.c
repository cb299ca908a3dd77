/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Transfers over a simulated network: every message arrives once and intact, whatever the network
 * does, and within a limit of virtual time.
 */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

/* Without loss: fast, no retransmission, and no timer except the handshake's. */
static void test_clean(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(7, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	a->mtu = b->mtu = 65535;
	b->reply = 2000;
	f = connect_to(a, b, 2000);
	f->min_len = f->max_len = 60000;
	assert_true(run(w, SEC, all_sent));
	assert_int_equal(b->flows[0].received, 2000);
	assert_int_equal(f->received, 2000);
	/* 120 MB, with 5 packets of 65 KB per round trip of 100 us. */
	assert_true(w->now - start < 120 * MSEC);
	/* Full packets, and one SACK for two or more: few small packets. */
	assert_true(a->packets_out < 2000 * 2);
	assert_true(a->flows[0].a->rx.map.bits == NULL);
	world_free(w);
}

/* Small messages are bundled. A ping-pong needs no packets except the messages. */
static void test_packing(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(8, &a, &b);
	struct flow *f, *g;
	uint64_t packets;
	uint32_t i;

	ROWS("9260-6.1-07");
	f = connect_to(a, b, 0);
	assert_true(run(w, SEC, all_sent));
	g = &b->flows[0];
	run(w, 100 * MSEC, NULL);
	packets = a->packets_out + b->packets_out;
	for (i = 0; i < 100; i++) {
		struct flow *from = i % 2 ? g : f, *to = i % 2 ? f : g;
		uint32_t target = to->received + 1;

		from->min_len = from->max_len = 64;
		from->to_send++;
		sctp_assoc_doorbell(from->a);
		while (to->received < target) {
			flush(w);
			assert_true(step(w, w->now + SEC));
		}
	}
	/* The first DATA of each side is acknowledged at once; other SACKs are bundled. */
	assert_true(a->packets_out + b->packets_out - packets <= 104);
	packets = a->packets_out;
	f->to_send += 3000;
	sctp_assoc_doorbell(f->a);
	assert_true(run(w, SEC, all_sent));
	/* 80 bytes a chunk: 18 fit a packet of 1472. */
	assert_true(a->packets_out - packets <= 3000 / 18 + 5);
	world_free(w);
}

/* The probe repairs the loss of a single small message. */
static void test_tail_loss(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(9, &a, &b);
	uint64_t start;
	struct flow *f;

	f = connect_to(a, b, 1);
	assert_true(run(w, SEC, all_sent));
	run(w, 50 * MSEC, NULL);
	simnet_faults(w->net, &w->link[0], "packets: drop");
	f->to_send++;
	sctp_assoc_doorbell(f->a);
	flush(w);
	simnet_heal(w->net, &w->link[0]);
	start = w->now;
	assert_true(run(w, SEC, all_sent));
	assert_true(w->now - start < 40 * MSEC);
	world_free(w);
}

static void lossy_bulk(uint64_t seed, double loss, uint64_t limit)
{
	struct host *a, *b;
	struct world *w = world_new(seed, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	simnet_faults_both(w->net, w->link, "packets: drop, probability %.2f", loss);
	f = connect_to(a, b, 2000);
	f->min_len = f->max_len = 1400;
	assert_true(run(w, 60 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 2000);
	assert_true(w->link[0].dropped);
	if (w->now - start > limit)
		fail_msg("seed %llu: %llu ms", (unsigned long long)seed,
			 (unsigned long long)((w->now - start) / MSEC));
	world_free(w);
}

/* Losses are repaired before RTO.Min, even at the tail. */
static void test_recovery_is_fast(void **state)
{
	uint64_t seed;

	/* A lost INIT or COOKIE costs 1 s each, as RFC 9260 requires: most seeds lose none. */
	for (seed = 100; seed < 130; seed++)
		lossy_bulk(seed, 0.01, 1500 * MSEC);
}

/* A window smaller than a packet. The peer's buffer never overflows. */
static void test_small_window(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(31, &a, &b);
	struct flow *f;

	ROWS("9260-6.1-01");
	b->rcvbuf = 100000;
	host_kill(b);
	b->dead = false;
	host_start(b);
	a->mtu = 65535;
	b->mtu = 1500;
	w->link[0].delay = MSEC;
	/* A queue as large as the receiver's buffer, read slowly: an overflow would be a loss. */
	w->link[0].rate = 10000000;
	w->link[0].queue = 100000;
	w->link[0].overhead = SCTP_PACKET_OVERHEAD;
	f = connect_to(a, b, 3000);
	f->max_len = 60000;
	assert_true(run(w, 60 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 3000);
	assert_int_equal(w->link[0].dropped, 0);
	world_free(w);
}

/* Two flows through one bottleneck get fair shares, and use most of its rate. */
static void test_fairness(void **state)
{
	struct host *a, *b, *c;
	struct world *w = world_new(21, &a, &b);
	struct simnet_link down = { .delay = 5 * MSEC };
	struct flow *f, *g;
	double ratio;
	uint64_t fb, gb, start;

	ROWS("9260-7.2-01");
	c = host_new(w, 5003);
	down.rate = 12500000; /* 100 Mbit/s */
	down.queue = 125000;
	w->link[1].delay = 5 * MSEC;
	simnet_route(w->net, a->node, b->node, &down);
	simnet_route(w->net, c->node, b->node, &down);
	simnet_route(w->net, b->node, c->node, &w->link[1]);
	f = connect_to(a, b, 1u << 23);
	g = connect_to(c, b, 1u << 23);
	f->min_len = f->max_len = g->min_len = g->max_len = 1400;
	run(w, 4 * SEC, NULL);
	fb = b->flows[0].bytes;
	gb = b->flows[1].bytes;
	start = w->now;
	run(w, 30 * SEC, NULL);
	fb = b->flows[0].bytes - fb;
	gb = b->flows[1].bytes - gb;
	ratio = (double)fb / (double)gb;
	if (ratio < 0.8 || ratio > 1.25)
		fail_msg("shares %llu and %llu", (unsigned long long)fb, (unsigned long long)gb);
	/* 1400 of 1428 bytes of a packet are payload. */
	assert_true((double)(fb + gb) > 0.85 * 12500000 * (double)(w->now - start) / 1e9);
	world_free(w);
}

/* Many associations on one pair of instances. */
static void test_many(void **state)
{
	struct world *w;
	struct host *a, *b;
	struct sctp_endpoint **eps = calloc(2000, sizeof(*eps));
	struct sctp_assoc *x;
	struct sctp_batch batch;
	struct sctp_event ev;
	unsigned int i, up = 0;

	w = world_new(41, &a, &b);
	for (i = 0; i < 2000; i++) {
		struct path_addr to = { a->addr, b->addr, b->port };

		eps[i] = sctp_endpoint_new(a->s, (uint16_t)(10000 + i), 1 << 20, NULL);
		assert_non_null(sctp_connect(eps[i], &to, b->port, 1500, NULL, w->now));
	}
	/* A simple network: this test has no flows. */
	for (;;) {
		struct path_addr from_a = { b->addr, a->addr, 1 },
				 from_b = { a->addr, b->addr, b->port };
		bool any = false;

		while ((x = sctp_next_ready(a->s))) {
			w->now += MSEC; /* a host answers a thousand INITs a second */
			while (sctp_output(x, w->now, &batch) > 0) {
				sctp_input(b->ep, &from_a, batch.data, batch.len, w->now, &b->rx);
				sctp_batch_done(a->s, &batch);
				any = true;
				while (sctp_output_ootb(b->s, &batch) > 0) {
					uint16_t port = get_be16(batch.data + 2);

					sctp_input(eps[port - 10000], &from_b, batch.data,
						   batch.len, w->now, &a->rx);
					sctp_batch_done(b->s, &batch);
				}
			}
		}
		while ((x = sctp_next_ready(b->s)))
			while (sctp_output(x, w->now, &batch) > 0) {
				sctp_input(eps[x->remote_port - 10000], &from_b, batch.data,
					   batch.len, w->now, &a->rx);
				sctp_batch_done(b->s, &batch);
				any = true;
			}
		while (sctp_next_event(a->s, &ev))
			up += ev.type == SCTP_EVENT_UP;
		if (!any)
			break;
	}
	assert_int_equal(up, 2000);
	assert_int_equal(b->s->table.assoc_count, 2000);
	assert_true(b->s->table.bucket_count >= 2000);
	for (i = 0; i < 2000; i++) {
		const struct path_addr from = { .remote = a->addr };
		struct sctp_assoc *found = sctp_assoc_find(b->ep, &from, (uint16_t)(10000 + i), 0);

		assert_non_null(found);
		if (i % 2)
			sctp_assoc_abort(found);
	}
	assert_int_equal(b->s->table.assoc_count, 1000);
	for (i = 0; i < 2000; i++)
		sctp_endpoint_free(eps[i]);
	free(eps);
	world_free(w);
}

/* Sets the faults of the network for this seed. */
static void bad_network(struct world *w)
{
	struct sim_random *r = &w->random;
	static const uint32_t mtus[] = { 1280, 1500, 9000, 65535 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct simnet_link *l = &w->link[i];
		uint32_t late;

		simnet_faults(w->net, l, "packets: drop, probability 0.%02u",
			      sim_random_below(r, 21));
		if (!sim_random_below(r, 4))
			simnet_faults_add(w->net, l, "packets: duplicate, probability 0.0%u",
					  sim_random_below(r, 10));
		if (!sim_random_below(r, 4))
			simnet_faults_add(w->net, l, "packets: corrupt bytes 2, probability 0.0%u",
					  sim_random_below(r, 5));
		late = 1 + sim_random_below(r, 3000000);
		if (!sim_random_below(r, 2))
			simnet_faults_add(w->net, l, "packets: delay %u ns, probability 0.%02u",
					  late, sim_random_below(r, 20));
		l->delay = 1000 + sim_random_below(r, sim_random_below(r, 2) ? 50000 : 20000000);
		l->jitter = sim_random_below(r, 100000);
		w->hosts[i]->mtu = mtus[sim_random_below(r, 4)];
		w->hosts[i]->rcvbuf = sim_random_below(r, 2) ? 425984 : 4 << 20;
	}
}

static void transfer(uint64_t seed)
{
	struct host *a, *b;
	struct world *w = world_new(seed, &a, &b);
	struct flow *f, *g;
	uint64_t start = w->now;
	uint32_t n = 20 + sim_random_below(&w->random, 300);

	bad_network(w);
	b->reply = sim_random_below(&w->random, 300);
	f = connect_to(a, b, n);
	f->max_len = 64 + sim_random_below(&w->random, 5000);
	if (!run(w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done after 120 s", (unsigned long long)seed);
	g = &b->flows[0];
	assert_int_equal(b->flow_count, 1);
	assert_int_equal(g->received, n);
	assert_int_equal(f->received, b->reply);
	(void)start;
	sctp_assoc_shutdown(f->a, w->now);
	if (!run(w, 120 * SEC, all_ended))
		fail_msg("seed %llu: shutdown hangs", (unsigned long long)seed);
	assert_true(f->closed || f->error == -ETIMEDOUT);
	world_free(w);
}

static void test_transfer(void **state)
{
	uint64_t seed;

	ROWS("9260-6.2-01");
	for (seed = 1; seed <= 300; seed++)
		transfer(seed);
}

/* Reordering is no loss: hardly anything is retransmitted. */
static void test_reordering(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(51, &a, &b);
	struct flow *f;

	w->link[0].delay = w->link[1].delay = 2 * MSEC;
	simnet_faults(w->net, &w->link[0], "packets: delay 500 us, probability 0.1");
	w->link[0].rate = 125000000; /* so each packet gets its own SACK */
	w->link[0].queue = 10 << 20;
	f = connect_to(a, b, 20000);
	f->min_len = f->max_len = 1400;
	assert_true(run(w, 20 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 20000);
	assert_true(f->a->path->recovery.now.reordered);
	assert_true(w->link[0].packets < 20000 * 1.01);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),	     cmocka_unit_test(test_packing),
		cmocka_unit_test(test_tail_loss),    cmocka_unit_test(test_recovery_is_fast),
		cmocka_unit_test(test_small_window), cmocka_unit_test(test_reordering),
		cmocka_unit_test(test_fairness),     cmocka_unit_test(test_many),
		cmocka_unit_test(test_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
