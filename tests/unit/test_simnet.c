/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: faults */
/*
 * The links of the simulated network follow their rules. Otherwise the simulations would prove
 * nothing.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/simnet.h"

#define N 10000
#define SIZE 100 /* bytes of a packet */
#define STEP 1000000ull
#define DELAY 2000000ull

static struct {
	struct simnet *net;
	struct simnet_link link;
	struct path_addr to;
	int from;
	uint64_t now;
	unsigned int sent;
	/* Counts of arrived packets: */
	unsigned int arrived, changed, overtaken, latest;
	unsigned int copies[N];
	uint64_t when[N]; /* of the last copy */
} st;

static void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t now)
{
	unsigned int number, first = SIZE, last = 0;

	(void)ctx;
	(void)path;
	assert_int_equal(len, SIZE);
	st.arrived++;
	memcpy(&number, packet, sizeof(number));
	for (unsigned int i = sizeof(number); i < SIZE; i++) {
		if (packet[i]) {
			first = i < first ? i : first;
			last = i;
		}
	}
	if (first < SIZE || number >= N) {
		st.changed++;
		assert_true(first == SIZE || last - first < 3);
		return;
	}
	st.copies[number]++;
	st.when[number] = now;
	st.overtaken += number < st.latest;
	st.latest = number > st.latest ? number : st.latest;
}

static const struct simnet_ops ops = { .deliver = deliver };

/* Sends n packets, one per millisecond. */
static void send_packets(unsigned int n)
{
	while (n--) {
		uint8_t packet[SIZE] = { 0 };

		memcpy(packet, &st.sent, sizeof(st.sent));
		st.sent++;
		simnet_send(st.net, st.from, &st.to, packet, sizeof(packet), st.now);
		st.now += STEP;
		simnet_deliver(st.net, st.now);
	}
}

static void flush(void)
{
	simnet_deliver(st.net, SIMNET_NEVER - 1);
}

static int setup(void **state)
{
	struct ip_addr a = simnet_v4(1), b = simnet_v4(2);
	int to;

	(void)state;
	memset(&st, 0, sizeof(st));
	st.net = simnet_new(7);
	st.from = simnet_add(st.net, &a, 9, &ops, NULL);
	to = simnet_add(st.net, &b, 9, &ops, NULL);
	st.to = (struct path_addr){ .remote = b, .local = a, .udp_port = 9 };
	st.link.delay = DELAY;
	simnet_route(st.net, st.from, to, &st.link);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	simnet_free(st.net);
	return 0;
}

static void test_drop(void **state)
{
	(void)state;
	simnet_faults(st.net, &st.link, "packets: drop, probability %.2f", 0.1);
	assert_true(simnet_may(&st.link, FAULT_DO_drop) && !simnet_may(&st.link, FAULT_DO_delay));
	send_packets(N);
	flush();
	assert_in_range(st.arrived, N * 88 / 100, N * 92 / 100);
	assert_int_equal(st.link.dropped, N - st.arrived);
	assert_int_equal(st.link.packets, N);
	assert_int_equal(st.overtaken + st.changed, 0);
}

/*
 * New rules replace the previous ones at once. The time of a rule starts when it comes into force.
 */
static void test_force(void **state)
{
	struct simnet_link link[2] = { { 0 } };

	(void)state;
	simnet_faults(st.net, &st.link, "packets: drop");
	send_packets(100);
	simnet_faults(st.net, &st.link, "packets: drop, between 10 ms and 20 ms");
	send_packets(100);
	flush();
	assert_int_equal(st.arrived, 90);
	assert_int_equal(st.copies[109], 1);
	assert_int_equal(st.copies[110] + st.copies[119], 0);
	simnet_heal(st.net, &st.link);
	assert_false(simnet_may(&st.link, FAULT_DO_drop));
	send_packets(100);
	flush();
	assert_int_equal(st.arrived, 190);
	simnet_cut(st.net, link, true);
	assert_true(simnet_may(&link[0], FAULT_DO_drop) && simnet_may(&link[1], FAULT_DO_drop));
	simnet_cut(st.net, link, false);
	assert_false(simnet_may(&link[0], FAULT_DO_drop) || simnet_may(&link[1], FAULT_DO_drop));
}

/* Delayed packets are overtaken. */
static void test_delay(void **state)
{
	(void)state;
	simnet_faults(st.net, &st.link, "packets, every 10: delay 5500 us");
	send_packets(100);
	flush();
	assert_int_equal(st.arrived, 100);
	assert_int_equal(st.overtaken, 9); /* no packet overtakes the last one */
	assert_int_equal(st.when[9], 9 * STEP + DELAY + 5500000);
	assert_int_equal(st.when[10], 10 * STEP + DELAY);
}

static void test_jitter(void **state)
{
	uint64_t least = SIMNET_NEVER, most = 0;

	(void)state;
	simnet_faults(st.net, &st.link, "packets: delay 1 ms jitter 4 ms");
	send_packets(N);
	flush();
	for (unsigned int i = 0; i < N; i++) {
		uint64_t took = st.when[i] - i * STEP - DELAY;

		least = took < least ? took : least;
		most = took > most ? took : most;
	}
	assert_in_range(least, STEP, STEP + STEP / 10);
	assert_in_range(most, 5 * STEP - STEP / 10, 5 * STEP);
}

/* Copies follow directly, and are not copied again. */
static void test_duplicate(void **state)
{
	(void)state;
	simnet_faults(st.net, &st.link, "packets: duplicate times 2");
	send_packets(N);
	flush();
	assert_int_equal(st.arrived, 3 * N);
	assert_int_equal(st.overtaken, 0);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(st.copies[i], 3);
}

/* The rules see a copy as the next packet. */
static void test_late_copies(void **state)
{
	(void)state;
	simnet_faults(st.net, &st.link, "packets, every 5: duplicate");
	simnet_faults_add(st.net, &st.link, "packets, after 1, every 5: delay 50 ms");
	send_packets(100);
	flush();
	assert_int_equal(st.arrived, 124);
	for (unsigned int i = 0; i < 100; i++) {
		bool twice = i >= 4 && i % 4 == 0;

		assert_int_equal(st.copies[i], 1 + twice);
		assert_int_equal(st.when[i], i * STEP + DELAY + (twice ? 50 * STEP : 0));
	}
}

static void test_corrupt(void **state)
{
	(void)state;
	simnet_faults(st.net, &st.link, "packets: corrupt bytes 3, probability 0.2; packets: drop");
	send_packets(N);
	flush();
	/* The first rule that fires wins. */
	assert_int_equal(st.arrived, N - st.link.dropped);
	assert_in_range(st.arrived, N * 18 / 100, N * 22 / 100);
	assert_true(st.changed > st.arrived * 9 / 10);
}

/* The same seed gives the same faults. */
static void test_seed(void **state)
{
	unsigned int copies[N];

	simnet_faults(st.net, &st.link, "packets: drop, probability 0.5");
	send_packets(N);
	flush();
	memcpy(copies, st.copies, sizeof(copies));
	simnet_faults(st.net, &st.link, "packets: drop, probability 0.5");
	st.sent = 0;
	memset(st.copies, 0, sizeof(st.copies));
	send_packets(N);
	flush();
	assert_memory_not_equal(copies, st.copies, sizeof(copies));
	teardown(state);
	setup(state);
	simnet_faults(st.net, &st.link, "packets: drop, probability 0.5");
	send_packets(N);
	flush();
	assert_memory_equal(copies, st.copies, sizeof(copies));
}

/* Rules that simnet does not understand, or cannot apply, end the program. */
static void test_wrong(void **state)
{
	static const char *const rules[] = {
		"packets: lose",
		"packets: reorder behind 3",
		"packets: corrupt before checksum",
		"packets: limit size to 1300 B",
		"packets out: drop",
		"reg_mr: fail with ENOMEM",
		"after 3 s: kill peer",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			signal(SIGABRT, SIG_DFL);
			close(STDERR_FILENO);
			simnet_faults(st.net, &st.link, "%s", rules[i]);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

#define SIMNET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIMNET_TEST(test_drop),	     SIMNET_TEST(test_force),
		SIMNET_TEST(test_delay),     SIMNET_TEST(test_jitter),
		SIMNET_TEST(test_duplicate), SIMNET_TEST(test_late_copies),
		SIMNET_TEST(test_corrupt),   SIMNET_TEST(test_seed),
		SIMNET_TEST(test_wrong),
	};

	return cmocka_run_group_tests_name("simnet", tests, NULL, NULL);
}
