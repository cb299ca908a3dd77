/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints statistics of the round trips of a latency measurement. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Returns the time of a monotonic clock in seconds. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline int compare_samples(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Sorts `count` round-trip times, given in seconds. Prints statistics of half of each time, in
 * microseconds.
 */
static inline void report_samples(double *trips, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += trips[i];
	qsort(trips, count, sizeof(*trips), compare_samples);
	printf("half round trip: average %.2f us, median %.2f us, 99 %% %.2f us, 99.9 %% %.2f us\n",
	       sum / count / 2 * 1e6, trips[count / 2] / 2 * 1e6, trips[count * 99 / 100] / 2 * 1e6,
	       trips[count * 999 / 1000] / 2 * 1e6);
}

#endif
