/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints the distance of two processors: the nanoseconds in which a cache line moves from one to
 * the other and back.
 *
 *   core-distance
 *
 * The two processors are the first two on which the program may run. The exit status is 77 if it
 * may run on only one. The program makes BATCHES * TRIPS round trips, but stops after about
 * LONGEST. It prints the median of the batches, so that batches during which a processor was busy
 * have no effect.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

#define EXIT_ALONE 77
#define BATCHES 100
#define TRIPS 1000   /* number of round trips in a batch */
#define LONGEST 0.08 /* seconds */

enum turn { OURS, THEIRS, NOBODYS };

/*
 * The variable that moves between the processors. It occupies two cache lines, since some
 * processors fetch two at a time.
 */
static _Alignas(128) _Atomic enum turn turn;
static _Alignas(128) double batch[BATCHES]; /* seconds per round trip of each batch */

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "core-distance: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Finds the first two processors that this program may run on. */
static void choose(int processor[2])
{
	cpu_set_t allowed;
	int found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		die("sched_getaffinity", errno);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &allowed))
			processor[found++] = i;
	if (found < 2) {
		fprintf(stderr, "core-distance: there is one processor alone\n");
		exit(EXIT_ALONE);
	}
}

static void pin(int processor)
{
	cpu_set_t one;
	int error;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	error = pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	if (error)
		die("pthread_setaffinity_np", error);
}

static enum turn await_other_than(enum turn old)
{
	enum turn seen;

	do
		seen = atomic_load_explicit(&turn, memory_order_acquire);
	while (seen == old);
	return seen;
}

/* The thread on the other processor. It gives the cache line back until the last turn. */
static void *answer(void *processor)
{
	pin(*(int *)processor);
	while (await_other_than(OURS) == THEIRS)
		atomic_store_explicit(&turn, OURS, memory_order_release);
	return NULL;
}

static double round_trip(void)
{
	double begin = now();

	for (int i = 0; i < TRIPS; i++) {
		atomic_store_explicit(&turn, THEIRS, memory_order_release);
		await_other_than(THEIRS);
	}
	return (now() - begin) / TRIPS;
}

int main(int argc, char **argv)
{
	int processor[2], error;
	pthread_t other;
	size_t n = 0;
	double begin;

	(void)argv;
	if (argc != 1) {
		fprintf(stderr, "usage: core-distance\n");
		return 2;
	}
	choose(processor);
	pin(processor[0]);
	error = pthread_create(&other, NULL, answer, &processor[1]);
	if (error)
		die("pthread_create", error);
	round_trip(); /* waits until the other thread runs */
	for (begin = now(); n < BATCHES && (!n || now() - begin < LONGEST); n++)
		batch[n] = round_trip();
	atomic_store(&turn, NOBODYS);
	error = pthread_join(other, NULL);
	if (error)
		die("pthread_join", error);
	qsort(batch, n, sizeof(*batch), compare_samples);
	printf("%.1f\n", batch[n / 2] * 1e9);
	return 0;
}
