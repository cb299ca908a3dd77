/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* DATA over two paths at once, chunk by chunk: who carries what, what is lost, and what SACKs say of each path. */
#include "fixture/sctp_paths.h"
#include "sctp/spread.h"

#define LEN 1200u /* bytes of a message, which fills a packet */
#define CHUNK (LEN + WIRE_SCTP_DATA_LEN)
#define FULL 4u /* packets that fill the initial cwnd */

static uint32_t t0; /* the first TSN of a test */

/* The peer's second address, where it speaks to another address of ours. */
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

/* An association with a peer of two addresses, of which only the first one carries DATA yet. */
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

/* The second path has joined, with a longer round trip than the first one. */
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

/* The next n packets have one chunk each, from this TSN on, and go there. */
static void expect(const struct path_addr *to, uint32_t tsn, unsigned int n)
{
	while (n--) {
		struct packet *p = take();

		assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), tsn++);
		assert_true(is_to(p, to));
		assert_true(ip_addr_equal(&p->to.local, &to->local));
	}
}

/* The peer sends a SACK by a path: all before TSN number cum, and one gap block if to is not 0, by such numbers. */
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

/* Both windows are full: numbers 0 to 3 are on the first path, 4 to 7 on the second. */
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

/* The path with the shortest round trip comes first, and the other one when its cwnd is full. */
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

/* A path that carries nothing has no queue, however long its last round trips took. */
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

/* Paths that leave from one address of ours are not disjoint; nor is anything spread if the setting says so. */
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
 * That packets of one path overtake those of the other says of no loss. The window of the one that delivers grows, although
 * the cumulative TSN waits for the other.
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
	assert_int_equal(other()->cc.cwnd,
			 cwnd + CHUNK); /* it was full before the first SACK alone */
	assert_false(sctp_recovery_timer_runs(other(), SCTP_TIMER_T3));
	assert_true(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_T3));
	assert_false(sctp_recovery_timer_runs(f.a->path, SCTP_TIMER_REORDER));
	nothing();
}

/* A chunk is lost by later ones of its own path. Recovery ends although the cumulative TSN has not moved. */
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
	/* A HEARTBEAT may go there before it, to find out whether the path works. */
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

/* A SACK that has come by the slower way takes nothing back that a newer one has acknowledged. */
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
	sack(&f.path, 0, FULL + 1, 2 * FULL - 1); /* nor does one that has a gap there */
	assert_int_equal(f.a->inflight.gap_acked, FULL);
	/* one that brings something new is believed */
	sack(&f.path, 1, FULL, FULL + 1);
	assert_int_equal(f.a->inflight.gap_acked,
			 FULL); /* what is above the last block is unknown */
	sack(&f.path, 2, FULL + 1, 2 * FULL - 1);
	assert_int_equal(f.a->inflight.gap_acked, FULL - 1);
	assert_int_equal(other()->flight, CHUNK);
}

/* Nor does it say how large the peer's window is. One that lists all that is known may tell that it has grown. */
static void test_late_window(void **state)
{
	const struct path_addr from = second();

	fill();
	f.now += 10 * MSEC;
	sack_rwnd(&from, 0, FULL, 2 * FULL - 1, 40000);
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL, FULL + 1, 50000); /* it left before those above */
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL + 1, 2 * FULL - 1, 30000);
	assert_int_equal(f.a->window.peer_rwnd, 40000);
	sack_rwnd(&f.path, 0, FULL, 2 * FULL - 1, 45000);
	assert_int_equal(f.a->window.peer_rwnd, 45000);
	sack_rwnd(&from, 0, FULL, 2 * FULL - 1, 40000); /* the one before that again */
	assert_int_equal(f.a->window.peer_rwnd, 45000);
	sack_rwnd(&f.path, 2 * FULL, 0, 0, 20000);
	assert_int_equal(f.a->window.peer_rwnd, 20000);
	sack_rwnd(&from, 2 * FULL, 0, 0, 0); /* all is acknowledged: the same holds */
	assert_int_equal(f.a->window.peer_rwnd, 20000);
	sack_rwnd(&from, 2 * FULL, 0, 0, 90000);
	assert_int_equal(f.a->window.peer_rwnd, 90000);
}

/*
 * Number 4 was sent on the second path, which is slow, and again on the first one, behind what is in flight there. What
 * has arrived is what the second one carried, wait ns after the first one has sent it: that says nothing of the first.
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
	/* Its TSN is no miss indication for those below. */
	for (unsigned int i = 0; i < 4; i++)
		sack(&from, 0, FULL, FULL + i);
	assert_int_equal(sctp_outq_at(&f.a->out, t0)->miss, 0);
	/* That it has arrived so early does not mean that this path reorders. */
	move(5 * MSEC, 100000);
	assert_int_equal(f.a->learnt.reorder_factor, 1);
	assert_false(f.a->path->recovery.now.reordered);
}

/* A tail-loss probe of a chunk that has changed its path does tell: else a loss behind a failover would wait for T3. */
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
 * No TSN is left, and the first chunks are on a path with a queue, as far as is known, while the other one has none: that one
 * takes them over. Then the first path has no queue and the other one has, but nothing is sent to and fro.
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
 * The second tail-loss probe of a path is not answered: the other one sends all that it carried, and goes on alone for a
 * second at least.
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
	/* if it dies at once again, it rests for longer */
	assert_true(sctp_paths_suspect(f.a, other(), f.now));
	assert_true(other()->rest.until >= f.now + 2 * SEC);
}

/* The path in use dies: the one that has joined takes its place, and keeps what it knows of itself. */
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

/* Control chunks take the path in use, and first, however full its cwnd is, and whatever room others have. */
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

/* All paths but that in use are forgotten, wherever it is in memory: what they carried is sent by it. */
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
 * A path that takes no new DATA any more, and has some in flight, becomes the one in use: what it carries is waited for, and
 * sent again.
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
		/* HEARTBEATs leave as well. */
		while ((p = take()) && p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_DATA)
			;
	}
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), t0 + 2 * FULL - 1);
	assert_true(is_to(p, &to));
}

/* A path that is the last one grows as any lone path does. */
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
