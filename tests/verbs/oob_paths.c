/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band between two processes with several addresses each. In the network
 * namespace all addresses are on lo, so each process has all of them.
 */
#define _GNU_SOURCE
#include "out_of_band.h"
#include "child.h"
#include "netns.h"

#include <arpa/inet.h>
#include <unistd.h>

#define ADDRESSES 3
#define PATIENCE 24   /* 69 s, enough for many simultaneous handshakes on a slow machine */
#define IMPATIENCE 10 /* less than the device allows */
#define PAIRS (ADDRESSES * ADDRESSES) /* each address of one process with each of the other */

static const char *const v4[ADDRESSES] = { "::ffff:10.1.1.1", "::ffff:10.1.1.2",
					   "::ffff:10.1.1.3" };
static const char *const v6[ADDRESSES] = { "fd00::1", "fd00::2", "fd00::3" };

static void use_address(const char *text)
{
	union ibv_gid gid;
	uint8_t wanted[16];

	CHECK_EQ(inet_pton(AF_INET6, text, wanted), 1);
	for (gid_index = 0; gid_index < 128; gid_index++) {
		if (!ibv_query_gid(ctx, 1, gid_index, &gid) && !memcmp(gid.raw, wanted, 16))
			return;
	}
	CHECK(!"a GID of the address");
}

/* Runs in either process. One process connects the pairs in this order, the other in reverse. */
static void all_pairs(int in, int out, bool child, const char *const *addresses)
{
	struct where mine[PAIRS], theirs[PAIRS];
	const char *ours[PAIRS];
	struct side s[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		ours[i] = addresses[child ? i / ADDRESSES : i % ADDRESSES];
		use_address(ours[i]);
		open_side(&s[i]);
		mine[i] = where_is(&s[i]);
	}
	put(out, mine, sizeof(mine));
	get(in, theirs, sizeof(theirs));
	for (int i = 0; i < PAIRS; i++) {
		int n = child ? PAIRS - 1 - i : i;

		use_address(ours[n]);
		oob_connect(&s[n], &theirs[n]);
	}
	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < PAIRS; i++) {
			recv_at(&s[i], i);
			CHECK_EQ(send_from(&s[i], 100 * round + i), 0);
		}
		for (unsigned int i = 0; i < PAIRS; i++) {
			expect_sent(&s[i], 100 * round + i);
			expect_received(&s[i], i, 100 * round + i);
		}
	}
	meet(in, out);
	/* One of the QPs ends, and is connected again: the others are not affected. */
	CHECK_EQ(to_state(&s[4], IBV_QPS_RESET), 0);
	meet(in, out);
	use_address(ours[4]);
	oob_connect(&s[4], &theirs[4]);
	for (unsigned int i = 0; i < PAIRS; i++) {
		recv_at(&s[i], i);
		CHECK_EQ(send_from(&s[i], 7), 0);
		expect_sent(&s[i], 7);
		expect_received(&s[i], i, 7);
	}
	meet(in, out);
	for (int i = 0; i < PAIRS; i++)
		close_side(&s[i]);
}

/*
 * A session comes from the address of its QP's GID. A QP that expects its peer at another address
 * refuses the session.
 */
static void wrong_address(int in, int out, bool child)
{
	struct where me, to;
	struct ibv_wc wc;
	struct side s;

	use_address(v4[child ? 2 : 0]);
	open_side(&s);
	me = where_is(&s);
	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	use_address(v4[1]); /* both processes have this address, and neither connects from it */
	CHECK_EQ(ibv_query_gid(ctx, 1, gid_index, &to.gid), 0);
	use_address(v4[child ? 2 : 0]);
	oob_connect(&s, &to);
	CHECK_EQ(send_from(&s, 1), 0);
	expect_wc(s.send_cq, IBV_WC_RETRY_EXC_ERR, &wc);
	meet(in, out);
	close_side(&s);
}

static void other_process(int in, int out)
{
	oob_open();
	oob_timeout = PATIENCE;
	all_pairs(in, out, true, v4);
	all_pairs(in, out, true, v6);
	oob_timeout = IMPATIENCE;
	wrong_address(in, out, true);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_all_pairs(void)
{
	struct child c = child_start(other_process);

	oob_open();
	oob_timeout = PATIENCE;
	all_pairs(c.from, c.to, false, v4);
	all_pairs(c.from, c.to, false, v6);
	oob_timeout = IMPATIENCE;
	wrong_address(c.from, c.to, false);
	CHECK_EQ(child_end(&c), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The same within one process. */
static void test_within(void)
{
	struct where at_a, at_b;
	struct side a, b;

	oob_open();
	for (int i = 0; i < PAIRS; i++) {
		int ours = i / ADDRESSES, theirs = i % ADDRESSES;

		open_pair(&a, &b);
		use_address(v4[ours]);
		at_a = where_is(&a);
		use_address(v4[theirs]);
		at_b = where_is(&b);
		oob_connect(&b, &at_a);
		use_address(v4[ours]);
		oob_connect(&a, &at_b);
		exchange(&a, &b, 1);
		close_pair(&a, &b);
	}
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static const struct test tests[] = {
	{ "all_pairs", test_all_pairs }, /* first: it forks */
	{ "within", test_within },
};

int main(int argc, char **argv)
{
	if (!enter_namespace()) {
		printf("skipped: this user may not make network namespaces\n");
		return SKIPPED;
	}
	ip("link set lo up");
	for (int i = 0; i < ADDRESSES; i++) {
		ip("addr add %s/32 dev lo", v4[i] + strlen("::ffff:"));
		ip("addr add %s/128 dev lo nodad", v6[i]);
	}
	return RUN_TESTS(argc, argv, tests);
}
