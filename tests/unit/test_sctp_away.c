/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer announces that one of its addresses is unreachable: valid senders and addresses, and the
 * effect on the path.
 */
#include "fixture/sctp_paths.h"
#include "wire/sctp_away.h"

/* Sets up a peer with two confirmed addresses. */
static void join(bool ours)
{
	const struct path_addr second = second_path();
	struct sctp_config config;

	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	config.heartbeat_interval = 3600 * SEC;
	config.receipts.version = 1;
	setup_config(&config);
	f.receipts = (struct wire_sctp_receipts){ .version = ours };
	establish_two();
	answer_heartbeat(to_second(2 * SEC), &second, 0);
	drop_all();
}

static struct sctp_path *other(void)
{
	return f.a->paths.other[0];
}

static void say(const struct ip_addr *addr, const struct path_addr *from)
{
	uint8_t chunk[WIRE_SCTP_AWAY_MAX];
	size_t len = wire_sctp_away_put(chunk, addr);

	begin();
	memcpy(add(WIRE_SCTP_AWAY, 0, len - 4), chunk + 4, len - 4);
	send_from(from);
}

/*
 * DATA in flight to the address in use is sent to the other address at once. A HEARTBEAT probes the
 * old path.
 */
static void test_in_use(void **state)
{
	const struct path_addr second = second_path();
	const struct sctp_path *old;
	unsigned int data = 0, asked = 0;
	struct packet *p;

	join(true);
	old = f.a->path;
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	drop_all();
	say(&f.path.remote, &second);
	assert_ptr_not_equal(f.a->path, old);
	assert_int_equal(old->health.errors, 1);
	while ((p = take())) {
		bool heartbeat = p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_HEARTBEAT;

		assert_true(is_to(p, heartbeat ? &f.path : &second));
		data += !heartbeat;
	}
	assert_true(data);
	wait_ns(0);
	while ((p = take()))
		if (is_to(p, &f.path)) {
			answer_heartbeat(p, &f.path, 0);
			asked++;
		}
	assert_int_equal(asked, 1);
	assert_int_equal(old->health.errors, 0);
}

/* If the address is not in use, its path is not selected before it has answered. */
static void test_not_in_use(void **state)
{
	const struct path_addr second = second_path();

	join(true);
	say(&second.remote, &f.path);
	assert_int_equal(other()->health.errors, 1);
	say(&second.remote, &f.path); /* again */
	assert_int_equal(other()->health.errors, 1);
	assert_false(sctp_paths_fail_over(f.a, f.now));
}

/*
 * The chunk is ignored if it names its own source address or an unconfirmed address, or comes from
 * an unconfirmed address.
 */
static void test_refused(void **state)
{
	const struct path_addr second = second_path();
	struct ip_addr third = simnet_v4(99);

	join(true);
	say(&f.path.remote, &f.path);
	say(&third, &second);
	begin();
	add(WIRE_SCTP_AWAY, 0, 4); /* without an address */
	send_from(&second);
	begin();
	add(WIRE_SCTP_AWAY, 0, 0);
	send_from(&second);
	assert_int_equal(f.a->path->health.errors, 0);
	other()->confirmed = false;
	say(&f.path.remote, &second);
	assert_int_equal(f.a->path->health.errors, 0);
	say(&second.remote, &f.path);
	assert_int_equal(other()->health.errors, 0);
	nothing();
}

/*
 * Another stack may use this chunk type for something else. The upper bits of the type demand to
 * skip the chunk.
 */
static void test_foreign(void **state)
{
	const struct path_addr second = second_path();

	join(false);
	say(&f.path.remote, &second);
	assert_int_equal(f.a->path->health.errors, 0);
	nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_in_use),
		PEER_TEST(test_not_in_use),
		PEER_TEST(test_refused),
		PEER_TEST(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
