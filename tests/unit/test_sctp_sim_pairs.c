/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Two hosts with two addresses each, and a link between every two of them. Programs on both hosts
 * name pairs of addresses in any order. Whatever the order, no live association ends or restarts,
 * and each new one comes up.
 */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *host[2];
	struct simnet_link link[8];
};

static const struct ip_addr *address(const struct host *h, unsigned int i)
{
	return i ? &h->second_addr : &h->addr;
}

static void begin(struct scene *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->host[0], &s->host[1]);
	for (int i = 0; i < 8; i++)
		s->link[i].delay = 50000 + sim_random_below(&s->w->random, 200000);
	hosts_join_fully(s->host[0], s->host[1], 77, s->link);
}

/* True if one of a host's associations serves these two addresses, by the rules of conn/. */
static bool is_served(const struct host *h, const struct path_addr *to)
{
	for (unsigned int i = 0; i < h->flow_count; i++) {
		const struct sctp_assoc *a = h->flows[i].a;

		if (a && (sctp_assoc_is_between(a, to) ||
			  (!ip_addr_equal(&sctp_assoc_addr(a)->remote, &to->remote) &&
			   sctp_assoc_has_address(a, &to->remote))))
			return true;
	}
	return false;
}

/* Opens an association between two of the addresses. Returns NULL if it exists already. */
static struct flow *open_pair(struct scene *s, unsigned int from, unsigned int local,
			      unsigned int remote)
{
	struct host *h = s->host[from], *peer = s->host[!from];
	struct path_addr to = {
		.local = *address(h, local),
		.remote = *address(peer, remote),
		.udp_port = peer->port,
	};
	struct flow *f = flow_new(h, 20);

	f->a = sctp_connect(h->ep, &to, peer->port, h->mtu, f, s->w->now);
	if (f->a)
		return f;
	assert_int_equal(errno, EISCONN);
	h->flow_count--;
	assert_true(is_served(h, &to));
	return NULL;
}

static void finish(struct scene *s)
{
	unsigned int h, i;

	if (!run(s->w, 60 * SEC, all_sent))
		fail_msg("seed %llu: not done", (unsigned long long)s->w->seed);
	if (s->host[0]->flow_count != s->host[1]->flow_count)
		fail_msg("seed %llu: %u and %u associations", (unsigned long long)s->w->seed,
			 s->host[0]->flow_count, s->host[1]->flow_count);
	for (h = 0; h < 2; h++)
		for (i = 0; i < s->host[h]->flow_count; i++)
			assert_int_equal(s->host[h]->flows[i].restarts, 0);
	world_free(s->w);
}

static unsigned int refused; /* Stale Cookie errors for unexpired cookies */

static void count_refused(struct host *h, const uint8_t *packet, size_t len)
{
	const uint8_t *chunk = packet + WIRE_SCTP_COMMON_LEN;

	if (chunk[0] == WIRE_SCTP_ERROR && get_be16(chunk + 4) == WIRE_SCTP_CAUSE_STALE_COOKIE)
		refused++;
}

/* Runs an association that proves to both hosts which addresses belong together, and ends. */
static void get_acquainted(struct scene *s)
{
	struct flow *f = open_pair(s, 0, 0, 0);

	assert_true(run(s->w, 10 * SEC, all_sent));
	run(s->w, 3 * SEC, NULL);
	sctp_assoc_shutdown(f->a, s->w->now);
	assert_true(run(s->w, 10 * SEC, all_ended));
	for (unsigned int h = 0; h < 2; h++) {
		struct ip_addr other[SCTP_KNOWN_ADDRS];

		assert_true(sctp_known_others(&s->host[h]->s->known, &s->host[!h]->addr, s->w->now,
					      other));
		s->host[h]->tap = count_refused;
		free(s->host[h]->flows[0].got);
		s->host[h]->flow_count = 0;
	}
}

static void any_order(uint64_t seed, bool acquainted)
{
	unsigned int opened = 0, i;
	struct scene s;

	begin(&s, seed);
	if (acquainted)
		get_acquainted(&s);
	for (i = 0; i < 5; i++) {
		opened += open_pair(&s, sim_random_below(&s.w->random, 2),
				    sim_random_below(&s.w->random, 2),
				    sim_random_below(&s.w->random, 2)) != NULL;
		if (sim_random_below(&s.w->random, 4))
			run(s.w, sim_random_below(&s.w->random, 2500) * MSEC, NULL);
		for (int n = 0; n < 8; n++)
			simnet_faults(s.w->net, &s.link[n], "packets: drop, probability 0.0%u",
				      2 * sim_random_below(&s.w->random, 3));
	}
	assert_true(opened);
	finish(&s);
}

static void test_any_order(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(400); seed++)
		any_order(seed, false);
}

/*
 * INITs may go to other known addresses of the peer. INITs of two associations may cross a single
 * INIT.
 */
static void test_any_order_again(void **state)
{
	refused = 0;
	for (uint64_t seed = sim_first(); seed <= sim_last(400); seed++)
		any_order(seed, true);
	assert_true(sim_seeds_tried(400) < 400 || refused);
}

/*
 * A host with two addresses names one after the other, to a peer with one address: both sides have
 * two associations.
 */
static void test_one_address(void **state)
{
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(100); seed++) {
		struct simnet_link second[2] = { { .delay = 50000 }, { .delay = 50000 } };
		struct flow *first, *other;
		struct scene s = { 0 };

		s.w = world_new(seed, &s.host[0], &s.host[1]);
		host_multihome(s.host[0], 77, s.host[1], second);
		host_become_ours(s.host[0]);
		host_become_ours(s.host[1]);
		first = open_pair(&s, 0, 0, 0);
		run(s.w, sim_random_below(&s.w->random, 4000) * MSEC, NULL);
		first->to_send += 20;
		sctp_assoc_doorbell(first->a);
		other = open_pair(&s, 0, 1, 0);
		assert_non_null(other);
		finish(&s);
	}
}

/*
 * Cuts or restores the links of one pair of addresses, 0 to 3: local + 2 * remote of the first
 * host.
 */
static void cut(struct scene *s, unsigned int pair, bool off)
{
	simnet_cut(s->w->net, &s->link[2 * pair], off);
}

/*
 * Two associations have failed over, each to the addresses of the other association. The peer dies,
 * and connects again with the first pair of addresses. The first association restarts, and no
 * further one appears.
 */
static void test_restart_behind_failover(void **state)
{
	unsigned int crossed = 0;

	for (uint64_t seed = sim_first(); seed <= sim_last(20); seed++) {
		struct flow *first, *other;
		struct scene s;

		ROWS("9260-5.2.4-01");
		begin(&s, seed);
		first = open_pair(&s, 0, 0, 0);
		run(s.w, 5 * MSEC, NULL); /* up, without the other addresses yet */
		other = open_pair(&s, 0, 1, 1);
		assert_true(first->up && other);
		assert_true(run(s.w, 10 * SEC, all_sent));
		run(s.w, 3 * SEC, NULL);
		for (unsigned int i = 0; i < 2; i++) {
			cut(&s, i ? 3 : 0, true);
			s.host[1]->flows[i].to_send += 20;
			sctp_assoc_doorbell(s.host[1]->flows[i].a);
			assert_true(run(s.w, 10 * SEC, all_sent));
			cut(&s, i ? 3 : 0, false);
		}
		/* The first one may have returned when its later link was cut. */
		crossed += !s.host[1]->flows[0].a->path->primary &&
			   !s.host[1]->flows[1].a->path->primary;
		host_kill(s.host[0]);
		s.host[0]->dead = false;
		s.host[0]->flow_count = 0;
		host_start(s.host[0]);
		first = open_pair(&s, 0, 0, 0);
		run(s.w, 5 * SEC, NULL);
		assert_true(first->up);
		assert_int_equal(s.host[1]->flow_count, 2);
		assert_int_equal(s.host[1]->flows[0].restarts, 1);
		assert_int_equal(s.host[1]->flows[1].restarts, 0);
		world_free(s.w);
	}
	assert_true(sim_seeds_tried(20) < 20 || crossed);
}

/*
 * The peer sends to another local address than at first, as after a failure. A program that names
 * the first address again has named the existing association.
 */
static void test_moved(void **state)
{
	struct simnet_link second[2] = { { .delay = 50000 }, { .delay = 50000 } };
	struct scene s = { 0 };
	struct flow *f;

	ROWS("9260-1.3-01");
	s.w = world_new(1, &s.host[0], &s.host[1]);
	host_multihome(s.host[0], 77, s.host[1], second);
	host_become_ours(s.host[0]);
	host_become_ours(s.host[1]);
	f = open_pair(&s, 0, 0, 0);
	s.host[1]->reply = 1u << 20;
	run(s.w, 3 * SEC, NULL);
	simnet_faults(s.w->net, &s.w->link[1], "packets: drop");
	run(s.w, 3 * SEC, NULL);
	simnet_heal(s.w->net, &s.w->link[1]);
	assert_true(ip_addr_equal(&f->a->path->addr.local, &s.host[0]->second_addr));
	assert_null(open_pair(&s, 0, 0, 0));
	s.host[1]->flows[0].to_send = s.host[1]->flows[0].sent;
	finish(&s);
}

/* Local routes change, and packets leave from another address: the network path may be new. */
static void test_other_source(void **state)
{
	struct flow *f, *g;
	struct scene s;
	uint32_t cwnd;

	ROWS("9260-7.2.5-01");
	begin(&s, 1);
	f = open_pair(&s, 0, 0, 0);
	f->to_send = 1u << 20;
	for (int i = 0; i < 8; i++) {
		s.link[i].rate = 2000000;
		s.link[i].queue = 100000;
	}
	run(s.w, 100 * MSEC, NULL);
	cwnd = f->a->path->cc.cwnd;
	s.host[0]->by_second = true;
	sctp_endpoint_readdress(s.host[0]->ep, s.w->now);
	assert_true(f->a->path->primary);
	assert_true(ip_addr_equal(&f->a->path->addr.local, &s.host[0]->second_addr));
	assert_true(f->a->path->cc.cwnd < cwnd / 2 && f->a->path->cc.pristine);
	assert_int_equal(f->a->path->flight, 0);
	g = &s.host[1]->flows[0];
	cwnd = g->received;
	run(s.w, 300 * MSEC, NULL);
	assert_true(g->received > cwnd + 10);
	f->to_send = f->sent;
	finish(&s);
}

/*
 * After long silence, an address of the peer may be another host's: naming it means its present
 * owner.
 */
static void test_address_gone(void **state)
{
	struct flow *f;
	struct scene s;

	begin(&s, 1);
	f = open_pair(&s, 0, 0, 0);
	run(s.w, 10 * SEC, NULL);
	assert_true(sctp_assoc_has_address(f->a, &s.host[1]->second_addr));
	assert_null(open_pair(&s, 0, 1, 1));
	for (int i = 4; i < 8; i++)
		simnet_faults(s.w->net, &s.link[i], "packets: drop");
	run(s.w, 10 * SEC, NULL);
	assert_true(sctp_assoc_has_address(f->a, &s.host[1]->second_addr)); /* link may return */
	run(s.w, 300 * SEC, NULL);
	assert_false(sctp_assoc_has_address(f->a, &s.host[1]->second_addr));
	for (int i = 4; i < 8; i++)
		simnet_heal(s.w->net, &s.link[i]);
	assert_non_null(open_pair(&s, 0, 1, 1));
	finish(&s);
}

/* A local address other than that of the setup names another association. */
static void test_is_between(void **state)
{
	struct path_addr to;
	struct flow *f;
	struct scene s;

	begin(&s, 1);
	f = open_pair(&s, 0, 0, 0);
	run(s.w, 10 * SEC, NULL);
	to = path_to(s.host[0], s.host[1]);
	assert_true(sctp_assoc_is_between(f->a, &to));
	to.local = s.host[0]->second_addr;
	assert_false(sctp_assoc_is_between(f->a, &to));
	f->a->path->addr.local = to.local; /* packets leave from there meanwhile */
	assert_false(sctp_assoc_is_between(f->a, &to));
	to.local = s.host[0]->addr;
	assert_true(sctp_assoc_is_between(f->a, &to));
	memset(&to.local, 0, sizeof(to.local));
	assert_true(sctp_assoc_is_between(f->a, &to));
	to.remote = s.host[1]->second_addr;
	assert_false(sctp_assoc_is_between(f->a, &to));
	/*
	 * A peer with another stack would accept an INIT from any announced address as a restart.
	 */
	to = path_to(s.host[0], s.host[1]);
	to.local = s.host[0]->second_addr;
	f->a->receipts.agreed.version = 0;
	assert_true(sctp_assoc_is_between(f->a, &to));
	finish(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_any_order_again),
		cmocka_unit_test(test_restart_behind_failover),
		cmocka_unit_test(test_one_address),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_address_gone),
		cmocka_unit_test(test_other_source),
		cmocka_unit_test(test_is_between),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
