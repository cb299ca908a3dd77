/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: stack */
/*
 * Whole stacks on bad networks, in virtual time: the scenarios of sim/scene.h, by seed.
 *
 *	test_stack_sim					every scenario with the seeds of the suite
 *	test_stack_sim --scenario NAME SEED [COUNT]	replays or extends
 *	test_stack_sim --all SEED COUNT			every scenario with each of these seeds;
 *							slow ones with each tenth or fiftieth
 *	test_stack_sim --list
 *	test_stack_sim --sealed [...]			in DTLS, without those of unsealed[]
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "conformance/rows.h"
#include "fixture/stack_sealed.h"
#include "sim/scene.h"

#define SCENES_MAX 100

static const struct scene *const themes[] = {
	scenes_net, scenes_end,		scenes_peer,	 scenes_app, scenes_share,     scenes_cm,
	scenes_oob, scenes_unreachable, scenes_datagram, scenes_xrc, scenes_multicast,
};

/*
 * Scenarios that differ in DTLS. A closed port of SCTP causes no ICMP, since all ports of a node
 * use the same sessions. A NAT's new port is another path; a group has no key; bit errors are
 * losses; each link has its own handshake. The last ones in the list are slow.
 */
static const char *const unsealed[] = {
	"unreachable",	 "cm-unlisten",	 "nat",	  "multicast", "bit-errors",
	"carrier-links", "long-session", "share", "share-tcp", NULL,
};

static unsigned long long first = 1, count;
static bool all, sealed;
static unsigned long long joined; /* sum of stack_world.joined */

static void run_scene(void **state)
{
	const struct scene *s = *state;
	/* A seed takes longer in DTLS. */
	unsigned int usual = sealed ? 1 + s->count / 10 : s->count;
	unsigned long long n = count ? count : sim_seeds(usual), ref = 0, seed;
	unsigned int seen = 0;

	ROWS("5041-3-03 5041-5.2-05 5041-5.3-01");
	for (seed = first; seed < first + n; seed++) {
		struct stack_world *w;

		if (all && s->every && seed % s->every)
			continue;
		w = stack_world_new(s->name, seed);
		w->layer = sealed ? &stack_sealed : NULL;
		s->run(w);
		seen += w->seen;
		ref += w->ref;
		joined += w->joined;
		if (sealed)
			stack_sealed_end(w);
		stack_world_free(w);
	}
	if (n >= 10 && !s->blind && !s->every && !seen)
		fail_msg("%s: what it is about has never happened", s->name);
	if (n >= 10 && !s->small && !s->every && !ref)
		fail_msg("%s: no memory was ever referenced", s->name);
}

/* Exported, so that libraries call this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	return sealer_clock(ts);
}

/* After an assertion or a crash in the product, prints how to replay it. */
static void died(int sig)
{
	char text[160];
	int len;

	if (stack_current) {
		len = snprintf(text, sizeof(text), "replay: test_stack_sim %s--scenario %s %llu\n",
			       sealed ? "--sealed " : "", stack_current->scenario,
			       stack_current->seed);
		if (write(STDERR_FILENO, text, (size_t)len) < 0)
			_exit(1);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: test_stack_sim [--sealed] [--list | --scenario NAME SEED [COUNT] | --all SEED COUNT]\n");
	return 2;
}

static bool is_left_out(const struct scene *s)
{
	for (size_t i = 0; sealed && unsealed[i]; i++)
		if (!strcmp(unsealed[i], s->name))
			return true;
	return false;
}

/* Collects all scenarios, or the one with this name. Returns their number. */
static size_t collect(struct CMUnitTest *tests, const char *only)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++) {
		for (const struct scene *s = themes[i]; s->name; s++) {
			if (only ? strcmp(only, s->name) : is_left_out(s))
				continue;
			assert_true(n < SCENES_MAX);
			tests[n++] = (struct CMUnitTest){
				.name = s->name,
				.test_func = run_scene,
				.initial_state = (void *)(uintptr_t)s,
			};
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[SCENES_MAX];
	const char *only = NULL;
	int failed;
	size_t n;

	if (argc > 1 && !strcmp(argv[1], "--sealed")) {
		sealed = true;
		sealer_be_quick(true);
		argv++;
		argc--;
	}
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		n = collect(tests, NULL);
		for (size_t i = 0; i < n; i++)
			puts(tests[i].name);
		return 0;
	}
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "--scenario")) {
		only = argv[2];
		first = strtoull(argv[3], NULL, 0);
		count = argc == 5 ? strtoull(argv[4], NULL, 0) : 1;
	} else if (argc == 4 && !strcmp(argv[1], "--all")) {
		all = true;
		first = strtoull(argv[2], NULL, 0);
		count = strtoull(argv[3], NULL, 0);
	} else if (argc > 1) {
		return usage();
	}
	n = collect(tests, only);
	if (!n)
		return usage();
	signal(SIGABRT, died);
	failed = _cmocka_run_group_tests("stack_sim", tests, n, NULL, NULL);
	/*
	 * Packets never arrive together on slow networks, but must on some others, with some seeds.
	 */
	if (!failed && !only && (!all || count >= 10) && !joined) {
		fprintf(stderr, "FAIL: no datagram has had several packets\n");
		return 1;
	}
	return failed;
}
