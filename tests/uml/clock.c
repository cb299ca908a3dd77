/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A preload library for perftest in User-Mode Linux. perftest measures the frequency of the
 * processor's cycle counter: it compares the counter with gettimeofday() 200 times within 2 ms. In
 * User-Mode Linux, gettimeofday() is a system call, and another process may meanwhile get the only
 * processor for 10 ms. The comparison then fails, and perftest prints infinite rates. This
 * gettimeofday() reads the cycle counter itself, with the frequency in /proc/cpuinfo.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <x86intrin.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static double mhz;
static unsigned long long count_begin; /* value of the counter at time_begin */
static struct timespec time_begin;

static void begin(void)
{
	FILE *f;
	char line[4096];

	clock_gettime(CLOCK_REALTIME, &time_begin);
	count_begin = __rdtsc();
	f = fopen("/proc/cpuinfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1)
			break;
	if (f)
		fclose(f);
	if (mhz <= 0) {
		fprintf(stderr, "clock.c: /proc/cpuinfo does not say cpu MHz\n");
		abort();
	}
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict tv,
							void *restrict zone)
{
	unsigned long long count = __rdtsc(); /* before the file is read, which takes long */
	long long usec;

	(void)zone;
	pthread_once(&once, begin);
	usec = (long long)((double)(long long)(count - count_begin) / mhz);
	usec += time_begin.tv_sec * 1000000LL + time_begin.tv_nsec / 1000;
	tv->tv_sec = usec / 1000000;
	tv->tv_usec = usec % 1000000;
	return 0;
}
