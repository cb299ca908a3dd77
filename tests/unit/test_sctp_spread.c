/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * DATA over two paths at once, chunk by chunk: the choice of the path, loss detection, and SACKs.
 */
#include "fixture/sctp_paths.h"
#include "sctp/spread.h"

#define LEN 1200u /* bytes of a message that fills a packet */
#define CHUNK (LEN + WIRE_SCTP_DATA_LEN)
#define FULL 4u /* packets that fill the initial cwnd */

static uint32_t t0; /* the first TSN of a test */

/* Returns the peer's second address, which it uses with another local address. */
static struct path_addr second(void)
{
	struct path_addr p = second_path();

	p.local = simnet_v4(44);
	return p;
}

static struct sctp_path *other(void)
{
	return f.a->paths.other[0];
}

/* Sets up a peer with two addresses, of which only the first one carries DATA yet. */
static void begin_two(bool spread)
{
	struct sctp_config config;

	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	config.heartbeat_interval = 3600 * SEC;
	config.spread = spread;
	setup_config(&config);
	establish_two();
	f.message_len = LEN;
	t0 = f.their_tsn;
}

/* The second path joins, with a longer round trip than the first one. */
static void join(void)
{
	const struct path_addr from = second();

	begin_two(true);
	answer_heartbeat(to_second(2 * SEC), &from, 0);
	drop_all();
	assert_int_equal(f.a->paths.joined, 1);
	f.a->path->rtt.srtt = f.a->path->rtt.min = MSEC;
	other()->rtt.srtt = other()->rtt.min = 10 * MSEC;
	f.a->path->rtt.rttvar = other()->rtt.rttvar = 0;
}

static void send(unsigned int messages)
{
	f.messages = messages;
	sctp_assoc_doorbell(f.a);
	collect();
}

/* Expects n packets to this address, with one chunk each, from this TSN on. */
static void expect(const struct path_addr *to, uint32_t tsn, unsigned int n)
{
	while (n--) {
		struct packet *p = take();

		assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), tsn++);
		assert_true(is_to(p, to));
		assert_true(ip_addr_equal(&p->to.local, &to->local));
	}
}

/*
 * The peer sends a SACK by a path: all numbers before cum, and one gap block if `to` is not 0.
 * Numbers are relative to t0.
 */
static void sack_rwnd(const struct path_addr *from, uint32_t cum, unsigned int first,
		      unsigned int to, uint32_t rwnd)
{
	const struct wire_sctp_gap gap = { (uint16_t)(first - cum + 1), (uint16_t)(to - cum + 1) };

	begin();
	add_sack(t0 + cum - 1, rwnd, &gap, to != 0);
	send_from(from);
}

static void sack(const struct path_addr *from, uint32_t cum, unsigned int first, unsigned int to)
{
	sack_rwnd(from, cum, first, to, 1000000);
}

/* Fills both windows: numbers 0 to 3 are on the first path, 4 to 7 on the second. */
static void fill(void)
{
	const struct path_addr to = second();

	join();
	send(2 * FULL);
	expect(&f.path, t0, FULL);
	expect(&to, t0 + FULL, FULL);
	nothing();
	assert_int_equal(f.a->path->flight, FULL * CHUNK);
	assert_int_equal(other()->flight, FULL * CHUNK);
}

/* The path with the shortest round trip comes first, then the other path once cwnd is full. */
static void test_shortest_first(void **state)
{
	const struct path_addr to = second();

	fill();
	sack(&f.path, FULL, 0, 0);
	f.a->path->rtt.srtt = f.a->path->rtt.min = 20 * MSEC;
	sack(&to, 2 * FULL, 0, 0);
	send(1);
	expect(&to, t0 + 2 * FULL, 1);
	assert_int_equal(other()->counts.packets, FULL + 1);
	assert_int_equal(f.a->path->counts.packets, FULL);
	assert_int_equal(other()->counts.bytes, (FULL + 1) * CHUNK);
}

/* A path without DATA in flight has no queue, however long its last round trips were. */
static void test_idle(void **state)
{
	const struct path_addr to = second();

	join();
	other()->rtt.srtt = 10 * MSEC;
	other()->rtt.min = 100000;
	f.a->path->rtt.srtt = f.a->path->rtt.min = 5 * MSEC;
	send(1);
	expect(&to, t0, 1);
	send(1);
	expect(&f.path, t0 + 1, 1);
	nothing();
}

/* Paths from the same local address are not disjoint. With spread off, nothing is spread. */
static void test_not_joined(void **state)
{
	const struct path_addr same = second_path(), from = second();

	begin_two(true);
	answer_heartbeat(to_second(2 * SEC), &same, 0);
	assert_true(other()->confirmed);
	assert_int_equal(f.a->paths.joined, 0);
	begin_two(false);
	answer_heartbeat(to_second(2 * SEC), &from, 0);
	drop_all();
	assert_true(other()->confirmed);
	assert_int_equal(f.a->paths.joined, 0);
	send(2 * FULL);
	expect(&f.path, t0, FULL);
	nothing();
}

/*
 * A packet that overtakes packets of the other path is no sign of loss. The window of the fast path
 * grows, although the cumulative TSN waits for the other path.
 */
static void test_overtaken(void **state)
{
	const struct path_addr from = second();
	uint32_t cwnd;

	fill();
	cwnd = other()->cc.cwnd;
	f.now += 10 * MSEC;
	for (unsigned int i = FULL; i < 2 * FULL; i++)
		sack(&from, 0, FULL, i);
	assert_int_equal(f.a->inflight.lost, 0);
	assert_int_equal(f.a->path->flight, FULL * CHUNK);
	assert_int_equal(other()->flight, 0);
	assert_int_equal(other()->cc.cwnd, cwnd + CHUNK); /* full only before the first SACK */
	assert_false(sctp_recovery_timer_runs(other(), SCTP_TIMER_T3));
	assert_true(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_T3));
	assert_false(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_REORDER));
	nothing();
}

/*
 * Later chunks of the same path show a loss. Recovery ends although the cumulative TSN has not
 * moved.
 */
static void test_lost_on_one_path(void **state)
{
	const struct path_addr from = second();
	struct packet *p;

	fill();
	f.now += 10 * MSEC;
	sack(&from, 0, FULL + 1, 2 * FULL - 1);
	f.now += 5 * MSEC;
	wait_ns(0);
	assert_int_equal(other()->counts.lost, 1);
	assert_int_equal(f.a->path->counts.lost, 0);
	assert_true(other()->recovery.now.recovering);
	assert_false(f.a->path->recovery.now.recovering);
	/* A HEARTBEAT may be sent before, to probe the path. */
	for (p = take(); p && (!is_to(p, &from) || p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_DATA);
	     p = take())
		;
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), t0 + FULL);
	drop_all();
	f.now += 10 * MSEC;
	sack(&from, 0, FULL, 2 * FULL - 1);
	assert_false(other()->recovery.now.recovering);
	assert_int_equal(other()->flight, 0);
}

/* A SACK from the slower path does not revoke acknowledgements of a newer SACK. */
static void test_late_sack(void **state)
{
	const struct path_addr from = second();

	fill();
	f.now += 10 * MSEC;
	sack(&from, 0, FULL, 2 * FULL - 1);
	assert_int_equal(f.a->inflight.gap_acked, FULL);
	sack(&f.path, 0, FULL, FULL + 1);
	assert_int_equal(f.a->inflight.gap_acked, FULL);
	assert_int_equal(other()->flight, 0);
	sack(&f.path, 0, FULL + 1, 2 * FULL - 1); /* nor does a SACK with a gap there */
	assert_int_equal(f.a->inflight.gap_acked, FULL);
	/* A SACK with new information counts. */
	sack(&f.path, 1, FULL, FULL + 1);
	assert_int_equal(f.a->inflight.gap_acked, FULL); /* nothing is known above the last block */
	sack(&f.path, 2, FULL + 1, 2 * FULL - 1);
	assert_int_equal(f.a->inflight.gap_acked, FULL - 1);
	assert_int_equal(other()->flight, CHUNK);
}

/*
 * An old SACK does not set the peer's window. A SACK that lists everything known may increase the
 * window.
 */
static void test_late_window(void **state)
{
	const struct path_addr from = second();

	fill();
	f.now += 10 * MSEC;
	sack_rwnd(&from, 0, FULL, 2 * FULL - 1, 40000);
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL, FULL + 1, 50000); /* sent before the one above */
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL + 1, 2 * FULL - 1, 30000);
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL, 2 * FULL - 1, 45000);
	assert_int_equal(f.a->window.peer_rwnd, 45000);
	sack_rwnd(&from, 0, FULL, 2 * FULL - 1, 40000); /* the previous one again */
	assert_int_equal(f.a->window.peer_rwnd, 45000);
	sack_rwnd(&f.path, 2 * FULL, 0, 0, 20000);
	assert_int_equal(f.a->window.peer_rwnd, 20000);
	sack_rwnd(&from, 2 * FULL, 0, 0, 0); /* all acknowledged: the same holds */
	assert_int_equal(f.a->window.peer_rwnd, 20000);
	sack_rwnd(&from, 2 * FULL, 0, 0, 90000);
	assert_int_equal(f.a->window.peer_rwnd, 90000);
}

/*
 * Chunk 4 was sent on the second path, which is slow. It was sent again on the first path, after
 * the chunks in flight there. The second path's transmission arrives, wait ns after the first
 * path's transmission. This proves nothing about the first path.
 */
static void move(uint64_t min, uint64_t wait)
{
	const struct path_addr from = second();
	struct sctp_path *path;

	fill();
	path = f.a->path;
	path->rtt.srtt = 5 * MSEC;
	path->rtt.min = min;
	path->cc.cwnd *= 2;
	f.now += 3 * MSEC;
	sctp_inflight_withdraw(f.a, t0 + FULL, sctp_outq_at(&f.a->out, t0 + FULL));
	sctp_assoc_ready(f.a);
	collect();
	expect(&f.path, t0 + FULL, 1);
	assert_int_equal(path->flight, (FULL + 1) * CHUNK);
	f.now += wait;
	sack(&from, 0, FULL, FULL);
	assert_int_equal(path->flight, FULL * CHUNK);
	assert_int_equal(f.a->inflight.lost, 0);
	assert_false(sctp_recovery_timer_runs(path, SCTP_TIMER_REORDER));
	assert_false(path->recovery.rack.valid);
}

static void test_moved(void **state)
{
	const struct path_addr from = second();

	move(MSEC, 4 * MSEC);
	/* The moved TSN is no miss indication for lower TSNs. */
	for (unsigned int i = 0; i < 4; i++)
		sack(&from, 0, FULL, FULL + i);
	assert_int_equal(sctp_outq_at(&f.a->out, t0)->miss, 0);
	/* An early arrival of the moved TSN does not show reordering on this path. */
	move(5 * MSEC, 100000);
	assert_int_equal(f.a->learnt.reorder_factor, 1);
	assert_false(f.a->path->recovery.now.reordered);
}

/*
 * A tail-loss probe of a chunk that changed its path does count. Otherwise, a loss after a failover
 * would wait for T3.
 */
static void test_moved_probed(void **state)
{
	fill();
	f.now += 3 * MSEC;
	sctp_inflight_path_lost(f.a, other());
	sack(&f.path, FULL, 0, 0);
	collect();
	drop_all();
	assert_int_equal(f.a->path->flight, FULL * CHUNK);
	f.a->path->recovery.rack.valid = false;
	while (!f.a->path->recovery.now.probes) {
		wait_ns(MSEC);
		assert_true(f.now < 60 * SEC);
	}
	f.now += 2 * MSEC;
	sack(&f.path, FULL, 2 * FULL - 1, 2 * FULL - 1);
	assert_true(f.a->path->recovery.rack.valid);
	assert_int_equal(f.a->path->counts.lost, FULL - 1);
}

/*
 * No TSN is left. The first chunks are on a path with a queue, as estimated, and the other path has
 * none, and takes them over. Then the queues swap, but chunks do not move back.
 */
static void test_taken_once(void **state)
{
	const struct path_addr to = second();

	fill();
	f.a->s->config.max_tsn_distance = 2 * FULL;
	f.a->path->rtt.srtt = other()->rtt.srtt = 20 * MSEC;
	f.a->path->rtt.min = other()->rtt.min = MSEC;
	send(1);
	nothing();
	sack(&to, 0, FULL, 2 * FULL - 1);
	expect(&to, t0, FULL);
	nothing();
	sack(&to, 2 * FULL, 0, 0);
	assert_int_equal(f.a->path->flight + other()->flight, CHUNK);
}

/*
 * The second tail-loss probe of a path gets no answer. The other path retransmits all of its
 * chunks, and carries DATA alone for at least a second.
 */
static void test_dies(void **state)
{
	const struct path_addr from = second();
	struct packet *heartbeat = NULL;
	bool probed = false;
	uint64_t died;

	fill();
	sack(&f.path, FULL, 0, 0);
	while (f.a->paths.joined) {
		struct packet *p;

		wait_ns(MSEC);
		while (f.a->paths.joined && (p = take())) {
			assert_true(is_to(p, &from));
			probed = true;
		}
		assert_true(f.now < 60 * SEC);
	}
	assert_true(probed);
	died = f.now;
	for (unsigned int resent = 0; resent < FULL;) {
		struct packet *p = take();

		assert_non_null(p);
		if (p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_HEARTBEAT) {
			heartbeat = p;
			continue;
		}
		assert_true(is_to(p, &f.path));
		assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4),
				 t0 + FULL + resent++);
	}
	assert_int_equal(other()->flight, 0);
	assert_int_equal(other()->health.errors, 1);
	assert_false(sctp_recovery_timer_runs(other(), SCTP_TIMER_T3));
	assert_non_null(heartbeat);
	assert_true(is_to(heartbeat, &from));
	sack(&f.path, 2 * FULL, 0, 0);
	assert_true(sctp_assoc_is_drained(f.a));
	answer_heartbeat(heartbeat, &from, 0);
	assert_int_equal(other()->health.errors, 0);
	assert_int_equal(f.a->paths.joined, 0);
	f.now = died + SEC;
	sctp_paths_answered(f.a, other(), f.now);
	assert_int_equal(f.a->paths.joined, 1);
	/* A path that dies again at once rests for longer. */
	assert_true(sctp_paths_suspect(f.a, other(), f.now));
	assert_true(other()->rest.until >= f.now + 2 * SEC);
}

/* The path in use dies: the joined path replaces it, and keeps its own state. */
static void test_path_in_use_dies(void **state)
{
	const struct path_addr to = second();
	struct sctp_path *old;
	uint32_t cwnd;

	fill();
	sack(&to, 0, FULL, 2 * FULL - 1);
	drop_all();
	old = f.a->path;
	cwnd = other()->cc.cwnd;
	assert_true(sctp_paths_suspect(f.a, old, f.now));
	collect();
	assert_ptr_not_equal(f.a->path, old);
	assert_int_equal(f.a->paths.joined, 0);
	assert_int_equal(f.a->path->cc.cwnd, cwnd);
	assert_true(f.a->path->recovery.rack.valid);
	assert_false(old->recovery.rack.valid);
	assert_int_equal(old->flight, 0);
	for (unsigned int i = 0; i < FULL;) {
		struct packet *p = take();

		assert_non_null(p);
		if (p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_HEARTBEAT)
			continue;
		assert_true(is_to(p, &to));
		assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), t0 + i++);
	}
}

/*
 * Control chunks use the path in use, before DATA, even if its cwnd is full and others have room.
 */
static void test_control(void **state)
{
	const struct path_addr to = second();
	struct packet *p;

	fill();
	sack(&to, 0, FULL, 2 * FULL - 1);
	nothing();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 3, 20);
	sendp();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT_ACK);
	assert_true(is_to(p, &f.path));
	expect(&to, t0 + 2 * FULL, 1);
	nothing();
}

/*
 * All paths are removed except the path in use, at any place in memory. The path in use retransmits
 * the chunks of the others.
 */
static void test_cleared(void **state)
{
	for (int moved = 0; moved < 2; moved++) {
		struct path_addr to = f.path;

		fill();
		if (moved) {
			to = second();
			assert_true(sctp_paths_suspect(f.a, f.a->path, f.now));
			drop_all();
		}
		sctp_paths_clear(f.a);
		assert_int_equal(f.a->paths.joined, 0);
		assert_int_equal(f.a->path->flight, FULL * CHUNK);
		assert_int_equal(f.a->inflight.lost, FULL);
		f.now += 10 * MSEC;
		begin();
		add_sack(t0 - 1 + (moved ? 0 : FULL), 1000000,
			 &(struct wire_sctp_gap){ FULL + 1, 2 * FULL }, moved);
		send_from(&to);
		expect(&to, moved ? t0 : t0 + FULL, FULL);
		assert_int_equal(f.a->inflight.lost, 0);
		assert_true(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_T3));
	}
}

/*
 * A path without new DATA, but with DATA in flight, becomes the path in use: its chunks stay
 * outstanding, and are retransmitted.
 */
static void test_parted_in_use(void **state)
{
	const struct path_addr to = second();
	struct packet *p = NULL;

	fill();
	sctp_paths_part(f.a, other());
	f.a->path->primary = false;
	other()->primary = f.a->paths.returning_to_primary = true;
	sack(&f.path, FULL, 0, 0);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &to.remote));
	assert_int_equal(f.a->path->flight, FULL * CHUNK);
	assert_true(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_T3));
	drop_all();
	for (unsigned int i = 0; i < 100 && !p; i++) {
		wait_ns(10 * MSEC);
		/* HEARTBEATs are sent as well. */
		while ((p = take()) && p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_DATA)
			;
	}
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), t0 + 2 * FULL - 1);
	assert_true(is_to(p, &to));
}

/* The last remaining path grows like any single path. */
static void test_last_one(void **state)
{
	fill();
	sack(&f.path, FULL, 0, 0);
	assert_true(f.a->path->cc.stride);
	while (f.a->paths.others)
		sctp_paths_remove(f.a, other(), &f.path.remote, f.now);
	assert_int_equal(f.a->path->cc.stride, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_shortest_first),
		PEER_TEST(test_idle),
		PEER_TEST(test_not_joined),
		PEER_TEST(test_overtaken),
		PEER_TEST(test_lost_on_one_path),
		PEER_TEST(test_late_sack),
		PEER_TEST(test_late_window),
		PEER_TEST(test_moved),
		PEER_TEST(test_moved_probed),
		PEER_TEST(test_taken_once),
		PEER_TEST(test_dies),
		PEER_TEST(test_path_in_use_dies),
		PEER_TEST(test_control),
		PEER_TEST(test_cleared),
		PEER_TEST(test_parted_in_use),
		PEER_TEST(test_last_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
